/* Strategy tunables: other values for numbers that are meant to be tuned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agents/builtin/strategy.h"
#include "agents/builtin/tunable.h"
#include "core/mem.h"

#define MAX_TUNABLES KERNEL_MAX_TUNABLES
#define MAX_TRIES 8
#define MAX_VALUE KERNEL_MAX_VALUE

static bool word_char(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

struct define {
	size_t name, name_len, value, value_len;	/* within the line */
	long number;
};

static size_t skip_blank(const char *s, size_t len, size_t i)
{
	while (i < len && (s[i] == ' ' || s[i] == '\t'))
		i++;
	return i;
}

/* "#define NAME 64" and nothing behind it but a comment. */
static bool read_define(const char *s, size_t len, struct define *d)
{
	size_t i = skip_blank(s, len, 1);
	char *end, digits[16];

	if (len - i < 7 || memcmp(s + i, "define", 6))
		return false;
	d->name = i = skip_blank(s, len, i + 6);
	while (i < len && word_char(s[i]))
		i++;
	d->name_len = i - d->name;
	d->value = i = skip_blank(s, len, i);
	while (i < len && s[i] >= '0' && s[i] <= '9')
		i++;
	d->value_len = i - d->value;
	if (!d->name_len || !d->value_len || d->value_len > 9 ||
	    d->value == d->name + d->name_len)
		return false;
	memcpy(digits, s + d->value, d->value_len);
	digits[d->value_len] = '\0';
	d->number = strtol(digits, &end, 10);
	i = skip_blank(s, len, i);
	if (i < len && s[i] != '\r' && s[i] != '/')
		return false;
	return d->number >= 1 && d->number <= MAX_VALUE &&
	       (digits[0] != '0');
}

/* True if a part of the name, between underscores, is such a word. */
static bool name_tells(const char *name, size_t len)
{
	static const char *const words[] = {
		"TILE", "BLOCK", "BLK", "UNROLL", "CHUNK", "LANES", "PANEL",
		"BS", "BM", "BN", "BK", "MC", "NC", "KC", "MR", "NR", "TM",
		"TN", "TK", "BLOCKSIZE", "TILESIZE"
	};

	for (size_t i = 0; i < len;) {
		size_t n = 0;

		while (i + n < len && name[i + n] != '_')
			n++;
		for (size_t w = 0; w < ARRAY_SIZE(words); w++) {
			size_t m = strlen(words[w]);

			/* TILE, TILE2, TILEM */
			if ((n == m || (n == m + 1 && m > 2)) &&
			    !strncasecmp(name + i, words[w], m))
				return true;
		}
		i += n + 1;
	}
	return false;
}

static bool is_dim(const struct kernel *k, const char *name)
{
	for (int i = 0; i < k->nr_dims; i++)
		if (!strcmp(k->dim[i].name, name))
			return true;
	return false;
}

/* What the section says of a name, or NULL. */
static const struct kernel_tunable *declared(const struct kernel *k,
					     const char *name)
{
	for (int i = 0; i < k->nr_tunables; i++)
		if (!strcmp(k->tunable[i].name, name))
			return &k->tunable[i];
	return NULL;
}

static void add_try(struct tunable *t, long value)
{
	char text[24];

	if (value < 1 || value > MAX_VALUE || value == t->value ||
	    t->tries.nr >= MAX_TRIES)
		return;
	snprintf(text, sizeof(text), "%ld", value);
	if (!strv_has(&t->tries, text))
		strv_push(&t->tries, text);
}

/* The numbers behind "tunable:" in the rest of the line. */
static bool read_marks(struct tunable *t, const char *s, size_t len)
{
	const char *p = memmem(s, len, "tunable:", 8), *end = s + len;

	if (!p)
		return false;
	for (p += 8; p < end;) {
		long value = 0;

		while (p < end && (*p == ' ' || *p == ','))
			p++;
		if (p >= end || *p < '0' || *p > '9')
			break;
		for (; p < end && *p >= '0' && *p <= '9'; p++)
			value = value > MAX_VALUE ? value :
						    value * 10 + (*p - '0');
		add_try(t, value);
	}
	return true;
}

static void default_tries(struct tunable *t)
{
	add_try(t, t->value * 2);
	if (t->value % 2 == 0)
		add_try(t, t->value / 2);
	add_try(t, t->value * 4);
	if (t->value % 4 == 0)
		add_try(t, t->value / 4);
}

/* How often a word stands in the code and the preprocessor lines. */
static int uses(const char *text, size_t len, const char *name)
{
	size_t n = strlen(name);
	int nr = 0;

	for (const char *p = text, *end = text + len;;) {
		p = memmem(p, (size_t)(end - p), name, n);
		if (!p)
			return nr;
		if ((p == text || !word_char(p[-1])) &&
		    (p + n == end || !word_char(p[n])))
			nr++;
		p += n;
	}
}

/* Fills in what is to be tried; false: this is no number to tune. */
static bool find_tries(const struct site *s, struct tunable *t,
		       const struct clex *l, const char *line, size_t len)
{
	const struct kernel_tunable *given = declared(s->k, t->name);

	for (size_t i = 0; given && i < given->values.nr; i++)
		if (strtol(given->values.v[i], NULL, 10) != t->value)
			strv_push(&t->tries, given->values.v[i]);
	if (given)
		return true;
	if (is_dim(s->k, t->name) || uses(l->text, l->len, t->name) < 2)
		return false;
	if (read_marks(t, line, len))
		return true;
	if (!name_tells(t->name, strlen(t->name)))
		return false;
	default_tries(t);
	return true;
}

/* Those that the section names have their room. */
static bool has_room(const struct site *s, const char *name)
{
	size_t others = 0;

	if (declared(s->k, name))
		return true;
	for (size_t i = 0; i < s->nr_tunables; i++)
		others += !declared(s->k, s->tunable[i].name);
	return others + (size_t)s->k->nr_tunables < MAX_TUNABLES;
}

static const struct tunable *by_name(const struct site *s, const char *name,
				     size_t len)
{
	for (size_t i = 0; i < s->nr_tunables; i++)
		if (strlen(s->tunable[i].name) == len &&
		    !memcmp(s->tunable[i].name, name, len))
			return &s->tunable[i];
	return NULL;
}

static void take_line(struct site *s, size_t file, const struct clex *l,
		      const struct ctok *tok)
{
	struct tunable t = { .file = file };
	const char *line = l->text + tok->pos;
	struct define d;

	if (!read_define(line, tok->len, &d) ||
	    by_name(s, line + d.name, d.name_len))
		return;
	t.name = xstrndup(line + d.name, d.name_len);
	t.value = d.number;
	t.pos = tok->pos + d.value;
	t.len = d.value_len;
	if (has_room(s, t.name) && find_tries(s, &t, l, line, tok->len)) {
		s->tunable = xreallocarray(s->tunable, s->nr_tunables + 1,
					   sizeof(*s->tunable));
		s->tunable[s->nr_tunables++] = t;
		return;
	}
	free(t.name);
	strv_release(&t.tries);
}

void tunable_find(struct site *s)
{
	for (size_t i = 0; i < s->src->nr; i++) {
		const struct buf *text = i == s->file ? &s->text :
							&s->src->v[i].text;
		struct err err = ERR_INIT;
		struct clex l;

		if (!s->src->v[i].writable ||
		    clex_run(&l, text->ptr, text->len, &err))
			continue;
		for (size_t k = 0; k < l.nr_all; k++)
			if (l.all[k].kind == CTOK_LINE)
				take_line(s, i, &l, &l.all[k]);
		clex_release(&l);
	}
}

void tunable_unfit(const struct site *s, struct strv *out)
{
	for (int i = 0; i < s->k->nr_tunables; i++) {
		const char *name = s->k->tunable[i].name;

		if (!by_name(s, name, strlen(name)))
			strv_pushf(out, "tunable %s: no '#define %s <number>' "
				   "of 1 to %d in the kernel's files", name,
				   name, MAX_VALUE);
	}
}

void tunable_release(struct site *s)
{
	for (size_t i = 0; i < s->nr_tunables; i++) {
		free(s->tunable[i].name);
		strv_release(&s->tunable[i].tries);
	}
	free(s->tunable);
	s->tunable = NULL;
	s->nr_tunables = 0;
}

static bool fits(const struct site *s, struct buf *why)
{
	if (s->nr_tunables)
		return true;
	buf_addstr(why, "no #define of a tile, block or unroll size, and none "
			"marked 'tunable:'");
	return false;
}

/* One NAME=value each; the proposer combines them by name. */
static void settings(const struct site *s, struct strv *out)
{
	for (size_t i = 0; i < s->nr_tunables; i++)
		for (size_t k = 0; k < s->tunable[i].tries.nr; k++)
			strv_pushf(out, "%s=%s", s->tunable[i].name,
				   s->tunable[i].tries.v[k]);
}

static int set_one(const struct site *s, const char *word, struct emit *e,
		   struct err *err)
{
	const char *value = strchr(word, '=');
	const struct tunable *t = NULL;
	const struct srcfile *f;
	struct buf text = BUF_INIT;

	if (value)
		t = by_name(s, word, (size_t)(value - word));
	if (!t)
		return err_set(err, ERR_FORMAT, "recipe: '%s' names no number "
			       "to tune in these sources", word);
	value++;
	if (!*value || strlen(value) > 6 ||
	    strspn(value, "0123456789") != strlen(value))
		return err_set(err, ERR_FORMAT, "recipe: '%s' is no number",
			       word);
	if (t->file == s->file) {
		emit_edit(e, t->pos, t->len, value);
		return 0;
	}
	/* Several in one file: later places first, see apply(). */
	f = &e->out->v[t->file];
	buf_add(&text, f->text.ptr, f->text.len);
	buf_splice(&text, t->pos, t->len, value, strlen(value));
	srcset_put(e->out, f->path, text.ptr, text.len, true);
	buf_release(&text);
	return 0;
}

static int apply(const struct site *s, const struct gene *g, struct emit *e,
		 struct err *err)
{
	int rc = 0;

	/* From the last place to the first, so that places stay true. */
	for (size_t i = s->nr_tunables; i-- > 0 && !rc;) {
		size_t n = strlen(s->tunable[i].name);

		for (size_t k = 0; k < g->args.nr && !rc; k++)
			if (!strncmp(g->args.v[k], s->tunable[i].name, n) &&
			    g->args.v[k][n] == '=')
				rc = set_one(s, g->args.v[k], e, err);
	}
	for (size_t k = 0; k < g->args.nr && !rc; k++)
		if (!by_name(s, g->args.v[k], strcspn(g->args.v[k], "=")))
			rc = set_one(s, g->args.v[k], e, err);
	return rc;
}

static void subject(const struct site *s, const struct gene *g,
		    struct buf *out)
{
	(void)s;
	if (g->args.nr > 2) {
		buf_addf(out, "set %zu tuning numbers", g->args.nr);
		return;
	}
	buf_addstr(out, "set ");
	for (size_t i = 0; i < g->args.nr; i++)
		buf_addf(out, "%s%.24s", i ? ", " : "", g->args.v[i]);
}

static void plan(const struct site *s, const struct gene *g, struct buf *out)
{
	for (size_t i = 0; i < g->args.nr; i++) {
		const struct tunable *t =
			by_name(s, g->args.v[i], strcspn(g->args.v[i], "="));

		if (!t)
			continue;
		buf_addf(out, "`%s` is %ld in `%s`; try %s. How large a block "
			 "may be before it falls out of a cache, or how many "
			 "values fit the registers, depends on the machine, "
			 "so it is measured, not computed.\n",
			 t->name, t->value, s->src->v[t->file].path,
			 strchr(g->args.v[i], '=') + 1);
	}
	buf_addstr(out, "Risk: sizes that do not divide the extents may meet "
			"code that was never run before; the checks decide.\n");
}

static double gain(const struct site *s, const struct gene *g)
{
	(void)s;
	(void)g;
	return 1.05;
}

const struct strategy strategy_tunables = {
	.name = "tunables", .fits = fits, .settings = settings,
	.apply = apply, .subject = subject, .plan = plan, .gain = gain,
	.undo = "put the tuning numbers back",
};
