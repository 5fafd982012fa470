#include "core/judge/pool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"

#define GROW_STEP 512

void pool_init(struct pool *p, struct oracle *o, const struct shape *s,
	       size_t max_bytes)
{
	memset(p, 0, sizeof(*p));
	p->oracle = o;
	p->shape = s;
	p->max_bytes = max_bytes;
	dice_init(&p->dice);
}

void pool_release(struct pool *p)
{
	int i;

	for (i = 0; i < p->nr; i++)
		set_free(p->set[i]);
	free(p->set);
	memset(p, 0, sizeof(*p));
}

static double own_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Adds exactly n sets. */
static int add_sets(struct pool *p, int n, struct err *err)
{
	struct set **fresh = xcalloc((size_t)n, sizeof(*fresh));
	double ns = 0, start = own_seconds();
	int i, ret;

	for (i = 0; i < n; i++) {
		struct seed seed;

		seed_random(&seed);
		/* Every third set is plain, the others mix scales. */
		fresh[i] = set_new(&seed, dice_below(&p->dice, 3) ?
				   REGIME_MIXED : REGIME_PLAIN,
				   SPECIAL_NONE, 0);
	}
	ret = oracle_answer(p->oracle, p->shape, fresh, n, &ns, err);
	for (i = 0; i < n; i++) {
		if (ret) {
			set_free(fresh[i]);
			continue;
		}
		GROW(p->set, p->nr, p->cap);
		p->set[p->nr++] = fresh[i];
		p->bytes += fresh[i]->bytes;
	}
	free(fresh);
	if (ret)
		return ret;
	/* Making and comparing counts as well as the oracle. */
	p->set_s = ns * 1e-9 + (own_seconds() - start) / n;
	p->spent_s += ns * 1e-9 * n;
	return 0;
}

static size_t set_bytes(const struct pool *p)
{
	return p->nr ? p->bytes / (size_t)p->nr : 0;
}

/* Sets that time and memory still allow; at most n. */
static int affordable(const struct pool *p, int n, double left_s)
{
	size_t room = p->bytes < p->max_bytes ? p->max_bytes - p->bytes : 0;

	if (POOL_ORACLE_S - p->spent_s < left_s)
		left_s = POOL_ORACLE_S - p->spent_s;
	if (!(n * p->set_s <= left_s))
		n = left_s > 0 ? (int)(left_s / p->set_s) : 0;
	if (set_bytes(p) && (size_t)n > room / set_bytes(p))
		n = (int)(room / set_bytes(p));
	return n;
}

int pool_grow(struct pool *p, int want, int least, double budget_s,
	      struct err *err)
{
	double used = 0;
	int n, ret;

	while (p->nr < want) {
		/* The first one tells what the others cost. */
		n = p->nr ? affordable(p, want - p->nr, budget_s - used) : 1;
		if (n < least - p->nr)
			n = least - p->nr;
		if (n < 1)
			return 0;
		if (n > GROW_STEP)
			n = GROW_STEP;
		ret = add_sets(p, n, err);
		if (ret)
			return ret;
		used += n * p->set_s;
	}
	return 0;
}

static void drop_most_used(struct pool *p)
{
	int i, at = 0;

	for (i = 1; i < p->nr; i++)
		if (p->set[i]->launches > p->set[at]->launches)
			at = i;
	p->bytes -= p->set[at]->bytes;
	set_free(p->set[at]);
	p->set[at] = p->set[--p->nr];
}

int pool_refresh(struct pool *p, int n, struct err *err)
{
	size_t each = set_bytes(p);
	int i, unused = 0;

	for (i = 0; i < p->nr; i++)
		unused += !p->set[i]->launches;
	if (unused >= n)
		return 0;
	n -= unused;
	while (p->nr > n && p->bytes + (size_t)n * each > p->max_bytes)
		drop_most_used(p);
	return add_sets(p, n, err);
}

void pool_order(struct pool *p, int *out, bool fresh_first)
{
	int i, front = 0;

	for (i = 0; i < p->nr; i++)
		out[i] = i;
	dice_shuffle(&p->dice, out, p->nr);
	for (i = 0; fresh_first && i < p->nr; i++) {
		int swap = out[i];

		if (p->set[swap]->launches)
			continue;
		out[i] = out[front];
		out[front++] = swap;
	}
}

void pool_used(struct pool *p, int set)
{
	p->set[set]->launches++;
}
