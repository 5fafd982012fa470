/* What metrics.c and metrics_read.c share; no one else includes this. */
#ifndef CORE_METRICS_PARTS_H
#define CORE_METRICS_PARTS_H

#include "core/metrics.h"

#define METRIC_EVENTS 5
extern const char *const metric_events[METRIC_EVENTS];

/* The plain fields of a record, by their names in the design. */
struct num_field {
	const char *key;
	size_t at;
	int digits;		/* 0: all */
	bool positive;
};
#define METRIC_NUMS 17
extern const struct num_field metric_nums[METRIC_NUMS];

struct str_field {
	const char *key;
	size_t at;
	size_t max;
};
#define METRIC_STRS 7
extern const struct str_field metric_strs[METRIC_STRS];

static inline double *num_at(const struct record *r,
			     const struct num_field *f)
{
	return (double *)(void *)((char *)(uintptr_t)r + f->at);
}

static inline char **str_at(const struct record *r,
			    const struct str_field *f)
{
	return (char **)(void *)((char *)(uintptr_t)r + f->at);
}

/* What can be said of a verdict without being told. */
bool says_compiled(enum verdict v);
bool says_correct(enum verdict v);

#endif
