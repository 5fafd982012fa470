/* needs: core/metrics*.c core/usage.c core/json.c core/record.c core/source.c core/sha1.c
 */
/*
 * The first line of the input is a metrics line, all of it a raw blob.  A line
 * that parses is written again under the cap, in ASCII, and what was written
 * parses and is written the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_line(const char *text, size_t len)
{
	struct metric m, twice;
	struct buf one = BUF_INIT, two = BUF_INIT;
	struct err err = ERR_INIT;
	int ret = metric_parse(&m, text, len, &err);

	if (ret < 0 && (ret != ERR_FORMAT || !err.msg[0]))
		abort();
	if (ret != METRIC_OK)
		return;
	metric_format(&one, &m);
	/* what, a name of ours, is the one text that is not cut */
	if (m.event != METRIC_CONFIG && m.event != METRIC_LESSON &&
	    strlen(m.worker) <= 13 && (!m.rec.device ||
				       strlen(m.rec.device) <= 40) &&
	    one.len > METRIC_MAX_LINE)
		abort();
	for (size_t i = 0; i + 1 < one.len; i++)
		if (one.ptr[i] < 32 || one.ptr[i] > 126)
			abort();
	if (one.len <= METRIC_MAX_READ) {
		ret = metric_parse(&twice, one.ptr, one.len - 1, &err);
		if (ret != METRIC_OK)
			abort();
		metric_format(&two, &twice);
		if (strcmp(one.ptr, two.ptr))
			abort();
		metric_release(&twice);
	}
	buf_release(&one);
	buf_release(&two);
	metric_release(&m);
}

static void try_raw(const char *text, size_t len)
{
	struct record r, again;
	struct buf one = BUF_INIT;
	struct err err = ERR_INIT;

	record_init(&r);
	record_init(&again);
	if (metric_parse_raw(&r, text, len, &err) == 0) {
		metric_format_raw(&one, &r);
		if (metric_parse_raw(&again, one.ptr, one.len, &err) < 0 ||
		    again.nr_shapes != r.nr_shapes ||
		    again.samples.len != r.samples.len)
			abort();
	} else if (!err.msg[0]) {
		abort();
	}
	record_release(&r);
	record_release(&again);
	buf_release(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *nl = size ? memchr(text, '\n', size) : NULL;

	try_line(text, nl ? (size_t)(nl - text) : size);
	try_raw(text, size);
	return 0;
}
