#include "core/judge/holdout.h"

#include <math.h>
#include <string.h>

#define HOLDOUT_ROUNDS 5
#define HOLDOUT_SLOW_NS 5e7	/* root calls over this: fewer shapes */

struct holding {
	struct session *s;
	const struct artefact *cand;
	struct record *rec;
	struct holdouts *out;
};

struct near {			/* where a hold-out shape is drawn */
	const struct kernel *k;
	const struct shape *at;
	int kind;		/* 0 neighbour, 1 a prime, 2 half or double */
	bool twice;
};

static bool is_prime(int64_t n)
{
	int64_t i;

	if (n < 2)
		return false;
	for (i = 2; i * i <= n; i++)
		if (n % i == 0)
			return false;
	return true;
}

static int64_t prime_near(struct dice *d, int64_t n)
{
	int64_t span = n / 8 + 3;
	int64_t p = n - span / 2 + (int64_t)dice_below(d, (uint64_t)span);

	while (p > 2 && !is_prime(p))
		p--;
	return p < 1 ? 1 : p;
}

static int64_t pick_near(struct dice *d, int dim, const void *ctx)
{
	const struct near *n = ctx;
	int64_t v = n->at->dim[dim];

	/* `require` may tie a dim to others: leave some of them alone. */
	if (!dice_below(d, 3))
		return v;
	switch (n->kind) {
	case 0:
		v += (int64_t)dice_below(d, 3) - 1;
		break;
	case 1:
		v = prime_near(d, v);
		break;
	default:
		v = n->twice && dice_below(d, 2) ? 2 * v : (v + 1) / 2;
		break;
	}
	return v < 1 ? 1 : v;
}

static bool is_seen(const struct holding *c, const struct shape *shape)
{
	const struct kernel *k = c->s->kernel;
	int i;

	for (i = 0; i < k->nr_time; i++)
		if (shape_equal(k, &k->time[i], shape))
			return true;
	for (i = 0; i < c->s->suite.nr; i++)
		if (shape_equal(k, &c->s->suite.v[i].shape, shape))
			return true;
	for (i = 0; i < c->out->nr; i++)
		if (shape_equal(k, &c->out->v[i].shape, shape))
			return true;
	return false;
}

/* A legal shape near a timed one that nobody has seen; false: none found. */
static bool draw_holdout(struct holding *c, int kind, bool small,
			 struct shape *out)
{
	struct session *s = c->s;
	const struct timed *t;
	struct near n;
	double elems = 0;
	int try;

	t = &s->timed[dice_below(&s->dice, (uint64_t)s->nr_timed)];
	n.k = s->kernel;
	n.at = &t->shape;
	n.kind = kind;
	n.twice = !small;
	shape_is_usable(s->kernel, &t->shape, &elems);
	for (try = 0; try < 20; try++) {
		if (!shape_draw(s->kernel, &s->dice,
				elems * (small ? 1.1 : 2.1) + 64, pick_near,
				&n, out))
			return false;
		if (!is_seen(c, out))
			return true;
		shape_release(out);
	}
	return false;
}

static int holdout_launch(struct holding *c, struct holdout *h,
			  struct pool *pool, size_t footprint, double cand_ns,
			  double root_ns, struct err *err)
{
	struct session *s = c->s;
	int nr = s->baseline_so ? 3 : 2, i, ret;
	struct launch_arm arm[3];
	struct launch l;

	launch_arm_init(&arm[0], c->cand->so);
	launch_arm_init(&arm[1], s->art[0].so);
	launch_arm_init(&arm[2], s->baseline_so);
	ret = session_plan(s, pool, footprint, arm, nr,
			   fmin(cand_ns, root_ns),
			   cand_ns + (nr - 1) * root_ns, HOLDOUT_ROUNDS, &l,
			   err);
	l.singles = false;
	if (!ret)
		ret = launch_run(&l, err);
	if (!ret && arm[0].verdict != V_NONE)
		session_stop(c->rec, arm[0].verdict, "%s (a shape held out)",
			     arm[0].why);
	else if (!ret && arm[0].nr && arm[1].verdict == V_NONE &&
		 arm[nr - 1].verdict == V_NONE) {
		h->lr[h->n] = launch_ratio(&arm[0], &arm[1]);
		h->base_lr[h->n] = launch_ratio(&arm[0], &arm[nr - 1]);
		h->ns[h->n] = arm[0].median_ns;
		h->base_ns[h->n] = arm[nr - 1].median_ns;
		h->n++;
	}
	for (i = 0; i < 3; i++)
		launch_arm_release(&arm[i]);
	return ret;
}

/* The footprint and the work of a shape, as for the timed ones. */
static int holdout_size(struct holding *c, struct holdout *h,
			size_t *footprint, struct err *err)
{
	const struct kernel *k = c->s->kernel;
	int i, ret = kernel_work(k, &h->shape, &h->flops, &h->bytes, err);

	*footprint = 0;
	for (i = 0; !ret && i < k->nr_args; i++) {
		int64_t n = 0;

		if (k->arg[i].kind == ARG_DIM)
			continue;
		ret = kernel_arg_elems(k, &k->arg[i], &h->shape, &n, err);
		*footprint += (size_t)n * dtype_size(k->arg[i].type);
	}
	return ret;
}

/*
 * Takes the shape.  A shape at which the reference itself fails is not one
 * that the kernel is for, whatever `require` says: left out.
 */
static int run_holdout(struct holding *c, struct shape *shape,
		       double scale, struct err *err)
{
	struct session *s = c->s;
	struct holdout *h = &c->out->v[c->out->nr];
	double cand_ns = session_known_ns(s, c->cand, 0) * scale;
	double root_ns = s->timed[0].root_ns * scale;
	struct pool pool;
	size_t footprint;
	int i, ret;

	memset(h, 0, sizeof(*h));
	h->shape = *shape;
	memset(shape, 0, sizeof(*shape));
	ret = holdout_size(c, h, &footprint, err);
	pool_init(&pool, &s->oracle, &h->shape, (size_t)64 << 20);
	if (!ret)
		ret = pool_grow(&pool, 2, 2, 1, err);
	if (ret == ERR_FORMAT) {
		pool_release(&pool);
		shape_release(&h->shape);
		return 0;
	}
	for (i = 0; !ret && c->rec->verdict == V_NONE &&
	     i < HOLDOUT_LAUNCHES; i++) {
		ret = holdout_launch(c, h, &pool, footprint, cand_ns, root_ns,
				     err);
		if (h->n) {
			cand_ns = h->ns[h->n - 1];
			root_ns = cand_ns * exp(h->lr[h->n - 1]);
		}
	}
	pool_release(&pool);
	c->out->nr++;
	return ret;
}

int holdouts_run(struct holdouts *h, struct session *s,
		 const struct artefact *cand, struct record *rec,
		 struct err *err)
{
	struct holding c = { s, cand, rec, h };
	bool small = s->timed[0].root_ns > HOLDOUT_SLOW_NS;
	int nr = s->timed[0].root_ns > 10 * HOLDOUT_SLOW_NS ? 1 :
		 small ? 2 : HOLDOUTS, i, ret = 0;

	if (s->kernel->shapes_fixed || !s->kernel->nr_dims)
		return 0;
	for (i = 0; !ret && rec->verdict == V_NONE && i < nr; i++) {
		/* The dear ones take the half, which is the cheapest. */
		int kind = small && i == 0 ? 2 : small ? 0 : i;
		struct shape shape;
		struct err own = ERR_INIT;
		double flops, bytes, scale;

		if (!draw_holdout(&c, kind, small, &shape))
			continue;
		if (kernel_work(s->kernel, &shape, &flops, &bytes, &own)) {
			shape_release(&shape);
			continue;
		}
		session_say(s, "a shape held out: %s", shape.text);
		scale = s->timed[0].flops > 0 ?
			flops / s->timed[0].flops :
			bytes / s->timed[0].bytes;
		ret = run_holdout(&c, &shape, scale, err);
	}
	return ret;
}

void holdouts_release(struct holdouts *h)
{
	int i;

	for (i = 0; i < h->nr; i++)
		shape_release(&h->v[i].shape);
	h->nr = 0;
}
