/* Numbers in a source that are meant to be tuned; see site->tunable. */
#ifndef AGENTS_BUILTIN_TUNABLE_H
#define AGENTS_BUILTIN_TUNABLE_H

#include "agents/builtin/strategy.h"

/*
 * "#define TILE 64" in the files that may change, where the name says tile,
 * block, unroll and the like, or a comment on the line says
 * "tunable: 16 32 128".
 */
void tunable_find(struct site *s);
void tunable_release(struct site *s);

#endif
