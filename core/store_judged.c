/*
 * Verdicts that this clone found before, by state and device class.  Only
 * searches with an equal section are looked at whose root has equal sources,
 * those of reference, baseline and rivals included.  Lines of other workers
 * are claims and never stand for a judgement of ours.
 */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/store_parts.h"

struct verdict_entry {
	struct oid state;
	struct line line;	/* no text */
};

struct judged {
	struct verdict_entry *v;
	size_t nr, cap;
	uint32_t *slot;		/* index + 1; 0 is free */
	size_t nr_slots;	/* power of two */
};

void judged_free(struct judged *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->nr; i++)
		metric_release(&j->v[i].line.m);
	free(j->v);
	free(j->slot);
	free(j);
}

static size_t probe(const struct judged *j, const struct oid *state,
		    const char *device)
{
	size_t mask = j->nr_slots - 1, at;

	memcpy(&at, state->id, sizeof(at));
	for (at &= mask; j->slot[at]; at = (at + 1) & mask) {
		const struct verdict_entry *e = &j->v[j->slot[at] - 1];

		if (oid_eq(&e->state, state) &&
		    !strcmp(e->line.m.rec.device, device))
			break;
	}
	return at;
}

static void grow(struct judged *j)
{
	j->nr_slots = j->nr_slots ? j->nr_slots * 2 : 256;
	free(j->slot);
	j->slot = xcalloc(j->nr_slots, sizeof(*j->slot));
	for (size_t i = 0; i < j->nr; i++)
		j->slot[probe(j, &j->v[i].state,
			      j->v[i].line.m.rec.device)] = (uint32_t)i + 1;
}

static void metric_copy(struct metric *to, const struct metric *from)
{
	*to = *from;
	to->worker = xstrdup(from->worker);
	to->what = to->why = NULL;
	record_copy(&to->rec, &from->rec);
}

static bool is_verdict(enum verdict v)
{
	return v != V_NONE && v != V_NO_VERDICT && v != V_NO_PROPOSAL &&
	       v != V_DUP;
}

/* In order of time. */
static void insert(struct judged *j, const struct metric *m, bool ours)
{
	struct verdict_entry *e;
	size_t at;

	if (!is_verdict(m->rec.verdict) || oid_is_zero(&m->state))
		return;
	if ((j->nr + 1) * 2 > j->nr_slots)
		grow(j);
	at = probe(j, &m->state, m->rec.device);
	if (!j->slot[at]) {
		GROW(j->v, j->nr, j->cap);
		e = &j->v[j->nr++];
		j->slot[at] = (uint32_t)j->nr;
		e->state = m->state;
	} else {
		e = &j->v[j->slot[at] - 1];
		if (e->line.ours != ours ? e->line.ours :
		    !record_replaces(&m->rec, &e->line.m.rec))
			return;
		metric_release(&e->line.m);
	}
	metric_copy(&e->line.m, m);
	e->line.ours = ours;
	e->line.text = NULL;
}

void judged_note(struct search *s, const struct metric *m)
{
	if (s->judged && m->event == METRIC_EVAL)
		insert(s->judged, m, true);
}

/* ---- filling ---- */

static bool root_state(struct search *s, const struct oid *root,
		       const struct kernel *k, struct oid *state)
{
	struct srcset all = SRCSET_INIT;
	struct err ignored = ERR_INIT;
	bool good = !store_source(s->repo, root, k, true, &all, &ignored);

	if (good)
		srcset_state(&all, state);
	srcset_release(&all);
	return good;
}

/* Has the root of the other search the same sources as ours? */
static bool same_root(struct search *s, const struct spec *other)
{
	struct kernel k;
	struct oid ours, theirs;
	struct err ignored = ERR_INIT;
	bool same;

	if (oid_eq(&s->spec.root, &other->root))
		return true;
	if (store_spec_kernel(&s->spec, &k, &ignored) < 0)
		return false;
	same = root_state(s, &s->spec.root, &k, &ours) &&
	       root_state(s, &other->root, &k, &theirs) &&
	       oid_eq(&ours, &theirs);
	kernel_release(&k);
	return same;
}

static int by_t(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->m.t,
		      ((const struct line *)b)->m.t);
}

static int fill(struct search *s, struct judged *j, struct err *err)
{
	struct spec_list all;
	struct lines l = { NULL, 0, 0 };
	char hash[13];
	int ret = store_list(s->repo, &all, NULL, err);

	for (size_t i = 0; !ret && i < all.nr; i++) {
		store_section_hash(all.v[i].section, hash);
		if (strcmp(hash, s->section_hash) ||
		    !same_root(s, &all.v[i]))
			continue;
		ret = lines_read(s->repo, all.v[i].slug, s->worker, NULL, &l,
				 NULL, err);
	}
	spec_list_release(&all);
	lines_sort(&l);
	if (l.nr > 1)
		qsort(l.v, l.nr, sizeof(*l.v), by_t);
	for (size_t i = 0; !ret && i < l.nr; i++) {
		const struct metric *m = &l.v[i].m;

		if (l.v[i].ours && m->rec.device && line_counts(&l.v[i], s->section_hash,
						 m->rec.device))
			insert(j, m, l.v[i].ours);
	}
	lines_release(&l);
	return ret;
}

int store_judged(struct search *s, const struct oid *state,
		 const char *device, struct record *out, struct err *err)
{
	struct judged *j = s->judged;
	size_t at;

	if (!j) {
		j = xcalloc(1, sizeof(*j));
		grow(j);
		if (fill(s, j, err) < 0) {
			judged_free(j);
			return err->code;
		}
		s->judged = j;
	}
	at = probe(j, state, device);
	if (!j->slot[at])
		return 0;
	line_record(s->repo, &j->v[j->slot[at] - 1].line, out);
	return 1;
}
