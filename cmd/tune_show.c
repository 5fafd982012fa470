#include "cmd/tune_show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/tune.h"

#define MAX_LINE 4096

/* The next line of the samples that is an object, or NULL; caller frees. */
static struct json *next_line(const char **p, const char *end)
{
	struct json *j = NULL;

	while (*p && *p < end && !j) {
		const char *nl = memchr(*p, '\n', (size_t)(end - *p));
		size_t len = nl ? (size_t)(nl - *p) : (size_t)(end - *p);
		struct err unused = ERR_INIT;

		if (len > MAX_LINE || json_parse_object(&j, *p, len, &unused))
			j = NULL;
		*p = nl ? nl + 1 : NULL;
	}
	return j;
}

/* The first record that has trials. */
static const char *find(const struct record *r, size_t nr, const char **end)
{
	for (size_t i = 0; i < nr; i++) {
		const char *p = tune_find_samples(&r[i]);

		if (p) {
			*end = r[i].samples.ptr + r[i].samples.len;
			return p;
		}
	}
	return NULL;
}

static void put_one(const struct json *names, const struct json *line,
		    struct buf *out)
{
	const struct json *set = json_get(line, "set"), *v = json_first(set);
	struct buf text = BUF_INIT;
	struct jout j, s;

	jout_begin(&s);
	for (const struct json *n = json_first(names); n && v;
	     n = json_next(n), v = json_next(v))
		jout_str(&s, json_string(n) ? json_string(n) : "",
			 json_string(v));
	jout_detach(&s, &text);
	jout_begin(&j);
	jout_raw(&j, "setting", text.ptr);
	jout_str(&j, "state", json_str(line, "st", NULL));
	jout_str(&j, "verdict", json_str(line, "verdict", NULL));
	jout_num(&j, "vs_parent", exp(json_num(line, "lr", NAN)));
	jout_num(&j, "attempt_s", json_num(line, "s", NAN));
	jout_detach(&j, out);
	buf_release(&text);
}

void tune_show_json(struct jout *j, const struct record *r, size_t nr)
{
	const char *end = NULL, *p = find(r, nr, &end);
	struct json *head = next_line(&p, end), *line;
	const struct json *names = json_get(json_get(head, "tune"), "names");
	struct buf list = BUF_INIT;
	size_t left = TUNER_MAX_TRIALS;

	if (head && json_count(names) <= TUNER_MAX_NAMES) {
		buf_addch(&list, '[');
		for (line = next_line(&p, end); line && left;
		     line = next_line(&p, end)) {
			if (list.len > 1)
				buf_addch(&list, ',');
			put_one(names, line, &list);
			json_free(line);
			left--;
		}
		json_free(line);
		buf_addch(&list, ']');
		jout_raw(j, "trials", list.ptr);
	}
	json_free(head);
	buf_release(&list);
}

void tune_show(const struct record *r, size_t nr)
{
	const char *end = NULL, *p = find(r, nr, &end);
	struct json *head = next_line(&p, end);
	const struct json *tune = json_get(head, "tune");
	double trials = json_num(tune, "trials", 0);

	if (trials >= 1 && trials <= TUNER_MAX_TRIALS)
		printf("\ntrials      %.0f settings, listed by show --json\n",
		       trials);
	json_free(head);
}
