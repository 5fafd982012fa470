/* One recipe out of two; see cross in core/proposer.h. */
#ifndef AGENTS_BUILTIN_CROSS_H
#define AGENTS_BUILTIN_CROSS_H

#include <stdint.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/kernel.h"
#include "core/source.h"

int builtin_cross(const struct kernel *k, const struct srcset *origin,
		  const char *a, const char *b, uint64_t seed,
		  struct buf *out, struct err *err);

#endif
