#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/judge/session.h"
#include "core/mem.h"

#define SCREEN_WALL_S 15.0
#define HOPELESS 3.0		/* times slower: one pair decides */

struct screening {
	struct session *s;
	struct artefact *cand, *champ;
	double score[LOOK_LAST];
	double (*lr)[LOOK_LAST];	/* by shape */
	double (*single)[LOOK_LAST];	/* the same from single calls */
	double (*ns)[LOOK_LAST];	/* of the candidate */
	double (*champ_ns)[LOOK_LAST];
	bool guarded;
	int n;
};

/* One pair of arms at one shape: the n-th launch. */
static int screen_shape(struct screening *sc, int shape, struct record *rec,
			struct err *err)
{
	struct session *s = sc->s;
	struct timed *t = &s->timed[shape];
	double champ_ns = session_known_ns(s, sc->champ, shape);
	double cand_ns = sc->n ? sc->ns[shape][sc->n - 1] : champ_ns;
	struct launch_arm arm[2];
	struct launch l;
	int ret;

	launch_arm_init(&arm[0], sc->cand->so);
	launch_arm_init(&arm[1], sc->champ->so);
	ret = session_plan(s, &t->pool, t->footprint, arm, 2,
			   fmin(cand_ns, champ_ns), cand_ns + champ_ns,
			   SESSION_ROUNDS, &l, err);
	l.hopeless = HOPELESS;
	l.timeout_s = 2 + 20e-9 * champ_ns * l.slots;
	if (!ret)
		ret = launch_run(&l, err);
	if (!ret && arm[0].verdict != V_NONE) {
		rec->verdict = arm[0].verdict;
		rec->error = arm[0].why;
		arm[0].why = NULL;
	} else if (!ret && (arm[1].verdict != V_NONE || !arm[0].nr)) {
		rec->verdict = V_NO_VERDICT;
		rec->error = xasprintf("the champion failed beside it: %s",
				       arm[1].why ? arm[1].why : "no time");
	} else if (!ret) {
		sc->lr[shape][sc->n] = launch_ratio(&arm[0], &arm[1]);
		sc->single[shape][sc->n] = launch_single_ratio(&l);
		sc->ns[shape][sc->n] = arm[0].median_ns;
		sc->champ_ns[shape][sc->n] = arm[1].median_ns;
	}
	launch_arm_release(&arm[0]);
	launch_arm_release(&arm[1]);
	return ret;
}

static int screen_launch(struct screening *sc, struct record *rec,
			 struct err *err)
{
	struct session *s = sc->s;
	double sum = 0;
	int i, ret = 0;

	for (i = 0; !ret && rec->verdict == V_NONE && i < s->nr_timed; i++)
		ret = screen_shape(sc, i, rec, err);
	if (ret || rec->verdict != V_NONE)
		return ret;
	for (i = 0; i < s->nr_timed; i++)
		sum += sc->lr[i][sc->n];
	sc->score[sc->n++] = sum / s->nr_timed;
	return 0;
}

static void screen_shapes(struct screening *sc, struct record *rec)
{
	struct session *s = sc->s;
	double sum = 0;
	int i;

	rec->shape = xcalloc((size_t)s->nr_timed, sizeof(*rec->shape));
	rec->nr_shapes = (size_t)s->nr_timed;
	for (i = 0; i < s->nr_timed; i++) {
		struct shape_result *r = &rec->shape[i];

		r->shape = xstrdup(s->timed[i].shape.text);
		r->time_ns = stats_median(sc->ns[i], sc->n);
		r->baseline_ns = NAN;
		r->speedup = exp(stats_mean(sc->lr[i], sc->n));
		r->ci_low = r->ci_high = r->roof = NAN;
		r->flops = s->timed[i].flops;
		r->bytes = s->timed[i].bytes;
		session_rates(r);
		sum += log(r->time_ns);
		sc->cand->ns[i] = r->time_ns;
		sc->champ->ns[i] = stats_median(sc->champ_ns[i], sc->n);
	}
	rec->time_ns = exp(sum / s->nr_timed);
}

static void screen_verdict(struct screening *sc, enum look look,
			   const struct interval *in, double against_lr,
			   struct record *rec)
{
	static const enum verdict of[] = {
		[LOOK_MORE] = V_NO_VERDICT, [LOOK_SLOWER] = V_SLOWER,
		[LOOK_SAME] = V_SAME, [LOOK_FASTER] = V_FASTER
	};

	rec->launches = sc->n;
	if (rec->verdict == V_NONE) {
		rec->verdict = of[look];
		rec->correct = true;
		if (look == LOOK_MORE)
			rec->error = xasprintf("no decision after %d "
					       "launches: the machine is too "
					       "noisy", sc->n);
	}
	if (!verdict_is_timed(rec->verdict) || !sc->n)
		return;
	rec->lr = in->mean;
	rec->lr_low = in->low;
	rec->lr_high = in->high;
	rec->est_speedup = exp(in->mean + against_lr);
	sc->cand->lr = in->mean;
	screen_shapes(sc, rec);
	if (sc->guarded)
		rec->error = xstrdup("its calls gain less one by one than in "
				     "a batch: the single calls count");
}

/* A winner whose batches gain what its calls do not is judged by these. */
static enum look screen_guard(struct screening *sc, struct interval *in)
{
	enum look look;
	int i, l;

	for (i = 0; i < sc->s->nr_timed; i++)
		sc->guarded |= stats_guard(sc->lr[i], sc->single[i], sc->n);
	if (!sc->guarded)
		return LOOK_FASTER;
	for (l = 0; l < sc->n; l++) {
		sc->score[l] = 0;
		for (i = 0; i < sc->s->nr_timed; i++)
			sc->score[l] += sc->lr[i][l] / sc->s->nr_timed;
	}
	look = stats_look(sc->score, sc->n, sc->s->s_aa, SESSION_CLAIM, in);
	return look == LOOK_MORE ? LOOK_SAME : look;
}

static int screen_run(struct screening *sc, double against_lr,
		      struct record *rec, struct err *err)
{
	struct session *s = sc->s;
	struct interval in = { NAN, NAN, NAN };
	enum look look = LOOK_MORE;
	double start = session_now(), limit = SCREEN_WALL_S;
	int i, ret = 0;

	/* The first look needs three launches, however long a call is. */
	for (i = 0; i < s->nr_timed; i++)
		limit = fmax(limit, 8e-9 * session_known_ns(s, sc->champ, i) *
			     s->nr_timed);
	while (!ret && rec->verdict == V_NONE && look == LOOK_MORE &&
	       (sc->n < 1 || session_now() - start < limit)) {
		ret = screen_launch(sc, rec, err);
		if (ret || rec->verdict != V_NONE)
			break;
		look = stats_look(sc->score, sc->n, s->s_aa, SESSION_CLAIM,
				  &in);
		session_tick(s);
	}
	if (!ret && rec->verdict == V_NONE && look == LOOK_FASTER)
		look = screen_guard(sc, &in);
	if (!ret)
		screen_verdict(sc, look, &in, against_lr, rec);
	return ret;
}

int session_screen(struct session *s, const char *key, const char *against,
		   double against_lr, struct record *rec, struct err *err)
{
	struct screening sc;
	size_t nr = (size_t)s->nr_timed;
	int ret;

	memset(&sc, 0, sizeof(sc));
	sc.s = s;
	sc.cand = session_find(s, key);
	sc.champ = session_find(s, against);
	if (!sc.cand || !sc.champ)
		return err_set(err, ERR_NOTFOUND, "nothing is built for '%s'",
			       sc.cand ? against : key);
	sc.lr = xcalloc(nr, sizeof(*sc.lr));
	sc.single = xcalloc(nr, sizeof(*sc.single));
	sc.ns = xcalloc(nr, sizeof(*sc.ns));
	sc.champ_ns = xcalloc(nr, sizeof(*sc.champ_ns));
	rec->compiled = true;
	session_lock(s);
	ret = screen_run(&sc, against_lr, rec, err);
	session_unlock(s);
	free(sc.lr);
	free(sc.single);
	free(sc.ns);
	free(sc.champ_ns);
	return ret;
}
