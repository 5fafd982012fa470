#include "core/judge/launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "core/judge/stats.h"
#include "core/mem.h"

/* What a hand-off should last.  The empty one costs 4 us of CPU time, give
 * or take half a microsecond; by the wall it is far worse. */
#define WINDOW_NS 4e5
#define WALL_WINDOW_NS 1e6
#define HOT_WINDOW_NS 5e4	/* enough for a ring that stays in the cache */
#define RING_BYTES ((size_t)64 << 20)
#define FULL_ELEMS 65536	/* outputs up to this are compared whole */
#define SAMPLE 256
#define SINGLES 5
#define MANY_SINGLES 25		/* for calls below MANY_NS */
#define MANY_NS 1e5
/* Below this a call is short beside its hand-off, and what that adds is taken
 * off. */
#define SHORT_NS 1e4
#define SHORT_SINGLES 100
#define SINGLE_NOISE_NS 300	/* that a call may cost more by itself */
#define WALL_NOISE_NS 5000
#define EMPTY_CALLS 9

struct run {			/* a launch while it runs */
	struct launch *l;
	struct layout layout;
	struct arena in;
	struct worker *w[LAUNCH_MAX_ARMS];
	double empty_ns[LAUNCH_MAX_ARMS];
	int *order;		/* of the pool's sets */
	int next;		/* first set not drawn */
	bool hopeless;		/* arm 0 is, see struct launch */
};

void launch_arm_init(struct launch_arm *a, const char *so)
{
	memset(a, 0, sizeof(*a));
	a->so = so;
	a->verdict = V_NONE;
	a->single_ns = NAN;
	a->median_ns = NAN;
}

void launch_arm_release(struct launch_arm *a)
{
	free(a->why);
	a->why = NULL;
}

static size_t cache_bytes(int level)
{
	static const int name[] = { 0, 0, _SC_LEVEL2_CACHE_SIZE,
				    _SC_LEVEL3_CACHE_SIZE };
	long n = sysconf(name[level]);

	if (n > 0)
		return (size_t)n;
	return level == 2 ? (size_t)1 << 20 : (size_t)16 << 20;
}

int launch_slots(const struct kernel *k, double call_ns, size_t bytes)
{
	double window = k->threads > 1 ? WALL_WINDOW_NS : WINDOW_NS;
	double want, fit;

	if (!(call_ns > 0) || call_ns >= window)
		return 1;
	want = ceil(window / call_ns);
	fit = (double)RING_BYTES / (double)(bytes ? bytes : 1);
	if (k->cache == CACHE_HOT) {
		double hot = (double)(cache_bytes(2) / 2) /
			     (double)(bytes ? bytes : 1);

		/* A short ring in the cache tells more than a long one out
		 * of it, while its window outlasts the hand-off. */
		if (hot >= 4 && hot * call_ns >= HOT_WINDOW_NS)
			fit = hot;
	}
	if (want > fit)
		want = fit;
	if (want > LAYOUT_MAX_SLOTS)
		want = LAYOUT_MAX_SLOTS;
	return want < 1 ? 1 : (int)want;
}

int launch_singles(double call_ns)
{
	return call_ns < SHORT_NS ? SHORT_SINGLES :
	       call_ns < MANY_NS ? MANY_SINGLES : SINGLES;
}

static void fail(struct launch_arm *a, enum verdict v, const char *why)
{
	if (a->verdict != V_NONE)
		return;
	a->verdict = v;
	a->why = xstrdup(why);
}

static void fail_state(struct run *r, int arm)
{
	fail(&r->l->arm[arm], worker_verdict(worker_state(r->w[arm])),
	     worker_why(r->w[arm]));
}

#if defined(__x86_64__)
static void flush(const void *from, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += 64)
		_mm_clflush((const char *)from + i);
}

static void flush_all(const struct run *r)
{
	int a, arg, slot;

	flush(r->in.map, r->layout.in_size);
	for (a = 0; a < r->l->nr_arms; a++)
		for (slot = 0; r->w[a] && slot < r->l->slots; slot++)
			for (arg = 0; arg < r->l->kernel->nr_args; arg++)
				if (layout_at(&r->layout, slot, arg)->writable)
					flush(worker_out(r->w[a], slot, arg),
					      layout_at(&r->layout, slot,
							arg)->bytes);
	_mm_mfence();
}
#endif

/* Reading twice the cache pushes everything else out of it. */
static void flood(size_t size)
{
	static unsigned char *trash;
	static size_t trash_size;
	volatile unsigned char sink = 0;
	size_t i;

	if (trash_size < size) {
		free(trash);
		trash = xmalloc(size);
		memset(trash, 1, size);
		trash_size = size;
	}
	for (i = 0; i < size; i += 64)
		sink = (unsigned char)(sink + trash[i]);
}

/* Empties the cache as far as the section's `cache` says. */
static void chill(const struct run *r)
{
	switch (r->l->kernel->cache) {
	case CACHE_HOT:
		return;
	case CACHE_LLC:
		flood(2 * cache_bytes(2));
		return;
	case CACHE_COLD:
#if defined(__x86_64__)
		flush_all(r);
#else
		flood(2 * cache_bytes(3));
#endif
		return;
	}
}

/* Takes n undrawn sets; false when too few are left. */
static bool draw(struct run *r, int n, int *set)
{
	struct pool *p = r->l->pool;
	int i;

	if (p->nr - r->next < n)
		return false;
	for (i = 0; i < n; i++) {
		set[i] = r->order[r->next++];
		pool_used(p, set[i]);
	}
	return true;
}

static int sample_size(const struct launch *l, const struct set *set,
		       bool whole)
{
	int64_t n = 0;
	int i;

	for (i = 0; i < l->kernel->nr_args; i++)
		if (set->own[i])
			n += set->rows[i].elems;
	if (whole || n <= FULL_ELEMS || !dice_below(l->dice, 4))
		return 0;
	return SAMPLE;
}

static void verify(struct run *r, int arm, const int *set, int n, bool whole)
{
	struct launch *l = r->l;
	struct buf why = BUF_INIT;
	int i;

	for (i = 0; i < n; i++) {
		const struct set *s = l->pool->set[set[i]];

		if (set_verify(s, &r->layout, r->w[arm], i,
			       sample_size(l, s, whole), l->dice, &why))
			continue;
		if (*l->shape->text)
			buf_addf(&why, ", at %s", l->shape->text);
		buf_addf(&why, " (%s)", regime_name(s->regime));
		fail(&l->arm[arm], V_WRONG, why.ptr);
		break;
	}
	buf_release(&why);
}

/*
 * One hand-off of one arm on the drawn sets; *ns: a call.  Each arm finds its
 * inputs as the judge has just written them, whatever the arm before it did
 * to the cache.
 */
static int call_arm(struct run *r, int arm, const int *set, int n, bool whole,
		    double *ns, struct err *err)
{
	struct launch *l = r->l;
	enum worker_state state;
	struct call_time t;
	double total;
	int i, ret;

	for (i = 0; i < n; i++)
		set_load(l->pool->set[set[i]], &r->in, i);
	worker_poison(r->w[arm], 0, n,
		      ((uint64_t)dice_u32(l->dice) << 32) |
		      dice_u32(l->dice));
	for (i = 0; i < n; i++)
		set_load_inout(l->pool->set[set[i]], &r->layout, r->w[arm],
			       i);
	chill(r);
	ret = worker_call(r->w[arm], 0, n, false, l->timeout_s, &t, &state,
			  err);
	if (ret)
		return ret;
	if (state != WORKER_OK) {
		fail_state(r, arm);
		return 0;
	}
	total = (l->kernel->threads > 1 ? t.wall_ns : t.cpu_ns) -
		r->empty_ns[arm];
	/* Never nothing: a ratio needs two times. */
	*ns = fmax(total, 1) / n;
	verify(r, arm, set, n, whole);
	return 0;
}

/* All arms on one draw, in random order. */
static int round_run(struct run *r, int n, bool whole, double *ns,
		     bool *drawn, struct err *err)
{
	struct launch *l = r->l;
	int set[LAYOUT_MAX_SLOTS], order[LAUNCH_MAX_ARMS], i, ret;

	*drawn = draw(r, n, set);
	if (!*drawn)
		return 0;
	for (i = 0; i < l->nr_arms; i++)
		order[i] = i;
	dice_shuffle(l->dice, order, l->nr_arms);
	for (i = 0; i < l->nr_arms; i++) {
		int arm = order[i];

		ns[arm] = NAN;
		if (l->arm[arm].verdict != V_NONE)
			continue;
		ret = call_arm(r, arm, set, n, whole, &ns[arm], err);
		if (ret)
			return ret;
		if (l->arm[0].verdict != V_NONE)
			return 0;
	}
	return 0;
}

static int calibrate(struct run *r, int arm, struct err *err)
{
	double v[EMPTY_CALLS];
	int i, ret;

	for (i = 0; i < EMPTY_CALLS; i++) {
		enum worker_state state;
		struct call_time t;

		ret = worker_call(r->w[arm], 0, r->l->slots, true, 2, &t,
				  &state, err);
		if (ret)
			return ret;
		if (state != WORKER_OK) {
			fail_state(r, arm);
			return 0;
		}
		v[i] = r->l->kernel->threads > 1 ? t.wall_ns : t.cpu_ns;
	}
	r->empty_ns[arm] = stats_median(v, EMPTY_CALLS);
	return 0;
}

static int start_arms(struct run *r, struct err *err)
{
	struct launch *l = r->l;
	int i, ret;

	for (i = 0; i < l->nr_arms; i++) {
		if (l->arm[i].verdict != V_NONE)
			continue;
		ret = worker_start(&r->w[i], l->arm[i].so, &r->in, &l->limits,
				   err);
		if (ret)
			return ret;
		if (worker_state(r->w[i]) != WORKER_OK) {
			fail_state(r, i);
			continue;
		}
		ret = calibrate(r, i, err);
		if (ret)
			return ret;
	}
	return 0;
}

static bool takes_singles(const struct launch *l)
{
	return l->singles && l->slots > 1;
}

static int run_rounds(struct run *r, struct err *err)
{
	struct launch *l = r->l;
	double ns[LAUNCH_MAX_ARMS];
	int keep = takes_singles(l) ? LAUNCH_SINGLES : 0, left;
	bool drawn = true;
	int i, k, ret;

	for (i = 0; i < l->warm + l->rounds && drawn; i++) {
		left = l->pool->nr - r->next - keep;
		/* Too few sets for both: measuring goes first. */
		if (i < l->warm && left < 2 * l->slots)
			continue;
		/* But not before the single calls, which guard it. */
		if (l->rounds_done && left < l->slots)
			return 0;
		ret = round_run(r, l->slots, i == 0, ns, &drawn, err);
		if (ret || l->arm[0].verdict != V_NONE)
			return ret;
		if (!drawn)
			return 0;
		r->hopeless = l->hopeless > 0 && l->nr_arms > 1 &&
			      l->arm[1].verdict == V_NONE &&
			      ns[0] > l->hopeless * ns[1];
		if (i < l->warm && !r->hopeless)
			continue;
		for (k = 0; k < l->nr_arms; k++)
			if (l->arm[k].verdict == V_NONE)
				l->arm[k].ns[l->arm[k].nr++] = ns[k];
		l->rounds_done++;
		if (r->hopeless)
			return 0;
	}
	return 0;
}

static int run_singles(struct run *r, struct err *err)
{
	struct launch *l = r->l;
	double v[LAUNCH_MAX_ARMS][SHORT_SINGLES], ns[LAUNCH_MAX_ARMS];
	double gap[SHORT_SINGLES];
	int i, k, ret, nr, want = SINGLES;
	bool drawn;

	for (i = 0; i < l->nr_arms; i++)
		if (l->arm[i].median_ns > 0)
			want = (int)fmax(want,
					 launch_singles(l->arm[i].median_ns));
	for (nr = 0; nr < want; nr++) {
		ret = round_run(r, 1, false, ns, &drawn, err);
		if (ret || l->arm[0].verdict != V_NONE)
			return ret;
		if (!drawn)
			break;
		for (k = 0; k < l->nr_arms; k++)
			v[k][nr] = ns[k];
	}
	for (i = 0; nr >= LAUNCH_SINGLES && i < l->nr_arms; i++)
		if (l->arm[i].verdict == V_NONE)
			l->arm[i].single_ns = stats_median(v[i], nr);
	for (i = 0; nr >= LAUNCH_SINGLES && l->nr_arms > 1 && i < nr; i++)
		gap[i] = v[0][i] - v[1][i];
	l->single_gap_ns = l->nr_arms > 1 ? stats_median(gap, nr) : NAN;
	return 0;
}

/* Work done outside of the calls is work that was not timed. */
static void ledger(struct run *r)
{
	struct launch *l = r->l;
	int i, j;

	for (i = 0; i < l->nr_arms; i++) {
		struct launch_arm *a = &l->arm[i];
		double sum = 0, extra;
		char *why;

		if (a->verdict != V_NONE || !r->w[i])
			continue;
		for (j = 0; j < a->nr; j++)
			sum += a->ns[j] * l->slots;
		extra = worker_unaccounted_ns(r->w[i]);
		if (extra <= fmax(2e6, 0.05 * sum))
			continue;
		why = xasprintf("%.1f ms of CPU time outside of the calls",
				extra * 1e-6);
		fail(a, V_CHEAT, why);
		free(why);
	}
}

static void draw_placement(struct launch *l)
{
	/* Half of the launches keep whole vectors together. */
	static const unsigned step[] = { 64, 4 };
	unsigned s = step[dice_below(l->dice, 2)];

	l->placement.offset = s * (unsigned)dice_below(l->dice, 4096 / s);
	l->placement.right = dice_below(l->dice, 2);
}

static void close_run(struct run *r)
{
	int i;

	for (i = 0; i < r->l->nr_arms; i++)
		worker_end(r->w[i]);
	arena_close(&r->in);
	layout_release(&r->layout);
	free(r->order);
}

static void settle_times(struct launch *l)
{
	int i;

	for (i = 0; i < l->nr_arms; i++)
		l->arm[i].median_ns = stats_median(l->arm[i].ns,
						   l->arm[i].nr);
}

int launch_run(struct launch *l, struct err *err)
{
	struct run r;
	int ret;

	memset(&r, 0, sizeof(r));
	r.l = l;
	l->rounds_done = 0;
	draw_placement(l);
	ret = layout_make(&r.layout, l->kernel, l->shape, false, l->slots,
			  l->placement, err);
	if (ret)
		return ret;
	ret = arena_open(&r.in, &r.layout, err);
	if (ret) {
		layout_release(&r.layout);
		return ret;
	}
	r.order = xcalloc((size_t)l->pool->nr + 1, sizeof(*r.order));
	pool_order(l->pool, r.order, l->fresh_first);
	ret = start_arms(&r, err);
	if (!ret && l->arm[0].verdict == V_NONE)
		ret = run_rounds(&r, err);
	settle_times(l);
	if (!ret && takes_singles(l) && l->rounds_done && !r.hopeless &&
	    l->arm[0].verdict == V_NONE)
		ret = run_singles(&r, err);
	if (!ret)
		ledger(&r);
	close_run(&r);
	return ret;
}

double launch_ratio(const struct launch_arm *a, const struct launch_arm *b)
{
	double d[LAUNCH_MAX_ROUNDS];
	int n = a->nr < b->nr ? a->nr : b->nr, i;

	for (i = 0; i < n; i++)
		d[i] = log(b->ns[i]) - log(a->ns[i]);
	return stats_median(d, n);
}

double launch_single_ratio(const struct launch *l)
{
	const struct launch_arm *x = &l->arm[0], *y = &l->arm[1];
	double noise = l->kernel->threads > 1 ? WALL_NOISE_NS :
						SINGLE_NOISE_NS, own;

	if (!(x->single_ns > 0) || !(y->single_ns > 0))
		return NAN;
	if (fmin(x->median_ns, y->median_ns) >= SHORT_NS)
		return log(y->single_ns) - log(x->single_ns);
	/* By itself a call costs more than in a batch, both arms the same. */
	own = y->median_ns + l->single_gap_ns;
	if (own > x->median_ns)
		own = fmax(own - noise, x->median_ns);
	own = fmax(own, x->median_ns / 2);
	return log(y->median_ns) - log(own);
}
