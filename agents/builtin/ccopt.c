/*
 * Strategy ccopt: single passes of gcc, on or off, for this file.  The list is
 * short: what was seen to help some kernel.  Graphite and automatic
 * parallelising never did.
 */
#include <string.h>

#include "agents/builtin/strategy.h"
#include "core/mem.h"

static const struct option {
	const char *name, *what, *why;
} options[] = {
	{ "unroll-loops", "unroll the loops",
	  "fewer branches and counters for each element, and several "
	  "iterations in flight" },
	{ "no-ivopts", "leave addresses as written",
	  "the pass that shares induction variables can run out of registers "
	  "in loops with many arrays and spill inside them" },
	{ "schedule-insns", "schedule before registers are given out",
	  "loads move away from their uses while there still are registers "
	  "enough" },
	{ "vect-cost-model=unlimited", "vectorise whatever can be",
	  "the cost model turns loops down that it takes for short" },
	{ "no-associative-math", "keep the order within unrolled sums",
	  "regrouping an unrolled short sum breaks its chain of fused "
	  "multiply-adds" },
};

static const char *const settings_list[] = {
	"unroll-loops", "no-ivopts", "no-ivopts,unroll-loops",
	"schedule-insns", "vect-cost-model=unlimited"
};

static const struct option *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

static bool fits(const struct site *s, struct buf *why)
{
	if (!s->k->cc || !strncmp(s->k->cc, "gcc", 3))
		return true;
	buf_addstr(why, "clang has no pragma for single passes");
	return false;
}

static void settings(const struct site *s, struct strv *out)
{
	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(settings_list); i++)
		strv_push(out, settings_list[i]);
}

static int apply(const struct site *s, const struct gene *g, struct emit *e,
		 struct err *err)
{
	(void)s;
	if (!g->args.nr)
		return err_set(err, ERR_FORMAT,
			       "recipe: ccopt takes options of gcc");
	for (size_t i = 0; i < g->args.nr; i++) {
		if (!find(g->args.v[i]))
			return err_set(err, ERR_FORMAT, "recipe: ccopt does "
				       "not take '%.40s'", g->args.v[i]);
		buf_addf(&e->gcc, "%s\"%s\"", i ? ", " :
			 "#pragma GCC optimize(", g->args.v[i]);
	}
	buf_addstr(&e->gcc, ")\n");
	return 0;
}

static void subject(const struct site *s, const struct gene *g,
		    struct buf *out)
{
	const struct option *o = g->args.nr == 1 ? find(g->args.v[0]) : NULL;

	(void)s;
	if (o) {
		buf_addstr(out, o->what);
		return;
	}
	buf_addstr(out, "compile with ");
	gene_args(g, out);
}

static void plan(const struct site *s, const struct gene *g, struct buf *out)
{
	(void)s;
	for (size_t i = 0; i < g->args.nr; i++) {
		const struct option *o = find(g->args.v[i]);

		if (o)
			buf_addf(out, "`-f%s`, for this file: %s.\n",
				 o->name, o->why);
	}
	buf_addstr(out, "\nRisk: none to the results; a matter of this "
			"compiler's version, so to be measured again with "
			"another.\n");
}

static double gain(const struct site *s, const struct gene *g)
{
	(void)s;
	(void)g;
	return 1.03;
}

const struct strategy strategy_ccopt = {
	.name = "ccopt", .fits = fits, .settings = settings,
	.apply = apply, .subject = subject, .plan = plan, .gain = gain,
	.undo = "leave the passes to the compiler",
};
