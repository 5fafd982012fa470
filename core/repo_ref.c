/* Refs moved by compare and swap, durability, the lock around a batch. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/git.h"
#include "core/mem.h"
#include "core/repo_parts.h"

#define LOCK_STALE_S 60
#define LOCK_WAIT_MS 10000
#define ODD_WAIT_MS 1000
#define FLOCK_WAIT_MS 60000
#define GC_WAIT_MS 600000
#define GC_LOOK_MS 5
#define MAX_GCS 20		/* one after the other, waited for */

/* ---- refs ---- */

int repo_ref_read(struct repo *r, const char *name, struct oid *out,
		  struct err *err)
{
	git_oid id;
	int rc = git_reference_name_to_id(&id, r->g, name);

	if (rc == GIT_ENOTFOUND)
		return err_set(err, ERR_NOTFOUND, "there is no '%s'", name);
	if (rc < 0)
		return repo_err(err, rc, "cannot read '%s'", name);
	from_git(out, &id);
	return 0;
}

static void sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Whoever made it went down with the machine. */
static bool before_boot(const struct stat *st)
{
	struct timespec up;

	return clock_gettime(CLOCK_BOOTTIME, &up) == 0 &&
	       st->st_mtim.tv_sec < time(NULL) - up.tv_sec - 1;
}

/*
 * Moves the lock of a process that died away from a ref.  The second look
 * and the check after the rename keep it from taking a live one.
 */
static bool clear_lock(struct repo *r, const char *name, int min_age_s)
{
	char *lock = xasprintf("%s%s.lock", r->gitdir, name);
	char *grave = xasprintf("%smaxkernel/stale-lock.%ld", r->gitdir,
				(long)getpid());
	struct stat one, two;
	bool done = false;

	if (stat(lock, &one) < 0 || !S_ISREG(one.st_mode) ||
	    (time(NULL) - one.st_mtim.tv_sec < min_age_s &&
	     !before_boot(&one)))
		goto out;
	sleep_ms(min_age_s ? 10 : 100);
	if (stat(lock, &two) < 0 || !same_file(&one, &two) ||
	    rename(lock, grave) < 0)
		goto out;
	if (stat(grave, &two) == 0 && !same_file(&one, &two)) {
		if (link(grave, lock) < 0)
			fprintf(stderr, "warning: took away a live lock "
				"'%s'\n", lock);
	} else {
		fprintf(stderr, "warning: removed '%s', left by a process "
			"that died\n", lock);
		done = true;
	}
	unlink(grave);
out:
	free(lock);
	free(grave);
	return done;
}

static size_t clear_below(struct repo *r, const char *name, int depth)
{
	char *path = xasprintf("%s%s", r->gitdir, name);
	DIR *d = depth < REPO_MAX_DEPTH ? opendir(path) : NULL;
	struct dirent *e;
	size_t nr = 0;

	for (e = d ? readdir(d) : NULL; e; e = readdir(d)) {
		size_t len = strlen(e->d_name);
		char *below;

		if (*e->d_name == '.')
			continue;
		below = xasprintf("%s/%s", name, e->d_name);
		if (len > 5 && !strcmp(e->d_name + len - 5, ".lock")) {
			below[strlen(below) - 5] = '\0';
			nr += clear_lock(r, below, LOCK_STALE_S);
		} else if (e->d_type == DT_DIR) {
			nr += clear_below(r, below, depth + 1);
		}
		free(below);
	}
	if (d)
		closedir(d);
	free(path);
	return nr;
}

size_t repo_ref_clear_locks(struct repo *r, const char *folder)
{
	return clear_below(r, folder, 0);
}

/* The lock file says which ref its holder is moving: what stands there when
 * we take the lock was left by a process that died in it. */
static void intent_write(struct repo *r, const char *name)
{
	size_t len = strlen(name);

	if (!r->lock_depth)
		return;
	if (pwrite(r->lock_fd, name, len, 0) != (ssize_t)len)
		return;		/* then the age of the lock has to do */
}

static void intent_clear(struct repo *r)
{
	if (r->lock_depth && ftruncate(r->lock_fd, 0) < 0)
		return;
}

static void intent_recover(struct repo *r)
{
	char name[512];
	ssize_t n = pread(r->lock_fd, name, sizeof(name) - 1, 0);

	if (n <= 0)
		return;
	name[n] = '\0';
	if (git_reference_is_valid_name(name))
		clear_lock(r, name, 0);
	intent_clear(r);
}

/* ---- durability ---- */

static int sync_objects(struct repo *r, struct err *err)
{
	if (r->sync_fd < 0) {
		char *dir = xasprintf("%sobjects", r->gitdir);

		r->sync_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (r->sync_fd < 0)
			err_sys(err, "cannot open '%s'", dir);
		free(dir);
		if (r->sync_fd < 0)
			return err->code;
	}
	if (syncfs(r->sync_fd) < 0)
		return err_sys(err, "cannot write '%sobjects' to disk",
			       r->gitdir);
	return 0;
}

/* A ref was moved.  A gc that runs may not have seen it: what it takes away
 * is put back at once. */
static int settle(struct repo *r, struct err *err)
{
	bool lost, again;

	do {
		again = repo_gc_wait(r, GC_LOOK_MS);
		lost = false;
		if (!again && recent_seen(r))
			break;
		if (recent_check(r, &lost, err) < 0 ||
		    (lost && sync_objects(r, err) < 0))
			return err->code;
	} while (again);
	recent_settled(r);
	return 0;
}

int repo_sync(struct repo *r, struct err *err)
{
	for (int gc = 0; gc < MAX_GCS; gc++) {
		bool lost, waited;

		if (recent_check(r, &lost, err) < 0 ||
		    sync_objects(r, err) < 0)
			return err->code;
		/* one may have come and gone while we wrote to the disk */
		waited = repo_gc_wait(r, GC_WAIT_MS);
		if (!waited && recent_seen(r))
			break;
		if (recent_check(r, &lost, err) < 0)
			return err->code;
		if (!waited && !lost)
			break;
	}
	return 0;
}

/* ---- compare and swap ---- */

static int cas_once(struct repo *r, const char *name, const struct oid *old,
		    const struct oid *new, const char *reflog)
{
	static const git_oid zero;
	git_reference *ref = NULL;
	int rc = git_reference_create_matching(&ref, r->g, name, as_git(new),
					       1, old ? as_git(old) : &zero,
					       reflog);

	git_reference_free(ref);
	return rc;
}

enum where { AT_OLD, AT_NEW, ELSEWHERE };

/* An absent ref is at old when that is NULL. */
static enum where ref_where(struct repo *r, const char *name,
			    const struct oid *old, const struct oid *new)
{
	struct err ignored;
	struct oid now;
	int rc = repo_ref_read(r, name, &now, &ignored);

	if (rc == ERR_NOTFOUND)
		return old ? ELSEWHERE : AT_OLD;
	if (rc < 0)
		return AT_OLD;
	if (oid_eq(&now, new))
		return AT_NEW;
	return old && oid_eq(&now, old) ? AT_OLD : ELSEWHERE;
}

/*
 * Tries while something else holds the lock.  Where the ref is at old, other
 * failures are tried again, too, if not as long: they come of a pack-refs, a
 * gc or a prune that goes on beside us.
 */
static int cas(struct repo *r, const char *name, const struct oid *old,
	       const struct oid *new, const char *reflog, struct err *err)
{
	long waited = 0, pause = 1;
	enum where at = AT_OLD;
	bool ignored;
	int rc, ret;

	for (;;) {
		rc = cas_once(r, name, old, new, reflog);
		if (!rc)
			return 0;
		ret = repo_err(err, rc, "cannot move '%s'", name);
		if (rc != GIT_ELOCKED) {
			at = ref_where(r, name, old, new);
			if (at != AT_OLD || waited >= ODD_WAIT_MS ||
			    recent_check(r, &ignored, err) < 0)
				break;
		} else if (waited >= LOCK_WAIT_MS) {
			break;
		} else if (waited >= 200 && clear_lock(r, name,
						       LOCK_STALE_S)) {
			continue;
		}
		sleep_ms(pause);
		waited += pause;
		pause = pause < 100 ? pause * 2 : 100;
	}
	if (at == AT_NEW)	/* moved before it failed */
		return 0;
	if (rc == GIT_ELOCKED)
		return err_set(err, ERR_GIT, "'%s' is locked by '%s%s.lock'; "
			       "remove that file if no git process is using "
			       "the repository", name, r->gitdir, name);
	return at == ELSEWHERE ? err_set(err, ERR_RACE, "'%s' was moved by "
					 "another process", name) : ret;
}

int repo_ref_cas(struct repo *r, const char *name, const struct oid *old,
		 const struct oid *new, const char *reflog, struct err *err)
{
	int ret = repo_lock(r, err);

	if (ret)
		return ret;
	if (old && oid_is_zero(old))
		old = NULL;
	intent_write(r, name);
	ret = cas(r, name, old, new, reflog, err);
	intent_clear(r);
	if (ret == ERR_NOTFOUND)
		err->code = ret = ERR_GIT;
	if (!ret)
		ret = settle(r, err);
	repo_unlock(r);
	return ret;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int repo_ref_each(struct repo *r, const char *prefix,
		  int (*fn)(void *ctx, const char *name,
			    const struct oid *id), void *ctx,
		  struct err *err)
{
	char *glob = xasprintf("%s*", prefix);
	struct strv names = STRV_INIT;
	git_reference_iterator *it;
	const char *name;
	int rc = git_reference_iterator_glob_new(&it, r->g, glob);

	free(glob);
	if (rc < 0)
		return repo_err(err, rc, "cannot list '%s'", prefix);
	for (;;) {
		rc = git_reference_next_name(&name, it);
		if (rc < 0)
			break;
		if (!strncmp(name, prefix, strlen(prefix)))
			strv_push(&names, name);
	}
	git_reference_iterator_free(it);
	if (rc != GIT_ITEROVER) {
		strv_release(&names);
		return repo_err(err, rc, "cannot list '%s'", prefix);
	}
	if (names.nr > 1)
		qsort(names.v, names.nr, sizeof(*names.v), by_text);
	rc = 0;
	for (size_t i = 0; !rc && i < names.nr; i++) {
		git_oid id;
		struct oid oid;

		if (git_reference_name_to_id(&id, r->g, names.v[i]) < 0)
			continue;	/* went away, or points nowhere */
		from_git(&oid, &id);
		rc = fn(ctx, names.v[i], &oid);
	}
	strv_release(&names);
	return rc;
}

bool repo_branch_in_use(struct repo *r, const char *name)
{
	git_reference *ref;
	bool used;

	if (git_reference_lookup(&ref, r->g, name) < 0)
		return false;
	used = git_branch_is_checked_out(ref) == 1;
	git_reference_free(ref);
	return used;
}

/* ---- the lock ---- */

static int lock_open(struct repo *r, struct err *err)
{
	char *dir = xasprintf("%smaxkernel", r->gitdir);
	char *path = xasprintf("%s/lock", dir);

	if (mkdir(dir, 0777) < 0 && errno != EEXIST) {
		err_sys(err, "cannot create '%s'", dir);
	} else {
		r->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC |
				  O_NOFOLLOW, 0666);
		if (r->lock_fd < 0)
			err_sys(err, "cannot create '%s'", path);
	}
	free(dir);
	free(path);
	return r->lock_fd < 0 ? (int)err->code : 0;
}

int repo_lock(struct repo *r, struct err *err)
{
	long waited = 0;

	if (r->lock_depth) {
		r->lock_depth++;
		return 0;
	}
	if (r->lock_fd < 0 && lock_open(r, err) < 0)
		return err->code;
	while (flock(r->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(err, "cannot lock '%smaxkernel/lock'",
				       r->gitdir);
		if (waited >= FLOCK_WAIT_MS && repo_gc_runs(r))
			waited = 0;	/* its holder waits for that */
		else if (waited >= FLOCK_WAIT_MS)
			return err_set(err, ERR_LIMIT, "another git maxkernel "
				       "has held '%smaxkernel/lock' for %d s",
				       r->gitdir, FLOCK_WAIT_MS / 1000);
		sleep_ms(waited < 20 ? 1 : 10);
		waited += waited < 20 ? 1 : 10;
	}
	r->lock_depth = 1;
	intent_recover(r);
	return 0;
}

void repo_unlock(struct repo *r)
{
	if (r->lock_depth && --r->lock_depth == 0)
		flock(r->lock_fd, LOCK_UN);
}
