/* The settings of versions; see space and compose in core/proposer.h. */
#ifndef AGENTS_BUILTIN_SPACE_H
#define AGENTS_BUILTIN_SPACE_H

#include "core/proposer.h"

int builtin_space(const struct kernel *k, const struct srcset *origin,
		  const char *recipe, struct space *out, struct err *err);
int builtin_compose(const struct space *s, const int *setting,
		    const char *recipe, struct buf *out, struct err *err);

#endif
