/* needs: core/lesson.c core/prior.c core/graph.c core/record.c */
/*
 * The text of a lesson, any bytes.  What is read is fit for a terminal, and
 * written again it reads the same.
 */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/lesson.h"
#include "core/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void drop(struct lesson *l)
{
	struct lessons one = { xcalloc(1, sizeof(*l)), 1, 1 };

	one.v[0] = *l;
	lessons_release(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct buf one = BUF_INIT, two = BUF_INIT;
	struct err err = ERR_INIT;
	struct lesson l, again;

	if (lesson_parse(&l, text, &err)) {
		must(err.code == ERR_FORMAT && !l.gene);
		free(text);
		return 0;
	}
	must(l.tried && l.failed <= l.tried && l.won <= l.tried - l.failed);
	must((l.kind == LESSON_FAILED) == !isfinite(l.ratio));
	lesson_format(&one, &l);
	for (size_t i = 0; i < one.len; i++)
		must(isprint((unsigned char)one.ptr[i]));
	must(!lesson_parse(&again, one.ptr, &err));
	must(again.kind == l.kind && lesson_same_key(&again, &l));
	lesson_format(&two, &again);
	must(!strcmp(one.ptr, two.ptr));
	drop(&again);
	drop(&l);
	buf_release(&one);
	buf_release(&two);
	free(text);
	return 0;
}
