#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/builtin/strategy.h"
#include "agents/builtin/tunable.h"
#include "core/mem.h"

#define BEGIN "/* maxkernel: begin "
#define END "/* maxkernel: end */"

static const char *find(const char *from, const char *end, const char *what)
{
	return memmem(from, (size_t)(end - from), what, strlen(what));
}

/* The recipe on a block's first line; a block of functions has none. */
static void read_head(struct site *s, const char *head, const char *end)
{
	const char *close = find(head, end, " */");
	struct err err = ERR_INIT;
	struct recipe r;
	char *text;

	if (!close || s->found.nr)
		return;
	text = xstrndup(head, (size_t)(close - head));
	if (!recipe_parse(&r, text, &err))
		s->found = r;
	free(text);
}

/* Copies the text without the blocks between our marks. */
static void strip(struct site *s, const char *text, size_t len)
{
	const char *p = text, *end = text + len, *begin, *close;

	for (;;) {
		begin = find(p, end, BEGIN);
		close = begin ? find(begin, end, END) : NULL;
		if (!close)
			break;
		s->had_block = true;
		read_head(s, begin + strlen(BEGIN), close);
		buf_add(&s->text, p, (size_t)(begin - p));
		p = close + strlen(END);
		if (p < end && *p == '\n')
			p++;
	}
	buf_add(&s->text, p, (size_t)(end - p));
	for (char *w; s->had_block;) {
		w = memmem(s->text.ptr, s->text.len, "MK_WIDE ", 8);
		if (!w)
			break;
		buf_splice(&s->text, (size_t)(w - s->text.ptr), 8, "", 0);
	}
}

static void forget_file(struct site *s)
{
	cunit_release(&s->unit);
	buf_release(&s->text);
	recipe_release(&s->found);
	s->had_block = s->readable = false;
	s->entry = NULL;
}

static void take_file(struct site *s, size_t i)
{
	const struct srcfile *f = &s->src->v[i];
	struct err err = ERR_INIT;

	forget_file(s);
	s->file = i;
	strip(s, f->text.ptr, f->text.len);
	s->readable = !cunit_parse(&s->unit, s->text.ptr, s->text.len, &err);
	if (s->readable)
		s->entry = cunit_find(&s->unit, s->k->entry);
	else
		snprintf(s->why, sizeof(s->why), "%.160s cannot be read: %.80s",
			 f->path, err.msg);
}

static bool is_c(const char *path)
{
	size_t n = strlen(path);

	return n > 2 && !strcmp(path + n - 2, ".c");
}

/* 3: defines the entry; 2: C that names it; 1: other C; 0: not C. */
static int rate(struct site *s, size_t i)
{
	const struct srcfile *f = &s->src->v[i];
	bool named = memmem(f->text.ptr, f->text.len, s->k->entry,
			    strlen(s->k->entry)) != NULL;

	if (named) {
		take_file(s, i);
		if (s->entry)
			return 3;
	}
	return !is_c(f->path) ? 0 : named ? 2 : 1;
}

static int choose_file(struct site *s, struct err *err)
{
	size_t best = 0;
	int best_rate = -1;

	for (size_t i = 0; i < s->src->nr && best_rate < 3; i++) {
		int r = s->src->v[i].writable ? rate(s, i) : -1;

		if (r > best_rate) {
			best = i;
			best_rate = r;
		}
	}
	if (best_rate < 0)
		return err_set(err, ERR_NOTFOUND,
			       "kernel '%s': no file that may change",
			       s->k->name);
	take_file(s, best);
	return 0;
}

int site_init(struct site *s, const struct kernel *k,
	      const struct srcset *src, struct err *err)
{
	int rc;

	*s = (struct site){ .k = k, .src = src };
	buf_init(&s->text);
	rc = choose_file(s, err);
	if (rc) {
		site_release(s);
		return rc;
	}
	if (s->entry)
		cunit_loops(&s->unit, s->entry, &s->loops);
	evidence_look(s);
	tunable_find(s);
	return 0;
}

int site_recipe(const struct site *s, const char *text, struct recipe *r,
		struct err *err)
{
	int rc = recipe_parse(r, text, err);

	if (!rc && !r->nr)
		recipe_copy(r, &s->found);
	if (!rc)
		recipe_normalise(r, strategy_rank);
	return rc;
}

void site_release(struct site *s)
{
	forget_file(s);
	cloops_release(&s->loops);
	tunable_release(s);
}

const char *site_problem(const struct site *s)
{
	if (!s->readable)
		return s->why;
	if (!s->entry)
		return "the definition of the entry is not to be found in the "
		       "text; a macro may make it";
	return NULL;
}
