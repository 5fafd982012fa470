#include "core/sha1.h"

#include <string.h>

static uint32_t rol(uint32_t v, int n)
{
	return v << n | v >> (32 - n);
}

static void expand(uint32_t w[80], const unsigned char *p)
{
	for (int i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
		       (uint32_t)p[2] << 8 | p[3];
	for (int i = 16; i < 80; i++)
		w[i] = rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
}

static uint32_t mix(int round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round / 20) {
	case 0:
		return (d ^ (b & (c ^ d))) + 0x5a827999u;
	case 1:
		return (b ^ c ^ d) + 0x6ed9eba1u;
	case 2:
		return ((b & c) | (d & (b | c))) + 0x8f1bbcdcu;
	default:
		return (b ^ c ^ d) + 0xca62c1d6u;
	}
}

static void compress(struct sha1 *s, const unsigned char *block)
{
	uint32_t w[80], v[5];

	expand(w, block);
	memcpy(v, s->h, sizeof(v));
	for (int i = 0; i < 80; i++) {
		uint32_t t = rol(v[0], 5) + mix(i, v[1], v[2], v[3]) + v[4] +
			     w[i];

		v[4] = v[3];
		v[3] = v[2];
		v[2] = rol(v[1], 30);
		v[1] = v[0];
		v[0] = t;
	}
	for (int i = 0; i < 5; i++)
		s->h[i] += v[i];
}

void sha1_init(struct sha1 *s)
{
	static const uint32_t start[5] = { 0x67452301u, 0xefcdab89u,
		0x98badcfeu, 0x10325476u, 0xc3d2e1f0u };

	memset(s, 0, sizeof(*s));
	memcpy(s->h, start, sizeof(start));
}

void sha1_add(struct sha1 *s, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len) {
		size_t used = s->len % 64, n = 64 - used;

		if (n > len)
			n = len;
		memcpy(s->block + used, p, n);
		s->len += n;
		p += n;
		len -= n;
		if (used + n == 64)
			compress(s, s->block);
	}
}

void sha1_end(struct sha1 *s, unsigned char out[SHA1_RAW])
{
	static const unsigned char pad[64] = { 0x80 };
	uint64_t bits = s->len * 8;
	unsigned char tail[8];

	sha1_add(s, pad, 1 + (119 - s->len % 64) % 64);
	for (int i = 0; i < 8; i++)
		tail[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha1_add(s, tail, sizeof(tail));
	for (int i = 0; i < SHA1_RAW; i++)
		out[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}
