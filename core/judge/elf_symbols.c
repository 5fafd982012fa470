#include <string.h>

#include "core/judge/elf_names.h"
#include "core/judge/elf_parts.h"

#if defined(__x86_64__)
#define TLSDESC R_X86_64_TLSDESC
#else
#define TLSDESC R_AARCH64_TLSDESC
#endif

static bool symbol(const struct elf *e, uint64_t i, Elf64_Sym *sym)
{
	const void *p;

	if (i > UINT32_MAX)
		return false;
	p = elf_table(e, e->symtab + i * sizeof(*sym), sizeof(*sym));
	if (p)
		memcpy(sym, p, sizeof(*sym));
	return p != NULL;
}

static bool check_symbol(struct elf *e, uint64_t i, bool threads)
{
	const char *name;
	Elf64_Sym sym;

	if (!symbol(e, i, &sym))
		return elf_damaged(e, "symbol table");
	if (ELF64_ST_TYPE(sym.st_info) == STT_GNU_IFUNC)
		return elf_fail(e, "it has a function that is chosen when it is "
			    "loaded (ifunc)");
	name = elf_dyn_string(e, sym.st_name);
	if (!name)
		return elf_damaged(e, "name of a symbol");
	if (sym.st_shndx == SHN_UNDEF && *name &&
	    !elf_import_allowed(name, threads))
		return elf_fail(e, "it uses '%s', which a kernel may not%s", name,
			    !strncmp(name, "omp_", 4) ||
			    !strncmp(name, "GOMP_", 5) ?
			    " when it is declared with threads = 1" : "");
	if (sym.st_shndx != SHN_UNDEF &&
	    ELF64_ST_BIND(sym.st_info) != STB_LOCAL &&
	    strcmp(name, "mk_call"))
		return elf_fail(e, "it exports '%s'", name);
	return true;
}

/* Relocations that only write an address or an offset. */
static bool reloc_is_known(uint32_t type)
{
	switch (type) {
#if defined(__x86_64__)
	case R_X86_64_NONE:
	case R_X86_64_64:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_RELATIVE:
	case R_X86_64_DTPMOD64:
	case R_X86_64_DTPOFF64:
	case R_X86_64_TPOFF64:
	case R_X86_64_TLSDESC:
		return true;
#else
	case R_AARCH64_NONE:
	case R_AARCH64_ABS64:
	case R_AARCH64_GLOB_DAT:
	case R_AARCH64_JUMP_SLOT:
	case R_AARCH64_RELATIVE:
	case R_AARCH64_TLS_DTPMOD:
	case R_AARCH64_TLS_DTPREL:
	case R_AARCH64_TLS_TPREL:
	case R_AARCH64_TLSDESC:
		return true;
#endif
	default:
		return false;
	}
}

static bool is_irelative(uint32_t type)
{
#if defined(__x86_64__)
	return type == R_X86_64_IRELATIVE;
#else
	return type == R_AARCH64_IRELATIVE;
#endif
}

/*
 * May the loader write there?  Into the object's own data, but for what the
 * loader itself goes by: that has been read here.
 */
static bool check_write(struct elf *e, uint64_t addr, uint64_t size)
{
	for (int i = 0; i < e->head.e_phnum; i++) {
		const Elf64_Phdr *ph = &e->ph[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_W) ||
		    addr < ph->p_vaddr ||
		    addr - ph->p_vaddr > ph->p_memsz ||
		    size > ph->p_memsz - (addr - ph->p_vaddr))
			continue;
		if (addr + size <= e->dyn || addr >= e->dyn + e->dyn_size)
			return true;
		return elf_fail(e, "it changes what the loader goes by");
	}
	return elf_fail(e, "it has a relocation outside its data");
}

static bool check_reloc(struct elf *e, const Elf64_Rela *r, bool relative,
			bool threads)
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);

	if (is_irelative(type))
		return elf_fail(e, "it has a function that is chosen when it is "
			    "loaded (ifunc)");
	if (!reloc_is_known(type))
		return elf_fail(e, "it has a relocation of type %u",
			    (unsigned)type);
	if (!check_symbol(e, ELF64_R_SYM(r->r_info), threads))
		return false;
	/* Types of those that are counted as relative are not looked at. */
	return (!type && !relative) ||
	       check_write(e, r->r_offset, type == TLSDESC ? 16 : 8);
}

static bool check_table(struct elf *e, uint64_t addr, uint64_t size,
			uint64_t relative, bool threads)
{
	const unsigned char *p;
	Elf64_Rela r;

	if (!size)
		return true;
	p = elf_table(e, addr, size);
	if (!p || size % sizeof(r))
		return elf_damaged(e, "relocations");
	for (uint64_t off = 0; off < size; off += sizeof(r)) {
		memcpy(&r, p + off, sizeof(r));
		if (!check_reloc(e, &r, off / sizeof(r) < relative, threads))
			return false;
	}
	return true;
}

/* An even word is an address; each bit of an odd one but the first stands for
 * one of the 63 words that follow what came before. */
static bool check_packed(struct elf *e)
{
	const unsigned char *p = elf_table(e, e->relr, e->relrsz);
	uint64_t where = 0, w;

	if (!e->relrsz)
		return true;
	if (!p || e->relrsz % 8)
		return elf_damaged(e, "relocations");
	for (uint64_t off = 0; off < e->relrsz; off += 8) {
		memcpy(&w, p + off, 8);
		if (!(w & 1)) {
			if (!check_write(e, w, 8))
				return false;
			where = w + 8;
			continue;
		}
		if (!off)
			return elf_damaged(e, "relocations");
		for (unsigned bit = 1; bit < 64; bit++)
			if ((w >> bit & 1) &&
			    !check_write(e, where + (bit - 1) * 8, 8))
				return false;
		where += 63 * 8;
	}
	return true;
}

/* One past the last symbol that the GNU hash table leads to; 0: damaged. */
static uint64_t gnu_hash_end(const struct elf *e)
{
	uint32_t head[4], bucket, chain;
	const unsigned char *p = elf_table(e, e->gnu_hash, sizeof(head));
	uint64_t buckets, last = 0;

	if (!p)
		return 0;
	memcpy(head, p, sizeof(head));	/* buckets, first, bloom words, shift */
	buckets = e->gnu_hash + sizeof(head) + (uint64_t)head[2] * 8;
	p = elf_table(e, buckets, (uint64_t)head[0] * 4);
	if (!p || !elf_table(e, e->gnu_hash, buckets - e->gnu_hash))
		return 0;
	for (uint64_t i = 0; i < head[0]; i++) {
		memcpy(&bucket, p + i * 4, 4);
		if (bucket && bucket < head[1])
			return 0;	/* its chain has no words of its own */
		if (bucket > last)
			last = bucket;
	}
	if (!last)
		return head[1];		/* no symbol is hashed */
	do {
		p = elf_table(e, buckets + (uint64_t)head[0] * 4 +
			  (last - head[1]) * 4, 4);
		if (!p)
			return 0;
		memcpy(&chain, p, 4);
		last++;
	} while (!(chain & 1));
	return last;
}

/* The same of the older table, which says it; all that it holds are numbers
 * of symbols. */
static uint64_t hash_end(const struct elf *e)
{
	uint32_t head[2], to;		/* buckets, symbols */
	const unsigned char *p = elf_table(e, e->hash, sizeof(head));
	uint64_t nr;

	if (!p)
		return 0;
	memcpy(head, p, sizeof(head));
	nr = (uint64_t)head[0] + head[1];
	p = elf_table(e, e->hash + sizeof(head), nr * 4);
	if (!p)
		return 0;
	for (uint64_t i = 0; i < nr; i++) {
		memcpy(&to, p + i * 4, 4);
		if (to >= head[1])
			return 0;
	}
	return head[1];
}

bool elf_check_symbols(struct elf *e, bool threads)
{
	uint64_t nr = 0;

	if (e->has_gnu_hash)
		nr = gnu_hash_end(e);
	else if (e->has_hash)
		nr = hash_end(e);
	if (!nr)
		return elf_damaged(e, "hash table of the symbols");
	for (uint64_t i = 1; i < nr; i++)
		if (!check_symbol(e, i, threads))
			return false;
	return true;
}

bool elf_check_relocs(struct elf *e, bool threads)
{
	return check_table(e, e->rela, e->relasz, e->relative, threads) &&
	       check_table(e, e->jmprel, e->pltrelsz, 0, threads) &&
	       check_packed(e);
}
