/*
 * A recorded table: every setting that the built-in proposer has for one
 * kernel, measured once.  A text of lines with tabs between the fields:
 *
 *	table	1
 *	kernel	<name>
 *	section	<12 hex digits, as in core/store.h>
 *	root	<state id>
 *	epoch	<judge epoch>
 *	device	<slug>		host	<name>		shape	<of the nest>
 *	locus	<name> <tunable|rewrite> <needed|free>	<values, blanks between>
 *	rows
 *	<setting>	<recipe>	<state>	<verdict>	<speedup over the root>
 *		<low>	<high>	<seconds>	<root|best|->
 *
 * A setting is one index a locus, "-" for none, with commas.  The root is among
 * them, with a speedup of 1.  Settings that give a state that an earlier row
 * has are rows with the verdict "dup" and no numbers, so that the table is the
 * whole space.  The last field says what the setting was timed against: the
 * root, or the one that was the best by that, as a search measures against its
 * champion.  Where a state has more rows their mean counts: of those against
 * the best, if there are any.  The last line is "done".
 */
#ifndef TESTS_BENCH_TABLE_H
#define TESTS_BENCH_TABLE_H

#include "core/kernel.h"
#include "core/proposer.h"
#include "core/record.h"
#include "core/source.h"

#define TABLE_MAX_TEXT (8u << 20)
#define TABLE_MAX_ROWS 20000

struct row {
	int *setting;		/* one a locus */
	char *recipe;
	struct oid state;
	enum verdict verdict;	/* V_DUP: as the row `same` */
	size_t same;
	double lr, low, high;	/* ln speedup over the root; NAN: untimed */
	struct times {
		int nr;
		double sum;	/* of ln speedups over the root */
	} root, best;		/* timed against each */
	double seconds;
};

struct table {
	char *kernel, *section, *device, *host, *shape;
	struct oid root;
	int epoch;
	struct space space;
	struct row *v;
	size_t nr, cap;
	size_t best;		/* row of the greatest lr */
	bool done;		/* nothing is left to measure */
};

/* *t is to be released in any case. */
int table_read(struct table *t, const char *path, struct err *err);
void table_release(struct table *t);
void table_add_head(const struct table *t, struct buf *out);
/* lr: what is to stand in the line. */
void table_add_row(const struct table *t, const struct row *r, double lr,
		   const char *against, struct buf *out);
/* One more measurement, with its verdict: counts in lr. */
void table_time(struct row *r, bool best, enum verdict verdict, double lr,
		double low, double high);
/* The row, no dup, that has the state; t->nr if none has. */
size_t table_find(const struct table *t, const struct oid *state);

/* One kernel of a .maxkernel file, and its sources from the first folder that
 * has them: plain names, no globs. */
struct subject {
	struct kernel_file file;
	const struct kernel *k;
	struct srcset root;
	char section[13];
	struct oid state;
};
int subject_open(struct subject *s, const char *maxkernel, const char *name,
		 const struct strv *dirs, struct err *err);
void subject_release(struct subject *s);
/* ERR_FORMAT where the table is of another version of the kernel. */
int subject_fits(const struct subject *s, const struct table *t,
		 struct err *err);

#endif
