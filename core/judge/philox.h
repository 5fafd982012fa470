/*
 * Philox4x32-10, the counter generator that makes all inputs: block n of a
 * stream needs no other block, so any runner on any device can make the same
 * bits.  A seed is 128 secret bits w0..w3.  Block n of stream s is
 *
 *	philox4x32-10(counter = { n, s, w2, w3 }, key = { w0, w1 })
 */
#ifndef CORE_JUDGE_PHILOX_H
#define CORE_JUDGE_PHILOX_H

#include <stdint.h>

struct seed {
	uint32_t w[4];
};

void philox4x32(const uint32_t counter[4], const uint32_t key[2],
		uint32_t out[4]);
void seed_block(const struct seed *s, uint32_t stream, uint32_t n,
		uint32_t out[4]);
/* From the kernel's generator; ends the program if there is none. */
void seed_random(struct seed *s);
/* 16 hex digits that tell seeds apart and do not give them away. */
void seed_hash(const struct seed *s, char out[17]);

/* A small sequential source of the judge's own secret choices. */
struct dice {
	struct seed seed;
	uint32_t stream, block;
	uint32_t word[4];
	int left;
};
void dice_init(struct dice *d);			/* secret */
void dice_init_from(struct dice *d, const struct seed *s, uint32_t stream);
uint32_t dice_u32(struct dice *d);
uint64_t dice_below(struct dice *d, uint64_t n);	/* 0 .. n-1; n > 0 */
void dice_shuffle(struct dice *d, int *v, int n);

#endif
