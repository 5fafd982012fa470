/*
 * The built-in proposer: rewrites C sources without a network or a model.
 * What it does to a source is a recipe (recipe.h), a list of strategies with
 * their parameters (strategy.h), replayed on the text of the origin.
 */
#ifndef AGENTS_BUILTIN_BUILTIN_H
#define AGENTS_BUILTIN_BUILTIN_H

#include "core/proposer.h"

extern const struct proposer proposer_builtin;

#endif
