/* What the files of sharing have in common; no one else includes this. */
#ifndef CORE_SHARE_PARTS_H
#define CORE_SHARE_PARTS_H

#include "core/share.h"
#include "core/store_parts.h"

#define SHARE_TRIES 5		/* rounds against others who push too */

enum share_kind { SHARE_SPEC, SHARE_CHAIN, SHARE_NOTES, SHARE_BRANCH };

struct share_ref {		/* a ref of a search, taken apart */
	enum share_kind kind;
	char slug[STORE_MAX_SLUG + 1];
	char worker[65];	/* chain, notes; branch: the device class */
	char what[8];		/* notes: plan...; branch: best or beam */
};
/* False: it is none of those that are shared (a lease, something newer). */
bool share_parse(const char *ref, struct share_ref *out);

struct share {			/* one push or pull */
	struct repo *r;
	const struct remote_opts *o;
	const struct share_teller *t;
	struct share_sum *sum;
	char *prefix;		/* "refs/", or what stands in for it */
	char *prefix2;		/* the other place where a search may be */
	bool prefix_set;	/* by the user */
	char *track;		/* the remote's name in tracking refs */
	struct strv ids;	/* of this clone, the present one first */
	struct strv pushed;	/* see share_was_pushed() */
	/* what the remote has, by local names; other refs are left out */
	struct remote_refs there;
	struct remote_refs place[2];	/* below prefix, below prefix2 */
	int at;			/* share_use(): which of the two, -1: each
				 * search where it is */
	struct strv second;	/* searches that are below prefix2 */
	/* refs were refused: data, branches */
	bool refused_data, refused_heads;
};
int share_open(struct share *sh, struct repo *r, const struct remote_opts *o,
	       const struct share_teller *t, struct share_sum *sum,
	       struct err *err);
void share_close(struct share *sh);
/* Lists the remote anew. */
int share_look(struct share *sh, struct err *err);
/* `there` is from here on what the remote has in that place alone; -1, as
 * share_look() leaves it: of each search what is where it is pushed to. */
void share_use(struct share *sh, int place);
/* Has the remote this ref in either place? */
bool share_has(const struct share *sh, const char *ref);
/* The local name of a ref of the remote; caller frees. */
char *share_local(const struct share *sh, const char *there);
/* Name on the remote, and where a fetched copy lies; caller frees. */
char *share_there(const struct share *sh, const char *ref);
char *share_tracking(const struct share *sh, const char *ref);
/* Fetches these refs (local names) to where their copies lie. */
int share_fetch(struct share *sh, const struct strv *refs, struct err *err);

void share_tell(struct share *sh, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void share_warn(struct share *sh, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* True if a is b or before it; false also if that can't be seen here. */
bool share_before(struct share *sh, const struct oid *a, const struct oid *b);
/* Does our chain at tip replace the one at `there` by pruning it? */
bool share_pruned(struct share *sh, const struct oid *tip,
		  const struct oid *there);
/*
 * The remote's copy of one of our own refs has what we do not: another clone
 * writes under our id.  Takes a new one, told in a warning; 1: that was done
 * too often, and nothing has changed, which is told too.
 */
int share_renew(struct share *sh, struct err *err);

/*
 * share_pushed.c: where this clone has pushed its refs and branches to, in
 * <gitdir>/maxkernel/log/pushed.  What the remote has under our id and we do
 * not (a search that was pruned here) is ours if it was pushed from here.
 */
bool share_was_pushed(struct share *sh, const char *ref,
		      const struct oid *there);
/* The same of a branch, which has to be the very commit. */
bool share_is_as_pushed(struct share *sh, const char *ref,
			const struct oid *there);
void share_note_pushed(struct share *sh, const char *ref,
		       const struct oid *id);
/* Keeps what was noted. */
int share_keep_pushed(struct share *sh, struct err *err);

/* share_branch.c: the landing branches of these searches. */
int share_push_branches(struct share *sh, const struct strv *slugs,
			enum share_branches which, struct err *err);
/* Somebody else was faster: not at once again. */
void share_pause(int try);
/* What became of one item; *again: somebody was faster. */
void share_judge_item(struct share *sh, const struct push_item *it,
		      bool *again);

#endif
