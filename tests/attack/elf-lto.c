/*
 * tries: options for the compiler that the linker calls
 * kernel: row
 * expect: wrong
 *
 * No program takes them; the kernel does nothing.
 */
__asm__(".section .gnu.lto_.opts,\"e\",@progbits\n"
	"\t.asciz \"'-fplugin=/tmp/evil.so' '-O2'\"\n\t.text\n");

void row(const float *x, const float *w, float *y, float alpha, int M, int N)
{
	(void)x, (void)w, (void)y, (void)alpha, (void)M, (void)N;
}
