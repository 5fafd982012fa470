/* What the loop nest of the entry is like, in one word. */
#ifndef AGENTS_BUILTIN_SHAPE_H
#define AGENTS_BUILTIN_SHAPE_H

#include "agents/builtin/strategy.h"

/*
 * "d3r1s1c0w1-f32": loops within each other, loops that sum into a scalar,
 * that step over rows, calls of math functions, stores in loops; and the type
 * of the output.  Counts end early, so that kernels that take to the same
 * strategies have one word.  "x-f32": the code cannot be looked at.
 */
void shape_add(const struct site *s, struct buf *out);

#endif
