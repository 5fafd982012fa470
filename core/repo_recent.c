/*
 * What the user's own `git gc --prune=now` would take away: objects that were
 * written before a ref led to them.  Git gives no other defence, so we wait
 * while a gc runs before refs are moved, and what was written is looked for,
 * and written again if it is gone, before and after that and for a while
 * longer (`git prune` takes no lock that could be waited for).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/repo_parts.h"

#define PUT_TRIES 8
#define RECENT_S 10		/* kept in mind after a ref led to it */
#define RECENT_LOOK_S 3		/* between looks for those */
#define RECENT_SEEN_MS 20
#define RECENT_BYTES (64u << 20)
#define GC_STALE_S (12 * 3600)	/* git's own limit, of another host */
#define GC_WAIT_S 600
#define GC_MAX_TEXT 256

struct recent {
	struct oid id;
	git_object_t type;
	size_t len;
	void *data;
	int64_t until;		/* 0: no ref was moved since */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t now_s(void)
{
	return now_ms() / 1000;
}

/* ---- objects ---- */

/*
 * Writes what is in no pack and not loose.  Git removes folders that are
 * empty, and may do so between our mkdir() and rename().
 */
int object_put(struct repo *r, const void *data, size_t len,
	       git_object_t type, struct oid *out, struct err *err)
{
	struct timespec pause = { 0, 1000000 };
	git_oid id;
	int rc = -1;

	for (int try = 0; rc < 0 && try < PUT_TRIES; try++) {
		if (try)
			nanosleep(&pause, NULL);
		rc = git_odb_write(&id, r->odb, data, len, type);
	}
	if (rc < 0)
		return repo_err(err, rc, "cannot write a %s into '%sobjects'",
			       git_object_type2string(type), r->gitdir);
	from_git(out, &id);
	return 0;
}

static void drop(struct repo *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		r->recent_bytes -= r->recent[i].len;
		free(r->recent[i].data);
	}
	r->nr_recent -= nr;
	r->fresh_recent -= r->fresh_recent < nr ? r->fresh_recent : nr;
	if (r->nr_recent)
		memmove(r->recent, r->recent + nr,
			r->nr_recent * sizeof(*r->recent));
}

void recent_add(struct repo *r, const struct oid *id, git_object_t type,
		const void *data, size_t len)
{
	struct recent *x;

	if (len > RECENT_BYTES)
		return;
	while (r->nr_recent && r->recent_bytes + len > RECENT_BYTES)
		drop(r, (r->nr_recent + 1) / 2);
	if (r->moved_recent)
		r->fresh_recent = r->nr_recent;
	r->moved_recent = false;
	r->seen_recent_ms = 0;
	GROW(r->recent, r->nr_recent, r->cap_recent);
	x = &r->recent[r->nr_recent++];
	*x = (struct recent){ *id, type, len, xmalloc(len ? len : 1), 0 };
	if (len)
		memcpy(x->data, data, len);
	r->recent_bytes += len;
}

/* A last look, for what a prune may have taken since the last write. */
void recent_release(struct repo *r)
{
	struct err ignored;
	bool lost;

	r->all_recent = 0;
	if (r->odb && r->gitdir && r->nr_recent)
		recent_check(r, &lost, &ignored);
	drop(r, r->nr_recent);
	free(r->recent);
}

/* The usual case, without a look at every pack; from the folder of objects,
 * since the way to it takes most of the time. */
static bool is_loose(struct repo *r, const struct oid *id)
{
	char path[PATH_MAX];
	struct oid_hex hex = oid_text(id);
	bool near = r->sync_fd >= 0;
	int n = snprintf(path, sizeof(path), "%s%s%.2s/%s",
			 near ? "" : r->gitdir, near ? "" : "objects/", hex.s,
			 hex.s + 2);

	return n > 0 && n < (int)sizeof(path) &&
	       faccessat(near ? r->sync_fd : AT_FDCWD, path, F_OK, 0) == 0;
}

int recent_check(struct repo *r, bool *lost, struct err *err)
{
	int64_t now = now_s();
	size_t i = r->fresh_recent;

	if (now >= r->all_recent + RECENT_LOOK_S || !r->all_recent) {
		i = 0;		/* the older ones now and then */
		r->all_recent = now;
	}
	*lost = false;
	r->seen_recent_ms = now_ms();
	for (; i < r->nr_recent; i++) {
		struct recent *x = &r->recent[i];
		struct oid id;

		if (is_loose(r, &x->id))
			continue;
		if (object_put(r, x->data, x->len, x->type, &id, err) < 0)
			return err->code;
		*lost = true;
	}
	return 0;
}

bool recent_seen(struct repo *r)
{
	return r->seen_recent_ms &&
	       now_ms() - r->seen_recent_ms < RECENT_SEEN_MS;
}

void recent_settled(struct repo *r)
{
	int64_t now = now_s();
	size_t old = 0;

	for (size_t i = 0; i < r->nr_recent; i++)
		if (!r->recent[i].until)
			r->recent[i].until = now + RECENT_S;
	while (old < r->nr_recent && r->recent[old].until < now)
		old++;
	drop(r, old);
	r->moved_recent = true;
}

/* ---- gc ---- */

/* Is the process of this host still there, and git? */
static bool git_lives(long pid)
{
	char path[64];
	struct buf name = BUF_INIT;
	struct err ignored;
	bool other;

	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return false;
	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	other = buf_read_file(&name, path, GC_MAX_TEXT, &ignored) == 0 &&
		strncmp(name.ptr, "git", 3);
	buf_release(&name);
	return !other;
}

/* gc.pid holds "<pid> <host>" while a gc runs. */
static bool gc_runs(struct repo *r, long *pid)
{
	char *path = xasprintf("%sgc.pid", r->gitdir), host[256], ours[256];
	struct buf text = BUF_INIT;
	struct err ignored;
	struct stat st;
	bool runs = false;

	if (stat(path, &st) == 0 &&
	    buf_read_file(&text, path, GC_MAX_TEXT, &ignored) == 0 &&
	    sscanf(text.ptr, "%ld %255s", pid, host) == 2 && *pid > 0) {
		if (gethostname(ours, sizeof(ours)) < 0)
			ours[0] = '\0';
		ours[sizeof(ours) - 1] = '\0';
		runs = strcmp(host, ours) ?
			time(NULL) - st.st_mtim.tv_sec < GC_STALE_S :
			git_lives(*pid);
	}
	buf_release(&text);
	free(path);
	return runs;
}

bool repo_gc_runs(struct repo *r)
{
	long pid;

	return gc_runs(r, &pid);
}

static void tell(struct repo *r, long pid, int64_t waited_s)
{
	if (waited_s >= GC_WAIT_S && !r->gc_given_up) {
		fprintf(stderr, "warning: 'git gc' (process %ld) still runs "
			"after %d s: writing all the same\n", pid, GC_WAIT_S);
		r->gc_given_up = true;
	} else if (waited_s >= 2 && !r->gc_told) {
		fprintf(stderr, "waiting for 'git gc' (process %ld) to end\n",
			pid);
		r->gc_told = true;
	}
}

bool repo_gc_wait(struct repo *r, long max_ms)
{
	long pid, waited = 0, pause = 2;

	while (gc_runs(r, &pid)) {
		struct timespec ts;

		if (!r->gc_since)
			r->gc_since = now_s();
		tell(r, pid, now_s() - r->gc_since);
		if (r->gc_given_up)
			return false;
		if (waited >= max_ms)
			return true;
		ts = (struct timespec){ pause / 1000, pause * 1000000L };
		nanosleep(&ts, NULL);
		waited += pause;
		pause = pause < 64 ? pause * 2 : 64;
	}
	r->gc_since = 0;
	r->gc_told = r->gc_given_up = false;
	return waited > 0;
}
