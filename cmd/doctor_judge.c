/*
 * The judge's own view of the machine: it opens two small kernels of ours as
 * it would open any, and says what their rates are a share of.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/child.h"
#include "cmd/doctor.h"
#include "cmd/task.h"
#include "core/mem.h"

/*
 * Two kernels: a copy far larger than the inner caches, of integers that cost
 * the judge little to make and to check; and a chain of multiply-adds.
 */
static const char *const probe_args[][2] = {
	{"stream", "\tentry = stream\n\targ = in i32 x[n]\n"
		   "\targ = out i32 y[n]\n\targ = dim n\n\ttime = n=4000000\n"
		   "\tinput = x const(1)\n"},
	{"fma", "\tentry = fma_chain\n\targ = in f32 x[n]\n"
		"\targ = out f32 y[n]\n\targ = dim n\n\ttime = n=4096\n"
		"\tinput = x uniform(-1,1)\n\trtol = 1e-3\n\tatol = 1e-3\n"
		"\tflops = 128*n\n"}};

static const char stream_source[] = "void stream(const int *x, int *y, int n)\n"
				    "{\n"
				    "\tfor (int i = 0; i < n; i++)\n"
				    "\t\ty[i] = x[i];\n"
				    "}\n";

static const char fma_source[] =
	"void fma_chain(const float *x, float *y, int n)\n"
	"{\n"
	"\tfor (int i = 0; i < n; i++) {\n"
	"\t\tfloat v = x[i];\n"
	"\t\tfor (int k = 0; k < 64; k++)\n"
	"\t\t\tv = v * 0.5f + 0.25f;\n"
	"\t\ty[i] = v;\n"
	"\t}\n"
	"}\n";

static void probe_text(struct buf *b, const char *cc)
{
	for (size_t i = 0; i < ARRAY_SIZE(probe_args); i++)
		buf_addf(b,
			 "[kernel \"%s\"]\n\tfile = %s.c\n\tcc = %s\n"
			 "\tflags = -O3 -march=native\n%s",
			 probe_args[i][0], probe_args[i][0], cc,
			 probe_args[i][1]);
}

/* Opens one kernel in the judge; *roof is what its own rate is a share of. */
static int probe_one(struct session *s, const struct kernel *k,
		     const char *path, const char *source, bool flops,
		     struct findings *f, double *roof, struct err *err)
{
	const struct judge_info *info;
	struct task t;
	int ret;

	memset(&t, 0, sizeof(t));
	t.session = s;
	t.kernel = k;
	srcset_put(&t.source, path, source, strlen(source), true);
	srcset_copy(&t.aux, &t.source);
	ret = task_judge(&t, 1, err);
	if (!ret) {
		info = &t.judge[0]->info;
		if (info->nr_shapes && info->shape[0].roof > 0)
			*roof = (flops ? info->shape[0].gflops
				       : info->shape[0].gbs) /
				info->shape[0].roof;
		if (isfinite(info->resolution) &&
		    !(f->resolution <= info->resolution))
			f->resolution = info->resolution;
		if (!f->device)
			f->device = xstrdup(info->device_text);
		if (!f->sandbox)
			f->sandbox = xstrdup(info->sandbox);
	}
	task_close(&t);
	return ret;
}

static int probe(struct session *s, const char *cc, struct findings *f,
		 struct err *err)
{
	struct kernel_file file = {NULL, 0, 0};
	struct buf text = BUF_INIT;
	int ret;

	probe_text(&text, cc);
	ret = kernel_file_parse(&file, "doctor", text.ptr, text.len, err);
	if (!ret)
		ret = probe_one(s, kernel_find(&file, "stream"), "stream.c",
				stream_source, false, f, &f->gbs, err);
	if (!ret)
		ret = probe_one(s, kernel_find(&file, "fma"), "fma.c",
				fma_source, true, f, &f->gflops, err);
	kernel_file_release(&file);
	buf_release(&text);
	return ret;
}

int doctor_judge(struct session *s, struct findings *f, struct err *err)
{
	bool gcc = child_exists("gcc");
	struct buf b = BUF_INIT;
	int ret;

	for (size_t i = 0; i < f->nr; i++)
		if (f->v[i].missing)
			return 0; /* it could not work */
	ret = probe(s, gcc ? "gcc" : "clang", f, err);
	if (ret == ERR_STOPPED)
		return ret;
	if (ret) {
		buf_add_clean(&b, err->msg, strlen(err->msg), false);
		doctor_advise(
			doctor_found(f, "judge", "cannot measure: %s", b.ptr),
			true,
			"put that right first; no search can run without it");
		err->code = ERR_NONE;
		buf_release(&b);
		return 0;
	}
	if (f->device)
		doctor_found(f, "device", "%s", f->device);
	if (isfinite(f->resolution))
		doctor_found(f, "resolution",
			     "effects from about %.1f %% on are seen",
			     f->resolution * 100);
	if (isfinite(f->gflops))
		doctor_found(f, "compute", "roof %.1f GF/s (f32, one thread)",
			     f->gflops);
	if (isfinite(f->gbs))
		doctor_found(f, "memory", "roof %.1f GB/s (one thread)",
			     f->gbs);
	return 0;
}
