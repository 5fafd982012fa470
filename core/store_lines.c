/* Metrics lines of a search, from all workers' notes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/store_parts.h"
#include "core/worker.h"

static void line_release(struct line *l)
{
	metric_release(&l->m);
	free(l->text);
	free(l->ref_worker);
}

void lines_release(struct lines *l)
{
	for (size_t i = 0; i < l->nr; i++)
		line_release(&l->v[i]);
	free(l->v);
	memset(l, 0, sizeof(*l));
}

bool lines_own_ref(const struct strv *ids, const char *worker, const char *w)
{
	return worker_is(ids->v[0], w) ||
	       (!strcmp(w, worker) && !worker_is_any(ids, w));
}

/* False: the line is corrupt, *why says how. */
static bool add_line(struct line_reader *rd, const struct oid *on,
		     const char *ref_worker, bool our_ref, const char *text,
		     size_t len, struct err *why)
{
	struct line l;
	int ret = metric_parse(&l.m, text, len, why);

	if (ret == METRIC_NEWER)
		rd->newer = true;
	if (ret != METRIC_OK)
		return ret >= 0;
	l.text = xstrndup(text, len);
	l.on = *on;
	l.ref_worker = xstrdup(ref_worker);
	l.ours = our_ref && (!strcmp(l.m.worker, rd->worker) ||
			     worker_is_any(rd->ids, l.m.worker));
	GROW(rd->out->v, rd->out->nr, rd->out->cap);
	rd->out->v[rd->out->nr++] = l;
	return true;
}

/* Or take such a line back.  Of a note most lines are spends. */
static bool may_be_config(const char *text, size_t len)
{
	return memmem(text, len, "config", 6) || memmem(text, len, "void", 4) ||
	       memchr(text, '\\', len);
}

void lines_add_note(struct line_reader *rd, const char *ref,
		    const struct oid *on, const struct oid *blob)
{
	const char *w = strrchr(ref, '/') + 1;
	bool our_ref = lines_own_ref(rd->ids, rd->worker, w);
	struct buf text = BUF_INIT;
	struct err why, first;
	size_t bad = 0, len;
	const char *p, *end;

	if (repo_blob_read(rd->repo, blob, &text, NOTES_MAX_TEXT,
			   &why) < 0) {
		store_warn(rd->warn, "the note on %s in '%s' is left out: %s",
			   oid_short(on).s, ref, why.msg);
		rd->unread = true;
		buf_release(&text);
		return;
	}
	end = text.ptr + text.len;
	for (p = text.ptr; p < end; p += len + 1) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		len = nl ? (size_t)(nl - p) : (size_t)(end - p);
		if (rd->config && !may_be_config(p, len))
			continue;
		if (len && !add_line(rd, on, w, our_ref, p, len, &why) &&
		    !bad++)
			first = why;
	}
	if (bad)
		store_warn(rd->warn, "the note on %s in '%s': %zu line%s left "
			   "out: %s", oid_short(on).s, ref, bad,
			   bad == 1 ? " is" : "s are", first.msg);
	buf_release(&text);
}

static int read_ref(void *ctx, const char *name, const struct oid *id)
{
	struct line_reader *rd = ctx;
	struct notes notes;
	struct err why;
	int ret;

	(void)id;
	ret = rd->on ? notes_get(rd->repo, name, rd->on, &notes, &why) :
		notes_read(rd->repo, name, &notes, &why);
	if (ret < 0) {
		store_warn(rd->warn, "%s", why.msg);
		return 0;
	}
	for (size_t i = 0; i < notes.nr; i++)
		lines_add_note(rd, name, &notes.v[i].on, &notes.v[i].blob);
	notes_release(&notes);
	return 0;
}

void lines_tell_newer(struct line_reader *rd, const char *slug)
{
	if (rd->newer)
		store_warn(rd->warn, "search '%s' has lines of a newer git "
			   "maxkernel; they are kept and left out", slug);
}

static int read_refs(struct repo *r, const char *slug, const char *worker,
		     const struct oid *on, bool config, struct lines *out,
		     struct strv *warn, struct err *err)
{
	struct strv ids = STRV_INIT;
	struct line_reader rd = {
		.repo = r, .worker = worker, .ids = &ids, .on = on,
		.config = config, .out = out, .warn = warn,
	};
	char *prefix = store_notes_ref(slug, "metrics", NULL);
	int ret = worker_ids(r, &ids, err);

	if (!ret)
		ret = repo_ref_each(r, prefix, read_ref, &rd, err);
	strv_release(&ids);
	lines_tell_newer(&rd, slug);
	free(prefix);
	return ret;
}

int lines_read(struct repo *r, const char *slug, const char *worker,
	       const struct oid *on, struct lines *out, struct strv *warn,
	       struct err *err)
{
	return read_refs(r, slug, worker, on, false, out, warn, err);
}

int lines_read_config(struct search *s, struct lines *out, struct err *err)
{
	return read_refs(s->repo, s->spec.slug, s->worker, &s->spec_commit,
			 true, out, NULL, err);
}

/* ---- order ---- */

static int by_time(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int c = oid_cmp(&x->on, &y->on);

	if (!c)
		c = strcmp(x->m.t, y->m.t);
	if (!c)
		c = strcmp(x->m.worker, y->m.worker);
	if (!c)
		c = strcmp(x->text, y->text);
	return c ? c : y->ours - x->ours;	/* of equal lines ours stays */
}

static bool same_line(const struct line *a, const struct line *b)
{
	return oid_eq(&a->on, &b->on) && !strcmp(a->text, b->text);
}

/*
 * A name is easily written: a line is taken back by us, and unless it is ours
 * by who wrote it, that is in his own notes, or in those that it stands in
 * too (what was carried there from another search).
 */
static bool takes_back(const struct line *v, const struct line *line)
{
	if (v->ours || line->ours)
		return v->ours;
	return !strcmp(v->m.worker, line->m.worker) &&
	       (!strcmp(v->ref_worker, v->m.worker) ||
		!strcmp(v->ref_worker, line->ref_worker));
}

static bool is_void(const struct lines *l, size_t lo, size_t hi,
		    const struct line *line)
{
	char id[13];

	if (line->m.event == METRIC_VOID)
		return false;
	metric_id(line->text, strlen(line->text), id);
	for (size_t i = lo; i < hi; i++) {
		const struct line *v = &l->v[i];

		if (v->m.event == METRIC_VOID && !strcmp(v->m.of, id) &&
		    takes_back(v, line))
			return true;
	}
	return false;
}

/* Marks the lines of one note that are taken back; most notes have none. */
static void mark_void(const struct lines *l, size_t lo, size_t hi, bool *gone)
{
	bool any = false;

	for (size_t i = lo; i < hi; i++)
		any |= l->v[i].m.event == METRIC_VOID;
	for (size_t i = lo; any && i < hi; i++)
		gone[i] = is_void(l, lo, hi, &l->v[i]);
}

void lines_sort(struct lines *l)
{
	bool *gone = xcalloc(l->nr, sizeof(*gone));
	size_t nr = 0, lo, hi;

	if (l->nr > 1)
		qsort(l->v, l->nr, sizeof(*l->v), by_time);
	for (lo = 0; lo < l->nr; lo = hi) {
		for (hi = lo + 1; hi < l->nr &&
		     oid_eq(&l->v[hi].on, &l->v[lo].on); hi++)
			;
		mark_void(l, lo, hi, gone);
	}
	for (size_t i = 0; i < l->nr; i++) {
		if (gone[i] || (nr && same_line(&l->v[nr - 1], &l->v[i])))
			line_release(&l->v[i]);
		else
			l->v[nr++] = l->v[i];
	}
	l->nr = nr;
	free(gone);
}

/* ---- which line decides ---- */

bool line_counts(const struct line *l, const char *section_hash,
		 const char *device)
{
	return l->m.event == METRIC_EVAL && l->m.epoch == JUDGE_EPOCH &&
	       !strcmp(l->m.section, section_hash) && l->m.rec.device &&
	       !strcmp(l->m.rec.device, device);
}

/* whose: 1 ours, 0 those of others, -1 all */
static size_t choose(const struct lines *l, size_t lo, size_t hi,
		     const char *section_hash, const char *device,
		     const struct oid *state, int whose)
{
	size_t best = hi;

	for (size_t i = lo; i < hi; i++) {
		const struct line *x = &l->v[i];

		if ((whose >= 0 && x->ours != whose) ||
		    !line_counts(x, section_hash, device) ||
		    (state && !oid_eq(state, &x->m.state)))
			continue;
		if (best == hi ||
		    record_replaces(&x->m.rec, &l->v[best].m.rec))
			best = i;
	}
	return best;
}

size_t lines_choose(const struct lines *l, size_t lo, size_t hi,
		    const char *section_hash, const char *device,
		    const struct oid *state)
{
	size_t ours = choose(l, lo, hi, section_hash, device, state, 1), claim;
	const struct record *rec = ours < hi ? &l->v[ours].m.rec : NULL;

	/* What was but screened here may be confirmed by another worker. */
	if (rec && (rec->verdict != V_FASTER || isfinite(rec->speedup)))
		return ours;
	claim = choose(l, lo, hi, section_hash, device, state, 0);
	if (ours == hi || (claim < hi &&
			   l->v[claim].m.rec.verdict == V_CONFIRMED))
		return claim;
	return ours;
}

size_t lines_choose_any(const struct lines *l, size_t lo, size_t hi,
			const char *section_hash, const char *device,
			const struct oid *state)
{
	return choose(l, lo, hi, section_hash, device, state, -1);
}

void line_record(struct repo *r, const struct line *l, struct record *rec)
{
	struct buf text = BUF_INIT;
	struct record full;
	struct err ignored;

	record_copy(rec, &l->m.rec);
	rec->claimed = !l->ours;
	if (oid_is_zero(&l->m.raw))
		return;
	record_copy(&full, &l->m.rec);
	if (repo_blob_read(r, &l->m.raw, &text, METRIC_MAX_RAW,
			   &ignored) == 0 &&
	    metric_parse_raw(&full, text.ptr, text.len, &ignored) == 0 &&
	    full.verdict == rec->verdict) {
		struct record line = *rec;

		*rec = full;
		rec->claimed = line.claimed;
		full = line;
	}
	record_release(&full);
	buf_release(&text);
}
