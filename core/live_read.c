/* What runs, as it is told by claims and by the files of live.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/live_parts.h"
#include "core/mem.h"
#include "core/store_parts.h"

#define MAX_LOCKS (1u << 20)	/* bytes of /proc/locks */
#define MAX_FOUND 4096		/* searches that run at once */
#define PROGRAM "git-maxkernel"	/* as /proc/<pid>/comm has it */

/* ---- what was said ---- */

static void set_empty(struct live_state *s, const char *slug, int slot)
{
	memset(s, 0, sizeof(*s));
	s->slot = slot;
	s->best = 1;
	snprintf(s->search, sizeof(s->search), "%s", slug);
}

/* What the process said, or nothing that can be believed. */
static void read_state(struct repo *r, const char *slug, int slot,
		       struct live_state *out)
{
	struct err unused = ERR_INIT;
	struct buf text = BUF_INIT;
	struct stat st;
	char name[LIVE_MAX_NAME];
	int dir = live_dir(r, false, &unused), fd = -1, ret = -1;

	set_empty(out, slug, slot);
	live_name(slug, slot, "", name);
	if (dir >= 0)
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
			    O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    st.st_size <= (off_t)LIVE_MAX_FILE)
		ret = buf_read_fd(&text, fd, LIVE_MAX_FILE, &unused);
	if (!ret)
		ret = live_parse(text.ptr, text.len, out, &unused);
	if (ret)
		set_empty(out, slug, slot);
	buf_release(&text);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
}

/* ---- whose the claim is ---- */

/*
 * The process that holds an exclusive flock on a file, by /proc/locks; 0: not
 * known, as where the file system gives the kernel other numbers.
 */
static long holder_of(const struct stat *st)
{
	struct err unused = ERR_INIT;
	struct buf text = BUF_INIT;
	char *p, *line, want[64];
	long pid = 0;

	snprintf(want, sizeof(want), "%02x:%02x:%llu", major(st->st_dev),
		 minor(st->st_dev), (unsigned long long)st->st_ino);
	if (buf_read_file(&text, "/proc/locks", MAX_LOCKS, &unused))
		buf_reset(&text);
	p = text.ptr;
	for (line = strsep(&p, "\n"); line && !pid; line = strsep(&p, "\n")) {
		char kind[16], mode[16], where[64];
		long by;

		if (sscanf(line, "%*s %15s %*s %15s %ld %63s", kind, mode, &by,
			   where) == 4 && !strcmp(kind, "FLOCK") &&
		    !strcmp(mode, "WRITE") && !strcmp(where, want) && by > 0)
			pid = by;
	}
	buf_release(&text);
	return pid;
}

/* Can it be the process that runs the search? */
static bool is_ours(long pid)
{
	struct err unused = ERR_INIT;
	struct buf comm = BUF_INIT;
	char path[64];
	bool yes = false;

	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return false;
	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	yes = buf_read_file(&comm, path, 64, &unused) ||
	      !strcmp(comm.ptr, PROGRAM "\n");
	buf_release(&comm);
	return yes;
}

/*
 * 1: held.  The shared lock is taken for a moment, which store_claim() bears
 * with.
 */
static int is_held(struct repo *r, const char *slug, int slot, long *holder,
		   struct err *err)
{
	char name[LIVE_MAX_NAME];
	char *path;
	struct stat st;
	int fd, held = 0;

	live_name(slug, slot, ".lock", name);
	path = xasprintf("%smaxkernel/log/%s", repo_gitdir(r), name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	*holder = 0;
	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		held = err_sys(err, "cannot look at '%s'", path);
	else if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0)
		held = errno == EWOULDBLOCK;
	if (held > 0 && !fstat(fd, &st))
		*holder = holder_of(&st);
	if (fd >= 0)
		close(fd);
	free(path);
	return held;
}

int live_read(struct repo *r, const char *slug, int slot,
	      struct live_state *out, struct err *err)
{
	long holder;
	int ret;

	set_empty(out, slug, slot);
	ret = is_held(r, slug, slot, &holder, err);
	if (ret <= 0)
		return ret;
	read_state(r, slug, slot, out);
	/* A file may be left of a process that was killed. */
	if (holder ? out->pid != holder : out->pid && !is_ours(out->pid))
		set_empty(out, slug, slot);
	if (holder)
		out->pid = holder;
	return 1;
}

/* "<slug>[.<slot>].lock", as store_claim() names it. */
static bool parse_lock(const char *name, char slug[64], int *slot)
{
	const char *end = strchr(name, '.');
	char *rest;
	long n = 1;

	if (!end || end - name >= 64)
		return false;
	memcpy(slug, name, (size_t)(end - name));
	slug[end - name] = '\0';
	if (end[1] >= '1' && end[1] <= '9') {
		n = strtol(end + 1, &rest, 10);
		end = rest;
		if (n < 2 || n > STORE_MAX_SLOTS)
			return false;
	}
	*slot = (int)n;
	return !strcmp(end, ".lock") && store_slug_ok(slug);
}

static int by_name(const void *a, const void *b)
{
	const struct live_state *x = a, *y = b;
	int order = strcmp(x->search, y->search);

	return order ? order : x->slot - y->slot;
}

int live_find(struct repo *r, const char *slug, struct live_list *out,
	      struct err *err)
{
	char *path = xasprintf("%smaxkernel/log", repo_gitdir(r));
	DIR *d = opendir(path);
	struct dirent *e;
	int ret = 0;

	if (!d && errno != ENOENT && errno != ENOTDIR)
		ret = err_sys(err, "cannot open '%s'", path);
	free(path);
	while (d && !ret && out->nr < MAX_FOUND) {
		char name[64];
		int slot;

		e = readdir(d);
		if (!e)
			break;
		if (!parse_lock(e->d_name, name, &slot) ||
		    (slug && strcmp(slug, name) != 0))
			continue;
		GROW(out->v, out->nr, out->cap);
		ret = live_read(r, name, slot, &out->v[out->nr], err);
		if (ret > 0)
			out->nr++;
		ret = ret < 0 ? ret : 0;
	}
	if (d)
		closedir(d);
	if (out->nr)
		qsort(out->v, out->nr, sizeof(*out->v), by_name);
	return ret;
}

void live_list_release(struct live_list *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}

const struct live_state *live_of(const struct live_list *l, const char *slug)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].search, slug))
			return &l->v[i];
	return NULL;
}
