#include "agents/builtin/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static bool is_name_char(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_word_char(int c)
{
	return is_name_char(c) || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("_=.+-", c));
}

static const char *skip(const char *p)
{
	while (*p == ' ' || *p == '\t' || *p == '\n')
		p++;
	return p;
}

/* "(a,b)": p stands on the parenthesis and ends behind its partner. */
static int parse_args(struct gene *g, const char **p, struct err *err)
{
	const char *s = *p;

	do {
		const char *start = skip(s + 1);
		char *word;

		for (s = start; is_word_char((unsigned char)*s);)
			s++;
		if (s == start)
			return err_set(err, ERR_FORMAT,
				       "recipe: '%s' lacks a parameter",
				       g->name);
		if (g->args.nr >= RECIPE_MAX_ARGS)
			return err_set(err, ERR_LIMIT,
				       "recipe: '%s' has over %d parameters",
				       g->name, RECIPE_MAX_ARGS);
		word = xstrndup(start, (size_t)(s - start));
		strv_push(&g->args, word);
		free(word);
		s = skip(s);
	} while (*s == ',');
	if (*s != ')')
		return err_set(err, ERR_FORMAT,
			       "recipe: the parameters of '%s' do not end",
			       g->name);
	*p = s + 1;
	return 0;
}

static int parse_gene(struct recipe *r, const char **p, struct err *err)
{
	const char *start = *p, *s = start;
	struct gene *g;
	char *name;

	while (is_name_char((unsigned char)*s))
		s++;
	if (s == start || *start < 'a')
		return err_set(err, ERR_FORMAT,
			       "recipe: no strategy's name where '%.20s' stands",
			       start);
	name = xstrndup(start, (size_t)(s - start));
	if (recipe_find(r, name) || r->nr >= RECIPE_MAX_GENES) {
		err_set(err, ERR_FORMAT, r->nr >= RECIPE_MAX_GENES ?
			"recipe: too long at '%.40s'" :
			"recipe: '%.40s' stands twice", name);
		free(name);
		return err->code;
	}
	GROW(r->v, r->nr, r->cap);
	g = &r->v[r->nr++];
	*g = (struct gene){ name, STRV_INIT };
	*p = skip(s);
	return **p == '(' ? parse_args(g, p, err) : 0;
}

int recipe_parse(struct recipe *r, const char *text, struct err *err)
{
	const char *p = skip(text);
	int rc = 0;

	*r = (struct recipe)RECIPE_INIT;
	if (strlen(text) > RECIPE_MAX_TEXT)
		return err_set(err, ERR_LIMIT, "recipe: over %d bytes",
			       RECIPE_MAX_TEXT);
	while (*p && !rc) {
		rc = parse_gene(r, &p, err);
		if (rc)
			break;
		p = skip(p);
		if (*p && *p != ';')
			rc = err_set(err, ERR_FORMAT,
				     "recipe: no ';' before '%.20s'", p);
		else if (*p)
			p = skip(p + 1);
	}
	if (rc)
		recipe_release(r);
	return rc;
}

void recipe_release(struct recipe *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		free(r->v[i].name);
		strv_release(&r->v[i].args);
	}
	free(r->v);
	*r = (struct recipe)RECIPE_INIT;
}

void recipe_copy(struct recipe *to, const struct recipe *from)
{
	*to = (struct recipe)RECIPE_INIT;
	for (size_t i = 0; i < from->nr; i++) {
		struct gene g = { xstrdup(from->v[i].name), STRV_INIT };

		for (size_t k = 0; k < from->v[i].args.nr; k++)
			strv_push(&g.args, from->v[i].args.v[k]);
		GROW(to->v, to->nr, to->cap);
		to->v[to->nr++] = g;
	}
}

void gene_args(const struct gene *g, struct buf *out)
{
	for (size_t i = 0; i < g->args.nr; i++)
		buf_addf(out, "%s%s", i ? "," : "", g->args.v[i]);
}

void recipe_print(const struct recipe *r, struct buf *out)
{
	for (size_t i = 0; i < r->nr; i++) {
		buf_addf(out, "%s%s", i ? "; " : "", r->v[i].name);
		if (!r->v[i].args.nr)
			continue;
		buf_addch(out, '(');
		gene_args(&r->v[i], out);
		buf_addch(out, ')');
	}
}

const struct gene *recipe_find(const struct recipe *r, const char *name)
{
	for (size_t i = 0; i < r->nr; i++)
		if (!strcmp(r->v[i].name, name))
			return &r->v[i];
	return NULL;
}

static void take_away(struct recipe *r, const char *name)
{
	for (size_t i = 0; i < r->nr; i++) {
		if (strcmp(r->v[i].name, name))
			continue;
		free(r->v[i].name);
		strv_release(&r->v[i].args);
		memmove(r->v + i, r->v + i + 1,
			(r->nr - i - 1) * sizeof(*r->v));
		r->nr--;
		return;
	}
}

void recipe_set(struct recipe *r, const char *name, const char *args)
{
	struct gene g;

	take_away(r, name);
	if (!args)
		return;
	g = (struct gene){ xstrdup(name), STRV_INIT };
	while (*args) {
		size_t n = strcspn(args, ",");
		char *word = xstrndup(args, n);

		strv_push(&g.args, word);
		free(word);
		args += n + (args[n] == ',');
	}
	GROW(r->v, r->nr, r->cap);
	r->v[r->nr++] = g;
}

static void drop_doubles(struct strv *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr; i++) {
		if (kept && !strcmp(s->v[kept - 1], s->v[i]))
			free(s->v[i]);
		else
			s->v[kept++] = s->v[i];
	}
	s->nr = kept;
}

void recipe_normalise(struct recipe *r, int (*rank)(const char *name))
{
	for (size_t i = 0; i < r->nr; i++) {
		struct gene g = r->v[i];
		size_t k = i;

		strv_sort(&g.args);
		drop_doubles(&g.args);
		for (; k > 0 && rank(r->v[k - 1].name) > rank(g.name); k--)
			r->v[k] = r->v[k - 1];
		r->v[k] = g;
	}
}
