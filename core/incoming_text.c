/* What is text: what a terminal and an editor can be given. */
#include "core/incoming_parts.h"
#include "core/mem.h"

/* Bytes of the character at s, or 0; never one that is too long, a surrogate
 * or past the last. */
static size_t utf8_char(const unsigned char *s, size_t len)
{
	static const struct {
		unsigned char lo, hi, next_lo, next_hi;
		size_t len;
	} forms[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t k = 2;

		if (*s < forms[i].lo || *s > forms[i].hi)
			continue;
		if (len < forms[i].len || s[1] < forms[i].next_lo ||
		    s[1] > forms[i].next_hi)
			return 0;
		while (k < forms[i].len && (s[k] & 0xc0) == 0x80)
			k++;
		return k == forms[i].len ? k : 0;
	}
	return 0;
}

bool incoming_is_text(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;

	for (size_t i = 0, n; i < len; i += n) {
		n = 1;
		if (p[i] >= 0x80)
			n = utf8_char(p + i, len - i);
		else if (p[i] == 127 || (p[i] < 32 && p[i] != '\n' &&
					 p[i] != '\t' && p[i] != '\r'))
			return false;
		if (!n)
			return false;
	}
	return true;
}
