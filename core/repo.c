/* Opening a repository, its configuration, identity and HEAD. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/git.h"
#include "core/mem.h"
#include "core/repo_parts.h"

#define WINDOW (8u << 20)	/* of a pack, mapped at a time */
#define WINDOWS (48u << 20)	/* of all packs */

/* ---- errors ---- */

static const char *git_why(void)
{
	const git_error *e = git_error_last();

	return e && e->message ? e->message : "unknown error";
}

int repo_err(struct err *err, int rc, const char *fmt, ...)
{
	enum err_code code = rc == GIT_ENOTFOUND || rc == GIT_EUNBORNBRANCH ?
		ERR_NOTFOUND : ERR_GIT;
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(err, code, "%s: %s", text, git_why());
}

/* ---- opening ---- */

/* Without any safe.directory set, libgit2 1.5 says of another user's
 * repository that there is none. */
static bool is_foreign(const char *path, struct buf *where)
{
	git_buf found = { NULL, 0, 0 };
	const char *dir = getenv("GIT_DIR");
	struct stat st;
	bool foreign = false;

	if (git_repository_discover(&found, dir ? dir : path, 1, NULL) == 0) {
		foreign = stat(found.ptr, &st) == 0 &&
			st.st_uid != geteuid();
		buf_addstr(where, found.ptr);
	}
	git_buf_dispose(&found);
	return foreign;
}

static int open_error(struct err *err, int rc, const char *path)
{
	struct buf owned = BUF_INIT;
	const char *why = git_why();
	int ret = 0;

	if (rc == GIT_ENOTFOUND && is_foreign(path, &owned))
		ret = err_set(err, ERR_GIT, "the repository in '%s' is owned "
			      "by somebody else; to trust it, run 'git config "
			      "--global --add safe.directory <path>'",
			      owned.ptr);
	buf_release(&owned);
	if (ret)
		return ret;
	if (rc == GIT_ENOTFOUND && !getenv("GIT_DIR"))
		return err_set(err, ERR_NOTFOUND,
			       "not a git repository (or any of the parent "
			       "directories): %s", path);
	if (strstr(why, "objectformat"))
		return err_set(err, ERR_GIT, "this repository has sha256 "
			       "objects, which git maxkernel cannot read; "
			       "it needs one made with "
			       "'git init --object-format=sha1'");
	if (rc == GIT_EOWNER)
		return err_set(err, ERR_GIT, "%s; to trust it, run 'git config "
			       "--global --add safe.directory <path>'", why);
	return repo_err(err, rc, "cannot open the repository");
}

/*
 * The work tree as git chooses it.  Only its path is needed here, and
 * git_repository_set_workdir() leaks.
 */
static char *find_workdir(git_repository *g)
{
	const char *given = getenv("GIT_WORK_TREE");
	git_config *c = NULL;
	git_buf dir = { NULL, 0, 0 };
	char *path, *slashed;
	bool has;

	if (!given && (!getenv("GIT_DIR") || git_repository_is_bare(g)))
		return xstrdup(git_repository_workdir(g));
	if (!given && git_repository_config_snapshot(&c, g) == 0) {
		has = git_config_get_string_buf(&dir, c,
						"core.worktree") == 0;
		git_buf_dispose(&dir);
		git_config_free(c);
		if (has)
			return xstrdup(git_repository_workdir(g));
	}
	path = realpath(given ? given : ".", NULL);
	if (!path)
		return NULL;
	slashed = xasprintf("%s/", strcmp(path, "/") ? path : "");
	free(path);
	return slashed;
}

static int open_raw(git_repository **g, const char *path, struct err *err)
{
	char *work_tree = xstrdup(getenv("GIT_WORK_TREE"));
	int rc;

	if (work_tree)
		unsetenv("GIT_WORK_TREE");
	rc = git_repository_open_ext(g, getenv("GIT_DIR") ? NULL : path,
				     GIT_REPOSITORY_OPEN_FROM_ENV, NULL);
	if (work_tree)
		setenv("GIT_WORK_TREE", work_tree, 1);
	free(work_tree);
	return rc < 0 ? open_error(err, rc, path) : 0;
}

/* refs are fsynced, objects are not: repo_sync() does them all at once.  The
 * refs' backend takes the setting when it is made, the objects' reads it. */
static int open_parts(struct repo *r, struct err *err)
{
	git_refdb *refdb = NULL;
	int rc;

	git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
	rc = git_repository_refdb(&refdb, r->g);
	git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 0);
	git_refdb_free(refdb);
	if (rc < 0)
		return repo_err(err, rc, "cannot open the references");
	rc = git_repository_odb(&r->odb, r->g);
	if (rc < 0)
		return repo_err(err, rc, "cannot open the objects");
	return 0;
}

/*
 * core.sharedRepository, which libgit2 heeds in `init` alone: what we write
 * has to be open to the others as well.  Only ever opens, as git does.
 */
static void share_mode(struct repo *r)
{
	struct buf value = BUF_INIT;
	mode_t open_to = 0, mask = umask(077);
	unsigned long mode;
	char *end;

	if (repo_config_str(r, "core.sharedRepository", &value)) {
		mode = strtoul(value.ptr, &end, 8);
		if (!strcmp(value.ptr, "group") || !strcmp(value.ptr, "true") ||
		    !strcmp(value.ptr, "1"))
			open_to = 0070;
		else if (!strcmp(value.ptr, "all") ||
			 !strcmp(value.ptr, "world") ||
			 !strcmp(value.ptr, "everybody") ||
			 !strcmp(value.ptr, "2"))
			open_to = 0075;
		else if (*value.ptr == '0' && !*end && mode > 7)
			open_to = (mode | (mode & 0444) >> 2) & 0077;
	}
	umask(mask & ~open_to);
	buf_release(&value);
}

int repo_open(struct repo **out, const char *path, struct err *err)
{
	const char *extensions[] = { "worktreeconfig" };
	struct repo *r = xcalloc(1, sizeof(*r));

	*out = NULL;
	r->lock_fd = r->sync_fd = -1;
	git_libgit2_init();
	git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, (size_t)1);
	/* nothing is read twice in a long walk, nor far from the last */
	git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, (ssize_t)(4 << 20));
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, (size_t)WINDOW);
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, (size_t)WINDOWS);
	if (open_raw(&r->g, path, err) < 0)
		goto fail;
	if (git_repository_is_shallow(r->g)) {
		err_set(err, ERR_GIT, "this is a shallow clone, which lacks "
			"the history that a search stands on; run "
			"'git fetch --unshallow' first");
		goto fail;
	}
	if (open_parts(r, err) < 0)
		goto fail;
	r->workdir = find_workdir(r->g);
	r->gitdir = xstrdup(git_repository_commondir(r->g));
	share_mode(r);
	*out = r;
	return 0;
fail:
	repo_close(r);
	return err->code;
}

const char *repo_libgit2(void)
{
	static char text[32];
	int major, minor, rev;

	git_libgit2_version(&major, &minor, &rev);
	snprintf(text, sizeof(text), "%d.%d.%d", major, minor, rev);
	return text;
}

void repo_close(struct repo *r)
{
	if (!r)
		return;
	if (r->lock_fd >= 0)
		close(r->lock_fd);
	if (r->sync_fd >= 0)
		close(r->sync_fd);
	recent_release(r);
	git_config_free(r->config);
	git_odb_free(r->odb);
	git_repository_free(r->g);
	free(r->gitdir);
	free(r->workdir);
	free(r);
	git_libgit2_shutdown();
}

const char *repo_workdir(const struct repo *r)
{
	return r->workdir;
}

const char *repo_gitdir(const struct repo *r)
{
	return r->gitdir;
}

/* ---- configuration and identity ---- */

static git_config *config(struct repo *r)
{
	if (!r->config)
		git_repository_config_snapshot(&r->config, r->g);
	return r->config;
}

/*
 * `git -c key=value maxkernel ...` reaches us by environment variables that
 * libgit2 does not read: then git is asked.
 */
static bool config_from_git(struct repo *r, const char *type, const char *key,
			    struct buf *out)
{
	struct strv args = STRV_INIT;
	struct err unused = ERR_INIT;
	bool found;

	if (!getenv("GIT_CONFIG_PARAMETERS") && !getenv("GIT_CONFIG_COUNT"))
		return false;
	strv_push(&args, "config");
	if (type)
		strv_push(&args, type);
	strv_push(&args, "--get");
	strv_push(&args, key);
	buf_reset(out);
	found = !git_call(r, &args, out, &unused);
	if (found && out->len && out->ptr[out->len - 1] == '\n')
		buf_splice(out, out->len - 1, 1, "", 0);
	strv_release(&args);
	return found;
}

bool repo_config_str(struct repo *r, const char *key, struct buf *out)
{
	const char *value;

	if (config_from_git(r, NULL, key, out))
		return true;
	if (!config(r) || git_config_get_string(&value, r->config, key) < 0)
		return false;
	buf_reset(out);
	buf_addstr(out, value);
	return true;
}

bool repo_config_bool(struct repo *r, const char *key, bool otherwise)
{
	struct buf text = BUF_INIT;
	int value;

	if (config_from_git(r, "--type=bool", key, &text)) {
		value = !strcmp(text.ptr, "true");
		buf_release(&text);
		return value;
	}
	buf_release(&text);
	if (!config(r) || git_config_get_bool(&value, r->config, key) < 0)
		return otherwise;
	return value;
}

int64_t repo_config_int(struct repo *r, const char *key, int64_t otherwise)
{
	struct buf text = BUF_INIT;
	int64_t value;

	if (config_from_git(r, "--type=int", key, &text)) {
		value = strtoll(text.ptr, NULL, 10);
		buf_release(&text);
		return value;
	}
	buf_release(&text);
	if (!config(r) || git_config_get_int64(&value, r->config, key) < 0)
		return otherwise;
	return value;
}

int repo_config_range(struct repo *r, const char *key, int64_t lo, int64_t hi,
		      int64_t *value, struct err *err)
{
	struct buf text = BUF_INIT;
	int64_t found;

	if (!repo_config_str(r, key, &text)) {
		buf_release(&text);
		return 0;
	}
	found = repo_config_int(r, key, lo - 1);
	if (found < lo || found > hi)
		err_set(err, ERR_FORMAT, "%s is '%s': it takes a number from "
			"%lld to %lld", key, text.ptr, (long long)lo,
			(long long)hi);
	else
		*value = found;
	buf_release(&text);
	return found < lo || found > hi ? ERR_FORMAT : 0;
}

bool repo_config_has_value(struct repo *r, const char *key, const char *value)
{
	git_config_iterator *it;
	git_config_entry *e;
	bool found = false;

	if (!config(r) ||
	    git_config_multivar_iterator_new(&it, r->config, key, NULL) < 0)
		return false;
	while (!found && git_config_next(&e, it) == 0)
		found = e->value && !strcmp(e->value, value);
	git_config_iterator_free(it);
	return found;
}

int repo_config_add(struct repo *r, const char *key, const char *value,
		    struct err *err)
{
	git_config *all = NULL, *local = NULL;
	int rc;

	if (repo_config_has_value(r, key, value))
		return 0;
	rc = git_repository_config(&all, r->g);
	if (!rc)
		rc = git_config_open_level(&local, all,
					   GIT_CONFIG_LEVEL_LOCAL);
	if (!rc)	/* a pattern that no value matches: append */
		rc = git_config_set_multivar(local, key, "x^", value);
	if (rc)
		repo_err(err, rc, "cannot set '%s' in '%sconfig'", key,
			r->gitdir);
	git_config_free(local);
	git_config_free(all);
	git_config_free(r->config);
	r->config = NULL;
	return rc ? (int)err->code : 0;
}

static bool is_crud(unsigned char c)
{
	return c <= 32 || strchr(".,:;<>\"\\'", c);
}

/* As git cleans a name: no <, > or newline, no crud at the ends. */
static void ident_clean(struct buf *out, const char *s)
{
	size_t len = strlen(s);
	struct buf text = BUF_INIT;

	while (len && is_crud((unsigned char)s[len - 1]))
		len--;
	while (len && is_crud((unsigned char)*s)) {
		s++;
		len--;
	}
	buf_add_clean(&text, s, len, false);
	for (size_t i = 0; i < text.len; i++)
		if (!strchr("<>", text.ptr[i]))
			buf_addch(out, text.ptr[i]);
	buf_release(&text);
}

static bool ident_part(struct repo *r, const char *env, const char *own,
		       const char *user, const char *last, struct buf *out)
{
	struct buf value = BUF_INIT;
	const char *s = getenv(env);

	buf_reset(out);
	if (s && *s)
		buf_addstr(&value, s);
	else if (!repo_config_str(r, own, &value) &&
		 !repo_config_str(r, user, &value) && last && getenv(last))
		buf_addstr(&value, getenv(last));
	ident_clean(out, value.ptr);
	buf_release(&value);
	return out->len > 0;
}

static int ident_unset(struct err *err, const char *what)
{
	return err_set(err, ERR_FORMAT, "no %s is known for your commits; run\n"
		       "  git config --global user.email \"you@example.com\"\n"
		       "  git config --global user.name \"Your Name\"\n"
		       "or leave out --global for this repository alone", what);
}

int repo_identity(struct repo *r, struct buf *name, struct buf *mail,
		  struct err *err)
{
	if (!ident_part(r, "GIT_COMMITTER_NAME", "committer.name",
			"user.name", NULL, name))
		return ident_unset(err, "name");
	if (!ident_part(r, "GIT_COMMITTER_EMAIL", "committer.email",
			"user.email", "EMAIL", mail))
		return ident_unset(err, "e-mail address");
	return 0;
}

int repo_author(struct repo *r, struct buf *name, struct buf *mail,
		struct err *err)
{
	if (!ident_part(r, "GIT_AUTHOR_NAME", "author.name", "user.name",
			NULL, name))
		return ident_unset(err, "name");
	if (!ident_part(r, "GIT_AUTHOR_EMAIL", "author.email", "user.email",
			"EMAIL", mail))
		return ident_unset(err, "e-mail address");
	return 0;
}

/* ---- HEAD and revisions ---- */

int repo_head(struct repo *r, struct oid *commit, struct err *err)
{
	git_oid id;
	int rc = git_reference_name_to_id(&id, r->g, "HEAD");

	if (rc == GIT_ENOTFOUND || rc == GIT_EUNBORNBRANCH)
		return err_set(err, ERR_NOTFOUND, "the current branch has no "
			       "commits yet");
	if (rc < 0)
		return repo_err(err, rc, "cannot read HEAD");
	from_git(commit, &id);
	return 0;
}

bool repo_head_branch(struct repo *r, struct buf *out)
{
	git_reference *ref = NULL;
	const char *target = NULL;

	if (git_reference_lookup(&ref, r->g, "HEAD") == 0 &&
	    git_reference_type(ref) == GIT_REFERENCE_SYMBOLIC)
		target = git_reference_symbolic_target(ref);
	buf_reset(out);
	if (target)
		buf_addstr(out, target);
	git_reference_free(ref);
	return out->len > 0;
}

int repo_rev(struct repo *r, const char *rev, struct oid *commit,
	     struct err *err)
{
	git_object *o = NULL, *c = NULL;
	int rc = git_revparse_single(&o, r->g, rev);

	if (rc == GIT_EAMBIGUOUS)
		return err_set(err, ERR_FORMAT, "'%s' is ambiguous", rev);
	if (rc < 0)
		return err_set(err, ERR_NOTFOUND, "there is no revision '%s'",
			       rev);
	rc = git_object_peel(&c, o, GIT_OBJECT_COMMIT);
	git_object_free(o);
	if (rc < 0)
		return err_set(err, ERR_NOTFOUND, "'%s' is not a commit", rev);
	from_git(commit, git_object_id(c));
	git_object_free(c);
	return 0;
}
