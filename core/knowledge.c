#include "core/knowledge.h"

#include <stdlib.h>
#include <string.h>

#include "core/db.h"
#include "core/knowledge_parts.h"
#include "core/mem.h"

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->id,
		      ((const struct entry *)b)->id);
}

/* Only ids of ours can be there twice: in two folders. */
static void drop_doubles(struct knowledge *k, struct strv *warn)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->nr; i++) {
		if (kept && !strcmp(k->v[kept - 1].id, k->v[i].id)) {
			strv_pushf(warn, "%s: a second entry of that id",
				   k->v[i].id);
			entry_release(&k->v[i]);
			continue;
		}
		k->v[kept++] = k->v[i];
	}
	k->nr = kept;
}

static void take(struct knowledge *k, const struct entry_file *f,
		 struct strv *warn)
{
	struct err err = ERR_INIT;
	struct entry e;

	if (entry_parse(&e, f->kind, f->name, f->text.ptr, f->text.len,
			&err)) {
		struct buf clean = BUF_INIT;
		const char *slash = strrchr(f->path, '/');

		buf_add_clean(&clean, f->path,
			      (size_t)(slash + 1 - f->path), false);
		buf_add_clean(&clean, err.msg, strlen(err.msg), false);
		strv_push(warn, clean.ptr);
		buf_release(&clean);
		return;
	}
	GROW(k->v, k->nr, k->cap);
	k->v[k->nr++] = e;
}

int knowledge_load(struct knowledge *k, struct repo *repo, struct strv *warn,
		   struct err *err)
{
	struct entry_files files = { NULL, 0, 0 };
	int ret;

	memset(k, 0, sizeof(*k));
	ret = files_shipped(&files, warn, err);
	if (!ret && repo) {
		files_local(&files, repo, warn);
		k->cache = xasprintf("%smaxkernel/cache/knowledge.db",
				     repo_gitdir(repo));
	}
	for (size_t i = 0; !ret && i < files.nr; i++)
		take(k, &files.v[i], warn);
	files_release(&files);
	if (k->nr)
		qsort(k->v, k->nr, sizeof(*k->v), by_id);
	drop_doubles(k, warn);
	return ret;
}

void knowledge_release(struct knowledge *k)
{
	for (size_t i = 0; i < k->nr; i++)
		entry_release(&k->v[i]);
	free(k->v);
	free(k->cache);
	db_close(k->index);
	memset(k, 0, sizeof(*k));
}

static const struct entry *find(const struct knowledge *k, const char *id)
{
	struct entry key = { .id = (char *)id };

	return k->nr ? bsearch(&key, k->v, k->nr, sizeof(*k->v), by_id) : NULL;
}

const struct entry *knowledge_find(const struct knowledge *k, const char *id)
{
	const struct entry *e = find(k, id);
	char *local;

	if (e)
		return e;
	local = xasprintf("local/%s", id);
	e = find(k, local);
	free(local);
	return e;
}
