/* git maxkernel push: sends searches to a remote. */
#include <stdlib.h>
#include <string.h>

#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/sharing.h"

static int parse_branches(struct repo *r, const char *text,
			  enum share_branches *out, struct err *err)
{
	if (!text)
		return share_branches(r, out, err);
	if (!strcmp(text, "best"))
		*out = BRANCHES_BEST;
	else if (!strcmp(text, "beam"))
		*out = BRANCHES_BEAM;
	else if (!strcmp(text, "none"))
		*out = BRANCHES_NONE;
	else
		return err_set(err, ERR_USAGE, "--branches takes best, beam or "
			       "none, not '%s'", text);
	return 0;
}

/* Whole slugs of the searches that were named. */
static int find_searches(struct sharing *sh, struct strv *slugs,
			 struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < sh->searches.nr && !ret; i++) {
		char *slug;

		ret = node_slug(sh->session->repo, sh->searches.v[i], &slug,
				err);
		if (!ret)
			strv_push(slugs, slug);
		free(slug);
	}
	return ret;
}

static void print_json(const struct sharing *sh, const struct share_sum *sum)
{
	struct buf list = BUF_INIT;
	struct jout j;

	buf_addch(&list, '[');
	for (size_t i = 0; i < sh->moved.nr; i++) {
		if (i)
			buf_addch(&list, ',');
		buf_add_json(&list, sh->moved.v[i]);
	}
	buf_addch(&list, ']');
	jout_begin(&j);
	jout_str(&j, "remote", sh->remote);
	jout_raw(&j, "searches", list.ptr);
	jout_int(&j, "refs", (long long)sum->refs);
	jout_int(&j, "refused", (long long)sum->refused);
	jout_end(&j, stdout);
	buf_release(&list);
}

static void print_text(const struct sharing *sh, const struct share_sum *sum)
{
	put_clean(stdout, sh->remote);
	if (!sum->refs && !sum->refused)
		puts(": all of it is there already");
	else if (!sum->refs)
		puts(": nothing was pushed; it was refused");
	else if (!sh->moved.nr)
		printf(": %zu branch%s pushed%s\n", sum->refs,
		       sum->refs == 1 ? "" : "es",
		       sum->refused ? "; some refs were refused" : "");
	else
		printf(": %zu ref%s pushed, of %zu search%s%s\n", sum->refs,
		       sum->refs == 1 ? "" : "s", sh->moved.nr,
		       sh->moved.nr == 1 ? "" : "es",
		       sum->refused ? "; some were refused" : "");
}

static int push_run(struct session *s, int argc, char **argv, struct err *err)
{
	struct sharing sh = { .session = s };
	const char *which = NULL;
	bool json = false;
	const struct opt opts[] = {
		OPT_STR(0, "branches", &which, "<which>",
			"landing branches to push: best, beam (and best) or "
			"none"),
		OPT_BOOL(0, "background", &sh.background,
			"never ask for a password or a host key"),
		OPT_BOOL(0, "json", &json, "print one JSON object"),
		OPT_BOOL('v', "verbose", &sh.verbose,
			"tell what stays as it is, and why"),
		OPT_BOOL('q', "quiet", &out_quiet, "say nothing but errors"),
		OPT_END
	};
	enum share_branches branches = BRANCHES_BEST;
	struct strv slugs = STRV_INIT;
	struct share_sum sum = { 0, 0, 0, 0 };
	int status, ret;

	argc = opt_parse(&cmd_push, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	ret = parse_branches(s->repo, which, &branches, err);
	if (!ret)
		ret = sharing_open(&sh, s, argc, argv, err);
	if (!ret)
		ret = find_searches(&sh, &slugs, err);
	if (!ret)
		ret = share_push(s->repo, &sh.opts, &slugs, branches,
				 &sh.teller, &sum, err);
	live("%s", "");
	if (ret || sum.refused)
		words_tell(&sh.words);
	if (!ret && json)
		print_json(&sh, &sum);
	else if (!ret && !out_quiet)
		print_text(&sh, &sum);
	strv_release(&slugs);
	sharing_close(&sh);
	if (ret)
		return cmd_status_of(err);
	return sum.refused ? EXIT_NO : EXIT_DONE;
}

static const char *const usage[] = {
	"git maxkernel push [<options>] [<remote>] [<search>...]",
	NULL
};

const struct cmd cmd_push = {
	.name = "push",
	.group = "share",
	.summary = "send searches to a remote",
	.usage = usage,
	.needs = NEED_REPO,
	.run = push_run,
};
