/* needs: core/judge/elf*.c */
/* The gate and the reader of imports on damaged files.  What real compilers
 * make is in u-worker. */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/judge/elf.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define RELATIVE R_X86_64_RELATIVE
#define IRELATIVE R_X86_64_IRELATIVE
#define COPY R_X86_64_COPY
#else
#define MACHINE EM_AARCH64
#define RELATIVE R_AARCH64_RELATIVE
#define IRELATIVE R_AARCH64_IRELATIVE
#define COPY R_AARCH64_COPY
#endif

/* A shared object as small as the gate lets pass. */
struct image {
	Elf64_Ehdr head;
	Elf64_Phdr ph[5];		/* see PH_* */
	Elf64_Dyn dyn[12];
	uint32_t hash[8];
	Elf64_Sym sym[3];
	Elf64_Rela rela[1];
	uint64_t relr[2];
	char str[64];
	uint64_t data[4];		/* can be written */
};
#define ADDR(field) offsetof(struct image, field)
#define FAR 0x10000u		/* from the file to the address of data */
#define DATA (FAR + ADDR(data))

enum { PH_TEXT, PH_DATA, PH_DYNAMIC, PH_STACK, PH_FREE, PH_NR };

enum { DYN_STRTAB, DYN_STRSZ, DYN_SYMTAB, DYN_SYMENT, DYN_HASH, DYN_RELA,
       DYN_RELASZ, DYN_RELAENT, DYN_NEEDED, DYN_FREE, DYN_NULL };
enum { NAME_CALL = 1, NAME_EXPF = 9, NAME_LIBM = 14 };

static void set_dyn(struct image *m, int i, int64_t tag, uint64_t value)
{
	m->dyn[i].d_tag = tag;
	m->dyn[i].d_un.d_val = value;
}

static void make(struct image *m)
{
	memset(m, 0, sizeof(*m));
	memcpy(m->head.e_ident, ELFMAG, SELFMAG);
	m->head.e_ident[EI_CLASS] = ELFCLASS64;
	m->head.e_ident[EI_DATA] = ELFDATA2LSB;
	m->head.e_type = ET_DYN;
	m->head.e_machine = MACHINE;
	m->head.e_phoff = ADDR(ph);
	m->head.e_phentsize = sizeof(Elf64_Phdr);
	m->head.e_phnum = PH_NR;
	m->ph[PH_TEXT].p_type = PT_LOAD;
	m->ph[PH_TEXT].p_flags = PF_R | PF_X;
	m->ph[PH_TEXT].p_filesz = m->ph[PH_TEXT].p_memsz = ADDR(data);
	m->ph[PH_DATA].p_type = PT_LOAD;
	m->ph[PH_DATA].p_flags = PF_R | PF_W;
	m->ph[PH_DATA].p_offset = ADDR(data);
	m->ph[PH_DATA].p_vaddr = DATA;
	m->ph[PH_DATA].p_filesz = m->ph[PH_DATA].p_memsz = sizeof(m->data);
	m->ph[PH_DYNAMIC].p_type = PT_DYNAMIC;
	m->ph[PH_DYNAMIC].p_vaddr = m->ph[PH_DYNAMIC].p_offset = ADDR(dyn);
	m->ph[PH_DYNAMIC].p_filesz = sizeof(m->dyn);
	m->ph[PH_STACK].p_type = PT_GNU_STACK;
	m->ph[PH_STACK].p_flags = PF_R | PF_W;
	set_dyn(m, DYN_STRTAB, DT_STRTAB, ADDR(str));
	set_dyn(m, DYN_STRSZ, DT_STRSZ, sizeof(m->str));
	set_dyn(m, DYN_SYMTAB, DT_SYMTAB, ADDR(sym));
	set_dyn(m, DYN_SYMENT, DT_SYMENT, sizeof(Elf64_Sym));
	set_dyn(m, DYN_HASH, DT_HASH, ADDR(hash));
	set_dyn(m, DYN_RELA, DT_RELA, ADDR(rela));
	set_dyn(m, DYN_RELASZ, DT_RELASZ, sizeof(m->rela));
	set_dyn(m, DYN_RELAENT, DT_RELAENT, sizeof(Elf64_Rela));
	set_dyn(m, DYN_NEEDED, DT_NEEDED, NAME_LIBM);
	set_dyn(m, DYN_FREE, DT_BIND_NOW, 0);
	m->hash[1] = 3;
	memcpy(m->str + NAME_CALL, "mk_call", 8);
	memcpy(m->str + NAME_EXPF, "expf", 5);
	memcpy(m->str + NAME_LIBM, "libm.so.6", 10);
	m->sym[1].st_name = NAME_CALL;
	m->sym[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	m->sym[1].st_shndx = 1;
	m->sym[2].st_name = NAME_EXPF;
	m->sym[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	m->rela[0].r_info = ELF64_R_INFO(0, RELATIVE);
	m->rela[0].r_offset = DATA;
}

static bool gate(const struct image *m, size_t len, struct buf *why)
{
	struct buf file = BUF_INIT;
	bool pass;

	buf_add(&file, m, len);
	buf_reset(why);
	pass = elf_gate(&file, false, why);
	buf_release(&file);
	return pass;
}

static void refused(const struct image *m, const char *text)
{
	struct buf why = BUF_INIT;
	bool pass = gate(m, sizeof(*m), &why);

	if (!ok(!pass && strstr(why.ptr, text), "refused: %s", text))
		printf("# %s\n", pass ? "it passed" : why.ptr);
	buf_release(&why);
}

static void test_rules(void)
{
	static const struct {
		int64_t tag;
		const char *text;
	} tags[] = {
		{ DT_INIT, "constructor" }, { DT_INIT_ARRAY, "constructor" },
		{ DT_PREINIT_ARRAY, "constructor" }, { DT_FINI, "at exit" },
		{ DT_FINI_ARRAY, "at exit" }, { DT_TEXTREL, "position" },
		{ DT_RPATH, "folders" }, { DT_RUNPATH, "folders" },
		{ DT_AUXILIARY, "dynamic entry" },
		{ DT_FILTER, "dynamic entry" }, { DT_REL, "dynamic entry" },
		{ 0x6ffffefc, "dynamic entry" },
	};
	struct image m;
	struct buf why = BUF_INIT;

	make(&m);
	ok(gate(&m, sizeof(m), &why), "the smallest passes %s", why.ptr);
	buf_release(&why);
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		make(&m);
		set_dyn(&m, DYN_FREE, tags[i].tag, 1);
		refused(&m, tags[i].text);
	}
	make(&m);
	set_dyn(&m, DYN_FREE, DT_FLAGS, DF_TEXTREL);
	refused(&m, "position");
	make(&m);
	m.ph[PH_STACK].p_flags |= PF_X;
	refused(&m, "executable stack");
	make(&m);
	m.ph[PH_STACK].p_type = PT_NULL;
	refused(&m, "executable stack");
	make(&m);
	m.ph[PH_TEXT].p_flags |= PF_W;
	refused(&m, "both writable");
	make(&m);
	m.rela[0].r_info = ELF64_R_INFO(0, IRELATIVE);
	refused(&m, "ifunc");
	make(&m);
	m.rela[0].r_info = ELF64_R_INFO(2, COPY);
	refused(&m, "relocation of type");
	make(&m);
	m.sym[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
	refused(&m, "ifunc");
	make(&m);
	memcpy(m.str + NAME_EXPF, "fork", 5);
	refused(&m, "'fork'");
	make(&m);
	memcpy(m.str + NAME_CALL, "malloc", 7);
	refused(&m, "exports 'malloc'");
	make(&m);
	memcpy(m.str + NAME_LIBM, "liba.so.6", 10);
	refused(&m, "library 'liba.so.6'");
	make(&m);
	m.head.e_machine++;
	refused(&m, "damaged");
	make(&m);
	m.hash[1] = 0xffffffff;
	refused(&m, "damaged");
}

/* What is read is what the loader will map. */
static void test_segments(void)
{
	struct image m;

	make(&m);
	m.ph[PH_DATA].p_vaddr = ADDR(data);
	refused(&m, "damaged: segments");
	make(&m);
	m.ph[PH_DATA].p_vaddr = -(uint64_t)FAR + ADDR(data);
	refused(&m, "static memory");
	make(&m);
	m.ph[PH_DATA].p_vaddr += 8;
	refused(&m, "damaged: segments");
	make(&m);
	m.ph[PH_DATA].p_memsz--;
	refused(&m, "damaged: segments");
	make(&m);
	m.ph[PH_DATA].p_filesz = m.ph[PH_DATA].p_memsz = sizeof(m.data) + 1;
	refused(&m, "damaged: segments");
	make(&m);
	m.ph[PH_DATA].p_memsz = 300u << 20;
	refused(&m, "static memory");
	make(&m);
	m.ph[PH_DATA].p_vaddr += 1u << 30;
	refused(&m, "static memory");
	make(&m);
	m.ph[PH_FREE].p_type = PT_TLS;
	m.ph[PH_FREE].p_memsz = 300u << 20;
	refused(&m, "static memory");
	m.ph[PH_FREE].p_memsz = 8;
	m.ph[PH_FREE].p_filesz = 16;
	m.ph[PH_FREE].p_vaddr = DATA;
	refused(&m, "memory of threads");
	m.ph[PH_FREE].p_memsz = 16;
	m.ph[PH_FREE].p_vaddr = DATA + sizeof(m.data);
	refused(&m, "memory of threads");
	m.ph[PH_FREE] = m.ph[PH_DYNAMIC];
	refused(&m, "two dynamic");
}

static void set_relr(struct image *m, uint64_t first, uint64_t second)
{
	make(m);
	set_dyn(m, DYN_RELA, 36, ADDR(relr));
	set_dyn(m, DYN_RELASZ, 35, sizeof(m->relr));
	m->relr[0] = first;
	m->relr[1] = second;
}

/* While it loads, only its own data are written. */
static void test_writes(void)
{
	static const uint64_t outside[] = {
		0, ADDR(dyn), DATA - 8, DATA - 1, DATA + 25, DATA + 32,
		-(uint64_t)8, -(uint64_t)4, 1ull << 40,
	};
	struct buf why = BUF_INIT;
	struct image m;

	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		make(&m);
		m.rela[0].r_offset = outside[i];
		refused(&m, "outside its data");
	}
	/* The dynamic section lies in memory that is written. */
	make(&m);
	m.ph[PH_DATA].p_offset = ADDR(dyn);
	m.ph[PH_DATA].p_vaddr = FAR + ADDR(dyn);
	m.ph[PH_DATA].p_filesz = m.ph[PH_DATA].p_memsz =
		sizeof(m) - ADDR(dyn);
	m.ph[PH_DYNAMIC].p_vaddr = FAR + ADDR(dyn);
	ok(gate(&m, sizeof(m), &why), "it may be written %s", why.ptr);
	m.rela[0].r_offset = FAR + ADDR(dyn) + 8;
	refused(&m, "what the loader goes by");
	m.rela[0].r_offset = FAR + ADDR(dyn) + sizeof(m.dyn) - 1;
	refused(&m, "what the loader goes by");
	set_relr(&m, DATA, 1 | 7 << 1);
	ok(gate(&m, sizeof(m), &why), "packed ones pass %s", why.ptr);
	set_relr(&m, DATA, 1 | 15 << 1);
	refused(&m, "outside its data");
	set_relr(&m, ADDR(dyn), 1);
	refused(&m, "outside its data");
	set_relr(&m, 3, DATA);
	refused(&m, "damaged: relocations");
	make(&m);
	m.rela[0].r_info = 0;
	m.rela[0].r_offset = 0;
	ok(gate(&m, sizeof(m), &why), "none writes nothing %s", why.ptr);
	set_dyn(&m, DYN_FREE, DT_RELACOUNT, 1);
	refused(&m, "outside its data");
	buf_release(&why);
}

static void set_gnu_hash(struct image *m, uint32_t bucket, uint32_t chain)
{
	/* 1 bucket, symbols from 1 on, 1 word of the filter */
	const uint32_t table[8] = { 1, 1, 1, 0, 0, 0, bucket, chain };

	make(m);
	set_dyn(m, DYN_HASH, DT_GNU_HASH, ADDR(hash));
	memcpy(m->hash, table, sizeof(table));
}

/* No symbol is found that was not looked at. */
static void test_hash(void)
{
	struct buf why = BUF_INIT;
	struct image m;

	set_gnu_hash(&m, 1, 1);
	ok(gate(&m, sizeof(m), &why), "a GNU hash table %s", why.ptr);
	m.hash[1] = 2;
	refused(&m, "hash table");
	set_gnu_hash(&m, 1, 1);
	set_dyn(&m, DYN_HASH, DT_GNU_HASH, 0);
	set_dyn(&m, DYN_FREE, DT_HASH, ADDR(hash));
	m.hash[1] = 3;
	refused(&m, "damaged");
	make(&m);
	m.hash[0] = 1;
	m.hash[2] = 1;
	ok(gate(&m, sizeof(m), &why), "an old one %s", why.ptr);
	m.hash[2] = 3;
	refused(&m, "hash table");
	make(&m);
	m.hash[4] = 7;
	refused(&m, "hash table");
	make(&m);
	memcpy(m.str + NAME_CALL, "memcpy", 7);
	m.sym[1].st_shndx = SHN_ABS;
	refused(&m, "exports 'memcpy'");
	buf_release(&why);
}

/* Nothing is read beyond the bytes that there are: the sanitizers watch. */
static void test_damage(void)
{
	static const uint64_t edge[] = { 0, 1, 0x7fffffff, 0xffffffff,
		UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63 };
	struct strv names = STRV_INIT;
	struct buf why = BUF_INIT, file = BUF_INIT;
	struct err err = ERR_INIT;
	struct image m;
	int passed = 0, tried = 0;

	make(&m);
	for (size_t len = 0; len < sizeof(m); len++, tried++)
		passed += gate(&m, len, &why);
	is_int(passed, 0, "%d shortened files are refused", tried);
	for (size_t at = 0; at + 8 <= sizeof(m); at += 4) {
		for (size_t i = 0; i < ARRAY_SIZE(edge); i++, tried++) {
			make(&m);
			memcpy((char *)&m + at, &edge[i], 8);
			passed += gate(&m, sizeof(m), &why);
			buf_reset(&file);
			buf_add(&file, &m, sizeof(m));
			elf_imports(&file, &names, &err);
		}
	}
	ok(passed < tried, "%d damaged files are read, %d pass", tried,
	   passed);
	buf_release(&why);
	buf_release(&file);
	strv_release(&names);
}

int main(void)
{
	test_rules();
	test_segments();
	test_writes();
	test_hash();
	test_damage();
	return tap_done();
}
