#include "core/judge/elf.h"

#include <inttypes.h>
#include <string.h>

#include "core/judge/elf_names.h"
#include "core/judge/elf_parts.h"
#include "core/mem.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define PAGE 0x1000u
#else
#define MACHINE EM_AARCH64
#define PAGE 0x10000u	/* the largest that there are */
#endif

/* Relative relocations, packed; not in every elf.h. */
#define TAG_RELRSZ 35
#define TAG_RELR 36
#define TAG_RELRENT 37

#define MAX_STATIC (256ull << 20)	/* bytes of its own data */

/* size bytes at a file offset, or NULL. */
static const void *at(const struct elf *e, uint64_t off, uint64_t size)
{
	if (off > e->len || size > e->len - off)
		return NULL;
	return e->p + off;
}

bool elf_fail(struct elf *e, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	buf_reset(e->why);
	buf_add_clean(e->why, text.ptr, text.len, false);
	buf_release(&text);
	return false;
}

bool elf_damaged(struct elf *e, const char *what)
{
	return elf_fail(e, "the object file is damaged: %s", what);
}

static bool open_head(struct elf *e, const struct buf *file)
{
	const void *head;

	e->p = (const unsigned char *)file->ptr;
	e->len = file->len;
	head = at(e, 0, sizeof(e->head));
	if (!head)
		return false;
	memcpy(&e->head, head, sizeof(e->head));
	return !memcmp(e->head.e_ident, ELFMAG, SELFMAG) &&
	       e->head.e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->head.e_ident[EI_DATA] == ELFDATA2LSB &&
	       e->head.e_machine == MACHINE;
}

/* A terminated string of a table, or NULL. */
static const char *string_at(const struct elf *e, uint64_t tab, uint64_t size,
			     uint64_t off)
{
	const char *s;

	if (off >= size)
		return NULL;
	s = at(e, tab, size);
	if (!s || !memchr(s + off, '\0', size - off))
		return NULL;
	return s + off;
}

/* Imports, by sections: what a linker made, of objects too */

static bool section(const struct elf *e, uint64_t i, Elf64_Shdr *sh)
{
	const void *p;

	if (i >= e->head.e_shnum ||
	    e->head.e_shentsize != sizeof(Elf64_Shdr) ||
	    e->head.e_shoff > e->len)
		return false;
	p = at(e, e->head.e_shoff + i * sizeof(*sh), sizeof(*sh));
	if (p)
		memcpy(sh, p, sizeof(*sh));
	return p != NULL;
}

static int add_imports(const struct elf *e, const Elf64_Shdr *sh,
		       struct strv *out)
{
	Elf64_Shdr str;
	Elf64_Sym sym;
	const unsigned char *p = at(e, sh->sh_offset, sh->sh_size);
	const char *name;

	if (!p || !section(e, sh->sh_link, &str))
		return -1;
	for (uint64_t i = 1; i < sh->sh_size / sizeof(sym); i++) {
		memcpy(&sym, p + i * sizeof(sym), sizeof(sym));
		if (sym.st_shndx != SHN_UNDEF || !sym.st_name)
			continue;
		name = string_at(e, str.sh_offset, str.sh_size, sym.st_name);
		if (!name)
			return -1;
		if (!strv_has(out, name))
			strv_push(out, name);
	}
	return 0;
}

int elf_imports(const struct buf *file, struct strv *out, struct err *err)
{
	struct elf e;
	Elf64_Shdr sh;
	uint32_t want;

	memset(&e, 0, sizeof(e));
	if (!open_head(&e, file))
		return err_set(err, ERR_FORMAT, "not an object file");
	want = e.head.e_type == ET_REL ? SHT_SYMTAB : SHT_DYNSYM;
	for (uint64_t i = 0; i < e.head.e_shnum; i++) {
		if (!section(&e, i, &sh))
			return err_set(err, ERR_FORMAT,
				       "a damaged object file");
		if (sh.sh_type == want && add_imports(&e, &sh, out) < 0)
			return err_set(err, ERR_FORMAT,
				       "a damaged symbol table");
	}
	return 0;
}

/* The gate, by segments: what the loader goes by */

/* size bytes at an address, from the file, or NULL. */
static const void *mem_in(const struct elf *e, uint64_t addr, uint64_t size,
			  bool fixed)
{
	for (int i = 0; i < e->head.e_phnum; i++) {
		const Elf64_Phdr *ph = &e->ph[i];

		if (ph->p_type != PT_LOAD || addr < ph->p_vaddr ||
		    (fixed && (ph->p_flags & PF_W)) ||
		    addr - ph->p_vaddr > ph->p_filesz ||
		    size > ph->p_filesz - (addr - ph->p_vaddr))
			continue;
		if (ph->p_offset > e->len)
			return NULL;
		return at(e, ph->p_offset + (addr - ph->p_vaddr), size);
	}
	return NULL;
}

static const void *mem(const struct elf *e, uint64_t addr, uint64_t size)
{
	return mem_in(e, addr, size, false);
}

const void *elf_table(const struct elf *e, uint64_t addr, uint64_t size)
{
	return mem_in(e, addr, size, true);
}

const char *elf_dyn_string(const struct elf *e, uint64_t off)
{
	const char *s;
	uint64_t left;

	if (off >= e->strsz)
		return NULL;
	s = elf_table(e, e->strtab, e->strsz);
	if (!s)
		return NULL;
	left = e->strsz - off;
	if (!memchr(s + off, '\0', left < ELF_MAX_NAME + 1 ? left :
		    ELF_MAX_NAME + 1))
		return NULL;
	return s + off;
}

/*
 * The loader maps whole pages, over whatever is there: only if no segment
 * lies over another, or far from the first, is what it maps what is read here.
 */
static bool check_load(struct elf *e, const Elf64_Phdr *ph)
{
	uint64_t from = ph->p_vaddr - ph->p_vaddr % PAGE;

	if ((ph->p_flags & (PF_W | PF_X)) == (PF_W | PF_X))
		return elf_fail(e, "it has memory that is both writable and "
			    "executable");
	if (!e->end)
		e->first = from;
	if (ph->p_memsz > MAX_STATIC || (from >= e->first &&
	    from - e->first > MAX_STATIC - ph->p_memsz))
		return elf_fail(e, "it has over %llu MiB of static memory",
			    MAX_STATIC >> 20);
	if (from < e->end || ph->p_vaddr > INT64_MAX ||
	    (ph->p_vaddr - ph->p_offset) % PAGE ||
	    ph->p_filesz > ph->p_memsz ||
	    !at(e, ph->p_offset, ph->p_filesz))
		return elf_damaged(e, "segments");
	e->end = (ph->p_vaddr + ph->p_memsz + PAGE - 1) / PAGE * PAGE;
	return true;
}

/* What each thread gets a copy of. */
static bool check_tls(struct elf *e, const Elf64_Phdr *ph)
{
	if (ph->p_memsz > MAX_STATIC)
		return elf_fail(e, "it has over %llu MiB of static memory",
			    MAX_STATIC >> 20);
	if (ph->p_filesz > ph->p_memsz || ph->p_align > PAGE ||
	    (ph->p_align & (ph->p_align - 1)) ||
	    (ph->p_filesz && !mem(e, ph->p_vaddr, ph->p_filesz)))
		return elf_damaged(e, "memory of threads");
	return true;
}

static bool check_segment(struct elf *e, const Elf64_Phdr *ph)
{
	switch (ph->p_type) {
	case PT_INTERP:
		return elf_fail(e, "it names a loader of its own");
	case PT_LOAD:
		return check_load(e, ph);
	case PT_TLS:
		return check_tls(e, ph);
	case PT_GNU_STACK:
		return !(ph->p_flags & PF_X) ||
		       elf_fail(e, "it wants an executable stack");
	case PT_DYNAMIC:
		if (e->dyn_size)
			return elf_damaged(e, "two dynamic sections");
		e->dyn = ph->p_vaddr;
		e->dyn_size = ph->p_filesz;
		return true;
	default:
		return true;
	}
}

static bool read_segments(struct elf *e)
{
	bool stack = false;
	const void *p;

	if (e->head.e_type != ET_DYN)
		return elf_damaged(e, "not a shared object");
	if (e->head.e_phnum > ELF_MAX_PHDRS ||
	    e->head.e_phentsize != sizeof(Elf64_Phdr))
		return elf_damaged(e, "program headers");
	p = at(e, e->head.e_phoff, e->head.e_phnum * sizeof(Elf64_Phdr));
	if (!p)
		return elf_damaged(e, "program headers");
	memcpy(e->ph, p, e->head.e_phnum * sizeof(Elf64_Phdr));
	for (int i = 0; i < e->head.e_phnum; i++) {
		if (!check_segment(e, &e->ph[i]))
			return false;
		stack = stack || e->ph[i].p_type == PT_GNU_STACK;
	}
	if (!stack)
		return elf_fail(e, "it wants an executable stack");
	return true;
}

static const char *code_at_load(int64_t tag)
{
	switch (tag) {
	case DT_INIT:
	case DT_INIT_ARRAY:
	case DT_INIT_ARRAYSZ:
	case DT_PREINIT_ARRAY:
	case DT_PREINIT_ARRAYSZ:
		return "it has code that runs when it is loaded "
		       "(a constructor)";
	case DT_FINI:
	case DT_FINI_ARRAY:
	case DT_FINI_ARRAYSZ:
		return "it has code that runs at exit (a destructor)";
	case DT_TEXTREL:
		return "its code is not position-independent";
	case DT_RPATH:
	case DT_RUNPATH:
		return "it names folders to take libraries from";
	default:
		return NULL;
	}
}

static bool tag_is_known(int64_t tag)
{
	static const int64_t known[] = {
		DT_NULL, DT_NEEDED, DT_PLTRELSZ, DT_PLTGOT, DT_HASH,
		DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_RELAENT,
		DT_STRSZ, DT_SYMENT, DT_SONAME, DT_PLTREL, DT_JMPREL,
		DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1, DT_GNU_HASH, DT_RELACOUNT,
		DT_VERSYM, DT_VERDEF, DT_VERDEFNUM, DT_VERNEED, DT_VERNEEDNUM,
		TAG_RELRSZ, TAG_RELR, TAG_RELRENT,
#if defined(__aarch64__)
		0x70000001, 0x70000003, 0x70000005, /* BTI, PAC, PCS */
#else
		0x70000000, 0x70000001, 0x70000003, /* sizes of the PLT */
#endif
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i] == tag)
			return true;
	return false;
}

static bool take_tag(struct elf *e, const Elf64_Dyn *d)
{
	const char *why = code_at_load(d->d_tag);

	if (why)
		return elf_fail(e, "%s", why);
	if (!tag_is_known(d->d_tag))
		return elf_fail(e, "it has a dynamic entry of type %#" PRIx64
			    ", which no kernel needs", (uint64_t)d->d_tag);
	switch (d->d_tag) {
	case DT_STRTAB:
		e->strtab = d->d_un.d_ptr;
		break;
	case DT_STRSZ:
		e->strsz = d->d_un.d_val;
		break;
	case DT_SYMTAB:
		e->symtab = d->d_un.d_ptr;
		break;
	case DT_HASH:
		e->has_hash = true;
		e->hash = d->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		e->has_gnu_hash = true;
		e->gnu_hash = d->d_un.d_ptr;
		break;
	case DT_RELA:
		e->rela = d->d_un.d_ptr;
		break;
	case DT_RELASZ:
		e->relasz = d->d_un.d_val;
		break;
	case DT_RELACOUNT:
		e->relative = d->d_un.d_val;
		break;
	case TAG_RELR:
		e->relr = d->d_un.d_ptr;
		break;
	case TAG_RELRSZ:
		e->relrsz = d->d_un.d_val;
		break;
	case DT_JMPREL:
		e->jmprel = d->d_un.d_ptr;
		break;
	case DT_PLTRELSZ:
		e->pltrelsz = d->d_un.d_val;
		break;
	case DT_PLTREL:
		if (d->d_un.d_val != DT_RELA)
			return elf_damaged(e, "type of relocations");
		break;
	case DT_RELAENT:
		if (d->d_un.d_val != sizeof(Elf64_Rela))
			return elf_damaged(e, "size of relocations");
		break;
	case DT_SYMENT:
		if (d->d_un.d_val != sizeof(Elf64_Sym))
			return elf_damaged(e, "size of symbols");
		break;
	case DT_FLAGS:
		if (d->d_un.d_val & DF_TEXTREL)
			return elf_fail(e, "%s", code_at_load(DT_TEXTREL));
		break;
	case DT_FLAGS_1:
		if (d->d_un.d_val & DF_1_INTERPOSE)
			return elf_fail(e, "it replaces functions of others");
		break;
	default:
		break;
	}
	return true;
}

/* Calls take() for every entry of the dynamic section. */
static bool each_tag(struct elf *e, bool threads,
		     bool (*take)(struct elf *, const Elf64_Dyn *, bool))
{
	const unsigned char *p = mem(e, e->dyn, e->dyn_size);
	uint64_t size = e->dyn_size;
	Elf64_Dyn d;

	if (!size || !p)
		return elf_damaged(e, "no dynamic section");
	for (uint64_t off = 0; off + sizeof(d) <= size; off += sizeof(d)) {
		memcpy(&d, p + off, sizeof(d));
		if (d.d_tag == DT_NULL)
			return true;
		if (!take(e, &d, threads))
			return false;
	}
	return elf_damaged(e, "dynamic section without an end");
}

static bool take_any(struct elf *e, const Elf64_Dyn *d, bool threads)
{
	(void)threads;
	return take_tag(e, d);
}

static bool take_needed(struct elf *e, const Elf64_Dyn *d, bool threads)
{
	const char *name;

	if (d->d_tag != DT_NEEDED)
		return true;
	name = elf_dyn_string(e, d->d_un.d_val);
	if (!name)
		return elf_damaged(e, "name of a library");
	if (elf_library_allowed(name, threads))
		return true;
	if (!strcmp(name, "libgomp.so.1"))
		return elf_fail(e, "it needs OpenMP, but the kernel is declared "
			    "with threads = 1");
	return elf_fail(e, "it needs the library '%s'", name);
}

bool elf_gate(const struct buf *file, bool threads, struct buf *why)
{
	struct elf e;

	memset(&e, 0, sizeof(e));
	e.why = why;
	if (!open_head(&e, file))
		return elf_damaged(&e, "not an ELF file of this machine");
	return read_segments(&e) &&
	       each_tag(&e, threads, take_any) &&
	       each_tag(&e, threads, take_needed) &&
	       elf_check_symbols(&e, threads) &&
	       elf_check_relocs(&e, threads);
}
