/*
 * The log of the trials of a search: <gitdir>/maxkernel/log/tune-<slug>-<key>,
 * one JSON line each, appended and synced; the key is a hash of what a verdict
 * holds for (section, device class, judge epoch, sandbox).  A torn last line
 * and lines that cannot be read count for nothing.  What trials have cost is
 * written to the ledger of the search later: first a line names what is about
 * to be written there, which has that name as its state, and then another one
 * says that it was.  So what a killed process wrote is not written twice.
 *
 * Under the claim of the search.
 */
#ifndef CORE_TUNE_LOG_H
#define CORE_TUNE_LOG_H

#include "core/store.h"

#define TUNE_LOG_MAX (64u << 20)	/* bytes that are read */
#define TUNE_LOG_ERROR 160		/* bytes of an error that are kept */

struct tune_result {
	struct oid state;
	enum verdict verdict;
	double est;		/* speedup over the root; NAN */
	double lr;		/* as of struct record */
	double seconds, device_s;
	char *error;		/* first line, clean; may be NULL */
};

struct tune_log {
	char *path;
	int fd;
	bool torn;		/* its last line has no end */
	struct tune_result **v;	/* in order */
	size_t nr, cap;
	uint32_t *slot;		/* by state, index + 1 */
	size_t nr_slots;
	double unpaid_s, unpaid_device_s;	/* that no ledger has */
	struct oid paying;	/* name of what was about to be written there,
				 * and may have been; zero: nothing */
};

/* tune_log_close() in any case. */
int tune_log_open(struct tune_log *l, const struct search *s,
		  const char *device, const char *sandbox, struct err *err);
void tune_log_close(struct tune_log *l);
/* NULL: not tried; else it stays until the log is closed. */
const struct tune_result *tune_log_find(const struct tune_log *l,
					const struct oid *state);
/* Appends and syncs; copies. */
int tune_log_add(struct tune_log *l, const struct tune_result *r,
		 struct err *err);
/* As tune_log_add(), but of what need not be kept. */
void tune_log_note(struct tune_log *l, const struct tune_result *r);
/* All that was logged is about to be written to the ledger, under a new name:
 * l->paying. */
int tune_log_paying(struct tune_log *l, struct err *err);
/* All that was logged is in the ledger now. */
int tune_log_paid(struct tune_log *l, struct err *err);
/* As that, if the ledger has what a killed process was about to write. */
int tune_log_settle(struct tune_log *l, const struct graph *g,
		    struct err *err);

#endif
