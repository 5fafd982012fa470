/* needs: core/dtype.c core/expr.c core/ini.c core/kernel.c core/kernel_arg.c
 * core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/sha1.c core/source.c */
/*
 * `.maxkernel`, any bytes.  What is accepted must be whole: its normal text
 * reads back as itself, its shapes are legal and have sizes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel.h"
#include "core/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void try_shape(const struct kernel *k, const struct shape *s)
{
	struct err err = ERR_INIT;
	double flops, bytes;
	struct shape again;
	int64_t n;

	must(kernel_shape_legal(k, s, &err) == 1);
	for (int i = 0; i < k->nr_args; i++)
		must(!kernel_arg_elems(k, &k->arg[i], s, &n, &err) && n > 0);
	if (!kernel_work(k, s, &flops, &bytes, &err))
		must(flops >= 0 && bytes >= 0);
	must(!kernel_shape_parse(k, &again, s->text, &err));
	must(!strcmp(again.text, s->text));
	shape_release(&again);
}

static void try_kernel(const struct kernel *k)
{
	struct err err = ERR_INIT;
	struct kernel_file again;

	must(k->file.nr && k->entry && k->nr_time);
	must(k->rtol >= 0 && k->rtol < 1 && k->atol >= 0);
	for (size_t i = 0; i < k->file.nr; i++)
		must(path_is_safe(k->file.v[i]));
	for (size_t i = 0; i < k->flags.nr; i++)
		must(kernel_flag_allowed(k->flags.v[i]));
	for (int i = 0; i < k->nr_time; i++)
		try_shape(k, &k->time[i]);
	for (int i = 0; i < k->nr_check; i++)
		try_shape(k, &k->check[i]);
	must(!kernel_section_parse(&again, k->name, k->text.ptr, k->text.len,
				   &err));
	must(!strcmp(again.v[0].text.ptr, k->text.ptr));
	kernel_file_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	struct kernel_file f;
	int ret = kernel_file_parse(&f, ".maxkernel", (const char *)data,
				    size, &err);

	must(ret <= 0 && (ret == 0) == (err.code == ERR_NONE));
	if (ret)
		must(*err.msg && !f.nr);
	for (size_t i = 0; i < f.nr; i++)
		try_kernel(&f.v[i]);
	kernel_file_release(&f);
	return 0;
}
