/*
 * Running a compiler: fixed argv and environment, its own process group,
 * limits, a time-out, bounded output, jailed on demand.  It does not outlive
 * this process.
 */
#ifndef CORE_JUDGE_RUN_H
#define CORE_JUDGE_RUN_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/judge/jail.h"

struct run {
	char *const *argv;	/* argv[0]: path of the program */
	const char *dir;	/* where it runs; also HOME and TMPDIR */
	double timeout_s;
	size_t max_output;	/* bytes kept; the rest is read and lost */
	bool jailed;
	const struct jail_path *paths;	/* what it may open, if jailed */
	size_t nr_paths;
};

struct run_end {
	int status;		/* as of waitpid() */
	bool late;		/* ended by the time-out */
	double seconds;
};

/* stdout and stderr both go to output.  A program that can't be started, or
 * jailed, is an error. */
int run_program(const struct run *r, struct buf *output, struct run_end *end,
		struct err *err);

#endif
