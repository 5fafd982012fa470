/*
 * Strategies: each knows when it fits a source, which settings are worth
 * trying and how to bring one about.  A new one is a file with a constant of
 * this type and a line in strategy.c.
 */
#ifndef AGENTS_BUILTIN_STRATEGY_H
#define AGENTS_BUILTIN_STRATEGY_H

#include "agents/builtin/cfunc.h"
#include "agents/builtin/recipe.h"
#include "core/buf.h"
#include "core/kernel.h"
#include "core/source.h"

struct tunable {
	char *name;
	size_t file;		/* index into the source set */
	size_t pos, len;	/* of the number, in the text of that file (of
				 * site->text where it is site->file) */
	long value;
	struct strv tries;	/* other values, in order of worth */
};

/* What the loops of the entry do, for plans and expectations. */
struct evidence {
	int reductions;		/* innermost loops that sum into a scalar */
	int strided;		/* innermost loops that step over rows */
	int calls;		/* calls of math functions */
	int stores;		/* stores through subscripts in loops */
	char sum[64], var[64], array[64], stride[64];	/* examples, or "" */
};

/* A source set as the strategies see it. */
struct site {
	const struct kernel *k;
	const struct srcset *src;
	size_t file;		/* the one that defines the entry */
	struct buf text;	/* of that file, without blocks of ours */
	struct recipe found;	/* of the blocks that were there */
	bool had_block;
	bool readable;		/* unit is good */
	char why[320];		/* else the reason */
	struct cunit unit;	/* of text */
	const struct cfunc *entry;	/* NULL: not found, or not readable */
	struct cloops loops;	/* of the entry */
	struct tunable *tunable;	/* in order of their places */
	size_t nr_tunables;
	struct evidence evidence;	/* see evidence_find() */
};

int site_init(struct site *s, const struct kernel *k,
	      const struct srcset *src, struct err *err);
void site_release(struct site *s);
/* A recipe text, in its normal form; where it is empty and the source carries
 * a block of ours, what that block says, since steps go on from there. */
int site_recipe(const struct site *s, const char *text, struct recipe *r,
		struct err *err);
/* Why the entry's code can't be looked at; NULL if it can. */
const char *site_problem(const struct site *s);

/* What the genes of a recipe do to a source, put together at the end. */
struct edit {
	size_t pos, len;	/* of site->text */
	char *text;
	size_t order;		/* of insertions at one place */
};

struct emit {
	struct edit *v;
	size_t nr, cap;
	struct buf gcc, clang;	/* pragma lines for the head of the file */
	unsigned vec;		/* functions wanted, a mask of vectext.h */
	struct srcset *out;	/* for files other than the entry's */
};
void emit_edit(struct emit *e, size_t pos, size_t len, const char *text);

struct strategy {
	const char *name;
	/* False: cannot be used; why gets the end of a sentence. */
	bool (*fits)(const struct site *s, struct buf *why);
	/* Settings worth trying, as parameters ("" for none), best first. */
	void (*settings)(const struct site *s, struct strv *out);
	/* Refuses parameters that it does not know. */
	int (*apply)(const struct site *s, const struct gene *g,
		     struct emit *e, struct err *err);
	/* For people: "promise restrict on a, b, c"; at most 60 bytes. */
	void (*subject)(const struct site *s, const struct gene *g,
			struct buf *out);
	/* A paragraph: what it does here, why, the risk.  Ends in "\n". */
	void (*plan)(const struct site *s, const struct gene *g,
		     struct buf *out);
	/* The ratio that is expected of it, alone. */
	double (*gain)(const struct site *s, const struct gene *g);
	const char *undo;	/* subject for taking it away */
};

extern const struct strategy strategy_restrict, strategy_vecmath,
	strategy_fastmath, strategy_vw, strategy_ccopt, strategy_tunables;

/* In the order in which genes stand in a recipe; ended by a NULL. */
extern const struct strategy *const strategies[];
const struct strategy *strategy_find(const char *name);
int strategy_rank(const char *name);
/* As fits(), and not denied by the section. */
bool strategy_fits(const struct strategy *st, const struct site *s,
		   struct buf *why);

/* Sources to sources.  The recipe's strategies must be known; those that do
 * not fit are an error.  An empty recipe gives src as it is. */
int strategy_apply(const struct site *s, const struct recipe *r,
		   struct srcset *out, struct err *err);

/* What was found when the site was made. */
void evidence_find(const struct site *s, struct evidence *e);
void evidence_look(struct site *s);

#endif
