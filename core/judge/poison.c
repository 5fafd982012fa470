#include "core/judge/poison.h"

#include <string.h>

/* Word i of the stream of a key. */
static uint64_t word(uint64_t key, uint64_t i)
{
	uint64_t x = key + i * 0x9e3779b97f4a7c15u;

	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

static uint64_t key_of(uint64_t salt, int slot, int arg, int part)
{
	return word(salt ^ word(salt, (uint64_t)slot),
		    (uint64_t)arg * 4 + (uint64_t)part);
}

/* Bits that make every element of a word a quiet NaN, and never the one that
 * the processor itself makes. */
static uint64_t nan_mask(enum dtype t)
{
	switch (t) {
	case DT_F64:
		return 0x7ff8000000000001u;
	case DT_F32:
		return 0x7fc000017fc00001u;
	case DT_F16:
		return 0x7e017e017e017e01u;
	case DT_BF16:
		return 0x7fc17fc17fc17fc1u;
	case DT_F8E4M3:
		return 0x7f7f7f7f7f7f7f7fu;
	case DT_F8E5M2:
		return 0x7d7d7d7d7d7d7d7du;
	default:
		return 0;
	}
}

static void fill(unsigned char *p, size_t n, uint64_t key, uint64_t mask)
{
	uint64_t w;
	size_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		w = word(key, i / 8) | mask;
		memcpy(p + i, &w, 8);
	}
	w = word(key, i / 8) | mask;
	memcpy(p + i, &w, n - i);
}

static bool is_whole(const unsigned char *p, size_t n, uint64_t key)
{
	uint64_t w, got, bad = 0;
	size_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		memcpy(&got, p + i, 8);
		bad |= got ^ word(key, i / 8);
	}
	w = word(key, i / 8);
	return !bad && !memcmp(p + i, &w, n - i);
}

void poison_slot(const struct layout *l, unsigned char *base, int slot,
		 uint64_t salt)
{
	for (int i = 0; i < l->kernel->nr_args; i++) {
		const struct place *p = layout_at(l, slot, i);
		unsigned char *data = base + p->off;

		if (!p->writable)
			continue;
		fill(data - p->slack_before, p->slack_before,
		     key_of(salt, slot, i, 0), 0);
		fill(data + p->bytes, p->slack_after,
		     key_of(salt, slot, i, 1), 0);
		if (l->kernel->arg[i].kind != ARG_INOUT)
			fill(data, p->bytes, key_of(salt, slot, i, 2),
			     nan_mask(layout_type(l, i)));
	}
}

void poison_slack(const struct layout *l, unsigned char *base, uint64_t salt)
{
	for (int s = 0; s < l->slots; s++) {
		for (int i = 0; i < l->kernel->nr_args; i++) {
			const struct place *p = layout_at(l, s, i);
			unsigned char *data = base + p->off;

			if (p->writable || p->lent)
				continue;
			fill(data - p->slack_before, p->slack_before,
			     key_of(salt, s, i, 0), 0);
			fill(data + p->bytes, p->slack_after,
			     key_of(salt, s, i, 1), 0);
		}
	}
}

/* One output array, as it came back. */
struct scan {
	const unsigned char *p;
	size_t bytes, size;	/* of all, of an element */
	uint64_t key, mask;
};

/* got ^ want of word i; bytes past the end count as written. */
static uint64_t changed(const struct scan *s, size_t i)
{
	uint64_t x = ~(uint64_t)0, got = 0, want = word(s->key, i) | s->mask;
	size_t n = s->bytes - i * 8;

	if (n >= 8) {
		memcpy(&got, s->p + i * 8, 8);
		return got ^ want;
	}
	memcpy(&got, s->p + i * 8, n);
	x <<= n * 8;
	return x | ((got ^ want) & ~x);
}

/*
 * True if in whole words [from, to) some element of 2, 4 or 8 bytes is as it
 * was.  This is where the time goes, hence no branch for each word.
 */
static bool some_same(const struct scan *s, size_t from, size_t to)
{
	uint64_t ones = s->size == 8 ? 1 : s->size == 4 ?
			0x0000000100000001u : 0x0001000100010001u;
	uint64_t high = ones << (s->size * 8 - 1), same = 0, got, x;

	for (size_t i = from; i < to; i++) {
		memcpy(&got, s->p + i * 8, 8);
		x = got ^ (word(s->key, i) | s->mask);
		same |= (x - ones) & ~x & high;		/* a lane of zeros */
	}
	return same != 0;
}

/* True if the bytes of element e are as they were. */
static bool is_same(const struct scan *s, int64_t e)
{
	size_t at = (size_t)e * s->size;
	uint64_t x = changed(s, at / 8) >> at % 8 * 8;

	return s->size == 8 ? !x : !(x & ((1ull << s->size * 8) - 1));
}

/* First unwritten element in [from, to), or -1; floats of 16 bits and more. */
static int64_t missed_float(const struct scan *s, int64_t from, int64_t to)
{
	const int64_t lanes = (int64_t)(8 / s->size), block = 64 * lanes;

	for (int64_t e = from; e < to; e++) {
		while (e % lanes == 0 && to - e >= block &&
		       !some_same(s, (size_t)(e / lanes),
				  (size_t)((e + block) / lanes)))
			e += block;
		if (e < to && is_same(s, e))
			return e;
	}
	return -1;
}

/* The same for types of which any value may be an output: `need` words in a
 * row, as they were, are no chance. */
static int64_t missed_words(const struct scan *s, int64_t from, int64_t to,
			    size_t need)
{
	size_t i = ((size_t)from * s->size + 7) / 8;
	size_t end = (size_t)to * s->size / 8, run = 0;

	for (; i < end; i++) {
		run = changed(s, i) ? 0 : run + 1;
		if (run == need)
			return (int64_t)((i + 1 - need) * 8 / s->size);
	}
	return -1;
}

static int64_t missed(const struct scan *s, enum dtype t, int64_t from,
		      int64_t to)
{
	if (!dtype_is_float(t))
		return missed_words(s, from, to, 1);
	if (s->size == 1)
		return missed_words(s, from, to, 8);
	return missed_float(s, from, to);
}

static bool array_is_written(const struct layout *l, int i,
			     const struct scan *s, int64_t *elem)
{
	int64_t rows = l->row_ld[i], n = l->elems[i], e, end;

	if (l->row[i] == rows) {
		*elem = missed(s, layout_type(l, i), 0, n);
		return *elem < 0;
	}
	for (int64_t row = 0; row < n; row += rows) {
		end = n - row < l->row[i] ? n : row + l->row[i];
		*elem = missed(s, layout_type(l, i), row, end);
		if (*elem >= 0)
			return false;
		for (e = end; e < n && e < row + rows; e++)
			if (!is_same(s, e))
				return false;	/* *elem is -1 */
	}
	return true;
}

bool poison_gone(const struct layout *l, const unsigned char *base, int slot,
		 uint64_t salt, int *arg, int64_t *elem)
{
	for (int i = 0; i < l->kernel->nr_args; i++) {
		const struct place *p = layout_at(l, slot, i);
		const unsigned char *data = base + p->off;
		struct scan s;

		if (!p->writable)
			continue;
		*arg = i;
		*elem = -1;
		if (!is_whole(data - p->slack_before, p->slack_before,
			      key_of(salt, slot, i, 0)) ||
		    !is_whole(data + p->bytes, p->slack_after,
			      key_of(salt, slot, i, 1)))
			return false;
		if (l->kernel->arg[i].kind == ARG_INOUT)
			continue;
		s.p = data;
		s.bytes = p->bytes;
		s.size = dtype_size(layout_type(l, i));
		s.key = key_of(salt, slot, i, 2);
		s.mask = nan_mask(layout_type(l, i));
		if (!array_is_written(l, i, &s, elem))
			return false;
	}
	return true;
}
