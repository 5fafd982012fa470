/* Uniting two searches: may they be, and what of the one lacks the other. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/merge_parts.h"
#include "core/store_parts.h"

/* ---- are they over the same kernel? ---- */

/* The first line of a's section that b's has not, or NULL; caller frees. */
static char *missing_line(const char *a, const char *b)
{
	size_t len;

	for (; *a; a += len + (a[len] == '\n')) {
		bool found = false;
		size_t n;

		len = strcspn(a, "\n");
		for (const char *p = b; *p && !found; p += n + (p[n] == '\n')) {
			n = strcspn(p, "\n");
			found = n == len && !memcmp(p, a, len);
		}
		if (!found)
			return xstrndup(a, len);
	}
	return NULL;
}

static char *key_of(const char *line)
{
	size_t len = strcspn(line, "=");

	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	return xstrndup(line, len);
}

/* How b's section says the key in a line that a's has not, or NULL. */
static char *other_line(const char *a, const char *b, const char *key)
{
	char *line = NULL;
	size_t len;

	for (; *b && !line; b += len + (b[len] == '\n')) {
		char *one, *own;

		len = strcspn(b, "\n");
		one = xstrndup(b, len);
		own = key_of(one);
		if (!strcmp(own, key))
			line = missing_line(one, a);
		free(own);
		free(one);
	}
	return line;
}

static int tell_sections(const struct spec *a, const struct spec *b,
			 struct err *err)
{
	char *mine = missing_line(a->section, b->section), *theirs, *key;

	if (!mine) {
		theirs = missing_line(b->section, a->section);
		if (!theirs)
			return err_set(err, ERR_FORMAT, "the sections of %s "
				       "and %s have their keys in another "
				       "order", a->slug, b->slug);
		key = key_of(theirs);
	} else {
		key = key_of(mine);
		theirs = other_line(a->section, b->section, key);
	}
	err_set(err, ERR_FORMAT, "the sections of %s and %s differ in '%s': "
		"'%.200s' here, '%.200s' there", a->slug, b->slug, key,
		mine ? mine : "(none)", theirs ? theirs : "(none)");
	free(mine);
	free(theirs);
	free(key);
	return ERR_FORMAT;
}

/* The first path that the two sets have not alike, or NULL. */
static const char *other_path(const struct srcset *a, const struct srcset *b)
{
	for (size_t i = 0; i < a->nr; i++) {
		const struct srcfile *f = srcset_find(b, a->v[i].path);

		if (!f || f->text.len != a->v[i].text.len ||
		    memcmp(f->text.ptr, a->v[i].text.ptr, f->text.len))
			return a->v[i].path;
	}
	return NULL;
}

static int check_roots(const struct search *into, const struct search *from,
		       struct err *err)
{
	struct srcset a = SRCSET_INIT, b = SRCSET_INIT;
	struct kernel k;
	const char *path = NULL;
	int ret;

	if (oid_eq(&into->spec.root, &from->spec.root))
		return 0;
	ret = store_spec_kernel(&into->spec, &k, err);
	if (ret < 0)
		return ret;
	ret = store_source(into->repo, &into->spec.root, &k, true, &a, err);
	if (!ret)
		ret = store_source(into->repo, &from->spec.root, &k, true, &b,
				   err);
	if (!ret)
		path = other_path(&a, &b);
	if (!ret && !path)
		path = other_path(&b, &a);
	if (path)
		ret = err_set(err, ERR_FORMAT, "the roots of %s and %s differ "
			      "in '%s'", into->spec.slug, from->spec.slug,
			      path);
	srcset_release(&a);
	srcset_release(&b);
	kernel_release(&k);
	return ret;
}

static int check_same(const struct search *into, const struct search *from,
		      struct err *err)
{
	const struct spec *a = &into->spec, *b = &from->spec;

	if (!strcmp(a->slug, b->slug))
		return err_set(err, ERR_FORMAT, "%s is one search, not two",
			       a->slug);
	if (strcmp(a->kernel, b->kernel))
		return err_set(err, ERR_FORMAT, "%s is a search of kernel "
			       "'%s', %s one of kernel '%s'", a->slug,
			       a->kernel, b->slug, b->kernel);
	if (strcmp(a->section, b->section))
		return tell_sections(a, b, err);
	return check_roots(into, from, err);
}

/* ---- the union ---- */

static size_t new_nodes(const struct graph *into, const struct graph *from)
{
	size_t nr = 0;

	for (uint32_t i = 1; i < from->nr; i++)
		nr += graph_find(into, &from->node[i].id) == NODE_NONE;
	return nr;
}

static int load_both(struct carry *c, struct unite_sum *sum, struct err *err)
{
	const char *device = c->into->spec.device;
	struct graph a, b;
	uint32_t last;
	int ret;

	graph_init(&a);
	graph_init(&b);
	ret = store_load(c->into, device, &a, NULL, err);
	if (!ret)
		ret = store_load(c->from, device, &b, NULL, err);
	if (!ret) {
		sum->nodes = new_nodes(&a, &b);
		last = graph_last_step(&b);
		c->own_step = graph_last_step(&a);
		c->last_step = last > c->own_step ? last : c->own_step;
	}
	graph_release(&a);
	graph_release(&b);
	return ret;
}

int merge_unite(struct search *into, struct search *from,
		struct unite_sum *sum, struct err *err)
{
	struct carry c = { .into = into, .from = from };
	int ret = check_same(into, from, err);

	memset(sum, 0, sizeof(*sum));
	if (ret < 0)
		return ret;
	ret = load_both(&c, sum, err);
	if (!ret)
		ret = carry_notes(&c, sum, err);
	if (!ret && (sum->nodes || c.raw))
		ret = carry_tips(&c, sum->nodes > 0, err);
	if (!ret && (c.nr_tips || c.nr_items))
		ret = carry_write(&c, err);
	carry_release(&c);
	return ret < 0 ? err_wrap(err, "cannot unite %s with %s",
				  into->spec.slug, from->spec.slug) : 0;
}
