#include "cmd/start.h"

#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "cmd/node.h"
#include "cmd/out.h"
#include "core/mem.h"
#include "core/paths.h"
#include "core/round.h"

#define INNER "builtin"		/* tunes what another proposer makes */
#define MAX_SEEDS 8
#define MAX_LEARNED 64		/* searches that are learned from, the newest */

/* ---- options ---- */

static void add_name(struct buf *out, const char *name, bool first, bool last)
{
	buf_addf(out, "%s%s", first ? "" : last ? " or " : ", ", name);
}

void start_list_policies(struct buf *out)
{
	const struct policy *const *p = policy_list();

	for (size_t i = 0; p[i]; i++)
		add_name(out, p[i]->name, !i, !p[i + 1]);
}

void start_list_proposers(struct buf *out)
{
	const struct proposer *const *p = proposer_list();

	for (size_t i = 0; p[i]; i++)
		add_name(out, p[i]->name, !i, !p[i + 1]);
}

int start_check(const struct start_opts *o, struct err *err)
{
	struct buf names = BUF_INIT;
	const char *what = NULL, *which = NULL;

	if (!policy_find(o->policy)) {
		what = "policy";
		which = o->policy;
		start_list_policies(&names);
	} else if (!proposer_find(o->proposer)) {
		what = "proposer";
		which = o->proposer;
		start_list_proposers(&names);
	}
	if (what)
		err_set(err, ERR_USAGE, "there is no %s '%s': %s", what, which,
			names.ptr);
	buf_release(&names);
	if (what)
		return ERR_USAGE;
	if (!isnan(o->keep) && !(o->keep > 0 && o->keep <= 1))
		return err_set(err, ERR_USAGE, "--keep takes a factor over 0, at "
			       "most 1");
	return 0;
}

/* ---- what several have in common ---- */

int start_open(struct start *s, struct repo *r, bool grouped,
	       struct err *err)
{
	memset(s, 0, sizeof(*s));
	s->repo = r;
	s->grouped = grouped;
	return node_searches(r, &s->list, err);
}

void start_release(struct start *s)
{
	spec_list_release(&s->list);
	prior_release(&s->known);
	free(s->group);
	free(s->device);
	free(s->target);
	memset(s, 0, sizeof(*s));
}

/* ---- what is known of strategies ---- */

/* Shipped with the program, by tests/bench; none there is nothing wrong. */
static void read_shipped(struct prior *p, const char *target)
{
	char *name = xasprintf("priors/%s.txt", target);
	char *path = paths_data(name);
	struct err why = ERR_INIT;

	if (prior_load(p, path, &why))
		warn("what is known of strategies is left out: %s", why.msg);
	free(path);
	free(name);
}

/* One other search of the same device class and target. */
static void learn_from(struct prior *p, struct repo *r,
		       const struct spec *spec, const char *target)
{
	struct kernel_file f = { NULL, 0, 0 };
	struct err unused = ERR_INIT;
	struct search *from = NULL;
	struct graph g;

	graph_init(&g);
	if (!kernel_section_parse(&f, spec->kernel, spec->section,
				  strlen(spec->section), &unused) &&
	    !strcmp(f.v[0].target, target) &&
	    !store_open(r, spec->slug, &from, &unused) &&
	    !store_load(from, spec->device, &g, NULL, &unused))
		prior_count_graph(p, &g, 0, UINT32_MAX, target,
				  spec->shape);
	graph_release(&g);
	store_close(from);
	kernel_file_release(&f);
}

static void learn(struct start *s, const char *device, const char *target)
{
	size_t nr = 0;

	if (s->device && !strcmp(s->device, device) &&
	    !strcmp(s->target, target))
		return;
	prior_release(&s->known);
	s->known = (struct prior)PRIOR_INIT;
	free(s->device);
	free(s->target);
	s->device = xstrdup(device);
	s->target = xstrdup(target);
	read_shipped(&s->known, target);
	for (size_t i = 0; i < s->list.nr && nr < MAX_LEARNED; i++) {
		const struct spec *spec = &s->list.v[i];

		if (!spec->shape || !*spec->shape ||
		    strcmp(spec->device, device) != 0)
			continue;
		learn_from(&s->known, s->repo, spec, target);
		nr++;
	}
}

/* ---- the spec ---- */

const struct proposer *start_applier(const struct spec *spec)
{
	const struct proposer *p = proposer_find(spec->proposer);

	return p && !p->apply && spec->inner && *spec->inner ?
		proposer_find(spec->inner) : p;
}

static void set_small(int *to, int64_t given)
{
	if (given)
		*to = (int)given;
}

/* Of the policies that ask for it. */
static const char *inner_of(const struct start_opts *o)
{
	if (!strcmp(o->proposer, INNER) || !proposer_find(INNER))
		return "";
	return !strcmp(o->policy, "hybrid") || !strcmp(o->policy, "adaptive") ?
		INNER : "";
}

/* What decides whether a search is the same. */
static void fill_spec(struct spec *spec, const struct task *t,
		      const char *device, const struct start_opts *o)
{
	memset(spec, 0, sizeof(*spec));
	policy_defaults(o->policy, spec);
	spec->kernel = xstrdup(t->kernel->name);
	spec->section = xstrdup(t->kernel->text.ptr);
	spec->policy = xstrdup(o->policy);
	spec->proposer = xstrdup(o->proposer);
	spec->inner = xstrdup(inner_of(o));
	spec->device = xstrdup(device);
	set_small(&spec->width, o->width);
	set_small(&spec->branches, o->branches);
	set_small(&spec->depth, o->depth);
	set_small(&spec->patience, o->patience);
	set_small(&spec->islands, o->islands);
	if (o->keep > 0)
		spec->keep = o->keep;
	spec->round = round_size(spec);
	spec->seed = (uint64_t)o->seed;
	spec->base = t->base;
	spec->root = t->root;
	spec->budget = o->budget;
}

/* Another root commit with the same sources is the same root; those of
 * reference, baseline and rivals count too. */
static bool same_search(const struct task *t, const struct spec *a,
			const struct spec *want)
{
	struct spec with = *a;
	struct srcset source = SRCSET_INIT;
	struct oid there, here;
	struct err unused = ERR_INIT;
	bool same;

	with.root = want->root;
	if (!spec_same(&with, want))
		return false;
	if (oid_eq(&a->root, &want->root))
		return true;
	if (store_source(t->session->repo, &a->root, t->kernel, true, &source,
			 &unused)) {
		srcset_release(&source);
		return false;
	}
	srcset_state(&source, &there);
	srcset_state(&t->aux, &here);
	same = oid_eq(&there, &here);
	srcset_release(&source);
	return same;
}

/* ---- what an earlier search found ---- */

/* Recipes of the best nodes of a search, best first, one a line. */
static void best_recipes(struct search *from, const char *device, size_t max,
			 struct buf *out)
{
	struct err unused = ERR_INIT;
	struct graph g;
	size_t nr = 0, kept = 0;
	uint32_t *rank;

	graph_init(&g);
	if (!store_load(from, device, &g, NULL, &unused) && g.champion) {
		rank = xcalloc(g.nr, sizeof(*rank));
		rank[nr++] = g.champion;
		for (uint32_t i = 1; i < g.nr; i++)
			if (i != g.champion && policy_usable(&g, i) &&
			    g.node[i].score > 0)
				rank[nr++] = i;
		policy_rank(&g, rank + 1, nr - 1);
		for (size_t i = 0; i < nr && kept < max; i++) {
			const char *recipe = g.node[rank[i]].recipe;

			if (!recipe || !*recipe)
				continue;
			buf_addf(out, "%s\n", recipe);
			kept++;
		}
		free(rank);
	}
	graph_release(&g);
}

/* What an earlier search of this kernel found is tried first. */
static char *seeds_for(const struct start *s, const struct spec *want)
{
	size_t max = want->round < MAX_SEEDS ? (size_t)want->round : MAX_SEEDS;
	struct buf seeds = BUF_INIT;

	for (size_t i = 0; i < s->list.nr && !seeds.len; i++) {
		struct err unused = ERR_INIT;
		struct search *from;

		if (strcmp(s->list.v[i].kernel, want->kernel) != 0 ||
		    store_open(s->repo, s->list.v[i].slug, &from, &unused))
			continue;
		best_recipes(from, want->device, max, &seeds);
		store_close(from);
	}
	return buf_detach(&seeds);
}

/* ---- a new search ---- */

static double space_of(const struct proposer *p, const struct task *t)
{
	struct space space = SPACE_INIT;
	struct err unused = ERR_INIT;
	double size = 0;

	if (p->space && !p->space(t->kernel, &t->source, "", &space, &unused))
		size = space_size(&space);
	space_release(&space);
	return size;
}

static int create(struct start *s, const struct task *t, struct spec *want,
		  struct search **out, struct err *err)
{
	const struct proposer *p = start_applier(want);
	struct buf shape = BUF_INIT, prior = BUF_INIT;
	int ret;

	if (p && p->shape)
		p->shape(t->kernel, &t->source, &shape);
	if (p)
		want->space = space_of(p, t);
	learn(s, want->device, t->kernel->target);
	prior_format(&s->known, PRIOR_MAX_TEXT, &prior);
	want->shape = buf_detach(&shape);
	want->prior = buf_detach(&prior);
	want->seeds = seeds_for(s, want);
	want->group = xstrdup(s->grouped && s->group ? s->group : "");
	ret = store_create(s->repo, want, out, err);
	if (!ret && s->grouped && !s->group)
		s->group = xstrdup((*out)->spec.slug);
	return ret;
}

int start_search(struct start *s, const struct task *t, const char *device,
		 const struct start_opts *o, struct search **out, bool *fresh,
		 struct err *err)
{
	struct spec want;
	char *equal = NULL;
	int ret = 0;

	*out = NULL;
	*fresh = false;
	fill_spec(&want, t, device, o);
	for (size_t i = 0; i < s->list.nr && !ret && !*out; i++) {
		char *why = NULL;

		if (!same_search(t, &s->list.v[i], &want))
			continue;
		ret = store_open(s->repo, s->list.v[i].slug, out, err);
		if (!ret)
			ret = store_finished(*out, &why, err);
		if (why && !equal)
			equal = xstrdup(s->list.v[i].slug);
		if (why || ret) {
			store_close(*out);
			*out = NULL;
		}
		free(why);
	}
	if (!ret && *out)
		say("%s: going on with search %s", want.kernel,
		    (*out)->spec.slug);
	else if (!ret && equal)
		ret = store_open(s->repo, equal, out, err);
	else if (!ret) {
		ret = create(s, t, &want, out, err);
		*fresh = !ret;
	}
	free(equal);
	spec_release(&want);
	return ret;
}
