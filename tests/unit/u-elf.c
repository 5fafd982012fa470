/* needs: core/judge/elf.c */
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
	Elf64_Phdr ph[3];		/* load, dynamic, stack */
	Elf64_Dyn dyn[12];
	uint32_t hash[8];
	Elf64_Sym sym[3];
	Elf64_Rela rela[1];
	char str[64];
};
#define ADDR(field) offsetof(struct image, field)

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
	m->head.e_phnum = 3;
	m->ph[0].p_type = PT_LOAD;
	m->ph[0].p_flags = PF_R | PF_X;
	m->ph[0].p_filesz = m->ph[0].p_memsz = sizeof(*m);
	m->ph[1].p_type = PT_DYNAMIC;
	m->ph[1].p_vaddr = m->ph[1].p_offset = ADDR(dyn);
	m->ph[1].p_filesz = sizeof(m->dyn);
	m->ph[2].p_type = PT_GNU_STACK;
	m->ph[2].p_flags = PF_R | PF_W;
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
	m.ph[2].p_flags |= PF_X;
	refused(&m, "executable stack");
	make(&m);
	m.ph[2].p_type = PT_NULL;
	refused(&m, "executable stack");
	make(&m);
	m.ph[0].p_flags |= PF_W;
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
	test_damage();
	return tap_done();
}
