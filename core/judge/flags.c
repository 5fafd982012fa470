#include "core/judge/flags.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/judge/build.h"
#include "core/mem.h"

#define FLAG_BUDGET_NS 1.5e9	/* flag arms may time so much at open */
#define FLAG_SLOW_NS 4e9	/* all arms over this: only the likely ones */
#define FLAG_BYTES ((size_t)256 << 20)

static const char *const flag_text[] = {
	"-O3 -march=native",
	"-O2 -march=native",
	"-O3 -march=native -ffast-math",
	"-O3 -march=native -funroll-loops",
	"-O3 -march=native -mprefer-vector-width=512"
};
#define NR_FLAGS ((int)ARRAY_SIZE(flag_text))
#define NR_FLAG_ARMS (2 * NR_FLAGS)

static void split_words(struct strv *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, " ");

		strv_pushf(out, "%.*s", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
}

/* Builds one flag arm and checks it; *so stays NULL when it is out. */
static int build_flag_arm(struct session *s, const char *cc, int flags,
			  char **so, struct err *err)
{
	struct build_job job = { .kernel = s->kernel, .dir = s->cfg.root,
				 .cc = cc,
				 .sandbox_none = s->cfg.sandbox_none };
	struct build_result res = { V_NONE, NULL, 0 };
	struct suite_result checked = { V_NONE, NULL };
	struct strv list = STRV_INIT;
	char *path = xasprintf("%s/mk-flags-%s%d.so", s->cfg.work, cc, flags);
	size_t i;
	int ret;

	split_words(&list, flag_text[flags]);
	/* What gives the source its meaning stays. */
	for (i = 0; i < s->kernel->flags.nr; i++) {
		const char *f = s->kernel->flags.v[i];

		if (strncmp(f, "-O", 2) && strncmp(f, "-march=", 7))
			strv_push(&list, f);
	}
	job.so = path;
	job.flags = &list;
	ret = build_run(&job, &res, err);
	if (!ret && res.verdict == V_NONE) {
		ret = suite_run(&s->suite, path, &s->limits, 60, false,
				&s->dice, &checked, err);
		if (!ret && checked.verdict == V_NONE) {
			*so = path;
			path = NULL;
		}
	}
	suite_result_release(&checked);
	build_result_release(&res);
	strv_release(&list);
	free(path);
	return ret;
}

/* Times some of the arms beside the root and adds the log-ratios. */
static int time_flag_group(struct session *s, struct timed *t, char **so,
			   const int *which, int nr, double *lr,
			   struct err *err)
{
	struct launch_arm arm[NR_FLAG_ARMS + 1];
	double sum = t->root_ns * (nr + 1);
	struct launch l;
	int i, ret;

	launch_arm_init(&arm[0], s->art[0].so);
	for (i = 0; i < nr; i++)
		launch_arm_init(&arm[i + 1], so[which[i]]);
	ret = session_plan(s, &t->pool, t->footprint, arm, nr + 1, t->root_ns,
			   sum, sum > FLAG_BUDGET_NS / 3 ? 1 : 3, &l, err);
	l.singles = false;
	if (sum > FLAG_BUDGET_NS / 2)
		l.warm = 0;
	if (!ret)
		ret = session_launch_ours(&l, "the kernel at the root", err);
	for (i = 0; i < nr; i++) {
		const struct launch_arm *a = &arm[i + 1];

		if (!ret && a->verdict == V_NONE && a->nr)
			lr[which[i]] += launch_ratio(a, &arm[0]) /
					s->nr_timed;
		else
			lr[which[i]] = -INFINITY;
	}
	for (i = 0; i <= nr; i++)
		launch_arm_release(&arm[i]);
	return ret;
}

/* In groups, so that their outputs do not fill the memory. */
static int time_flag_arms(struct session *s, struct timed *t, char **so,
			  double *lr, struct err *err)
{
	size_t room = FLAG_BYTES / (t->footprint + 1);
	int which[NR_FLAG_ARMS], nr = 0, i, ret = 0;

	for (i = 0; !ret && i < NR_FLAG_ARMS; i++) {
		if (!so[i] || !isfinite(lr[i]))
			continue;
		which[nr++] = i;
		if ((size_t)nr < room)
			continue;
		ret = time_flag_group(s, t, so, which, nr, lr, err);
		session_tick(s);
		nr = 0;
	}
	if (!ret && nr)
		ret = time_flag_group(s, t, so, which, nr, lr, err);
	return ret;
}

static void choose_flag_arm(struct session *s, char **so, const double *lr,
			    const char *const *cc)
{
	int i, best = -1;

	for (i = 0; i < NR_FLAG_ARMS; i++)
		if (so[i] && isfinite(lr[i]) && (best < 0 || lr[i] > lr[best]))
			best = i;
	if (best < 0)
		return;
	s->best_flags = xasprintf("%s %s", cc[best / NR_FLAGS],
				  flag_text[best % NR_FLAGS]);
	s->best_flags_speedup = exp(lr[best]);
	s->flags_so = so[best];
	so[best] = NULL;
}

/* A slow root is spared the arms that seldom win. */
static bool spares_flag_arm(const struct session *s, int flags)
{
	double total = 0;
	int i;

	for (i = 0; i < s->nr_timed; i++)
		total += s->timed[i].root_ns;
	return total * NR_FLAG_ARMS > FLAG_SLOW_NS && flags != 0 &&
	       flags != 2;
}

int flags_measure(struct session *s, struct err *err)
{
	static const char *const cc[2] = { "gcc", "clang" };
	char *so[NR_FLAG_ARMS] = { NULL };
	double lr[NR_FLAG_ARMS] = { 0 };
	int i, ret = 0;

	for (i = 0; !ret && i < NR_FLAG_ARMS; i++) {
		struct err missing = ERR_INIT;
		char *version = NULL;

		if (spares_flag_arm(s, i % NR_FLAGS))
			continue;
		session_say(s, "building the root with %s %s",
			    cc[i / NR_FLAGS], flag_text[i % NR_FLAGS]);
		if (i % NR_FLAGS == 0 &&
		    build_compiler(cc[i / NR_FLAGS], &version, &missing)) {
			i += NR_FLAGS - 1;
			continue;
		}
		free(version);
		ret = build_flag_arm(s, cc[i / NR_FLAGS], i % NR_FLAGS,
				     &so[i], err);
		session_tick(s);
	}
	session_say(s, "timing the root with other flags");
	for (i = 0; !ret && i < s->nr_timed; i++)
		ret = time_flag_arms(s, &s->timed[i], so, lr, err);
	if (!ret)
		choose_flag_arm(s, so, lr, cc);
	for (i = 0; i < NR_FLAG_ARMS; i++) {
		if (so[i])
			unlink(so[i]);
		free(so[i]);
	}
	return ret;
}
