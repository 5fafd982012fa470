/* needs: core/judge/stub.c core/dtype.c core/expr.c core/ini.c core/kernel.c core/kernel_arg.c core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/source.c core/oid.c core/sha1.c */
#include "core/judge/build.h"
#include "tests/unit/tap.h"

static void gives(const char *args, bool as_double, const char *symbol,
		  const char *want)
{
	struct buf text = BUF_INIT, got = BUF_INIT;
	struct kernel_file file;
	struct err err = ERR_INIT;

	buf_addf(&text, "[kernel \"k\"]\nfile = k.c\nentry = f\n%s", args);
	if (ok(!kernel_file_parse(&file, "k", text.ptr, text.len, &err),
	       "the section %s", err.msg)) {
		stub_text(&got, file.v, symbol, as_double);
		if (!ok(strstr(got.ptr, want), "its stub has what it must"))
			printf("# %s\n", got.ptr);
		kernel_file_release(&file);
	}
	buf_release(&text);
	buf_release(&got);
}

int main(void)
{
	gives("arg = in f32 x[4]\narg = out f32 y[4]\n", false, "f",
	      "void f(const float *a0,\n\tfloat *a1);\n"
	      "void mk_call(void *const *arg);\n"
	      "void mk_call(void *const *arg)\n{\n\t(void)arg;\n"
	      "\tf((const float *)arg[0],\n\t\t(float *)arg[1]);\n}\n");
	gives("arg = in f32 x[4]\narg = out f32 y[4]\n", true, "g",
	      "void g(const double *a0,\n\tdouble *a1);\n");
	gives("arg = dim n\narg = dim long m\narg = dim size_t k\n"
	      "arg = in i16 x[n][m][k]\narg = ret f64\n"
	      "time = n=1 m=2 k=3\n", false, "f",
	      "double f(int a0,\n\tlong a1,\n\tsize_t a2,\n"
	      "\tconst int16_t *a3);\n");
	gives("arg = ret f32\narg = in f32 x[4]\narg = in f32 s = 2\n", false,
	      "f", "\t*(float *)arg[0] = f((const float *)arg[1],\n"
	      "\t\t*(const float *)arg[2]);\n");
	gives("arg = ret f32\narg = in f32 x[4]\narg = in f32 s = 2\n", true,
	      "f", "\t*(double *)arg[0] = f((const double *)arg[1],\n"
	      "\t\t*(const double *)arg[2]);\n");
	gives("arg = weight bf16 w[4]\narg = inout bool b[2]\n", true, "f",
	      "void f(const uint16_t *a0,\n\t_Bool *a1);\n");
	return tap_done();
}
