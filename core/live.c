/* What runs: saying so, and asking it to halt; live_read.c looks. */
#include "core/live_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

/* ---- names ---- */

void live_name(const char *slug, int slot, const char *tail,
	       char out[LIVE_MAX_NAME])
{
	if (slot > 1)
		snprintf(out, LIVE_MAX_NAME, "%s.%d%s", slug, slot, tail);
	else
		snprintf(out, LIVE_MAX_NAME, "%s%s", slug, tail);
}

int live_dir(struct repo *r, bool make, struct err *err)
{
	char *top = xasprintf("%smaxkernel", repo_gitdir(r));
	char *path = xasprintf("%s/run", top);
	int fd;

	if (make && ((mkdir(top, 0777) < 0 && errno != EEXIST) ||
		     (mkdir(path, 0777) < 0 && errno != EEXIST)))
		fd = -1;
	else
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			  O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		err_set(err, ERR_NOTFOUND, "there is no '%s'", path);
	else if (fd < 0)
		err_sys(err, "cannot open '%s'", path);
	free(path);
	free(top);
	return fd;
}

/* ---- writing ---- */

/* No fsync: after a power cut nothing runs. */
static int write_new(int dir, const char *name, const struct buf *text)
{
	const char *p = text->ptr;
	size_t left = text->len;
	ssize_t n = 0;
	int fd;

	unlinkat(dir, name, 0);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	while (left && n >= 0) {
		n = write(fd, p, left);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n > 0) {
			p += n;
			left -= (size_t)n;
		}
	}
	if (close(fd) < 0 || n < 0) {
		unlinkat(dir, name, 0);
		return -1;
	}
	return 0;
}

int live_write(struct repo *r, const char *slug, int slot,
	       const struct live_state *s, struct err *err)
{
	char name[LIVE_MAX_NAME], fresh[LIVE_MAX_NAME];
	struct buf text = BUF_INIT;
	int dir = live_dir(r, true, err), ret = 0;

	if (dir < 0)
		return err->code;
	live_name(slug, slot, "", name);
	live_name(slug, slot, ".new", fresh);
	live_format(&text, s);
	if (write_new(dir, fresh, &text) < 0 ||
	    renameat(dir, fresh, dir, name) < 0)
		ret = err_sys(err, "cannot write '%smaxkernel/run/%s'",
			      repo_gitdir(r), name);
	buf_release(&text);
	close(dir);
	return ret;
}

static void remove_one(struct repo *r, const char *slug, int slot,
		       const char *tail)
{
	struct err unused = ERR_INIT;
	char name[LIVE_MAX_NAME];
	int dir = live_dir(r, false, &unused);

	if (dir < 0)
		return;
	live_name(slug, slot, tail, name);
	if (unlinkat(dir, name, 0) < 0 && errno == EISDIR)
		unlinkat(dir, name, AT_REMOVEDIR);
	close(dir);
}

void live_clear(struct repo *r, const char *slug, int slot)
{
	remove_one(r, slug, slot, "");
	remove_one(r, slug, slot, ".halt");
}

/* ---- halting ---- */

int live_ask_halt(struct repo *r, const char *slug, int slot, struct err *err)
{
	char name[LIVE_MAX_NAME];
	int dir = live_dir(r, true, err), fd;

	if (dir < 0)
		return err->code;
	live_name(slug, slot, ".halt", name);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
		    O_CLOEXEC, 0666);
	/* Whatever has the name already, it asks. */
	if (fd < 0 && errno != EEXIST && errno != ELOOP && errno != ENXIO &&
	    errno != EISDIR)
		err_sys(err, "cannot create '%smaxkernel/run/%s'",
			repo_gitdir(r), name);
	else
		err->code = ERR_NONE;
	if (fd >= 0)
		close(fd);
	close(dir);
	return err->code;
}

void live_unask(struct repo *r, const char *slug, int slot)
{
	remove_one(r, slug, slot, ".halt");
}

bool live_is_asked(struct repo *r, const char *slug, int slot)
{
	char name[LIVE_MAX_NAME], *path;
	struct stat st;
	bool asked;

	live_name(slug, slot, ".halt", name);
	path = xasprintf("%smaxkernel/run/%s", repo_gitdir(r), name);
	asked = !lstat(path, &st);
	free(path);
	return asked;
}
