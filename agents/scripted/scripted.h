/*
 * A proposer that reads what it does from a script, so that policies, budgets,
 * resuming and what is spent can be tested to the bit.  MAXKERNEL_PROPOSER
 * names the script; it is listed only while that is set.  One word and its
 * values a line, # begins a comment:
 *
 *	branch <n>		children that a node can have, default 4
 *	call <agent> <model> <in> <cached> <out> <reasoning> <cost>
 *				each attempt makes this call; tokens, and US
 *				dollars or - where that is not known; may be
 *				there more than once
 *	delay <ms>		that an attempt takes
 *	steps <n>		of a new plan; children of a node that has some
 *				left go on with them
 *	empty <percent>		attempts that come to nothing
 *	dup <percent>		attempts that give the parent's state again
 *	die <step> <file>	kills the process when the calls of this step
 *				are made, if there is the file (seen from the
 *				script), which it removes first
 *	fail <step>		this step is an error
 *
 * A recipe is "s(3); s(1)": it appends that text, as a comment, to the first
 * file that may change.  The same seed, recipe and step give the same attempt,
 * and its calls the same ids: an attempt that is made once more makes no new
 * ones.
 */
#ifndef AGENTS_SCRIPTED_SCRIPTED_H
#define AGENTS_SCRIPTED_SCRIPTED_H

#include "core/proposer.h"

#define SCRIPTED_VARIABLE "MAXKERNEL_PROPOSER"

extern const struct proposer proposer_scripted;

#endif
