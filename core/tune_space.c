/* What is tuned, out of what the proposer or a template has. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/tune.h"

#define MAX_VALUES_TEXT 4096	/* bytes of one "NAME=v,v,v" */

void tune_space_release(struct tune_space *s)
{
	space_release(&s->sel);
	space_release(&s->full);
	free(s->locus);
	free(s->value);
	for (size_t i = 0; i < s->nr_require; i++)
		expr_release(&s->require[i]);
	memset(s, 0, sizeof(*s));
}

static struct locus_values *find(const struct space *s, const char *name,
				 size_t len)
{
	for (size_t i = 0; i < s->nr; i++)
		if (strlen(s->v[i].name) == len &&
		    !memcmp(s->v[i].name, name, len))
			return &s->v[i];
	return NULL;
}

static int unknown(const struct space *s, const char *option,
		   const char *name, size_t len, bool tunable,
		   struct err *err)
{
	struct buf list = BUF_INIT;

	for (size_t i = 0; i < s->nr; i++)
		if (!tunable || s->v[i].tunable)
			buf_addf(&list, "%s%s", list.len ? ", " : "",
				 s->v[i].name);
	err_set(err, ERR_USAGE, "%s: there is no %s '%.*s' to tune here; %s%.700s",
		option, tunable ? "number" : "choice",
		(int)(len > 64 ? 64 : len), name,
		list.len ? "there are: " : tunable ? "one is marked by "
		"'tunable:' in a comment behind its #define" : "there is none",
		list.ptr);
	buf_release(&list);
	return ERR_USAGE;
}

/* A whole number from 1 to TUNE_MAX_NUMBER as people write it, or 0. */
static long number(const char *text, size_t len)
{
	long n = 0;

	if (!len || len > 5 || *text == '0')
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		n = n * 10 + (text[i] - '0');
	}
	return n <= TUNE_MAX_NUMBER ? n : 0;
}

/* ---- --values ---- */

/* The words of "NAME=v,v,v". */
static int read_words(const char *text, const char **name_end,
		      struct strv *out, bool numbers, struct err *err)
{
	const char *p = strchr(text, '=');
	int ret = 0;

	if (!p || !template_name_ok(text, (size_t)(p - text)) ||
	    strlen(text) > MAX_VALUES_TEXT)
		return err_set(err, ERR_USAGE, "--values takes "
			       "NAME=value,value,..., not '%.100s'", text);
	*name_end = p;
	do {
		size_t len = strcspn(++p, ",");
		char *word = xstrndup(p, len);

		if (numbers ? !number(p, len) : !template_value_ok(p, len))
			ret = err_set(err, ERR_USAGE, "--values %.*s: '%.64s' "
				"is not %s", (int)(*name_end - text), text, word,
				numbers ? "a whole number from 1 to 65536" :
				"a word of at most 32 letters, digits, '_', "
				"'.', '+' and '-'");
		else if (out->nr >= TUNER_MAX_VALUES)
			ret = err_set(err, ERR_LIMIT, "--values %.*s: over %d "
				"values", (int)(*name_end - text), text,
				TUNER_MAX_VALUES);
		else if (!strv_has(out, word))
			strv_push(out, word);
		free(word);
		p += len;
	} while (*p && !ret);
	return ret;
}

/* The proposer's number gets these values; the one that it has stays. */
static void replace(struct locus_values *l, const struct strv *words)
{
	char *now = l->now < 0 ? NULL : xstrdup(l->values.v[l->now]);

	strv_release(&l->values);
	l->values = (struct strv)STRV_INIT;
	l->now = -1;
	for (size_t i = 0; i < words->nr; i++) {
		strv_pushf(&l->values, "%s=%s", l->name, words->v[i]);
		if (now && !strcmp(now, l->values.v[i]))
			l->now = (int)i;
	}
	if (now && l->now < 0) {
		l->now = (int)l->values.nr;
		strv_push(&l->values, now);
	}
	free(now);
}

static int take_values(struct space *s, const struct strv *values,
		       struct err *err)
{
	int ret = 0;

	for (size_t i = 0; values && i < values->nr && !ret; i++) {
		const char *text = values->v[i], *end = NULL;
		struct strv words = STRV_INIT;
		struct locus_values *l;

		ret = read_words(text, &end, &words, true, err);
		l = ret ? NULL : find(s, text, (size_t)(end - text));
		if (!ret && (!l || !l->tunable))
			ret = unknown(s, "--values", text,
				      (size_t)(end - text), true, err);
		else if (!ret)
			replace(l, &words);
		strv_release(&words);
	}
	return ret;
}

/* ---- choosing ---- */

/* The number of "#define NAME 64" in the sources that may change; 0: none. */
static long defined(const struct srcset *src, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < src->nr; i++) {
		const char *p = src->v[i].text.ptr;

		for (; src->v[i].writable && (p = strstr(p, name)); p += n) {
			const char *b = p, *v = p + n, *end;

			while (b > src->v[i].text.ptr &&
			       (b[-1] == ' ' || b[-1] == '\t'))
				b--;
			if (b == p || b - src->v[i].text.ptr < 7 ||
			    strncmp(b - 6, "define", 6))
				continue;
			end = v += strspn(v, " \t");
			while (*end >= '0' && *end <= '9')
				end++;
			if (v > p + n && number(v, (size_t)(end - v)))
				return number(v, (size_t)(end - v));
		}
	}
	return 0;
}

struct pair {
	long n;
	int value;		/* index in full's, -1: as the source has it */
};

static int by_number(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->n != y->n ? (x->n > y->n) - (x->n < y->n) :
		(x->value > y->value) - (x->value < y->value);
}

/* A number: its values ascending, that of the source among them. */
static int add_number(struct tune_space *s, const struct locus_values *from,
		      long source, struct err *err)
{
	size_t nr = 0, at = s->sel.nr, n = from->values.nr + 1;
	struct pair *p = xcalloc(n, sizeof(*p));
	struct locus_values *l;
	int ret = 0;

	if (source)
		p[nr++] = (struct pair){ source, -1 };
	for (size_t i = 0; i < from->values.nr; i++) {
		size_t len;
		const char *text = tuner_value(from, (int)i, &len);

		if (number(text, len))
			p[nr++] = (struct pair){ number(text, len), (int)i };
	}
	qsort(p, nr, sizeof(*p), by_number);
	l = space_add(&s->sel, from->name, strlen(from->name));
	l->tunable = true;
	l->needed = source != 0;
	for (size_t i = 0; i < nr; i++) {
		if (i && p[i].n == p[i - 1].n) {
			if (p[i].value == from->now && from->now >= 0)
				l->now = (int)l->values.nr - 1;
			continue;
		}
		if (l->values.nr >= TUNER_MAX_VALUES) {
			ret = err_set(err, ERR_LIMIT, "'%s' has over %d "
				      "values", from->name, TUNER_MAX_VALUES);
			break;
		}
		if (p[i].value == from->now)
			l->now = (int)l->values.nr;
		s->value[at][l->values.nr] = p[i].value;
		strv_pushf(&l->values, "%ld", p[i].n);
	}
	free(p);
	return ret;
}

static int add_choice(struct tune_space *s, const struct locus_values *from,
		      bool needed, struct err *err)
{
	struct locus_values *l;

	if (from->values.nr > TUNER_MAX_VALUES)
		return err_set(err, ERR_LIMIT, "'%s' has over %d values",
			       from->name, TUNER_MAX_VALUES);
	for (size_t i = 0; i < from->values.nr; i++)
		s->value[s->sel.nr][i] = (int)i;
	l = space_add(&s->sel, from->name, strlen(from->name));
	l->needed = needed || from->needed;
	l->now = from->now;
	for (size_t i = 0; i < from->values.nr; i++)
		strv_push(&l->values, from->values.v[i]);
	return 0;
}

static int choose(struct tune_space *s, const struct srcset *origin,
		  const struct tune_want *w, struct err *err)
{
	bool some = w->only && w->only->nr;
	int ret = 0;

	s->locus = xcalloc(s->full.nr + 1, sizeof(*s->locus));
	s->value = xcalloc(s->full.nr + 1, sizeof(*s->value));
	for (size_t i = 0; i < s->full.nr && !ret; i++) {
		const struct locus_values *l = &s->full.v[i];
		bool named = some && strv_has(w->only, l->name);
		bool wide = named || (!some && w->all);

		if (some ? !named : !w->all && !l->tunable && l->now < 0)
			continue;
		s->locus[s->sel.nr] = i;
		if (l->tunable)
			ret = add_number(s, l, defined(origin, l->name), err);
		else if (wide || l->values.nr > 1)
			ret = add_choice(s, l, !wide, err);
	}
	for (size_t i = 0; some && !ret && i < w->only->nr; i++)
		if (!find(&s->full, w->only->v[i], strlen(w->only->v[i])))
			ret = unknown(&s->full, "--only", w->only->v[i],
				      strlen(w->only->v[i]), false, err);
	return ret;
}

/* ---- --require ---- */

/* err has what expr_parse() said: the name is quoted first. */
static int not_tuned(const struct strv *names, const char *text,
		     struct err *err)
{
	const char *at = strchr(err->msg, '\'');
	size_t len = at ? strcspn(at + 1, "'") : 0;
	char *name = xstrndup(at ? at + 1 : "", len > 64 ? 64 : len);
	struct buf list = BUF_INIT;

	for (size_t i = 0; i < names->nr; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", names->v[i]);
	err_set(err, ERR_USAGE, "--require '%.200s': '%s' is not tuned; there "
		"are: %.600s", text, name, list.ptr);
	buf_release(&list);
	free(name);
	return ERR_USAGE;
}

static int read_require(struct tune_space *s, const struct strv *require,
			struct err *err)
{
	struct strv names = STRV_INIT;
	int ret = 0;

	tuner_names(&s->sel, &names);
	if (require && require->nr > TUNER_MAX_REQUIRE)
		ret = err_set(err, ERR_USAGE, "--require may be given %d times",
			      TUNER_MAX_REQUIRE);
	for (size_t i = 0; require && i < require->nr && !ret; i++) {
		struct expr *e = &s->require[s->nr_require];

		ret = expr_parse(e, require->v[i], &names, err);
		if (ret == ERR_NOTFOUND)
			ret = not_tuned(&names, require->v[i], err);
		if (ret) {
			err->code = ERR_USAGE;
			break;
		}
		s->nr_require++;
		ret = tuner_check_require(&s->sel, e, err);
	}
	strv_release(&names);
	return ret ? err->code : 0;
}

int tune_space_make(struct tune_space *s, const struct proposer *by,
		    const struct kernel *k, const struct srcset *origin,
		    const char *recipe, const struct tune_want *w,
		    struct err *err)
{
	int ret;

	memset(s, 0, sizeof(*s));
	if (!by->space || !by->compose || !by->apply)
		return err_set(err, ERR_NOTFOUND, "the proposer '%s' has no "
			       "settings to tune: a --template has", by->name);
	ret = by->space(k, origin, recipe, &s->full, err);
	if (!ret)
		ret = take_values(&s->full, w->values, err);
	if (!ret)
		ret = choose(s, origin, w, err);
	if (!ret && !s->sel.nr)
		ret = err_set(err, ERR_NOTFOUND, "there is no number to tune: "
			      "mark one with 'tunable: 8 16 32' in a comment "
			      "behind its #define, take --all choices, or a "
			      "--template");
	return ret ? ret : read_require(s, w->require, err);
}

/* ---- of a template ---- */

static int add_words(struct space *s, const struct strv *values,
		     struct err *err)
{
	int ret = 0;

	for (size_t i = 0; values && i < values->nr && !ret; i++) {
		const char *text = values->v[i], *end = NULL;
		struct strv words = STRV_INIT;
		struct locus_values *l;

		ret = read_words(text, &end, &words, false, err);
		if (ret) {
			strv_release(&words);
			break;
		}
		l = find(s, text, (size_t)(end - text));
		if (!l)
			l = space_add(s, text, (size_t)(end - text));
		l->needed = l->tunable = true;
		strv_release(&l->values);
		l->values = words;
	}
	if (!ret && s->nr > TUNER_MAX_NAMES)
		ret = err_set(err, ERR_LIMIT, "over %d names",
			      TUNER_MAX_NAMES);
	return ret;
}

int tune_space_read(struct tune_space *s, const char *source,
		    const char *text, size_t len, const struct tune_want *w,
		    struct err *err)
{
	int ret = 0;

	memset(s, 0, sizeof(*s));
	if (text)
		ret = template_space(&s->sel, source, text, len, err);
	if (!ret)
		ret = add_words(&s->sel, w->values, err);
	if (!ret && !s->sel.nr)
		ret = err_set(err, ERR_USAGE, "a --template takes the values of "
			      "its names from --space or --values");
	return ret ? ret : read_require(s, w->require, err);
}

/* ---- settings ---- */

void tune_space_full(const struct tune_space *s, const int *set, int *full)
{
	for (size_t i = 0; i < s->full.nr; i++)
		full[i] = s->full.v[i].now;
	for (size_t i = 0; i < s->sel.nr; i++)
		full[s->locus[i]] = set[i] < 0 ? -1 : s->value[i][set[i]];
}

void tune_set_text(const struct tune_space *s, const int *set,
		   struct buf *out)
{
	for (size_t i = 0; i < s->sel.nr; i++) {
		size_t len;
		const char *v = tuner_value(&s->sel.v[i], set[i], &len);

		buf_addf(out, "%s%s=%.*s", i ? " " : "", s->sel.v[i].name,
			 (int)len, v);
	}
}
