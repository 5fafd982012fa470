/* needs: core/tuner.c core/tuner_evolve.c core/template.c core/proposer.c core/source.c core/sha1.c core/paths.c core/rng.c core/expr.c */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "core/template.h"
#include "core/tuner.h"
#include "tests/unit/tap.h"

#define MAX_ASKED 4096

static void add(struct space *s, const char *name, int nr, int now)
{
	struct locus_values *l = space_add(s, name, strlen(name));

	for (int i = 0; i < nr; i++)
		strv_pushf(&l->values, "%d", 1 << i);
	l->needed = true;
	l->now = now;
}

static double (*measure)(const int *set, int nr);

/* Two numbers that pull at each other, and one that matters little. */
static double hill(const int *set, int nr)
{
	double y = 0;

	for (int i = 0; i < nr; i++)
		y -= (set[i] - 2 - i) * (set[i] - 2 - i) * 0.1;
	y += 0.05 * (set[0] - 2) * (set[nr - 1] - nr);
	return set[0] == 5 ? NAN : y;
}

struct run {
	int set[MAX_ASKED][TUNER_MAX_NAMES];
	size_t nr;
	double best;
	size_t at;		/* asked when the best came */
	bool grid;
};

static int run(const struct tuner_opts *o, size_t max, struct run *r)
{
	struct err err = ERR_INIT;
	struct tuner *t;
	int out[TUNER_BATCH * TUNER_MAX_NAMES], names = (int)o->space->nr;
	int ret = tuner_open(&t, o, &err);
	size_t n = 1;

	memset(r, 0, sizeof(*r));
	r->best = -INFINITY;
	if (ret)
		return ret;
	r->grid = tuner_is_grid(t);
	while (r->nr < max && n) {
		n = tuner_ask(t, out);
		for (size_t i = 0; i < n; i++) {
			const int *set = out + i * (size_t)names;
			double y = measure(set, names);

			if (r->nr < MAX_ASKED)
				memcpy(r->set[r->nr], set, sizeof(*set) *
				       (size_t)names);
			r->nr++;
			if (y > r->best) {
				r->best = y;
				r->at = r->nr;
			}
			tuner_tell(t, i, y);
		}
	}
	tuner_close(t);
	return 0;
}

static bool asked_twice(const struct run *r, size_t names)
{
	for (size_t i = 0; i < r->nr; i++)
		for (size_t k = 0; k < i; k++)
			if (!memcmp(r->set[i], r->set[k],
				    names * sizeof(int)))
				return true;
	return false;
}

static struct run a, b;

static void grids(void)
{
	struct space s = SPACE_INIT;
	struct tuner_opts o = { .space = &s, .seed = 1, .grid = 64 };
	int near = 0;

	add(&s, "A", 6, 1);
	add(&s, "B", 3, 1);
	measure = hill;
	ok(!run(&o, MAX_ASKED, &a) && a.grid, "18 settings are tried whole");
	is_int(a.nr, 17, "all but the node's own");
	ok(!asked_twice(&a, 2), "none twice");
	for (size_t i = 0; i < 7; i++)
		near += (a.set[i][0] != 1) + (a.set[i][1] != 1);
	is_int(near, 7, "those with one other value come first");
	o.trials = 16;
	ok(!run(&o, MAX_ASKED, &b) && !b.grid,
	   "not whole when the budget does not reach");
	o.trials = 0;
	o.grid = 16;
	ok(!run(&o, MAX_ASKED, &b) && !b.grid, "nor past the limit");
	is_int(b.nr, 17, "yet in the end nothing is left there either");
	ok(!asked_twice(&b, 2), "and nothing was asked twice");
	s.v[0].needed = false;
	s.v[0].now = -1;
	o.grid = 64;
	ok(!run(&o, MAX_ASKED, &a) && a.nr == 20, "not set is a choice too");
	space_release(&s);
}

static void requires(void)
{
	struct space s = SPACE_INIT;
	struct strv names = STRV_INIT;
	struct expr e[2];
	struct err err = ERR_INIT;
	struct tuner_opts o = { .space = &s, .seed = 1, .grid = 64,
				.require = e, .nr_require = 2 };
	bool all = true;

	add(&s, "A", 6, 0);
	add(&s, "B", 6, 0);
	tuner_names(&s, &names);
	ok(!expr_parse(&e[0], "A % B == 0", &names, &err) &&
	   !expr_parse(&e[1], "A <= 8", &names, &err), "expressions are read");
	measure = hill;
	ok(!run(&o, MAX_ASKED, &a), "what is required");
	is_int(a.nr, 9, "leaves nine others");
	for (size_t i = 0; i < a.nr; i++)
		all &= a.set[i][1] <= a.set[i][0] && a.set[i][0] <= 3;
	ok(all, "all of them meet it");
	o.grid = 1;
	ok(!run(&o, MAX_ASKED, &b) && b.nr == 9, "by evolution as well");
	expr_release(&e[1]);
	ok(!expr_parse(&e[1], "A > 100", &names, &err), "none meets this");
	is_int(run(&o, 1, &b), ERR_FORMAT, "which is an error");
	expr_release(&e[1]);
	ok(!expr_parse(&e[1], "1 / (A - 1)", &names, &err) &&
	   !run(&o, MAX_ASKED, &b), "a division by zero is not met");
	is_int(b.nr, 2, "only A = 2 is left");
	strv_push(&s.v[0].values, "auto");
	is_int(run(&o, 1, &b), ERR_FORMAT, "a word is no number");
	expr_release(&e[0]);
	expr_release(&e[1]);
	strv_release(&names);
	space_release(&s);
}

static void evolution(void)
{
	struct space s = SPACE_INIT;
	struct tuner_opts o = { .space = &s, .seed = 7, .grid = 64 };
	int found = 0;

	for (int i = 0; i < 5; i++) {
		char name[] = "N0";

		name[1] = (char)('0' + i);
		add(&s, name, 8, 0);
	}
	measure = hill;
	ok(!run(&o, 200, &a) && !a.grid, "32768 settings are not");
	ok(!run(&o, 200, &b) && !memcmp(&a, &b, sizeof(a)),
	   "the same seed asks for the same settings");
	ok(!asked_twice(&a, 5), "none twice");
	o.seed = 8;
	ok(!run(&o, 200, &b) && memcmp(a.set, b.set, sizeof(a.set)) != 0,
	   "another seed for others");
	for (o.seed = 1; o.seed <= 20; o.seed++)
		found += !run(&o, 160, &a) && a.best > -0.15;
	ok(found >= 18, "the top of the hill is found in 160 of 32768 "
	   "(%d of 20 seeds)", found);
	space_release(&s);
}

/* One of 8^12 settings in two million is legal. */
static void strict(void)
{
	struct space s = SPACE_INIT;
	struct strv names = STRV_INIT;
	struct expr e[6];
	struct err err = ERR_INIT;
	struct tuner_opts o = { .space = &s, .seed = 3, .grid = 64,
				.require = e, .nr_require = 6 };
	char name[] = "A", text[] = "A == 2 * B";
	bool all = true;

	for (int i = 0; i < 12; i++, name[0]++)
		add(&s, name, 8, 0);
	s.v[0].now = 1;
	tuner_names(&s, &names);
	for (int i = 0; i < 6; i++) {
		text[0] = (char)('A' + 2 * i);
		text[9] = (char)('B' + 2 * i);
		all &= !expr_parse(&e[i], text, &names, &err);
	}
	measure = hill;
	ok(all && !run(&o, 64, &a) && a.nr == 64, "few of many are legal");
	for (size_t i = 0; i < a.nr; i++)
		for (int k = 0; k < 12; k += 2)
			all &= a.set[i][k] == a.set[i][k + 1] + 1;
	ok(all && !asked_twice(&a, 12), "and found");
	for (int i = 0; i < 6; i++)
		expr_release(&e[i]);
	strv_release(&names);
	space_release(&s);
}

static void sizes(void)
{
	struct space s = SPACE_INIT;
	struct tuner_opts o = { .space = &s, .grid = 64 };
	char name[] = "A";

	measure = hill;
	is_int(run(&o, 1, &a), ERR_FORMAT, "nothing to tune");
	for (int i = 0; i < TUNER_MAX_NAMES; i++, name[0]++)
		add(&s, name, 20, 0);
	ok(!run(&o, 64, &a) && a.nr == 64, "sixteen names");
	add(&s, name, 2, 0);
	is_int(run(&o, 1, &a), ERR_LIMIT, "seventeen are too many");
	space_release(&s);
	s = (struct space)SPACE_INIT;
	add(&s, "A", 1, 0);
	ok(!run(&o, 8, &a) && a.nr == 0, "one setting, the node's");
	for (int i = 1; i < TUNER_MAX_VALUES; i++)
		strv_pushf(&s.v[0].values, "v%d", i);
	ok(!run(&o, 100, &a) && a.nr == 63, "64 values");
	strv_push(&s.v[0].values, "more");
	is_int(run(&o, 1, &a), ERR_LIMIT, "65 are too many");
	o.trials = TUNER_MAX_TRIALS + 1;
	is_int(run(&o, 1, &a), ERR_LIMIT, "as are 10001 trials");
	space_release(&s);
}

static void values(void)
{
	struct space s = SPACE_INIT;
	struct locus_values *l = space_add(&s, "TILE", 4);
	int64_t n;
	size_t len;

	strv_push(&l->values, "TILE=32");
	strv_push(&l->values, "vw(512)");
	strv_push(&l->values, "restrict");
	ok(!strncmp(tuner_value(l, 0, &len), "32", 2) && len == 2,
	   "the value of a word");
	ok(!strncmp(tuner_value(l, 1, &len), "512", 3) && len == 3,
	   "of a gene");
	ok(!strncmp(tuner_value(l, 2, &len), "restrict", 8) && len == 8,
	   "a gene without one");
	ok(tuner_number(l, 0, &n) && n == 32 && tuner_number(l, 1, &n) &&
	   n == 512, "as numbers");
	ok(!tuner_number(l, 2, &n), "but not this one");
	ok(tuner_number(l, -1, &n) && n == 0, "none is 0");
	space_release(&s);
}

int main(void)
{
	grids();
	requires();
	evolution();
	strict();
	sizes();
	values();
	return tap_done();
}
