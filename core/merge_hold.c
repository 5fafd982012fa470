/* A crossover with conflicts, put down for a person. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/merge_parts.h"
#include "core/store_parts.h"
#include "core/tempdir.h"

#define MAX_STATE 4096

static char *merge_dir(struct repo *r)
{
	return xasprintf("%smaxkernel/merge", repo_gitdir(r));
}

static char *state_path(struct repo *r)
{
	return xasprintf("%smaxkernel/merge/state", repo_gitdir(r));
}

void held_release(struct held *h)
{
	free(h->slug);
	free(h->dir);
	memset(h, 0, sizeof(*h));
}

static void set_dir(struct repo *r, struct held *h)
{
	char *top = merge_dir(r);

	h->dir = xasprintf("%s/%s-%s", top, oid_short(&h->a).s,
			   oid_short(&h->b).s);
	free(top);
}

/* "search <slug>", "ours <id>", "theirs <id>", a line each. */
static bool parse_state(const char *text, struct held *h)
{
	char slug[STORE_MAX_SLUG + 1], a[OID_HEX + 1], b[OID_HEX + 1];
	int end = 0;

	if (sscanf(text, "search %40s ours %40s theirs %40s%n", slug, a, b,
		   &end) != 3 || strcmp(text + end, "\n") ||
	    !store_slug_ok(slug) || strlen(a) != OID_HEX ||
	    strlen(b) != OID_HEX || !oid_parse(&h->a, a) ||
	    !oid_parse(&h->b, b))
		return false;
	h->slug = xstrdup(slug);
	return true;
}

int held_read(struct repo *r, struct held *h, struct err *err)
{
	char *path = state_path(r);
	struct buf text = BUF_INIT;
	int ret = buf_read_file(&text, path, MAX_STATE, err);

	memset(h, 0, sizeof(*h));
	if (ret == ERR_NOTFOUND)
		err_set(err, ERR_NOTFOUND, "no merge of two nodes is under "
			"way");
	else if (!ret && !parse_state(text.ptr, h))
		ret = err_set(err, ERR_FORMAT, "'%s' is damaged: remove it to "
			      "give the merge up", path);
	if (!ret)
		set_dir(r, h);
	buf_release(&text);
	free(path);
	return ret;
}

static int make_dirs(struct repo *r, const char *dir, struct err *err)
{
	char *own = xasprintf("%smaxkernel", repo_gitdir(r));
	char *top = merge_dir(r);
	const char *path[] = { own, top, dir };
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(path) && !ret; i++)
		if (mkdir(path[i], 0777) < 0 && errno != EEXIST)
			ret = err_sys(err, "cannot create '%s'", path[i]);
	free(own);
	free(top);
	return ret;
}

/* The files that lie there for the person: with markers, or, where there is
 * no text to show, as the merge has them. */
static void files_of(const struct srcset *source,
		     const struct merge_conflicts *c, struct srcset *out)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct srcfile *f = srcset_find(source, c->v[i].path);

		if (c->v[i].text)
			srcset_put(out, c->v[i].path, c->v[i].text,
				   strlen(c->v[i].text), true);
		else if (f)
			srcset_put(out, f->path, f->text.ptr, f->text.len,
				   true);
	}
}

static int write_state(struct search *s, const struct held *h,
		       struct err *err)
{
	char *path = state_path(s->repo);
	char *text = xasprintf("search %s\nours %s\ntheirs %s\n", h->slug,
			       oid_text(&h->a).s, oid_text(&h->b).s);
	int ret = buf_write_file(path, text, strlen(text), err);

	free(text);
	free(path);
	return ret;
}

int held_write(struct search *s, const struct oid *a, const struct oid *b,
	       const struct srcset *source, const struct merge_conflicts *c,
	       struct held *h, struct err *err)
{
	struct srcset files = SRCSET_INIT;
	int ret = held_read(s->repo, h, err);

	if (!ret) {
		err_set(err, ERR_RACE, "the merge of %s and %s is under way: "
			"end it with --continue or --abort first",
			oid_short(&h->a).s, oid_short(&h->b).s);
		held_release(h);
		return ERR_RACE;
	}
	if (ret != ERR_NOTFOUND)
		return ret;
	*h = (struct held){ .slug = xstrdup(s->spec.slug), .a = *a, .b = *b };
	set_dir(s->repo, h);
	tempdir_remove(h->dir);		/* of one that was given up halfway */
	files_of(source, c, &files);
	ret = make_dirs(s->repo, h->dir, err);
	if (!ret)
		ret = srcset_write(&files, h->dir, err);
	if (!ret)
		ret = write_state(s, h, err);
	srcset_release(&files);
	if (ret)
		held_release(h);
	else
		err->code = ERR_NONE;
	return ret;
}

/* The line of the first marker, or 0. */
static size_t find_marker(const char *text)
{
	static const char *const marks[] = {
		"<<<<<<< ", "||||||| ", ">>>>>>> "
	};
	size_t nr = 1;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n', nr++)
		for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
			if (!strncmp(text, marks[i], 8))
				return nr;
	return 0;
}

int held_take(const struct held *h, const struct merge_conflicts *c,
	      struct srcset *source, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < c->nr && !ret; i++) {
		char *path = xasprintf("%s/%s", h->dir, c->v[i].path);
		struct buf text = BUF_INIT;
		size_t line;

		ret = buf_read_file(&text, path, SOURCE_MAX_FILE, err);
		line = ret ? 0 : find_marker(text.ptr);
		if (line)
			ret = err_set(err, ERR_FORMAT, "%s:%zu: a conflict "
				      "marker is left", path, line);
		if (!ret)
			srcset_put(source, c->v[i].path, text.ptr, text.len,
				   true);
		buf_release(&text);
		free(path);
	}
	return ret;
}

int held_drop(struct repo *r, const struct held *h, struct err *err)
{
	char *path = state_path(r), *top = merge_dir(r);
	int ret = 0;

	if (unlink(path) < 0 && errno != ENOENT)
		ret = err_sys(err, "cannot remove '%s'", path);
	if (!ret)
		tempdir_remove(h->dir);
	if (!ret)
		rmdir(top);
	free(path);
	free(top);
	return ret;
}
