#include "core/judge/session.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/judge/build.h"
#include "core/judge/device.h"
#include "core/judge/flags.h"
#include "core/judge/resolution.h"
#include "core/mem.h"

#define LAUNCH_NS 3e8		/* a launch's calls, if no pair is longer */
#define HANDLING_NS 0.6		/* a byte of arguments, round and arm */
#define CHECK_TIMEOUT_S 3.0	/* of a call at a small shape */
#define PAIRS 3			/* calls from two threads at once */
#define MAX_PAIRS 40
#define PAIR_NS 1e7
#define OPEN_ORACLE_S 1.0	/* oracle time for a pool at open */
#define LOCK_WAIT_S 120.0

double session_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void session_say(struct session *s, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (s->cfg.progress)
		s->cfg.progress(s->cfg.ctx, text);
}

void session_tick(struct session *s)
{
	if (s->cfg.tick)
		s->cfg.tick(s->cfg.ctx);
}

static void waiting(void *ctx)
{
	struct session *s = ctx;

	session_say(s, "waiting for another judge to leave the CPU");
	session_tick(s);
}

void session_lock(struct session *s)
{
	int cpu = cpulock_take(&s->cpu, s->kernel->threads, LOCK_WAIT_S,
			       waiting, s);

	s->limits.cpu = cpu;
	s->oracle.limits.cpu = cpu;
	s->roof.limits.cpu = cpu;
}

void session_unlock(struct session *s)
{
	cpulock_drop(&s->cpu);
}

struct artefact *session_find(struct session *s, const char *key)
{
	size_t i;

	for (i = 0; i < s->nr_art; i++)
		if (s->art[i].key && !strcmp(s->art[i].key, key))
			return &s->art[i];
	return NULL;
}

static struct artefact *add_artefact(struct session *s, const char *key)
{
	struct artefact *a = session_find(s, key);
	int i;

	if (a)
		return a;
	GROW(s->art, s->nr_art, s->cap_art);
	a = &s->art[s->nr_art++];
	a->key = xstrdup(key);
	a->so = xasprintf("%s/%s%s.so", s->cfg.work,
			  strcmp(key, SESSION_ROOT) ? "" : "mk-", key);
	a->lr = NAN;
	a->ns = xcalloc((size_t)s->kernel->nr_time + 1, sizeof(*a->ns));
	for (i = 0; i < s->kernel->nr_time; i++)
		a->ns[i] = NAN;
	return a;
}

static void drop_artefact(struct session *s, struct artefact *a)
{
	size_t at = (size_t)(a - s->art);

	unlink(a->so);
	free(a->key);
	free(a->so);
	free(a->ns);
	memmove(a, a + 1, (s->nr_art - at - 1) * sizeof(*a));
	s->nr_art--;
}

double session_known_ns(const struct session *s, const struct artefact *a,
			int shape)
{
	return a->ns[shape] > 0 ? a->ns[shape] : s->timed[shape].root_ns;
}

void session_stop(struct record *rec, enum verdict v, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	rec->verdict = v;
	free(rec->error);
	rec->error = buf_detach(&text);
}

void session_forget(struct session *s, const char *key)
{
	struct artefact *a = session_find(s, key);

	if (a && a != s->art)
		drop_artefact(s, a);
}

/* ---- launches ---- */

int session_plan(struct session *s, struct pool *pool, size_t footprint,
		 struct launch_arm *arm, int nr, double fastest_ns,
		 double sum_ns, int max_rounds, struct launch *out,
		 struct err *err)
{
	double window;
	int need;

	memset(out, 0, sizeof(*out));
	out->kernel = s->kernel;
	out->shape = pool->shape;
	out->pool = pool;
	out->limits = s->limits;
	out->arm = arm;
	out->nr_arms = nr;
	out->dice = &s->dice;
	out->slots = launch_slots(s->kernel, fastest_ns, footprint);
	out->singles = out->slots > 1;
	window = sum_ns * out->slots;
	/* Filling and verifying take their time, too. */
	out->rounds = (int)(LAUNCH_NS / (window + HANDLING_NS * nr *
					 out->slots * (double)footprint));
	if (out->rounds > max_rounds)
		out->rounds = max_rounds;
	if (out->rounds < 1)
		out->rounds = 1;
	out->warm = sum_ns > SESSION_SLOW_NS ? 0 : window < 2e7 ? 2 : 1;
	out->timeout_s = 2 + 20e-9 * window;
	need = out->slots * (out->rounds + out->warm) +
	       (out->singles ? launch_singles(fastest_ns) : 0);
	return pool_grow(pool, need, out->slots +
			 (out->singles ? LAUNCH_SINGLES : 0), 0.3, err);
}

void session_rates(struct shape_result *r)
{
	r->gflops = r->flops > 0 ? r->flops / r->time_ns : NAN;
	r->gbs = r->bytes > 0 ? r->bytes / r->time_ns : NAN;
}

int session_launch_ours(struct launch *l, const char *who, struct err *err)
{
	int ret = launch_run(l, err);

	if (ret || l->arm[0].verdict == V_NONE)
		return ret;
	if (l->arm[0].verdict == V_WRONG)
		return err_set(err, ERR_FORMAT,
			       "%s is wrong by its own reference: %s", who,
			       l->arm[0].why);
	return err_set(err, ERR_FORMAT, "%s fails: %s", who, l->arm[0].why);
}

/* ---- open: building ---- */

static int build_root(struct session *s, struct err *err)
{
	struct artefact *a = add_artefact(s, SESSION_ROOT);
	struct build_job job = { .kernel = s->kernel, .dir = s->cfg.root,
				 .so = a->so,
				 .sandbox_none = s->cfg.sandbox_none };
	struct build_result res = { V_NONE, NULL, 0 };
	int ret = build_run(&job, &res, err);

	if (!ret && res.verdict != V_NONE)
		ret = err_set(err, ERR_FORMAT,
			      res.verdict == V_GATE_FAIL ?
			      "the kernel at the root is refused: %s" :
			      "the kernel at the root does not compile: %s",
			      res.error ? res.error : "no reason given");
	build_result_release(&res);
	return ret;
}

static int build_func(struct session *s, const struct func_ref *f,
		      const char *what, const char *file, char **so,
		      struct err *err)
{
	struct build_result res = { V_NONE, NULL, 0 };
	int ret;

	*so = xasprintf("%s/%s", s->cfg.work, file);
	ret = oracle_build_func(s->kernel, f, s->cfg.aux, *so, NULL,
				s->cfg.sandbox_none, &res, err);
	if (!ret && res.verdict != V_NONE)
		ret = oracle_func_failed(s->kernel, f, what, &res, err);
	build_result_release(&res);
	return ret;
}

static int check_ours(struct session *s, const char *so, const char *who,
		      bool brief, struct err *err)
{
	struct suite_result res = { V_NONE, NULL };
	int ret = suite_run(&s->suite, so, &s->oracle.limits, 60, brief,
			    &s->dice, &res, err);

	if (!ret && res.verdict == V_WRONG)
		ret = err_set(err, ERR_FORMAT,
			      "the %s is wrong by its own reference: %s", who,
			      res.why);
	else if (!ret && res.verdict != V_NONE)
		ret = err_set(err, ERR_FORMAT, "the %s fails: %s", who,
			      res.why);
	suite_result_release(&res);
	return ret;
}

/*
 * Two threads at once: at the largest shape of the suite, and at the first
 * timed one where that is cheap, since only long calls meet each other.
 */
static int try_pairs(struct session *s, const char *so,
		     struct suite_result *res, struct err *err)
{
	const struct suite_shape *v = &s->suite.v[s->suite.nr - 1];
	const struct timed *t = &s->timed[0];
	int ret, tries;

	/* Plain regimes come first in a shape's sets. */
	ret = suite_run_pair(s->kernel, &v->shape, v->set,
			     v->nr < REGIME_NR ? v->nr : REGIME_NR, PAIRS, so,
			     &s->limits, CHECK_TIMEOUT_S, &s->dice, res, err);
	if (ret || res->verdict != V_NONE || t->root_ns > PAIR_NS)
		return ret;
	/* Short calls miss each other more often. */
	tries = (int)fmin(MAX_PAIRS, fmax(PAIRS, 4 * PAIR_NS / t->root_ns));
	return suite_run_pair(s->kernel, &t->shape, t->pool.set, t->pool.nr,
			      tries, so, &s->limits, 3, &s->dice, res, err);
}

static int run_pairs(struct session *s, const char *so,
		     struct suite_result *res, struct err *err)
{
	int ret;

	res->verdict = V_NONE;
	res->why = NULL;
	if (!s->kernel->reentrant || s->kernel->threads > 1)
		return 0;
	cpulock_roam(&s->cpu, true);
	ret = try_pairs(s, so, res, err);
	cpulock_roam(&s->cpu, false);
	return ret;
}

static int check_pairs_of_root(struct session *s, struct err *err)
{
	struct suite_result res;
	int ret = run_pairs(s, s->art[0].so, &res, err);

	if (!ret && res.verdict != V_NONE)
		ret = err_set(err, ERR_FORMAT, "the kernel at the root can't "
			      "be called from two threads at once (`reentrant "
			      "= no` says so): %s", res.why);
	suite_result_release(&res);
	return ret;
}

static int build_others(struct session *s, struct err *err)
{
	const struct kernel *k = s->kernel;
	int i, ret = 0;

	if (k->baseline.path) {
		session_say(s, "building the baseline");
		ret = build_func(s, &k->baseline, "baseline",
				 "mk-baseline.so", &s->baseline_so, err);
		if (!ret)
			ret = check_ours(s, s->baseline_so, "baseline", true,
					 err);
	}
	for (i = 0; !ret && i < k->nr_rivals; i++) {
		char *file = xasprintf("mk-rival%d.so", i);

		session_say(s, "building the rivals");
		ret = build_func(s, &k->rival[i], "rival", file,
				 &s->rival_so[i], err);
		free(file);
		if (!ret)
			ret = check_ours(s, s->rival_so[i], "rival", true,
					 err);
	}
	return ret;
}

/* ---- open: timed shapes ---- */

static int init_timed(struct session *s, struct err *err)
{
	const struct kernel *k = s->kernel;
	int i, j, ret;

	s->timed = xcalloc((size_t)k->nr_time, sizeof(*s->timed));
	for (i = 0; i < k->nr_time; i++) {
		struct timed *t = &s->timed[i];
		double elems;

		shape_copy(&t->shape, &k->time[i]);
		s->nr_timed++;
		pool_init(&t->pool, &s->oracle, &t->shape,
			  POOL_BYTES / (size_t)k->nr_time);
		if (!shape_is_usable(k, &t->shape, &elems))
			return err_set(err, ERR_FORMAT,
				       "the time shape '%s' is not legal",
				       t->shape.text);
		ret = kernel_work(k, &t->shape, &t->flops, &t->bytes, err);
		if (ret)
			return ret;
		for (j = 0; j < k->nr_args; j++) {
			int64_t n = 0;

			if (k->arg[j].kind == ARG_DIM)
				continue;
			ret = kernel_arg_elems(k, &k->arg[j], &t->shape, &n,
					       err);
			if (ret)
				return ret;
			t->footprint += (size_t)n *
					dtype_size(k->arg[j].type);
		}
	}
	return 0;
}

/* The root, once, on one set: right, and about how fast? */
static int first_time(struct session *s, struct timed *t, struct err *err)
{
	struct launch_arm arm;
	struct launch l;
	int ret;

	ret = pool_grow(&t->pool, 1, 1, 0, err);
	if (ret)
		return ret;
	launch_arm_init(&arm, s->art[0].so);
	ret = session_plan(s, &t->pool, t->footprint, &arm, 1, SESSION_SLOW_NS,
			   2 * SESSION_SLOW_NS, 1, &l, err);
	l.timeout_s = 120;
	if (!ret)
		ret = session_launch_ours(&l, "the kernel at the root", err);
	t->root_ns = arm.median_ns;
	launch_arm_release(&arm);
	return ret;
}

static int fill_pool(struct session *s, struct timed *t, struct err *err)
{
	int slots = launch_slots(s->kernel, t->root_ns, t->footprint);
	int least = t->pool.set_s > 0.5 ||
		    t->pool.bytes > t->pool.max_bytes / POOL_MIN_RINGS ?
		    2 : POOL_MIN_RINGS;

	return pool_grow(&t->pool, slots * (SESSION_ROUNDS + 2) +
			 launch_singles(t->root_ns),
			 least > slots ? least : slots, OPEN_ORACLE_S, err);
}

static int prepare_shapes(struct session *s, struct err *err)
{
	int i, ret = 0;

	for (i = 0; !ret && i < s->nr_timed; i++) {
		struct timed *t = &s->timed[i];

		session_say(s, "timing the root%s%s",
			    *t->shape.text ? " at " : "", t->shape.text);
		ret = first_time(s, t, err);
		if (ret)
			break;
		session_say(s, "computing the oracle%s%s",
			    *t->shape.text ? " at " : "", t->shape.text);
		ret = fill_pool(s, t, err);
		session_tick(s);
	}
	return ret;
}

static void drop_timed(struct session *s)
{
	int i;

	for (i = 0; i < s->nr_timed; i++) {
		pool_release(&s->timed[i].pool);
		shape_release(&s->timed[i].shape);
	}
	free(s->timed);
	s->timed = NULL;
	s->nr_timed = 0;
}

/*
 * Suite and pools.  An oracle that is given up on the way leaves answers of
 * two kinds, so all of it is made again.
 */
static int prepare_answers(struct session *s, struct err *err)
{
	enum oracle_kind kind;
	int ret;

	do {
		kind = s->oracle.kind;
		suite_close(&s->suite);
		drop_timed(s);
		session_say(s, "computing the check suite");
		ret = suite_open(&s->suite, s->kernel, &s->oracle, &s->dice,
				 err);
		if (!ret)
			ret = check_ours(s, s->art[0].so, "kernel at the root",
					 false, err);
		if (!ret)
			ret = suite_find_in_place(&s->suite, s->art[0].so,
						  &s->oracle.limits,
						  CHECK_TIMEOUT_S, &s->dice,
						  err);
		if (!ret)
			ret = init_timed(s, err);
		if (!ret)
			ret = prepare_shapes(s, err);
	} while (!ret && s->oracle.kind != kind);
	return ret;
}

/* ---- open: roofs ---- */

static bool has_type(const struct kernel *k, enum dtype t)
{
	int i;

	for (i = 0; i < k->nr_args; i++)
		if (k->arg[i].kind != ARG_DIM && k->arg[i].type == t)
			return true;
	return false;
}

static int measure_roofs(struct session *s, struct err *err)
{
	bool wide = has_type(s->kernel, DT_F64);
	double peak;
	int i, ret;

	session_say(s, "measuring the roofs");
	ret = roof_open(&s->roof, s->cfg.work, s->kernel->cc,
			s->kernel->threads, wide, s->cfg.sandbox_none, err);
	s->roof.limits.cpu = s->limits.cpu;
	if (!ret)
		ret = roof_peak(&s->roof, &peak, err);
	for (i = 0; !ret && i < s->nr_timed; i++)
		ret = roof_bandwidth(&s->roof, s->timed[i].bytes,
				     &s->timed[i].rate, err);
	return ret;
}

/* ---- open ---- */

static int find_sandbox(struct session *s, struct err *err)
{
	struct buf why = BUF_INIT;
	const char *level;
	int ret = 0;

	if (s->cfg.sandbox_none) {
		s->sandbox = xstrdup("none");
		return 0;
	}
	level = sandbox_level(&why);
	s->sandbox = xstrdup(level);
	if (!strcmp(level, "none"))
		ret = err_set(err, ERR_FORMAT, "candidates can't be kept in a "
			      "sandbox here: %s (`git config "
			      "maxkernel.sandbox none` goes without one)",
			      why.ptr);
	buf_release(&why);
	return ret;
}

static int parse_section(struct session *s, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret;

	buf_addf(&text, "[kernel \"%s\"]\n%s", s->cfg.name, s->cfg.section);
	ret = kernel_file_parse(&s->file, "section", text.ptr, text.len, err);
	buf_release(&text);
	if (ret)
		return ret;
	if (s->file.nr != 1)
		return err_set(err, ERR_FORMAT, "one kernel was expected");
	s->kernel = &s->file.v[0];
	if (strcmp(s->kernel->target, "c"))
		return err_set(err, ERR_FORMAT, "target '%s' is not one that "
			       "this judge can measure", s->kernel->target);
	return 0;
}

static void describe_machine(struct session *s)
{
	struct buf slug = BUF_INIT, text = BUF_INIT, host = BUF_INIT;

	device_name(&slug, &text, s->kernel->threads);
	device_host(&host);
	s->device = buf_detach(&slug);
	s->device_text = buf_detach(&text);
	s->host = buf_detach(&host);
}

static int open_steps(struct session *s, struct err *err)
{
	int ret = parse_section(s, err);

	if (!ret)
		ret = find_sandbox(s, err);
	if (ret)
		return ret;
	describe_machine(s);
	ret = build_compiler(s->kernel->cc, &s->compiler, err);
	if (ret == ERR_NOTFOUND)
		err->code = ret = ERR_FORMAT;
	if (ret)
		return ret;
	s->limits.load_s = 2;
	s->limits.scratch = (size_t)s->kernel->scratch;
	s->limits.threads = s->kernel->threads;
	s->limits.sandbox_none = s->cfg.sandbox_none;
	session_say(s, "building the root");
	ret = build_root(s, err);
	if (ret)
		return ret;
	session_say(s, "building the oracle");
	ret = oracle_open(&s->oracle, s->kernel, s->cfg.aux, s->cfg.work,
			  s->cfg.sandbox_none, err);
	if (ret)
		return ret;
	oracle_use_root(&s->oracle, s->art[0].so);
	session_lock(s);
	ret = prepare_answers(s, err);
	if (!ret)
		ret = check_pairs_of_root(s, err);
	if (!ret)
		ret = resolution_measure(s, err);
	if (!ret)
		ret = build_others(s, err);
	if (!ret && s->cfg.flag_arms)
		ret = flags_measure(s, err);
	if (!ret)
		ret = measure_roofs(s, err);
	session_unlock(s);
	/* Judges that only help leave it to the first. */
	if (!ret && s->cfg.flag_arms)
		ret = resolution_prove(s, err);
	return ret;
}

int session_open(struct session **out, const struct session_config *cfg,
		 struct err *err)
{
	struct session *s = xcalloc(1, sizeof(*s));

	*out = s;
	s->cfg = *cfg;
	s->cfg.name = xstrdup(cfg->name);
	s->cfg.section = xstrdup(cfg->section);
	s->cfg.root = xstrdup(cfg->root);
	s->cfg.aux = xstrdup(cfg->aux);
	s->cfg.work = xstrdup(cfg->work);
	s->best_flags_speedup = NAN;
	s->resolution = NAN;
	dice_init(&s->dice);
	cpulock_init(&s->cpu);
	return open_steps(s, err);
}

static void free_const(const char *s)
{
	char *p;

	memcpy(&p, &s, sizeof(p));
	free(p);
}

void session_close(struct session *s)
{
	int i;

	if (!s)
		return;
	session_unlock(s);
	drop_timed(s);
	suite_close(&s->suite);
	roof_close(&s->roof);
	oracle_close(&s->oracle);
	while (s->nr_art)
		drop_artefact(s, &s->art[s->nr_art - 1]);
	free(s->art);
	for (i = 0; i < KERNEL_MAX_RIVALS; i++)
		free(s->rival_so[i]);
	free(s->baseline_so);
	free(s->flags_so);
	free(s->best_flags);
	free(s->device);
	free(s->device_text);
	free(s->host);
	free(s->sandbox);
	free(s->compiler);
	kernel_file_release(&s->file);
	free_const(s->cfg.name);
	free_const(s->cfg.section);
	free_const(s->cfg.root);
	free_const(s->cfg.aux);
	free_const(s->cfg.work);
	free(s);
}

/* ---- build, check ---- */

int session_build(struct session *s, const char *key, const char *src,
		  struct record *rec, struct err *err)
{
	struct artefact *a = add_artefact(s, key);
	struct build_job job = { .kernel = s->kernel, .dir = src, .so = a->so,
				 .sandbox_none = s->cfg.sandbox_none };
	struct build_result res = { V_NONE, NULL, 0 };
	int ret;

	if (s->nr_art > SESSION_MAX_ARTEFACTS) {
		session_forget(s, key);
		return err_set(err, ERR_LIMIT, "too many artefacts");
	}
	ret = build_run(&job, &res, err);
	rec->attempt_s = res.seconds;
	rec->verdict = res.verdict == V_NONE ? V_SAME : res.verdict;
	rec->compiled = res.verdict == V_NONE;
	rec->error = res.error;
	res.error = NULL;
	build_result_release(&res);
	if (ret || rec->verdict != V_SAME)
		session_forget(s, key);
	return ret;
}

static void take_result(struct record *rec, struct suite_result *res)
{
	if (res->verdict == V_NONE)
		return;
	rec->verdict = res->verdict;
	free(rec->error);
	rec->error = res->why;
	res->why = NULL;
}

int session_check(struct session *s, const char *key, struct record *rec,
		  struct err *err)
{
	struct artefact *a = session_find(s, key);
	struct suite_result res = { V_NONE, NULL };
	int i, ret;

	if (!a)
		return err_set(err, ERR_NOTFOUND, "nothing is built for '%s'",
			       key);
	session_lock(s);
	rec->verdict = V_SAME;
	ret = suite_run(&s->suite, a->so, &s->limits, CHECK_TIMEOUT_S, false,
			&s->dice, &res, err);
	if (!ret)
		take_result(rec, &res);
	for (i = 0; !ret && rec->verdict == V_SAME && i < s->nr_timed; i++) {
		struct timed *t = &s->timed[i];
		int at = (int)dice_below(&s->dice, (uint64_t)t->pool.nr);

		if (t->root_ns > SESSION_SLOW_NS)
			continue;	/* the first screening call does it */
		ret = suite_run_set(s->kernel, &t->shape, t->pool.set[at],
				    a->so, &s->limits, 2 + 20e-9 * t->root_ns,
				    &s->dice, &res, err);
		if (!ret)
			take_result(rec, &res);
	}
	if (!ret && rec->verdict == V_SAME) {
		ret = run_pairs(s, a->so, &res, err);
		if (!ret)
			take_result(rec, &res);
	}
	session_unlock(s);
	suite_result_release(&res);
	rec->compiled = true;
	rec->correct = rec->verdict == V_SAME;
	return ret;
}
