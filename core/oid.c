#include "core/oid.h"

static const char digits[] = "0123456789abcdef";

struct oid_hex oid_text(const struct oid *o)
{
	struct oid_hex h;

	for (int i = 0; i < OID_RAW; i++) {
		h.s[2 * i] = digits[o->id[i] >> 4];
		h.s[2 * i + 1] = digits[o->id[i] & 15];
	}
	h.s[OID_HEX] = '\0';
	return h;
}

struct oid_hex oid_short(const struct oid *o)
{
	struct oid_hex h = oid_text(o);

	h.s[12] = '\0';
	return h;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

bool oid_parse(struct oid *o, const char *hex)
{
	for (int i = 0; i < OID_RAW; i++) {
		int hi = digit(hex[2 * i]);
		int lo = hi < 0 ? -1 : digit(hex[2 * i + 1]);

		if (lo < 0)
			return false;
		o->id[i] = (unsigned char)(hi << 4 | lo);
	}
	return true;
}

bool oid_is_zero(const struct oid *o)
{
	static const struct oid zero;

	return oid_eq(o, &zero);
}
