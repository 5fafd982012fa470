/* needs: core/judge/line.c core/json.c */
/*
 * One line, any bytes.  What is accepted is JSON to the other parser too, with
 * the same values; written again it parses to the same, and is written the
 * same.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/judge/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void format(struct buf *b, const struct line *l)
{
	line_begin(b);
	for (int i = 0; i < l->nr; i++) {
		const struct line_field *f = &l->v[i];

		switch (f->type) {
		case LINE_STRING:
			line_add_str(b, f->key, f->text);
			break;
		case LINE_NUMBER:
			line_add_num(b, f->key, f->number);
			break;
		case LINE_BOOL:
			line_add_bool(b, f->key, f->number != 0);
			break;
		case LINE_NULL:
			line_add_str(b, f->key, NULL);
			break;
		}
	}
	line_end(b);
}

/* Numbers are written with nine digits. */
static void is_like(const struct line *a, const struct line *b)
{
	must(a->nr == b->nr);
	for (int i = 0; i < a->nr; i++) {
		const struct line_field *x = &a->v[i], *y = &b->v[i];

		must(x->type == y->type && !strcmp(x->key, y->key));
		must(!x->text == !y->text);
		if (x->text)
			must(!strcmp(x->text, y->text));
		must(fabs(x->number - y->number) <=
		     1e-8 * fabs(x->number));
	}
}

static void try_json(const struct line *l, const char *text, size_t len)
{
	struct err err = ERR_INIT;
	struct json *doc;

	must(json_parse_object(&doc, text, len, &err) == 0);
	must(json_count(doc) == (size_t)l->nr);
	for (int i = 0; i < l->nr; i++) {
		const struct line_field *f = &l->v[i];
		const struct json *v = json_get(doc, f->key);

		if (f->type == LINE_STRING)
			must(!strcmp(json_string(v), f->text));
		else if (f->type == LINE_NUMBER)
			must(json_number(v) == f->number);
		else
			must(json_type(v) == (f->type == LINE_BOOL ?
					      JSON_BOOL : JSON_NULL));
	}
	json_free(doc);
}

static void look(const struct line *l, const char *text, size_t len)
{
	double v;

	must(l->nr <= LINE_MAX_FIELDS);
	for (int i = 0; i < l->nr; i++) {
		const struct line_field *f = &l->v[i];

		must((f->type == LINE_STRING) ==
		     (line_str(l, f->key) != NULL));
		must((f->type == LINE_NUMBER || f->type == LINE_BOOL) ==
		     line_num(l, f->key, &v));
		must(isfinite(f->number));
	}
	try_json(l, text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct buf one = BUF_INIT, two = BUF_INIT;
	struct err err = ERR_INIT;
	struct line l, again;

	if (line_parse(&l, text, size, &err)) {
		must(err.code == ERR_FORMAT && err.msg[0] && !l.nr);
		return 0;
	}
	look(&l, text, size);
	format(&one, &l);
	must(memchr(one.ptr, '\n', one.len) == one.ptr + one.len - 1);
	must(line_parse(&again, one.ptr, one.len, &err) == 0);
	is_like(&l, &again);
	format(&two, &again);
	must(one.len == two.len && !memcmp(one.ptr, two.ptr, one.len));
	line_release(&again);
	line_release(&l);
	buf_release(&one);
	buf_release(&two);
	return 0;
}
