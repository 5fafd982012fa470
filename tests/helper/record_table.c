/* needs: core/dtype.c core/expr.c core/ini.c core/json.c core/judge.c \
 *	core/judge_*.c core/kernel*.c core/paths.c core/graph.c core/prior.c \
 *	core/proposer.c core/record.c core/rng.c core/sha1.c core/source.c \
 *	core/tempdir.c core/usage.c \
 *	agents/builtin/[a-z]*.c tests/bench/table.c
 *
 * Measures every setting that the built-in proposer has for a kernel as a
 * search would: built, checked, screened against the root; then what seems to
 * be within CLOSE of the best is screened once more, against the best.  What
 * comes first by either is timed until it has been SURE times: of many numbers
 * the greatest is often one that was lucky.
 *
 *	record_table <.maxkernel> <kernel> <table> <folder of sources>...
 *	record_table --size <.maxkernel> <kernel> <folder of sources>...
 *
 * The table (tests/bench/table.h) is appended to, a row as it is measured: what
 * was ended goes on where it was.  --size prints how many settings there are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agents/builtin/builtin.h"
#include "core/judge.h"
#include "core/mem.h"
#include "core/tempdir.h"
#include "tests/bench/table.h"

#define CLOSE 0.25		/* ln */
#define SURE 3
#define MOST_SURE 60		/* measurements for that */

struct work {
	struct subject s;
	struct table t;
	const struct proposer *by;
	struct judge *judge;
	struct judge_config config;
	char *dir;
	int lock;
	size_t had, made;	/* rows */
	FILE *out;
};

static _Noreturn void die(const struct err *err)
{
	fprintf(stderr, "record_table: %s\n", err->msg);
	exit(128);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the judge ---- */

static void open_judge(struct work *w)
{
	struct judge_request req = { .stage = JUDGE_OPEN };
	struct err err = ERR_INIT;
	struct record rec;

	w->config = (struct judge_config){
		.kernel = w->s.k, .root = &w->s.root, .aux = &w->s.root,
		.work = w->dir, .helper = true,
	};
	record_init(&rec);
	if (judge_open(&w->judge, &w->config, &err) ||
	    judge_call(w->judge, &req, &rec, &err))
		die(&err);
	record_release(&rec);
}

/* One that is lost is opened again; the setting gets a second chance. */
static void stages(struct work *w, const struct srcset *src,
		   struct record *rec)
{
	static const enum judge_stage stage[] = {
		JUDGE_BUILD, JUDGE_CHECK, JUDGE_SCREEN
	};
	struct judge_request req = { .source = src, .against_root = true };
	struct err err = ERR_INIT;

	srcset_state(src, &req.state);
	for (size_t i = 0; i < ARRAY_SIZE(stage); i++) {
		record_release(rec);
		record_init(rec);
		req.stage = stage[i];
		if (judge_call(w->judge, &req, rec, &err)) {
			fprintf(stderr, "record_table: %s\n", err.msg);
			judge_close(w->judge);
			open_judge(w);
			rec->verdict = V_NO_VERDICT;
		}
		if (rec->verdict != V_SAME)
			return;
	}
}

static void measure(struct work *w, const struct srcset *src, struct row *r)
{
	double began = now_s();
	struct record rec;

	record_init(&rec);
	stages(w, src, &rec);
	if (rec.verdict == V_NO_VERDICT)
		stages(w, src, &rec);
	table_time(r, false, rec.verdict, rec.lr, rec.lr_low, rec.lr_high);
	r->seconds = now_s() - began;
	record_release(&rec);
}

/* ---- the table ---- */

static void write_text(struct work *w, const struct buf *text)
{
	if (fwrite(text->ptr, 1, text->len, w->out) != text->len ||
	    fflush(w->out)) {
		perror("record_table");
		exit(128);
	}
}

static void write_row(struct work *w, const struct row *r, double lr,
		      const char *against)
{
	struct buf line = BUF_INIT;

	table_add_row(&w->t, r, lr, against, &line);
	write_text(w, &line);
	buf_release(&line);
}

/* Cuts what a killed run left behind the last newline. */
static void cut_tail(const char *path)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;

	if (buf_read_file(&text, path, TABLE_MAX_TEXT, &err))
		die(&err);
	while (text.len && text.ptr[text.len - 1] != '\n')
		text.len--;
	if (truncate(path, (off_t)text.len)) {
		perror(path);
		exit(128);
	}
	buf_release(&text);
}

static void begin_table(struct work *w, const char *path)
{
	const struct judge_info *info = &w->judge->info;
	struct buf text = BUF_INIT;

	w->t.kernel = xstrdup(w->s.k->name);
	w->t.section = xstrdup(w->s.section);
	w->t.device = xstrdup(info->device);
	w->t.host = xstrdup(info->host);
	w->t.root = w->s.state;
	w->t.epoch = JUDGE_EPOCH;
	if (w->by->shape)
		w->by->shape(w->s.k, &w->s.root, &text);
	w->t.shape = xstrdup(text.len ? text.ptr : "unknown");
	buf_reset(&text);
	table_add_head(&w->t, &text);
	w->out = fopen(path, "w");
	if (!w->out) {
		perror(path);
		exit(128);
	}
	write_text(w, &text);
	buf_release(&text);
}

static bool same_space(const struct space *a, const struct space *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++) {
		if (strcmp(a->v[i].name, b->v[i].name) ||
		    a->v[i].needed != b->v[i].needed ||
		    a->v[i].values.nr != b->v[i].values.nr)
			return false;
		for (size_t k = 0; k < a->v[i].values.nr; k++)
			if (strcmp(a->v[i].values.v[k], b->v[i].values.v[k]))
				return false;
	}
	return true;
}

static void open_table(struct work *w, const char *path,
		       const struct space *space)
{
	struct err err = ERR_INIT;
	int ret = table_read(&w->t, path, &err);

	if (ret == ERR_NOTFOUND) {
		for (size_t i = 0; i < space->nr; i++) {
			struct locus_values l = space->v[i];

			l.name = xstrdup(l.name);
			l.values = (struct strv)STRV_INIT;
			for (size_t k = 0; k < space->v[i].values.nr; k++)
				strv_push(&l.values, space->v[i].values.v[k]);
			GROW(w->t.space.v, w->t.space.nr, w->t.space.cap);
			w->t.space.v[w->t.space.nr++] = l;
		}
		open_judge(w);
		begin_table(w, path);
		return;
	}
	if (ret || subject_fits(&w->s, &w->t, &err))
		die(&err);
	if (w->t.epoch != JUDGE_EPOCH || !same_space(space, &w->t.space)) {
		err_set(&err, ERR_FORMAT, "%s was made by another version of "
			"the judge or the proposer: remove it", path);
		die(&err);
	}
	cut_tail(path);
	w->had = w->t.nr;
	w->out = fopen(path, "a");
	if (!w->out) {
		perror(path);
		exit(128);
	}
}

/* ---- the space ---- */

/* All choices of a locus: -1 first, where it may be. */
static bool step(const struct space *s, int *setting)
{
	for (size_t i = s->nr; i-- > 0;) {
		if (++setting[i] < (int)s->v[i].values.nr)
			return true;
		setting[i] = s->v[i].needed ? 0 : -1;
	}
	return false;
}

static void take(struct work *w, const struct space *s, const int *setting)
{
	struct row r = { .lr = NAN, .low = NAN, .high = NAN, .seconds = NAN };
	struct srcset src = SRCSET_INIT;
	struct buf recipe = BUF_INIT;
	struct err err = ERR_INIT;

	r.setting = xcalloc(s->nr + 1, sizeof(int));
	memcpy(r.setting, setting, s->nr * sizeof(int));
	if (w->by->compose(s, setting, "", &recipe, &err) ||
	    w->by->apply(w->s.k, &w->s.root, recipe.ptr, &src, &err))
		die(&err);
	srcset_state(&src, &r.state);
	r.recipe = buf_detach(&recipe);
	r.same = table_find(&w->t, &r.state);
	if (r.same == w->t.nr && oid_eq(&r.state, &w->s.state)) {
		table_time(&r, false, V_SAME, 0, 0, 0);
	} else if (r.same < w->t.nr) {
		r.verdict = V_DUP;
	} else {
		if (!w->judge)
			open_judge(w);
		measure(w, &src, &r);
		w->made++;
	}
	write_row(w, &r, r.lr, r.verdict == V_DUP ? "-" : "root");
	GROW(w->t.v, w->t.nr, w->t.cap);
	w->t.v[w->t.nr++] = r;
	srcset_release(&src);
}

/* ---- once more ---- */

static void source_of(struct work *w, const struct row *r, struct srcset *out)
{
	struct err err = ERR_INIT;

	if (w->by->apply(w->s.k, &w->s.root, r->recipe, out, &err))
		die(&err);
}

static double mean(const struct times *t)
{
	return t->nr ? t->sum / t->nr : -INFINITY;
}

static bool is_root(const struct work *w, const struct row *r)
{
	return oid_eq(&r->state, &w->s.state);
}

/* Screened against another row: its ratio to that, and that one's to the
 * root. */
static void compare(struct work *w, const struct row *with, struct row *r)
{
	bool root = is_root(w, with);
	double lr = root ? 0 : mean(&with->root), began = now_s();
	struct srcset src = SRCSET_INIT, with_src = SRCSET_INIT;
	struct judge_request req = {
		.stage = JUDGE_BUILD, .state = r->state, .source = &src,
		.against = with->state, .against_source = &with_src,
		.against_root = root, .against_lr = lr,
	};
	struct err err = ERR_INIT;
	struct record rec;

	if (!w->judge)
		open_judge(w);
	source_of(w, r, &src);
	source_of(w, with, &with_src);
	for (int i = 0; i < 2; i++) {
		record_init(&rec);
		if (judge_call(w->judge, &req, &rec, &err))
			die(&err);
		req.stage = JUDGE_SCREEN;
		if (i == 0)
			record_release(&rec);
	}
	r->seconds = now_s() - began;
	if (verdict_is_timed(rec.verdict)) {
		lr += rec.lr;
		table_time(r, !root, lr > 0.01 ? V_FASTER :
			   lr < -0.01 ? V_SLOWER : V_SAME, lr,
			   lr - rec.lr + rec.lr_low, lr - rec.lr + rec.lr_high);
		write_row(w, r, lr, root ? "root" : "best");
		w->made++;
	}
	record_release(&rec);
	srcset_release(&src);
	srcset_release(&with_src);
}

/* The first by its mean against the root, or by what counts. */
static struct row *first_by(struct work *w, bool root)
{
	struct row *first = NULL;
	double most = -INFINITY;

	for (size_t i = 0; i < w->t.nr; i++) {
		struct row *r = &w->t.v[i];
		double lr = root ? mean(&r->root) : r->lr;

		if (lr > most) {
			most = lr;
			first = r;
		}
	}
	return first;
}

static void record_again(struct work *w)
{
	size_t root = table_find(&w->t, &w->s.state);
	struct row *best = first_by(w, true), *r;

	for (int i = 0; i < MOST_SURE && !is_root(w, best) &&
	     best->root.nr < SURE; i++) {
		compare(w, &w->t.v[root], best);
		best = first_by(w, true);
	}
	for (size_t i = 0; i < w->t.nr; i++) {
		r = &w->t.v[i];
		if (r != best && !r->best.nr && !is_root(w, r) &&
		    mean(&r->root) > mean(&best->root) - CLOSE)
			compare(w, best, r);
	}
	r = first_by(w, false);
	for (int i = 0; i < MOST_SURE && r != best && r->best.nr < SURE &&
	     !is_root(w, r); i++) {
		compare(w, best, r);
		r = first_by(w, false);
	}
}

static void record_all(struct work *w, const struct space *s)
{
	int *setting = xcalloc(s->nr + 1, sizeof(int));
	double began = now_s(), took;
	struct buf done = BUF_INIT;
	size_t at = 0;

	for (size_t i = 0; i < s->nr; i++)
		setting[i] = s->v[i].needed ? 0 : -1;
	do {
		if (at++ >= w->had)
			take(w, s, setting);
	} while (step(s, setting));
	free(setting);
	if (!w->t.done) {
		record_again(w);
		buf_addstr(&done, "done\n");
		write_text(w, &done);
		buf_release(&done);
	}
	took = now_s() - began;
	printf("%s: %zu settings, %zu of them measured now in %.0f s, %.0f a "
	       "minute\n", w->s.k->name, w->t.nr, w->made, took,
	       took > 0 ? (double)w->made / took * 60 : 0.0);
}

int main(int argc, char **argv)
{
	bool size = argc > 1 && !strcmp(argv[1], "--size");
	int at = size ? 2 : 1, dirs_at = size ? at + 2 : at + 3;
	struct strv dirs = STRV_INIT;
	struct space space = SPACE_INIT;
	struct err err = ERR_INIT;
	struct work w = { .by = &proposer_builtin };

	if (argc <= dirs_at) {
		fputs("usage: record_table [--size] <.maxkernel> <kernel> "
		      "[<table>] <folder>...\n", stderr);
		return 129;
	}
	for (int i = dirs_at; i < argc; i++)
		strv_push(&dirs, argv[i]);
	if (subject_open(&w.s, argv[at], argv[at + 1], &dirs, &err) ||
	    w.by->space(w.s.k, &w.s.root, "", &space, &err))
		die(&err);
	if (size) {
		printf("%.0f\n", space_size(&space));
		return 0;
	}
	if (tempdir_make(&w.dir, &w.lock, &err))
		die(&err);
	open_table(&w, argv[at + 2], &space);
	record_all(&w, &space);
	fclose(w.out);
	judge_close(w.judge);
	tempdir_remove(w.dir);
	close(w.lock);
	free(w.dir);
	space_release(&space);
	table_release(&w.t);
	subject_release(&w.s);
	strv_release(&dirs);
	return 0;
}
