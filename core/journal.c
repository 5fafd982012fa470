/* Calls of models: one line each, as in the ledger, synced as it comes. */
#include "core/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/oidset.h"
#include "core/store_parts.h"
#include "core/worker.h"

#define CHUNK 65536
#define MAX_CALLS 1000000u
#define PREFIX "usage-"

static char *journal_path(struct repo *r, const char *slug)
{
	return xasprintf("%smaxkernel/log/" PREFIX "%s", repo_gitdir(r), slug);
}

/* ERR_NOTFOUND: there is none. */
static int journal_open(const char *path, int flags, int *fd,
			struct stat *st, struct err *err)
{
	*fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (*fd < 0 && errno == ENOENT && !(flags & O_CREAT))
		return err_set(err, ERR_NOTFOUND, "no '%s'", path);
	if (*fd < 0 && errno == ELOOP)
		return err_set(err, ERR_FORMAT, "'%s' is a symbolic link; "
			       "remove it", path);
	if (*fd < 0)
		return err_sys(err, "cannot open '%s'", path);
	if (fstat(*fd, st) == 0 && S_ISREG(st->st_mode))
		return 0;
	close(*fd);
	*fd = -1;
	return err_set(err, ERR_FORMAT, "'%s' is not a regular file; "
		       "remove it", path);
}

/* ---- writing ---- */

static bool write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

/*
 * Where the last whole line ends.  What is behind it is of a write that was
 * cut off, and whoever wrote it was never told that it is there; more than any
 * line of ours is kept, *whole false.
 */
static int whole_end(int fd, const char *path, off_t size, off_t *end,
		     bool *whole, struct err *err)
{
	char tail[METRIC_MAX_READ + 1];
	off_t from = size > (off_t)sizeof(tail) ? size - (off_t)sizeof(tail) :
		0;
	ssize_t n = pread(fd, tail, sizeof(tail), from);

	if (n < 0)
		return err_sys(err, "cannot read '%s'", path);
	while (n && tail[n - 1] != '\n')
		n--;
	*whole = n || !from;
	*end = *whole ? from + n : size;
	return 0;
}

static int sync_folder(const char *path)
{
	char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = fd < 0 ? -1 : fsync(fd);

	if (fd >= 0)
		close(fd);
	free(folder);
	return ret;
}

/* Of an open file, under its lock. */
static int append(int fd, const char *path, const struct buf *line,
		  struct err *err)
{
	struct stat st;
	off_t end = 0;
	bool whole = true;

	if (fstat(fd, &st) < 0)
		return err_sys(err, "cannot look at '%s'", path);
	if (whole_end(fd, path, st.st_size, &end, &whole, err) < 0)
		return err->code;
	if (end != st.st_size && ftruncate(fd, end) < 0)
		return err_sys(err, "cannot write '%s'", path);
	if ((!whole && !write_all(fd, "\n", 1)) ||
	    !write_all(fd, line->ptr, line->len) || fsync(fd) < 0) {
		err_sys(err, "cannot write '%s'", path);
		if (ftruncate(fd, end) < 0)	/* the next one cuts it off */
			err_wrap(err, "half a line is left");
		return ERR_SYS;
	}
	if (!end && sync_folder(path) < 0)
		return err_sys(err, "cannot sync the folder of '%s'", path);
	return 0;
}

int journal_usage(struct search *s, uint32_t step, struct usage *one,
		  struct err *err)
{
	char *path = journal_path(s->repo, s->spec.slug);
	struct buf line = BUF_INIT;
	struct metric m;		/* borrows: never released */
	struct stat st;
	int fd = -1, ret = worker_need(s->repo, s->worker, err);

	if (!*one->id)
		usage_make_id(one->id);
	memset(&m, 0, sizeof(m));
	m.event = METRIC_SPEND;
	m.worker = s->worker;
	m.step = step;
	m.used = *one;
	metric_now(m.t);
	metric_format(&line, &m);
	if (!ret)
		ret = journal_open(path, O_RDWR | O_APPEND | O_CREAT, &fd,
				   &st, err);
	while (!ret && flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			ret = err_sys(err, "cannot lock '%s'", path);
	if (!ret)
		ret = append(fd, path, &line, err);
	if (fd >= 0)
		close(fd);
	buf_release(&line);
	free(path);
	return ret < 0 ? err_wrap(err, "cannot write down what was spent") :
		0;
}

/* ---- reading ---- */

struct metrics {
	struct metric *v;
	size_t nr, cap;
};

static void metrics_release(struct metrics *l)
{
	for (size_t i = 0; i < l->nr; i++)
		metric_release(&l->v[i]);
	free(l->v);
}

struct reader {
	struct strv ids;	/* of this clone */
	const char *path;
	struct metrics *out;
	struct strv *warn;
	size_t number;		/* of the line, from 1 */
	bool skip;		/* the line is too long */
};

static void refuse(struct reader *rd, const char *why)
{
	store_warn(rd->warn, "'%s', line %zu is left out: %s", rd->path,
		   rd->number, why);
}

/* A call that this clone made? */
static bool take(struct reader *rd, struct metric *m, struct err *why)
{
	if (m->event != METRIC_SPEND || !*m->used.id)
		err_set(why, ERR_FORMAT, "it is no call of a model");
	else if (!worker_is_any(&rd->ids, m->worker))
		err_set(why, ERR_FORMAT, "it names worker '%s', which is none "
			"of this repository", m->worker);
	else if (rd->out->nr >= MAX_CALLS)
		err_set(why, ERR_LIMIT, "there are more than %u", MAX_CALLS);
	else
		return true;
	return false;
}

/* torn: the last one, without its end. */
static void read_line(struct reader *rd, const char *text, size_t len,
		      bool torn)
{
	struct metric m;
	struct err why = ERR_INIT;
	int ret;

	rd->number++;
	if (!len && !rd->skip)
		return;
	if (rd->skip) {
		refuse(rd, "it is too long");
		return;
	}
	ret = metric_parse(&m, text, len, &why);
	if (ret == METRIC_OK && take(rd, &m, &why)) {
		GROW(rd->out->v, rd->out->nr, rd->out->cap);
		rd->out->v[rd->out->nr++] = m;
		return;
	}
	if (ret == METRIC_OK)
		metric_release(&m);
	if (ret > 0 && ret != METRIC_OK)
		err_set(&why, ERR_FORMAT, "it is of a newer git maxkernel");
	if (!torn)
		refuse(rd, why.msg);
}

/* Lines of `text`; what is left of it is the beginning of one. */
static void read_lines(struct reader *rd, struct buf *text)
{
	size_t at = 0;

	for (;;) {
		const char *nl = memchr(text->ptr + at, '\n', text->len - at);
		size_t len;

		if (!nl)
			break;
		len = (size_t)(nl - text->ptr) - at;
		read_line(rd, text->ptr + at, len, false);
		rd->skip = false;
		at += len + 1;
	}
	buf_splice(text, 0, at, "", 0);
	if (text->len > METRIC_MAX_READ) {
		rd->skip = true;
		buf_reset(text);
	}
}

static int read_all(struct reader *rd, int fd, struct err *err)
{
	struct buf text = BUF_INIT;
	char *chunk = xmalloc(CHUNK);
	ssize_t n = 1;

	while (n) {
		n = read(fd, chunk, CHUNK);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0)
			break;
		buf_add(&text, chunk, (size_t)n);
		read_lines(rd, &text);
	}
	if (n < 0)
		err_sys(err, "cannot read '%s'", rd->path);
	else if (text.len || rd->skip)
		read_line(rd, text.ptr, text.len, true);
	free(chunk);
	buf_release(&text);
	return n < 0 ? ERR_SYS : 0;
}

static int by_id(const void *a, const void *b)
{
	const struct metric *x = a, *y = b;
	int c = strcmp(x->used.id, y->used.id);

	return c ? c : strcmp(x->t, y->t);
}

/* Each call once, by id. */
static void sort_calls(struct metrics *l)
{
	size_t nr = 0;

	if (l->nr > 1)
		qsort(l->v, l->nr, sizeof(*l->v), by_id);
	for (size_t i = 0; i < l->nr; i++) {
		if (nr && !strcmp(l->v[nr - 1].used.id, l->v[i].used.id))
			metric_release(&l->v[i]);
		else
			l->v[nr++] = l->v[i];
	}
	l->nr = nr;
}

/* What cannot be read is told in warn and left out. */
static void journal_lines(struct repo *r, const char *slug,
			  struct metrics *out, struct strv *warn)
{
	char *path = journal_path(r, slug);
	struct reader rd = { .path = path, .out = out, .warn = warn };
	struct err why = ERR_INIT;
	struct stat st;
	int fd, ret = journal_open(path, O_RDONLY, &fd, &st, &why);

	if (!ret && st.st_size)
		ret = worker_ids(r, &rd.ids, &why);
	if (!ret && st.st_size)
		ret = read_all(&rd, fd, &why);
	if (ret && ret != ERR_NOTFOUND)
		store_warn(warn, "%s", why.msg);
	if (fd >= 0)
		close(fd);
	sort_calls(out);
	strv_release(&rd.ids);
	free(path);
}

/* ---- against the ledger ---- */

static struct oid call_key(const char *id)
{
	struct oid key;

	source_blob_id(id, strlen(id), &key);
	return key;
}

/* Calls that the ledger has in a line of ours: another's word does not stand
 * for it. */
static void own_calls(const struct graph *g, struct oidset *out)
{
	for (uint32_t i = 0; i < g->nr_call; i++) {
		struct oid key = call_key(g->call[i].used.id);

		if (!g->call[i].claimed)
			oidset_add(out, &key);
	}
}

static bool has_call(const struct oidset *set, const char *id)
{
	struct oid key = call_key(id);

	return oidset_has(set, &key);
}

static int settle(struct search *s, const struct metrics *l, size_t *nr,
		  struct err *err)
{
	struct strv lines = STRV_INIT;
	struct oidset own = OIDSET_INIT;
	struct graph g;
	int ret = store_load(s, s->spec.device, &g, NULL, err);

	if (!ret)
		own_calls(&g, &own);
	for (size_t i = 0; !ret && i < l->nr; i++) {
		struct buf line = BUF_INIT;

		if (has_call(&own, l->v[i].used.id))
			continue;
		metric_format(&line, &l->v[i]);
		strv_push(&lines, line.ptr);
		buf_release(&line);
	}
	if (!ret)
		graph_release(&g);
	if (!ret && lines.nr)
		ret = store_spend_lines(s, &lines, err);
	if (!ret && nr)
		*nr = lines.nr;
	for (size_t i = 0; !ret && i < l->nr; i++)
		ledger_paid(s, l->v[i].used.id);
	oidset_release(&own);
	strv_release(&lines);
	return ret;
}

int journal_settle(struct search *s, size_t *nr, struct strv *warn,
		   struct err *err)
{
	struct metrics l = { NULL, 0, 0 };
	int ret = 0;

	if (nr)
		*nr = 0;
	journal_lines(s->repo, s->spec.slug, &l, warn);
	if (l.nr)
		ret = settle(s, &l, nr, err);
	metrics_release(&l);
	return ret < 0 ? err_wrap(err, "cannot write what search '%s' spent",
				  s->spec.slug) : 0;
}

/* ---- all of them ---- */

static void add_spent(struct spent_calls *out, const struct spent_call *c)
{
	struct spent_call copy = *c;

	copy.used.agent = xstrdup(c->used.agent);
	copy.used.model = xstrdup(c->used.model);
	copy.worker = xstrdup(c->worker);
	GROW(out->v, out->nr, out->cap);
	out->v[out->nr++] = copy;
}

static void add_unsettled(struct spent_calls *out, const struct metric *m)
{
	struct spent_call c = {
		.used = m->used, .step = m->step, .worker = m->worker,
		.unsettled = true, .time = metric_seconds(m->t)
	};

	add_spent(out, &c);
}

static int by_age(const void *a, const void *b)
{
	const struct spent_call *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return strcmp(x->used.id, y->used.id);
}

static void sort_spent(struct spent_calls *c)
{
	if (c->nr > 1)
		qsort(c->v, c->nr, sizeof(*c->v), by_age);
}

void journal_read(struct search *s, const struct graph *g,
		  struct spent_calls *out, struct strv *warn)
{
	struct metrics l = { NULL, 0, 0 };
	struct oidset own = OIDSET_INIT, unsettled = OIDSET_INIT;

	memset(out, 0, sizeof(*out));
	own_calls(g, &own);
	journal_lines(s->repo, s->spec.slug, &l, warn);
	for (size_t i = 0; i < l.nr; i++) {
		struct oid key = call_key(l.v[i].used.id);

		if (oidset_has(&own, &key))
			continue;
		oidset_add(&unsettled, &key);
		add_unsettled(out, &l.v[i]);
	}
	for (uint32_t i = 0; i < g->nr_call; i++) {
		const struct call *c = &g->call[i];
		struct spent_call one = {
			.used = c->used, .step = c->step, .worker = c->worker,
			.claimed = c->claimed, .time = c->time
		};

		if (!has_call(&unsettled, c->used.id))
			add_spent(out, &one);
	}
	sort_spent(out);
	oidset_release(&own);
	oidset_release(&unsettled);
	metrics_release(&l);
}

static bool is_orphan(struct repo *r, const char *slug)
{
	char *ref = store_spec_ref(slug);
	struct err ignored;
	struct oid id;
	bool orphan = repo_ref_read(r, ref, &id, &ignored) == ERR_NOTFOUND;

	free(ref);
	return orphan;
}

void journal_orphans(struct repo *r, struct strv *slugs)
{
	char *path = xasprintf("%smaxkernel/log", repo_gitdir(r));
	DIR *d = opendir(path);

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
		const char *slug = e->d_name + strlen(PREFIX);

		if (!strncmp(e->d_name, PREFIX, strlen(PREFIX)) &&
		    store_slug_ok(slug) && is_orphan(r, slug))
			strv_push(slugs, slug);
	}
	if (d)
		closedir(d);
	free(path);
	strv_sort(slugs);
}

void journal_read_orphan(struct repo *r, const char *slug,
			 struct spent_calls *out, struct strv *warn)
{
	struct metrics l = { NULL, 0, 0 };

	memset(out, 0, sizeof(*out));
	journal_lines(r, slug, &l, warn);
	for (size_t i = 0; i < l.nr; i++)
		add_unsettled(out, &l.v[i]);
	sort_spent(out);
	metrics_release(&l);
}

void spent_calls_release(struct spent_calls *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		free(c->v[i].used.agent);
		free(c->v[i].used.model);
		free(c->v[i].worker);
	}
	free(c->v);
	memset(c, 0, sizeof(*c));
}
