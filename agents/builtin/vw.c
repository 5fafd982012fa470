/* Strategy vw: how wide the vectors are that the compiler prefers. */
#include <string.h>

#include "agents/builtin/strategy.h"

static bool is_clang(const struct site *s)
{
	return s->k->cc && !strncmp(s->k->cc, "clang", 5);
}

static bool fits(const struct site *s, struct buf *why)
{
	if (!is_clang(s) || !site_problem(s))
		return true;
	/* clang's attribute stands in front of the definition. */
	buf_addstr(why, site_problem(s));
	return false;
}

static void settings(const struct site *s, struct strv *out)
{
	strv_push(out, "512");
	if (!is_clang(s))
		strv_push(out, "256");
}

static void widen_for_clang(const struct site *s, const char *bits,
			    struct emit *e)
{
	buf_addf(&e->clang, "#if defined(__AVX512F__)\n"
		 "#define MK_WIDE __attribute__((min_vector_width(%s)))\n"
		 "#else\n#define MK_WIDE\n#endif\n", bits);
	/* Each compiler needs the word that stands in the code. */
	buf_addstr(&e->gcc, "#define MK_WIDE\n");
	emit_edit(e, s->unit.lex.v[s->entry->first].pos, 0, "MK_WIDE ");
}

static int apply(const struct site *s, const struct gene *g, struct emit *e,
		 struct err *err)
{
	const char *bits = g->args.nr == 1 ? g->args.v[0] : "";

	if (strcmp(bits, "512") && strcmp(bits, "256"))
		return err_set(err, ERR_FORMAT,
			       "recipe: vw takes '512' or '256'");
	if (is_clang(s) && !site_problem(s))
		widen_for_clang(s, bits, e);
	buf_addf(&e->gcc, "#if defined(__AVX512F__)\n"
		 "#pragma GCC target(\"prefer-vector-width=%s\")\n#endif\n",
		 bits);
	return 0;
}

static void subject(const struct site *s, const struct gene *g,
		    struct buf *out)
{
	(void)s;
	buf_addf(out, "prefer vectors of %.8s bits",
		 g->args.nr ? g->args.v[0] : "");
}

static void plan(const struct site *s, const struct gene *g, struct buf *out)
{
	(void)s;
	if (g->args.nr && !strcmp(g->args.v[0], "256"))
		buf_addstr(out, "Ask for 256-bit vectors on machines with "
			   "AVX-512: loops of few rounds leave a shorter "
			   "scalar rest, and some processors lower their "
			   "clock for 512 bits.\n");
	else
		buf_addstr(out, "Ask for 512-bit vectors on machines with "
			   "AVX-512, where many of the compiler's tunings "
			   "take 256: twice the elements for each "
			   "instruction, where loops are long enough and "
			   "data is in the caches.\n");
	buf_addstr(out, "\nRisk: short loops may spend their time in the "
			"rest; other machines are not affected.\n");
}

static double gain(const struct site *s, const struct gene *g)
{
	(void)s;
	return g->args.nr && !strcmp(g->args.v[0], "256") ? 1.01 : 1.1;
}

const struct strategy strategy_vw = {
	.name = "vw", .fits = fits, .settings = settings,
	.apply = apply, .subject = subject, .plan = plan, .gain = gain,
	.undo = "leave the vector width to the compiler",
};
