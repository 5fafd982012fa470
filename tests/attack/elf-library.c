/*
 * tries: a library by a comment to the linker
 * kernel: row
 * expect: wrong
 *
 * Neither compiler nor linker hears it; the kernel does nothing.
 */
#pragma comment(lib, "evil")
#pragma comment(linker, "/EXPORT:evil")
__asm__(".section .deplibs,\"MS\",@0x6fff4c04,1\n\t.asciz \"evil\"\n\t.text\n");

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	(void)x, (void)w, (void)y, (void)alpha, (void)M, (void)N;
}
