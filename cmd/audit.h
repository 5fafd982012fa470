/* Attacking a kernel's section with mutants: audit, and add's warning. */
#ifndef CMD_AUDIT_H
#define CMD_AUDIT_H

#include "agents/audit/mutant.h"
#include "cmd/task.h"

struct audit_entry {
	enum mutant mutant;
	bool tried;		/* else it has no meaning here: why says so */
	enum verdict verdict;	/* V_SAME: it passed */
	char *why;		/* what it was rejected by; may be NULL */
};

struct audit {
	struct audit_entry entry[MUTANT_NR];
	int tried, passed;
	double rtol, atol;	/* of the section */
	/*
	 * The loosest tolerance among those tried under which every mutant is
	 * rejected and the kernel itself passes; NAN: none was found, or none
	 * was looked for.
	 */
	double better_rtol, better_atol;
};

/*
 * Runs the mutants of a kernel through the judge: built, checked and, if they
 * pass, timed as any candidate is.  advise: look for a better tolerance when
 * some pass.  source, aux: as struct judge_config's root and aux.
 */
int audit_kernel(struct session *s, const struct kernel *k,
		 const struct srcset *source, const struct srcset *aux,
		 bool advise, struct audit *out, struct err *err);
/* Audits without advice and warns of what passes; what keeps it from being
 * known is only told.  ERR_STOPPED alone is an error. */
int audit_warn(struct session *s, const struct kernel *k,
	       const struct srcset *source, const struct srcset *aux,
	       struct err *err);
void audit_release(struct audit *a);
/* "zero, half and row": those that passed. */
void audit_names(const struct audit *a, struct buf *out);

#endif
