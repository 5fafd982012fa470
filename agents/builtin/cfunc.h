/*
 * The functions and loops of one C file, found from its tokens: no types, no
 * macros, no includes.  What cannot be read is left out with a reason, never
 * guessed.  Token numbers are those of lex.v.
 */
#ifndef AGENTS_BUILTIN_CFUNC_H
#define AGENTS_BUILTIN_CFUNC_H

#include "agents/builtin/clex.h"

#define CNONE UINT32_MAX

enum cparam_kind { CPARAM_VALUE, CPARAM_POINTER, CPARAM_ARRAY };

struct cparam {
	uint32_t first, last;	/* tokens, both included */
	uint32_t name;		/* CNONE in a declaration without names */
	enum cparam_kind kind;
	uint32_t mark;		/* the last '*' or the first '[' */
	bool restricted;	/* already promised */
};

struct cfunc {
	uint32_t first;		/* token that begins the declaration */
	uint32_t name, lparen, rparen;
	uint32_t body, end;	/* its braces; CNONE for a declaration */
	bool is_static;
	struct cparam *param;
	size_t nr_params;
	const char *problem;	/* why its parameters cannot be read, or NULL */
};

struct cunit {
	struct clex lex;
	uint32_t *match;	/* of a bracket, its partner; else CNONE */
	struct cfunc *v;
	size_t nr, cap;
};
#define CUNIT_INIT { CLEX_INIT, NULL, NULL, 0, 0 }

/* text is borrowed.  On an error *u is empty. */
int cunit_parse(struct cunit *u, const char *text, size_t len,
		struct err *err);
void cunit_release(struct cunit *u);
/* The definition of that name; NULL if there is none. */
const struct cfunc *cunit_find(const struct cunit *u, const char *name);

/* The end of the statement that begins at token i, CNONE if unreadable. */
uint32_t cunit_statement_end(const struct cunit *u, uint32_t i);

struct cloop {			/* a for loop */
	uint32_t kw;		/* "for" */
	uint32_t lparen, rparen;
	uint32_t first, last;	/* its body, both included */
	uint32_t var;		/* the name that its first clause sets, or CNONE */
	int depth;		/* loops around it */
	bool innermost;
};

struct cloops {
	struct cloop *v;
	size_t nr, cap;
};
#define CLOOPS_INIT { NULL, 0, 0 }
/* Those of one definition, in order of their place. */
void cunit_loops(const struct cunit *u, const struct cfunc *f,
		 struct cloops *out);
void cloops_release(struct cloops *l);

/* True if token i is a name that is called there. */
bool cunit_is_call(const struct cunit *u, uint32_t i);

#endif
