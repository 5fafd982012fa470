#include "core/judge/confirm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define ALPHA 0.01		/* head-to-head against the champion */
#define LEAST_CLAIM 0.01	/* log-ratio */
#define ALPHA_SHOWN 0.05	/* of the published intervals */
#define LAUNCHES 12
#define CLOSE_CALL 0.03		/* claims below this get twice as many */
#define FUTILE 6		/* launches between looks for giving up */
#define CONFIRM_ROUNDS 20
#define EXTRA_ROUNDS 6
#define DEAR_NS 5e7
#define EXTRA_MIN 3		/* launches of root, baseline, rivals */
#define EXTRA_S 15.0
#define FRESH_SETS 3
#define GATE 0.98		/* no shape's speedup may lie below */
#define ROOF_LIMIT 1.1

/* ---- preparation ---- */

static void add_extra(struct confirmation *c, enum role role, const char *so)
{
	struct extra *e;

	if (!so)
		return;
	e = &c->extra[c->nr_extra++];
	e->role = role;
	e->so = so;
	e->lr = xcalloc((size_t)c->s->nr_timed, sizeof(*e->lr));
	e->ns = xcalloc((size_t)c->s->nr_timed, sizeof(*e->ns));
}

static void choose_extras(struct confirmation *c)
{
	struct session *s = c->s;
	int i;

	if (c->champ != s->art)
		add_extra(c, ROLE_ROOT, s->art[0].so);
	add_extra(c, ROLE_BASELINE, s->baseline_so);
	add_extra(c, ROLE_FLAGS, s->flags_so);
	for (i = 0; i < s->kernel->nr_rivals; i++)
		add_extra(c, ROLE_RIVAL, s->rival_so[i]);
}

static void choose_launches(struct confirmation *c)
{
	double pair = 0;
	int i;

	for (i = 0; i < c->s->nr_timed; i++)
		pair += (session_known_ns(c->s, c->cand, i) +
			 session_known_ns(c->s, c->champ, i)) * 1e-9;
	c->want = pair > 3 ? 5 : pair > 1 ? 8 : LAUNCHES;
	if (pair < 0.05 && c->cand->lr > 0 && c->cand->lr < CLOSE_CALL)
		c->want = 2 * LAUNCHES;
}

/* Sets that no candidate has met. */
static int refresh_pools(struct confirmation *c, struct err *err)
{
	struct session *s = c->s;
	int i, ret = 0;

	session_say(s, "computing fresh inputs");
	for (i = 0; !ret && i < s->nr_timed; i++) {
		struct timed *t = &s->timed[i];
		double ns = fmin(session_known_ns(c->s, c->cand, i),
				 session_known_ns(c->s, c->champ, i));
		int n = 3 * launch_slots(s->kernel, ns, t->footprint);

		/* Rings of fresh sets where the oracle is cheap. */
		if (n * t->pool.set_s > 2)
			n = (int)(2 / t->pool.set_s);
		ret = pool_refresh(&t->pool, n < FRESH_SETS ? FRESH_SETS : n,
				   err);
	}
	return ret;
}

/* ---- the head-to-head ---- */

static int main_shape(struct confirmation *c, int shape, struct err *err)
{
	struct session *s = c->s;
	struct timed *t = &s->timed[shape];
	double a = session_known_ns(c->s, c->cand, shape);
	double b = session_known_ns(c->s, c->champ, shape);
	struct launch_arm arm[2];
	struct launch l;
	int ret;

	launch_arm_init(&arm[0], c->cand->so);
	launch_arm_init(&arm[1], c->champ->so);
	ret = session_plan(s, &t->pool, t->footprint, arm, 2, fmin(a, b),
			   a + b, CONFIRM_ROUNDS, &l, err);
	l.fresh_first = c->n < FRESH_SETS;
	/* Launches tell more than rounds; dear calls go to the former. */
	if ((a + b) * l.slots > DEAR_NS && l.rounds > 1)
		l.rounds /= 2;
	if (!ret)
		ret = launch_run(&l, err);
	if (!ret && arm[0].verdict != V_NONE) {
		session_stop(c->rec, arm[0].verdict, "%s", arm[0].why);
	} else if (!ret && (arm[1].verdict != V_NONE || !arm[0].nr)) {
		session_stop(c->rec, V_NO_VERDICT,
			     "the champion failed beside it: %s",
			     arm[1].why ? arm[1].why : "no time");
	} else if (!ret) {
		c->lr[shape][c->n] = launch_ratio(&arm[0], &arm[1]);
		c->single[shape][c->n] = launch_single_ratio(&l);
		c->ns[shape][c->n] = arm[0].median_ns;
		c->champ_ns[shape][c->n] = arm[1].median_ns;
		c->offset[shape][c->n] = l.placement.offset |
			(l.placement.right ? 1u << 31 : 0);
	}
	launch_arm_release(&arm[0]);
	launch_arm_release(&arm[1]);
	return ret;
}

static int main_launch(struct confirmation *c, struct err *err)
{
	double sum = 0;
	int i, ret = 0;

	for (i = 0; !ret && c->rec->verdict == V_NONE && i < c->s->nr_timed;
	     i++) {
		ret = main_shape(c, i, err);
		sum += c->lr[i][c->n];
	}
	if (!ret && c->rec->verdict == V_NONE)
		c->score[c->n++] = sum / c->s->nr_timed;
	return ret;
}

/* ---- root, baseline, rivals and flags beside it ---- */

static double extras_sum_ns(const struct confirmation *c, int shape)
{
	double sum = session_known_ns(c->s, c->cand, shape);
	int k;

	for (k = 0; k < c->nr_extra; k++) {
		const struct extra *e = &c->extra[k];

		sum += e->n ? e->ns[shape][e->n - 1] :
			      c->s->timed[shape].root_ns;
	}
	return sum;
}

static const char *role_title(enum role role)
{
	return role == ROLE_RIVAL ? "a rival" :
	       role == ROLE_BASELINE ? "the baseline" : "the root";
}

static int extra_shape(struct confirmation *c, int shape, struct err *err)
{
	struct session *s = c->s;
	struct timed *t = &s->timed[shape];
	struct launch_arm arm[LAUNCH_MAX_ARMS];
	double sum = extras_sum_ns(c, shape);
	struct launch l;
	int k, ret;

	launch_arm_init(&arm[0], c->cand->so);
	for (k = 0; k < c->nr_extra; k++)
		launch_arm_init(&arm[k + 1], c->extra[k].so);
	ret = session_plan(s, &t->pool, t->footprint, arm, c->nr_extra + 1,
			   session_known_ns(s, c->cand, shape), sum,
			   EXTRA_ROUNDS, &l, err);
	l.singles = false;
	if (!ret)
		ret = launch_run(&l, err);
	if (!ret && arm[0].verdict != V_NONE)
		session_stop(c->rec, arm[0].verdict, "%s", arm[0].why);
	for (k = 0; !ret && c->rec->verdict == V_NONE && k < c->nr_extra;
	     k++) {
		struct extra *e = &c->extra[k];

		if (arm[k + 1].verdict != V_NONE || !arm[k + 1].nr) {
			session_stop(c->rec, V_NO_VERDICT,
				     "%s failed beside it: %s",
				     role_title(e->role), arm[k + 1].why ?
				     arm[k + 1].why : "no time");
			break;
		}
		e->lr[shape][e->n] = launch_ratio(&arm[0], &arm[k + 1]);
		e->ns[shape][e->n] = arm[k + 1].median_ns;
	}
	for (k = 0; k <= c->nr_extra; k++)
		launch_arm_release(&arm[k]);
	return ret;
}

static int extra_launch(struct confirmation *c, struct err *err)
{
	double now = session_now();
	double quarter = (now - c->start_s - c->extra_s) / 4;
	int i, k, ret = 0;

	if (!c->nr_extra ||
	    (c->extra[0].n >= EXTRA_MIN &&
	     c->extra_s > fmax(fmin(EXTRA_S, quarter), 1)))
		return 0;
	for (i = 0; !ret && c->rec->verdict == V_NONE && i < c->s->nr_timed;
	     i++)
		ret = extra_shape(c, i, err);
	for (k = 0; !ret && c->rec->verdict == V_NONE && k < c->nr_extra; k++)
		c->extra[k].n++;
	c->extra_s += session_now() - now;
	return ret;
}

/* Giving up early claims nothing, so it needs no share of alpha. */
static bool is_hopeless(const struct confirmation *c)
{
	struct interval in;

	if (c->n < FUTILE || c->n % FUTILE)
		return false;
	stats_confirm(c->score, c->n, c->s->s_aa, ALPHA, &in);
	return in.high < LEAST_CLAIM || in.mean < LEAST_CLAIM / 2;
}

static int run_launches(struct confirmation *c, struct err *err)
{
	struct session *s = c->s;
	int ret = 0;

	while (!ret && c->rec->verdict == V_NONE && c->n < c->want &&
	       !is_hopeless(c)) {
		session_say(s, "confirming: launch %d of %d", c->n + 1,
			    c->want);
		ret = main_launch(c, err);
		if (!ret && c->rec->verdict == V_NONE)
			ret = extra_launch(c, err);
		if (s->cfg.tick)
			s->cfg.tick(s->cfg.ctx);
	}
	return ret;
}

/* ---- roofs ---- */

static int measure_roofs(struct confirmation *c, struct err *err)
{
	struct session *s = c->s;
	double rate;
	int i, ret;

	session_say(s, "measuring the roofs");
	ret = roof_peak(&s->roof, &c->peak, err);
	for (i = 0; !ret && i < s->nr_timed; i++) {
		ret = roof_bandwidth(&s->roof, s->timed[i].bytes, &rate, err);
		if (!ret && rate > s->timed[i].rate)
			s->timed[i].rate = rate;
	}
	return ret;
}

/* The probes count single or double precision: others may do more. */
static bool peak_counts(const struct kernel *k)
{
	int i;

	for (i = 0; i < k->nr_args; i++)
		if (k->arg[i].kind != ARG_DIM && k->arg[i].type != DT_F32 &&
		    k->arg[i].type != DT_F64 &&
		    (dtype_is_float(k->arg[i].type) ||
		     dtype_size(k->arg[i].type) < 4))
			return false;
	return true;
}

static double roof_share(const struct confirmation *c, int shape, double ns)
{
	const struct timed *t = &c->s->timed[shape];
	double seconds = roof_seconds(peak_counts(c->s->kernel) ? t->flops : 0,
				      c->peak, t->bytes, t->rate);

	return seconds > 0 ? seconds / (ns * 1e-9) : NAN;
}

/* ---- results ---- */

static const struct extra *find_role(const struct confirmation *c,
				     enum role role)
{
	int k;

	for (k = 0; k < c->nr_extra; k++)
		if (c->extra[k].role == role)
			return &c->extra[k];
	return NULL;
}

struct series {			/* log-ratios over one arm, by shape */
	double (*lr)[STATS_MAX_LAUNCHES];
	double (*ns)[STATS_MAX_LAUNCHES];
	int n;
};

static struct series over(struct confirmation *c, enum role role)
{
	const struct extra *e = find_role(c, role);
	struct series champ = { c->lr, c->champ_ns, c->n };

	if (!e && role == ROLE_BASELINE)
		return over(c, ROLE_ROOT);	/* by default it is the root */
	/* No arm of its own: the champion is the root. */
	return e ? (struct series){ e->lr, e->ns, e->n } : champ;
}

/* Launch scores over the shapes. */
static void scores(const struct confirmation *c, const struct series *v,
		   double *out)
{
	int i, l;

	for (l = 0; l < v->n; l++) {
		out[l] = 0;
		for (i = 0; i < c->s->nr_timed; i++)
			out[l] += v->lr[i][l] / c->s->nr_timed;
	}
}

static void shape_results(struct confirmation *c)
{
	struct session *s = c->s;
	struct series base = over(c, ROLE_BASELINE);
	int nr = s->nr_timed + c->holdouts.nr, i;

	c->rec->shape = xcalloc((size_t)nr, sizeof(*c->rec->shape));
	c->rec->nr_shapes = (size_t)nr;
	for (i = 0; i < nr; i++) {
		struct shape_result *r = &c->rec->shape[i];
		struct interval in;

		shape_result_init(r);
		if (i < s->nr_timed) {
			in = stats_interval(base.lr[i], base.n, ALPHA_SHOWN,
					    s->s_aa);
			r->shape = xstrdup(s->timed[i].shape.text);
			r->time_ns = stats_median(c->ns[i], c->n);
			r->baseline_ns = stats_median(base.ns[i], base.n);
			r->flops = s->timed[i].flops;
			r->bytes = s->timed[i].bytes;
			r->roof = roof_share(c, i, r->time_ns);
		} else {
			const struct holdout *h =
				&c->holdouts.v[i - s->nr_timed];

			in = stats_interval(h->base_lr, h->n, ALPHA_SHOWN,
					    s->s_aa);
			r->shape = xstrdup(h->shape.text);
			r->time_ns = stats_median(h->ns, h->n);
			r->baseline_ns = stats_median(h->base_ns, h->n);
			r->flops = h->flops;
			r->bytes = h->bytes;
			r->holdout = true;
		}
		r->speedup = exp(in.mean);
		r->ci_low = exp(in.low);
		r->ci_high = exp(in.high);
		session_rates(r);
	}
}

static void overall_results(struct confirmation *c)
{
	struct session *s = c->s;
	struct record *rec = c->rec;
	struct series base = over(c, ROLE_BASELINE), root;
	double v[STATS_MAX_LAUNCHES], time = 0, baseline = 0;
	struct interval in;
	int i, k;

	scores(c, &base, v);
	in = stats_interval(v, base.n, ALPHA_SHOWN, s->s_aa);
	rec->speedup = exp(in.mean);
	rec->ci_low = exp(in.low);
	rec->ci_high = exp(in.high);
	root = over(c, ROLE_ROOT);
	scores(c, &root, v);
	rec->est_speedup = exp(stats_mean(v, root.n));
	for (i = 0; i < s->nr_timed; i++) {
		time += log(rec->shape[i].time_ns) / s->nr_timed;
		baseline += log(rec->shape[i].baseline_ns) / s->nr_timed;
		c->cand->ns[i] = rec->shape[i].time_ns;
	}
	rec->time_ns = exp(time);
	rec->baseline_ns = exp(baseline);
	rec->gflops = rec->shape[0].gflops;
	rec->gbs = rec->shape[0].gbs;
	rec->roof = rec->shape[0].roof;
	for (k = 0; k < c->nr_extra; k++) {
		const struct extra *e = &c->extra[k];
		struct series own = { e->lr, e->ns, e->n };
		double ratio;

		scores(c, &own, v);
		ratio = exp(stats_mean(v, e->n));
		/* The section's own flags are among the flags. */
		if (e->role == ROLE_FLAGS)
			rec->vs_best_flags = fmin(ratio, rec->est_speedup);
		/* Of several rivals, the one that is hardest to beat. */
		if (e->role == ROLE_RIVAL &&
		    !(rec->vs_rival < ratio))
			rec->vs_rival = ratio;
	}
}

/* The gates that stand in the way of `confirmed`: false, and why, if one is
 * closed. */

static bool under_roof(struct confirmation *c)
{
	struct session *s = c->s;
	int i;

	for (i = 0; i < s->nr_timed; i++) {
		const struct timed *t = &s->timed[i];
		double share = c->rec->shape[i].roof;

		/* Where the root is past it already, what is declared is not
		 * what a call must do (a table of which few rows are read),
		 * and the roof tells nothing. */
		if (!(share > ROOF_LIMIT) ||
		    roof_share(c, i, t->root_ns) > ROOF_LIMIT)
			continue;
		session_stop(c->rec, V_TOO_GOOD, "%.0f %% of the roof at %s: "
			     "it does less work than declared, or flops and "
			     "bytes are declared too high", 100 * share,
			     *t->shape.text ? t->shape.text : "its size");
		return false;
	}
	return true;
}

static bool keeps_shapes(struct confirmation *c)
{
	struct session *s = c->s;
	struct series root = over(c, ROLE_ROOT);
	int i;

	for (i = 0; i < s->nr_timed; i++) {
		struct interval in = stats_interval(root.lr[i], root.n,
						    ALPHA_SHOWN, s->s_aa);

		if (in.low >= log(GATE))
			continue;
		session_stop(c->rec, V_SAME, "not surely as fast as the root "
			     "at %s: %.3fx (%.3f to %.3f)",
			     s->timed[i].shape.text, exp(in.mean),
			     exp(in.low), exp(in.high));
		return false;
	}
	return true;
}

static bool beats_baseline(struct confirmation *c)
{
	struct record *rec = c->rec;

	if (!find_role(c, ROLE_BASELINE) || rec->ci_low > 1)
		return true;
	session_stop(rec, V_SAME, "%.2fx the root, but not surely faster than "
		     "the baseline: %.3fx (%.3f to %.3f)", rec->est_speedup,
		     rec->speedup, rec->ci_low, rec->ci_high);
	return false;
}

static bool keeps_holdouts(struct confirmation *c)
{
	int i;

	for (i = 0; i < c->holdouts.nr; i++) {
		const struct holdout *h = &c->holdouts.v[i];
		struct interval in = stats_interval(h->lr, h->n, ALPHA_SHOWN,
						    c->s->s_aa);

		if (!h->n || !(in.high < log(GATE)))
			continue;
		session_stop(c->rec, V_SAME, "slower than the root at %s, a "
			     "shape held out: %.3fx (%.3f to %.3f); `shapes "
			     "= fixed` says that only the given shapes matter",
			     h->shape.text, exp(in.mean), exp(in.low),
			     exp(in.high));
		return false;
	}
	return true;
}

static bool gates(struct confirmation *c)
{
	return under_roof(c) && keeps_shapes(c) && beats_baseline(c) &&
	       keeps_holdouts(c);
}

/* Scores by single calls where the batches gained what these do not. */
static void guard_batches(struct confirmation *c)
{
	struct series own = { c->lr, c->champ_ns, c->n };
	bool guarded = false;
	int i;

	for (i = 0; i < c->s->nr_timed; i++)
		guarded |= stats_guard(c->lr[i], c->single[i], c->n);
	if (guarded)
		scores(c, &own, c->score);
}

static void settle(struct confirmation *c, double against_lr)
{
	struct record *rec = c->rec;
	struct interval in;
	enum look look;

	rec->launches = c->n;
	rec->clock = xstrdup(c->s->kernel->threads > 1 ? "wall" : "cpu");
	if (rec->verdict != V_NONE || !c->n)
		return;
	rec->correct = true;
	guard_batches(c);
	look = stats_confirm(c->score, c->n, c->s->s_aa, ALPHA, &in);
	rec->lr = in.mean;
	rec->lr_low = in.low;
	rec->lr_high = in.high;
	rec->est_speedup = exp(in.mean + against_lr);
	shape_results(c);
	overall_results(c);
	if (look == LOOK_SLOWER) {
		rec->verdict = V_SLOWER;
	} else if (look != LOOK_FASTER || in.mean < LEAST_CLAIM) {
		session_stop(rec, V_SAME, "%.3fx the champion, %.3f to %.3f "
			     "at 99 %%: %s", exp(in.mean), exp(in.low),
			     exp(in.high), look == LOOK_FASTER ?
			     "too little to claim" : "not surely faster");
	} else if (gates(c)) {
		rec->verdict = V_CONFIRMED;
	}
}

/* ---- */

static void release(struct confirmation *c)
{
	int k;

	for (k = 0; k < c->nr_extra; k++) {
		free(c->extra[k].lr);
		free(c->extra[k].ns);
	}
	holdouts_release(&c->holdouts);
	free(c->lr);
	free(c->single);
	free(c->ns);
	free(c->champ_ns);
	free(c->offset);
}

static int run(struct confirmation *c, struct err *err)
{
	int ret = refresh_pools(c, err);

	if (!ret)
		ret = run_launches(c, err);
	/* What is not faster needs no more proof of it. */
	if (!ret && c->rec->verdict == V_NONE) {
		struct interval in;

		if (stats_confirm(c->score, c->n, c->s->s_aa, ALPHA, &in) ==
		    LOOK_FASTER)
			ret = holdouts_run(&c->holdouts, c->s, c->cand, c->rec,
					   err);
	}
	if (!ret && c->rec->verdict == V_NONE)
		ret = measure_roofs(c, err);
	return ret;
}

int session_confirm(struct session *s, const char *key, const char *against,
		    double against_lr, struct record *rec, char **samples,
		    struct err *err)
{
	struct confirmation c;
	size_t nr = (size_t)s->nr_timed;
	int ret;

	*samples = NULL;
	memset(&c, 0, sizeof(c));
	c.s = s;
	c.rec = rec;
	c.cand = session_find(s, key);
	c.champ = session_find(s, against);
	if (!c.cand || !c.champ)
		return err_set(err, ERR_NOTFOUND, "nothing is built for '%s'",
			       c.cand ? against : key);
	c.lr = xcalloc(nr, sizeof(*c.lr));
	c.single = xcalloc(nr, sizeof(*c.single));
	c.ns = xcalloc(nr, sizeof(*c.ns));
	c.champ_ns = xcalloc(nr, sizeof(*c.champ_ns));
	c.offset = xcalloc(nr, sizeof(*c.offset));
	rec->compiled = true;
	choose_extras(&c);
	choose_launches(&c);
	session_lock(s);
	c.start_s = session_now();
	ret = run(&c, err);
	session_unlock(s);
	if (!ret)
		settle(&c, against_lr);
	if (!ret && c.n)
		ret = samples_write(&c, key, against, samples, err);
	release(&c);
	return ret;
}
