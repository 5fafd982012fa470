#include "agents/builtin/strategy.h"

#include <stdlib.h>
#include <string.h>

#include "agents/builtin/vectext.h"
#include "core/mem.h"

const struct strategy *const strategies[] = {
	&strategy_restrict, &strategy_vecmath, &strategy_fastmath,
	&strategy_vw, &strategy_ccopt, &strategy_tunables, NULL
};

const struct strategy *strategy_find(const char *name)
{
	int i = strategy_rank(name);

	return strategies[i];
}

/* The number of strategies for an unknown name. */
int strategy_rank(const char *name)
{
	int i = 0;

	while (strategies[i] && strcmp(strategies[i]->name, name))
		i++;
	return i;
}

bool strategy_fits(const struct strategy *st, const struct site *s,
		   struct buf *why)
{
	if (strv_has(&s->k->deny, st->name)) {
		buf_addstr(why, "denied by the section");
		return false;
	}
	return st->fits(s, why);
}

void emit_edit(struct emit *e, size_t pos, size_t len, const char *text)
{
	GROW(e->v, e->nr, e->cap);
	e->v[e->nr] = (struct edit){ pos, len, xstrdup(text), e->nr + 2 };
	e->nr++;
}

/* Blocks stand before what else goes to their place: order 0 and 1. */
static void emit_block(struct emit *e, size_t pos, const char *text,
		       size_t order)
{
	emit_edit(e, pos, 0, text);
	e->v[e->nr - 1].order = order;
}

static void emit_release(struct emit *e)
{
	for (size_t i = 0; i < e->nr; i++)
		free(e->v[i].text);
	free(e->v);
	buf_release(&e->gcc);
	buf_release(&e->clang);
}

static int edit_order(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	if (x->pos != y->pos)
		return x->pos < y->pos ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The text with all edits; two that overlap are an error. */
static int edited(const struct site *s, struct emit *e, struct buf *out,
		  struct err *err)
{
	size_t at = 0;

	if (e->nr)
		qsort(e->v, e->nr, sizeof(*e->v), edit_order);
	for (size_t i = 0; i < e->nr; i++) {
		const struct edit *d = &e->v[i];

		if (d->pos < at)
			return err_set(err, ERR_FORMAT, "recipe: two steps "
				       "change the same place, byte %zu",
				       d->pos);
		buf_add(out, s->text.ptr + at, d->pos - at);
		buf_addstr(out, d->text);
		at = d->pos + d->len;
	}
	buf_add(out, s->text.ptr + at, s->text.len - at);
	return 0;
}

/* Where the line of a byte begins. */
static size_t line_begin(const struct buf *text, size_t pos)
{
	while (pos > 0 && text->ptr[pos - 1] != '\n')
		pos--;
	return pos;
}

/* Before the first line that isn't a comment: the licence stays on top. */
static size_t head_place(const struct site *s)
{
	const struct clex *l = &s->unit.lex;
	size_t bom = s->text.len >= 3 &&
		     !memcmp(s->text.ptr, "\xef\xbb\xbf", 3) ? 3 : 0;

	for (size_t i = 0; s->readable && i < l->nr_all; i++) {
		size_t pos;

		if (l->all[i].kind == CTOK_COMMENT)
			continue;
		pos = line_begin(&s->text, l->all[i].pos);
		/* A comment may end on that very line. */
		if (i && l->all[i - 1].pos + l->all[i - 1].len > pos)
			pos = l->all[i].pos;
		return pos > bom ? pos : bom;
	}
	return bom;
}

/* The word of a preprocessor line, "include". */
static bool line_is(const struct clex *l, const struct ctok *t,
		    const char *word)
{
	const char *p = l->text + t->pos + 1, *end = l->text + t->pos + t->len;
	size_t n = strlen(word);

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return (size_t)(end - p) >= n && !memcmp(p, word, n);
}

/* The byte after the line of a token. */
static size_t next_line(const struct buf *text, const struct ctok *t)
{
	size_t i = t->pos + t->len;

	while (i < text->len && text->ptr[i] != '\n')
		i++;
	return i < text->len ? i + 1 : i;
}

/* After the last #include in front of the first function, behind the #endif
 * of the conditional that it stands in. */
static size_t body_place(const struct site *s)
{
	const struct clex *l = &s->unit.lex;
	size_t place = head_place(s), limit = s->text.len;
	int depth = 0;
	bool inside = false;

	for (size_t i = 0; i < s->unit.nr; i++) {
		const struct cfunc *f = &s->unit.v[i];

		if (f->body != CNONE && l->v[f->first].pos < limit)
			limit = l->v[f->first].pos;
	}
	for (size_t i = 0; i < l->nr_all && l->all[i].pos < limit; i++) {
		const struct ctok *t = &l->all[i];

		if (t->kind != CTOK_LINE)
			continue;
		if (line_is(l, t, "if"))
			depth++;
		else if (line_is(l, t, "endif"))
			depth -= depth > 0;
		else if (line_is(l, t, "include"))
			inside = true;
		else
			continue;
		if (inside && !depth) {
			place = next_line(&s->text, t);
			inside = false;
		}
	}
	return place;
}

static void add_head(struct emit *e, const char *title, struct buf *out)
{
	if (!e->gcc.len && !e->clang.len)
		return;
	buf_addf(out, "/* maxkernel: begin %s */\n", title);
	if (e->clang.len)
		buf_addf(out, "#if defined(__clang__)\n%s", e->clang.ptr);
	if (e->gcc.len)
		buf_addf(out, "%s\n%s", e->clang.len ?
			 "#elif defined(__GNUC__)" :
			 "#if defined(__GNUC__) && !defined(__clang__)",
			 e->gcc.ptr);
	buf_addstr(out, "#endif\n/* maxkernel: end */\n");
}

static bool text_has(const struct site *s, const char *word)
{
	return memmem(s->text.ptr, s->text.len, word, strlen(word)) != NULL;
}

/* Code of ours that an earlier recipe left in the text needs its functions. */
static unsigned left_over(const struct site *s)
{
	unsigned mask = 0;

	if (s->had_block && text_has(s, "mk_unkey("))
		mask |= 1u << VEC_MAXLOOP;
	if (s->had_block && text_has(s, "mk_first("))
		mask |= 1u << VEC_FIRST;
	return mask;
}

static void add_blocks(const struct site *s, const struct recipe *r,
		       struct emit *e)
{
	struct buf title = BUF_INIT, text = BUF_INIT;
	bool head;

	e->vec |= left_over(s);
	recipe_print(r, &title);
	add_head(e, title.ptr, &text);
	head = text.len > 0;
	if (head)
		emit_block(e, head_place(s), text.ptr, 0);
	buf_reset(&text);
	if (e->vec) {
		size_t place = body_place(s);

		/* The last line may lack its newline. */
		if (place && s->text.ptr[place - 1] != '\n')
			buf_addch(&text, '\n');
		buf_addf(&text, "/* maxkernel: begin %s */\n",
			 head ? "vector math" : title.ptr);
		vectext_add(e->vec, &text);
		buf_addstr(&text, "/* maxkernel: end */\n");
		emit_block(e, place, text.ptr, 1);
	}
	buf_release(&title);
	buf_release(&text);
}

static int apply_gene(const struct site *s, const struct gene *g,
		      struct emit *e, struct err *err)
{
	const struct strategy *st = strategy_find(g->name);
	struct buf why = BUF_INIT;
	int rc = 0;

	if (!st)
		return err_set(err, ERR_FORMAT,
			       "recipe: there is no strategy '%.40s'", g->name);
	/* What the origin carries already need not fit any more. */
	if (!strategy_fits(st, s, &why) && !recipe_find(&s->found, g->name))
		rc = err_set(err, ERR_FORMAT, "recipe: '%s' does not fit: %s",
			     g->name, why.ptr);
	else if (!why.len)
		rc = st->apply(s, g, e, err);
	buf_release(&why);
	return rc;
}

int strategy_apply(const struct site *s, const struct recipe *r,
		   struct srcset *out, struct err *err)
{
	const struct srcfile *f = &s->src->v[s->file];
	struct emit e = { .gcc = BUF_INIT, .clang = BUF_INIT, .out = out };
	struct buf text = BUF_INIT;
	int rc = 0;

	srcset_copy(out, s->src);
	if (!r->nr)
		return 0;
	for (size_t i = 0; i < r->nr && !rc; i++)
		rc = apply_gene(s, &r->v[i], &e, err);
	if (!rc) {
		add_blocks(s, r, &e);
		rc = edited(s, &e, &text, err);
	}
	if (!rc)
		srcset_put(out, f->path, text.ptr, text.len, true);
	else
		srcset_release(out);
	buf_release(&text);
	emit_release(&e);
	return rc;
}
