/* needs: core/template.c core/tuner.c core/tuner_evolve.c core/proposer.c core/source.c core/sha1.c core/paths.c core/rng.c core/expr.c */
/*
 * A space file, and a template behind the first NUL byte.  What is accepted is
 * within the caps, fills with every value, and can be tuned: settings of the
 * space, none twice, until nothing is left.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/template.h"
#include "core/tuner.h"

#define ASK 64			/* trials of one input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void check_space(const struct space *s)
{
	must(s->nr <= TUNER_MAX_NAMES);
	for (size_t i = 0; i < s->nr; i++) {
		const struct locus_values *l = &s->v[i];

		must(template_name_ok(l->name, strlen(l->name)));
		must(l->needed && l->values.nr &&
		     l->values.nr <= TUNER_MAX_VALUES);
		for (size_t k = 0; k < l->values.nr; k++)
			must(template_value_ok(l->values.v[k],
					       strlen(l->values.v[k])));
	}
}

static void try_template(const struct space *s, const char *text, size_t len)
{
	struct template t = TEMPLATE_INIT;
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	int set[TUNER_MAX_NAMES];

	if (template_parse(&t, "t", text, len, s, &err)) {
		must(err.msg[0]);
		template_release(&t);
		return;
	}
	for (size_t k = 0; k < TUNER_MAX_VALUES; k++) {
		size_t want = t.text.len;

		for (size_t i = 0; i < s->nr; i++)
			set[i] = (int)(k % s->v[i].values.nr);
		for (size_t i = 0; i < t.nr; i++)
			want += strlen(s->v[t.place[i].name].values.v[
				set[t.place[i].name]]);
		buf_reset(&out);
		must(!template_fill(&t, s, set, &out, &err));
		must(out.len == want);
	}
	buf_release(&out);
	template_release(&t);
}

static void try_tuner(const struct space *s, uint64_t seed)
{
	struct tuner_opts o = { .space = s, .seed = seed, .grid = 16 };
	int out[TUNER_BATCH * TUNER_MAX_NAMES];
	int before[ASK + TUNER_BATCH][TUNER_MAX_NAMES];
	struct err err = ERR_INIT;
	struct tuner *t;
	size_t nr = 0, n = 1;

	if (tuner_open(&t, &o, &err))
		return;
	while (nr < ASK && n) {
		n = tuner_ask(t, out);
		must(n <= TUNER_BATCH);
		for (size_t i = 0; i < n; i++, nr++) {
			memcpy(before[nr], out + i * s->nr,
			       s->nr * sizeof(*out));
			for (size_t k = 0; k < s->nr; k++)
				must(before[nr][k] >= 0 && before[nr][k] <
				     (int)s->v[k].values.nr);
			for (size_t k = 0; k < nr; k++)
				must(memcmp(before[k], before[nr], s->nr *
					    sizeof(*out)) != 0);
			tuner_tell(t, i, nr % 5 ? (double)(nr % 7) : NAN);
		}
	}
	tuner_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *nul = size ? memchr(text, 0, size) : NULL;
	size_t len = nul ? (size_t)(nul - text) : size;
	struct space s = SPACE_INIT;
	struct err err = ERR_INIT;

	if (template_space(&s, "s", text, len, &err)) {
		must(err.msg[0]);
	} else {
		check_space(&s);
		if (nul)
			try_template(&s, nul + 1, size - len - 1);
		try_tuner(&s, size);
	}
	space_release(&s);
	return 0;
}
