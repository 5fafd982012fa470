/* git maxkernel measure: times kernels without a search. */
#include <stdlib.h>

#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/shapes.h"
#include "cmd/task.h"
#include "core/mem.h"

struct measure_opts {
	const char *rev, *against;
	bool worktree, json;
};

/* The root's own numbers, as a record. */
static void root_record(const struct task *t, struct record *r)
{
	const struct judge_info *info = &t->judge[0]->info;

	r->verdict = V_SAME;
	r->compiled = r->correct = true;
	r->host = xstrdup(info->host);
	r->device = xstrdup(info->device);
	r->sandbox = xstrdup(info->sandbox);
	r->oracle = xstrdup(info->oracle);
	r->compiler = xstrdup(info->compiler);
	r->nr_shapes = info->nr_shapes;
	r->shape = xcalloc(info->nr_shapes, sizeof(*r->shape));
	for (size_t i = 0; i < info->nr_shapes; i++) {
		r->shape[i] = info->shape[i];
		r->shape[i].shape = xstrdup(info->shape[i].shape);
		r->shape[i].baseline_ns = info->shape[i].time_ns;
	}
	if (info->nr_shapes) {
		r->time_ns = r->baseline_ns = info->shape[0].time_ns;
		r->gflops = info->shape[0].gflops;
		r->gbs = info->shape[0].gbs;
		r->roof = info->shape[0].roof;
	}
}

static void print(const struct task *t, const struct record *r, bool json)
{
	struct jout j;

	if (json) {
		jout_begin(&j);
		jout_str(&j, "kernel", t->kernel->name);
		jout_record(&j, r);
		jout_end(&j, stdout);
		return;
	}
	printf("%s: %s", t->kernel->name, verdict_name(r->verdict));
	if (r->error) {
		struct buf b = BUF_INIT;

		buf_add_clean(&b, r->error, strlen(r->error), true);
		printf(": %s", b.ptr);
		buf_release(&b);
	}
	putchar('\n');
	shapes_print(r, stdout);
}

/* What is measured: the work tree, a revision, or NULL: the root itself. */
static int candidate(struct session *s, const struct kernel *k,
		     const struct task *t, const struct measure_opts *o,
		     struct srcset *out, struct err *err)
{
	struct oid commit;
	int ret;

	if (o->worktree)
		return store_source_worktree(s->repo, &t->base, k, false, out,
					     err);
	ret = repo_rev(s->repo, o->rev ? o->rev : "HEAD", &commit, err);
	return ret ? ret : store_source(s->repo, &commit, k, false, out, err);
}

/* 1: right (and, against another, not slower); 0: the answer is no. */
static int measure_one(struct session *s, const struct kernel *k,
		       const struct measure_opts *o, struct err *err)
{
	struct srcset source = SRCSET_INIT;
	struct oid root, own;
	struct record rec;
	struct task t;
	bool other = o->against || o->worktree;
	int ret = task_open(&t, s, k, o->against ? o->against :
			    o->worktree ? "HEAD" : o->rev, false, err);

	record_init(&rec);
	if (!ret && other)
		ret = candidate(s, k, &t, o, &source, err);
	if (!ret)
		ret = task_judge(&t, 1, err);
	if (ret)
		goto out;
	srcset_state(&t.source, &root);
	srcset_state(&source, &own);
	if (!other || oid_eq(&root, &own)) {
		task_print_root(&t);
		root_record(&t, &rec);
	} else {
		ret = task_measure(&t, &source, &rec, err);
	}
	if (!ret) {
		print(&t, &rec, o->json);
		ret = rec.verdict == V_SAME || rec.verdict == V_CONFIRMED ||
		      rec.verdict == V_FASTER;
	}
out:
	record_release(&rec);
	srcset_release(&source);
	task_close(&t);
	return ret;
}

static int measure_run(struct session *s, int argc, char **argv,
		       struct err *err)
{
	struct measure_opts o = { NULL, NULL, false, false };
	const struct opt opts[] = {
		OPT_STR(0, "rev", &o.rev, "<commit>",
			"measure the kernels of this commit (HEAD)"),
		OPT_BOOL(0, "worktree", &o.worktree,
			"measure the work tree's versions, against HEAD's"),
		OPT_STR(0, "against", &o.against, "<commit>",
			"the version to compare with"),
		OPT_BOOL(0, "json", &o.json,
			"print one JSON object a kernel"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	struct kernel_file f;
	bool good = true;
	int status, ret;

	argc = opt_parse(&cmd_measure, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	if (o.rev && o.worktree)
		return err_set(err, ERR_USAGE, "--rev and --worktree exclude "
			       "each other"), EXIT_USAGE;
	ret = task_kernels(s, &f, err);
	if (ret)
		return cmd_status_of(err);
	task_signals();
	for (size_t i = 0; i < (argc ? (size_t)argc : f.nr) && ret >= 0; i++) {
		const struct kernel *k = &f.v[i];

		ret = argc ? task_kernel(&f, argv[i], &k, err) : 0;
		if (!ret)
			ret = measure_one(s, k, &o, err);
		good = good && ret != 0;
	}
	kernel_file_release(&f);
	if (ret < 0)
		return cmd_status_of(err);
	return good ? EXIT_DONE : EXIT_NO;
}

static const char *const usage[] = {
	"git maxkernel measure [<options>] [<kernel>...]",
	NULL
};

const struct cmd cmd_measure = {
	.name = "measure",
	.group = "one stage at a time",
	.summary = "time kernels, or compare two versions of them",
	.usage = usage,
	.needs = NEED_REPO,
	.run = measure_run,
};
