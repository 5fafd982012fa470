/* The worker's id, and what is done when another clone has it too. */
#include "core/worker.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/git.h"
#include "core/mem.h"
#include "core/store_parts.h"

#define WORKER_FILE_MAX 65536
#define RENEWED_FILE_MAX 65536
#define RENEWING_FILE_MAX (64u << 20)
#define DAY_S 86400

static const char *const kinds[] = { "w", "plan", "metrics", "agents" };

/* ---- the ids ---- */

static bool worker_ok(const char *w)
{
	const char *dash = strrchr(w, '-');

	return store_word_ok(w) && strlen(w) <= 13 && dash &&
	       strlen(dash) == 5 &&
	       strspn(dash + 1, "0123456789abcdef") == 4;
}

static int worker_read(const char *path, struct strv *out, struct err *err)
{
	struct buf b = BUF_INIT;
	int ret = buf_read_file(&b, path, WORKER_FILE_MAX, err);
	bool good = strlen(b.ptr) == b.len;

	for (char *p = b.ptr, *line; !ret && good && p && *p;) {
		line = strsep(&p, "\n");
		line[strcspn(line, " \t\r")] = '\0';
		good = worker_ok(line) && out->nr < WORKER_MAX_IDS;
		if (good)
			strv_push(out, line);
	}
	if (!ret && (!good || !out->nr))
		ret = err_set(err, ERR_FORMAT, "'%s' does not hold a worker "
			      "id; remove it to get a new one", path);
	buf_release(&b);
	return ret;
}

static char *worker_make(void)
{
	char host[HOST_NAME_MAX + 1] = "", name[9];
	unsigned char r[2] = { 0, 0 };
	size_t nr = 0;

	if (gethostname(host, sizeof(host) - 1) < 0)
		host[0] = '\0';
	for (const char *p = host; *p && *p != '.' && nr < 8; p++)
		if (isalnum((unsigned char)*p) && !(*p & 0x80))
			name[nr++] = (char)tolower((unsigned char)*p);
	name[nr] = '\0';
	if (getrandom(r, sizeof(r), 0) != sizeof(r)) {
		r[0] = (unsigned char)getpid();
		r[1] = (unsigned char)time(NULL);
	}
	return xasprintf("%s-%02x%02x", nr ? name : "host", r[0], r[1]);
}

/* link() does not replace: of two processes one id wins, and both see it. */
static int worker_create(const char *path, struct err *err)
{
	char *tmp = xasprintf("%s.%ld", path, (long)getpid());
	char *id = worker_make(), *line = xasprintf("%s\n", id);
	int ret = buf_write_file(tmp, line, strlen(line), err);

	if (!ret && link(tmp, path) < 0 && errno != EEXIST)
		ret = err_sys(err, "cannot create '%s'", path);
	unlink(tmp);
	free(tmp);
	free(id);
	free(line);
	return ret;
}

static int make_dir(const char *path, struct err *err)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return err_sys(err, "cannot create '%s'", path);
	return 0;
}

static char *worker_path(struct repo *r)
{
	return xasprintf("%smaxkernel/log/worker", repo_gitdir(r));
}

/* May nothing be written there?  Other trouble, as a full disk, is told. */
static bool is_read_only(const char *path)
{
	return access(path, W_OK) < 0 && (errno == EACCES || errno == EROFS);
}

/* Nor can one be made: no folder that it would need can be written to. */
static bool has_no_place(struct repo *r, const char *dir, const char *log)
{
	return is_read_only(access(log, F_OK) == 0 ? log :
			    access(dir, F_OK) == 0 ? dir : repo_gitdir(r));
}

int worker_ids(struct repo *r, struct strv *out, struct err *err)
{
	char *dir = xasprintf("%smaxkernel", repo_gitdir(r));
	char *log = xasprintf("%s/log", dir);
	char *path = worker_path(r);
	int ret = worker_read(path, out, err);

	if (ret == ERR_NOTFOUND) {
		ret = make_dir(dir, err);
		if (!ret)
			ret = make_dir(log, err);
		if (!ret)
			ret = worker_create(path, err);
		if (!ret)
			ret = worker_read(path, out, err);
		if (ret == ERR_SYS && has_no_place(r, dir, log)) {
			strv_push(out, WORKER_NONE);
			err->code = ERR_NONE;
			ret = 0;
		}
	}
	free(dir);
	free(log);
	free(path);
	return ret;
}

int worker_need(struct repo *r, const char *id, struct err *err)
{
	if (strcmp(id, WORKER_NONE) != 0)
		return 0;
	errno = EACCES;
	return err_sys(err, "cannot create '%smaxkernel/log/worker'",
		       repo_gitdir(r));
}

int store_worker(struct repo *r, char **out, struct err *err)
{
	struct strv ids = STRV_INIT;
	int ret = worker_ids(r, &ids, err);

	*out = ret ? NULL : xstrdup(ids.v[0]);
	strv_release(&ids);
	return ret;
}

bool worker_is(const char *id, const char *w)
{
	size_t len = strlen(id);

	return !strncmp(w, id, len) &&
	       (!w[len] || (w[len] == '-' && w[len + 1] &&
			    strspn(w + len + 1, "0123456789") ==
			    strlen(w + len + 1)));
}

bool worker_is_any(const struct strv *ids, const char *w)
{
	for (size_t i = 0; i < ids->nr; i++)
		if (worker_is(ids->v[i], w))
			return true;
	return false;
}

char *worker_now(const struct strv *ids, const char *w)
{
	for (size_t i = 0; i < ids->nr; i++)
		if (worker_is(ids->v[i], w))
			return xasprintf("%s%s", ids->v[0],
					 w + strlen(ids->v[i]));
	return xstrdup(w);
}

void worker_refresh(struct search *s)
{
	struct strv ids = STRV_INIT;
	struct err unused = ERR_INIT;

	if (!worker_ids(s->repo, &ids, &unused) &&
	    !worker_is(ids.v[0], s->worker)) {
		char *now = worker_now(&ids, s->worker);

		free(s->worker);
		s->worker = now;
	}
	strv_release(&ids);
}

/* ---- a new id ---- */

static int write_ids(const char *path, const char *new,
		     const struct strv *ids, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret;

	buf_addf(&text, "%s\n", new);
	for (size_t i = 0; i < ids->nr; i++)
		buf_addf(&text, "%s\n", ids->v[i]);
	ret = buf_write_file(path, text.ptr, text.len, err);
	buf_release(&text);
	return ret;
}

static char *another_id(const struct strv *ids)
{
	char *id = worker_make();

	while (strv_has(ids, id)) {
		free(id);
		id = worker_make();
	}
	return id;
}

struct renewal {
	const struct strv *ids;
	struct strv names;	/* refs of the present id and its slots */
	struct buf refs;	/* the same as "delete <ref> <id>" lines */
};

static int add_present(void *ctx, const char *name, const struct oid *id)
{
	struct renewal *n = ctx;

	if (!worker_is(n->ids->v[0], strrchr(name, '/') + 1))
		return 0;
	strv_push(&n->names, name);
	buf_addf(&n->refs, "delete %s %s\n", name, oid_text(id).s);
	return 0;
}

/* One ref of a search, under the new id too. */
static int absorb_ref(struct repo *r, const char *slug, const char *name,
		      const struct strv *ids, const char *new,
		      struct err *err)
{
	const char *from = strrchr(name, '/') + 1;
	char *to = xasprintf("%s%s", new, from + strlen(ids->v[0]));
	int ret = 0;

	for (size_t k = 0; k < ARRAY_SIZE(kinds) && !ret; k++) {
		char *tail = xasprintf("/%s/%s", kinds[k], from);
		size_t len = strlen(name), n = strlen(tail);

		if (len > n && !strcmp(name + len - n, tail))
			ret = worker_absorb(r, slug, kinds[k], from, to, err);
		free(tail);
	}
	free(to);
	return ret;
}

static int renew_search(struct repo *r, const char *slug, struct renewal *n,
			const char *new, struct err *err)
{
	char *chains = store_anchor_ref(slug, NULL);
	char *notes = xasprintf("refs/notes/maxkernel/%s/", slug);
	size_t i = n->names.nr;
	int ret = repo_ref_each(r, chains, add_present, n, err);

	if (!ret)
		ret = repo_ref_each(r, notes, add_present, n, err);
	for (; i < n->names.nr && !ret; i++)
		ret = absorb_ref(r, slug, n->names.v[i], n->ids, new, err);
	free(chains);
	free(notes);
	return ret;
}

/* One transaction; where one of them was moved by hand none goes, and then
 * it is another worker's ref like any other. */
static int delete_refs(struct repo *r, const char *refs, struct err *err)
{
	struct strv args = STRV_INIT;
	struct buf input = BUF_INIT;
	struct git_run run = { .args = &args };
	int ret;

	strv_push(&args, "update-ref");
	strv_push(&args, "--no-deref");
	strv_push(&args, "--stdin");
	buf_addf(&input, "start\n%scommit\n", refs);
	run.input = input.ptr;
	run.input_len = input.len;
	ret = *refs ? git_run(r, &run, err) : 0;
	if (*refs)
		git_run_release(&run);
	strv_release(&args);
	buf_release(&input);
	return ret;
}

static char *renewing_path(struct repo *r)
{
	return xasprintf("%smaxkernel/log/renewing", repo_gitdir(r));
}

/* The former id's refs, once the file names the new one: what they hold is
 * under that, and from here on the name is another worker's. */
static int settle(struct repo *r, const char *present, struct err *err)
{
	char *path = renewing_path(r);
	size_t len = strlen(present);
	struct buf text = BUF_INIT;
	int ret = buf_read_file(&text, path, RENEWING_FILE_MAX, err);

	if (!ret && !strncmp(text.ptr, present, len) && text.ptr[len] == '\n')
		ret = delete_refs(r, text.ptr + len + 1, err);
	if (!ret)
		unlink(path);
	if (ret == ERR_NOTFOUND) {
		err->code = ERR_NONE;
		ret = 0;
	}
	buf_release(&text);
	free(path);
	return ret;
}

int worker_settle(struct repo *r, struct err *err)
{
	struct strv ids = STRV_INIT;
	char *path = renewing_path(r);
	bool has = access(path, F_OK) == 0;
	int ret = has ? repo_lock(r, err) : 0;

	free(path);
	if (!has || ret < 0)
		return ret;
	ret = worker_ids(r, &ids, err);
	if (!ret)
		ret = settle(r, ids.v[0], err);
	repo_unlock(r);
	strv_release(&ids);
	return ret;
}

/* Refs first: until the file names the new id they are another worker's.
 * What is to go is written down before, so that it goes in any case. */
static int renew(struct repo *r, const struct strv *ids, struct err *err)
{
	struct spec_list all;
	struct renewal n = { ids, STRV_INIT, BUF_INIT };
	char *path = worker_path(r), *new = another_id(ids);
	char *renewing = renewing_path(r);
	int ret = store_list(r, &all, NULL, err);

	for (size_t i = 0; i < all.nr && !ret; i++)
		ret = renew_search(r, all.v[i].slug, &n, new, err);
	if (!ret) {
		struct buf text = BUF_INIT;

		buf_addf(&text, "%s\n%s", new, n.refs.ptr);
		ret = buf_write_file(renewing, text.ptr, text.len, err);
		buf_release(&text);
	}
	if (!ret)
		ret = write_ids(path, new, ids, err);
	if (!ret)
		ret = settle(r, new, err);
	spec_list_release(&all);
	strv_release(&n.names);
	buf_release(&n.refs);
	free(renewing);
	free(path);
	free(new);
	return ret;
}

/* Whoever can write to the remote can make us take a new id, at the cost of
 * writing all of ours again. */
static int may_renew(struct repo *r, const struct strv *ids, struct err *err)
{
	char *path = xasprintf("%smaxkernel/log/renewed", repo_gitdir(r));
	int64_t now = (int64_t)time(NULL);
	struct buf text = BUF_INIT, kept = BUF_INIT;
	unsigned today = 0;
	int ret = buf_read_file(&text, path, RENEWED_FILE_MAX, err);

	for (const char *p = text.ptr; !ret && *p;) {
		long long t = strtoll(p, NULL, 10);

		if (t > now - DAY_S && t <= now) {
			buf_addf(&kept, "%lld\n", t);
			today++;
		}
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	if (ret == ERR_NOTFOUND || ret == ERR_LIMIT)
		ret = 0;
	if (!ret && (today >= WORKER_MAX_RENEWALS ||
		     ids->nr >= WORKER_MAX_IDS))
		ret = err_set(err, ERR_LIMIT, "another clone writes as worker "
			      "'%s' too, but this one has had %zu ids already, "
			      "%u of them since yesterday", ids->v[0], ids->nr,
			      today);
	buf_addf(&kept, "%lld\n", (long long)now);
	if (!ret)
		ret = buf_write_file(path, kept.ptr, kept.len, err);
	buf_release(&text);
	buf_release(&kept);
	free(path);
	return ret;
}

int worker_renew(struct repo *r, const char *old, struct err *err)
{
	struct strv ids = STRV_INIT;
	int ret = repo_lock(r, err);

	if (ret < 0)
		return ret;
	ret = worker_ids(r, &ids, err);
	if (!ret && !strcmp(ids.v[0], old)) {
		ret = may_renew(r, &ids, err);
		if (!ret)
			ret = renew(r, &ids, err);
	}
	repo_unlock(r);
	strv_release(&ids);
	return ret;
}
