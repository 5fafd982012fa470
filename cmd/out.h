/*
 * Output.  stdout is the result: tables as aligned text, or one JSON object a
 * line.  Foreign text is cleaned here.  Colour and the pager where Git would.
 */
#ifndef CMD_OUT_H
#define CMD_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/buf.h"
#include "core/record.h"

enum colour { COL_RESET, COL_GOOD, COL_BAD, COL_DIM, COL_BOLD, COL_NODE };

/* Columns that a text takes on a terminal (UTF-8). */
int text_width(const char *s);
/* Shortens UTF-8 text to so many columns. */
void text_cut(struct buf *b, int columns);

/* ---- aligned tables ---- */
struct table {
	struct strv cell;	/* row-major */
	int cols;
	unsigned right;		/* bit i: column i is right-aligned */
	unsigned char *tint;	/* enum colour of each cell */
	size_t nr_tint, cap_tint;
};
void table_init(struct table *t, int cols, unsigned right);
void table_cell(struct table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Colours the cell that was added last. */
void table_tint(struct table *t, enum colour c);
void table_print(const struct table *t, FILE *f);	/* first row: heads */
void table_print_rows(const struct table *t, FILE *f);	/* no heads */
void table_release(struct table *t);

/* ---- JSON lines ---- */
struct jout {			/* one object being built */
	struct buf text;
	bool more;
};
void jout_begin(struct jout *j);
void jout_str(struct jout *j, const char *key, const char *value); /* NULL: null */
void jout_num(struct jout *j, const char *key, double value);	/* NAN: null */
void jout_int(struct jout *j, const char *key, long long value);
void jout_bool(struct jout *j, const char *key, bool value);
void jout_raw(struct jout *j, const char *key, const char *json);
/* The record's fields by their names in the design. */
void jout_record(struct jout *j, const struct record *r);
/* But device_s: where the run's own has that name. */
void jout_found(struct jout *j, const struct record *r);
/* The timed shapes, or the hold-out shapes, as an array of objects. */
void jout_shapes(struct jout *j, const char *key, const struct record *r,
		 bool holdout);
void jout_end(struct jout *j, FILE *f);	/* prints the line, frees */
/* Ends the object and leaves its text in out, for jout_raw(); frees. */
void jout_detach(struct jout *j, struct buf *out);

/* ---- for people ---- */
/* warn(), the same text once in a run. */
void warn_once(const char *text);
/* "1.23 ms", "4.56 us"; "-" for NAN */
void fmt_time(struct buf *b, double ns);
/* "3.21x", "-" */
void fmt_ratio(struct buf *b, double x);
/* "[3.1, 3.3]", "-" */
void fmt_interval(struct buf *b, double lo, double hi);
/* "12.3 GF/s", or GB/s if there are no flops; "-" */
void fmt_rate(struct buf *b, const struct shape_result *s);
/* "43 %", "-" */
void fmt_share(struct buf *b, double share);
/* "3 minutes ago", "in the future" */
void fmt_age(struct buf *b, int64_t then, int64_t now);
/* "42 s", "3 min 20 s" */
void fmt_seconds(struct buf *b, double s);
/* Good for confirmed and faster, bad for what failed, dim for the rest. */
enum colour verdict_colour(enum verdict v);

/* Escape sequence, or "" when stdout is not to be coloured (color.ui,
 * color.maxkernel, NO_COLOR). */
const char *colour(enum colour c);
void colour_setup(const char *color_ui);	/* value of the setting or NULL */
bool colour_on(void);
/* Text of others, made fit for one line on a terminal. */
void put_clean(FILE *f, const char *s);
/* The same for many lines, each behind the indent. */
void put_clean_lines(FILE *f, const char *indent, const char *s);

/* Starts the pager as Git would (GIT_PAGER, core.pager, PAGER; only if stdout
 * is a terminal).  pager_wait() at the end. */
void pager_start(const char *core_pager);
void pager_wait(void);

/* ---- stderr ---- */
extern bool out_quiet;		/* -q */
/* A message line on stderr, unless quiet. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The one live line (terminal only); "" clears it. */
void live(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool live_on(void);

#endif
