/* Aligned tables, the width of UTF-8 text seen to. */
#include <stdlib.h>
#include <string.h>

#include "cmd/out.h"
#include "core/mem.h"

#define GAP 2

struct range {
	unsigned first, last;
};

/* Combining marks and what else takes no column. */
static const struct range narrow[] = {
	{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd },
	{ 0x610, 0x61a }, { 0x64b, 0x65f }, { 0x900, 0x902 },
	{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f },
	{ 0x202a, 0x202e }, { 0x2060, 0x2064 }, { 0x20d0, 0x20ff },
	{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }
};

/* East Asian wide and emoji. */
static const struct range wide[] = {
	{ 0x1100, 0x115f }, { 0x2e80, 0x303e }, { 0x3041, 0xa4cf },
	{ 0xac00, 0xd7a3 }, { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f },
	{ 0xff00, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f },
	{ 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd }
};

static bool in_ranges(const struct range *r, size_t nr, unsigned c)
{
	for (size_t i = 0; i < nr; i++)
		if (c >= r[i].first && c <= r[i].last)
			return true;
	return false;
}

int text_width(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	int width = 0;

	while (*p) {
		int more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
		unsigned c = more ? *p & (0x3fu >> more) : *p;

		for (p++; more && (*p & 0xc0) == 0x80; more--, p++)
			c = c << 6 | (*p & 0x3fu);
		if (in_ranges(narrow, ARRAY_SIZE(narrow), c))
			continue;
		width += in_ranges(wide, ARRAY_SIZE(wide), c) ? 2 : 1;
	}
	return width;
}

void table_init(struct table *t, int cols, unsigned right)
{
	memset(t, 0, sizeof(*t));
	t->cols = cols;
	t->right = right;
}

void table_cell(struct table *t, const char *fmt, ...)
{
	struct buf text = BUF_INIT, clean = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	buf_add_clean(&clean, text.ptr, text.len, false);
	strv_push(&t->cell, clean.ptr);
	GROW(t->tint, t->nr_tint, t->cap_tint);
	t->tint[t->nr_tint++] = COL_RESET;
	buf_release(&clean);
	buf_release(&text);
}

void table_tint(struct table *t, enum colour c)
{
	t->tint[t->nr_tint - 1] = (unsigned char)c;
}

static void print_cell(const struct table *t, size_t i, int width,
		       bool heads, FILE *f)
{
	int col = (int)(i % (size_t)t->cols);
	const char *text = t->cell.v[i];
	int pad = width - text_width(text);
	bool right = t->right >> col & 1, last = col == t->cols - 1;
	enum colour c = t->tint[i];

	if (heads && i < (size_t)t->cols)
		c = COL_BOLD;
	if (right)
		fprintf(f, "%*s", pad, "");
	if (c == COL_RESET || !*colour(c))
		fputs(text, f);
	else
		fprintf(f, "%s%s%s", colour(c), text, colour(COL_RESET));
	if (!last)
		fprintf(f, "%*s", (right ? 0 : pad) + GAP, "");
}

static void print_all(const struct table *t, bool heads, FILE *f)
{
	int *width = xcalloc((size_t)t->cols, sizeof(*width));
	size_t cols = (size_t)t->cols;

	for (size_t i = 0; i < t->cell.nr; i++) {
		int w = text_width(t->cell.v[i]);

		if (w > width[i % cols])
			width[i % cols] = w;
	}
	for (size_t i = 0; i < t->cell.nr; i++) {
		print_cell(t, i, width[i % cols], heads, f);
		if (i % cols == cols - 1)
			putc('\n', f);
	}
	if (t->cell.nr % cols)
		putc('\n', f);
	free(width);
}

void table_print(const struct table *t, FILE *f)
{
	print_all(t, true, f);
}

void table_print_rows(const struct table *t, FILE *f)
{
	print_all(t, false, f);
}

void table_release(struct table *t)
{
	strv_release(&t->cell);
	free(t->tint);
	t->tint = NULL;
	t->nr_tint = t->cap_tint = 0;
}
