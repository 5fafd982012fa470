/* git maxkernel diff: what a node changes, as git diff shows it. */
#include <stdlib.h>
#include <string.h>

#include "cmd/child.h"
#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "core/mem.h"

#define NUMSTAT_MAX (4u << 20)

static const char *const usage[] = {
	"git maxkernel diff [--stat] [--name-only] [-w] [--json] "
	"[<node> [<node>]]",
	NULL
};

struct ends {
	struct oid from, to;
	struct strv paths;	/* pathspecs */
	char *kernel, *search;
};

static void ends_release(struct ends *e)
{
	strv_release(&e->paths);
	free(e->kernel);
	free(e->search);
}

static int add_end(struct repo *r, const char *name, struct ends *e,
		   struct oid *root, struct oid *node, struct err *err)
{
	struct view v;
	uint32_t idx = 0;
	int ret;

	if (name) {
		ret = node_find(r, name, &v, &idx, err);
	} else {
		ret = node_search(r, NULL, &v, err);
		if (!ret)
			idx = v.graph.champion;
	}
	if (ret)
		return ret;
	*root = v.graph.node[0].id;
	*node = v.graph.node[idx].id;
	node_pathspecs(&v, &e->paths);
	free(e->kernel);
	free(e->search);
	e->kernel = xstrdup(v.search->spec.kernel);
	e->search = xstrdup(v.search->spec.slug);
	view_close(&v);
	return 0;
}

static int find_ends(struct repo *r, int argc, char **argv, struct ends *e,
		     struct err *err)
{
	struct oid root;
	int ret;

	if (argc < 2)
		return add_end(r, argc ? argv[0] : NULL, e, &e->from, &e->to,
			       err);
	ret = add_end(r, argv[0], e, &root, &e->from, err);
	if (!ret)
		ret = add_end(r, argv[1], e, &root, &e->to, err);
	return ret;
}

static void git_diff(struct strv *argv, const struct ends *e,
		     const char *const *options)
{
	strv_push(argv, "git");
	strv_push(argv, "diff");
	for (; *options; options++)
		strv_push(argv, *options);
	strv_push(argv, oid_text(&e->from).s);
	strv_push(argv, oid_text(&e->to).s);
	strv_push(argv, "--");
	for (size_t i = 0; i < e->paths.nr; i++)
		strv_push(argv, e->paths.v[i]);
}

/* "added\tremoved\tpath\0", "-" for a binary file. */
static void files_json(const struct buf *numstat, struct buf *out)
{
	const char *p = numstat->ptr, *end = p + numstat->len;

	buf_addch(out, '[');
	while (p < end) {
		const char *second = strchr(p, '\t');
		const char *path = second ? strchr(second + 1, '\t') : NULL;
		struct jout j;

		if (!path)
			break;
		if (out->len > 1)
			buf_addch(out, ',');
		jout_begin(&j);
		jout_str(&j, "path", path + 1);
		if (*p == '-') {
			jout_str(&j, "added", NULL);
			jout_str(&j, "removed", NULL);
		} else {
			jout_int(&j, "added", strtoll(p, NULL, 10));
			jout_int(&j, "removed", strtoll(second + 1, NULL, 10));
		}
		jout_detach(&j, out);
		p = path + strlen(path) + 1;
	}
	buf_addch(out, ']');
}

static int print_json(const struct ends *e, struct err *err)
{
	static const char *const options[] = {
		"--numstat", "-z", "--no-renames", "--no-ext-diff", NULL
	};
	struct buf numstat = BUF_INIT, files = BUF_INIT;
	struct strv argv = STRV_INIT;
	struct jout j;
	int status = 0, ret;

	git_diff(&argv, e, options);
	ret = child_read(&argv, false, NUMSTAT_MAX, &numstat, &status, err);
	strv_release(&argv);
	if (!ret && status)
		ret = err_set(err, ERR_GIT, "git diff failed");
	if (!ret) {
		files_json(&numstat, &files);
		jout_begin(&j);
		jout_str(&j, "kernel", e->kernel);
		jout_str(&j, "search", e->search);
		jout_str(&j, "from", oid_text(&e->from).s);
		jout_str(&j, "node", oid_text(&e->to).s);
		jout_raw(&j, "files", files.ptr);
		jout_end(&j, stdout);
	}
	buf_release(&files);
	buf_release(&numstat);
	return ret;
}

static int diff_run(struct session *s, int argc, char **argv, struct err *err)
{
	bool stat = false, names = false, blanks = false, json = false;
	const struct opt opts[] = {
		OPT_BOOL(0, "stat", &stat, "how many lines of which files"),
		OPT_BOOL(0, "name-only", &names, "only the files' names"),
		OPT_BOOL('w', "ignore-all-space", &blanks, "ignore blanks"),
		OPT_BOOL(0, "json", &json, "print one JSON object"),
		OPT_END
	};
	const char *options[4];
	struct ends e = { 0 };
	struct strv git = STRV_INIT;
	int status, nr = 0;

	argc = opt_parse(&cmd_diff, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 2, err);
	if (status)
		return status;
	if (find_ends(s->repo, argc, argv, &e, err)) {
		status = cmd_status_of(err);
	} else if (json) {
		status = print_json(&e, err) ? EXIT_FAILED : EXIT_DONE;
	} else {
		if (stat)
			options[nr++] = "--stat";
		if (names)
			options[nr++] = "--name-only";
		if (blanks)
			options[nr++] = "-w";
		options[nr] = NULL;
		git_diff(&git, &e, options);
		child_exec(&git, err);
		status = EXIT_FAILED;
	}
	strv_release(&git);
	ends_release(&e);
	return status;
}

const struct cmd cmd_diff = {
	.name = "diff",
	.group = "look",
	.summary = "show what a node changes, or how two nodes differ",
	.usage = usage,
	.needs = NEED_REPO,
	.run = diff_run,
};
