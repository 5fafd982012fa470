/* needs: core/lesson.c core/prior.c core/graph.c core/record.c */
#include <stdlib.h>

#include "core/lesson.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

static uint32_t add(struct graph *g, uint32_t parent, const char *recipe,
		    const char *strategy, enum verdict v, double est)
{
	struct node n = {
		.id.id = { 0xa0, (unsigned char)g->nr },
		.state.id = { 1, (unsigned char)g->nr },
		.parent = { parent, NODE_NONE }, .step = g->nr,
		.recipe = xstrdup(recipe), .strategy = xstrdup(strategy),
	};

	record_init(&n.rec);
	n.rec.verdict = v;
	n.rec.est_speedup = est;
	return graph_add(g, &n);
}

static const struct lesson *of(const struct lessons *l, const char *gene)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].gene, gene))
			return &l->v[i];
	return NULL;
}

static void says(const struct lessons *l, const char *gene, const char *want)
{
	const struct lesson *one = of(l, gene);
	struct buf b = BUF_INIT;

	if (one)
		lesson_format(&b, one);
	is_str(b.ptr, want, "of %s", gene);
	buf_release(&b);
}

static void test_distil(void)
{
	struct lessons l = LESSONS_INIT;
	struct graph g;
	uint32_t a, b;

	graph_init(&g);
	add(&g, NODE_NONE, NULL, NULL, V_NONE, NAN);
	a = add(&g, 0, "restrict", "restrict", V_FASTER, 2);
	b = add(&g, a, "restrict; vw(512)", "vw", V_FASTER, 4);
	add(&g, 0, "vw(512)", "vw", V_FASTER, 1.5);
	add(&g, b, "restrict; vw(512); nt", "nt", V_SLOWER, 2);
	add(&g, b, "restrict; vw(512); omp", "omp", V_WRONG, NAN);
	add(&g, a, "restrict; omp", "omp", V_CRASH, NAN);
	add(&g, a, "restrict; uj(4)", "uj", V_SAME, 2.01);
	add(&g, a, NULL, "Tile the K loop!", V_FASTER, 3);
	add(&g, a, NULL, "give up", V_BUILD_FAIL, NAN);
	add(&g, a, NULL, "not judged", V_NO_VERDICT, NAN);
	graph_settle(&g);
	lessons_distil(&g, "c", "gemm", "dev", &l);
	says(&l, "restrict", "helped restrict c gemm dev 1 0 1 2 "
	     "a00100000000");
	says(&l, "vw(512)", "helped vw(512) c gemm dev 2 0 2 1.732 "
	     "a00200000000");
	says(&l, "nt", "hurt nt c gemm dev 1 0 0 0.5 a00400000000");
	says(&l, "omp", "failed omp c gemm dev 2 2 0 - a00500000000 wrong");
	says(&l, "tile-the-k-loop", "helped tile-the-k-loop c gemm dev 1 0 1 "
	     "1.5 a00800000000");
	says(&l, "give-up", "failed give-up c gemm dev 1 1 0 - a00900000000 "
	     "build-fail");
	ok(of(&l, "uj(4)") && of(&l, "uj(4)")->kind == LESSON_NONE,
	   "what did nothing is no lesson");
	ok(!of(&l, "not-judged"), "what was not judged teaches nothing");
	ok(l.nr && !strcmp(l.v[0].gene, "vw(512)"), "the most telling first");
	lessons_release(&l);
	lessons_distil(&g, "c", "", "dev", &l);
	ok(l.nr && !strcmp(l.v[0].shape, "-"), "an unknown shape");
	lessons_release(&l);
	lessons_distil(&g, "c", "two words", "dev", &l);
	is_int((long long)l.nr, 0, "a shape that is no word");
	lessons_release(&l);
	graph_release(&g);
}

static void reads(const char *text, bool good)
{
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;
	struct lesson l;
	int ret = lesson_parse(&l, text, &err);

	if (!ret) {
		struct lessons one = { &l, 1, 1 };

		lesson_format(&b, &l);
		one.v = xcalloc(1, sizeof(l));
		one.v[0] = l;
		lessons_release(&one);
	}
	ok(!ret == good && (ret || !strcmp(b.ptr, text)), "%s '%s'",
	   good ? "reads" : "refuses", text);
	buf_release(&b);
}

static void test_text(void)
{
	reads("helped restrict c gemm zen5 5 0 4 1.83 0123456789ab", true);
	reads("hurt vw(512) c++ d2-f32 a_b.c 5 2 0 0.01 0123456789ab", true);
	reads("failed ccopt(a=b,c) c - d 2 2 0 - 0123456789ab wrong", true);
	reads("helped x c s d 1 0 1 1.235e+04 0123456789ab", true);
	reads("", false);
	reads("helped", false);
	reads("none x c s d 1 0 1 1 0123456789ab", false);
	reads("praised x c s d 1 0 1 1 0123456789ab", false);
	reads("helped x c s d 1 0 1 1 0123456789ab wrong", false);
	reads("helped x c s d 1 0 1 1 0123456789ab ", false);
	reads(" helped x c s d 1 0 1 1 0123456789ab", false);
	reads("helped  c s d 1 0 1 1 0123456789ab", false);
	reads("helped x\033[2J c s d 1 0 1 1 0123456789ab", false);
	reads("helped x c s d 0 0 0 1 0123456789ab", false);
	reads("helped x c s d 1 2 0 1 0123456789ab", false);
	reads("helped x c s d 2 1 2 1 0123456789ab", false);
	reads("helped x c s d -1 0 1 1 0123456789ab", false);
	reads("helped x c s d 1 0 1 nan 0123456789ab", false);
	reads("helped x c s d 1 0 1 -1 0123456789ab", false);
	reads("helped x c s d 1 0 1 1 0123456789abc", false);
	reads("helped x c s d 1 0 1 1 0123456789AB", false);
	reads("failed x c s d 1 1 0 - 0123456789ab", false);
	reads("failed x c s d 1 1 0 - 0123456789ab nonsense", false);
	reads("failed x c s d 2 1 0 - 0123456789ab wrong", false);
	reads("failed x c s d 1 1 0 1 0123456789ab wrong", false);
	reads("failed x c s d 1 1 0 - 0123456789ab wrong more", false);
}

int main(void)
{
	test_text();
	test_distil();
	return tap_done();
}
