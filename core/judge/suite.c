#include "core/judge/suite.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define DRAW_TRIES 400
#define ODD_ELEMS 1e6
#define SPECIAL_ELEMS 4e5	/* special values at shapes up to this */
#define SPECIAL_SHAPES 2

bool shape_equal(const struct kernel *k, const struct shape *a,
		 const struct shape *b)
{
	return !memcmp(a->dim, b->dim, (size_t)k->nr_dims * sizeof(a->dim[0]));
}

bool shape_is_usable(const struct kernel *k, const struct shape *s,
		     double *elems)
{
	struct err err = ERR_INIT;
	struct rows r;
	int i;

	*elems = 0;
	if (kernel_shape_legal(k, s, &err) != 1)
		return false;
	for (i = 0; i < k->nr_args; i++) {
		if (k->arg[i].kind == ARG_DIM)
			continue;
		if (rows_of(k, i, s, &r, &err) || r.elems < 1)
			return false;
		*elems += (double)r.elems;
	}
	return true;
}

bool shape_draw(const struct kernel *k, struct dice *d, double max_elems,
		int64_t (*pick)(struct dice *d, int dim, const void *ctx),
		const void *ctx, struct shape *out)
{
	int try, i;
	double elems;

	memset(out, 0, sizeof(*out));
	for (try = 0; try < DRAW_TRIES; try++) {
		for (i = 0; i < k->nr_dims; i++)
			out->dim[i] = pick(d, i, ctx);
		if (!shape_is_usable(k, out, &elems) || elems > max_elems)
			continue;
		kernel_shape_text(k, out);
		return true;
	}
	return false;
}

/* ---- making ---- */

static int64_t pick_odd(struct dice *d, int dim, const void *ctx)
{
	static const int64_t odd[] = {
		1, 1, 2, 3, 5, 7, 8, 11, 13, 16, 17, 19, 23, 29, 31, 33, 37,
		47, 61, 64, 67, 97, 101
	};

	(void)dim;
	(void)ctx;
	return odd[dice_below(d, ARRAY_SIZE(odd))];
}

static void add_set(struct suite_shape *v, enum regime regime,
		    enum special special, int arg)
{
	struct seed seed;

	seed_random(&seed);
	v->set = xreallocarray(v->set, (size_t)v->nr + 1, sizeof(*v->set));
	v->set[v->nr++] = set_new(&seed, regime, special, arg);
}

static bool takes_special(const struct arg *a)
{
	if (!input_is_read(a) || a->kind == ARG_DIM || !a->rank)
		return false;
	return a->type == DT_F32 || a->type == DT_F64;
}

static void add_sets(struct suite_shape *v, const struct kernel *k,
		     bool special)
{
	int i, s;

	for (i = 0; i < REGIME_NR; i++)
		add_set(v, (enum regime)i, SPECIAL_NONE, 0);
	if (!special || k->math == MATH_FINITE)
		return;
	for (i = 0; i < k->nr_args; i++)
		for (s = SPECIAL_NONE + 1;
		     s < SPECIAL_NR && takes_special(&k->arg[i]); s++)
			add_set(v, REGIME_PLAIN, (enum special)s, i);
}

static void free_shape(struct suite_shape *v)
{
	int i;

	for (i = 0; i < v->nr; i++)
		set_free(v->set[i]);
	free(v->set);
	shape_release(&v->shape);
	memset(v, 0, sizeof(*v));
}

static bool is_known(const struct suite *s, const struct shape *shape)
{
	int i;

	for (i = 0; i < s->nr; i++)
		if (shape_equal(s->kernel, &s->v[i].shape, shape))
			return true;
	return false;
}

/* Takes the shape's inside. */
static void push_shape(struct suite *s, struct shape *shape, double elems)
{
	s->v = xreallocarray(s->v, (size_t)s->nr + 1, sizeof(*s->v));
	memset(&s->v[s->nr], 0, sizeof(*s->v));
	s->v[s->nr].shape = *shape;
	s->v[s->nr].elems = elems;
	s->nr++;
	memset(shape, 0, sizeof(*shape));
}

static int by_elems(const void *a, const void *b)
{
	double x = ((const struct suite_shape *)a)->elems;
	double y = ((const struct suite_shape *)b)->elems;

	return (x > y) - (x < y);
}

static int add_declared(struct suite *s, struct err *err)
{
	const struct kernel *k = s->kernel;
	int i;

	for (i = 0; i < k->nr_check; i++) {
		struct shape shape;
		double elems;

		if (is_known(s, &k->check[i]))
			continue;
		if (!shape_is_usable(k, &k->check[i], &elems))
			return err_set(err, ERR_FORMAT,
				       "the check shape '%s' is not legal",
				       k->check[i].text);
		memset(&shape, 0, sizeof(shape));
		shape_copy(&shape, &k->check[i]);
		push_shape(s, &shape, elems);
	}
	return 0;
}

static int answer_shape(struct suite *s, struct suite_shape *v,
			struct oracle *o, bool special, struct err *err)
{
	add_sets(v, s->kernel, special);
	return oracle_answer(o, &v->shape, v->set, v->nr, NULL, err);
}

/* Odd shapes that the reference itself can do. */
static int add_odd(struct suite *s, struct oracle *o, struct dice *d,
		   struct err *err)
{
	int i, ret;

	for (i = 0; i < 2 * SUITE_ODD_SHAPES && s->kernel->nr_dims; i++) {
		struct shape shape;
		struct suite_shape v;

		if (!shape_draw(s->kernel, d, ODD_ELEMS, pick_odd, NULL,
				&shape))
			return 0;
		if (is_known(s, &shape)) {
			shape_release(&shape);
			continue;
		}
		memset(&v, 0, sizeof(v));
		v.shape = shape;
		shape_is_usable(s->kernel, &shape, &v.elems);
		ret = answer_shape(s, &v, o, i < SPECIAL_SHAPES, err);
		if (ret == ERR_FORMAT) {
			free_shape(&v);
			continue;
		}
		if (ret) {
			free_shape(&v);
			return ret;
		}
		s->v = xreallocarray(s->v, (size_t)s->nr + 1, sizeof(*s->v));
		s->v[s->nr++] = v;
		if (s->nr >= s->kernel->nr_check + SUITE_ODD_SHAPES)
			return 0;
	}
	return 0;
}

/* No odd shape is legal and none was declared: the smallest timed one, since
 * nothing is right unchecked. */
static int add_timed(struct suite *s, struct oracle *o, struct err *err)
{
	const struct kernel *k = s->kernel;
	const struct shape *least = &k->time[0];
	struct shape shape = { .text = NULL };
	double elems, few;

	if (s->nr || !k->nr_time)
		return 0;
	shape_is_usable(k, least, &few);
	for (int i = 1; i < k->nr_time; i++) {
		if (!shape_is_usable(k, &k->time[i], &elems) || elems >= few)
			continue;
		least = &k->time[i];
		few = elems;
	}
	shape_copy(&shape, least);
	push_shape(s, &shape, few);
	return answer_shape(s, &s->v[0], o, few <= SPECIAL_ELEMS, err);
}

int suite_open(struct suite *s, const struct kernel *k, struct oracle *o,
	       struct dice *d, struct err *err)
{
	int i, ret;

	memset(s, 0, sizeof(*s));
	s->kernel = k;
	ret = add_declared(s, err);
	for (i = 0; !ret && i < s->nr; i++)
		ret = answer_shape(s, &s->v[i], o, k->nr_dims == 0 ||
				   (i < SPECIAL_SHAPES &&
				    s->v[i].elems <= SPECIAL_ELEMS), err);
	if (!ret)
		ret = add_odd(s, o, d, err);
	if (!ret)
		ret = add_timed(s, o, err);
	if (s->nr)
		qsort(s->v, (size_t)s->nr, sizeof(*s->v), by_elems);
	return ret;
}

void suite_close(struct suite *s)
{
	int i;

	for (i = 0; i < s->nr; i++)
		free_shape(&s->v[i]);
	free(s->v);
	memset(s, 0, sizeof(*s));
}

void suite_result_release(struct suite_result *r)
{
	free(r->why);
	r->why = NULL;
}

/* ---- running ---- */

static void describe(struct buf *b, const struct shape *shape,
		     const struct set *set, const struct kernel *k)
{
	if (*shape->text)
		buf_addf(b, ", at %s", shape->text);
	if (set->special == SPECIAL_NONE)
		buf_addf(b, " (%s)", regime_name(set->regime));
	else
		buf_addf(b, " (%s in '%s')", special_name(set->special),
			 k->arg[set->special_arg].name);
}

static void fail(struct suite_result *out, enum verdict v, struct buf *why,
		 const struct shape *shape, const struct set *set,
		 const struct kernel *k)
{
	describe(why, shape, set, k);
	out->verdict = v;
	out->why = buf_detach(why);
}

struct bench {			/* one worker at one shape */
	struct layout layout;
	struct arena in;
	struct worker *w;
	double timeout_s;
	struct dice *d;
};

static int bench_call(struct bench *b, const struct set *set,
		      struct suite_result *out, struct err *err)
{
	enum worker_state state = worker_state(b->w);
	struct call_time t;
	struct buf why = BUF_INIT;
	int ret;

	if (state == WORKER_OK) {
		set_load(set, &b->in, 0);
		worker_poison(b->w, 0, 1, ((uint64_t)dice_u32(b->d) << 32) |
			      dice_u32(b->d));
		set_load_inout(set, &b->layout, b->w, 0);
		ret = worker_call(b->w, 0, 1, false, b->timeout_s, &t, &state,
				  err);
		if (ret)
			return ret;
	}
	if (state != WORKER_OK) {
		buf_addstr(&why, worker_why(b->w));
		fail(out, worker_verdict(state), &why, b->layout.shape, set,
		     b->layout.kernel);
	} else if (!set_verify(set, &b->layout, b->w, 0, 0, b->d, &why)) {
		fail(out, V_WRONG, &why, b->layout.shape, set,
		     b->layout.kernel);
	}
	buf_release(&why);
	return 0;
}

/* All sets in one worker; takes the layout. */
static int bench_sets(struct bench *b, struct set *const *set, int nr,
		      const char *so, const struct worker_limits *lim,
		      struct suite_result *out, struct err *err)
{
	int i, ret = arena_open(&b->in, &b->layout, err);

	if (ret) {
		layout_release(&b->layout);
		return ret;
	}
	ret = worker_start(&b->w, so, &b->in, lim, err);
	for (i = 0; !ret && i < nr && out->verdict == V_NONE; i++)
		ret = bench_call(b, set[i], out, err);
	/* The first again: state kept from later calls would show. */
	if (!ret && nr > 1 && out->verdict == V_NONE)
		ret = bench_call(b, set[0], out, err);
	worker_end(b->w);
	arena_close(&b->in);
	layout_release(&b->layout);
	return ret;
}

static int bench_run(const struct kernel *k, const struct shape *shape,
		     struct set *const *set, int nr, const char *so,
		     const struct worker_limits *lim, double timeout_s,
		     struct placement p, struct dice *d,
		     struct suite_result *out, struct err *err)
{
	struct bench b;
	int ret;

	memset(&b, 0, sizeof(b));
	b.timeout_s = timeout_s;
	b.d = d;
	ret = layout_make(&b.layout, k, shape, false, 1, p, err);
	return ret ? ret : bench_sets(&b, set, nr, so, lim, out, err);
}

static struct placement draw_placement(struct dice *d, bool right)
{
	struct placement p;

	p.right = right;
	p.offset = 4 * (unsigned)dice_below(d, 1024);
	return p;
}

/* The same with an input in the place of an output. */
static int bench_run_lent(const struct kernel *k, const struct shape *shape,
			  struct set *const *set, int nr, const char *so,
			  const struct worker_limits *lim, double timeout_s,
			  int arg, int to, struct dice *d,
			  struct suite_result *out, struct err *err)
{
	struct bench b;
	int ret;

	memset(&b, 0, sizeof(b));
	b.timeout_s = timeout_s;
	b.d = d;
	ret = layout_make_lent(&b.layout, k, shape, draw_placement(d, true),
			       arg, to, err);
	return ret ? ret : bench_sets(&b, set, nr, so, lim, out, err);
}

static int arg_named(const struct kernel *k, const char *name)
{
	int i;

	for (i = 0; i < k->nr_args; i++)
		if (k->arg[i].name && !strcmp(k->arg[i].name, name))
			return i;
	return -1;
}

/* The arguments of a pair of `alias`; false unless one is an input array and
 * the other an output of its type. */
static bool find_pair(const struct kernel *k, size_t pair, int *lent, int *to)
{
	int a = arg_named(k, k->alias.v[2 * pair]);
	int b = arg_named(k, k->alias.v[2 * pair + 1]);

	if (a < 0 || b < 0)
		return false;
	*lent = k->arg[a].kind == ARG_OUT ? b : a;
	*to = k->arg[a].kind == ARG_OUT ? a : b;
	return k->arg[*to].kind == ARG_OUT && k->arg[*lent].rank &&
	       (k->arg[*lent].kind == ARG_IN ||
		k->arg[*lent].kind == ARG_WEIGHT) &&
	       k->arg[*lent].type == k->arg[*to].type &&
	       k->arg[*lent].align <= k->arg[*to].align;
}

/* One pair with one memory for both, at all shapes where they are of one
 * size.  *ran: it was at some. */
static int run_in_place(const struct suite *s, size_t pair, const char *so,
			const struct worker_limits *lim, double timeout_s,
			struct dice *d, bool *ran, struct suite_result *out,
			struct err *err)
{
	const struct kernel *k = s->kernel;
	int lent, to, i, ret = 0;
	char *why;

	*ran = false;
	if (!find_pair(k, pair, &lent, &to))
		return 0;
	for (i = 0; !ret && i < s->nr && out->verdict == V_NONE; i++) {
		const struct suite_shape *v = &s->v[i];
		const struct rows *r = v->set[0]->rows;

		if (r[lent].elems != r[to].elems ||
		    r[lent].stride != r[to].stride)
			continue;
		*ran = true;
		/* Plain regimes come first. */
		ret = bench_run_lent(k, &v->shape, v->set,
				     v->nr < REGIME_NR ? v->nr : REGIME_NR, so,
				     lim, timeout_s, lent, to, d, out, err);
	}
	if (out->verdict == V_NONE)
		return ret;
	why = xasprintf("with '%s' in the place of '%s': %s",
			k->arg[lent].name, k->arg[to].name, out->why);
	free(out->why);
	out->why = why;
	return ret;
}

int suite_find_in_place(struct suite *s, const char *root_so,
			const struct worker_limits *lim, double timeout_s,
			struct dice *d, struct err *err)
{
	size_t pair;
	int ret = 0;

	s->in_place = 0;
	for (pair = 0; !ret && pair < s->kernel->alias.nr / 2 && pair < 32;
	     pair++) {
		struct suite_result res = { V_NONE, NULL };
		bool ran;

		ret = run_in_place(s, pair, root_so, lim, timeout_s, d, &ran,
				   &res, err);
		if (!ret && ran && res.verdict == V_NONE)
			s->in_place |= 1u << pair;
		suite_result_release(&res);
	}
	return ret;
}

int suite_run(const struct suite *s, const char *so,
	      const struct worker_limits *lim, double timeout_s, bool brief,
	      struct dice *d, struct suite_result *out, struct err *err)
{
	int i, ret = 0, nr = brief && s->nr > 2 ? 2 : s->nr;

	out->verdict = V_NONE;
	out->why = NULL;
	for (i = 0; !ret && i < nr && out->verdict == V_NONE; i++) {
		const struct suite_shape *v = &s->v[i];

		ret = bench_run(s->kernel, &v->shape, v->set, v->nr, so, lim,
				timeout_s, draw_placement(d, i % 2 == 0), d,
				out, err);
		/* The smaller half against the other guard page, too. */
		if (!ret && !brief && out->verdict == V_NONE && 2 * i <= s->nr)
			ret = bench_run(s->kernel, &v->shape, v->set,
					v->nr < 2 ? v->nr : 2, so, lim,
					timeout_s,
					draw_placement(d, i % 2 != 0), d, out,
					err);
	}
	for (i = 0; !ret && !brief && out->verdict == V_NONE && i < 32; i++) {
		bool ran;

		if (s->in_place >> i & 1)
			ret = run_in_place(s, (size_t)i, so, lim, timeout_s, d,
					   &ran, out, err);
	}
	return ret;
}

int suite_run_set(const struct kernel *k, const struct shape *shape,
		  const struct set *set, const char *so,
		  const struct worker_limits *lim, double timeout_s,
		  struct dice *d, struct suite_result *out, struct err *err)
{
	struct set *one[1];

	out->verdict = V_NONE;
	out->why = NULL;
	memcpy(&one[0], &set, sizeof(set));
	return bench_run(k, shape, one, 1, so, lim, timeout_s,
			 draw_placement(d, dice_below(d, 2)), d, out, err);
}

static int pair_call(struct bench *b, const struct set *const *two,
		     struct suite_result *out, struct err *err)
{
	enum worker_state state;
	struct buf why = BUF_INIT;
	int i, ret;

	worker_poison(b->w, 0, 2, ((uint64_t)dice_u32(b->d) << 32) |
		      dice_u32(b->d));
	for (i = 0; i < 2; i++) {
		set_load(two[i], &b->in, i);
		set_load_inout(two[i], &b->layout, b->w, i);
	}
	ret = worker_pair(b->w, 0, 1, b->timeout_s, &state, err);
	if (ret)
		return ret;
	if (state != WORKER_OK) {
		buf_addf(&why, "called by two threads at once: %s",
			 worker_why(b->w));
		fail(out, worker_verdict(state), &why, b->layout.shape, two[0],
		     b->layout.kernel);
	}
	for (i = 0; i < 2 && out->verdict == V_NONE; i++) {
		buf_addstr(&why, "called by two threads at once: ");
		if (!set_verify(two[i], &b->layout, b->w, i, 0, b->d, &why))
			fail(out, V_WRONG, &why, b->layout.shape, two[i],
			     b->layout.kernel);
		buf_reset(&why);
	}
	buf_release(&why);
	return 0;
}

static int pair_calls(struct bench *b, struct set *const *set, int nr,
		      int tries, struct suite_result *out, struct err *err)
{
	int i, ret = 0;

	if (worker_state(b->w) != WORKER_OK) {
		out->verdict = worker_verdict(worker_state(b->w));
		out->why = xstrdup(worker_why(b->w));
		return 0;
	}
	for (i = 0; !ret && i < tries && out->verdict == V_NONE; i++) {
		int a = (int)dice_below(b->d, (uint64_t)nr);
		int z = (a + 1 + (int)dice_below(b->d, (uint64_t)nr - 1)) % nr;
		const struct set *two[2] = { set[a], set[z] };

		ret = pair_call(b, two, out, err);
	}
	return ret;
}

int suite_run_pair(const struct kernel *k, const struct shape *shape,
		   struct set *const *set, int nr, int tries, const char *so,
		   const struct worker_limits *lim, double timeout_s,
		   struct dice *d, struct suite_result *out, struct err *err)
{
	struct worker_limits two = *lim;
	struct bench b;
	int ret;

	out->verdict = V_NONE;
	out->why = NULL;
	if (nr < 2)
		return 0;
	memset(&b, 0, sizeof(b));
	b.timeout_s = timeout_s;
	b.d = d;
	two.pair = true;
	two.cpu = -1;		/* two at once need two CPUs */
	ret = layout_make(&b.layout, k, shape, false, 2,
			  draw_placement(d, true), err);
	if (ret)
		return ret;
	ret = arena_open(&b.in, &b.layout, err);
	if (ret) {
		layout_release(&b.layout);
		return ret;
	}
	ret = worker_start(&b.w, so, &b.in, &two, err);
	if (!ret)
		ret = pair_calls(&b, set, nr, tries, out, err);
	worker_end(b.w);
	arena_close(&b.in);
	layout_release(&b.layout);
	return ret;
}
