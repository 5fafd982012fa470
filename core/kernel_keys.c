/* The keys of a section: what each may say, and where it goes. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel_parts.h"
#include "core/mem.h"
#include "core/source.h"

#define MAX_LIST 256		/* entries of a repeatable key */
#define MAX_THREADS 256
#define MAX_SCRATCH ((int64_t)1 << 34)

/* Index of value in a list of words ended by NULL; fails if it is not in. */
static int choose(struct kernel_parse *p, const char *key, const char *value,
		  const char *const *words, int *out)
{
	struct buf all = BUF_INIT;

	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], value)) {
			*out = i;
			buf_release(&all);
			return 0;
		}
		buf_addf(&all, "%s'%s'",
			 !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	}
	kernel_fail(p, "%s = %.60s: wanted %s", key, value, all.ptr);
	buf_release(&all);
	return ERR_FORMAT;
}

static int check_path(struct kernel_parse *p, const char *key,
		      const char *path)
{
	if (*path == '/')
		return kernel_fail(p, "%s = %.200s: the path must be relative "
				   "to the repository's top", key, path);
	if (!path_is_safe(path))
		return kernel_fail(p, "%s = %.200s: a path may not hold empty "
				   "parts, '.', '..' or '.git'", key, path);
	if (*path == '-')
		return kernel_fail(p, "%s = %.200s: a path may not begin with "
				   "'-'", key, path);
	if (!strcmp(path, KERNEL_FILE))
		return kernel_fail(p, "%s = %s: the declaration itself can't "
				   "be a source", key, path);
	return 0;
}

static int add_path(struct kernel_parse *p, struct strv *list,
		    const char *key, const char *value)
{
	int ret = check_path(p, key, value);

	if (ret)
		return ret;
	if (strv_has(list, value))
		return kernel_fail(p, "%s = %.200s is there twice", key,
				   value);
	if (list->nr == MAX_LIST)
		return kernel_fail(p, "over %d '%s'", MAX_LIST, key);
	strv_push(list, value);
	return 0;
}

static int set_file(struct kernel_parse *p, const char *value)
{
	return add_path(p, &p->k->file, "file", value);
}

static int set_use(struct kernel_parse *p, const char *value)
{
	return add_path(p, &p->k->use, "use", value);
}

static int set_entry(struct kernel_parse *p, const char *value)
{
	if (!kernel_is_name(value))
		return kernel_fail(p, "entry = %.80s: wanted the name of a C "
				   "function", value);
	p->k->entry = xstrdup(value);
	return 0;
}

static int set_target(struct kernel_parse *p, const char *value)
{
	if (strcmp(value, "c"))
		return kernel_fail(p, "target '%.60s' is not built in: only "
				   "'c' is", value);
	p->k->target = xstrdup(value);
	return 0;
}

static int set_cc(struct kernel_parse *p, const char *value)
{
	static const char *const words[] = { "gcc", "clang", NULL };
	int i, ret = choose(p, "cc", value, words, &i);

	if (!ret)
		p->k->cc = xstrdup(value);
	return ret;
}

static int set_flags(struct kernel_parse *p, const char *value)
{
	struct strv words = STRV_INIT;
	int ret = 0;

	kernel_words(&words, value);
	for (size_t i = 0; i < words.nr && !ret; i++) {
		const char *flag = words.v[i];

		if (!kernel_flag_allowed(flag))
			ret = kernel_fail(p, "the flag '%.200s' is not "
					  "allowed: %s", flag,
					  kernel_flag_advice(flag));
		else if (p->k->flags.nr == MAX_LIST)
			ret = kernel_fail(p, "over %d flags", MAX_LIST);
		else
			strv_push(&p->k->flags, flag);
	}
	strv_release(&words);
	return ret;
}

static int add_shape(struct kernel_parse *p, struct shape **list, int *nr,
		     const char *key, const char *value)
{
	struct err why = ERR_INIT;
	struct shape s;

	if (!p->k->nr_dims)
		return kernel_fail(p, "the kernel has no dims, so '%s' has "
				   "nothing to say: leave it out", key);
	if (*nr == KERNEL_MAX_SHAPES)
		return kernel_fail(p, "over %d '%s' shapes",
				   KERNEL_MAX_SHAPES, key);
	if (kernel_shape_parse(p->k, &s, value, &why))
		return kernel_fail(p, "%s = %.200s: %s", key, value, why.msg);
	for (int i = 0; i < *nr; i++)
		if (!strcmp((*list)[i].text, s.text)) {
			shape_release(&s);
			return kernel_fail(p, "%s = %.200s is there twice",
					   key, value);
		}
	*list = xreallocarray(*list, (size_t)*nr + 1, sizeof(**list));
	(*list)[(*nr)++] = s;
	return 0;
}

static int set_time(struct kernel_parse *p, const char *value)
{
	struct kernel *k = p->k;
	struct err why = ERR_INIT;
	double flops, bytes;
	int ret = add_shape(p, &k->time, &k->nr_time, "time", value);

	if (ret)
		return ret;
	if (kernel_work(k, &k->time[k->nr_time - 1], &flops, &bytes, &why))
		return kernel_fail(p, "time = %.200s: %s", value, why.msg);
	return 0;
}

static int set_check(struct kernel_parse *p, const char *value)
{
	return add_shape(p, &p->k->check, &p->k->nr_check, "check", value);
}

static int set_require(struct kernel_parse *p, const char *value)
{
	struct kernel *k = p->k;
	struct expr e;
	int ret;

	if (k->nr_require == MAX_LIST)
		return kernel_fail(p, "over %d 'require'", MAX_LIST);
	ret = kernel_parse_expr(p, &e, value, "require", NULL);
	if (ret)
		return ret;
	k->require = xreallocarray(k->require, (size_t)k->nr_require + 1,
				   sizeof(*k->require));
	k->require[k->nr_require++] = e;
	return 0;
}

static int tolerance(struct kernel_parse *p, const char *key,
		     const char *value, double *out)
{
	if (!kernel_number(value, out))
		return kernel_fail(p, "%s = %.60s: wanted a number such as "
				   "1e-3", key, value);
	if (*out < 0)
		return kernel_fail(p, "%s = %.60s: a tolerance can't be "
				   "negative", key, value);
	return 0;
}

static int set_rtol(struct kernel_parse *p, const char *value)
{
	int ret = tolerance(p, "rtol", value, &p->k->rtol);

	if (!ret && p->k->rtol >= 1)
		return kernel_fail(p, "rtol = %.60s: at 1 and above, zeros "
				   "would pass as right", value);
	return ret;
}

static int set_atol(struct kernel_parse *p, const char *value)
{
	return tolerance(p, "atol", value, &p->k->atol);
}

static int set_math(struct kernel_parse *p, const char *value)
{
	static const char *const words[] = {
		"strict", "reassoc", "finite", NULL
	};
	int i = 0, ret = choose(p, "math", value, words, &i);

	p->k->math = (enum kernel_math)i;
	return ret;
}

static int set_cache(struct kernel_parse *p, const char *value)
{
	static const char *const words[] = { "hot", "llc", "cold", NULL };
	int i = 0, ret = choose(p, "cache", value, words, &i);

	p->k->cache = (enum kernel_cache)i;
	return ret;
}

static int set_shapes(struct kernel_parse *p, const char *value)
{
	static const char *const words[] = { "free", "fixed", NULL };
	int i = 0, ret = choose(p, "shapes", value, words, &i);

	p->k->shapes_fixed = i == 1;
	return ret;
}

static int set_reentrant(struct kernel_parse *p, const char *value)
{
	static const char *const words[] = { "no", "yes", NULL };
	int i = 0, ret = choose(p, "reentrant", value, words, &i);

	p->k->reentrant = i == 1;
	return ret;
}

static int set_alias(struct kernel_parse *p, const char *value)
{
	struct strv w = STRV_INIT;
	const struct arg *a = NULL, *b = NULL;
	int ret = 0;

	kernel_words(&w, value);
	if (w.nr == 2) {
		a = kernel_find_arg(p->k, w.v[0]);
		b = kernel_find_arg(p->k, w.v[1]);
	}
	if (!a || !b || a == b || !a->rank || !b->rank)
		ret = kernel_fail(p, "alias = %.80s: wanted the names of two "
				  "arrays", value);
	else if ((a->kind == ARG_IN || a->kind == ARG_WEIGHT) &&
		 (b->kind == ARG_IN || b->kind == ARG_WEIGHT))
		ret = kernel_fail(p, "alias = %.80s: neither is written, so "
				  "they may overlap anyway", value);
	else if (p->k->alias.nr >= MAX_LIST)
		ret = kernel_fail(p, "over %d 'alias'", MAX_LIST / 2);
	if (!ret) {
		strv_push(&p->k->alias, w.v[0]);
		strv_push(&p->k->alias, w.v[1]);
	}
	strv_release(&w);
	return ret;
}

/* "1M": bytes. */
static bool read_size(const char *word, int64_t *out)
{
	static const char units[] = "KMG";
	size_t len = strlen(word);
	const char *unit = len ? strchr(units, word[len - 1]) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;
	char *digits = xstrndup(word, unit ? len - 1 : len);
	bool good = kernel_integer(digits, MAX_SCRATCH >> shift, out);

	free(digits);
	if (good)
		*out <<= shift;
	return good;
}

static int set_scratch(struct kernel_parse *p, const char *value)
{
	struct strv w = STRV_INIT;
	bool good;

	kernel_words(&w, value);
	good = (w.nr == 1 || (w.nr == 2 && !strcmp(w.v[1], "malloc"))) &&
	       read_size(w.v[0], &p->k->scratch);
	p->k->scratch_malloc = w.nr == 2;
	strv_release(&w);
	return good ? 0 : kernel_fail(p, "scratch = %.60s: wanted a size up "
				      "to 16G, as in '1M' or '1M malloc'",
				      value);
}

/* What a section may deny: the names of the design, built in yet or not. */
static bool is_strategy(const char *name)
{
	static const char *const names[] = {
		"rt", "restrict", "vecmath", "fastmath", "vw", "ccopt",
		"specialise", "rowacc", "blockfission", "fuse", "fission",
		"interchange", "tile", "uj", "scanvec", "hoist", "onepass",
		"online", "nt", "privatise", "omp", "tunables", "gemm"
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int set_deny(struct kernel_parse *p, const char *value)
{
	struct strv w = STRV_INIT;
	int ret = 0;

	kernel_words(&w, value);
	for (size_t i = 0; i < w.nr && !ret; i++) {
		const char *s = w.v[i];

		if (!is_strategy(s))
			ret = kernel_fail(p, "deny = %.80s: there is no such "
					  "strategy; among them are restrict "
					  "vecmath fastmath vw ccopt tunables",
					  s);
		else if (p->k->deny.nr == MAX_LIST)
			ret = kernel_fail(p, "over %d denied strategies",
					  MAX_LIST);
		else if (!strv_has(&p->k->deny, s))
			strv_push(&p->k->deny, s);
	}
	strv_release(&w);
	return ret;
}

static int check_tunable(struct kernel_parse *p, const char *name)
{
	const struct kernel *k = p->k;

	if (!kernel_is_name(name))
		return kernel_fail(p, "tunable = %.80s: wanted the name of a "
				   "#define, as in 'TILE 16 32 64'", name);
	if (strv_has(&k->dim_names, name))
		return kernel_fail(p, "tunable = %.80s: that is a dim, whose "
				   "value is the caller's", name);
	for (int i = 0; i < k->nr_tunables; i++)
		if (!strcmp(k->tunable[i].name, name))
			return kernel_fail(p, "tunable = %.80s is there twice: "
					   "put its values in one line", name);
	if (k->nr_tunables == KERNEL_MAX_TUNABLES)
		return kernel_fail(p, "over %d 'tunable'",
				   KERNEL_MAX_TUNABLES);
	return 0;
}

static int add_tunable_value(struct kernel_parse *p, struct kernel_tunable *t,
			     const char *word)
{
	char text[24];
	int64_t n;

	if (!kernel_integer(word, KERNEL_MAX_VALUE, &n) || n < 1)
		return kernel_fail(p, "tunable = %s: '%.40s' is not a number "
				   "from 1 to %d", t->name, word,
				   KERNEL_MAX_VALUE);
	snprintf(text, sizeof(text), "%lld", (long long)n);
	if (strv_has(&t->values, text))
		return kernel_fail(p, "tunable = %s: %s is there twice",
				   t->name, text);
	if (t->values.nr == KERNEL_MAX_VALUES)
		return kernel_fail(p, "tunable = %s: over %d values", t->name,
				   KERNEL_MAX_VALUES);
	strv_push(&t->values, text);
	return 0;
}

static int set_tunable(struct kernel_parse *p, const char *value)
{
	struct strv w = STRV_INIT;
	struct kernel_tunable *t;
	int ret;

	kernel_words(&w, value);
	ret = check_tunable(p, w.nr ? w.v[0] : "");
	if (!ret && w.nr < 2)
		ret = kernel_fail(p, "tunable = %s lacks the values to try, "
				  "as in '%s 16 32 64'", w.v[0], w.v[0]);
	if (!ret) {
		t = &p->k->tunable[p->k->nr_tunables++];
		t->name = xstrdup(w.v[0]);
		for (size_t i = 1; i < w.nr && !ret; i++)
			ret = add_tunable_value(p, t, w.v[i]);
	}
	strv_release(&w);
	return ret;
}

/* Cuts the last word off value if it is "double". */
static bool cut_double(char *value)
{
	size_t len = strlen(value);
	char *word = len > 7 ? value + len - 6 : NULL;

	if (!word || strcmp(word, "double") ||
	    (word[-1] != ' ' && word[-1] != '\t'))
		return false;
	while (word > value && (word[-1] == ' ' || word[-1] == '\t'))
		word--;
	*word = '\0';
	return true;
}

/* path[:symbol] [double] */
static int read_func(struct kernel_parse *p, struct func_ref *f,
		     const char *key, const char *value, bool may_double)
{
	char *text = xstrdup(value), *colon;
	int ret;

	f->is_double = may_double && cut_double(text);
	colon = strrchr(text, ':');
	if (colon)
		*colon++ = '\0';
	ret = check_path(p, key, text);
	if (!ret && colon && !kernel_is_name(colon))
		ret = kernel_fail(p, "%s = %.200s: '%.80s' can't be the name "
				  "of a C function", key, value, colon);
	if (!ret) {
		f->path = xstrdup(text);
		f->symbol = xstrdup(colon);	/* NULL: the entry, later */
	}
	free(text);
	return ret;
}

static int set_reference(struct kernel_parse *p, const char *value)
{
	return read_func(p, &p->k->reference, "reference", value, true);
}

static int set_baseline(struct kernel_parse *p, const char *value)
{
	return read_func(p, &p->k->baseline, "baseline", value, false);
}

static int set_rival(struct kernel_parse *p, const char *value)
{
	struct kernel *k = p->k;
	int ret;

	if (k->nr_rivals == KERNEL_MAX_RIVALS)
		return kernel_fail(p, "over %d rivals", KERNEL_MAX_RIVALS);
	ret = read_func(p, &k->rival[k->nr_rivals], "rival", value, false);
	if (!ret)
		k->nr_rivals++;
	return ret;
}

static int set_flops(struct kernel_parse *p, const char *value)
{
	p->k->has_flops = true;
	return kernel_parse_expr(p, &p->k->flops, value, "flops", NULL);
}

static int set_bytes(struct kernel_parse *p, const char *value)
{
	p->k->has_bytes = true;
	return kernel_parse_expr(p, &p->k->bytes, value, "bytes", NULL);
}

static int set_threads(struct kernel_parse *p, const char *value)
{
	int64_t n;

	if (!kernel_integer(value, MAX_THREADS, &n) || n < 1)
		return kernel_fail(p, "threads = %.60s: wanted 1 to %d",
				   value, MAX_THREADS);
	p->k->threads = (int)n;
	return 0;
}

const struct kernel_key kernel_keys[KERNEL_NR_KEYS] = {
	{ "file", PHASE_REST, true, true, set_file },
	{ "use", PHASE_REST, true, true, set_use },
	{ "entry", PHASE_REST, false, false, set_entry },
	{ "target", PHASE_REST, false, false, set_target },
	{ "cc", PHASE_REST, false, false, set_cc },
	{ "flags", PHASE_REST, true, false, set_flags },
	{ "arg", PHASE_ARGS, true, false, kernel_parse_arg },
	{ "time", PHASE_SHAPES, true, false, set_time },
	{ "check", PHASE_SHAPES, true, false, set_check },
	{ "require", PHASE_REST, true, false, set_require },
	{ "input", PHASE_REST, true, true, kernel_parse_input },
	{ "rtol", PHASE_REST, false, false, set_rtol },
	{ "atol", PHASE_REST, false, false, set_atol },
	{ "math", PHASE_REST, false, false, set_math },
	{ "reentrant", PHASE_REST, false, false, set_reentrant },
	{ "alias", PHASE_REST, true, false, set_alias },
	{ "scratch", PHASE_REST, false, false, set_scratch },
	{ "deny", PHASE_REST, true, false, set_deny },
	{ "tunable", PHASE_REST, true, false, set_tunable },
	{ "reference", PHASE_REST, false, true, set_reference },
	{ "baseline", PHASE_REST, false, true, set_baseline },
	{ "rival", PHASE_REST, true, true, set_rival },
	{ "flops", PHASE_REST, false, false, set_flops },
	{ "bytes", PHASE_REST, false, false, set_bytes },
	{ "threads", PHASE_REST, false, false, set_threads },
	{ "cache", PHASE_REST, false, false, set_cache },
	{ "shapes", PHASE_REST, false, false, set_shapes },
};
