/* What this clone has pushed under its own id; see core/share_parts.h. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/share_parts.h"

#define PUSHED_FILE_MAX (64u << 20)

/* A line is "<remote> <ref> <id>". */
static char *pushed_path(struct repo *r)
{
	return xasprintf("%smaxkernel/log/pushed", repo_gitdir(r));
}

/* Bytes up to the id; 0: it is no such line. */
static size_t key_len(const char *line)
{
	const char *id = strrchr(line, ' ');
	struct oid unused;

	return id && strlen(id + 1) == OID_HEX && oid_parse(&unused, id + 1) ?
		(size_t)(id + 1 - line) : 0;
}

static int read_pushed(struct repo *r, struct strv *out, struct err *err)
{
	char *path = pushed_path(r);
	struct buf text = BUF_INIT;
	int ret = buf_read_file(&text, path, PUSHED_FILE_MAX, err);

	for (char *p = text.ptr, *line; !ret && p && *p;) {
		line = strsep(&p, "\n");
		if (key_len(line))
			strv_push(out, line);
	}
	if (ret == ERR_NOTFOUND) {
		err->code = ERR_NONE;
		ret = 0;
	}
	buf_release(&text);
	free(path);
	return ret;
}

/* What was pushed there last. */
static bool last_pushed(struct share *sh, const char *ref, struct oid *id)
{
	char *key = xasprintf("%s %s ", sh->track, ref);
	struct strv lines = STRV_INIT;
	struct err unused = ERR_INIT;
	size_t len = strlen(key);
	bool was = false;

	read_pushed(sh->r, &lines, &unused);
	for (size_t i = lines.nr; i-- > 0 && !was;)
		was = !strncmp(lines.v[i], key, len) &&
			oid_parse(id, lines.v[i] + len);
	strv_release(&lines);
	free(key);
	return was;
}

bool share_was_pushed(struct share *sh, const char *ref,
		      const struct oid *there)
{
	struct oid id;

	return last_pushed(sh, ref, &id) && share_before(sh, there, &id);
}

bool share_is_as_pushed(struct share *sh, const char *ref,
			const struct oid *there)
{
	struct oid id;

	return last_pushed(sh, ref, &id) && oid_eq(there, &id);
}

void share_note_pushed(struct share *sh, const char *ref, const struct oid *id)
{
	strv_pushf(&sh->pushed, "%s %s %s", sh->track, ref, oid_text(id).s);
}

/* By the key; of two the one that was added later stands behind. */
struct entry {
	const char *line;
	size_t key, order;
};

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int c = strncmp(x->line, y->line, x->key < y->key ? x->key : y->key);

	if (!c && x->key != y->key)
		c = x->key < y->key ? -1 : 1;
	return c ? c : x->order < y->order ? -1 : x->order > y->order;
}

/* The last line of each key. */
static void last_lines(const struct strv *lines, struct buf *out)
{
	struct entry *v = xcalloc(lines->nr, sizeof(*v));

	for (size_t i = 0; i < lines->nr; i++)
		v[i] = (struct entry){ lines->v[i], key_len(lines->v[i]), i };
	if (lines->nr > 1)
		qsort(v, lines->nr, sizeof(*v), by_key);
	for (size_t i = 0; i < lines->nr; i++)
		if (i + 1 == lines->nr || v[i].key != v[i + 1].key ||
		    strncmp(v[i].line, v[i + 1].line, v[i].key) != 0)
			buf_addf(out, "%s\n", v[i].line);
	free(v);
}

int share_keep_pushed(struct share *sh, struct err *err)
{
	char *path = pushed_path(sh->r);
	struct strv lines = STRV_INIT;
	struct buf was = BUF_INIT, now = BUF_INIT;
	int ret = sh->pushed.nr ? repo_lock(sh->r, err) : 0;

	if (!sh->pushed.nr || ret < 0) {
		free(path);
		return ret;
	}
	ret = read_pushed(sh->r, &lines, err);
	last_lines(&lines, &was);
	for (size_t i = 0; i < sh->pushed.nr; i++)
		strv_push(&lines, sh->pushed.v[i]);
	last_lines(&lines, &now);
	if (!ret && strcmp(was.ptr, now.ptr) != 0)
		ret = buf_write_file(path, now.ptr, now.len, err);
	repo_unlock(sh->r);
	strv_release(&lines);
	strv_release(&sh->pushed);
	buf_release(&was);
	buf_release(&now);
	free(path);
	return ret;
}
