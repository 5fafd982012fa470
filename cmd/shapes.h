/* The table of a record's numbers, shape by shape, for people. */
#ifndef CMD_SHAPES_H
#define CMD_SHAPES_H

#include "cmd/out.h"
#include "core/record.h"

/* Prints nothing when the record has no shapes. */
void shapes_print(const struct record *r, FILE *f);

#endif
