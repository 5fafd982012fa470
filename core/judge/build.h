/*
 * Building one arm: a folder of sources becomes a shared object that exports
 * the stub's symbol alone.  Fixed argv, limits, time-out, own process group,
 * jailed (jail.h); then the ELF gate.  A failure to build is a result.
 */
#ifndef CORE_JUDGE_BUILD_H
#define CORE_JUDGE_BUILD_H

#include "core/buf.h"
#include "core/kernel.h"
#include "core/record.h"

struct build_job {
	const struct kernel *kernel;
	const char *dir;	/* folder with the sources; may be written to */
	const char *so;		/* path of the artefact */
	/* Sources to compile: paths below dir; NULL: all *.c that `file` and
	 * `use` match there. */
	const struct strv *sources;
	const char *symbol;	/* entry to call; NULL: kernel->entry */
	const char *cc;		/* NULL: kernel->cc */
	const struct strv *flags;	/* NULL: kernel->flags */
	const char *prelude;	/* file given to -include, or NULL */
	bool as_double;		/* stub: float arrays and scalars are double */
	bool sandbox_none;
};

struct build_result {
	enum verdict verdict;	/* V_NONE: built; V_BUILD_FAIL, V_GATE_FAIL */
	char *error;		/* the compiler's first error, or the gate's
				 * reason, with the path as in the repository */
	double seconds;
};

int build_run(const struct build_job *job, struct build_result *out,
	      struct err *err);
void build_result_release(struct build_result *r);
/* True if the undefined symbols of an object or .so include name; used to
 * refuse an oracle that still calls expf. */
int build_imports(const char *so, struct strv *out, struct err *err);
/* "gcc 12.2.0"; ERR_NOTFOUND if there is no such compiler. */
int build_compiler(const char *cc, char **out, struct err *err);

/*
 * The C text of the stub: declares the entry's prototype and defines
 *	void mk_call(void *const *arg);
 * arg[i] is the address of array i, or of the value of a scalar, a dim or
 * the return.
 */
void stub_text(struct buf *out, const struct kernel *k, const char *symbol,
	       bool as_double);

#endif
