/* needs: core/judge/elf*.c */
/*
 * The first byte says whether the kernel has threads, the rest is a shared
 * object.  One that the gate lets pass is looked at once more, as a loader
 * would: segment by segment, tag by tag, every symbol that its hash table
 * leads to, every word that its relocations write.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/judge/elf.h"
#include "core/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed);
__attribute__((weak))
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

#define PAGE 4096u
#define LIMIT (256ull << 20)

struct object {
	const uint8_t *p;
	size_t len;
	Elf64_Phdr ph[64];
	int nr_ph;
	bool threads, has_hash, has_gnu;
	uint64_t dyn, dyn_size;
	uint64_t str, strsz, sym, hash, gnu, rela, relasz, relative, plt,
		 pltsz, relr, relrsz;
};

static void must(bool good)
{
	if (!good)
		abort();
}

/* ---- segments ---- */

static const Elf64_Phdr *segment(const struct object *o, uint64_t addr,
				 uint64_t size)
{
	for (int i = 0; i < o->nr_ph; i++) {
		const Elf64_Phdr *h = &o->ph[i];

		if (h->p_type == PT_LOAD && addr >= h->p_vaddr &&
		    addr - h->p_vaddr <= h->p_memsz &&
		    size <= h->p_memsz - (addr - h->p_vaddr))
			return h;
	}
	return NULL;
}

/* Bytes that the file has for an address, and that nothing can change. */
static const uint8_t *fixed(const struct object *o, uint64_t addr,
			    uint64_t size)
{
	const Elf64_Phdr *h = segment(o, addr, size);

	must(h && !(h->p_flags & PF_W));
	must(addr - h->p_vaddr + size <= h->p_filesz);
	return o->p + h->p_offset + (addr - h->p_vaddr);
}

static uint32_t word(const struct object *o, uint64_t addr)
{
	uint32_t w;

	memcpy(&w, fixed(o, addr, 4), 4);
	return w;
}

static void one_load(const struct object *o, const Elf64_Phdr *h,
		     uint64_t *first, uint64_t *end)
{
	uint64_t start = h->p_vaddr / PAGE * PAGE;

	must((h->p_flags & (PF_W | PF_X)) != (PF_W | PF_X));
	must(h->p_filesz <= h->p_memsz && h->p_memsz <= LIMIT);
	must(h->p_vaddr <= UINT64_MAX / 2);
	must(h->p_offset <= o->len && h->p_filesz <= o->len - h->p_offset);
	must(h->p_vaddr % PAGE == h->p_offset % PAGE);
	/* A later one would lie over an earlier, or over something else. */
	must(start >= *end);
	if (*first == UINT64_MAX)
		*first = start;
	*end = (h->p_vaddr + h->p_memsz + PAGE - 1) / PAGE * PAGE;
	must(*end - *first <= LIMIT);
}

static void one_tls(const struct object *o, const Elf64_Phdr *h)
{
	must(h->p_filesz <= h->p_memsz && h->p_memsz <= LIMIT);
	must(!h->p_filesz || segment(o, h->p_vaddr, h->p_filesz));
}

static void segments(struct object *o)
{
	uint64_t first = UINT64_MAX, end = 0;
	Elf64_Ehdr head;
	bool stack = false;

	memcpy(&head, o->p, sizeof(head));
	must(head.e_type == ET_DYN && head.e_phnum <= 64);
	o->nr_ph = head.e_phnum;
	memcpy(o->ph, o->p + head.e_phoff, sizeof(*o->ph) * head.e_phnum);
	for (int i = 0; i < o->nr_ph; i++) {
		const Elf64_Phdr *h = &o->ph[i];

		must(h->p_type != PT_INTERP);
		if (h->p_type == PT_LOAD)
			one_load(o, h, &first, &end);
		if (h->p_type == PT_GNU_STACK) {
			must(!(h->p_flags & PF_X));
			stack = true;
		}
	}
	must(stack && end);
	for (int i = 0; i < o->nr_ph; i++) {
		if (o->ph[i].p_type == PT_TLS)
			one_tls(o, &o->ph[i]);
		if (o->ph[i].p_type != PT_DYNAMIC)
			continue;
		must(!o->dyn_size);
		o->dyn = o->ph[i].p_vaddr;
		o->dyn_size = o->ph[i].p_filesz;
	}
}

/* ---- tags ---- */

static void one_tag(struct object *o, const Elf64_Dyn *d)
{
	uint64_t v = d->d_un.d_val;

	switch (d->d_tag) {
	case DT_INIT: case DT_FINI: case DT_INIT_ARRAY: case DT_FINI_ARRAY:
	case DT_PREINIT_ARRAY: case DT_TEXTREL: case DT_RPATH:
	case DT_RUNPATH: case DT_REL: case DT_DEBUG: case DT_AUXILIARY:
	case DT_FILTER: case DT_CONFIG: case DT_DEPAUDIT: case DT_AUDIT:
		abort();
	case DT_FLAGS:
		must(!(v & DF_TEXTREL));
		break;
	case DT_STRTAB:
		o->str = v;
		break;
	case DT_STRSZ:
		o->strsz = v;
		break;
	case DT_SYMTAB:
		o->sym = v;
		break;
	case DT_HASH:
		o->hash = v;
		o->has_hash = true;
		break;
	case DT_GNU_HASH:
		o->gnu = v;
		o->has_gnu = true;
		break;
	case DT_RELA:
		o->rela = v;
		break;
	case DT_RELASZ:
		o->relasz = v;
		break;
	case DT_RELACOUNT:
		o->relative = v;
		break;
	case DT_JMPREL:
		o->plt = v;
		break;
	case DT_PLTRELSZ:
		o->pltsz = v;
		break;
	case 36:
		o->relr = v;
		break;
	case 35:
		o->relrsz = v;
		break;
	default:
		break;
	}
}

static void tags(struct object *o, bool (*each)(struct object *,
						const Elf64_Dyn *))
{
	const Elf64_Phdr *h = segment(o, o->dyn, o->dyn_size);
	Elf64_Dyn d;

	must(h && o->dyn - h->p_vaddr + o->dyn_size <= h->p_filesz);
	for (uint64_t at = 0; ; at += sizeof(d)) {
		must(at + sizeof(d) <= o->dyn_size);
		memcpy(&d, o->p + h->p_offset + (o->dyn - h->p_vaddr) + at,
		       sizeof(d));
		if (d.d_tag == DT_NULL)
			return;
		if (each)
			each(o, &d);
		else
			one_tag(o, &d);
	}
}

static const char *name_at(const struct object *o, uint64_t off)
{
	const uint8_t *s;

	must(off < o->strsz);
	s = fixed(o, o->str, o->strsz) + off;
	must(memchr(s, '\0', o->strsz - off) != NULL);
	return (const char *)s;
}

static bool library(struct object *o, const Elf64_Dyn *d)
{
	const char *name;

	if (d->d_tag != DT_NEEDED)
		return true;
	name = name_at(o, d->d_un.d_val);
	must(!strchr(name, '/') && !strchr(name, '$'));
	must(!strcmp(name, "libm.so.6") || !strcmp(name, "libc.so.6") ||
	     !strcmp(name, "libmvec.so.1") || !strcmp(name, "libgcc_s.so.1") ||
	     !strncmp(name, "ld-linux-", 9) ||
	     (o->threads && !strcmp(name, "libgomp.so.1")));
	return true;
}

/* ---- symbols ---- */

/* A few of what no kernel may have; the gate's own list says what it may. */
static const char *const never[] = {
	"abort", "atexit", "clock", "clock_gettime", "clone", "dl_iterate_phdr",
	"dlopen", "dlsym", "environ", "execve", "exit", "_exit", "fork",
	"fopen", "getenv", "gettimeofday", "kill", "longjmp", "mmap",
	"mprotect", "munmap", "open", "prctl", "pthread_create", "read",
	"setjmp", "sigaction", "signal", "socket", "stdin", "syscall",
	"system", "time", "write", "__cxa_atexit", "__libc_start_main",
	"_r_debug", "__environ", "__free_hook",
};

static void symbol(const struct object *o, uint64_t i)
{
	const char *name;
	Elf64_Sym s;

	memcpy(&s, fixed(o, o->sym + i * sizeof(s), sizeof(s)), sizeof(s));
	name = name_at(o, s.st_name);
	must(ELF64_ST_TYPE(s.st_info) != STT_GNU_IFUNC);
	if (s.st_shndx != SHN_UNDEF) {
		must(ELF64_ST_BIND(s.st_info) == STB_LOCAL ||
		     !strcmp(name, "mk_call"));
		return;
	}
	for (size_t k = 0; k < ARRAY_SIZE(never); k++)
		must(strcmp(name, never[k]) != 0);
	must(o->threads || (strncmp(name, "omp_", 4) &&
			    strncmp(name, "GOMP_", 5)));
}

static void old_hash(const struct object *o)
{
	uint32_t buckets = word(o, o->hash), chains = word(o, o->hash + 4);

	for (uint64_t i = 0; i < (uint64_t)buckets + chains; i++) {
		uint32_t to = word(o, o->hash + 8 + 4 * i);

		must(to < chains);
		if (to)
			symbol(o, to);
	}
}

static void gnu_hash(const struct object *o)
{
	uint32_t buckets = word(o, o->gnu), first = word(o, o->gnu + 4);
	uint64_t at = o->gnu + 16 + 8ull * word(o, o->gnu + 8);
	uint64_t chain = at + 4ull * buckets;
	uint32_t done = 0;

	/* The loader fetches words of the filter unasked. */
	must(fixed(o, o->gnu, at - o->gnu) != NULL);
	for (uint64_t i = 0; i < buckets; i++) {
		uint64_t s = word(o, at + 4 * i);
		bool last = !s;

		if (last || s < done)
			continue;	/* of equal chains the longest */
		for (; !last; s++) {
			symbol(o, s);
			last = word(o, chain + 4 * (s - first)) & 1;
		}
		done = (uint32_t)s;
	}
}

/* ---- relocations ---- */

static void clear_of(uint64_t addr, uint64_t n, uint64_t at, uint64_t size)
{
	must(addr + n <= at || addr >= at + size);
}

/* The loader writes n bytes there. */
static void written(const struct object *o, uint64_t addr, uint64_t n)
{
	const Elf64_Phdr *h = segment(o, addr, n);

	must(h && (h->p_flags & PF_W));
	clear_of(addr, n, o->dyn, o->dyn_size);
}

static bool type_is_plain(uint32_t type)
{
#if defined(__x86_64__)
	static const uint32_t plain[] = { 0, 1, 6, 7, 8, 16, 17, 18, 36 };
#else
	static const uint32_t plain[] = { 0, 257, 1025, 1026, 1027, 1028,
					  1029, 1030, 1031 };
#endif

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (type == plain[i])
			return true;
	return false;
}

/* The first `relative` ones are applied unread. */
static void relocations(const struct object *o, uint64_t at, uint64_t size,
			uint64_t relative)
{
	Elf64_Rela r;

	for (uint64_t i = 0; i + sizeof(r) <= size; i += sizeof(r)) {
		uint32_t type;

		memcpy(&r, fixed(o, at + i, sizeof(r)), sizeof(r));
		type = (uint32_t)ELF64_R_TYPE(r.r_info);
		must(type_is_plain(type));
		symbol(o, ELF64_R_SYM(r.r_info));
		if (type || i / sizeof(r) < relative)
			written(o, r.r_offset, type == 36 || type == 1031 ?
				16 : 8);
	}
}

static void packed(const struct object *o)
{
	uint64_t where = 0, w;

	for (uint64_t i = 0; i + 8 <= o->relrsz; i += 8) {
		memcpy(&w, fixed(o, o->relr + i, 8), 8);
		if (!(w & 1)) {
			written(o, w, 8);
			where = w + 8;
			continue;
		}
		must(i > 0);	/* else the address is nobody's */
		for (int bit = 1; bit < 64; bit++)
			if (w >> bit & 1)
				written(o, where + 8ull * (unsigned)(bit - 1),
					8);
		where += 63 * 8;
	}
}

static void look(const uint8_t *p, size_t len, bool threads)
{
	struct object o;

	memset(&o, 0, sizeof(o));
	o.p = p;
	o.len = len;
	o.threads = threads;
	segments(&o);
	tags(&o, NULL);
	tags(&o, library);
	if (o.has_gnu)
		gnu_hash(&o);
	else
		old_hash(&o);
	relocations(&o, o.rela, o.relasz, o.relative);
	relocations(&o, o.plt, o.pltsz, 0);
	packed(&o);
}

static bool is_text(const char *s, size_t max)
{
	size_t len = strlen(s);

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < 32 || s[i] == 127)
			return false;
	return len && len <= max;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = BUF_INIT, why = BUF_INIT;
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;
	bool threads;

	if (!size)
		return 0;
	threads = *data & 1;
	buf_add(&file, data + 1, size - 1);
	if (elf_gate(&file, threads, &why))
		look((const uint8_t *)file.ptr, file.len, threads);
	else
		must(is_text(why.ptr, 400));
	if (elf_imports(&file, &names, &err))
		must(err.code == ERR_FORMAT && err.msg[0]);
	strv_release(&names);
	buf_release(&file);
	buf_release(&why);
	return 0;
}

/* ---- for the fuzzer alone: words that mean something elsewhere ---- */

static uint32_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

static void change_word(uint8_t *data, size_t size, uint64_t *state)
{
	static const size_t sizes[] = { 1, 2, 4, 8 };
	static const uint64_t edges[] = { 0, 1, 2, 8, 24, 4096, UINT32_MAX,
					  UINT64_MAX, UINT64_MAX - 7,
					  (uint64_t)1 << 63, 1u << 28 };
	size_t n = sizes[next(state) % 4];
	size_t to = 1 + next(state) % (size - 8) / n * n;
	size_t from = 1 + next(state) % (size - 8) / n * n;
	uint64_t w;

	if (to + n > size || from + n > size)
		return;
	switch (next(state) % 4) {
	case 0:
		memmove(data + to, data + from, n);
		return;
	case 1:
		w = edges[next(state) % ARRAY_SIZE(edges)];
		break;
	case 2:
		memcpy(&w, data + to, n);
		w += next(state) % 65 - 32;
		break;
	default:
		memcpy(&w, data + to, n);
		w ^= 1ull << next(state) % (8 * n);
		break;
	}
	memcpy(data + to, &w, n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed)
{
	uint64_t state = seed;

	if (size < 64 || next(&state) % 8 == 0)
		return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max) :
					  size;
	for (int i = 1 + (int)(next(&state) % 4); i; i--)
		change_word(data, size, &state);
	return size;
}
