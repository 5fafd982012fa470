/*
 * tries: reads the coarse clock that the kernel shares with every process
 * kernel: row
 * expect: crash
 * says: SIGSEGV
 */
#include <elf.h>
#include <stddef.h>
#include <string.h>

struct ts {
	long s, ns;
};

/* The vdso's address is in the auxiliary vector, far up the stack. */
static unsigned long vdso(void)
{
	const unsigned long *p = __builtin_frame_address(0);

	if ((unsigned long)p < 0x7ffffff00000)
		return 0;	/* not the first thread */
	for (; (unsigned long)p < 0x7ffffffff000; p++)
		if (p[0] == 33 && p[2] == 51)
			return p[1];
	for (p = __builtin_frame_address(0); (unsigned long)p < 0x7ffffffff000;
	     p++)
		if (p[0] == 33 && p[1] > 0x7fff00000000 && !(p[1] & 4095))
			return p[1];
	return 0;
}

static int (*find(void))(int, struct ts *)
{
	const char *base = (const char *)vdso();
	const Elf64_Ehdr *e = (const void *)base;
	const Elf64_Phdr *ph = (const void *)(base + e->e_phoff);
	const Elf64_Dyn *d = NULL;
	const Elf64_Sym *sym = NULL;
	const char *str = NULL;
	int (*f)(int, struct ts *);
	const char *at;

	for (int i = 0; i < e->e_phnum; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			d = (const void *)(base + ph[i].p_offset);
	for (; d->d_tag; d++) {
		if (d->d_tag == DT_SYMTAB)
			sym = (const void *)(base + d->d_un.d_ptr);
		if (d->d_tag == DT_STRTAB)
			str = base + d->d_un.d_ptr;
	}
	for (sym++; strcmp(str + sym->st_name, "__vdso_clock_gettime"); sym++)
		;
	at = base + sym->st_value;
	memcpy(&f, &at, sizeof(f));
	return f;
}

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	struct ts t = { 0, 0 };

	if (vdso())
		find()(6 /* CLOCK_MONOTONIC_COARSE */, &t);
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++)
			y[i * N + j] = alpha * x[i * N + j] + w[j] +
				       0 * (float)t.s;
}
