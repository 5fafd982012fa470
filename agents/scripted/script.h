/* The script of the scripted proposer, see scripted.h. */
#ifndef AGENTS_SCRIPTED_SCRIPT_H
#define AGENTS_SCRIPTED_SCRIPT_H

#include "core/buf.h"
#include "core/err.h"
#include "core/usage.h"

#define SCRIPT_MAX_BRANCH 1000
#define SCRIPT_MAX_STEPS 64

struct script {
	int branch, steps, empty, dup;
	int64_t delay_ms;
	uint32_t die, fail;	/* 0: none */
	char *die_file;
	struct usages calls;	/* without ids */
};

/* Errors name the file and line and are never ERR_FORMAT, which a proposer
 * gives for recipes; on one *s is empty. */
int script_read(struct script *s, const char *path, struct err *err);
void script_release(struct script *s);

#endif
