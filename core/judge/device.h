/*
 * The device class: what must be equal for two measurements to be compared.
 */
#ifndef CORE_JUDGE_DEVICE_H
#define CORE_JUDGE_DEVICE_H

#include "core/buf.h"

/*
 * slug: "intel-xeon-207-avx512-t1", [a-z0-9-], at most 60 characters;
 * text: for people.
 */
void device_name(struct buf *slug, struct buf *text, int threads);
/* From the text of /proc/cpuinfo, for tests: maker, model, number. */
void device_cpu(struct buf *slug, struct buf *text, const char *cpuinfo);
void device_host(struct buf *out);

#endif
