/* The clock that durations are told by. */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <time.h>

/* Seconds since some moment of this boot; never goes back. */
static inline double clock_s(void)
{
	struct timespec t = { 0, 0 };

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
