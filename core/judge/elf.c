#include "core/judge/elf.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "core/mem.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define MAX_PHDRS 64
#define MAX_NAME 256
#define MAX_STATIC (256ull << 20)	/* bytes of its own data */

struct elf {
	const unsigned char *p;
	size_t len;
	Elf64_Ehdr head;
	Elf64_Phdr ph[MAX_PHDRS];
	/* From the dynamic section; addresses, sizes in bytes. */
	uint64_t strtab, strsz, symtab, hash, gnu_hash;
	uint64_t rela, relasz, jmprel, pltrelsz;
	struct buf *why;
};

/* size bytes at a file offset, or NULL. */
static const void *at(const struct elf *e, uint64_t off, uint64_t size)
{
	if (off > e->len || size > e->len - off)
		return NULL;
	return e->p + off;
}

static bool fail(struct elf *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static bool fail(struct elf *e, const char *fmt, ...)
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

static bool damaged(struct elf *e, const char *what)
{
	return fail(e, "the object file is damaged: %s", what);
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

/* The same of what can't be written: tables that relocations could change
 * are not those that the gate has read. */
static const void *table(const struct elf *e, uint64_t addr, uint64_t size)
{
	return mem_in(e, addr, size, true);
}

static const char *dyn_string(const struct elf *e, uint64_t off)
{
	const char *s;

	if (off >= e->strsz)
		return NULL;
	s = table(e, e->strtab, e->strsz);
	if (!s || !memchr(s + off, '\0', e->strsz - off) ||
	    strlen(s + off) > MAX_NAME)
		return NULL;
	return s + off;
}

static bool read_segments(struct elf *e)
{
	uint64_t own = 0;
	bool stack = false;
	const void *p;

	if (e->head.e_type != ET_DYN)
		return damaged(e, "not a shared object");
	if (e->head.e_phnum > MAX_PHDRS ||
	    e->head.e_phentsize != sizeof(Elf64_Phdr))
		return damaged(e, "program headers");
	p = at(e, e->head.e_phoff, e->head.e_phnum * sizeof(Elf64_Phdr));
	if (!p)
		return damaged(e, "program headers");
	memcpy(e->ph, p, e->head.e_phnum * sizeof(Elf64_Phdr));
	for (int i = 0; i < e->head.e_phnum; i++) {
		const Elf64_Phdr *ph = &e->ph[i];

		if (ph->p_type == PT_INTERP)
			return fail(e, "it names a loader of its own");
		if (ph->p_type == PT_LOAD &&
		    (ph->p_flags & (PF_W | PF_X)) == (PF_W | PF_X))
			return fail(e, "it has memory that is both writable "
				    "and executable");
		if (ph->p_type == PT_LOAD && ph->p_memsz > MAX_STATIC - own)
			return fail(e, "it has over %llu MiB of static memory",
				    MAX_STATIC >> 20);
		if (ph->p_type == PT_LOAD)
			own += ph->p_memsz;
		if (ph->p_type == PT_GNU_STACK) {
			stack = true;
			if (ph->p_flags & PF_X)
				return fail(e, "it wants an executable stack");
		}
	}
	if (!stack)
		return fail(e, "it wants an executable stack");
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
		35, 36, 37,		/* RELR: relative ones, packed */
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

static bool library_is_allowed(const char *name, bool threads)
{
	static const char *const allowed[] = {
		"libm.so.6", "libc.so.6", "libgcc_s.so.1", "libmvec.so.1",
		"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (!strcmp(name, allowed[i]))
			return true;
	return threads && !strcmp(name, "libgomp.so.1");
}

static bool take_tag(struct elf *e, const Elf64_Dyn *d)
{
	const char *why = code_at_load(d->d_tag);

	if (why)
		return fail(e, "%s", why);
	if (!tag_is_known(d->d_tag))
		return fail(e, "it has a dynamic entry of type %#" PRIx64
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
		e->hash = d->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		e->gnu_hash = d->d_un.d_ptr;
		break;
	case DT_RELA:
		e->rela = d->d_un.d_ptr;
		break;
	case DT_RELASZ:
		e->relasz = d->d_un.d_val;
		break;
	case DT_JMPREL:
		e->jmprel = d->d_un.d_ptr;
		break;
	case DT_PLTRELSZ:
		e->pltrelsz = d->d_un.d_val;
		break;
	case DT_PLTREL:
		if (d->d_un.d_val != DT_RELA)
			return damaged(e, "type of relocations");
		break;
	case DT_RELAENT:
		if (d->d_un.d_val != sizeof(Elf64_Rela))
			return damaged(e, "size of relocations");
		break;
	case DT_SYMENT:
		if (d->d_un.d_val != sizeof(Elf64_Sym))
			return damaged(e, "size of symbols");
		break;
	case DT_FLAGS:
		if (d->d_un.d_val & DF_TEXTREL)
			return fail(e, "%s", code_at_load(DT_TEXTREL));
		break;
	case DT_FLAGS_1:
		if (d->d_un.d_val & DF_1_INTERPOSE)
			return fail(e, "it replaces functions of others");
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
	const unsigned char *p = NULL;
	uint64_t size = 0;
	Elf64_Dyn d;

	for (int i = 0; i < e->head.e_phnum; i++) {
		if (e->ph[i].p_type != PT_DYNAMIC)
			continue;
		if (p)
			return damaged(e, "two dynamic sections");
		size = e->ph[i].p_filesz;
		p = mem(e, e->ph[i].p_vaddr, size);
		if (!p)
			return damaged(e, "dynamic section");
	}
	if (!p)
		return damaged(e, "no dynamic section");
	for (uint64_t off = 0; off + sizeof(d) <= size; off += sizeof(d)) {
		memcpy(&d, p + off, sizeof(d));
		if (d.d_tag == DT_NULL)
			return true;
		if (!take(e, &d, threads))
			return false;
	}
	return damaged(e, "dynamic section without an end");
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
	name = dyn_string(e, d->d_un.d_val);
	if (!name)
		return damaged(e, "name of a library");
	if (library_is_allowed(name, threads))
		return true;
	if (!strcmp(name, "libgomp.so.1"))
		return fail(e, "it needs OpenMP, but the kernel is declared "
			    "with threads = 1");
	return fail(e, "it needs the library '%s'", name);
}

/* Names, with '*' at the end for a prefix.  Of libm: each also with f and l. */
static const char *const names_libm[] = {
	"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt",
	"ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp", "exp10",
	"exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin",
	"fmod", "frexp", "hypot", "ilogb", "j0", "j1", "jn", "ldexp",
	"lgamma", "llrint", "llround", "log", "log10", "log1p", "log2",
	"logb", "lrint", "lround", "modf", "nan", "nearbyint", "nextafter",
	"nexttoward", "pow", "pow10", "remainder", "remquo", "rint", "round",
	"roundeven", "scalb", "scalbln", "scalbn", "significand", "sin",
	"sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc", "y0",
	"y1", "yn", "finite", "isnan", "isinf", "drem", "gamma",
	"cabs", "cacos", "cacosh", "carg", "casin", "casinh", "catan",
	"catanh", "ccos", "ccosh", "cexp", "cimag", "clog", "clog10", "conj",
	"cpow", "cproj", "creal", "csin", "csinh", "csqrt", "ctan", "ctanh",
	"__fpclassify", "__isnan", "__isinf", "__finite", "__signbit",
	"__issignaling",
};

/*
 * Printing is allowed, for a debugging line must not cost a kernel its life:
 * in the worker there is nothing behind it.  abort() is not, since a kernel
 * has no way to fail; a failed assertion is a crash like any other.
 */
static const char *const names_libc[] = {
	"memcpy", "memmove", "memset", "memcmp", "memchr", "mempcpy",
	"__memcpy_chk", "__memmove_chk", "__memset_chk", "__mempcpy_chk",
	"malloc", "calloc", "realloc", "reallocarray", "free",
	"posix_memalign", "aligned_alloc",
	"strlen", "strnlen", "strcmp", "strncmp", "strchr", "strrchr",
	"abs", "labs", "llabs", "qsort", "bsearch",
	"__stack_chk_fail", "__tls_get_addr", "__assert_fail",
	"__errno_location", "__cxa_finalize", "__gmon_start__",
	"_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable",
	"printf", "fprintf", "vprintf", "vfprintf", "snprintf", "sprintf",
	"vsnprintf", "puts", "putchar", "fputs", "fputc", "putc", "fwrite",
	"fflush", "perror", "stdout", "stderr",
	"__printf_chk", "__fprintf_chk", "__vprintf_chk", "__vfprintf_chk",
	"__snprintf_chk", "__sprintf_chk", "__vsnprintf_chk",
	"_ZGV*",
};

static const char *const names_threads[] = { "GOMP_*", "omp_*" };

static bool name_in(const char *name, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t len = strlen(list[i]);

		if (list[i][len - 1] == '*' ?
		    !strncmp(name, list[i], len - 1) : !strcmp(name, list[i]))
			return true;
	}
	return false;
}

/* "expf", and "__expf_finite" as older headers rename it. */
static bool is_libm(const char *name)
{
	char base[MAX_NAME + 1];
	size_t len = strlen(name);

	if (len > MAX_NAME || !len)
		return false;
	if (len > 9 && !strncmp(name, "__", 2) &&
	    !strcmp(name + len - 7, "_finite")) {
		name += 2;
		len -= 9;
	}
	memcpy(base, name, len);
	base[len] = '\0';
	if (name_in(base, names_libm, ARRAY_SIZE(names_libm)))
		return true;
	if (base[len - 1] != 'f' && base[len - 1] != 'l')
		return false;
	base[len - 1] = '\0';
	return name_in(base, names_libm, ARRAY_SIZE(names_libm));
}

static bool import_is_allowed(const char *name, bool threads)
{
	return is_libm(name) ||
	       name_in(name, names_libc, ARRAY_SIZE(names_libc)) ||
	       (threads && name_in(name, names_threads,
				   ARRAY_SIZE(names_threads)));
}

static bool symbol(const struct elf *e, uint64_t i, Elf64_Sym *sym)
{
	const void *p;

	if (i > UINT32_MAX)
		return false;
	p = table(e, e->symtab + i * sizeof(*sym), sizeof(*sym));
	if (p)
		memcpy(sym, p, sizeof(*sym));
	return p != NULL;
}

static bool check_symbol(struct elf *e, uint64_t i, bool threads)
{
	const char *name;
	Elf64_Sym sym;

	if (!symbol(e, i, &sym))
		return damaged(e, "symbol table");
	if (ELF64_ST_TYPE(sym.st_info) == STT_GNU_IFUNC)
		return fail(e, "it has a function that is chosen when it is "
			    "loaded (ifunc)");
	name = dyn_string(e, sym.st_name);
	if (!name)
		return damaged(e, "name of a symbol");
	if (sym.st_shndx == SHN_UNDEF && *name &&
	    !import_is_allowed(name, threads))
		return fail(e, "it uses '%s', which a kernel may not%s", name,
			    !strncmp(name, "omp_", 4) ||
			    !strncmp(name, "GOMP_", 5) ?
			    " when it is declared with threads = 1" : "");
	if (sym.st_shndx != SHN_UNDEF && sym.st_shndx != SHN_ABS &&
	    ELF64_ST_BIND(sym.st_info) != STB_LOCAL &&
	    strcmp(name, "mk_call"))
		return fail(e, "it exports '%s'", name);
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

/* It would change what the gate has read. */
static bool is_in_dynamic(const struct elf *e, uint64_t addr)
{
	for (int i = 0; i < e->head.e_phnum; i++)
		if (e->ph[i].p_type == PT_DYNAMIC &&
		    addr + 8 > e->ph[i].p_vaddr &&
		    addr < e->ph[i].p_vaddr + e->ph[i].p_memsz)
			return true;
	return false;
}

static bool check_relocs(struct elf *e, uint64_t addr, uint64_t size,
			 bool threads)
{
	const unsigned char *p;
	Elf64_Rela r;

	if (!size)
		return true;
	p = table(e, addr, size);
	if (!p || size % sizeof(r))
		return damaged(e, "relocations");
	for (uint64_t off = 0; off < size; off += sizeof(r)) {
		memcpy(&r, p + off, sizeof(r));
		if (is_in_dynamic(e, r.r_offset))
			return fail(e, "it changes what the loader goes by");
		if (is_irelative((uint32_t)ELF64_R_TYPE(r.r_info)))
			return fail(e, "it has a function that is chosen when "
				    "it is loaded (ifunc)");
		if (!reloc_is_known((uint32_t)ELF64_R_TYPE(r.r_info)))
			return fail(e, "it has a relocation of type %u",
				    (unsigned)ELF64_R_TYPE(r.r_info));
		if (!check_symbol(e, ELF64_R_SYM(r.r_info), threads))
			return false;
	}
	return true;
}

/* One past the last symbol that the GNU hash table leads to; 0: damaged. */
static uint64_t gnu_hash_end(const struct elf *e)
{
	uint32_t head[4], bucket, chain;
	const unsigned char *p = mem(e, e->gnu_hash, sizeof(head));
	uint64_t buckets, last = 0;

	if (!p)
		return 0;
	memcpy(head, p, sizeof(head));	/* buckets, first, bloom words, shift */
	buckets = e->gnu_hash + sizeof(head) + (uint64_t)head[2] * 8;
	p = mem(e, buckets, (uint64_t)head[0] * 4);
	if (!p)
		return 0;
	for (uint64_t i = 0; i < head[0]; i++) {
		memcpy(&bucket, p + i * 4, 4);
		if (bucket > last)
			last = bucket;
	}
	if (last < head[1])
		return head[1];		/* no symbol is hashed */
	do {
		p = mem(e, buckets + (uint64_t)head[0] * 4 +
			(last - head[1]) * 4, 4);
		if (!p)
			return 0;
		memcpy(&chain, p, 4);
		last++;
	} while (!(chain & 1));
	return last;
}

static bool check_symbols(struct elf *e, bool threads)
{
	uint64_t nr = 0;
	uint32_t head[2];
	const void *p;

	if (e->gnu_hash) {
		nr = gnu_hash_end(e);
	} else if (e->hash) {
		p = mem(e, e->hash, sizeof(head));
		if (p) {
			memcpy(head, p, sizeof(head));
			nr = head[1];
		}
	}
	if (!nr)
		return damaged(e, "hash table of the symbols");
	for (uint64_t i = 1; i < nr; i++)
		if (!check_symbol(e, i, threads))
			return false;
	return true;
}

bool elf_gate(const struct buf *file, bool threads, struct buf *why)
{
	struct elf e;

	memset(&e, 0, sizeof(e));
	e.why = why;
	if (!open_head(&e, file))
		return damaged(&e, "not an ELF file of this machine");
	return read_segments(&e) &&
	       each_tag(&e, threads, take_any) &&
	       each_tag(&e, threads, take_needed) &&
	       check_symbols(&e, threads) &&
	       check_relocs(&e, e.rela, e.relasz, threads) &&
	       check_relocs(&e, e.jmprel, e.pltrelsz, threads);
}
