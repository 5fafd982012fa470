#include "cmd/elsewhere.h"

#include <math.h>
#include <string.h>

#include "cmd/out.h"
#include "cmd/running.h"
#include "core/clock.h"
#include "core/policy.h"

#define MAX_FRONTIER 16

/* Champion and frontier as they stand on the search's own class. */
static size_t stands_on(const struct search *s, const struct graph *there,
			uint32_t *out)
{
	size_t max = policy_shown(&s->spec, MAX_FRONTIER), nr = 0, n;
	uint32_t front[MAX_FRONTIER];

	if (there->champion)
		out[nr++] = there->champion;
	n = policy_frontier(&s->spec, there, front, max);
	for (size_t i = 0; i < n; i++)
		if (front[i] && front[i] != there->champion)
			out[nr++] = front[i];
	return nr;
}

static int measure(struct task *t, struct search *s, const struct node *n,
		   struct err *err)
{
	struct srcset source = SRCSET_INIT;
	struct record rec;
	double began = clock_s();
	int ret = store_source(s->repo, &n->id, t->kernel, false, &source,
			       err);

	record_init(&rec);
	if (!ret)
		ret = task_measure(t, &source, &rec, err);
	if (!ret) {
		rec.attempt_s = clock_s() - began;
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

/* What is left is measured when the search goes on. */
static bool is_halted(const struct task *t)
{
	return t->running && running_is_asked(t->running);
}

static int measure_all(struct task *t, struct search *s,
		       const struct graph *there, const struct graph *here,
		       struct err *err)
{
	uint32_t list[MAX_FRONTIER + 1];
	size_t nr = stands_on(s, there, list);
	bool told = false;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret && !is_halted(t); i++) {
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

int elsewhere_measure(struct task *t, struct search *s, struct err *err)
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
		ret = measure_all(t, s, &there, &here, err);
	graph_release(&there);
	graph_release(&here);
	return ret;
}
