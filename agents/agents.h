/* The proposers, by name. */
#ifndef AGENTS_AGENTS_H
#define AGENTS_AGENTS_H

#include "core/proposer.h"

/* NULL if there is none of that name. */
const struct proposer *proposer_find(const char *name);
/* All, ended by a NULL. */
const struct proposer *const *proposer_list(void);

#endif
