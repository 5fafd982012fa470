#include "core/repo.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/git.h"
#include "core/mem.h"

#define MAX_META (16u << 20)	/* bytes of a commit or tree object */
#define MAX_DEPTH 64		/* of nested trees */
#define LOCK_STALE_S 60
#define LOCK_WAIT_MS 10000
#define FLOCK_WAIT_MS 60000

struct repo {
	git_repository *g;
	git_odb *odb;
	git_config *config;	/* a snapshot, taken when first asked */
	char *gitdir, *workdir;
	bool ident_set;
	int lock_fd, lock_depth;
	int sync_fd;
};

/* ---- errors ---- */

static const char *git_why(void)
{
	const git_error *e = git_error_last();

	return e && e->message ? e->message : "unknown error";
}

__attribute__((format(printf, 3, 4)))
static int err_git(struct err *err, int rc, const char *fmt, ...)
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

static const git_oid *as_git(const struct oid *o)
{
	return (const git_oid *)(const void *)o->id;
}

static void from_git(struct oid *to, const git_oid *from)
{
	memcpy(to->id, from->id, OID_RAW);
}

/* ---- opening ---- */

static int open_error(struct err *err, int rc, const char *path)
{
	const char *why = git_why();

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
	return err_git(err, rc, "cannot open the repository");
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
		return err_git(err, rc, "cannot open the references");
	rc = git_repository_odb(&r->odb, r->g);
	if (rc < 0)
		return err_git(err, rc, "cannot open the objects");
	return 0;
}

int repo_open(struct repo **out, const char *path, struct err *err)
{
	const char *extensions[] = { "worktreeconfig" };
	struct repo *r = xcalloc(1, sizeof(*r));

	*out = NULL;
	r->lock_fd = r->sync_fd = -1;
	git_libgit2_init();
	git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, (size_t)1);
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
		err_git(err, rc, "cannot set '%s' in '%sconfig'", key,
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

static int author(struct repo *r, struct buf *name, struct buf *mail,
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
		return err_git(err, rc, "cannot read HEAD");
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

/* ---- objects ---- */

/* The object exists, has the type and at most max bytes. */
static int check_object(struct repo *r, const struct oid *id, int type,
			size_t max, struct err *err)
{
	git_object_t have;
	size_t len;
	int rc = git_odb_read_header(&len, &have, r->odb, as_git(id));

	if (rc < 0)
		return err_git(err, rc, "cannot read object %s",
			       oid_text(id).s);
	if ((int)have != type)
		return err_set(err, ERR_GIT, "object %s is a %s, not a %s",
			       oid_text(id).s, git_object_type2string(have),
			       git_object_type2string((git_object_t)type));
	if (len > max)
		return err_set(err, ERR_LIMIT, "object %s has %zu bytes, more "
			       "than %zu", oid_text(id).s, len, max);
	return 0;
}

int repo_commit_read(struct repo *r, const struct oid *id, struct commit *c,
		     struct err *err)
{
	git_commit *g;
	int rc;

	memset(c, 0, sizeof(*c));
	rc = check_object(r, id, GIT_OBJECT_COMMIT, MAX_META, err);
	if (rc < 0)
		return rc;
	rc = git_commit_lookup(&g, r->g, as_git(id));
	if (rc < 0)
		return err_git(err, rc, "cannot read commit %s",
			       oid_text(id).s);
	c->id = *id;
	from_git(&c->tree, git_commit_tree_id(g));
	c->nr_parents = git_commit_parentcount(g);
	c->parent = xcalloc(c->nr_parents, sizeof(*c->parent));
	for (size_t i = 0; i < c->nr_parents; i++)
		from_git(&c->parent[i],
			 git_commit_parent_id(g, (unsigned)i));
	c->time = git_commit_time(g);
	c->message = xstrdup(git_commit_message(g));
	git_commit_free(g);
	return 0;
}

void commit_release(struct commit *c)
{
	free(c->parent);
	free(c->message);
	memset(c, 0, sizeof(*c));
}

bool commit_trailer(const char *message, const char *key, struct buf *out)
{
	const char *end = message + strlen(message), *start, *line, *next;
	size_t key_len = strlen(key);
	bool found = false;

	while (end > message && (end[-1] == '\n' || end[-1] == ' '))
		end--;
	for (start = end; start > message; start--)
		if (start - message >= 2 && start[-1] == '\n' &&
		    start[-2] == '\n')
			break;
	if (start == message)	/* the subject is no trailer */
		return false;
	for (line = start; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		next = stop < end ? stop + 1 : end;
		if ((size_t)(stop - line) <= key_len || line[key_len] != ':' ||
		    strncasecmp(line, key, key_len))
			continue;
		line += key_len + 1;
		while (line < stop && (*line == ' ' || *line == '\t'))
			line++;
		buf_reset(out);
		buf_add(out, line, (size_t)(stop - line));
		found = true;	/* the last one counts */
	}
	return found;
}

static int write_object(struct repo *r, const void *data, size_t len,
			git_object_t type, struct oid *out, struct err *err)
{
	git_oid id;
	int rc = git_odb_write(&id, r->odb, data, len, type);

	if (rc < 0)
		return err_git(err, rc, "cannot write a %s into '%sobjects'",
			       git_object_type2string(type), r->gitdir);
	from_git(out, &id);
	return 0;
}

static void add_person(struct buf *b, const char *what, const struct buf *name,
		       const struct buf *mail)
{
	time_t now = time(NULL);
	struct tm tm;
	long off;

	localtime_r(&now, &tm);
	off = tm.tm_gmtoff / 60;
	buf_addf(b, "%s %s <%s> %lld %c%02ld%02ld\n", what, name->ptr,
		 mail->ptr, (long long)now, off < 0 ? '-' : '+',
		 labs(off) / 60, labs(off) % 60);
}

static int add_persons(struct repo *r, struct buf *b, struct err *err)
{
	struct buf name = BUF_INIT, mail = BUF_INIT;
	int ret = author(r, &name, &mail, err);

	if (!ret) {
		add_person(b, "author", &name, &mail);
		ret = repo_identity(r, &name, &mail, err);
	}
	if (!ret) {
		add_person(b, "committer", &name, &mail);
		if (!r->ident_set)	/* for reflogs */
			git_repository_set_ident(r->g, name.ptr, mail.ptr);
		r->ident_set = true;
	}
	buf_release(&name);
	buf_release(&mail);
	return ret;
}

int repo_commit_write(struct repo *r, const struct oid *tree,
		      const struct oid *parents, size_t nr_parents,
		      const char *message, struct oid *out, struct err *err)
{
	struct buf b = BUF_INIT;
	int ret;

	buf_addf(&b, "tree %s\n", oid_text(tree).s);
	for (size_t i = 0; i < nr_parents; i++)
		buf_addf(&b, "parent %s\n", oid_text(&parents[i]).s);
	ret = add_persons(r, &b, err);
	if (!ret) {
		buf_addf(&b, "\n%s", message);
		ret = write_object(r, b.ptr, b.len, GIT_OBJECT_COMMIT, out,
				   err);
	}
	buf_release(&b);
	return ret;
}

int repo_tree_read(struct repo *r, const struct oid *id, struct tree *t,
		   struct err *err)
{
	git_tree *g;
	size_t nr;
	int rc;

	memset(t, 0, sizeof(*t));
	rc = check_object(r, id, GIT_OBJECT_TREE, MAX_META, err);
	if (rc < 0)
		return rc;
	rc = git_tree_lookup(&g, r->g, as_git(id));
	if (rc < 0)
		return err_git(err, rc, "cannot read tree %s",
			       oid_text(id).s);
	nr = git_tree_entrycount(g);
	t->v = xcalloc(nr, sizeof(*t->v));
	t->cap = t->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		const git_tree_entry *e = git_tree_entry_byindex(g, i);

		t->v[i].name = xstrdup(git_tree_entry_name(e));
		from_git(&t->v[i].id, git_tree_entry_id(e));
		t->v[i].mode = (unsigned)git_tree_entry_filemode(e);
	}
	git_tree_free(g);
	return 0;
}

/* Git orders a folder as if its name ended in '/'. */
static int by_git_order(const void *a, const void *b)
{
	const struct tree_entry *x = a, *y = b;
	size_t lx = strlen(x->name), ly = strlen(y->name);
	int c = memcmp(x->name, y->name, lx < ly ? lx : ly);
	unsigned char cx, cy;

	if (c)
		return c;
	if (lx == ly)
		return 0;
	cx = lx > ly ? (unsigned char)x->name[ly] :
		S_ISDIR(x->mode) ? '/' : '\0';
	cy = ly > lx ? (unsigned char)y->name[lx] :
		S_ISDIR(y->mode) ? '/' : '\0';
	return cx < cy ? -1 : cx > cy;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct tree_entry *const *)a)->name,
		      (*(struct tree_entry *const *)b)->name);
}

static bool entry_name_ok(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") &&
	       strcmp(name, "..") && strcasecmp(name, ".git");
}

/* A file "a" and a folder "a" do not sort beside each other, so that equal
 * names are looked for in plain order. */
static int check_names(const struct tree *t, struct err *err)
{
	struct tree_entry **v = xcalloc(t->nr, sizeof(*v));
	int ret = 0;

	for (size_t i = 0; i < t->nr; i++)
		v[i] = &t->v[i];
	if (t->nr > 1)
		qsort(v, t->nr, sizeof(*v), by_name);
	for (size_t i = 0; !ret && i < t->nr; i++) {
		if (!entry_name_ok(v[i]->name))
			ret = err_set(err, ERR_FORMAT, "'%s' cannot stand in "
				      "a tree", v[i]->name);
		else if (i && !strcmp(v[i - 1]->name, v[i]->name))
			ret = err_set(err, ERR_FORMAT, "'%s' stands twice in "
				      "a tree", v[i]->name);
	}
	free(v);
	return ret;
}

int repo_tree_write(struct repo *r, struct tree *t, struct oid *out,
		    struct err *err)
{
	struct buf b = BUF_INIT;
	int ret = check_names(t, err);

	if (ret < 0)
		return ret;
	if (t->nr > 1)
		qsort(t->v, t->nr, sizeof(*t->v), by_git_order);
	for (size_t i = 0; i < t->nr; i++) {
		buf_addf(&b, "%o %s", t->v[i].mode, t->v[i].name);
		buf_addch(&b, '\0');
		buf_add(&b, t->v[i].id.id, OID_RAW);
	}
	ret = write_object(r, b.ptr, b.len, GIT_OBJECT_TREE, out, err);
	buf_release(&b);
	return ret;
}

static struct tree_entry *tree_find(struct tree *t, const char *name,
				    size_t len)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!strncmp(t->v[i].name, name, len) && !t->v[i].name[len])
			return &t->v[i];
	return NULL;
}

void tree_put(struct tree *t, const char *name, const struct oid *id,
	      unsigned mode)
{
	struct tree_entry *e = tree_find(t, name, strlen(name));

	if (!e) {
		GROW(t->v, t->nr, t->cap);
		e = &t->v[t->nr++];
		e->name = xstrdup(name);
	}
	e->id = *id;
	e->mode = mode;
}

void tree_release(struct tree *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->v[i].name);
	free(t->v);
	memset(t, 0, sizeof(*t));
}

int repo_blob_write(struct repo *r, const void *data, size_t len,
		    struct oid *out, struct err *err)
{
	return write_object(r, data, len, GIT_OBJECT_BLOB, out, err);
}

int repo_blob_read(struct repo *r, const struct oid *id, struct buf *out,
		   size_t max, struct err *err)
{
	git_odb_object *o;
	int rc = check_object(r, id, GIT_OBJECT_BLOB, max, err);

	if (rc < 0)
		return rc;
	rc = git_odb_read(&o, r->odb, as_git(id));
	if (rc < 0)
		return err_git(err, rc, "cannot read object %s",
			       oid_text(id).s);
	buf_add(out, git_odb_object_data(o), git_odb_object_size(o));
	git_odb_object_free(o);
	return 0;
}

int repo_commit_tree(struct repo *r, const struct oid *commit,
		     struct oid *tree, struct err *err)
{
	struct commit c;
	int ret = repo_commit_read(r, commit, &c, err);

	if (ret < 0)
		return ret;
	*tree = c.tree;
	commit_release(&c);
	return 0;
}

int repo_tree_path(struct repo *r, const struct oid *tree, const char *path,
		   struct tree_entry *out, struct err *err)
{
	git_tree *root = NULL;
	git_tree_entry *e = NULL;
	int rc = git_tree_lookup(&root, r->g, as_git(tree));

	if (rc < 0)
		return err_git(err, rc, "cannot read tree %s",
			       oid_text(tree).s);
	rc = git_tree_entry_bypath(&e, root, path);
	git_tree_free(root);
	if (rc == GIT_ENOTFOUND)
		return err_set(err, ERR_NOTFOUND, "there is no '%s'", path);
	if (rc < 0)
		return err_git(err, rc, "cannot look up '%s'", path);
	out->name = NULL;
	from_git(&out->id, git_tree_entry_id(e));
	out->mode = (unsigned)git_tree_entry_filemode(e);
	git_tree_entry_free(e);
	return 0;
}

/* ---- trees with files put in ---- */

struct put {			/* files to put, sorted by path */
	struct repo *r;
	const struct srcfile **v;
};

static int put_blob(struct put *p, struct tree *t, const struct srcfile *f,
		    const char *name, struct err *err)
{
	struct tree_entry *e = tree_find(t, name, strlen(name));
	git_oid id;
	struct oid oid;

	if (e && !S_ISREG(e->mode))
		return err_set(err, ERR_FORMAT, "'%s' is %s in the commit, not "
			       "a file", f->path, S_ISDIR(e->mode) ?
			       "a folder" : "a link or submodule");
	git_odb_hash(&id, f->text.ptr, f->text.len, GIT_OBJECT_BLOB);
	from_git(&oid, &id);
	if (e && oid_eq(&e->id, &oid))
		return 0;
	if (repo_blob_write(p->r, f->text.ptr, f->text.len, &oid, err) < 0)
		return err->code;
	tree_put(t, name, &oid, e ? e->mode : 0100644);
	return 0;
}

/* Files [lo, hi) lie below the folder whose path has `skip` bytes. */
static int put_level(struct put *p, const struct oid *old, size_t lo,
		     size_t hi, size_t skip, struct oid *out, struct err *err)
{
	struct tree t = { NULL, 0, 0 };
	size_t i, next;
	int ret = 0;

	if (old)
		ret = repo_tree_read(p->r, old, &t, err);
	for (i = lo; !ret && i < hi; i = next) {
		const char *name = p->v[i]->path + skip;
		const char *slash = strchr(name, '/');
		struct tree_entry *e;
		struct oid sub;
		char *dir;
		size_t len;

		next = i + 1;
		if (!slash) {
			ret = put_blob(p, &t, p->v[i], name, err);
			continue;
		}
		len = (size_t)(slash - name) + 1;
		while (next < hi && !strncmp(p->v[next]->path + skip, name,
					     len))
			next++;
		e = tree_find(&t, name, len - 1);
		if (e && !S_ISDIR(e->mode)) {
			ret = err_set(err, ERR_FORMAT, "'%.*s' is not a folder "
				      "in the commit, as '%s' needs",
				      (int)(skip + len - 1), p->v[i]->path,
				      p->v[i]->path);
			continue;
		}
		ret = put_level(p, e ? &e->id : NULL, i, next, skip + len,
				&sub, err);
		dir = xstrndup(name, len - 1);
		if (!ret)
			tree_put(&t, dir, &sub, 040000);
		free(dir);
	}
	if (!ret)
		ret = repo_tree_write(p->r, &t, out, err);
	tree_release(&t);
	return ret;
}

int repo_tree_with(struct repo *r, const struct oid *tree,
		   const struct srcset *s, bool writable_only,
		   struct oid *out, struct err *err)
{
	struct put p = { r, xcalloc(s->nr, sizeof(*p.v)) };
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < s->nr; i++) {
		if (writable_only && !s->v[i].writable)
			continue;
		if (!path_is_safe(s->v[i].path))
			ret = err_set(err, ERR_FORMAT, "'%s' is not a path "
				      "that may be written", s->v[i].path);
		p.v[nr++] = &s->v[i];
	}
	*out = *tree;
	if (!ret && nr)
		ret = put_level(&p, tree, 0, nr, 0, out, err);
	free(p.v);
	return ret;
}

/* tree without one path; a folder that becomes empty goes too. */
static int remove_path(struct repo *r, const struct oid *tree,
		       const char *path, struct oid *out, bool *empty,
		       struct err *err)
{
	const char *slash = strchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : strlen(path);
	struct tree t;
	struct tree_entry *e;
	bool gone = !slash;
	int ret = repo_tree_read(r, tree, &t, err);

	if (ret < 0)
		return ret;
	e = tree_find(&t, path, len);
	if (e && slash && S_ISDIR(e->mode))
		ret = remove_path(r, &e->id, slash + 1, &e->id, &gone, err);
	if (!ret && e && gone) {
		free(e->name);
		*e = t.v[--t.nr];
	}
	*empty = t.nr == 0;
	if (!ret)
		ret = repo_tree_write(r, &t, out, err);
	tree_release(&t);
	return ret;
}

int repo_tree_without(struct repo *r, const struct oid *tree,
		      const struct strv *paths, struct oid *out,
		      struct err *err)
{
	bool empty;

	*out = *tree;
	for (size_t i = 0; i < paths->nr; i++) {
		int ret = remove_path(r, out, paths->v[i], out, &empty, err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* ---- globs ---- */

static bool is_literal(const char *glob)
{
	return !strpbrk(glob, "*?[\\");
}

bool glob_match(const char *glob, const char *path)
{
	if (is_literal(glob))
		return !strcmp(glob, path);
	return fnmatch(glob, path, FNM_PATHNAME) == 0;
}

bool glob_leads_below(const char *glob, const char *dir)
{
	bool literal = is_literal(glob);

	if (strpbrk(glob, "[\\"))	/* may hide a slash: be generous */
		return true;
	for (;;) {
		size_t lg = strcspn(glob, "/"), ld = strcspn(dir, "/");
		char part[256], name[256];

		if (!glob[lg])		/* the glob ends at or above dir */
			return false;
		if (lg >= sizeof(part) || ld >= sizeof(name))
			return !literal;
		memcpy(part, glob, lg);
		part[lg] = '\0';
		memcpy(name, dir, ld);
		name[ld] = '\0';
		if (fnmatch(part, name, FNM_PATHNAME))
			return false;
		if (!dir[ld])
			return true;
		glob += lg + 1;
		dir += ld + 1;
	}
}

struct match {
	struct repo *r;
	const struct strv *globs;
	int (*fn)(void *ctx, const char *path, const struct oid *blob,
		  struct err *err);
	void *ctx;
	struct buf path;
};

static bool match_any(const struct match *m, const char *path)
{
	for (size_t i = 0; i < m->globs->nr; i++)
		if (glob_match(m->globs->v[i], path))
			return true;
	return false;
}

static bool leads_below(const struct match *m, const char *dir,
			bool literal_only)
{
	for (size_t i = 0; i < m->globs->nr; i++)
		if ((!literal_only || is_literal(m->globs->v[i])) &&
		    glob_leads_below(m->globs->v[i], dir))
			return true;
	return false;
}

static int match_level(struct match *m, const struct oid *tree, int depth,
		       struct err *err);

static int match_entry(struct match *m, const struct tree_entry *e, int depth,
		       struct err *err)
{
	const char *path = m->path.ptr;

	if (S_ISDIR(e->mode))
		return leads_below(m, path, false) ?
			match_level(m, &e->id, depth + 1, err) : 0;
	if (!S_ISREG(e->mode)) {
		if (!match_any(m, path) && !leads_below(m, path, true))
			return 0;
		return err_set(err, ERR_FORMAT, "'%s' is a %s, not a regular "
			       "file", path, S_ISLNK(e->mode) ?
			       "symbolic link" : "submodule");
	}
	if (!match_any(m, path))
		return 0;
	if (!path_is_safe(path))
		return err_set(err, ERR_FORMAT, "'%s' is not a path that may "
			       "be read", path);
	return m->fn(m->ctx, path, &e->id, err);
}

static int match_level(struct match *m, const struct oid *tree, int depth,
		       struct err *err)
{
	size_t len = m->path.len;
	struct tree t;
	int ret;

	if (depth > MAX_DEPTH)
		return err_set(err, ERR_LIMIT, "'%s' lies too deep",
			       m->path.ptr);
	ret = repo_tree_read(m->r, tree, &t, err);
	for (size_t i = 0; !ret && i < t.nr; i++) {
		if (len)
			buf_addch(&m->path, '/');
		buf_addstr(&m->path, t.v[i].name);
		ret = match_entry(m, &t.v[i], depth, err);
		m->path.len = len;
		m->path.ptr[len] = '\0';
	}
	tree_release(&t);
	return ret;
}

int repo_tree_match(struct repo *r, const struct oid *tree,
		    const struct strv *globs,
		    int (*fn)(void *ctx, const char *path,
			      const struct oid *blob, struct err *err),
		    void *ctx, struct err *err)
{
	struct match m = { r, globs, fn, ctx, BUF_INIT };
	int ret;

	buf_addch(&m.path, ' ');	/* so that it can be cut to nothing */
	buf_reset(&m.path);
	ret = match_level(&m, tree, 0, err);
	buf_release(&m.path);
	return ret;
}

/* ---- refs ---- */

int repo_ref_read(struct repo *r, const char *name, struct oid *out,
		  struct err *err)
{
	git_oid id;
	int rc = git_reference_name_to_id(&id, r->g, name);

	if (rc == GIT_ENOTFOUND)
		return err_set(err, ERR_NOTFOUND, "there is no '%s'", name);
	if (rc < 0)
		return err_git(err, rc, "cannot read '%s'", name);
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
	return err_git(err, rc, "cannot move '%s'", name);
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
		return err_git(err, rc, "cannot list '%s'", prefix);
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
		return err_git(err, rc, "cannot list '%s'", prefix);
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

/* ---- history ---- */

int repo_is_ancestor(struct repo *r, const struct oid *a,
		     const struct oid *b, struct err *err)
{
	int rc;

	if (oid_eq(a, b))
		return 1;
	rc = git_graph_descendant_of(r->g, as_git(b), as_git(a));
	if (rc < 0)
		return err_git(err, rc, "cannot walk from %s",
			       oid_short(b).s);
	return rc;
}

int repo_tree_diff(struct repo *r, const struct oid *a, const struct oid *b,
		   struct strv *paths, size_t max, struct err *err)
{
	git_tree *ta = NULL, *tb = NULL;
	git_diff *diff = NULL;
	int rc = git_tree_lookup(&ta, r->g, as_git(a));

	if (!rc)
		rc = git_tree_lookup(&tb, r->g, as_git(b));
	if (!rc)
		rc = git_diff_tree_to_tree(&diff, r->g, ta, tb, NULL);
	for (size_t i = 0; !rc && i < git_diff_num_deltas(diff) &&
	     paths->nr < max; i++) {
		const git_diff_delta *d = git_diff_get_delta(diff, i);

		strv_pushf(paths, "%c\t%s", git_diff_status_char(d->status),
			   d->status == GIT_DELTA_DELETED ?
			   d->old_file.path : d->new_file.path);
	}
	if (rc)
		err_git(err, rc, "cannot compare %s and %s", oid_short(a).s,
			oid_short(b).s);
	git_diff_free(diff);
	git_tree_free(ta);
	git_tree_free(tb);
	return rc ? (int)err->code : 0;
}
