/* Numbers in a source that are meant to be tuned; see site->tunable. */
#ifndef AGENTS_BUILTIN_TUNABLE_H
#define AGENTS_BUILTIN_TUNABLE_H

#include "agents/builtin/strategy.h"

/*
 * "#define TILE 64" in the files that may change, where the section names it
 * (`tunable = TILE 16 32`), the name says tile, block, unroll and the like, or
 * a comment on the line says "tunable: 16 32 128".  Of several definitions of
 * one name it is the first.
 */
void tunable_find(struct site *s);
/* A line for each that the section names and the sources have not. */
void tunable_unfit(const struct site *s, struct strv *out);
void tunable_release(struct site *s);

#endif
