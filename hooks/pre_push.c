/*
 * pre-push: a branch whose tip is a landing commit carries a number into the
 * world; it goes only after this clone has confirmed it.  All else passes.
 */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/store.h"
#include "hooks/hook.h"

#define OURS "refs/heads/maxkernel/"

/* The node and search that a commit lands, by its trailers. */
static bool landing(struct repo *r, const struct oid *tip, struct oid *node,
		    char **slug)
{
	struct buf b = BUF_INIT, search = BUF_INIT;
	struct commit c;
	struct err ignored;
	bool found;

	if (repo_commit_read(r, tip, &c, &ignored) < 0)
		return false;		/* a tag's object, or nothing here */
	found = commit_trailer(c.message, "Maxkernel-Node", &b) &&
		strlen(b.ptr) == OID_HEX && oid_parse(node, b.ptr) &&
		commit_trailer(c.message, "Maxkernel-Search", &search);
	if (found)
		*slug = xstrdup(search.ptr);
	commit_release(&c);
	buf_release(&b);
	buf_release(&search);
	return found;
}

/* On some device class the record that counts is our own confirmation. */
static int confirmed(struct search *s, const struct oid *node,
		     struct err *err)
{
	struct record *all, best;
	struct err ignored;
	size_t nr;
	int ret = store_records(s, node, &all, &nr, err), found = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!ret && !found && !all[i].claimed && all[i].device &&
		    store_record(s, node, all[i].device, &best,
				 &ignored) == 0) {
			found = !best.claimed &&
				best.verdict == V_CONFIRMED;
			record_release(&best);
		}
		record_release(&all[i]);
	}
	free(all);
	return ret < 0 ? ret : found;
}

/* 1: refused. */
static int check_branch(struct repo *r, const struct hook_line *l,
			struct err *err)
{
	struct search *s = NULL;
	struct oid node;
	char *slug;
	int ret;

	if (oid_is_zero(&l->new) || !landing(r, &l->new, &node, &slug))
		return 0;
	ret = store_open(r, slug, &s, err);
	if (!ret && strcmp(s->spec.slug, slug))	/* it began so */
		ret = err_set(err, ERR_NOTFOUND, "there is no search '%s'",
			      slug);
	if (!ret)
		ret = confirmed(s, &node, err);
	if (ret == ERR_NOTFOUND)
		hook_say("refused %s: it lands node %s of search '%s', which "
			 "is not in this clone; get it with 'git maxkernel "
			 "pull', then measure it here with 'git maxkernel "
			 "verify %s', or push with --no-verify", l->ref,
			 oid_short(&node).s, slug, oid_short(&node).s);
	else if (!ret)
		hook_say("refused %s: the number of node %s was never "
			 "confirmed by this clone; measure it here with 'git "
			 "maxkernel verify %s', or push with --no-verify",
			 l->ref, oid_short(&node).s, oid_short(&node).s);
	store_close(s);
	free(slug);
	if (ret == ERR_NOTFOUND)
		return 1;
	return ret < 0 ? ret : !ret;
}

static int pre_push(const struct buf *input, int argc, char **argv,
		    struct err *err)
{
	struct hook_lines lines;
	struct repo *r = NULL;
	int ret = hook_lines_parse(input, true, &lines, err), refused = 0;

	(void)argc;
	(void)argv;
	if (ret < 0)
		return ret;
	for (size_t i = 0; ret >= 0 && i < lines.nr; i++) {
		if (strncmp(lines.v[i].ref, "refs/heads/", 11))
			continue;
		if (!r)
			ret = repo_open(&r, ".", err);
		if (ret < 0 && strncmp(lines.v[i].ref, OURS, strlen(OURS))) {
			ret = 0;	/* a shallow clone has no searches */
			continue;
		}
		if (!ret)
			ret = check_branch(r, &lines.v[i], err);
		if (ret < 0)
			break;
		refused |= ret;
		ret = 0;
	}
	repo_close(r);
	hook_lines_release(&lines);
	return ret < 0 ? ret : refused;
}

const struct hook hook_pre_push = {
	.name = "pre-push",
	.run = pre_push,
};
