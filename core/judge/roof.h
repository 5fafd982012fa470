/*
 * The roof: what this CPU does at best, by kernels of ours that run through
 * the same builds, workers, pages and clock as a candidate does.  The roof
 * time of a shape is the longer of flops / peak and bytes / bandwidth, the
 * bandwidth being the best of reading, copying and copying around the cache
 * for a working set of that size.
 */
#ifndef CORE_JUDGE_ROOF_H
#define CORE_JUDGE_ROOF_H

#include "core/judge/worker.h"

enum roof_probe { ROOF_FMA, ROOF_READ, ROOF_COPY, ROOF_STREAM, ROOF_NR };

struct roof {
	struct kernel_file file;	/* one section for each probe */
	char *so[ROOF_NR];	/* NULL: does not build here */
	struct worker_limits limits;
	double flops;		/* best seen, a second; 0: not measured */
};

/* Builds the probes in work; wide: double, not float. */
int roof_open(struct roof *r, const char *work, const char *cc, int threads,
	      bool wide, bool sandbox_none, struct err *err);
void roof_close(struct roof *r);
/* Operations a second; the best of now and before. */
int roof_peak(struct roof *r, double *flops, struct err *err);
/* Bytes a second for a working set. */
int roof_bandwidth(struct roof *r, double bytes, double *rate,
		   struct err *err);
/* Seconds that a call needs at the least; 0 if nothing is known. */
double roof_seconds(double flops, double peak, double bytes, double rate);

#endif
