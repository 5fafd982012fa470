/*
 * Keeping the object store in shape while a search writes: loose objects go
 * into packs of which each is at least twice the next (git repack
 * --geometric), so that their number grows with the logarithm of what there
 * is.  `git gc --auto` would let 50 packs pile up first, and every object
 * written through libgit2 looks into each of them.  Nothing is thrown away
 * here.  Whoever has turned gc off (gc.auto 0, maintenance.auto false) is left
 * alone.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/git.h"
#include "core/mem.h"
#include "core/store_parts.h"

#define TIDY_BATCHES 64u	/* between two looks */
#define LOOSE_DEFAULT 6700	/* git's own, gc.auto */
#define USAGE_STATUS 129	/* an old git: it does not know the option */

/* As git estimates it: one of the 256 folders stands for all. */
static bool many_loose(struct repo *r, int64_t limit)
{
	char *path = xasprintf("%sobjects/17", repo_gitdir(r));
	DIR *d = opendir(path);
	int64_t nr = 0, most = (limit + 255) / 256;
	struct dirent *e;

	free(path);
	if (!d)
		return false;
	for (e = readdir(d); e && nr <= most; e = readdir(d))
		nr += strlen(e->d_name) == OID_HEX - 2;
	closedir(d);
	return nr > most;
}

static bool is_wanted(struct repo *r)
{
	int64_t limit = repo_config_int(r, "gc.auto", LOOSE_DEFAULT);

	return limit > 0 && many_loose(r, limit) &&
	       repo_config_bool(r, "maintenance.auto", true);
}

static int run_git(struct repo *r, const char *const *word, int *status)
{
	struct git_run run = { .args = NULL };
	struct strv args = STRV_INIT;
	struct err ignored = ERR_INIT;
	int ret;

	for (; *word; word++)
		strv_push(&args, *word);
	run.args = &args;
	ret = git_run(r, &run, &ignored);
	*status = ret ? -1 : run.status;
	git_run_release(&run);
	strv_release(&args);
	return ret;
}

/* What goes wrong here is told by the next git gc; no search ends of it. */
static void pack(struct repo *r)
{
	static const char *const geometric[] = {
		"repack", "-d", "-l", "-q", "--geometric=2", NULL
	};
	static const char *const gc[] = { "gc", "--auto", "--quiet", NULL };
	struct buf unused = BUF_INIT;
	int status = USAGE_STATUS;

	/* Packs of promised objects are more than --geometric can handle. */
	if (!repo_config_str(r, "extensions.partialclone", &unused))
		run_git(r, geometric, &status);
	if (status == USAGE_STATUS)
		run_git(r, gc, &status);
	buf_release(&unused);
}

void store_tidy(struct search *s, bool last)
{
	char *path;
	int fd;

	if (!last && ++s->batches % TIDY_BATCHES)
		return;
	if (!s->batches || !is_wanted(s->repo))
		return;
	path = xasprintf("%smaxkernel/tidy.lock", repo_gitdir(s->repo));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	free(path);
	/* Whoever holds it does the work for all. */
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		pack(s->repo);
	if (fd >= 0)
		close(fd);
}
