/* A Git object id (SHA-1; SHA-256 repositories are refused at opening). */
#ifndef CORE_OID_H
#define CORE_OID_H

#include <stdbool.h>
#include <string.h>

#define OID_RAW 20
#define OID_HEX 40

struct oid {
	unsigned char id[OID_RAW];
};

struct oid_hex {
	char s[OID_HEX + 1];
};

/* oid_text(&o).s is the 40 digits, good for the full expression. */
struct oid_hex oid_text(const struct oid *o);
/* The first 12 digits, as shown to people. */
struct oid_hex oid_short(const struct oid *o);
/* Exactly 40 hex digits at hex (more may follow); false otherwise. */
bool oid_parse(struct oid *o, const char *hex);

static inline bool oid_eq(const struct oid *a, const struct oid *b)
{
	return !memcmp(a->id, b->id, OID_RAW);
}

static inline int oid_cmp(const struct oid *a, const struct oid *b)
{
	return memcmp(a->id, b->id, OID_RAW);
}

bool oid_is_zero(const struct oid *o);

#endif
