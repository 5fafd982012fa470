/*
 * What an attempt used up besides time: calls of models, by agent.  Money is
 * US dollars.  A call whose price is not known has cost NAN and counts as 0 in
 * sums, which then say so.
 */
#ifndef CORE_USAGE_H
#define CORE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USAGE_MAX_NAME 64
#define USAGE_MAX_TOKENS ((int64_t)1 << 53)	/* sums stop there */
#define USAGE_MAX_COST 1e9
#define USAGE_NAME_CHARS "abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/:"

struct usage {			/* of one call, or the sum of an agent's */
	char *agent, *model;	/* "planner"; names without blanks */
	int64_t tokens_in;	/* without those read from a cache */
	int64_t tokens_cached, tokens_out, tokens_reasoning;
	double cost;
	double seconds;		/* waited for */
	char id[13];		/* names the call: 12 hex digits, or "" */
};

struct usages {
	struct usage *v;
	size_t nr, cap;
};
#define USAGES_INIT { NULL, 0, 0 }

/* Copies the names. */
void usages_add(struct usages *u, const struct usage *one);
void usages_copy(struct usages *to, const struct usages *from);
void usages_release(struct usages *u);
/* 1 to USAGE_MAX_NAME of USAGE_NAME_CHARS, no dot or dash first. */
bool usage_name_ok(const char *name);
/* What it is called in the ledger: cut, and '_' for what may not stand there;
 * NULL and "" become "_". */
void usage_fit_name(const char *name, char out[USAGE_MAX_NAME + 1]);
/* A new name of a call. */
void usage_make_id(char id[13]);
/* a + b, at most USAGE_MAX_TOKENS; what is below 0 counts as 0. */
int64_t usage_sum(int64_t a, int64_t b);
/* Adds the numbers of one to a sum; a cost that is not known adds nothing. */
void usage_add(struct usage *sum, const struct usage *one);
int64_t usage_tokens(const struct usage *u);	/* all kinds together */
int64_t usages_tokens(const struct usages *u);
/* Sum of the known costs; *unknown (may be NULL): some are not known. */
double usages_cost(const struct usages *u, bool *unknown);

#endif
