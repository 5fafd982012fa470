/*
 * The files of the entries.  Those that came with the program may lie behind
 * symlinks; those of a repository never do, and no more than the caps is read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/knowledge_parts.h"
#include "core/mem.h"
#include "core/paths.h"

static const struct {
	enum entry_kind kind;
	const char *folder;
} folders[] = {
	{ ENTRY_HARDWARE, "hardware" }, { ENTRY_TARGET, "targets" },
	{ ENTRY_STRATEGY, "strategies" }, { ENTRY_HANDBOOK, "handbook" },
};

const char *entry_kind_name(enum entry_kind kind)
{
	static const char *const name[] = {
		"hardware", "target", "strategy", "handbook", "local"
	};

	return name[kind];
}

void files_release(struct entry_files *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		free(f->v[i].name);
		free(f->v[i].path);
		buf_release(&f->v[i].text);
	}
	free(f->v);
	memset(f, 0, sizeof(*f));
}

static bool is_entry_name(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && !strcmp(name + len - 3, ".md") && name[0] != '.' &&
		strcmp(name, "README.md") != 0;
}

static void left_out(struct strv *warn, const char *path, const char *why)
{
	struct buf clean = BUF_INIT;

	buf_add_clean(&clean, path, strlen(path), false);
	strv_pushf(warn, "%s: %s", clean.ptr, why);
	buf_release(&clean);
}

static struct entry_file *add_file(struct entry_files *f, enum entry_kind kind,
				   const char *name, const char *folder)
{
	struct entry_file *one;

	GROW(f->v, f->nr, f->cap);
	one = &f->v[f->nr++];
	one->kind = kind;
	one->name = xstrdup(name);
	one->path = xasprintf("%s/%s", folder, name);
	buf_init(&one->text);
	return one;
}

/* The last one could not be used after all. */
static void drop_file(struct entry_files *f, struct strv *warn,
		      const char *why)
{
	struct entry_file *one = &f->v[--f->nr];

	left_out(warn, one->path, why);
	free(one->name);
	free(one->path);
	buf_release(&one->text);
}

static int read_at(int dir, const char *name, bool follow, struct buf *out,
		   struct err *err)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
			O_NOCTTY | (follow ? 0 : O_NOFOLLOW)), ret;
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_FORMAT, "a symlink is not followed");
	if (fd < 0)
		return err_sys(err, "cannot open");
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		ret = err_set(err, ERR_FORMAT, "not a regular file");
	else
		ret = buf_read_fd(out, fd, KNOWLEDGE_MAX_FILE, err);
	close(fd);
	return ret;
}

/* The names of the entries in a folder, sorted; takes the descriptor. */
static int list_names(int fd, struct strv *names, struct err *err)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;

	if (!d) {
		close(fd);
		return err_sys(err, "cannot read the folder");
	}
	for (;;) {
		e = readdir(d);
		if (!e || names->nr > KNOWLEDGE_MAX_FILES)
			break;
		if (is_entry_name(e->d_name))
			strv_push(names, e->d_name);
	}
	closedir(d);
	strv_sort(names);
	return 0;
}

static size_t bytes(const struct entry_files *f, enum entry_kind kind)
{
	size_t sum = 0;

	for (size_t i = 0; i < f->nr; i++)
		if (f->v[i].kind == kind)
			sum += f->v[i].text.len;
	return sum;
}

static void read_folder(struct entry_files *f, int dir, enum entry_kind kind,
			const char *folder, struct strv *warn)
{
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;
	size_t sum = bytes(f, kind);
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (copy < 0 || list_names(copy, &names, &err))
		left_out(warn, folder, "the folder cannot be read");
	if (names.nr > KNOWLEDGE_MAX_FILES)
		left_out(warn, folder, "more files than are read");
	for (size_t i = 0; i < names.nr && i < KNOWLEDGE_MAX_FILES; i++) {
		struct entry_file *one = add_file(f, kind, names.v[i], folder);

		if (read_at(dir, names.v[i], kind != ENTRY_LOCAL, &one->text,
			    &err)) {
			drop_file(f, warn, err.msg);
			continue;
		}
		sum += one->text.len;
		if (kind == ENTRY_LOCAL && sum > KNOWLEDGE_MAX_LOCAL) {
			drop_file(f, warn, "from here on, more than is read");
			break;
		}
	}
	strv_release(&names);
}

int files_shipped(struct entry_files *f, struct strv *warn, struct err *err)
{
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		char *path = paths_data(folders[i].folder);
		int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (dir >= 0) {
			read_folder(f, dir, folders[i].kind, path, warn);
			close(dir);
			found++;
		}
		free(path);
	}
	if (!found) {
		char *path = paths_data(folders[0].folder);

		err_set(err, ERR_NOTFOUND, "there is no '%s': is git "
			"maxkernel installed, or does MAXKERNEL_DATA say "
			"where its data is?", path);
		free(path);
		return err->code;
	}
	return 0;
}

/* ---- of the repository ---- */

/* Opens the folder of entries; -1 and errno. */
static int open_local(const char *top)
{
	char *names = xstrdup(KNOWLEDGE_LOCAL), *p = names, *slash;
	int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC), next;

	while (dir >= 0 && p) {
		slash = strchr(p, '/');
		if (slash)
			*slash = '\0';
		next = openat(dir, p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			      O_CLOEXEC);
		close(dir);
		dir = next;
		p = slash ? slash + 1 : NULL;
	}
	free(names);
	return dir;
}

/* From the tree of HEAD: what a bare repository has. */
static int read_tree(struct entry_files *f, struct repo *repo,
		     struct strv *warn, struct err *err)
{
	struct tree tree = { NULL, 0, 0 };
	struct tree_entry at;
	struct oid head, top;
	size_t sum = 0;
	int ret = repo_head(repo, &head, err);

	if (!ret)
		ret = repo_commit_tree(repo, &head, &top, err);
	if (!ret)
		ret = repo_tree_path(repo, &top, KNOWLEDGE_LOCAL, &at, err);
	if (!ret && at.mode != 040000)
		ret = err_set(err, ERR_FORMAT, "not a folder");
	if (!ret)
		ret = repo_tree_read(repo, &at.id, &tree, err);
	for (size_t i = 0; !ret && i < tree.nr; i++) {
		const struct tree_entry *e = &tree.v[i];
		struct entry_file *one;

		if (!is_entry_name(e->name))
			continue;
		one = add_file(f, ENTRY_LOCAL, e->name, KNOWLEDGE_LOCAL);
		if (e->mode != 0100644 && e->mode != 0100755) {
			drop_file(f, warn, "not a regular file");
			continue;
		}
		if (repo_blob_read(repo, &e->id, &one->text,
				   KNOWLEDGE_MAX_FILE, err)) {
			drop_file(f, warn, err->msg);
			continue;
		}
		sum += one->text.len;
		if (sum > KNOWLEDGE_MAX_LOCAL || i >= KNOWLEDGE_MAX_FILES) {
			drop_file(f, warn, "from here on, more than is read");
			break;
		}
	}
	tree_release(&tree);
	return ret;
}

void files_local(struct entry_files *f, struct repo *repo, struct strv *warn)
{
	const char *top = repo_workdir(repo);
	struct err err = ERR_INIT;
	int dir;

	if (!top) {
		if (read_tree(f, repo, warn, &err) &&
		    err.code != ERR_NOTFOUND)
			left_out(warn, KNOWLEDGE_LOCAL, err.msg);
		return;
	}
	dir = open_local(top);
	if (dir >= 0) {
		read_folder(f, dir, ENTRY_LOCAL, KNOWLEDGE_LOCAL, warn);
		close(dir);
	} else if (errno == ELOOP || errno == ENOTDIR) {
		left_out(warn, KNOWLEDGE_LOCAL, "not a folder, or behind a "
			 "symlink, which is not followed");
	} else if (errno != ENOENT) {
		left_out(warn, KNOWLEDGE_LOCAL, strerror(errno));
	}
}

/* ---- a new one ---- */

/* Opens the folder, making what is not there. */
static int make_local(const char *top, struct err *err)
{
	char *path = xasprintf("%s" KNOWLEDGE_LOCAL, top);
	char *p = path + strlen(top);
	int dir;

	for (p = strchr(p, '/');; p = strchr(p + 1, '/')) {
		if (p)
			*p = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST) {
			err_sys(err, "cannot make '%s'", path);
			free(path);
			return -1;
		}
		if (!p)
			break;
		*p = '/';
	}
	free(path);
	dir = open_local(top);
	if (dir < 0)
		err_sys(err, "cannot open '" KNOWLEDGE_LOCAL "' of the work "
			"tree");
	return dir;
}

static int write_new(int dir, const char *name, const char *text, size_t len,
		     struct err *err)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
			O_CLOEXEC, 0666), ret = 0;

	if (fd < 0 && errno == EEXIST)
		return err_set(err, ERR_USAGE, "there is a '%s/%s' already: "
			       "edit that file", KNOWLEDGE_LOCAL, name);
	if (fd < 0)
		return err_sys(err, "cannot write '%s/%s'", KNOWLEDGE_LOCAL,
			       name);
	while (len && !ret) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR)
			ret = err_sys(err, "cannot write '%s/%s'",
				      KNOWLEDGE_LOCAL, name);
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	if (close(fd) < 0 && !ret)
		ret = err_sys(err, "cannot write '%s/%s'", KNOWLEDGE_LOCAL,
			      name);
	if (ret)
		unlinkat(dir, name, 0);
	return ret;
}

int knowledge_add(struct repo *repo, const char *text, size_t len, char **path,
		  struct err *err)
{
	const char *top = repo_workdir(repo);
	struct entry e;
	char *name;
	int dir, ret;

	if (!top)
		return err_set(err, ERR_USAGE, "a bare repository has no work "
			       "tree to write to: add it in a clone");
	ret = entry_parse(&e, ENTRY_LOCAL, NULL, text, len, err);
	if (ret)
		return ret;
	name = xasprintf("%s.md", e.id + strlen("local/"));
	dir = make_local(top, err);
	ret = dir < 0 ? (int)err->code : write_new(dir, name, text, len, err);
	if (dir >= 0)
		close(dir);
	if (!ret)
		*path = xasprintf("%s/%s", KNOWLEDGE_LOCAL, name);
	free(name);
	entry_release(&e);
	return ret;
}
