/* The files of a kernel, from a commit or from the work tree. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/store_parts.h"

#define MAX_TOTAL (64u << 20)	/* bytes of all files of one kernel */
#define MAX_DEPTH 64

/* What a glob stands for: `file`, `use`, or a path of the reference. */
struct want {
	const char *key;
	struct strv globs;
	bool writable;
	bool optional;		/* a glob may match nothing */
};

struct gather {
	struct repo *repo;
	const struct kernel *k;
	struct oid tree;	/* of the commit */
	int top;		/* or the work tree's top, open; else -1 */
	const char *where;	/* "in <commit>" for messages */
	struct srcset *out;
	bool writable;		/* of the glob at hand */
	size_t nr;		/* files that it matched */
	size_t total;
	struct buf path;
};

static int fail(const struct gather *g, struct err *err, const char *key,
		const char *glob, const char *why)
{
	return err_set(err, ERR_FORMAT, "%s:%d: %s '%s' %s %s",
		       g->k->source ? g->k->source : KERNEL_FILE, g->k->line,
		       key, glob, why, g->where);
}

static int add_file(struct gather *g, const char *path,
		    const struct buf *text, struct err *err)
{
	struct srcfile *old = srcset_find(g->out, path);

	g->nr++;
	if (old) {
		old->writable |= g->writable;
		return 0;
	}
	if (g->out->nr >= SOURCE_MAX_FILES)
		return err_set(err, ERR_LIMIT, "a kernel has at most %d files",
			       SOURCE_MAX_FILES);
	g->total += text->len;
	if (g->total > MAX_TOTAL)
		return err_set(err, ERR_LIMIT, "the files of a kernel have at "
			       "most %u bytes together", MAX_TOTAL);
	srcset_put(g->out, path, text->ptr, text->len, g->writable);
	return 0;
}

static int add_blob(void *ctx, const char *path, const struct oid *blob,
		    struct err *err)
{
	struct gather *g = ctx;
	struct buf text = BUF_INIT;
	int ret = repo_blob_read(g->repo, blob, &text, SOURCE_MAX_FILE, err);

	if (ret < 0)
		err_wrap(err, "'%s'", path);
	else
		ret = add_file(g, path, &text, err);
	buf_release(&text);
	return ret;
}

/* ---- the work tree ---- */

static int match_dir(struct gather *g, const char *glob, int fd, int depth,
		     struct err *err);

/* The name is in folder dir, g->path is its whole path. */
static int match_file(struct gather *g, int dir, const char *name,
		      struct err *err)
{
	struct buf text = BUF_INIT;
	struct stat st;
	int fd, ret;

	if (!path_is_safe(g->path.ptr))
		return err_set(err, ERR_FORMAT, "'%s' is not a path that may "
			       "be read", g->path.ptr);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
		    O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_sys(err, "cannot open '%s'", g->path.ptr);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, ERR_FORMAT, "'%s' is not a regular file",
			       g->path.ptr);
	}
	ret = buf_read_fd(&text, fd, SOURCE_MAX_FILE, err);
	close(fd);
	if (ret < 0)
		err_wrap(err, "'%s'", g->path.ptr);
	else
		ret = add_file(g, g->path.ptr, &text, err);
	buf_release(&text);
	return ret;
}

static int match_entry(struct gather *g, const char *glob, int dir,
		       const char *name, int depth, struct err *err)
{
	bool literal = !strpbrk(glob, "*?[\\");
	const char *path = g->path.ptr;
	struct stat st;
	int fd, ret;

	if (!glob_match(glob, path) && !glob_leads_below(glob, path))
		return 0;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 :
			err_sys(err, "cannot read '%s'", path);
	if (S_ISLNK(st.st_mode) && (literal || glob_match(glob, path)))
		return err_set(err, ERR_FORMAT, "'%s' is a symbolic link, not "
			       "a regular file", path);
	if (S_ISREG(st.st_mode))
		return glob_match(glob, path) ?
			match_file(g, dir, name, err) : 0;
	if (!S_ISDIR(st.st_mode))
		return 0;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
		    O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot open '%s'", path);
	ret = match_dir(g, glob, fd, depth + 1, err);
	return ret;
}

/* Takes fd over. */
static int match_dir(struct gather *g, const char *glob, int fd, int depth,
		     struct err *err)
{
	size_t len = g->path.len;
	DIR *d = depth < MAX_DEPTH ? fdopendir(fd) : NULL;
	struct dirent *e;
	int ret = 0;

	if (!d) {
		close(fd);
		return err_set(err, ERR_LIMIT, "cannot look into '%s'",
			       g->path.ptr);
	}
	while (!ret) {
		e = readdir(d);
		if (!e)
			break;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    !strcasecmp(e->d_name, ".git"))
			continue;
		if (len)
			buf_addch(&g->path, '/');
		buf_addstr(&g->path, e->d_name);
		ret = match_entry(g, glob, dirfd(d), e->d_name, depth, err);
		g->path.len = len;
		g->path.ptr[len] = '\0';
	}
	closedir(d);
	return ret;
}

static int match_worktree(struct gather *g, const char *glob, struct err *err)
{
	int fd = openat(g->top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return err_sys(err, "cannot open the work tree");
	buf_addch(&g->path, ' ');	/* so that it can be cut to nothing */
	buf_reset(&g->path);
	ret = match_dir(g, glob, fd, 0, err);
	buf_release(&g->path);
	return ret;
}

/* ---- both ---- */

static int gather_glob(struct gather *g, const struct want *w,
		       const char *glob, struct err *err)
{
	struct strv one = STRV_INIT;
	int ret;

	g->nr = 0;
	g->writable = w->writable;
	strv_push(&one, glob);
	ret = g->top >= 0 ? match_worktree(g, glob, err) :
		repo_tree_match(g->repo, &g->tree, &one, add_blob, g, err);
	strv_release(&one);
	if (ret < 0)
		return err_wrap(err, "%s:%d: %s '%s'",
				g->k->source ? g->k->source : KERNEL_FILE,
				g->k->line, w->key, glob);
	if (!g->nr && !w->optional)
		return fail(g, err, w->key, glob, "is not");
	return 0;
}

static int gather_want(struct gather *g, struct want *w, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < w->globs.nr; i++)
		ret = gather_glob(g, w, w->globs.v[i], err);
	return ret;
}

/* A path of the reference is no glob: its special characters are quoted. */
static void want_path(struct strv *globs, const char *path)
{
	struct buf b = BUF_INIT;
	bool literal = !strpbrk(path, "*?[\\");

	for (; *path; path++) {
		if (!literal && strchr("*?[\\", *path))
			buf_addch(&b, '\\');
		buf_addch(&b, *path);
	}
	strv_push(globs, b.ptr);
	buf_release(&b);
}

static int gather_aux(struct gather *g, struct err *err)
{
	const struct kernel *k = g->k;
	struct want ref = { "reference", STRV_INIT, false, false };
	struct want base = { "baseline", STRV_INIT, false, false };
	struct want rival = { "rival", STRV_INIT, false, false };
	struct want input = { "input", STRV_INIT, false, false };
	int ret;

	if (k->reference.path)
		want_path(&ref.globs, k->reference.path);
	if (k->baseline.path)
		want_path(&base.globs, k->baseline.path);
	for (int i = 0; i < k->nr_rivals; i++)
		if (k->rival[i].path)
			want_path(&rival.globs, k->rival[i].path);
	for (int i = 0; i < k->nr_args; i++)
		if (k->arg[i].input.path)
			want_path(&input.globs, k->arg[i].input.path);
	ret = gather_want(g, &ref, err);
	if (!ret)
		ret = gather_want(g, &base, err);
	if (!ret)
		ret = gather_want(g, &rival, err);
	if (!ret)
		ret = gather_want(g, &input, err);
	strv_release(&ref.globs);
	strv_release(&base.globs);
	strv_release(&rival.globs);
	strv_release(&input.globs);
	return ret;
}

static int gather(struct gather *g, bool aux, struct err *err)
{
	struct want file = { "file", g->k->file, true,
			     g->k->reference.path != NULL };
	struct want use = { "use", g->k->use, false, false };
	int ret;

	*g->out = (struct srcset)SRCSET_INIT;
	ret = gather_want(g, &file, err);
	if (!ret)
		ret = gather_want(g, &use, err);
	if (!ret && aux)
		ret = gather_aux(g, err);
	if (ret < 0)
		srcset_release(g->out);
	return ret;
}

int store_source(struct repo *r, const struct oid *commit,
		 const struct kernel *k, bool aux, struct srcset *out,
		 struct err *err)
{
	char *where = xasprintf("in %s", oid_short(commit).s);
	struct gather g = { .repo = r, .k = k, .top = -1, .where = where,
			    .out = out, .path = BUF_INIT };
	int ret = repo_commit_tree(r, commit, &g.tree, err);

	*out = (struct srcset)SRCSET_INIT;
	if (!ret)
		ret = gather(&g, aux, err);
	free(where);
	return ret;
}

int store_source_worktree(struct repo *r, const struct oid *base,
			  const struct kernel *k, bool aux,
			  struct srcset *out, struct err *err)
{
	struct gather g = { .repo = r, .k = k, .top = -1,
			    .where = "in the work tree", .out = out,
			    .path = BUF_INIT };
	int ret;

	(void)base;
	*out = (struct srcset)SRCSET_INIT;
	if (!repo_workdir(r))
		return err_set(err, ERR_GIT, "a bare repository has no work "
			       "tree");
	g.top = open(repo_workdir(r), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g.top < 0)
		return err_sys(err, "cannot open '%s'", repo_workdir(r));
	ret = gather(&g, aux, err);
	close(g.top);
	return ret;
}

/* ---- the state of a commit, without reading its files ---- */

struct ids {
	struct strv lines;	/* "<path>\n<id>", to be sorted by path */
};

static int add_id(void *ctx, const char *path, const struct oid *blob,
		  struct err *err)
{
	struct ids *ids = ctx;

	if (ids->lines.nr >= SOURCE_MAX_FILES)
		return err_set(err, ERR_LIMIT, "a kernel has at most %d files",
			       SOURCE_MAX_FILES);
	/* \1 sorts before all that a path may hold */
	strv_pushf(&ids->lines, "%s\1%s", path, oid_text(blob).s);
	return 0;
}

int store_state(struct repo *r, const struct oid *commit,
		const struct kernel *k, struct oid *state, struct err *err)
{
	struct ids ids = { STRV_INIT };
	struct strv globs = STRV_INIT;
	struct buf text = BUF_INIT;
	struct oid tree;
	int ret = repo_commit_tree(r, commit, &tree, err);

	for (size_t i = 0; i < k->file.nr; i++)
		strv_push(&globs, k->file.v[i]);
	for (size_t i = 0; i < k->use.nr; i++)
		strv_push(&globs, k->use.v[i]);
	if (!ret)
		ret = repo_tree_match(r, &tree, &globs, add_id, &ids, err);
	strv_sort(&ids.lines);
	for (size_t i = 0; i < ids.lines.nr; i++) {
		const char *mark = strchr(ids.lines.v[i], '\1');

		buf_addf(&text, "%s %.*s\n", mark + 1,
			 (int)(mark - ids.lines.v[i]), ids.lines.v[i]);
	}
	source_blob_id(text.ptr, text.len, state);
	strv_release(&ids.lines);
	strv_release(&globs);
	buf_release(&text);
	return ret;
}

/* ---- the work tree as a commit ---- */

struct gone {
	const struct srcset *now;
	struct strv paths;
};

static int add_gone(void *ctx, const char *path, const struct oid *blob,
		    struct err *err)
{
	struct gone *gone = ctx;

	(void)blob;
	(void)err;
	if (!srcset_find(gone->now, path))
		strv_push(&gone->paths, path);
	return 0;
}

/* base's tree with the files as they are in the work tree. */
static int worktree_tree(struct repo *r, const struct oid *base_tree,
			 const struct kernel *k, const struct srcset *now,
			 struct oid *out, struct err *err)
{
	struct gone gone = { now, STRV_INIT };
	int ret = repo_tree_match(r, base_tree, &k->file, add_gone, &gone,
				  err);

	if (!ret)
		ret = repo_tree_match(r, base_tree, &k->use, add_gone, &gone,
				      err);
	if (!ret)
		ret = repo_tree_without(r, base_tree, &gone.paths, out, err);
	if (!ret)
		ret = repo_tree_with(r, out, now, false, out, err);
	strv_release(&gone.paths);
	return ret;
}

int store_worktree_root(struct repo *r, const struct oid *base,
			const struct kernel *k, struct oid *out,
			struct err *err)
{
	struct srcset now;
	struct oid old, tree;
	char *message = xasprintf("maxkernel: work tree of %s\n",
				  oid_short(base).s);
	int ret = store_source_worktree(r, base, k, true, &now, err);

	*out = *base;
	if (!ret)
		ret = repo_commit_tree(r, base, &old, err);
	if (!ret)
		ret = worktree_tree(r, &old, k, &now, &tree, err);
	if (!ret && !oid_eq(&old, &tree))
		ret = repo_commit_write(r, &tree, base, 1, message, out, err);
	srcset_release(&now);
	free(message);
	return ret;
}
