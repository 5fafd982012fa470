#include "tests/bench/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define FIELDS 9

/* ---- reading ---- */

struct reader {
	struct table *t;
	const char *path;
	int line;
	struct err *err;
};

static int bad(struct reader *r, const char *what)
{
	return err_set(r->err, ERR_FORMAT, "%s:%d: %s", r->path, r->line, what);
}

static int split(char *line, char *field[FIELDS])
{
	int nr = 0;

	for (char *at = line; at && nr < FIELDS;)
		field[nr++] = strsep(&at, "\t");
	return nr;
}

static double number(const char *s, bool *good)
{
	char *end;
	double x;

	if (!strcmp(s, "-"))
		return NAN;
	x = strtod(s, &end);
	if (end == s || *end)
		*good = false;
	return x;
}

static int read_locus(struct reader *r, char *field[FIELDS], int nr)
{
	struct space *s = &r->t->space;
	struct locus_values l = { .now = -1 };
	char *head = nr == 3 ? field[1] : NULL, *name, *kind, *need, *word;
	char *values = head ? field[2] : NULL;

	name = strsep(&head, " ");
	kind = strsep(&head, " ");
	need = strsep(&head, " ");
	if (!name || !kind || !need || head)
		return bad(r, "a locus has a name, two words and its values");
	l.name = xstrdup(name);
	l.tunable = !strcmp(kind, "tunable");
	l.needed = !strcmp(need, "needed");
	for (word = strsep(&values, " "); word; word = strsep(&values, " "))
		strv_push(&l.values, word);
	GROW(s->v, s->nr, s->cap);
	s->v[s->nr++] = l;
	return 0;
}

static int read_head(struct reader *r, char *field[FIELDS], int nr)
{
	struct table *t = r->t;
	const struct {
		const char *key;
		char **to;
	} texts[] = {
		{ "kernel", &t->kernel }, { "section", &t->section },
		{ "device", &t->device }, { "host", &t->host },
		{ "shape", &t->shape },
	};

	if (!strcmp(field[0], "locus"))
		return read_locus(r, field, nr);
	if (nr != 2)
		return bad(r, "no line of a table's head");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (strcmp(field[0], texts[i].key) != 0)
			continue;
		free(*texts[i].to);
		*texts[i].to = xstrdup(field[1]);
		return 0;
	}
	if (!strcmp(field[0], "table"))
		return strcmp(field[1], "1") ? bad(r, "a newer table") : 0;
	if (!strcmp(field[0], "epoch")) {
		t->epoch = (int)strtol(field[1], NULL, 10);
		return 0;
	}
	if (!strcmp(field[0], "root"))
		return oid_parse(&t->root, field[1]) ? 0 :
			bad(r, "no state id");
	return bad(r, "no line of a table's head");
}

static bool read_setting(const struct space *s, char *text, struct row *row)
{
	row->setting = xcalloc(s->nr + 1, sizeof(int));
	for (size_t i = 0; i < s->nr; i++) {
		char *word = strsep(&text, ","), *end;
		long value;

		if (!word)
			return false;
		value = strcmp(word, "-") ? strtol(word, &end, 10) : -1;
		if (value < -1 || value >= (long)s->v[i].values.nr)
			return false;
		row->setting[i] = (int)value;
	}
	return !text || !s->nr;
}

static int read_row(struct reader *r, char *field[FIELDS], int nr)
{
	struct table *t = r->t;
	struct row row = { .recipe = NULL };
	bool good = nr == FIELDS;
	int verdict = good ? verdict_parse(field[3]) : -1;
	double lr, low, high;
	bool again;

	if (verdict < 0 || t->nr >= TABLE_MAX_ROWS ||
	    !oid_parse(&row.state, field[2]))
		return bad(r, "no row of a table");
	lr = log(number(field[4], &good));
	low = log(number(field[5], &good));
	high = log(number(field[6], &good));
	row.seconds = number(field[7], &good);
	row.lr = row.low = row.high = NAN;
	row.same = table_find(t, &row.state);
	row.verdict = (enum verdict)verdict;
	good = read_setting(&t->space, field[0], &row) && good &&
		(verdict != V_DUP || row.same < t->nr) &&
		!(verdict_is_timed(row.verdict) && isnan(lr));
	again = good && verdict != V_DUP && row.same < t->nr;
	if (good && verdict != V_DUP)
		table_time(again ? &t->v[row.same] : &row,
			   !strcmp(field[8], "best"), row.verdict, lr, low,
			   high);
	if (again || !good) {
		free(row.setting);
		return good ? 0 : bad(r, "no row of this table");
	}
	row.recipe = xstrdup(field[1]);
	GROW(t->v, t->nr, t->cap);
	t->v[t->nr++] = row;
	return 0;
}

static void settle(struct table *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct row *r = &t->v[i];

		if (verdict_is_timed(r->verdict) && r->lr > t->v[t->best].lr)
			t->best = i;
	}
}

int table_read(struct table *t, const char *path, struct err *err)
{
	struct reader r = { .t = t, .path = path, .err = err };
	struct buf text = BUF_INIT;
	bool rows = false;
	char *at, *line;
	int ret;

	*t = (struct table){ .kernel = NULL };
	ret = buf_read_file(&text, path, TABLE_MAX_TEXT, err);
	at = text.ptr;
	while (!ret && at && *at) {
		char *field[FIELDS];
		int nr;

		r.line++;
		line = strsep(&at, "\n");
		if (!at)
			break;		/* torn */
		nr = split(line, field);
		if (rows && !strcmp(line, "done"))
			t->done = true;
		else if (rows)
			ret = read_row(&r, field, nr);
		else if (!strcmp(line, "rows"))
			rows = true;
		else
			ret = read_head(&r, field, nr);
	}
	if (!ret && (!rows || !t->kernel || !t->section || !t->device ||
		     !t->host || !t->shape))
		ret = bad(&r, "the head of the table is not whole");
	buf_release(&text);
	if (!ret)
		settle(t);
	return ret;
}

void table_release(struct table *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		free(t->v[i].setting);
		free(t->v[i].recipe);
	}
	free(t->v);
	space_release(&t->space);
	free(t->kernel);
	free(t->section);
	free(t->device);
	free(t->host);
	free(t->shape);
	*t = (struct table){ .kernel = NULL };
}

void table_time(struct row *r, bool best, enum verdict verdict, double lr,
		double low, double high)
{
	struct times *t = best ? &r->best : &r->root;

	if (!verdict_is_timed(verdict)) {
		/* Right once and wrong another time is not right. */
		if (verdict != V_NO_VERDICT || !r->root.nr) {
			r->verdict = verdict;
			r->lr = r->low = r->high = NAN;
		}
		return;
	}
	t->nr++;
	t->sum += lr;
	if (r->best.nr)
		t = &r->best;
	r->lr = t->sum / t->nr;
	r->low = low;
	r->high = high;
	r->verdict = verdict;
}

size_t table_find(const struct table *t, const struct oid *state)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->v[i].verdict != V_DUP && oid_eq(&t->v[i].state, state))
			return i;
	return t->nr;
}

/* ---- writing ---- */

void table_add_head(const struct table *t, struct buf *out)
{
	buf_addf(out, "table\t1\nkernel\t%s\nsection\t%s\nroot\t%s\n"
		 "epoch\t%d\ndevice\t%s\nhost\t%s\nshape\t%s\n", t->kernel,
		 t->section, oid_text(&t->root).s, t->epoch, t->device,
		 t->host, t->shape);
	for (size_t i = 0; i < t->space.nr; i++) {
		const struct locus_values *l = &t->space.v[i];

		buf_addf(out, "locus\t%s %s %s\t", l->name,
			 l->tunable ? "tunable" : "rewrite",
			 l->needed ? "needed" : "free");
		for (size_t k = 0; k < l->values.nr; k++)
			buf_addf(out, "%s%s", k ? " " : "", l->values.v[k]);
		buf_addch(out, '\n');
	}
	buf_addstr(out, "rows\n");
}

static void add_number(struct buf *out, double x)
{
	if (isnan(x))
		buf_addstr(out, "\t-");
	else
		buf_addf(out, "\t%.5g", x);
}

void table_add_row(const struct table *t, const struct row *r, double lr,
		   const char *against, struct buf *out)
{
	for (size_t i = 0; i < t->space.nr; i++) {
		buf_addstr(out, i ? "," : "");
		if (r->setting[i] < 0)
			buf_addch(out, '-');
		else
			buf_addf(out, "%d", r->setting[i]);
	}
	buf_addf(out, "\t%s\t%s\t%s", r->recipe, oid_text(&r->state).s,
		 verdict_name(r->verdict));
	add_number(out, exp(lr));
	add_number(out, exp(r->low));
	add_number(out, exp(r->high));
	add_number(out, r->seconds);
	buf_addf(out, "\t%s\n", against);
}

/* ---- the kernel ---- */

static int read_source(struct subject *s, const char *name, bool writable,
		       const struct strv *dirs, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret = ERR_NOTFOUND;

	for (size_t i = 0; i < dirs->nr && ret == ERR_NOTFOUND; i++) {
		char *path = xasprintf("%s/%s", dirs->v[i], name);

		ret = buf_read_file(&text, path, SOURCE_MAX_FILE, err);
		free(path);
	}
	if (!ret)
		srcset_put(&s->root, name, text.ptr, text.len, writable);
	buf_release(&text);
	return ret;
}

int subject_open(struct subject *s, const char *maxkernel, const char *name,
		 const struct strv *dirs, struct err *err)
{
	struct buf text = BUF_INIT;
	struct oid section;
	int ret;

	*s = (struct subject){ .k = NULL };
	ret = buf_read_file(&text, maxkernel, KERNEL_MAX_TEXT, err);
	if (!ret)
		ret = kernel_file_parse(&s->file, maxkernel, text.ptr, text.len,
					err);
	buf_release(&text);
	if (ret)
		return ret;
	s->k = kernel_find(&s->file, name);
	if (!s->k)
		return err_set(err, ERR_NOTFOUND, "%s has no kernel '%s'",
			       maxkernel, name);
	for (size_t i = 0; !ret && i < s->k->file.nr; i++)
		ret = read_source(s, s->k->file.v[i], true, dirs, err);
	for (size_t i = 0; !ret && i < s->k->use.nr; i++)
		ret = read_source(s, s->k->use.v[i], false, dirs, err);
	source_blob_id(s->k->text.ptr, s->k->text.len, &section);
	memcpy(s->section, oid_short(&section).s, 12);
	srcset_state(&s->root, &s->state);
	return ret;
}

void subject_release(struct subject *s)
{
	srcset_release(&s->root);
	kernel_file_release(&s->file);
	*s = (struct subject){ .k = NULL };
}

int subject_fits(const struct subject *s, const struct table *t,
		 struct err *err)
{
	if (!strcmp(s->k->name, t->kernel) && !strcmp(s->section, t->section) &&
	    oid_eq(&s->state, &t->root))
		return 0;
	return err_set(err, ERR_FORMAT, "the table of '%s' is of another "
		       "version of the kernel: remove it and record it anew",
		       s->k->name);
}
