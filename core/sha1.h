/*
 * SHA-1 (FIPS 180-4), for object ids where there is no libgit2.  Not for
 * anything that must withstand a collision.
 */
#ifndef CORE_SHA1_H
#define CORE_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define SHA1_RAW 20

struct sha1 {
	uint32_t h[5];
	uint64_t len;		/* bytes so far */
	unsigned char block[64];
};

void sha1_init(struct sha1 *s);
void sha1_add(struct sha1 *s, const void *data, size_t len);
/* s must be initialised again before another use. */
void sha1_end(struct sha1 *s, unsigned char out[SHA1_RAW]);

#endif
