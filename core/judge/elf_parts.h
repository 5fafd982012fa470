/*
 * An object file while the gate looks at it, for elf.c and elf_symbols.c
 * alone.
 */
#ifndef CORE_JUDGE_ELF_PARTS_H
#define CORE_JUDGE_ELF_PARTS_H

#include <elf.h>
#include <stdint.h>

#include "core/buf.h"

#define ELF_MAX_PHDRS 64

struct elf {
	const unsigned char *p;
	size_t len;
	Elf64_Ehdr head;
	Elf64_Phdr ph[ELF_MAX_PHDRS];
	/* From the dynamic section; addresses, sizes in bytes. */
	uint64_t strtab, strsz, symtab, hash, gnu_hash;
	uint64_t rela, relasz, relative, jmprel, pltrelsz, relr, relrsz;
	bool has_hash, has_gnu_hash;
	uint64_t dyn, dyn_size;		/* of the dynamic section itself */
	uint64_t first, end;		/* pages of the segments up to now */
	struct buf *why;
};

/* Sets *why, clean; false. */
bool elf_fail(struct elf *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool elf_damaged(struct elf *e, const char *what);
/*
 * size bytes at an address, from the file, that nothing can write: tables
 * that relocations could change are not those that the gate has read.  NULL:
 * there is no such memory.
 */
const void *elf_table(const struct elf *e, uint64_t addr, uint64_t size);
/* A name from the dynamic strings; NULL: none, or over ELF_MAX_NAME. */
const char *elf_dyn_string(const struct elf *e, uint64_t off);

/* All that the hash table leads to; all relocations.  False with the reason
 * when there is one that no kernel may have. */
bool elf_check_symbols(struct elf *e, bool threads);
bool elf_check_relocs(struct elf *e, bool threads);

#endif
