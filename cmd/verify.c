/* git maxkernel verify: measures a node again, here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/merge.h"
#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/shapes.h"
#include "cmd/run.h"
#include "core/mem.h"

static void print_claim(const char *head, const struct record *r)
{
	struct buf ratio = BUF_INIT, ci = BUF_INIT;

	fmt_ratio(&ratio, isnan(r->speedup) ? r->est_speedup : r->speedup);
	fmt_interval(&ci, r->ci_low, r->ci_high);
	printf("%s: %s, %s %s, on %s (%s)\n", head, verdict_name(r->verdict),
	       ratio.ptr, ci.ptr, r->device ? r->device : "an unknown device",
	       r->host ? r->host : "an unknown host");
	buf_release(&ratio);
	buf_release(&ci);
}

static void print(const struct view *v, uint32_t idx, const struct record *was,
		  const struct record *now, bool json)
{
	struct jout j;

	if (json) {
		jout_begin(&j);
		node_json(&j, v, idx, now);
		jout_end(&j, stdout);
		return;
	}
	print_claim("before", was);
	print_claim("now", now);
	if (now->error) {
		struct buf b = BUF_INIT;

		buf_add_clean(&b, now->error, strlen(now->error), true);
		printf("%s\n", b.ptr);
		buf_release(&b);
	}
	shapes_print(now, stdout);
	if (was->device && now->device && strcmp(was->device, now->device) != 0)
		puts("These are different device classes: the original claim is "
		     "neither confirmed nor refuted by this.");
}

/* The newest record of the node, of whatever device it is. */
static int claim(struct view *v, uint32_t idx, struct record *out,
		 struct err *err)
{
	struct record *all = NULL;
	size_t nr = 0;
	int ret = store_records(v->search, &v->graph.node[idx].id, &all, &nr,
				err);

	for (size_t i = 0; i < nr; i++) {
		if (i + 1 == nr || !isnan(all[i].speedup)) {
			record_release(out);
			record_copy(out, &all[i]);
		}
		record_release(&all[i]);
	}
	free(all);
	return ret;
}

/* What is now measured here may be the best that was: it gets its branch. */
static int land(const struct view *v, const char *device, struct err *err)
{
	struct view now;
	int ret;

	if (strcmp(device, v->search->spec.device) != 0)
		return 0;
	ret = view_open(&now, v->search->repo, v->search->spec.slug, err);
	if (ret)
		return ret;
	ret = merge_publish(now.search, &now.graph, device, now.kernel, err);
	view_close(&now);
	return ret;
}

static int verify_node(struct session *s, struct view *v, uint32_t idx,
		       bool json, struct record *now, struct err *err)
{
	const struct node *n = &v->graph.node[idx];
	struct oid_hex root = oid_text(&v->search->spec.root);
	struct srcset source = SRCSET_INIT;
	struct kernel_file f;
	struct record was;
	struct task t;
	int ret = run_spec_kernel(&v->search->spec, &f, err);

	if (ret)
		return ret;
	record_init(&was);
	ret = task_open(&t, s, &f.v[0], root.s, false, err);
	if (!ret)
		ret = store_source(s->repo, &n->id, &f.v[0], false, &source,
				   err);
	if (!ret)
		ret = claim(v, idx, &was, err);
	if (!ret)
		ret = task_judge(&t, 1, err);
	if (!ret)
		ret = task_measure(&t, &source, now, err);
	if (!ret)
		ret = store_measure(v->search, &n->id, &n->state, now, err);
	if (!ret)
		print(v, idx, &was, now, json);
	if (!ret && now->verdict == V_CONFIRMED)
		ret = land(v, t.judge[0]->info.device, err);
	record_release(&was);
	srcset_release(&source);
	task_close(&t);
	kernel_file_release(&f);
	return ret;
}

static int verify_run(struct session *s, int argc, char **argv,
		      struct err *err)
{
	bool json = false;
	const struct opt opts[] = {
		OPT_BOOL(0, "json", &json, "print one JSON object"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	struct record now;
	struct view v;
	uint32_t idx;
	int status, ret;

	argc = opt_parse(&cmd_verify, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	if (argc != 1)
		return err_set(err, ERR_USAGE, "verify takes one node"),
		       EXIT_USAGE;
	ret = node_find(s->repo, argv[0], &v, &idx, err);
	if (ret)
		return cmd_status_of(err);
	if (idx == 0) {
		view_close(&v);
		return err_set(err, ERR_USAGE, "'%s' is the root of its search: "
			       "there is nothing to compare it with", argv[0]),
		       EXIT_USAGE;
	}
	task_signals();
	record_init(&now);
	ret = verify_node(s, &v, idx, json, &now, err);
	status = ret ? cmd_status_of(err) :
		 now.verdict == V_CONFIRMED ? EXIT_DONE : EXIT_NO;
	record_release(&now);
	view_close(&v);
	return status;
}

static const char *const usage[] = {
	"git maxkernel verify [--json] [-q] <node>",
	NULL
};

const struct cmd cmd_verify = {
	.name = "verify",
	.group = "act",
	.summary = "measure a node again, here, against the root",
	.usage = usage,
	.needs = NEED_REPO,
	.run = verify_run,
};
