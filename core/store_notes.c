/*
 * Notes trees side by side: which notes differ between two of them, found by
 * passing over equal subtrees, and the notes on some commits alone.  Trees of
 * any depth; the two need not be of one shape.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "core/store_parts.h"

enum kind { OTHER, NOTE, LEVEL };

/* hex holds `used` digits and gets those of the entry. */
static enum kind kind_of(const struct tree_entry *e, char *hex, size_t used)
{
	size_t len = strlen(e->name);

	if (len > OID_HEX - used ||
	    strspn(e->name, "0123456789abcdef") != len)
		return OTHER;
	memcpy(hex + used, e->name, len + 1);
	if (S_ISREG(e->mode) && used + len == OID_HEX)
		return NOTE;
	return S_ISDIR(e->mode) && used + len < OID_HEX && len && len % 2 == 0
		? LEVEL : OTHER;
}

void oid_list_add(struct oid_list *l, const struct oid *id)
{
	GROW(l->v, l->nr, l->cap);
	l->v[l->nr++] = *id;
}

static int by_id(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

void oid_list_sort(struct oid_list *l)
{
	size_t nr = 0;

	if (l->nr > 1)
		qsort(l->v, l->nr, sizeof(*l->v), by_id);
	for (size_t i = 0; i < l->nr; i++)
		if (!nr || !oid_eq(&l->v[nr - 1], &l->v[i]))
			l->v[nr++] = l->v[i];
	l->nr = nr;
}

/* Has one of the sorted ids these first digits (an even number)? */
static bool any_below(const struct oid_list *l, const char *hex)
{
	unsigned char raw[OID_RAW];
	size_t lo = 0, hi = l->nr, len = strlen(hex) / 2;
	char padded[OID_HEX + 1];
	struct oid id;

	memset(padded, '0', OID_HEX);
	padded[OID_HEX] = '\0';
	memcpy(padded, hex, len * 2);
	if (!oid_parse(&id, padded))
		return false;
	memcpy(raw, id.id, sizeof(raw));
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (memcmp(l->v[mid].id, raw, len) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < l->nr && !memcmp(l->v[lo].id, raw, len);
}

#define MANY_FOLDERS 1000	/* fewer are read as they come */

struct folder {
	struct oid tree;
	char hex[OID_HEX + 1];	/* the digits that lead to it */
	uint64_t place;
};

struct walk {
	struct repo *repo;
	uint32_t ref;
	const struct oid_list *only;	/* sorted; NULL: all */
	struct note_list *out;
	uint32_t notes, folders;	/* found and met: a few trees that name
					 * each other can stand for too many */
	char hex[OID_HEX + 1];
	struct folder *todo;
	size_t nr, cap;
};

static void add_note(struct walk *w, const struct oid *blob)
{
	struct note_list *l = w->out;
	struct oid on;

	if (!oid_parse(&on, w->hex))
		return;
	w->notes++;
	GROW(l->v, l->nr, l->cap);
	l->v[l->nr++] = (struct note_at){ on, *blob, w->ref };
}

/* A folder is read later, by walk_run(). */
static int add_folder(struct walk *w, const struct oid *tree,
		      const char *hex, struct err *err)
{
	struct folder *f;

	if (++w->folders > NOTES_MAX_FOLDERS || w->notes > NOTES_MAX)
		return err_set(err, ERR_LIMIT, "more than %u notes or %u "
			       "folders", NOTES_MAX, NOTES_MAX_FOLDERS);
	GROW(w->todo, w->nr, w->cap);
	f = &w->todo[w->nr++];
	f->tree = *tree;
	memcpy(f->hex, hex, strlen(hex) + 1);
	return 0;
}

static int walk_entry(struct walk *w, const struct tree_entry *e, size_t used,
		      struct err *err)
{
	enum kind kind = kind_of(e, w->hex, used);

	if (kind == OTHER || (w->only && !any_below(w->only, w->hex)))
		return 0;
	if (kind == LEVEL)
		return add_folder(w, &e->id, w->hex, err);
	add_note(w, &e->id);
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct folder *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

/* As they lie in packs. */
static void sort_folders(struct walk *w, struct folder *v, size_t nr)
{
	struct oid *id = xcalloc(nr, sizeof(*id));
	uint64_t *place = xcalloc(nr, sizeof(*place));

	for (size_t i = 0; i < nr; i++)
		id[i] = v[i].tree;
	repo_places(w->repo, id, nr, place);
	for (size_t i = 0; i < nr; i++)
		v[i].place = place[i];
	qsort(v, nr, sizeof(*v), by_place);
	free(id);
	free(place);
}

static int walk_folder(struct walk *w, const struct folder *f,
		       struct err *err)
{
	size_t used = strlen(f->hex);
	struct tree t;
	int ret = repo_tree_read(w->repo, &f->tree, &t, err);

	memcpy(w->hex, f->hex, used + 1);
	for (size_t i = 0; !ret && i < t.nr; i++)
		ret = walk_entry(w, &t.v[i], used, err);
	tree_release(&t);
	return ret;
}

/* Level by level, since all of a level can be read in any order. */
static int walk_run(struct walk *w, struct err *err)
{
	int ret = 0;

	while (!ret && w->nr) {
		struct folder *v = w->todo;
		size_t nr = w->nr;

		w->todo = NULL;
		w->nr = w->cap = 0;
		if (nr > MANY_FOLDERS)
			sort_folders(w, v, nr);
		for (size_t i = 0; !ret && i < nr; i++)
			ret = walk_folder(w, &v[i], err);
		free(v);
	}
	free(w->todo);
	w->todo = NULL;
	w->nr = w->cap = 0;
	return ret;
}

int note_list_read(struct repo *r, const struct oid *tree, uint32_t ref,
		   const struct oid_list *only, struct note_list *out,
		   struct err *err)
{
	struct walk w = { .repo = r, .ref = ref, .only = only, .out = out };
	size_t before = out->nr;
	int ret = add_folder(&w, tree, "", err);

	if (!ret)
		ret = walk_run(&w, err);
	if (ret < 0)
		out->nr = before;
	return ret;
}

static int by_note(const void *a, const void *b)
{
	const struct note_at *x = a, *y = b;
	int c = oid_cmp(&x->on, &y->on);

	if (!c)
		c = x->ref < y->ref ? -1 : x->ref > y->ref;
	return c ? c : oid_cmp(&x->blob, &y->blob);
}

void note_list_sort(struct note_list *l)
{
	if (l->nr > 1)
		qsort(l->v, l->nr, sizeof(*l->v), by_note);
}

/* ---- two trees ---- */

struct sides {
	struct walk w[2];
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tree_entry *)a)->name,
		      ((const struct tree_entry *)b)->name);
}

static int read_sorted(struct repo *r, const struct oid *id, struct tree *t,
		       struct err *err)
{
	int ret = repo_tree_read(r, id, t, err);

	if (!ret && t->nr > 1)
		qsort(t->v, t->nr, sizeof(*t->v), by_name);
	return ret;
}

static int differ(struct sides *s, const struct oid *a, const struct oid *b,
		  size_t used, struct err *err);

/* One name; NULL: that side has no such entry. */
static int differ_entry(struct sides *s, const struct tree_entry *a,
			const struct tree_entry *b, size_t used,
			struct err *err)
{
	int ret = 0;

	if (a && b && a->mode == b->mode && oid_eq(&a->id, &b->id))
		return 0;
	if (a && b && S_ISDIR(a->mode) && S_ISDIR(b->mode) &&
	    kind_of(a, s->w[0].hex, used) == LEVEL &&
	    kind_of(b, s->w[1].hex, used) == LEVEL)
		return differ(s, &a->id, &b->id, used + strlen(a->name), err);
	if (a)
		ret = walk_entry(&s->w[0], a, used, err);
	if (!ret && b)
		ret = walk_entry(&s->w[1], b, used, err);
	return ret;
}

static int differ(struct sides *s, const struct oid *a, const struct oid *b,
		  size_t used, struct err *err)
{
	struct tree x, y = { NULL, 0, 0 };
	size_t i = 0, j = 0;
	int ret = read_sorted(s->w[0].repo, a, &x, err);

	if (!ret)
		ret = read_sorted(s->w[1].repo, b, &y, err);
	while (!ret && (i < x.nr || j < y.nr)) {
		int c = i == x.nr ? 1 : j == y.nr ? -1 :
			by_name(&x.v[i], &y.v[j]);

		ret = differ_entry(s, c <= 0 ? &x.v[i] : NULL,
				   c >= 0 ? &y.v[j] : NULL, used, err);
		i += c <= 0;
		j += c >= 0;
	}
	tree_release(&x);
	tree_release(&y);
	return ret;
}

/* The commits whose notes are not the same in both sorted lists. */
static void add_changed(const struct note_list *a, const struct note_list *b,
			struct oid_list *out)
{
	size_t i = 0, j = 0;

	while (i < a->nr || j < b->nr) {
		int c = i == a->nr ? 1 : j == b->nr ? -1 :
			by_note(&a->v[i], &b->v[j]);

		if (c)
			oid_list_add(out, c < 0 ? &a->v[i].on : &b->v[j].on);
		i += c <= 0;
		j += c >= 0;
	}
}

int notes_changed(struct repo *r, const struct oid *a, const struct oid *b,
		  struct oid_list *out, struct err *err)
{
	struct note_list had = { NULL, 0, 0 }, has = { NULL, 0, 0 };
	struct sides s = { { { .repo = r, .out = &had },
			     { .repo = r, .out = &has } } };
	int ret = 0;

	if (a && b)
		ret = oid_eq(a, b) ? 0 : differ(&s, a, b, 0, err);
	else if (a)
		ret = add_folder(&s.w[0], a, "", err);
	else if (b)
		ret = add_folder(&s.w[1], b, "", err);
	for (int i = 0; i < 2; i++)
		if (walk_run(&s.w[i], err) < 0)
			ret = err->code;
	note_list_sort(&had);
	note_list_sort(&has);
	if (!ret)
		add_changed(&had, &has, out);
	free(had.v);
	free(has.v);
	return ret;
}
