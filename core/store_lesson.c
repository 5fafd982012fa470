/* Lessons of a search: lines on its spec commit (see core/lesson.h). */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/lesson.h"
#include "core/mem.h"
#include "core/store_parts.h"
#include "core/worker.h"

#define RACE_TRIES 20

/* ---- reading ---- */

static void add_line(const struct line *line, struct lessons *out)
{
	struct err ignored;
	struct lesson l;

	if (line->m.event != METRIC_LESSON ||
	    lesson_parse(&l, line->m.what, &ignored))
		return;
	metric_id(line->text, strlen(line->text), l.id);
	l.worker = xstrdup(line->m.worker);
	l.time = metric_seconds(line->m.t);
	l.claimed = !line->ours;
	GROW(out->v, out->nr, out->cap);
	out->v[out->nr++] = l;
}

static bool says_the_same(const struct lesson *a, const struct lesson *b)
{
	struct buf x = BUF_INIT, y = BUF_INIT;
	bool same;

	lesson_format(&x, a);
	lesson_format(&y, b);
	same = !strcmp(x.ptr, y.ptr);
	buf_release(&x);
	buf_release(&y);
	return same;
}

static bool has_text(const struct lessons *l, const struct lesson *one)
{
	for (size_t i = 0; i < l->nr; i++)
		if (says_the_same(&l->v[i], one))
			return true;
	return false;
}

/* all: what was ever written, the lines taken back too; may be NULL. */
static int read_both(struct search *s, struct lessons *all,
		     struct lessons *live, struct strv *warn, struct err *err)
{
	struct lines lines = { NULL, 0, 0 };
	int ret = lines_read(s->repo, s->spec.slug, s->worker, &s->spec_commit,
			     &lines, warn, err);

	for (size_t i = 0; !ret && all && i < lines.nr; i++)
		add_line(&lines.v[i], all);
	lines_sort(&lines);
	for (size_t i = 0; !ret && i < lines.nr; i++)
		add_line(&lines.v[i], live);
	lines_release(&lines);
	return ret;
}

int lessons_read(struct search *s, struct lessons *out, struct strv *warn,
		 struct err *err)
{
	struct lessons live = LESSONS_INIT;
	int ret = read_both(s, NULL, &live, warn, err);

	for (size_t i = 0; !ret && i < live.nr; i++) {
		if (has_text(out, &live.v[i]))
			continue;
		GROW(out->v, out->nr, out->cap);
		out->v[out->nr++] = live.v[i];
		memset(&live.v[i], 0, sizeof(live.v[i]));
	}
	/* what was given away is empty by now */
	lessons_release(&live);
	return ret;
}

/* ---- writing ---- */

static int write_once(struct search *s, const struct strv *lines,
		      struct err *err)
{
	char *ref = store_notes_ref(s->spec.slug, "metrics", s->worker);
	struct notes_batch *b = NULL;
	int ret = notes_begin(s->repo, ref, &b, err);

	for (size_t i = 0; !ret && i < lines->nr; i++)
		ret = notes_append(b, &s->spec_commit, lines->v[i], err);
	if (!ret)
		ret = notes_write(b, err);
	if (!ret)
		ret = repo_sync(s->repo, err);
	if (!ret)
		ret = notes_move(b, err);
	notes_free(b);
	free(ref);
	return ret;
}

/* Under the lock: the worker's id can't change any more. */
static void add_metric(struct search *s, struct metric *m, struct strv *lines)
{
	struct buf b = BUF_INIT;

	metric_now(m->t);
	m->worker = s->worker;
	metric_format(&b, m);
	strv_push(lines, b.ptr);
	buf_release(&b);
}

static int write_lines(struct search *s, const struct strv *lessons,
		       const struct strv *gone, struct err *err)
{
	struct strv lines = STRV_INIT;
	int ret = worker_need(s->repo, s->worker, err);

	if (!ret)
		ret = repo_lock(s->repo, err);
	if (ret)
		return ret;
	worker_refresh(s);
	for (size_t i = 0; i < lessons->nr; i++) {
		struct metric m = { .event = METRIC_LESSON,
				    .what = lessons->v[i] };

		add_metric(s, &m, &lines);
	}
	for (size_t i = 0; i < gone->nr; i++) {
		struct metric m = { .event = METRIC_VOID };

		memcpy(m.of, gone->v[i], sizeof(m.of));
		add_metric(s, &m, &lines);
	}
	for (int try = 0; try < RACE_TRIES; try++) {
		struct timespec pause = { 0, (try + 1) * 500000L };

		ret = write_once(s, &lines, err);
		if (ret != ERR_RACE)
			break;
		nanosleep(&pause, NULL);
	}
	repo_unlock(s->repo);
	strv_release(&lines);
	if (!ret)
		store_tidy(s, false);
	return ret;
}

/* Ours that stands under the key, or NULL. */
static const struct lesson *own(const struct lessons *l,
				const struct lesson *key)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!l->v[i].claimed && lesson_same_key(&l->v[i], key))
			return &l->v[i];
	return NULL;
}

/* It was there, from no less evidence, and does not stand any more. */
static bool taken_back(const struct lessons *all, const struct lesson *l)
{
	for (size_t i = 0; i < all->nr; i++)
		if (!all->v[i].claimed && lesson_same_key(&all->v[i], l) &&
		    all->v[i].tried >= l->tried)
			return true;
	return false;
}

/* Does the line that it would stand on hold it whole? */
static bool holds(const struct search *s, const char *text)
{
	struct metric m = { .event = METRIC_LESSON, .what = (char *)text,
			    .worker = s->worker }, back;
	struct buf b = BUF_INIT;
	struct err ignored;
	bool whole = false;

	metric_now(m.t);
	metric_format(&b, &m);
	if (b.len && metric_parse(&back, b.ptr, b.len - 1, &ignored) ==
	    METRIC_OK) {
		whole = back.what && !strcmp(back.what, text);
		metric_release(&back);
	}
	buf_release(&b);
	return whole;
}

/* What is to be written of one that the graph teaches. */
static bool take_one(struct search *s, const struct lesson *l,
		     const struct lessons *all, const struct lessons *live,
		     struct strv *new, struct strv *gone)
{
	const struct lesson *old = own(live, l);
	struct buf text = BUF_INIT;
	bool take = l->kind != LESSON_NONE && !has_text(live, l) &&
		(old || !taken_back(all, l));

	lesson_format(&text, l);
	take = take && holds(s, text.ptr);
	if (take)
		strv_push(new, text.ptr);
	if (old && (take || l->kind == LESSON_NONE))
		strv_push(gone, old->id);
	buf_release(&text);
	return take;
}

int lessons_learn(struct search *s, const struct graph *g, const char *target,
		  struct lessons *out, struct err *err)
{
	struct lessons all = LESSONS_INIT, live = LESSONS_INIT;
	struct lessons found = LESSONS_INIT;
	struct strv new = STRV_INIT, gone = STRV_INIT;
	int ret = read_both(s, &all, &live, NULL, err);

	if (!ret)
		lessons_distil(g, target, s->spec.shape, s->spec.device,
			       &found);
	for (size_t i = 0; i < found.nr; i++) {
		if (i >= LESSONS_MAX && found.v[i].kind != LESSON_NONE)
			continue;
		if (!take_one(s, &found.v[i], &all, &live, &new, &gone))
			continue;
		GROW(out->v, out->nr, out->cap);
		out->v[out->nr++] = found.v[i];
		memset(&found.v[i], 0, sizeof(found.v[i]));
	}
	if (!ret && new.nr + gone.nr)
		ret = write_lines(s, &new, &gone, err);
	strv_release(&new);
	strv_release(&gone);
	lessons_release(&found);
	lessons_release(&all);
	lessons_release(&live);
	return ret ? err_wrap(err, "cannot keep what %s teaches",
			      s->spec.slug) : 0;
}

int lesson_take_back(struct search *s, const char *id, struct err *err)
{
	struct strv none = STRV_INIT, gone = STRV_INIT;
	int ret;

	strv_push(&gone, id);
	ret = write_lines(s, &none, &gone, err);
	strv_release(&gone);
	return ret;
}
