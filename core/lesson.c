#include "core/lesson.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/prior.h"

#define MAX_GENE 96
#define MAX_WORD 64
#define DIGITS12 12

static const char *const kinds[] = { "helped", "hurt", "failed", "none" };

const char *lesson_kind_name(enum lesson_kind kind)
{
	return kinds[kind];
}

static void lesson_release(struct lesson *l)
{
	free(l->gene);
	free(l->target);
	free(l->shape);
	free(l->device);
	free(l->worker);
	memset(l, 0, sizeof(*l));
}

void lessons_release(struct lessons *l)
{
	for (size_t i = 0; i < l->nr; i++)
		lesson_release(&l->v[i]);
	free(l->v);
	memset(l, 0, sizeof(*l));
}

bool lesson_same_key(const struct lesson *a, const struct lesson *b)
{
	return !strcmp(a->gene, b->gene) && !strcmp(a->target, b->target) &&
		!strcmp(a->shape, b->shape) && !strcmp(a->device, b->device);
}

/* ---- text ---- */

void lesson_format(struct buf *out, const struct lesson *l)
{
	buf_addf(out, "%s %s %s %s %s %u %u %u ", kinds[l->kind], l->gene,
		 l->target, l->shape, l->device, l->tried, l->failed, l->won);
	if (isfinite(l->ratio))
		buf_addf(out, "%.4g", l->ratio);
	else
		buf_addch(out, '-');
	buf_addf(out, " %s", l->node);
	if (l->kind == LESSON_FAILED)
		buf_addf(out, " %s", verdict_name(l->verdict));
}

/* Letters, digits and what stands in genes, shapes and device classes. */
static bool is_word(const char *s, size_t max)
{
	size_t len = strlen(s);

	if (!len || len > max)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("._+-=(),", s[i]))
			return false;
	return true;
}

static bool read_count(const char *s, uint32_t *out)
{
	size_t len = strlen(s);

	if (!len || len > 9 || strspn(s, "0123456789") != len)
		return false;
	*out = (uint32_t)strtoul(s, NULL, 10);
	return true;
}

/* As "%.4g" writes it, of a ratio that may be one. */
static bool read_ratio(const char *s, double *out)
{
	size_t len = strlen(s);

	if (!len || len > 10 || strspn(s, "0123456789.e+-") != len ||
	    !isdigit((unsigned char)*s))
		return false;
	*out = strtod(s, NULL);
	return *out > 0 && *out < 1e9;
}

static bool is_node(const char *s)
{
	return strlen(s) == DIGITS12 &&
		strspn(s, "0123456789abcdef") == DIGITS12;
}

static bool read_words(struct lesson *l, char **word, int nr)
{
	bool failed;

	l->kind = LESSON_NONE;
	for (int k = LESSON_HELPED; k < LESSON_NONE; k++)
		if (!strcmp(word[0], kinds[k]))
			l->kind = (enum lesson_kind)k;
	failed = l->kind == LESSON_FAILED;
	if (l->kind == LESSON_NONE || nr != (failed ? 11 : 10) ||
	    !is_word(word[1], MAX_GENE) || !is_word(word[2], MAX_WORD) ||
	    !is_word(word[3], MAX_GENE) || !is_word(word[4], MAX_WORD) ||
	    !read_count(word[5], &l->tried) ||
	    !read_count(word[6], &l->failed) || !read_count(word[7], &l->won) ||
	    !l->tried || l->failed > l->tried ||
	    l->won > l->tried - l->failed || !is_node(word[9]))
		return false;
	l->ratio = NAN;
	if (failed ? strcmp(word[8], "-") != 0 || l->failed != l->tried :
	    !read_ratio(word[8], &l->ratio))
		return false;
	l->verdict = failed ? verdict_parse(word[10]) : V_NONE;
	return l->verdict >= 0;
}

int lesson_parse(struct lesson *l, const char *text, struct err *err)
{
	char *copy = xstrdup(text), *p = copy, *word[12];
	bool good;
	int nr = 0;

	memset(l, 0, sizeof(*l));
	while (p && nr < 12) {
		word[nr++] = p;
		p = strchr(p, ' ');
		if (p)
			*p++ = '\0';
	}
	good = !p && nr >= 10 && read_words(l, word, nr);
	if (good) {
		l->gene = xstrdup(word[1]);
		l->target = xstrdup(word[2]);
		l->shape = xstrdup(word[3]);
		l->device = xstrdup(word[4]);
		snprintf(l->node, sizeof(l->node), "%s", word[9]);
	} else {
		memset(l, 0, sizeof(*l));
	}
	free(copy);
	return good ? 0 : err_set(err, ERR_FORMAT, "this is no lesson that "
				  "is understood here");
}

/* ---- what a graph teaches ---- */

/* A step by a proposer without recipes goes under its strategy's name. */
static void keys_of(const struct node *n, struct strv *out)
{
	char slug[MAX_WORD + 1];
	size_t len = 0;

	if (n->recipe && *n->recipe) {
		prior_keys(n->recipe, out);
		return;
	}
	for (const char *s = n->strategy ? n->strategy : ""; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (len == MAX_WORD)
			break;
		if (isalnum(c) && c < 0x80)
			slug[len++] = (char)tolower(c);
		else if (len && slug[len - 1] != '-')
			slug[len++] = '-';
	}
	while (len && slug[len - 1] == '-')
		len--;
	slug[len] = '\0';
	if (len)
		strv_push(out, slug);
}

/* Did this step bring the gene in?  *gain: ln of its ratio, or NAN. */
static bool brought(const struct graph *g, uint32_t i, const char *gene,
		    double *gain)
{
	const struct node *n = &g->node[i], *parent;
	struct strv has = STRV_INIT, had = STRV_INIT;
	bool new;

	if (n->pending || n->parent[0] == NODE_NONE ||
	    n->rec.verdict == V_NONE || n->rec.verdict == V_NO_VERDICT ||
	    n->rec.verdict == V_NO_PROPOSAL || n->rec.verdict == V_DUP)
		return false;
	parent = &g->node[n->parent[0]];
	keys_of(n, &has);
	if (n->recipe && *n->recipe)
		keys_of(parent, &had);
	new = strv_has(&has, gene) && !strv_has(&had, gene);
	strv_release(&has);
	strv_release(&had);
	*gain = verdict_is_timed(n->rec.verdict) ? n->score - parent->score :
		NAN;
	return new && (isfinite(*gain) || !verdict_is_timed(n->rec.verdict));
}

/* Of those steps the one that shows the lesson best. */
static uint32_t evidence(const struct graph *g, const struct lesson *l)
{
	uint32_t best = NODE_NONE;
	double most = 0, gain;

	for (uint32_t i = 1; i < g->nr; i++) {
		if (!brought(g, i, l->gene, &gain))
			continue;
		if (l->kind == LESSON_FAILED) {
			if (!isfinite(gain))
				return i;
			continue;
		}
		if (!isfinite(gain))
			continue;
		if (best == NODE_NONE ||
		    (l->kind == LESSON_HURT ? gain < most : gain > most)) {
			best = i;
			most = gain;
		}
	}
	return best;
}

/* As it will be read. */
static double written(double ratio)
{
	char text[32];

	snprintf(text, sizeof(text), "%.4g", ratio);
	return strtod(text, NULL);
}

static void add_lesson(const struct graph *g, const struct prior_count *c,
		       const char *device, struct lessons *out)
{
	uint32_t timed = c->tried - c->failed, node;
	double mean = timed ? c->gain / timed : NAN;
	struct lesson l = {
		.kind = !timed ? LESSON_FAILED :
			mean > PRIOR_WON ? LESSON_HELPED :
			mean < -PRIOR_WON ? LESSON_HURT : LESSON_NONE,
		.tried = c->tried, .failed = c->failed, .won = c->won,
		.ratio = timed ? written(exp(mean)) : NAN, .gene = c->gene,
	};

	node = evidence(g, &l);
	if (node == NODE_NONE || !is_word(c->gene, MAX_GENE))
		return;
	snprintf(l.node, sizeof(l.node), "%.*s", DIGITS12,
		 oid_text(&g->node[node].id).s);
	l.verdict = l.kind == LESSON_FAILED ? (int)g->node[node].rec.verdict :
		V_NONE;
	l.gene = xstrdup(c->gene);
	l.target = xstrdup(c->target);
	l.shape = xstrdup(c->shape);
	l.device = xstrdup(device);
	GROW(out->v, out->nr, out->cap);
	out->v[out->nr++] = l;
}

/* How much is told: the gains of all tries, or what they cost. */
static double weight(const struct lesson *l)
{
	if (l->kind == LESSON_NONE)
		return 0;
	if (l->kind == LESSON_FAILED)
		return -PRIOR_FAILED * l->failed;
	return fabs(log(l->ratio)) * (l->tried - l->failed);
}

static int most_telling(const void *a, const void *b)
{
	double x = weight(a), y = weight(b);

	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(((const struct lesson *)a)->gene,
		      ((const struct lesson *)b)->gene);
}

/* Counts the steps of proposers without recipes, as prior.c does the rest. */
static void count_strategies(struct prior *p, const struct graph *g,
			     const char *target, const char *shape)
{
	for (uint32_t i = 1; i < g->nr; i++) {
		struct strv keys = STRV_INIT;
		double gain = NAN;
		struct prior_count c = { .target = (char *)target,
					 .shape = (char *)shape, .tried = 1 };
		struct prior one = { &c, 1, 1 };

		if (!g->node[i].recipe || !*g->node[i].recipe)
			keys_of(&g->node[i], &keys);
		if (keys.nr && brought(g, i, keys.v[0], &gain)) {
			c.gene = keys.v[0];
			c.failed = !isfinite(gain);
			c.won = isfinite(gain) && gain > PRIOR_WON;
			c.gain = isfinite(gain) ? gain : 0;
			prior_add(p, &one);
		}
		strv_release(&keys);
	}
}

void lessons_distil(const struct graph *g, const char *target,
		    const char *shape, const char *device,
		    struct lessons *out)
{
	struct prior p = PRIOR_INIT;
	size_t from = out->nr;

	if (!shape || !*shape)
		shape = "-";
	if (!is_word(target, MAX_WORD) || !is_word(shape, MAX_GENE) ||
	    !is_word(device, MAX_WORD))
		return;
	prior_count_graph(&p, g, 0, UINT32_MAX, target, shape);
	count_strategies(&p, g, target, shape);
	for (size_t i = 0; i < p.nr; i++)
		add_lesson(g, &p.v[i], device, out);
	prior_release(&p);
	if (out->nr > from)
		qsort(out->v + from, out->nr - from, sizeof(*out->v),
		      most_telling);
}
