#include "core/prior.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define MAX_GAIN 1e6		/* of a sum; more is no measurement */
#define MAX_MEAN 5.0		/* 148 times; what is read may say anything */
#define MAX_GENES 64		/* of a recipe that are looked at */

void prior_release(struct prior *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		free(p->v[i].target);
		free(p->v[i].shape);
		free(p->v[i].gene);
	}
	free(p->v);
	*p = (struct prior)PRIOR_INIT;
}

/* ---- the sorted list ---- */

static int compare(const struct prior_count *c, const char *target,
		   const char *shape, const char *gene)
{
	int d = strcmp(c->target, target);

	if (!d)
		d = strcmp(c->shape, shape);
	return d ? d : strcmp(c->gene, gene);
}

/* The first at or behind the key, from a place on. */
static size_t lower(const struct prior *p, size_t from, const char *target,
		    const char *shape, const char *gene)
{
	size_t lo = from, hi = p->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare(&p->v[mid], target, shape, gene) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The count of a key, made if it isn't there. */
static struct prior_count *count_of(struct prior *p, const char *target,
				    const char *shape, const char *gene)
{
	size_t i = lower(p, 0, target, shape, gene);

	if (i < p->nr && !compare(&p->v[i], target, shape, gene))
		return &p->v[i];
	GROW(p->v, p->nr, p->cap);
	memmove(p->v + i + 1, p->v + i, (p->nr - i) * sizeof(*p->v));
	p->nr++;
	p->v[i] = (struct prior_count){ xstrdup(target), xstrdup(shape),
					xstrdup(gene), 0, 0, 0, 0 };
	return &p->v[i];
}

static uint32_t sum(uint32_t a, uint32_t b)
{
	return b > UINT32_MAX - a ? UINT32_MAX : a + b;
}

static double bounded(double gain)
{
	return gain > MAX_GAIN ? MAX_GAIN :
	       gain < -MAX_GAIN ? -MAX_GAIN : gain;
}

void prior_add(struct prior *to, const struct prior *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct prior_count *f = &from->v[i];
		struct prior_count *c = count_of(to, f->target, f->shape,
						 f->gene);

		c->tried = sum(c->tried, f->tried);
		c->failed = sum(c->failed, f->failed);
		c->won = sum(c->won, f->won);
		c->gain = bounded(c->gain + f->gain);
	}
}

void prior_copy(struct prior *to, const struct prior *from)
{
	*to = (struct prior)PRIOR_INIT;
	to->v = xcalloc(from->nr, sizeof(*to->v));
	to->nr = to->cap = from->nr;
	for (size_t i = 0; i < from->nr; i++) {
		to->v[i] = from->v[i];
		to->v[i].target = xstrdup(from->v[i].target);
		to->v[i].shape = xstrdup(from->v[i].shape);
		to->v[i].gene = xstrdup(from->v[i].gene);
	}
}

/* ---- text ---- */

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define SLUG LOWER DIGITS "-"
#define GENE SLUG "ABCDEFGHIJKLMNOPQRSTUVWXYZ_=.+(),"

static bool is_word(const char *s, const char *of)
{
	size_t len = strlen(s);

	return len && len <= PRIOR_MAX_WORD && strspn(s, of) == len;
}

static bool read_count(const char *s, uint32_t *out)
{
	unsigned long long v;

	if (!is_word(s, DIGITS) || strlen(s) > 10)
		return false;
	v = strtoull(s, NULL, 10);
	*out = (uint32_t)v;
	return v <= UINT32_MAX;
}

/* "-12.5": no exponent, nothing that is no number. */
static bool read_gain(const char *s, double *out)
{
	const char *p = s + (*s == '-');

	if (!is_word(p, DIGITS ".") || strlen(p) > 16 || *p == '.' ||
	    (strchr(p, '.') && strchr(strchr(p, '.') + 1, '.')))
		return false;
	*out = strtod(s, NULL);
	return fabs(*out) <= MAX_GAIN;
}

/* One line, which is cut up; false: it is none of ours. */
static bool read_line(struct prior *p, char *line)
{
	struct prior_count c, *have;
	char *word[7];

	for (size_t i = 0; i < ARRAY_SIZE(word); i++) {
		char *end = strchr(line, ' ');

		word[i] = line;
		if ((i + 1 < ARRAY_SIZE(word)) != (end != NULL))
			return false;
		if (!end)
			break;
		*end = '\0';
		line = end + 1;
	}
	if (!is_word(word[0], SLUG "+") || !is_word(word[1], SLUG) ||
	    !is_word(word[2], GENE) || !read_count(word[3], &c.tried) ||
	    !read_count(word[4], &c.failed) || !read_count(word[5], &c.won) ||
	    !read_gain(word[6], &c.gain) || !c.tried || c.failed > c.tried ||
	    c.won > c.tried - c.failed)
		return false;
	have = count_of(p, word[0], word[1], word[2]);
	if (have->tried)
		return false;	/* twice */
	have->tried = c.tried;
	have->failed = c.failed;
	have->won = c.won;
	have->gain = c.gain;
	return true;
}

int prior_parse(struct prior *p, const char *text, size_t len,
		struct err *err)
{
	const char *end = text + len;

	*p = (struct prior)PRIOR_INIT;
	if (len > PRIOR_MAX_TEXT)
		return err_set(err, ERR_LIMIT, "counts of strategies: over "
			       "%u bytes", PRIOR_MAX_TEXT);
	for (int nr = 1; text < end; nr++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		char *line = xstrndup(text, n);
		bool good = strlen(line) == n &&
			    (*line == '#' || read_line(p, line));

		free(line);
		if (!good) {
			prior_release(p);
			return err_set(err, ERR_FORMAT, "counts of "
				       "strategies: line %d is not 'target "
				       "shape gene tried failed won gain'",
				       nr);
		}
		text += n + (stop != NULL);
	}
	return 0;
}

int prior_load(struct prior *p, const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	int rc = buf_read_file(&text, path, PRIOR_MAX_TEXT, err);

	*p = (struct prior)PRIOR_INIT;
	if (!rc)
		rc = prior_parse(p, text.ptr, text.len, err);
	buf_release(&text);
	if (rc == ERR_NOTFOUND)
		return 0;
	return rc ? err_wrap(err, "%s", path) : 0;
}

static void add_line(const struct prior_count *c, struct buf *out)
{
	/* Minus nothing is nothing. */
	double gain = fabs(c->gain) < 5e-5 ? 0 : c->gain;

	buf_addf(out, "%s %s %s %u %u %u %.4f\n", c->target, c->shape,
		 c->gene, c->tried, c->failed, c->won, gain);
}

struct ranked {
	uint32_t tried;
	size_t at, len;
};

static int most_tried(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->tried != y->tried)
		return x->tried > y->tried ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void prior_format(const struct prior *p, size_t max, struct buf *out)
{
	struct ranked *v = xcalloc(p->nr, sizeof(*v));
	bool *keep = xcalloc(p->nr, sizeof(*keep));
	struct buf line = BUF_INIT;
	size_t sum_len = 0;

	for (size_t i = 0; i < p->nr; i++) {
		buf_reset(&line);
		add_line(&p->v[i], &line);
		v[i] = (struct ranked){ p->v[i].tried, i, line.len };
	}
	if (p->nr)
		qsort(v, p->nr, sizeof(*v), most_tried);
	for (size_t i = 0; i < p->nr; i++) {
		if (v[i].len > max - sum_len)
			break;
		sum_len += v[i].len;
		keep[v[i].at] = true;
	}
	for (size_t i = 0; i < p->nr; i++)
		if (keep[i])
			add_line(&p->v[i], out);
	buf_release(&line);
	free(keep);
	free(v);
}

/* ---- recipes ---- */

/* "TILE=32": a C identifier, "=" and something. */
static bool is_keyed(const char *s, size_t len)
{
	size_t n = strspn(s, GENE);
	size_t key = strspn(s, LOWER DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	return n >= len && key && key + 1 < len && s[key] == '=' &&
	       !strchr(DIGITS, *s);
}

/* Words of "A=1,B=2"; false, and nothing added, if they are not all such. */
static bool add_keyed(struct strv *out, const char *s, size_t len)
{
	for (size_t i = 0; i <= len;) {
		const char *comma = memchr(s + i, ',', len - i);
		size_t n = comma ? (size_t)(comma - s) - i : len - i;

		if (!is_keyed(s + i, n))
			return false;
		i += n + 1;
	}
	for (size_t i = 0; i <= len;) {
		const char *comma = memchr(s + i, ',', len - i);
		size_t n = comma ? (size_t)(comma - s) - i : len - i;

		if (n <= PRIOR_MAX_WORD)
			strv_pushf(out, "%.*s", (int)n, s + i);
		i += n + 1;
	}
	return true;
}

void prior_keys(const char *recipe, struct strv *out)
{
	struct buf gene = BUF_INIT;

	while (*recipe && out->nr < MAX_GENES) {
		size_t n = strcspn(recipe, ";");
		const char *open;

		buf_reset(&gene);
		for (size_t i = 0; i < n; i++)
			if (!strchr(" \t\n", recipe[i]))
				buf_addch(&gene, recipe[i]);
		recipe += n + (recipe[n] == ';');
		open = strchr(gene.ptr, '(');
		if (open && gene.ptr[gene.len - 1] == ')' &&
		    add_keyed(out, open + 1,
			      gene.len - 2 - (size_t)(open - gene.ptr)))
			continue;
		if (is_word(gene.ptr, GENE))
			strv_push(out, gene.ptr);
	}
	buf_release(&gene);
}

/* ---- counting ---- */

struct version {
	const char *recipe;
	double score;		/* as that of struct node */
};

static struct version version_of(const struct node *n)
{
	return (struct version){ n->recipe ? n->recipe : "", n->score };
}

/* How the step to a version went is known. */
static bool is_known(const struct version *v, enum verdict verdict)
{
	switch (verdict) {
	case V_NONE:
	case V_NO_VERDICT:
	case V_NO_PROPOSAL:
	case V_DUP:
		return false;
	default:
		return *v->recipe && (!verdict_is_timed(verdict) ||
				      isfinite(v->score));
	}
}

/* Those of the child that the parent has not. */
static void new_keys(const struct version *parent,
		     const struct version *child, struct strv *out)
{
	struct strv had = STRV_INIT, has = STRV_INIT;

	prior_keys(parent->recipe, &had);
	prior_keys(child->recipe, &has);
	for (size_t i = 0; i < has.nr; i++)
		if (!strv_has(&had, has.v[i]) && !strv_has(out, has.v[i]))
			strv_push(out, has.v[i]);
	strv_release(&had);
	strv_release(&has);
}

static void count_timed(struct prior *p, double gain,
			const struct strv *keys, const char *target,
			const char *shape)
{
	for (size_t i = 0; i < keys->nr; i++) {
		struct prior_count *c = count_of(p, target, shape,
						 keys->v[i]);

		c->tried = sum(c->tried, 1);
		c->won = sum(c->won, gain > PRIOR_WON);
		c->gain = bounded(c->gain + gain / (double)keys->nr);
	}
}

static const struct prior_count *look_up(const struct prior *p,
					 const char *target,
					 const char *shape, const char *gene)
{
	size_t i = p ? lower(p, 0, target, shape, gene) : 0;

	if (!p || i >= p->nr || compare(&p->v[i], target, shape, gene))
		return NULL;
	return &p->v[i];
}

/* Which of several genes failed is not known; one that was timed before in
 * other company is not suspected as long as there is another. */
static void count_failed(struct prior *p, const struct strv *keys,
			 const char *target, const char *shape)
{
	size_t suspects = 0, suspect = 0;

	for (size_t i = 0; i < keys->nr; i++) {
		const struct prior_count *c = look_up(p, target, shape,
						      keys->v[i]);

		if (c && c->tried > c->failed)
			continue;
		suspects++;
		suspect = i;
	}
	if (suspects > 1)
		return;
	for (size_t i = 0; i < keys->nr; i++) {
		struct prior_count *c;

		if (suspects && i != suspect)
			continue;
		c = count_of(p, target, shape, keys->v[i]);
		c->tried = sum(c->tried, 1);
		c->failed = sum(c->failed, 1);
	}
}

static void count_step(struct prior *p, const struct version *parent,
		       const struct version *child, enum verdict verdict,
		       const char *target, const char *shape)
{
	struct strv genes = STRV_INIT;

	if (!isfinite(parent->score) || !is_known(child, verdict))
		return;
	new_keys(parent, child, &genes);
	if (verdict_is_timed(verdict))
		count_timed(p, bounded(child->score - parent->score), &genes,
			    target, shape);
	else
		count_failed(p, &genes, target, shape);
	strv_release(&genes);
}

static void count_node(struct prior *p, const struct graph *g, uint32_t i,
		       const char *target, const char *shape)
{
	const struct node *n = &g->node[i];
	struct version child = version_of(n), parent;

	if (n->pending || n->parent[0] >= g->nr)
		return;
	parent = version_of(&g->node[n->parent[0]]);
	count_step(p, &parent, &child, n->rec.verdict, target, shape);
}

/* What a step made: a node of this search, or one that was pruned. */
static bool made_by(const struct graph *g, uint32_t step, struct version *out)
{
	uint32_t i = graph_node_from(g, step);

	if (!step) {
		*out = version_of(&g->node[0]);
		return true;
	}
	for (; i < g->nr && g->node[i].step == step; i++)
		if (!g->node[i].united) {
			*out = version_of(&g->node[i]);
			return true;
		}
	i = graph_spend_from(g, step);
	for (; i < g->nr_spend && g->spend[i].step == step; i++)
		if (g->spend[i].recipe) {
			*out = (struct version){ g->spend[i].recipe,
						 g->spend[i].score };
			return true;
		}
	return false;
}

static void count_spend(struct prior *p, const struct graph *g, uint32_t i,
			const char *target, const char *shape)
{
	const struct spend *x = &g->spend[i];
	struct version child = { x->recipe, x->score }, parent;

	if (graph_spend_tells(g, i) && made_by(g, x->parent, &parent))
		count_step(p, &parent, &child, x->verdict, target, shape);
}

void prior_count_graph(struct prior *p, const struct graph *g, uint32_t after,
		       uint32_t upto, const char *target, const char *shape)
{
	uint32_t node = graph_node_from(g, after + 1);
	uint32_t spend = graph_spend_from(g, after + 1);

	if (!is_word(target, SLUG "+") || !is_word(shape, SLUG))
		return;
	while (node < g->nr || spend < g->nr_spend) {
		bool pruned = node >= g->nr || (spend < g->nr_spend &&
			g->spend[spend].step < g->node[node].step);

		if ((pruned ? g->spend[spend].step : g->node[node].step) >
		    upto)
			break;
		if (pruned)
			count_spend(p, g, spend++, target, shape);
		else
			count_node(p, g, node++, target, shape);
	}
}

/* ---- asking ---- */

/* Weighted tries and sum of ln gains of a gene; 0 if nothing is known. */
static double known(const struct prior *p, const char *target,
		    const char *shape, const char *gene, double *gain)
{
	double tries = 0;
	size_t i;

	*gain = 0;
	if (!p)
		return 0;
	i = lower(p, 0, target, "", "");
	while (i < p->nr && !strcmp(p->v[i].target, target)) {
		const char *of = p->v[i].shape;
		const struct prior_count *c;
		double weight = strcmp(of, shape) ? PRIOR_OTHER : 1;

		i = lower(p, i, target, of, gene);
		c = i < p->nr ? &p->v[i] : NULL;
		if (c && !compare(c, target, of, gene)) {
			tries += weight * c->tried;
			*gain += weight * (c->gain + c->failed * PRIOR_FAILED);
		}
		/* On to the next shape: no gene has such a byte. */
		i = lower(p, i, target, of, "\x7f");
	}
	return tries;
}

double prior_gain(const struct prior *p, const char *target,
		  const char *shape, const char *gene, double fallback)
{
	double gain, mean, tries = known(p, target, shape, gene, &gain);

	if (!(tries > 0))
		return fallback;
	mean = (PRIOR_OWN * log(fallback) + gain) / (PRIOR_OWN + tries);
	return exp(mean > MAX_MEAN ? MAX_MEAN :
		   mean < -MAX_MEAN ? -MAX_MEAN : mean);
}

double prior_tries(const struct prior *p, const char *target,
		   const char *shape, const char *gene)
{
	double ignored;

	return known(p, target, shape, gene, &ignored);
}

bool prior_fails(const struct prior *p, const char *target, const char *shape,
		 const char *gene)
{
	const struct prior_count *c = look_up(p, target, shape, gene);

	return c && c->failed > c->tried - c->failed;
}
