#include "core/tempdir.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"

#define NAME "git-maxkernel-"
#define YOUNG_S 10

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_DP)
		rmdir(path);
	else
		unlink(path);
	return 0;
}

void tempdir_remove(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/*
 * A folder that nobody locks belongs to no process, on this host or another
 * that shares the disk.  A young one may be about to be locked.
 */
static bool abandoned(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			O_CLOEXEC);
	struct stat st;
	bool free_now;

	if (fd < 0)
		return false;
	free_now = !fstat(fd, &st) && st.st_uid == geteuid() &&
		   time(NULL) - st.st_mtime > YOUNG_S &&
		   !flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return free_now;
}

static void sweep(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d) {
		char *path;

		e = readdir(d);
		if (!e)
			break;
		if (strncmp(e->d_name, NAME, strlen(NAME)) != 0 ||
		    !abandoned(dirfd(d), e->d_name))
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		tempdir_remove(path);
		free(path);
	}
	if (d)
		closedir(d);
}

int tempdir_make(char **out, int *lock, struct err *err)
{
	const char *dir = getenv("TMPDIR");

	if (!dir || *dir != '/')
		dir = "/tmp";
	sweep(dir);
	*out = xasprintf("%s/" NAME "XXXXXX", dir);
	if (!mkdtemp(*out)) {
		err_sys(err, "cannot create a folder like '%s'", *out);
		free(*out);
		*out = NULL;
		return err->code;
	}
	*lock = open(*out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*lock >= 0)
		flock(*lock, LOCK_SH);
	return 0;
}
