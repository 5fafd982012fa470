/*
 * Option tables: parser, -h and completion from one table.  Understands
 * --name, --name=value, --name value, -x, -x value, -xvalue, --no-name for
 * booleans (--name for one that is called no-name), unambiguous prefixes and
 * --.
 */
#ifndef CMD_OPT_H
#define CMD_OPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/cmd.h"

enum opt_type {
	OPT_T_END, OPT_T_BOOL, OPT_T_COUNT, OPT_T_INT, OPT_T_STR, OPT_T_LIST,
	OPT_T_DOUBLE, OPT_T_TIME, OPT_T_MAYBE
};

struct opt {
	enum opt_type type;
	char shortname;			/* 0: none */
	const char *name;
	void *value;
	const char *argh;		/* "<n>" */
	const char *help;
	int64_t min, max;		/* OPT_T_INT, both included */
};

#define OPT_BOOL(s, n, v, h) \
	{ OPT_T_BOOL, s, n, (bool *){ v }, NULL, h, 0, 0 }
#define OPT_COUNT(s, n, v, h) \
	{ OPT_T_COUNT, s, n, (int *){ v }, NULL, h, 0, 0 }
#define OPT_INT(s, n, v, lo, hi, a, h) \
	{ OPT_T_INT, s, n, (int64_t *){ v }, a, h, lo, hi }
#define OPT_STR(s, n, v, a, h) \
	{ OPT_T_STR, s, n, (const char **){ v }, a, h, 0, 0 }
/* struct strv: may be given more than once */
#define OPT_LIST(s, n, v, a, h) \
	{ OPT_T_LIST, s, n, (struct strv *){ v }, a, h, 0, 0 }
#define OPT_DOUBLE(s, n, v, a, h) \
	{ OPT_T_DOUBLE, s, n, (double *){ v }, a, h, 0, 0 }
/* seconds as a double; "90", "90s", "5m", "2h" */
#define OPT_TIME(s, n, v, a, h) \
	{ OPT_T_TIME, s, n, (double *){ v }, a, h, 0, 0 }
/* --name or --name=value, never --name value; "" for --name alone */
#define OPT_MAYBE(n, v, a, h) \
	{ OPT_T_MAYBE, 0, n, (const char **){ v }, a, h, 0, 0 }
#define OPT_END { OPT_T_END, 0, NULL, NULL, NULL, NULL, 0, 0 }

/*
 * Parses argv[1..argc-1], moves the operands to argv[0..] and returns how
 * many there are.  Negative: *status is what run() returns (help was printed
 * to stdout, or *err is filled and *status is EXIT_USAGE).
 * The hidden --git-completion-helper prints the option names.
 */
int opt_parse(const struct cmd *cmd, const struct opt *opts, int argc,
	      char **argv, int *status, struct err *err);
/* 0, or EXIT_USAGE and *err, when the number of operands is not min to max. */
int opt_operands(int nr, int min, int max, struct err *err);
/* Did the last opt_parse() fail?  Then its usage helps. */
bool opt_failed(void);
/*
 * What -h prints, of the command that opt_parse() was last called for: main()
 * puts it behind the message of an ERR_USAGE.  Nothing before the first call.
 */
void opt_usage_last(FILE *f);
/* "90", "1.5m", "2h" to seconds; 0 or negative code. */
int opt_time(const char *text, double *seconds, struct err *err);

#endif
