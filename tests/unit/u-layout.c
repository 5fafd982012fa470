/* needs: core/judge/layout.c core/judge/poison.c core/dtype.c core/expr.c core/ini.c core/kernel.c core/kernel_arg.c core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/source.c core/oid.c core/sha1.c */
#include <stdlib.h>

#include "core/judge/ctl.h"
#include "core/judge/layout.h"
#include "core/judge/poison.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

static const char text[] =
	"[kernel \"k\"]\n"
	"file = k.c\n"
	"entry = k\n"
	"arg = in f32 x[M][K] ld(ldx)\n"
	"arg = in f64 w[K] align(64)\n"
	"arg = in f32 alpha\n"
	"arg = out f32 y[M][K] ld(ldy)\n"
	"arg = inout i8 z[M]\n"
	"arg = out i32 n[K]\n"
	"arg = dim M\narg = dim long K\narg = dim size_t ldx\narg = dim ldy\n"
	"arg = ret f32\n"
	"time = M=7 K=5 ldx=8 ldy=9\n";
enum { X, W, ALPHA, Y, Z, N, DIM_M, DIM_K, LDX, LDY, RET };

static struct kernel_file file;
static struct layout l;

static bool make(bool as_double, int slots, unsigned offset, bool right)
{
	struct placement p = { offset, right };
	struct err err = ERR_INIT;
	int ret = layout_make(&l, file.v, &file.v->time[0], as_double, slots,
			      p, &err);

	return ok(!ret, "layout: %d slots, offset %u%s %s", slots, offset,
		  right ? ", right" : "", err.msg);
}

/* True if every byte of p's pages is in a map of its own, with unmapped
 * addresses on both sides. */
static bool is_guarded(const struct place *p)
{
	uint64_t from = p->addr - p->slack_before;
	uint64_t to = p->addr + p->bytes + p->slack_after;
	size_t own = 0;

	for (size_t i = 0; i < l.nr_maps; i++) {
		const struct ctl_map *m = &l.map[i];

		if (m->addr == from && m->addr + m->len == to)
			own += m->out == (uint64_t)p->writable &&
			       m->off == p->off - p->slack_before;
		else if (m->addr < to + 4096 && m->addr + m->len + 4096 > from)
			return false;
	}
	return own == 1 && from % 4096 == 0 && to % 4096 == 0;
}

static void test_places(unsigned offset, bool right)
{
	static const int arrays[] = { X, W, Y, Z, N };
	bool guarded = true, aligned = true, tight = true;

	for (int s = 0; s < l.slots; s++) {
		for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
			const struct place *p = layout_at(&l, s, arrays[i]);
			size_t size = dtype_size(layout_type(&l, arrays[i]));
			size_t align = arrays[i] == W ? 64 : size;

			guarded = guarded && is_guarded(p);
			aligned = aligned && p->addr % align == 0;
			tight = tight && (!right || p->slack_after < align);
		}
	}
	ok(guarded, "arrays have pages of their own (%u, %d)", offset, right);
	ok(aligned, "and are aligned as promised");
	ok(tight, "and end at the guard page if right");
	if (!right)
		is_int(layout_at(&l, 0, X)->addr % 4096, offset,
		       "offset %u", offset);
}

static void test_sizes(void)
{
	is_int(l.elems[X], 6 * 8 + 5, "elements of x, with ld");
	is_int(l.elems[W], 5, "elements of w");
	is_int(layout_at(&l, 0, X)->bytes, (6 * 8 + 5) * 4, "bytes of x");
	is_int(layout_at(&l, 0, DIM_M)->bytes, 4, "int");
	is_int(layout_at(&l, 0, DIM_K)->bytes, 8, "long");
	is_int(layout_type(&l, LDX), DT_U64, "size_t");
	ok(layout_at(&l, 0, Y)->writable && layout_at(&l, 0, Z)->writable &&
	   layout_at(&l, 0, RET)->writable && !layout_at(&l, 0, X)->writable &&
	   !layout_at(&l, 0, ALPHA)->writable, "what is writable");
	ok(!layout_is_padding(&l, Y, 4) && layout_is_padding(&l, Y, 5) &&
	   layout_is_padding(&l, Y, 8) && !layout_is_padding(&l, Y, 9),
	   "padding of y");
	ok(l.in_size % 4096 == 0 && l.out_size % 4096 == 0, "whole pages");
	ok(layout_at(&l, 1, ALPHA)->addr != layout_at(&l, 0, ALPHA)->addr,
	   "slots have their own scalars");
}

static void test_limits(void)
{
	struct placement p = { 0, false };
	struct layout big;
	struct shape s;
	struct err err = ERR_INIT;

	shape_copy(&s, &file.v->time[0]);
	s.dim[0] = 1 << 20;
	s.dim[1] = s.dim[2] = s.dim[3] = 1 << 12;
	is_int(layout_make(&big, file.v, &s, false, 1, p, &err), ERR_LIMIT,
	       "over 2 GiB is refused");
	is_int(layout_make(&big, file.v, &file.v->time[0], false,
			   LAYOUT_MAX_SLOTS + 1, p, &err), ERR_LIMIT,
	       "too many slots are refused");
	ok(!layout_make(&big, file.v, &file.v->time[0], false,
			LAYOUT_MAX_SLOTS, p, &err), "the most slots fit");
	layout_release(&big);
	shape_release(&s);
}

static unsigned char *out;

static void write_outputs(int slot)
{
	for (int i = 0; i < file.v->nr_args; i++) {
		const struct place *p = layout_at(&l, slot, i);
		size_t size = dtype_size(layout_type(&l, i));

		if (!p->writable)
			continue;
		for (int64_t e = 0; e < l.elems[i]; e++)
			if (!layout_is_padding(&l, i, e))
				memset(out + p->off + (size_t)e * size, 0,
				       size);
	}
}

static void test_poison(void)
{
	const struct place *y = layout_at(&l, 1, Y);
	int arg = -2;
	int64_t elem = -2;
	bool all = true;
	double v;

	out = xcalloc(l.out_size, 1);
	poison_slot(&l, out, 1, 42);
	ok(!poison_gone(&l, out, 1, 42, &arg, &elem) && arg == Y && elem == 0,
	   "nothing is written: y[0] is named");
	for (int64_t e = 0; e < l.elems[Y]; e++) {
		v = dtype_get(layout_type(&l, Y), out + y->off, (size_t)e);
		all = all && isnan(v);
	}
	ok(all, "floats hold NaNs");
	write_outputs(1);
	ok(poison_gone(&l, out, 1, 42, &arg, &elem), "all is written");
	poison_slot(&l, out, 1, 43);
	write_outputs(1);
	out[y->off + 5 * 4] ^= 1;
	ok(!poison_gone(&l, out, 1, 43, &arg, &elem) && arg == Y && elem == -1,
	   "a write between two rows of y");
	free(out);
}

/* Each element left out alone is found; in integers, each eight bytes. */
static void test_holes(void)
{
	const struct place *y = layout_at(&l, 0, Y), *n = layout_at(&l, 0, N);
	unsigned char was[8];
	bool found = true, canaries = true;
	int64_t elem;
	int arg;

	out = xcalloc(l.out_size, 1);
	for (int64_t e = 0; e < l.elems[Y]; e++) {
		size_t at = y->off + (size_t)e * 4;

		if (layout_is_padding(&l, Y, e))
			continue;
		poison_slot(&l, out, 0, (uint64_t)e);
		memcpy(was, out + at, 4);
		write_outputs(0);
		memcpy(out + at, was, 4);
		found = found &&
			!poison_gone(&l, out, 0, (uint64_t)e, &arg, &elem) &&
			arg == Y && elem == e;
	}
	ok(found, "each hole in y is found, and named");
	poison_slot(&l, out, 0, 7);
	memcpy(was, out + n->off + 8, 8);
	write_outputs(0);
	memcpy(out + n->off + 8, was, 8);
	ok(!poison_gone(&l, out, 0, 7, &arg, &elem) && arg == N && elem == 2,
	   "a hole of two integers");
	for (size_t i = 0; i < y->slack_after + 1; i++) {
		size_t at = i < y->slack_after ? y->off + y->bytes + i :
			    layout_at(&l, 0, Z)->off - 1;

		poison_slot(&l, out, 0, i);
		write_outputs(0);
		out[at] ^= 0x10;
		canaries = canaries &&
			   !poison_gone(&l, out, 0, i, &arg, &elem) &&
			   elem == -1;
	}
	ok(canaries, "every byte of a canary counts");
	free(out);
}

/* Long arrays are read in blocks: a hole at any place of them is found. */
static void test_long(const char *type)
{
	char *section = xasprintf("[kernel \"k\"]\nfile = k.c\nentry = k\n"
				  "arg = out %s y[1111]\n", type);
	struct placement p = { 20, false };
	struct kernel_file f;
	struct layout one;
	struct err err = ERR_INIT;
	unsigned char *base, was[8];
	bool found = true;
	size_t size;
	int64_t elem;
	int arg;

	if (!ok(!kernel_file_parse(&f, "k", section, strlen(section), &err) &&
		!layout_make(&one, f.v, f.v->time, false, 1, p, &err),
		"a long array of %s %s", type, err.msg))
		return;
	base = xcalloc(one.out_size, 1);
	size = dtype_size(layout_type(&one, 0));
	for (int64_t e = 0; e < 1111; e++) {
		unsigned char *at = base + one.place[0].off + (size_t)e * size;

		poison_slot(&one, base, 0, (uint64_t)e);
		memcpy(was, at, size);
		memset(base + one.place[0].off, 0, one.place[0].bytes);
		if (e == 0)
			found = found && poison_gone(&one, base, 0, 0, &arg,
						     &elem);
		memcpy(at, was, size);
		found = found && !poison_gone(&one, base, 0, (uint64_t)e,
					      &arg, &elem) && elem == e;
	}
	ok(found, "each hole in it is found");
	free(base);
	layout_release(&one);
	kernel_file_release(&f);
	free(section);
}

int main(void)
{
	static const unsigned offsets[] = { 0, 4, 60, 4092 };
	struct err err = ERR_INIT;

	if (!ok(!kernel_file_parse(&file, "k", text, strlen(text), &err),
		"the section is read %s", err.msg))
		return tap_done();
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		make(false, 3, offsets[i], false);
		test_places(offsets[i], false);
		layout_release(&l);
	}
	make(false, 3, 16, true);
	test_places(16, true);
	layout_release(&l);
	make(false, 2, 60, false);
	test_sizes();
	test_limits();
	test_poison();
	test_holes();
	layout_release(&l);
	test_long("f64");
	test_long("f32");
	test_long("f16");
	test_long("bf16");
	make(true, 2, 60, false);
	is_int(layout_type(&l, X), DT_F64, "as double: f32 is f64");
	is_int(layout_type(&l, Z), DT_I8, "as double: integers stay");
	is_int(layout_at(&l, 0, ALPHA)->bytes, 8, "as double: a scalar too");
	layout_release(&l);
	kernel_file_release(&file);
	return tap_done();
}
