#include "core/tempdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

#define NAME "git-maxkernel-"

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

static bool process_gone(const char *name)
{
	char *end;
	long pid = strtol(name + strlen(NAME), &end, 10);

	return pid > 1 && *end == '-' && kill((pid_t)pid, 0) < 0 &&
	       errno == ESRCH;
}

static void sweep(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d) {
		struct stat st;
		char *path;

		e = readdir(d);
		if (!e)
			break;
		if (strncmp(e->d_name, NAME, strlen(NAME)) != 0 ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
		    !process_gone(e->d_name))
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		tempdir_remove(path);
		free(path);
	}
	if (d)
		closedir(d);
}

int tempdir_make(char **out, struct err *err)
{
	const char *dir = getenv("TMPDIR");

	if (!dir || *dir != '/')
		dir = "/tmp";
	sweep(dir);
	*out = xasprintf("%s/" NAME "%ld-XXXXXX", dir, (long)getpid());
	if (mkdtemp(*out))
		return 0;
	err_sys(err, "cannot create a folder like '%s'", *out);
	free(*out);
	*out = NULL;
	return err->code;
}
