/* The trials of a tuned node, as show tells of them. */
#ifndef CMD_TUNE_SHOW_H
#define CMD_TUNE_SHOW_H

#include "cmd/out.h"

/* Adds "trials", a list, if one of the records of a node has some. */
void tune_show_json(struct jout *j, const struct record *r, size_t nr);
/* Prints how many there are, if there are any. */
void tune_show(const struct record *r, size_t nr);

#endif
