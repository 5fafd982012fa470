/*
 * Recipes: what was done to a source, as a list of strategies with their
 * parameters, "restrict; vecmath(exp,tanh); vw(512); tunables(TILE=64)".
 *
 *	recipe:  [ gene { ";" gene } ]
 *	gene:    name [ "(" word { "," word } ")" ]
 *	name:    a-z 0-9, first a-z        word: A-Z a-z 0-9 _ = . + -
 *
 * Blanks may stand anywhere between these.
 */
#ifndef AGENTS_BUILTIN_RECIPE_H
#define AGENTS_BUILTIN_RECIPE_H

#include "core/buf.h"
#include "core/err.h"

#define RECIPE_MAX_TEXT 8192
#define RECIPE_MAX_GENES 64
#define RECIPE_MAX_ARGS 64	/* of one gene */

struct gene {
	char *name;
	struct strv args;
};

struct recipe {
	struct gene *v;
	size_t nr, cap;
};
#define RECIPE_INIT { NULL, 0, 0 }

/* Each name at most once.  On an error *r is empty. */
int recipe_parse(struct recipe *r, const char *text, struct err *err);
void recipe_release(struct recipe *r);
void recipe_copy(struct recipe *to, const struct recipe *from);
/* In the form above, one blank after each ";". */
void recipe_print(const struct recipe *r, struct buf *out);

const struct gene *recipe_find(const struct recipe *r, const char *name);
/* args: "512" or "a,b" or "" for none; NULL takes the gene away. */
void recipe_set(struct recipe *r, const char *name, const char *args);
/* Sorts words and genes, these by rank; words that are double go. */
void recipe_normalise(struct recipe *r, int (*rank)(const char *name));

/* The words of a gene, "a,b". */
void gene_args(const struct gene *g, struct buf *out);

#endif
