/*
 * git maxkernel doctor: what this machine has for finding faster kernels, what
 * is missing and the way out.  Roofs, resolution and sandbox come from the
 * judge itself, which opens two small kernels of ours as it would open any.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/doctor.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/task.h"
#include "core/mem.h"

static const char *const usage[] = {
	"git maxkernel doctor [--quick | --judge] [--json] [-q]", NULL};

struct finding *doctor_found(struct findings *f, const char *name,
			     const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	struct finding *one;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	GROW(f->v, f->nr, f->cap);
	one = &f->v[f->nr++];
	one->name = xstrdup(name);
	one->text = buf_detach(&text);
	one->way_out = NULL;
	one->missing = false;
	return one;
}

void doctor_advise(struct finding *f, bool missing, const char *way_out)
{
	f->missing = missing;
	f->way_out = xstrdup(way_out);
}

static void findings_release(struct findings *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		free(f->v[i].name);
		free(f->v[i].text);
		free(f->v[i].way_out);
	}
	free(f->v);
	free(f->device);
	free(f->sandbox);
}

/* ---- all of it ---- */

static int examine(struct session *s, bool quick, struct findings *f,
		   struct err *err)
{
	struct buf sandbox = BUF_INIT;
	int ret = 0;

	doctor_machine(f);
	if (s->repo)
		repo_config_str(s->repo, "maxkernel.sandbox", &sandbox);
	else
		doctor_found(f, "repository",
			     "none here: run it in one to measure "
			     "the roofs");
	if (s->repo && !quick)
		ret = doctor_judge(s, f, err);
	doctor_sandbox(f, !strcmp(sandbox.ptr, "none"));
	buf_release(&sandbox);
	return ret;
}

static void print_json(const struct findings *f, size_t missing)
{
	struct jout j, one;
	struct buf list = BUF_INIT;

	jout_begin(&j);
	jout_bool(&j, "ready", !missing);
	jout_str(&j, "device", f->device);
	jout_str(&j, "sandbox", f->sandbox);
	jout_num(&j, "resolution", f->resolution);
	jout_num(&j, "roof_gflops", f->gflops);
	jout_num(&j, "roof_gbs", f->gbs);
	buf_addch(&list, '[');
	for (size_t i = 0; i < f->nr; i++) {
		if (i)
			buf_addch(&list, ',');
		jout_begin(&one);
		jout_str(&one, "name", f->v[i].name);
		jout_str(&one, "text", f->v[i].text);
		jout_bool(&one, "missing", f->v[i].missing);
		jout_str(&one, "way_out", f->v[i].way_out);
		jout_detach(&one, &list);
	}
	buf_addch(&list, ']');
	jout_raw(&j, "findings", list.ptr);
	jout_end(&j, stdout);
	buf_release(&list);
}

static void print_text(const struct findings *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		const struct finding *one = &f->v[i];

		printf("%-21s %s", one->name,
		       one->missing   ? colour(COL_BAD)
		       : one->way_out ? colour(COL_NODE)
				      : "");
		put_clean(stdout, one->text);
		printf("%s\n", one->way_out ? colour(COL_RESET) : "");
		if (one->way_out)
			printf("%-21s -> %s\n", "", one->way_out);
	}
}

static void print_sum(const struct findings *f, size_t missing, bool judge)
{
	if (judge && missing)
		printf("\nthe judge erred in %zu of %zu\n", missing, f->nr);
	else if (judge)
		printf("\nthe judge is right in all %zu\n", f->nr);
	else if (missing)
		printf("\n%zu thing%s missing\n", missing,
		       missing == 1 ? " is" : "s are");
	else
		puts("\nready");
}

static int doctor_run(struct session *s, int argc, char **argv, struct err *err)
{
	bool quick = false, judge = false, json = false;
	const struct opt opts[] = {
		OPT_BOOL(0, "quick", &quick, "measure no roofs"),
		OPT_BOOL(0, "judge", &judge, "judge the judge: kernels of "
			 "known speed, and cheats"),
		OPT_BOOL(0, "json", &json, "print one JSON object"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"), OPT_END};
	struct findings f = { .gflops = NAN, .gbs = NAN, .resolution = NAN };
	struct err unused = ERR_INIT;
	struct session own = *s;
	size_t missing = 0;
	int status, ret;

	argc = opt_parse(&cmd_doctor, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 0, err);
	if (status)
		return status;
	if (quick && judge)
		return err_set(err, ERR_USAGE, "--quick and --judge exclude "
			       "each other"), EXIT_USAGE;
	/* a repository is welcome, not needed */
	if (!s->repo && repo_open(&own.repo, ".", &unused))
		own.repo = NULL;
	task_signals();
	ret = judge ? doctor_trial(&own, &f, err) :
		examine(&own, quick, &f, err);
	for (size_t i = 0; i < f.nr; i++)
		missing += f.v[i].missing;
	if (!ret && json) {
		print_json(&f, missing);
	} else if (!ret) {
		print_text(&f);
		print_sum(&f, missing, judge);
	}
	findings_release(&f);
	if (!s->repo && own.repo)
		repo_close(own.repo);
	if (ret)
		return cmd_status_of(err);
	return missing ? EXIT_NO : EXIT_DONE;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.group = "set up",
	.summary = "say what this machine has, what is missing, the way out",
	.usage = usage,
	.run = doctor_run,
};
