#include "agents/builtin/draft.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agents/builtin/draft_parts.h"
#include "core/mem.h"

#define TIMED_WORK 1e8		/* operations of a timed shape, about */
#define TIMED_BYTES (48 << 20)

/* ---- which integers are dims ---- */

static bool used_in(const struct draft *d, const struct poly *p,
		    uint16_t sym)
{
	struct poly q = *p;

	draft_expand(d, &q);
	return !q.bad && poly_has(&q, sym);
}

static bool is_used(const struct draft *d, uint16_t sym)
{
	for (int k = 0; k < d->nr_loops; k++)
		if (used_in(d, &d->loop[k].hi, sym) ||
		    used_in(d, &d->loop[k].lo, sym))
			return true;
	for (int n = 0; n < d->nr_params; n++) {
		const struct dparam *p = &d->param[n];

		for (int k = 0; k < p->declared; k++)
			if (used_in(d, &p->extent[k], sym))
				return true;
	}
	for (int i = 0; i < d->nr_accesses; i++)
		for (int k = 0; k < d->access[i].nr; k++)
			if (used_in(d, &d->access[i].sub[k], sym))
				return true;
	return false;
}

/* An integer that bounds nothing is a scalar. */
static void sort_out_dims(struct draft *d)
{
	for (int k = 0; k < d->nr_params; k++)
		if (d->param[k].is_size && !is_used(d, (uint16_t)k))
			d->param[k].is_size = false;
}

static bool only_ld(const struct draft *d, uint16_t sym)
{
	bool found = false;

	for (int k = 0; k < d->nr_loops; k++)
		if (used_in(d, &d->loop[k].hi, sym))
			return false;
	for (int n = 0; n < d->nr_params; n++) {
		const struct dparam *p = &d->param[n];

		for (int k = 0; p->is_array && k < p->declared; k++)
			if (used_in(d, &p->extent[k], sym))
				return false;
		found = found || (p->is_array && p->has_ld &&
				  poly_has(&p->ld, sym));
	}
	return found;
}

/* ---- work ---- */

static bool is_operand_end(const struct clex *l, uint32_t i)
{
	return l->v[i].kind == CTOK_WORD || l->v[i].kind == CTOK_NUMBER ||
	       clex_is(l, i, ")") || clex_is(l, i, "]");
}

/* Arithmetic in a loop's body outside of subscripts and inner loops. */
static int operations(const struct dloop *loop)
{
	static const char *const changes[] = { "+=", "-=", "*=", "/=" };
	static const char *const ops[] = { "+", "-", "*", "/" };
	const struct clex *l = &loop->u->lex;
	int nr = 0;

	for (uint32_t i = loop->c.first; i <= loop->c.last; i++) {
		if (clex_is(l, i, "[")) {
			i = loop->u->match[i];
			continue;
		}
		if ((clex_is(l, i, "for") || clex_is(l, i, "while")) &&
		    clex_is(l, i + 1, "(")) {
			i = cunit_statement_end(loop->u, i);
			if (i == CNONE)
				break;
			continue;
		}
		for (size_t k = 0; k < ARRAY_SIZE(ops); k++)
			nr += clex_is(l, i, changes[k]) ||
			      (clex_is(l, i, ops[k]) &&
			       is_operand_end(l, i - 1));
	}
	return nr;
}

struct work {
	struct poly sum;
	int64_t parts;		/* that it is to be divided by */
};

#define MAX_PARTS (1 << 20)

static bool is_triangle(const struct draft *d, const struct dloop *l,
			const struct poly *trips)
{
	for (int k = l->outer; k >= 0; k = d->loop[k].outer)
		if (poly_has(trips, (uint16_t)(SYM_LOOP + k)))
			return true;
	return false;
}

/* Rounds of a loop and those around it. */
static bool rounds(const struct draft *d, int n, struct work *w)
{
	poly_const(&w->sum, 1);
	w->parts = 1;
	for (int k = n; k >= 0; k = d->loop[k].outer) {
		const struct dloop *l = &d->loop[k];
		struct poly trips = l->hi;

		poly_sub(&trips, &l->lo);
		/* A triangle is half of its square. */
		if (l->rounds > 0)
			poly_const(&trips, l->rounds);
		else if (is_triangle(d, l, &trips))
			w->parts *= 2;
		if (l->step > 1)
			w->parts *= l->step;
		if (trips.bad || !draft_greatest(d, &trips) ||
		    w->parts > MAX_PARTS)
			return false;
		poly_mul(&w->sum, &trips);
	}
	return !w->sum.bad;
}

static void leading_terms(struct poly *p)
{
	int degree = poly_degree(p), nr = 0;

	for (int i = 0; i < p->nr; i++)
		if (p->t[i].nr == degree)
			p->t[nr++] = p->t[i];
	p->nr = nr;
}

/* Terms over what all of them can be divided by. */
static void reduce(struct work *w)
{
	for (int64_t by = 2; by <= w->parts && by < 4096;) {
		bool all = w->parts % by == 0;

		for (int i = 0; i < w->sum.nr; i++)
			all = all && w->sum.t[i].coef % by == 0;
		if (!all) {
			by++;
			continue;
		}
		w->parts /= by;
		for (int i = 0; i < w->sum.nr; i++)
			w->sum.t[i].coef /= by;
	}
}

/* The work of the deepest loops, as they dominate; false if unknown. */
static bool find_work(const struct draft *d, struct work *out)
{
	double values[SYM_NR], most = 0;

	draft_sample(d, values);
	poly_const(&out->sum, 0);
	out->parts = 1;
	for (int n = 0; n < d->nr_loops; n++) {
		int ops = operations(&d->loop[n]);
		struct poly times;
		struct work w;
		double value;

		/* The rest that a wider loop has left is not much. */
		if (!ops || (most > 0 && !d->loop[n].exact) ||
		    !rounds(d, n, &w))
			continue;
		poly_const(&times, ops);
		poly_mul(&w.sum, &times);
		value = poly_eval(&w.sum, values) / (double)w.parts;
		if (value > most * 8) {
			*out = w;
			most = value;
		} else if (value * 8 > most && w.parts == out->parts) {
			poly_add(&out->sum, &w.sum);
			most += value;
		}
	}
	reduce(out);
	return out->sum.nr && !out->sum.bad;
}

/* ---- shapes ---- */

/* Single letters mean other things when they are small. */
static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (name[1] ? !strcasecmp(name, *list) : !strcmp(name, *list))
			return true;
	return false;
}

static bool has_param(const struct draft *d, const char *name)
{
	for (int k = 0; k < d->nr_params; k++)
		if (!strcmp(d->param[k].name, name))
			return true;
	return false;
}

/* 0: grows with the others; else its value. */
static int fixed_size(const struct draft *d, const char *name)
{
	static const char *const small[] = {
		"R", "S", "KH", "KW", "ksize", "kernel_size", "kernel_h",
		"kernel_w", NULL
	};
	static const char *const few[] = {
		"B", "batch", "nb", "heads", "nheads", NULL
	};

	/* Heads, where there is no width that it would be the height of. */
	if (!strcmp(name, "H"))
		return has_param(d, "W") ? 0 : 6;
	return is_one_of(name, small) ? 3 : is_one_of(name, few) ? 5 : 0;
}

/* No multiple of 64, and no power of two but 1 and 2. */
static int odd_size(int value)
{
	return value > 2 && (value % 64 == 0 || !(value & (value - 1))) ?
	       value + 1 : value;
}

/* Sizes that differ, so that no two can be taken for each other. */
static int spread(int base, int n)
{
	static const int percent[] = { 100, 122, 90, 110, 78, 130 };
	int value = base * percent[n % 6] / 100;

	if (value >= 60)
		value = value / 10 * 10;
	else
		value |= 1;
	return odd_size(value);
}

/* A little more than the longest row that lies so far apart. */
static double apart(const struct draft *d, uint16_t sym, const double *values)
{
	double widest = 0;

	for (int a = 0; a < d->nr_params; a++) {
		const struct dparam *p = &d->param[a];
		double row;

		if (!p->has_ld || !poly_has(&p->ld, sym))
			continue;
		row = poly_eval(&p->extent[p->declared - 1], values);
		widest = row > widest ? row : widest;
	}
	return widest < 1e6 ? odd_size((int)widest + (widest < 60 ? 2 : 8)) :
			      widest + 8;
}

static void set_sizes(const struct draft *d, int base, double *values)
{
	int n = 0;

	draft_sample(d, values);
	for (int k = 0; k < d->nr_params; k++) {
		int fixed = fixed_size(d, d->param[k].name);

		if (!d->param[k].is_size)
			continue;
		if (!fixed)
			values[k] = spread(base, n++);
		else
			values[k] = base < 10 && fixed != 3 ? 1 : fixed;
	}
	draft_values(d, values);
	for (int k = 0; k < d->nr_params; k++)
		if (d->param[k].is_size && only_ld(d, (uint16_t)k))
			values[k] = apart(d, (uint16_t)k, values);
	draft_values(d, values);
}

static double bytes_at(const struct draft *d, const double *values)
{
	double sum = 0;

	for (int n = 0; n < d->nr_params; n++) {
		const struct dparam *p = &d->param[n];
		double size = (double)dtype_size(p->type);

		for (int k = 0; p->is_array && k < p->declared; k++)
			size *= poly_eval(&p->extent[k], values);
		sum += p->is_array ? size : 0;
	}
	return sum;
}

static bool fits_limits(const struct draft *d, const double *values)
{
	for (int k = 0; k < d->nr_limits; k++)
		if (poly_eval(&d->limit[k].need, values) >
		    (double)d->limit[k].have)
			return false;
	return true;
}

/* The largest base whose work and memory are those of a timed shape. */
static int timed_base(const struct draft *d, const struct work *w)
{
	double values[SYM_NR];
	int best = 8;

	for (int base = 10; base < 4000000; base += base / 10 + 1) {
		double bytes;

		set_sizes(d, base, values);
		bytes = bytes_at(d, values);
		if (bytes > TIMED_BYTES || !fits_limits(d, values) ||
		    (w && poly_eval(&w->sum, values) / (double)w->parts >
			  TIMED_WORK))
			break;
		best = base;
	}
	return best;
}

static void add_shape(const struct draft *d, const char *key, int base,
		      struct buf *out)
{
	double values[SYM_NR];
	struct buf line = BUF_INIT;
	const char *between = "";

	set_sizes(d, base, values);
	for (int k = 0; k < d->nr_params; k++) {
		if (!d->param[k].is_size)
			continue;
		buf_addf(&line, "%s%s=%.0f", between, d->param[k].name,
			 values[k]);
		between = " ";
	}
	buf_addch(&line, '\n');
	/* Fixed sizes alone make equal shapes. */
	if (!strstr(out->ptr, line.ptr))
		buf_addf(out, "\t%s = %s", key, line.ptr);
	buf_release(&line);
}

static bool has_dims(const struct draft *d)
{
	for (int k = 0; k < d->nr_params; k++)
		if (d->param[k].is_size)
			return true;
	return false;
}

/* ---- text ---- */

static void add_scalar(struct draft *d, const struct dparam *p,
		       struct buf *out)
{
	bool eps = strstr(p->name, "eps") != NULL;
	const char *value = !dtype_is_float(p->type) ? "1" :
			    eps ? "1e-5" : "1.5";

	buf_addf(out, "\targ = in %s %s = %s\n", dtype_name(p->type), p->name,
		 value);
	strv_pushf(d->notes, "the value of '%s' is a guess", p->name);
}

static void add_array(struct draft *d, int n, struct buf *out)
{
	const struct dparam *p = &d->param[n];

	buf_addf(out, "\targ = %s %s %s", draft_use(d, n),
		 dtype_name(p->type), p->name);
	for (int k = 0; k < p->declared; k++) {
		buf_addch(out, '[');
		poly_print(&p->extent[k], &d->names, out);
		buf_addch(out, ']');
	}
	if (p->has_ld) {
		buf_addstr(out, " ld(");
		poly_print(&p->ld, &d->names, out);
		buf_addch(out, ')');
	}
	buf_addch(out, '\n');
}

static void add_args(struct draft *d, struct buf *out)
{
	static const char *const size[] = { "", "long ", "size_t " };

	if (d->returns >= 0)
		buf_addf(out, "\targ = ret %s\n",
			 dtype_name((enum dtype)d->returns));
	for (int n = 0; n < d->nr_params; n++) {
		const struct dparam *p = &d->param[n];

		if (p->is_array)
			add_array(d, n, out);
		else if (p->is_size)
			buf_addf(out, "\targ = dim %s%s\n", size[p->size_type],
				 p->name);
		else
			add_scalar(d, p, out);
	}
}

/* A rule once, though several arrays may call for it. */
static void add_require(struct buf *rule, struct strv *rules, struct buf *out)
{
	if (!strv_has(rules, rule->ptr)) {
		strv_push(rules, rule->ptr);
		buf_addf(out, "\trequire = %s\n", rule->ptr);
	}
	buf_release(rule);
}

static bool can_vanish(const struct draft *d, const struct poly *p)
{
	struct poly q = *p;

	draft_expand(d, &q);
	for (int i = 0; i < q.nr; i++)
		if (q.t[i].coef < 0)
			return true;
	return false;
}

static void add_requires(const struct draft *d, struct buf *out)
{
	struct strv rules = STRV_INIT;

	for (int n = 0; n < d->nr_params; n++) {
		const struct dparam *p = &d->param[n];
		struct buf rule = BUF_INIT;

		for (int k = 0; p->is_array && k < p->declared; k++) {
			if (!can_vanish(d, &p->extent[k]))
				continue;
			poly_print(&p->extent[k], &d->names, &rule);
			buf_addstr(&rule, " >= 1");
			add_require(&rule, &rules, out);
		}
		if (!p->is_array || !p->has_ld)
			continue;
		poly_print(&p->ld, &d->names, &rule);
		buf_addstr(&rule, " >= ");
		poly_print(&p->extent[p->declared - 1], &d->names, &rule);
		add_require(&rule, &rules, out);
	}
	for (int k = 0; k < d->nr_limits; k++) {
		struct buf rule = BUF_INIT;

		poly_print(&d->limit[k].need, &d->names, &rule);
		buf_addf(&rule, " <= %lld", (long long)d->limit[k].have);
		add_require(&rule, &rules, out);
	}
	strv_release(&rules);
}

static void add_work(const struct work *w, const struct draft *d,
		     struct buf *out)
{
	struct poly p = w->sum;

	leading_terms(&p);
	buf_addstr(out, w->parts > 1 ? "\tflops = (" : "\tflops = ");
	poly_print(&p, &d->names, out);
	if (w->parts > 1)
		buf_addf(out, ")/%lld", (long long)w->parts);
	buf_addch(out, '\n');
}

static void add_numbers(struct draft *d, struct buf *out)
{
	struct work w;
	bool known = find_work(d, &w);

	add_requires(d, out);
	if (has_dims(d)) {
		add_shape(d, "time", timed_base(d, known ? &w : NULL), out);
		add_shape(d, "check", 7, out);
		add_shape(d, "check", 33, out);
	}
	if (known)
		add_work(&w, d, out);
	else
		strv_push(d->notes, "the operations could not be counted; "
			  "add 'flops = ...' to see GF/s");
}

/* "kernels/a.c" and "../inc/b.h" to "inc/b.h"; NULL if it leaves the top. */
static char *beside(const char *path, const char *name, size_t len)
{
	const char *slash = strrchr(path, '/');
	size_t dir = slash ? (size_t)(slash - path) : 0;
	char *result;

	for (;;) {
		if (len > 2 && !memcmp(name, "./", 2)) {
			name += 2;
			len -= 2;
		} else if (len > 3 && !memcmp(name, "../", 3)) {
			if (!dir)
				return NULL;
			while (dir && path[dir - 1] != '/')
				dir--;
			dir -= dir > 0;
			name += 3;
			len -= 3;
		} else {
			break;
		}
	}
	result = xasprintf("%.*s%s%.*s", (int)dir, path, dir ? "/" : "",
			   (int)len, name);
	if (path_is_safe(result))
		return result;
	free(result);
	return NULL;
}

/* #include "..." of the file. */
static void add_uses(const struct draft *d, const char *path, struct buf *out)
{
	const struct clex *l = &d->u->lex;

	for (size_t i = 0; i < l->nr_all; i++) {
		const char *p = l->text + l->all[i].pos, *open, *close;
		size_t len = l->all[i].len;
		char *use;

		if (l->all[i].kind != CTOK_LINE ||
		    !memmem(p, len, "include", 7))
			continue;
		open = memchr(p, '"', len);
		close = open ? memchr(open + 1, '"',
				      len - (size_t)(open + 1 - p)) : NULL;
		if (!close)
			continue;
		use = beside(path, open + 1, (size_t)(close - open - 1));
		if (use)
			buf_addf(out, "\tuse = %s\n", use);
		else
			strv_pushf(d->notes, "'%.*s' lies outside of the "
				   "repository", (int)(close - open - 1),
				   open + 1);
		free(use);
	}
}

static void add_text(struct draft *d, const char *path, const char *entry,
		     struct buf *out)
{
	buf_addstr(out, "[kernel \"");
	for (const char *c = entry; *c; c++)
		buf_addch(out, *c == '_' ? '-' : *c);
	buf_addf(out, "\"]\n\tfile = %s\n", path);
	add_uses(d, path, out);
	buf_addf(out, "\tentry = %s\n\tflags = -O3 -march=native\n", entry);
	add_args(d, out);
	add_numbers(d, out);
}

/* ---- the entry ---- */

static char *func_name(const struct cunit *u, const struct cfunc *f)
{
	const struct ctok *t = &u->lex.v[f->name];

	return xstrndup(u->lex.text + t->pos, t->len);
}

/* The definition that is meant. */
static const struct cfunc *choose(const struct cunit *u, const char *path,
				  const char *entry, struct err *err)
{
	const struct cfunc *found = NULL;
	struct buf list = BUF_INIT;
	int nr = 0;

	for (size_t i = 0; i < u->nr; i++) {
		const struct cfunc *f = &u->v[i];
		char *name;

		if (f->body == CNONE || (!entry && f->is_static) ||
		    (entry && !clex_is(&u->lex, f->name, entry)))
			continue;
		name = func_name(u, f);
		buf_addf(&list, "%s%.60s", nr++ ? ", " : "", name);
		found = f;
		free(name);
	}
	if (!nr && entry)
		err_set(err, ERR_NOTFOUND, "%s: no function '%s'", path, entry);
	else if (!nr)
		err_set(err, ERR_NOTFOUND, "%s: no function that another file "
			"could call", path);
	else if (nr > 1)
		err_set(err, ERR_NOTFOUND, "%s: several functions (%.400s): "
			"name one with --entry", path, list.ptr);
	buf_release(&list);
	return nr == 1 ? found : NULL;
}

static int draft_unit(struct dunits *units, const char *path,
		      const char *entry, struct buf *out, struct strv *notes,
		      struct err *err)
{
	struct draft *d = xcalloc(1, sizeof(*d));
	int rc = ERR_NOTFOUND;

	d->units = units;
	d->u = &units->v[0];
	d->notes = notes;
	d->f = choose(d->u, path, entry, err);
	if (d->f && d->f->nr_params > KERNEL_MAX_ARGS)
		rc = err_set(err, ERR_LIMIT, "%s: over %d parameters", path,
			     KERNEL_MAX_ARGS);
	else if (d->f)
		rc = draft_read(d, err);
	if (!rc) {
		char *name = func_name(d->u, d->f);

		draft_extents(d);
		sort_out_dims(d);
		add_text(d, path, name, out);
		free(name);
	}
	draft_release(d);
	free(d);
	return rc;
}

/* The other sources, for what they define; what cannot be read is not
 * missed. */
static void add_units(struct dunits *units, const struct srcset *src,
		      const struct srcfile *entry)
{
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < src->nr && units->nr < DRAFT_MAX_UNITS; i++) {
		const struct srcfile *f = &src->v[i];

		if (f != entry && !cunit_parse(&units->v[units->nr],
					       f->text.ptr, f->text.len,
					       &ignored))
			units->nr++;
	}
}

int draft_section(const struct srcset *src, const char *path,
		  const char *entry, struct buf *out, struct strv *notes,
		  struct err *err)
{
	const struct srcfile *f = srcset_find(src, path);
	struct dunits *units;
	int rc;

	if (!f)
		return err_set(err, ERR_NOTFOUND, "%s: not among the sources",
			       path);
	units = xcalloc(1, sizeof(*units));
	rc = cunit_parse(&units->v[0], f->text.ptr, f->text.len, err);
	if (rc) {
		err_wrap(err, "%s", path);
	} else {
		units->nr = 1;
		add_units(units, src, f);
		rc = draft_unit(units, path, entry, out, notes, err);
	}
	for (int k = 0; k < units->nr; k++)
		cunit_release(&units->v[k]);
	free(units);
	return rc;
}
