/* needs: core/live_text.c core/json.c */
/*
 * The file of a search that runs, whoever wrote it: its texts are clean and
 * end, its numbers are none that a person would not understand, and what was
 * read reads the same when it is written again.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/live_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void is_clean(const char *s, size_t size)
{
	struct buf again = BUF_INIT;
	size_t len = strnlen(s, size);

	must(len < size);
	buf_add_clean(&again, s, len, false);
	must(again.len == len && !memcmp(again.ptr, s, len));
	buf_release(&again);
}

static void is_amount(double x)
{
	must(isfinite(x) && x >= 0);
}

static void check(const struct live_state *s)
{
	is_clean(s->host, sizeof(s->host));
	is_clean(s->kernel, sizeof(s->kernel));
	is_clean(s->log, sizeof(s->log));
	is_clean(s->doing, sizeof(s->doing));
	must(s->pid > 0 && s->pid <= INT32_MAX && s->started >= 0);
	must(s->tokens >= 0 && s->cap.tokens >= 0 && s->cap.attempts >= 0);
	is_amount(s->elapsed_s);
	is_amount(s->device_s);
	is_amount(s->cost);
	is_amount(s->best);
	is_amount(s->cap.time_s);
	is_amount(s->used.device_s);
	must(s->nr_jobs >= 0 && s->nr_jobs <= LIVE_MAX_JOBS);
	for (int i = 0; i < s->nr_jobs; i++) {
		is_clean(s->job[i].doing, sizeof(s->job[i].doing));
		is_clean(s->job[i].subject, sizeof(s->job[i].subject));
		is_amount(s->job[i].seconds);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct live_state *s = calloc(2, sizeof(*s));
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct err err = ERR_INIT;

	if (s && size <= LIVE_MAX_FILE &&
	    !live_parse((const char *)data, size, &s[0], &err)) {
		check(&s[0]);
		live_format(&text, &s[0]);
		must(!live_parse(text.ptr, text.len, &s[1], &err));
		live_format(&again, &s[1]);
		must(again.len == text.len &&
		     !memcmp(again.ptr, text.ptr, text.len));
	}
	buf_release(&text);
	buf_release(&again);
	free(s);
	return 0;
}
