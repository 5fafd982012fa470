#include "core/judge/philox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define M0 0xD2511F53u
#define M1 0xCD9E8D57u
#define W0 0x9E3779B9u
#define W1 0xBB67AE85u

void philox4x32(const uint32_t counter[4], const uint32_t key[2],
		uint32_t out[4])
{
	uint32_t c0 = counter[0], c1 = counter[1];
	uint32_t c2 = counter[2], c3 = counter[3];
	uint32_t k0 = key[0], k1 = key[1];
	int round;

	for (round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)M0 * c0;
		uint64_t p1 = (uint64_t)M1 * c2;

		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += W0;
		k1 += W1;
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

void seed_block(const struct seed *s, uint32_t stream, uint32_t n,
		uint32_t out[4])
{
	const uint32_t counter[4] = { n, stream, s->w[2], s->w[3] };

	philox4x32(counter, s->w, out);
}

void seed_random(struct seed *s)
{
	ssize_t n;

	do {
		n = getrandom(s, sizeof(*s), 0);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(*s)) {
		/* No secret, no judge: guessable inputs prove nothing. */
		fputs("fatal: no random numbers from the kernel\n", stderr);
		abort();
	}
}

void seed_hash(const struct seed *s, char out[17])
{
	uint32_t a[4], b[4];

	/* One way: the output is used as the key of a second pass. */
	seed_block(s, UINT32_MAX, UINT32_MAX, a);
	philox4x32(s->w, a, b);
	snprintf(out, 17, "%08x%08x", (unsigned)(b[0] ^ a[2]),
		 (unsigned)(b[1] ^ a[3]));
}

void dice_init_from(struct dice *d, const struct seed *s, uint32_t stream)
{
	d->seed = *s;
	d->stream = stream;
	d->block = 0;
	d->left = 0;
}

void dice_init(struct dice *d)
{
	struct seed s;

	seed_random(&s);
	dice_init_from(d, &s, 0);
}

uint32_t dice_u32(struct dice *d)
{
	if (!d->left) {
		seed_block(&d->seed, d->stream, d->block++, d->word);
		d->left = 4;
	}
	return d->word[4 - d->left--];
}

uint64_t dice_below(struct dice *d, uint64_t n)
{
	uint64_t bits = (uint64_t)dice_u32(d) << 32;

	bits |= dice_u32(d);
	/* 64 bits against n far below: the bias is under n / 2^64. */
	return bits % n;
}

void dice_shuffle(struct dice *d, int *v, int n)
{
	int i;

	for (i = n - 1; i > 0; i--) {
		int j = (int)dice_below(d, (uint64_t)i + 1);
		int swap = v[i];

		v[i] = v[j];
		v[j] = swap;
	}
}
