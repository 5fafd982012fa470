/*
 * A small deterministic generator (xoshiro256**, seeded by splitmix64): equal
 * on every machine, fast, not for secrets.  All choices of a search come from
 * it, so that a seed replays them.
 */
#ifndef CORE_RNG_H
#define CORE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
/* 0 <= result < bound, each equally likely; bound is not 0. */
uint64_t rng_below(struct rng *r, uint64_t bound);
/* 0 <= result < 1, in steps of 2^-53. */
double rng_unit(struct rng *r);

/*
 * A seed out of two: for the n-th step of a seeded search, say.  Every bit of
 * the result depends on every bit of both.
 */
uint64_t rng_mix(uint64_t a, uint64_t b);
/* A seed out of bytes. */
uint64_t rng_hash(const void *data, uint64_t len);

#endif
