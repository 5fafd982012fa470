#include "core/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/git.h"
#include "core/mem.h"

#define MAX_REF 512		/* bytes of a name */
#define MAX_WORDS 600		/* of git's words in an error */
#define PUSH_BATCH 500		/* refs of one push: its argument list */
#define REMEMBER_S 60		/* that an answer is kept for the next call */

/* ---- names ---- */

bool remote_ref_ok(const char *name)
{
	size_t len = strlen(name);
	const char *p;

	if (strncmp(name, "refs/", 5) || len > MAX_REF ||
	    name[len - 1] == '/' || name[len - 1] == '.')
		return false;
	for (p = name; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c <= ' ' || c == 127 || strchr("~^:?*[\\", c))
			return false;
		if ((c == '/' && (p[1] == '/' || p[1] == '.')) ||
		    (c == '.' && p[1] == '.') || (c == '@' && p[1] == '{'))
			return false;
		if (c == '.' && !strncmp(p, ".lock", 5) &&
		    (p[5] == '/' || !p[5]))
			return false;
	}
	return true;
}

/* Git would take it for an option, or for several lines. */
static int check_name(const char *name, struct err *err)
{
	if (!*name || *name == '-')
		return err_set(err, ERR_USAGE, "'%s' is not a remote", name);
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p < ' ')
			return err_set(err, ERR_USAGE, "the remote's name "
				       "holds control characters");
	return 0;
}

static bool config_of_branch(struct repo *r, const char *what, struct buf *out)
{
	struct buf branch = BUF_INIT;
	char *key;
	bool found = false;

	if (repo_head_branch(r, &branch) &&
	    !strncmp(branch.ptr, "refs/heads/", 11)) {
		key = xasprintf("branch.%s.%s", branch.ptr + 11, what);
		found = repo_config_str(r, key, out);
		free(key);
	}
	buf_release(&branch);
	return found && out->len;
}

static int all_remotes(struct repo *r, struct strv *out, struct err *err)
{
	struct strv args = STRV_INIT;
	struct buf text = BUF_INIT;
	int ret;

	strv_push(&args, "remote");
	ret = git_call(r, &args, &text, err);
	for (char *p = text.ptr, *line; !ret && p && *p;) {
		line = strsep(&p, "\n");
		if (*line)
			strv_push(out, line);
	}
	strv_release(&args);
	buf_release(&text);
	return ret;
}

static int choose(const struct strv *all, struct buf *out, struct err *err)
{
	if (strv_has(all, "origin")) {
		buf_addstr(out, "origin");
		return 0;
	}
	if (all->nr == 1) {
		buf_addstr(out, all->v[0]);
		return 0;
	}
	if (!all->nr)
		return err_set(err, ERR_NOTFOUND, "this repository has no "
			       "remote: 'git remote add origin <url>' adds one, "
			       "or name a URL or a path");
	return err_set(err, ERR_NOTFOUND, "this repository has %zu remotes: "
		       "name one, or set maxkernel.remote", all->nr);
}

static int find_default(struct repo *r, bool push, char **out,
			struct err *err)
{
	struct strv all = STRV_INIT;
	struct buf name = BUF_INIT;
	int ret = 0;

	*out = NULL;
	if (!(repo_config_str(r, "maxkernel.remote", &name) && name.len) &&
	    !(push && config_of_branch(r, "pushRemote", &name)) &&
	    !(push && repo_config_str(r, "remote.pushDefault", &name) &&
	      name.len) &&
	    (!config_of_branch(r, "remote", &name) ||
	     !strcmp(name.ptr, "."))) {
		buf_reset(&name);
		ret = all_remotes(r, &all, err);
		if (!ret)
			ret = choose(&all, &name, err);
	}
	if (!ret)
		ret = check_name(name.ptr, err);
	if (!ret)
		*out = xstrdup(name.ptr);
	buf_release(&name);
	strv_release(&all);
	return ret;
}

int remote_default(struct repo *r, char **out, struct err *err)
{
	return find_default(r, true, out, err);
}

int remote_default_fetch(struct repo *r, char **out, struct err *err)
{
	return find_default(r, false, out, err);
}

/* ---- one call ---- */

/*
 * One push is several calls of git, each of which would ask a person without
 * a credential helper for the same password: git's own helper keeps it in
 * memory for so long, in a folder of this repository's.
 */
static void remember_answer(struct repo *r, const struct remote_opts *o,
			    struct strv *args)
{
	char *key = xasprintf("remote.%s.url", o->name);
	char *path = xasprintf("%smaxkernel/cache/asked/socket",
			       repo_gitdir(r));
	struct buf url = BUF_INIT, helper = BUF_INIT;

	if (!repo_config_str(r, key, &url))
		buf_addstr(&url, o->name);
	if (!strncmp(url.ptr, "http", 4) && !strpbrk(path, "'\n") &&
	    !repo_config_str(r, "credential.helper", &helper)) {
		strv_push(args, "-c");
		strv_pushf(args, "credential.helper=cache --timeout=%d "
			   "--socket='%s'", REMEMBER_S, path);
	}
	free(key);
	free(path);
	buf_release(&url);
	buf_release(&helper);
}

/* Where relative paths start, as for git itself. */
static void begin_args(struct repo *r, const struct remote_opts *o,
		       struct strv *args)
{
	const char *top = repo_workdir(r);

	strv_push(args, "-C");
	strv_push(args, top ? top : repo_gitdir(r));
	if (!o->background)
		remember_answer(r, o, args);
}

static int call(struct repo *r, const struct remote_opts *o,
		struct git_run *run, struct err *err)
{
	int ret;

	run->timeout_ms = o->timeout_ms;
	run->stop_fd = o->stop_fd;
	run->may_ask = !o->background;
	run->said = o->said;
	run->ctx = o->ctx;
	ret = git_run(r, run, err);
	if (ret == ERR_LIMIT) {
		err->code = ERR_NET;
		return err_wrap(err, "remote '%s'", o->name);
	}
	return ret;
}

/* git could not do it: its words, and the way out where we know one. */
static int no_luck(const struct remote_opts *o, const struct git_run *run,
		   const char *doing, struct err *err)
{
	struct buf text = BUF_INIT;

	git_run_words(run, &text);
	if (text.len > MAX_WORDS)
		buf_splice(&text, 0, text.len - MAX_WORDS, "...", 3);
	err_set(err, ERR_NET, "cannot %s remote '%s': %s%s", doing, o->name,
		text.len ? text.ptr : "git gave no reason",
		strstr(text.ptr, "dubious ownership") ? " (that repository "
		"belongs to somebody else: see safe.directory in 'git help "
		"config')" : "");
	buf_release(&text);
	return err->code;
}

/* ---- listing ---- */

void remote_refs_release(struct remote_refs *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->v[i].name);
	free(l->v);
	memset(l, 0, sizeof(*l));
}

static int by_name(const void *a, const void *b)
{
	const struct remote_ref *x = a, *y = b;

	return strcmp(x->name, y->name);
}

const struct oid *remote_refs_find(const struct remote_refs *l,
				   const char *name)
{
	struct remote_ref key = { (char *)(uintptr_t)name, { { 0 } } }, *found;

	if (!l->nr)
		return NULL;
	found = bsearch(&key, l->v, l->nr, sizeof(*l->v), by_name);
	return found ? &found->id : NULL;
}

/* "<id>\t<name>"; lines that are not are a broken remote. */
static int add_listed(struct remote_refs *l, const char *line, size_t len,
		      struct err *err)
{
	struct remote_ref ref;

	if (len <= OID_HEX + 1 || line[OID_HEX] != '\t' ||
	    !oid_parse(&ref.id, line))
		return err_set(err, ERR_NET, "its list of refs is not one: "
			       "is it a SHA-256 repository?");
	if (l->nr >= REMOTE_MAX_REFS)
		return err_set(err, ERR_LIMIT, "it has more than %u refs",
			       REMOTE_MAX_REFS);
	ref.name = xstrndup(line + OID_HEX + 1, len - OID_HEX - 1);
	if (!remote_ref_ok(ref.name)) {		/* nothing we would take */
		free(ref.name);
		return 0;
	}
	GROW(l->v, l->nr, l->cap);
	l->v[l->nr++] = ref;
	return 0;
}

static int parse_list(const struct buf *text, struct remote_refs *out,
		      struct err *err)
{
	const char *p = text->ptr, *end = p + text->len;
	int ret = 0;

	while (p < end && !ret) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = nl ? (size_t)(nl - p) : (size_t)(end - p);

		if (memchr(p, '\0', len))
			ret = err_set(err, ERR_NET, "its list of refs holds "
				      "zero bytes");
		else if (len)
			ret = add_listed(out, p, len, err);
		p += len + 1;
	}
	if (out->nr > 1)
		qsort(out->v, out->nr, sizeof(*out->v), by_name);
	return ret;
}

int remote_list(struct repo *r, const struct remote_opts *o,
		const struct strv *patterns, struct remote_refs *out,
		struct err *err)
{
	struct strv args = STRV_INIT;
	struct git_run run = { .args = &args };
	int ret = check_name(o->name, err);

	memset(out, 0, sizeof(*out));
	if (ret < 0)
		return ret;
	begin_args(r, o, &args);
	strv_push(&args, "ls-remote");
	strv_push(&args, "--refs");
	strv_push(&args, "--");
	strv_push(&args, o->name);
	for (size_t i = 0; patterns && i < patterns->nr; i++)
		strv_push(&args, patterns->v[i]);
	ret = call(r, o, &run, err);
	if (!ret && run.status)
		ret = no_luck(o, &run, "read", err);
	if (!ret && parse_list(&run.out, out, err) < 0)
		ret = err_wrap(err, "remote '%s'", o->name);
	if (ret < 0)
		remote_refs_release(out);
	git_run_release(&run);
	strv_release(&args);
	return ret;
}

/* ---- fetching ---- */

static int fetch_once(struct repo *r, const struct remote_opts *o,
		      const struct strv *refspecs, bool prune,
		      struct err *err)
{
	static const char *const options[] = {
		"fetch", "--no-tags", "--no-write-fetch-head", "--refmap=",
		"--no-recurse-submodules", "--no-filter", "--stdin",
	};
	struct strv args = STRV_INIT;
	struct buf input = BUF_INIT;
	struct git_run run = { .args = &args };
	int ret = check_name(o->name, err);

	if (ret < 0)
		return ret;
	begin_args(r, o, &args);
	/* Else a power cut leaves refs to objects that are not there. */
	strv_push(&args, "-c");
	strv_push(&args, "core.fsync=objects,reference");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		strv_push(&args, options[i]);
	strv_push(&args, prune ? "--prune" : "--no-prune");
	if (o->said && !o->quiet)
		strv_push(&args, "--progress");
	strv_push(&args, "--");
	strv_push(&args, o->name);
	for (size_t i = 0; i < refspecs->nr; i++)
		buf_addf(&input, "%s\n", refspecs->v[i]);
	run.input = input.ptr;
	run.input_len = input.len;
	ret = call(r, o, &run, err);
	if (!ret && run.status)
		ret = no_luck(o, &run, "fetch from", err);
	git_run_release(&run);
	buf_release(&input);
	strv_release(&args);
	return ret;
}

/* A fetch that was killed leaves the locks of the refs it was to move. */
int remote_fetch(struct repo *r, const struct remote_opts *o,
		 const struct strv *refspecs, bool prune, struct err *err)
{
	int ret = fetch_once(r, o, refspecs, prune, err);

	if (ret != ERR_NET ||
	    !(repo_ref_clear_locks(r, "refs/maxkernel-remote") +
	      repo_ref_clear_locks(r, "refs/notes/remote")))
		return ret;
	return fetch_once(r, o, refspecs, prune, err);
}

/* ---- pushing ---- */

/* What a '!' line says in its last brackets. */
static enum push_status refusal(const char *why)
{
	static const char *const race[] = {
		"fetch first", "non-fast-forward", "stale info",
		"failed to update ref", "cannot lock ref", "failed to lock",
		"incorrect old value", "already exists", "remote ref updated",
		"but expected", "unable to create",
	};
	static const char *const unsent[] = {
		"atomic push fail", "atomic transaction failed",
		"remote failed to report status", "no match",
		"remote failure", "unpacker error",
	};

	for (size_t i = 0; i < ARRAY_SIZE(unsent); i++)
		if (strstr(why, unsent[i]))
			return PUSH_UNSENT;
	for (size_t i = 0; i < ARRAY_SIZE(race); i++)
		if (strstr(why, race[i]))
			return PUSH_RACE;
	return PUSH_REFUSED;
}

static void keep_why(struct push_item *it, const char *why, size_t len)
{
	struct buf clean = BUF_INIT;

	buf_add_clean(&clean, why, len, false);
	snprintf(it->why, sizeof(it->why), "%s", clean.ptr);
	buf_release(&clean);
}

static struct push_item *item_of(struct push_item *item, size_t nr,
				 const char *ref, size_t len)
{
	for (size_t i = 0; i < nr; i++)
		if (strlen(item[i].ref) == len &&
		    !strncmp(item[i].ref, ref, len))
			return &item[i];
	return NULL;
}

/* "<flag>\t<from>:<to>\t<summary> (<reason>)".  A remote with several push
 * URLs tells of each of them: what one refused is refused. */
static void read_status(struct push_item *item, size_t nr, const char *line,
			size_t len)
{
	const char *end = line + len, *tab, *colon;
	struct push_item *it;

	if (len < 4 || line[1] != '\t')
		return;
	tab = memchr(line + 2, '\t', len - 2);
	colon = tab ? memchr(line + 2, ':', (size_t)(tab - line - 2)) : NULL;
	if (!colon)
		return;
	it = item_of(item, nr, colon + 1, (size_t)(tab - colon - 1));
	if (!it)
		return;
	if (*line == '=' && it->status == PUSH_UNSENT && !*it->why)
		it->status = PUSH_SAME;
	else if (*line && strchr(" +-*", *line) && !*it->why)
		it->status = PUSH_DONE;
	if (*line == '!' && !*it->why) {
		keep_why(it, tab + 1, (size_t)(end - tab - 1));
		it->status = refusal(it->why);
	}
}

/* True if the remote told of any ref. */
static bool read_statuses(struct push_item *item, size_t nr,
			  const struct buf *out)
{
	const char *p = out->ptr, *end = p + out->len;
	bool any = false;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = nl ? (size_t)(nl - p) : (size_t)(end - p);

		read_status(item, nr, p, len);
		p += len + 1;
	}
	for (size_t i = 0; i < nr; i++)
		any |= item[i].status != PUSH_UNSENT || *item[i].why;
	return any;
}

static bool is_mirror(struct repo *r, const char *name)
{
	char *key = xasprintf("remote.%s.mirror", name);
	bool mirror = !strchr(name, '=') && repo_config_bool(r, key, false);

	free(key);
	return mirror;
}

static void push_args(struct repo *r, const struct remote_opts *o,
		      const struct push_item *item, size_t nr, bool atomic,
		      struct strv *args)
{
	static const char *const options[] = {
		"push", "--porcelain", "--no-verify", "--no-follow-tags",
		"--recurse-submodules=no",
	};

	begin_args(r, o, args);
	if (is_mirror(r, o->name)) {	/* else it takes no refspecs */
		strv_push(args, "-c");
		strv_pushf(args, "remote.%s.mirror=false", o->name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		strv_push(args, options[i]);
	if (atomic)
		strv_push(args, "--atomic");
	if (o->said && !o->quiet)
		strv_push(args, "--progress");
	for (size_t i = 0; i < nr; i++)
		if (item[i].leased)
			strv_pushf(args, "--force-with-lease=%s:%s",
				   item[i].ref, oid_is_zero(&item[i].expected)
				   ? "" : oid_text(&item[i].expected).s);
	strv_push(args, "--");
	strv_push(args, o->name);
	for (size_t i = 0; i < nr; i++)
		strv_pushf(args, "%s:%s", oid_is_zero(&item[i].id) ? "" :
			   oid_text(&item[i].id).s, item[i].ref);
}

static int push_once(struct repo *r, const struct remote_opts *o,
		     struct push_item *item, size_t nr, bool atomic,
		     bool *again, struct err *err)
{
	struct strv args = STRV_INIT;
	struct git_run run = { .args = &args };
	int ret;

	*again = false;
	push_args(r, o, item, nr, atomic, &args);
	ret = call(r, o, &run, err);
	if (!ret && !read_statuses(item, nr, &run.out) && run.status) {
		*again = atomic && strstr(run.errors.ptr,
					  "does not support --atomic");
		if (!*again)
			ret = no_luck(o, &run, "push to", err);
	}
	git_run_release(&run);
	strv_release(&args);
	return ret;
}

/* What is put, and only when all of that is there what is deleted. */
static int push_in_turn(struct repo *r, const struct remote_opts *o,
			struct push_item *item, size_t nr, struct err *err)
{
	struct push_item *some = xcalloc(nr, sizeof(*some));
	bool there = true, unused;
	int ret = 0;

	for (int deleted = 0; deleted < 2 && !ret && there; deleted++) {
		size_t n = 0, k = 0;

		for (size_t i = 0; i < nr; i++)
			if (oid_is_zero(&item[i].id) == deleted)
				some[n++] = item[i];
		if (n)
			ret = push_once(r, o, some, n, false, &unused, err);
		for (size_t i = 0; i < nr && !ret; i++) {
			if (oid_is_zero(&item[i].id) != deleted)
				continue;
			item[i] = some[k++];
			there &= item[i].status == PUSH_DONE ||
				item[i].status == PUSH_SAME;
		}
	}
	free(some);
	return ret;
}

int remote_push(struct repo *r, const struct remote_opts *o,
		struct push_item *item, size_t nr, bool atomic,
		struct err *err)
{
	int ret = check_name(o->name, err);
	bool again;

	for (size_t i = 0; i < nr; i++) {
		item[i].status = PUSH_UNSENT;
		item[i].why[0] = '\0';
		if (!ret && !remote_ref_ok(item[i].ref))
			ret = err_set(err, ERR_FORMAT, "'%s' is not the name "
				      "of a ref", item[i].ref);
	}
	for (size_t i = 0; i < nr && !ret; i += PUSH_BATCH) {
		size_t n = nr - i < PUSH_BATCH ? nr - i : PUSH_BATCH;

		ret = push_once(r, o, item + i, n, atomic, &again, err);
		if (!ret && again)
			ret = push_in_turn(r, o, item + i, n, err);
	}
	return ret;
}
