#include "core/judge/resolution.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/mem.h"

#define AA_S 2.0
#define FLOOR_SD 0.003		/* s_AA is never believed to be less */
#define CAP_SD 0.03
#define SLOW_FLOOR_SD 0.01	/* when A/A is one pair */
#define SO_MAX (64u << 20)
#define NULL_KEY "mk-null"	/* no state id: a candidate can't be called so */
#define NULL_TRIES 3

static int copy_file(const char *from, const char *to, struct err *err)
{
	struct buf b = BUF_INIT;
	int ret = buf_read_file(&b, from, SO_MAX, err);

	if (!ret)
		ret = buf_write_file(to, b.ptr, b.len, err);
	if (!ret && chmod(to, 0755))
		ret = err_sys(err, "cannot change '%s'", to);
	buf_release(&b);
	return ret;
}

/* One A/A launch: the root against its copy at each shape. */
static int aa_launch(struct session *s, const char *copy, double *score,
		     double (*ns)[STATS_MAX_LAUNCHES], int nr,
		     struct err *err)
{
	int i, ret = 0;

	*score = 0;
	for (i = 0; !ret && i < s->nr_timed; i++) {
		struct timed *t = &s->timed[i];
		struct launch_arm arm[2];
		struct launch l;

		launch_arm_init(&arm[0], s->art[0].so);
		launch_arm_init(&arm[1], copy);
		ret = session_plan(s, &t->pool, t->footprint, arm, 2,
				   t->root_ns, 2 * t->root_ns, SESSION_ROUNDS,
				   &l, err);
		l.singles = false;
		if (!ret)
			ret = session_launch_ours(&l, "the kernel at the root",
						  err);
		if (!ret && arm[1].nr) {
			*score += launch_ratio(&arm[0], &arm[1]) /
				  s->nr_timed;
			ns[i][nr] = (arm[0].median_ns + arm[1].median_ns) / 2;
		}
		launch_arm_release(&arm[0]);
		launch_arm_release(&arm[1]);
	}
	return ret;
}

/* What a confirmation of twelve launches can tell from nothing. */
static double seen_with(double sd)
{
	return fmax(SESSION_CLAIM, stats_t_quantile(0.995, 11) * sd /
		    sqrt(12));
}

int resolution_measure(struct session *s, struct err *err)
{
	double (*ns)[STATS_MAX_LAUNCHES], score[6], total = 0;
	double start = session_now();
	char *copy = xasprintf("%s/mk-copy.so", s->cfg.work);
	int i, n, nr, ret;

	for (i = 0; i < s->nr_timed; i++)
		total += s->timed[i].root_ns;
	nr = total > SESSION_SLOW_NS ? 1 : total > 5e7 ? 2 : 6;
	ns = xcalloc((size_t)s->nr_timed, sizeof(*ns));
	session_say(s, "measuring the resolution");
	ret = copy_file(s->art[0].so, copy, err);
	for (n = 0; !ret && n < nr; n++) {
		/* Two launches whatever they take, then while time is left. */
		if (n > 1 && session_now() - start > AA_S)
			break;
		ret = aa_launch(s, copy, &score[n], ns, n, err);
		session_tick(s);
	}
	nr = n;
	for (i = 0; !ret && i < s->nr_timed; i++) {
		s->timed[i].root_ns = stats_median(ns[i], nr);
		s->art[0].ns[i] = s->timed[i].root_ns;
	}
	free(ns);
	free(copy);
	if (ret)
		return ret;
	s->s_aa = fmax(stats_usual_sd(score, nr), FLOOR_SD);
	if (nr < 3)
		s->s_aa = fmax(fmax(fabs(score[0]), fabs(score[nr - 1])),
			       SLOW_FLOOR_SD);
	s->resolution = seen_with(s->s_aa);
	/* A floor guards against launches that agree by luck.  One or two
	 * pairs of a slow root say little of later launches. */
	s->s_aa = fmin(s->s_aa, nr < 3 ? 2 * SLOW_FLOOR_SD : CAP_SD);
	return 0;
}

/* One screening of the root's twin: is it taken for faster? */
static int screen_null(struct session *s, bool *faster, struct buf *said,
		       struct err *err)
{
	struct record rec;
	int ret;

	record_init(&rec);
	ret = session_screen(s, NULL_KEY, SESSION_ROOT, 0, &rec, err);
	*faster = rec.verdict == V_FASTER;
	if (*faster)
		buf_addf(said, "%s%.1f %%", said->len ? ", " : "",
			 (exp(rec.lr) - 1) * 100);
	record_release(&rec);
	return ret;
}

int resolution_prove(struct session *s, struct err *err)
{
	struct buf said = BUF_INIT;
	struct record rec;
	double total = 0;
	bool faster = false;
	int ret;

	for (int i = 0; i < s->nr_timed; i++)
		total += s->timed[i].root_ns;
	if (total > SESSION_SLOW_NS)
		return 0;
	session_say(s, "trying a copy of the root");
	record_init(&rec);
	ret = session_build(s, NULL_KEY, s->cfg.root, &rec, err);
	if (!ret && rec.verdict != V_SAME)
		ret = err_set(err, ERR_FORMAT, "the root built once and not "
			      "again: %s", rec.error ? rec.error :
			      verdict_name(rec.verdict));
	record_release(&rec);
	for (int i = 0; !ret && i < NULL_TRIES; i++) {
		ret = screen_null(s, &faster, &said, err);
		if (ret || !faster)
			break;
		/* The launches agree more than they are right. */
		s->s_aa = 2 * s->s_aa;
		s->resolution = seen_with(s->s_aa);
	}
	if (!ret && faster)
		ret = err_set(err, ERR_FORMAT, "a copy of the kernel was "
			      "called faster than the kernel itself, %d times "
			      "in a row (by %s): nothing measured here now "
			      "would hold; what else runs on this machine?",
			      NULL_TRIES, said.ptr);
	session_forget(s, NULL_KEY);
	buf_release(&said);
	return ret;
}
