/* Refs moved by compare and swap, durability, the lock around a batch. */
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
#define FLOCK_WAIT_MS 60000

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
	    time(NULL) - one.st_mtim.tv_sec < min_age_s)
		goto out;
	sleep_ms(100);
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

/* Is the ref elsewhere than where the caller believed it? */
static bool has_moved(struct repo *r, const char *name, const struct oid *old)
{
	struct err ignored;
	struct oid now;
	int rc = repo_ref_read(r, name, &now, &ignored);

	if (rc == ERR_NOTFOUND)
		return old != NULL;
	return rc == 0 && (!old || !oid_eq(&now, old));
}

static int cas(struct repo *r, const char *name, const struct oid *old,
	       const struct oid *new, const char *reflog, struct err *err)
{
	long waited = 0, pause = 1;
	int rc;

	for (;;) {
		rc = cas_once(r, name, old, new, reflog);
		if (rc != GIT_ELOCKED || waited >= LOCK_WAIT_MS)
			break;
		if (waited >= 200 && clear_lock(r, name, LOCK_STALE_S))
			continue;
		sleep_ms(pause);
		waited += pause;
		pause = pause < 100 ? pause * 2 : 100;
	}
	if (!rc)
		return 0;
	if (rc == GIT_ELOCKED)
		return err_set(err, ERR_GIT, "'%s' is locked by '%s%s.lock'; "
			       "remove that file if no git process is using "
			       "the repository", name, r->gitdir, name);
	if (has_moved(r, name, old))
		return err_set(err, ERR_RACE, "'%s' was moved by another "
			       "process", name);
	return repo_err(err, rc, "cannot move '%s'", name);
}

int repo_ref_cas(struct repo *r, const char *name, const struct oid *old,
		 const struct oid *new, const char *reflog, struct err *err)
{
	int ret;

	if (old && oid_is_zero(old))
		old = NULL;
	intent_write(r, name);
	ret = cas(r, name, old, new, reflog, err);
	intent_clear(r);
	if (ret == ERR_NOTFOUND)
		err->code = ret = ERR_GIT;
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

/* ---- durability and the lock ---- */

int repo_sync(struct repo *r, struct err *err)
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
		if (waited >= FLOCK_WAIT_MS)
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
