#include "core/rng.h"

/* The constants of splitmix64 and xoshiro256** (Blackman and Vigna). */
static uint64_t splitmix(uint64_t *state)
{
	uint64_t z;

	*state += 0x9e3779b97f4a7c15u;
	z = *state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int bits)
{
	return (x << bits) | (x >> (64 - bits));
}

void rng_init(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix(&seed);
}

uint64_t rng_next(struct rng *r)
{
	uint64_t result = rotate(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = rotate(r->s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *r, uint64_t bound)
{
	/* 2^64 mod bound values at the low end would be one too likely. */
	uint64_t skip = (0 - bound) % bound, x;

	do {
		x = rng_next(r);
	} while (x < skip);
	return x % bound;
}

double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

uint64_t rng_mix(uint64_t a, uint64_t b)
{
	uint64_t state = a;

	state = splitmix(&state) ^ b;
	return splitmix(&state);
}

uint64_t rng_hash(const void *data, uint64_t len)
{
	const unsigned char *p = data;
	uint64_t h = rng_mix(0, len);

	for (uint64_t i = 0; i < len; i++)
		h = rng_mix(h, p[i]);
	return h;
}
