/*
 * Reading what a worker left on its control page.  The page may hold anything
 * and may change at any time, so that it is copied first, each word once, and
 * only the copy is looked at.
 */
#ifndef CORE_JUDGE_CTL_READ_H
#define CORE_JUDGE_CTL_READ_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/judge/ctl.h"

struct ctl_said {		/* as in struct ctl */
	uint32_t stage, mxcsr, fpcw, syscall, error;
	char text[sizeof(((struct ctl *)0)->text) + 1];	/* any bytes */
};

void ctl_read(struct ctl_said *out, const struct ctl *page);
/* The floating-point unit is not in the state that each call starts in;
 * sticky flags do not count. */
bool ctl_fp_changed(const struct ctl_said *c);
/* What came of a worker that SIGSYS has ended, for people. */
void ctl_refused_text(struct buf *out, const struct ctl_said *c);
/* Why it did not start, and strerror() of the error if there is one. */
void ctl_start_text(struct buf *out, const struct ctl_said *c);

#endif
