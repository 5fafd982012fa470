/* The script that git finds as a hook. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/out.h"
#include "core/git.h"
#include "core/mem.h"
#include "hooks/hook.h"

#define MARK "# written by 'git maxkernel hook install', and taken away by " \
	"'git maxkernel hook remove'\n"
#define KEPT ".maxkernel-chained"

/*
 * What stands between the program's path and the hook's name.  Both hooks read
 * stdin, the kept one and ours, so it is held; without the program only a
 * push that concerns it is refused.
 */
static const char body[] =
	"input=$(cat; echo x)\n"
	"input=${input%%x}\n"
	"kept=$(dirname \"$0\")/%s" KEPT "\n"
	"if [ -x \"$kept\" ]; then\n"
	"\tprintf %%s \"$input\" | \"$kept\" \"$@\" || exit\n"
	"fi\n"
	"if [ ! -x \"$program\" ]; then\n"
	"\tcase $input in *maxkernel/*) ;; *) exit 0 ;; esac\n"
	"\techo \"%s: '$program' is gone; install git-maxkernel again and run\" \\\n"
	"\t\t\"'git maxkernel hook install', or remove '$0'\" >&2\n"
	"\texit 1\n"
	"fi\n"
	"printf %%s \"$input\" | \"$program\" hook run -- %s \"$@\"\n";

/* ---- paths ---- */

/* As git finds it: core.hooksPath, from where a hook is run. */
static int hooks_dir(struct repo *r, char **out, struct err *err)
{
	const char *top = repo_workdir(r) ? repo_workdir(r) : repo_gitdir(r);
	struct buf path = BUF_INIT;
	struct strv args = STRV_INIT;
	int ret = 0;

	if (repo_config_str(r, "core.hooksPath", &path)) {
		buf_reset(&path);
		strv_push(&args, "config");
		strv_push(&args, "--type=path");
		strv_push(&args, "--get");
		strv_push(&args, "core.hooksPath");
		ret = git_call(r, &args, &path, err);
		while (path.len && path.ptr[path.len - 1] == '\n')
			path.ptr[--path.len] = '\0';
	}
	if (!ret && !path.len)
		*out = xasprintf("%shooks", repo_gitdir(r));
	else if (!ret && *path.ptr == '/')
		*out = xstrdup(path.ptr);
	else if (!ret)
		*out = xasprintf("%s%s", top, path.ptr);
	buf_release(&path);
	strv_release(&args);
	return ret;
}

static int make_dir(const char *path, struct err *err)
{
	char *part = xstrdup(path);
	int ret = 0;

	for (char *p = part + 1; !ret; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			ret = err_sys(err, "cannot create '%s'", part);
		*p = c;
		if (!c)
			break;
	}
	free(part);
	return ret;
}

static int own_path(char **out, struct err *err)
{
	*out = realpath("/proc/self/exe", NULL);
	if (!*out)
		return err_sys(err, "cannot find out where this program is");
	if (!strchr(*out, '\n'))
		return 0;
	free(*out);
	return err_set(err, ERR_FORMAT, "the path of this program holds a line "
		       "break");
}

/* 1: written by us; 0: somebody's; ERR_NOTFOUND: nothing there. */
static int whose(const char *path, struct err *err)
{
	struct buf b = BUF_INIT;
	struct stat st;
	int ret;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? ERR_NOTFOUND :
			err_sys(err, "cannot look at '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_FORMAT, "'%s' is a folder", path);
	if (!S_ISREG(st.st_mode))
		return 0;
	ret = buf_read_file(&b, path, 64u << 10, err);
	ret = ret ? 0 : strstr(b.ptr, MARK) != NULL;
	buf_release(&b);
	err->code = ERR_NONE;
	return ret;
}

/* ---- writing ---- */

static void add_quoted(struct buf *b, const char *s)
{
	buf_addch(b, '\'');
	for (; *s; s++)
		if (*s == '\'')
			buf_addstr(b, "'\\''");
		else
			buf_addch(b, *s);
	buf_addch(b, '\'');
}

static int write_script(const char *path, const struct hook *h,
			struct err *err)
{
	struct buf b = BUF_INIT;
	char *program, *tmp;
	int ret = own_path(&program, err);

	if (ret < 0)
		return ret;
	tmp = xasprintf("%s.maxkernel-new", path);
	buf_addstr(&b, "#!/bin/sh\n" MARK "program=");
	add_quoted(&b, program);
	buf_addch(&b, '\n');
	buf_addf(&b, body, h->name, h->name, h->name);
	ret = buf_write_file(tmp, b.ptr, b.len, err);
	if (!ret && (chmod(tmp, 0755) < 0 || rename(tmp, path) < 0)) {
		ret = err_sys(err, "cannot write '%s'", path);
		unlink(tmp);
	}
	buf_release(&b);
	free(tmp);
	free(program);
	return ret;
}

/* A hook that is there becomes the kept one. */
static int keep(const char *path, const char *kept, bool force,
		struct err *err)
{
	struct stat st;
	int ret = whose(path, err);

	if (ret == ERR_NOTFOUND || ret == 1)
		return 0;
	if (ret < 0)
		return ret;
	if (lstat(kept, &st) == 0 && !force)
		return err_set(err, ERR_USAGE, "there is a hook '%s' and one "
			       "that was kept earlier, '%s'; with --force the "
			       "former takes the latter's place", path, kept);
	if (rename(path, kept) < 0)
		return err_sys(err, "cannot rename '%s'", path);
	if (access(kept, X_OK) == 0)
		say("kept: %s, which is called first", kept);
	else
		say("kept: %s; it is not executable, so that it is not called",
		    kept);
	return 0;
}

int hook_install(struct repo *r, const struct hook *h, bool force,
		 struct err *err)
{
	char *dir, *path, *kept;
	int ret = hooks_dir(r, &dir, err);

	if (ret < 0)
		return ret;
	path = xasprintf("%s/%s", dir, h->name);
	kept = xasprintf("%s" KEPT, path);
	ret = make_dir(dir, err);
	if (!ret)
		ret = keep(path, kept, force, err);
	if (!ret)
		ret = write_script(path, h, err);
	if (!ret)
		say("installed: %s", path);
	free(dir);
	free(path);
	free(kept);
	return ret;
}

int hook_remove(struct repo *r, const struct hook *h, struct err *err)
{
	char *dir, *path, *kept;
	struct stat st;
	int ret = hooks_dir(r, &dir, err);

	if (ret < 0)
		return ret;
	path = xasprintf("%s/%s", dir, h->name);
	kept = xasprintf("%s" KEPT, path);
	ret = whose(path, err);
	if (ret == ERR_NOTFOUND)
		ret = 0;
	if (ret == 1) {
		bool had = lstat(kept, &st) == 0;

		if (had ? rename(kept, path) < 0 : unlink(path) < 0)
			ret = err_sys(err, "cannot remove '%s'", path);
		else
			say(had ? "removed: %s; the hook that was kept is back"
			    : "removed: %s", path);
	}
	free(dir);
	free(path);
	free(kept);
	return ret;
}
