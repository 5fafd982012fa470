/*
 * Errors.  A call that can fail returns 0 or a negative code and takes a
 * struct err last.  The value lives on the caller's stack and owns nothing.
 * A kernel that does not build, is wrong or is slow is a result, never an
 * error: errors are for what keeps us from knowing.
 */
#ifndef CORE_ERR_H
#define CORE_ERR_H

enum err_code {
	ERR_NONE = 0,
	ERR_SYS = -1,		/* a system call failed */
	ERR_GIT = -2,		/* the repository refused or is damaged */
	ERR_NET = -3,
	ERR_FORMAT = -4,	/* bad input: file, note, option value */
	ERR_LIMIT = -5,		/* past a cap on size, time or count */
	ERR_NOTFOUND = -6,
	ERR_STOPPED = -7,	/* interrupted */
	ERR_RACE = -8,		/* a ref moved under us: try again */
	ERR_USAGE = -9,		/* the command line is wrong: exit status 129 */
	ERR_PROPOSAL = -10	/* an attempt came to nothing: no new state */
};

struct err {
	enum err_code code;
	char msg[1024];
};
#define ERR_INIT { ERR_NONE, "" }

/* Each returns the code, so that "return err_set(...)" is an error path. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Code ERR_SYS; adds ": " and the text of errno. */
int err_sys(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Puts context and ": " in front of the message; keeps the code. */
int err_wrap(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
