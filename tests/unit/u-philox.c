/* needs: core/judge/philox.c */
#include "core/judge/philox.h"
#include "tests/unit/tap.h"

static void known(const uint32_t counter[4], const uint32_t key[2],
		  const uint32_t want[4], const char *name)
{
	uint32_t got[4];

	philox4x32(counter, key, got);
	ok(!memcmp(got, want, sizeof(got)), "known answer: %s", name);
}

static void known_answers(void)
{
	static const uint32_t zero[4], ones[4] = { ~0u, ~0u, ~0u, ~0u };
	static const uint32_t pi[4] = { 0x243f6a88, 0x85a308d3, 0x13198a2e,
					0x03707344 };
	static const uint32_t key[2] = { 0xa4093822, 0x299f31d0 };
	static const uint32_t want[3][4] = {
		{ 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
		{ 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
		{ 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 }
	};

	known(zero, zero, want[0], "zeros");
	known(ones, ones, want[1], "ones");
	known(pi, key, want[2], "digits of pi");
}

static void blocks(void)
{
	static const struct seed s = { { 0xa4093822, 0x299f31d0, 0x13198a2e,
					 0x03707344 } };
	static const uint32_t want[4] = { 0xd16cfe09, 0x94fdcceb, 0x5001e420,
					  0x24126ea1 };
	uint32_t got[4], other[4];

	seed_block(&s, 0x85a308d3, 0x243f6a88, got);
	ok(!memcmp(got, want, sizeof(got)),
	   "a block is philox of {n, stream, w2, w3} under {w0, w1}");
	seed_block(&s, 0x85a308d4, 0x243f6a88, other);
	ok(memcmp(got, other, sizeof(got)), "streams differ");
}

static void hashes(void)
{
	struct seed a, b;
	char x[17], y[17], again[17];

	seed_random(&a);
	b = a;
	b.w[3] ^= 1;
	seed_hash(&a, x);
	seed_hash(&a, again);
	seed_hash(&b, y);
	is_str(x, again, "a hash repeats");
	ok(strcmp(x, y), "seeds one bit apart have different hashes");
	is_int(strlen(x), 16, "a hash has 16 digits");
}

static void dice(void)
{
	static const struct seed s = { { 1, 2, 3, 4 } };
	struct dice d, e;
	int v[52], seen[52] = { 0 }, i, count[6] = { 0 }, all = 1, even = 1;

	dice_init_from(&d, &s, 9);
	dice_init_from(&e, &s, 9);
	ok(dice_u32(&d) == dice_u32(&e), "equal seeds give equal dice");
	for (i = 0; i < 52; i++)
		v[i] = i;
	dice_shuffle(&d, v, 52);
	for (i = 0; i < 52; i++)
		seen[v[i]]++;
	for (i = 0; i < 52; i++)
		all &= seen[i] == 1;
	ok(all, "a shuffle keeps every card");
	for (i = 0; i < 6000; i++)
		count[dice_below(&d, 6)]++;
	for (i = 0; i < 6; i++)
		even &= count[i] > 850 && count[i] < 1150;
	ok(even, "a die of six sides is fair");
	dice_init(&d);
	dice_init(&e);
	ok(memcmp(&d.seed, &e.seed, sizeof(d.seed)), "secret dice differ");
}

int main(void)
{
	known_answers();
	blocks();
	hashes();
	dice();
	return tap_done();
}
