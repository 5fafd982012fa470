#include "cmd/elsewhere.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "cmd/out.h"

#define MAX_FRONTIER 16

static bool never(void *ctx, uint32_t node)
{
	(void)ctx;
	(void)node;
	return false;
}

/* Champion and frontier as they stand on the search's own class. */
static size_t stands_on(const struct search *s, const struct policy *policy,
			const struct graph *there, uint32_t *out)
{
	uint32_t last = graph_last_step(there), front[MAX_FRONTIER];
	struct policy_view v = {
		.spec = &s->spec, .graph = there, .exhausted = never,
		.round = last ? (last - 1) / (uint32_t)s->spec.round + 1 : 0,
	};
	size_t max = (size_t)s->spec.width, nr = 0, n;

	if (there->champion)
		out[nr++] = there->champion;
	max = max > MAX_FRONTIER ? MAX_FRONTIER : max;
	n = policy->frontier(&v, front, max);
	for (size_t i = 0; i < n; i++)
		if (front[i] && front[i] != there->champion)
			out[nr++] = front[i];
	return nr;
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int measure(struct task *t, struct search *s, const struct node *n,
		   struct err *err)
{
	struct srcset source = SRCSET_INIT;
	struct record rec;
	double began = now_s();
	int ret = store_source(s->repo, &n->id, t->kernel, false, &source,
			       err);

	record_init(&rec);
	if (!ret)
		ret = task_measure(t, &source, &rec, err);
	if (!ret) {
		rec.attempt_s = now_s() - began;
		ret = store_measure(s, &n->id, &n->state, &rec, err);
	}
	if (!ret && !isnan(rec.speedup))
		say("      measured here  %.2fx [%.2f, %.2f]  %s  %s",
		    rec.speedup, rec.ci_low, rec.ci_high,
		    oid_short(&n->id).s, n->subject ? n->subject : "");
	else if (!ret)
		say("      measured here  %s  %s  %s",
		    verdict_name(rec.verdict), oid_short(&n->id).s,
		    n->subject ? n->subject : "");
	record_release(&rec);
	srcset_release(&source);
	return ret;
}

static int measure_all(struct task *t, struct search *s,
		       const struct policy *policy, const struct graph *there,
		       const struct graph *here, struct err *err)
{
	uint32_t list[MAX_FRONTIER + 1];
	size_t nr = stands_on(s, policy, there, list);
	bool told = false;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		uint32_t at = graph_find(here, &there->node[list[i]].id);

		if (at == NODE_NONE || !here->node[at].pending)
			continue;
		if (!told)
			say("%s: search %s is of device class %s, this is %s: "
			    "champion and frontier are measured again",
			    s->spec.kernel, s->spec.slug, s->spec.device,
			    t->judge[0]->info.device);
		told = true;
		ret = measure(t, s, &here->node[at], err);
	}
	return ret;
}

int elsewhere_measure(struct task *t, struct search *s,
		      const struct policy *policy, struct err *err)
{
	const char *device = t->judge[0]->info.device;
	struct graph there, here;
	int ret;

	if (!strcmp(device, s->spec.device))
		return 0;
	graph_init(&there);
	graph_init(&here);
	ret = store_load(s, s->spec.device, &there, NULL, err);
	if (!ret)
		ret = store_load(s, device, &here, NULL, err);
	if (!ret)
		ret = measure_all(t, s, policy, &there, &here, err);
	graph_release(&there);
	graph_release(&here);
	return ret;
}
