/* needs: core/graph.c core/prior.c core/record.c */
/*
 * Counts of strategies as a spec of another repository may hold them, and a
 * recipe behind the first NUL byte.  What is accepted is sorted, prints as
 * itself once printed, and gives ratios that can be compared.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/prior.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void try_counts(const struct prior *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		const struct prior_count *c = &p->v[i];
		double gain = prior_gain(p, c->target, c->shape, c->gene, 1.5);

		must(c->tried && c->failed <= c->tried &&
		     c->won <= c->tried - c->failed && isfinite(c->gain));
		must(gain > 0 && isfinite(gain));
		must(prior_tries(p, c->target, c->shape, c->gene) >= c->tried);
	}
}

static void try_text(const char *text, size_t len)
{
	struct buf once = BUF_INIT, twice = BUF_INIT;
	struct err err = ERR_INIT;
	struct prior p, again;

	if (prior_parse(&p, text, len, &err)) {
		must(err.msg[0] && !p.nr);
		return;
	}
	try_counts(&p);
	prior_format(&p, 2 * PRIOR_MAX_TEXT, &once);
	if (once.len <= PRIOR_MAX_TEXT) {
		must(!prior_parse(&again, once.ptr, once.len, &err));
		must(again.nr == p.nr);
		prior_format(&again, PRIOR_MAX_TEXT, &twice);
		must(!strcmp(once.ptr, twice.ptr));
		prior_add(&again, &p);
		must(again.nr == p.nr);
		try_counts(&again);
		prior_release(&again);
	}
	prior_release(&p);
	buf_release(&once);
	buf_release(&twice);
}

static void try_recipe(const char *text, size_t len)
{
	struct strv keys = STRV_INIT;
	struct buf recipe = BUF_INIT;

	buf_add(&recipe, text, len);
	prior_keys(recipe.ptr, &keys);
	for (size_t i = 0; i < keys.nr; i++)
		must(keys.v[i][0] && strlen(keys.v[i]) <= PRIOR_MAX_WORD);
	strv_release(&keys);
	buf_release(&recipe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *nul = size ? memchr(text, 0, size) : NULL;
	size_t len = nul ? (size_t)(nul - text) : size;

	try_text(text, len);
	if (nul)
		try_recipe(nul + 1, size - len - 1);
	else
		try_recipe(text, size);
	return 0;
}
