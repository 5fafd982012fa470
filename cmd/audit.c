/* git maxkernel audit: would this section let a wrong kernel through? */
#include <math.h>
#include <stdio.h>

#include "cmd/audit.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "core/mem.h"

struct audit_opts {
	const char *rev;
	bool worktree, json, no_advice;
};

static const char *result_of(const struct audit_entry *e)
{
	return !e->tried ? "-" : e->verdict == V_SAME ? "PASSES" : "rejected";
}

static void print_json(const struct kernel *k, const struct audit *a)
{
	struct buf list = BUF_INIT;
	struct jout j;

	buf_addch(&list, '[');
	for (int i = 0; i < MUTANT_NR; i++) {
		const struct audit_entry *e = &a->entry[i];
		struct buf one = BUF_INIT;
		struct jout m;

		jout_begin(&m);
		jout_str(&m, "mutant", mutant_name(e->mutant));
		jout_bool(&m, "tried", e->tried);
		jout_bool(&m, "passes", e->tried && e->verdict == V_SAME);
		jout_str(&m, "verdict", e->tried ? verdict_name(e->verdict) :
			 NULL);
		jout_str(&m, "error", e->why);
		jout_detach(&m, &one);
		buf_addf(&list, "%s%s", i ? ", " : "", one.ptr);
		buf_release(&one);
	}
	buf_addch(&list, ']');
	jout_begin(&j);
	jout_str(&j, "kernel", k->name);
	jout_int(&j, "tried", a->tried);
	jout_int(&j, "passed", a->passed);
	jout_num(&j, "rtol", a->rtol);
	jout_num(&j, "atol", a->atol);
	jout_num(&j, "better_rtol", a->better_rtol);
	jout_num(&j, "better_atol", a->better_atol);
	jout_raw(&j, "mutants", list.ptr);
	jout_end(&j, stdout);
	buf_release(&list);
}

static void print_table(const struct audit *a)
{
	static const char *const heads[] = {
		"mutant", "result", "by", "what it does"
	};
	struct table t;

	table_init(&t, ARRAY_SIZE(heads), 0);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		table_cell(&t, "%s", heads[i]);
	for (int i = 0; i < MUTANT_NR; i++) {
		const struct audit_entry *e = &a->entry[i];
		bool passes = e->tried && e->verdict == V_SAME;

		table_cell(&t, "%s", mutant_name(e->mutant));
		table_cell(&t, "%s", result_of(e));
		table_tint(&t, passes ? COL_BAD : e->tried ? COL_GOOD :
			   COL_DIM);
		table_cell(&t, "%s", !e->tried ? "no meaning here" : passes ?
			   "" : verdict_name(e->verdict));
		table_cell(&t, "%s", mutant_summary(e->mutant));
	}
	table_print(&t, stdout);
	table_release(&t);
}

static void print_advice(const struct kernel *k, const struct audit *a,
			 bool asked)
{
	struct buf names = BUF_INIT;

	audit_names(a, &names);
	if (!a->tried) {
		printf("%s: no mutant could be made: %s\n", k->name,
		       a->entry[0].why ? a->entry[0].why : "no output");
	} else if (!a->passed) {
		printf("%s: %d of %d mutants rejected\n", k->name, a->tried,
		       a->tried);
	} else {
		printf("%s: %s %s under rtol = %.3g, atol = %.3g: a search "
		       "would find such a version and call it faster\n",
		       k->name, names.ptr, a->passed == 1 ? "passes" : "pass",
		       a->rtol, a->atol);
		if (!isnan(a->better_rtol))
			printf("\tthe loosest tolerance found that rejects "
			       "them and passes the kernel itself:\n"
			       "\trtol = %.3g\n\tatol = %.3g\n",
			       a->better_rtol, a->better_atol);
		else if (asked)
			printf("\tno tighter tolerance helps: look at `input` "
			       "(are the outputs nearly constant, or equal to "
			       "an input?) and at the shapes (`check`)\n");
	}
	buf_release(&names);
}

static int audit_one(struct session *s, const struct kernel *k,
		     const struct audit_opts *o, bool *good, struct err *err)
{
	struct audit a;
	struct task t;
	int ret = task_open(&t, s, k, o->rev, o->worktree, err);

	if (!ret) {
		ret = audit_kernel(s, k, &t.source, &t.aux, !o->no_advice, &a,
				   err);
		if (!ret && o->json) {
			print_json(k, &a);
		} else if (!ret) {
			print_table(&a);
			print_advice(k, &a, !o->no_advice);
		}
		*good = *good && a.tried && !a.passed;
		audit_release(&a);
	}
	task_close(&t);
	return ret;
}

static int audit_run(struct session *s, int argc, char **argv,
		     struct err *err)
{
	struct audit_opts o = { NULL, false, false, false };
	const struct opt opts[] = {
		OPT_STR(0, "rev", &o.rev, "<commit>",
			"audit the kernels of this commit (HEAD)"),
		OPT_BOOL(0, "worktree", &o.worktree,
			 "audit the work tree's versions"),
		OPT_BOOL(0, "no-advice", &o.no_advice,
			 "do not look for a better tolerance"),
		OPT_BOOL(0, "json", &o.json,
			 "print one JSON object a kernel"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	struct kernel_file f;
	bool good = true;
	int status, ret;

	argc = opt_parse(&cmd_audit, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	if (o.rev && o.worktree)
		return err_set(err, ERR_USAGE, "--rev and --worktree exclude "
			       "each other"), EXIT_USAGE;
	ret = task_kernels(s, &f, err);
	if (ret)
		return cmd_status_of(err);
	task_signals();
	for (size_t i = 0; i < (argc ? (size_t)argc : f.nr) && !ret; i++) {
		const struct kernel *k = &f.v[i];

		ret = argc ? task_kernel(&f, argv[i], &k, err) : 0;
		if (!ret)
			ret = audit_one(s, k, &o, &good, err);
	}
	kernel_file_release(&f);
	if (ret < 0)
		return cmd_status_of(err);
	return good ? EXIT_DONE : EXIT_NO;
}

static const char *const usage[] = {
	"git maxkernel audit [<options>] [<kernel>...]",
	NULL
};

const struct cmd cmd_audit = {
	.name = "audit",
	.group = "set up",
	.summary = "try wrong kernels against a section's tolerance",
	.usage = usage,
	.needs = NEED_REPO,
	.run = audit_run,
};
