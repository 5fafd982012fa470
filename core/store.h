/*
 * A search in Git: its spec, its nodes, its notes, its landing branches
 * (design: refs/maxkernel/<s>/spec, .../w/<w>, refs/notes/maxkernel/<s>/...,
 * refs/heads/maxkernel/<s>/...).  Any prefix of what a call writes is a valid
 * repository.
 */
#ifndef CORE_STORE_H
#define CORE_STORE_H

#include "core/graph.h"
#include "core/kernel.h"
#include "core/purse.h"
#include "core/repo.h"
#include "core/usage.h"

struct spec {			/* what refs/maxkernel/<s>/spec says */
	char *slug;
	char *kernel;		/* name */
	char *section;		/* struct kernel's text */
	char *policy;		/* a name of core/policy.h */
	/* Parameters of policies, 0 where one has no use for it.  round:
	 * attempts a round; patience: rounds that a multi-step plan keeps its
	 * place in the beam; islands: of evolve. */
	int width, branches, depth, round, patience, islands;
	double keep;
	uint64_t seed;
	char *proposer;
	char *inner;		/* proposer of MOVE inner (hybrid); "": none */
	char *device;		/* device class slug it was started on */
	struct oid base;	/* the user's commit */
	struct oid root;	/* base, or the commit of the work tree */
	struct budget budget;	/* it was started with */
	int64_t time;		/* when, seconds */
	char *seeds;		/* recipes of an earlier search, one a line,
				 * tried first; "" for none */
	char *prior;		/* struct prior as text: what was known of
				 * strategies when it began; "" for nothing */
	char *shape;		/* of the nest, proposer.shape; "" unknown */
	double space;		/* settings that the proposer has; 0 unknown */
	char *group;		/* slug of the first search of the explore that
				 * it shares its budget with; "": its own */
};
void spec_release(struct spec *s);
void spec_copy(struct spec *to, const struct spec *from);
/* Equal kernel section, policy and parameters, seed, proposer, device and
 * root: what `explore` continues. */
bool spec_same(const struct spec *a, const struct spec *b);

struct search {
	struct repo *repo;	/* borrowed */
	struct spec spec;
	struct oid spec_commit;
	char *worker;		/* ours */
	char *section_hash;	/* 12 hex digits of spec.section's SHA-1, as
				 * git hash-object gives it */
	struct judged *judged;	/* private to the store */
	struct ledger *ledger;	/* private to the store */
	struct oidset *paid;	/* private to the store */
	unsigned batches;	/* written by this process; private */
	int claim_fd;		/* store_claim(); -1 */
	int slot;		/* that is claimed, from 1 */
	/*
	 * Set while several workers make one search: store_load() and
	 * store_record() then choose among the records of all workers alike,
	 * so that all see one graph.
	 */
	bool together;
};

/* Worker id of this clone, "<host8>-<4 hex>", made on first use and kept in
 * <gitdir>/maxkernel/log/worker. */
int store_worker(struct repo *r, char **out, struct err *err);

/* Fills slug, time; writes the spec commit and its ref. */
int store_create(struct repo *r, struct spec *spec, struct search **out,
		 struct err *err);
/* By slug, or unambiguous prefix of one. */
int store_open(struct repo *r, const char *slug, struct search **out,
	       struct err *err);
void store_close(struct search *s);
/* Takes the search for this process until store_close(), unless it has it;
 * ERR_RACE when another process of this machine works on it. */
int store_claim(struct search *s, struct err *err);
/*
 * As store_claim(), but of one slot of several: where the first is taken,
 * s->worker becomes "<worker>-<slot>", so that each ref has a single writer.
 */
int store_claim_slot(struct search *s, struct err *err);
/* All searches, newest first; damaged ones are skipped and named in warn. */
struct spec_list {
	struct spec *v;
	size_t nr, cap;
};
int store_list(struct repo *r, struct spec_list *out, struct strv *warn,
	       struct err *err);
void spec_list_release(struct spec_list *l);
/* The event that ended it ("exhausted"), from the config lines on the spec
 * commit, or NULL: unfinished.  Caller frees. */
int store_finished(struct search *s, char **why, struct err *err);
int store_finish(struct search *s, const char *why, struct err *err);
/* It goes on after all: store_finished() says NULL again. */
int store_reopen(struct search *s, const char *why, struct err *err);

/* One attempt that made a state, or (source NULL) a spend line. */
struct store_attempt {
	const char *op, *proposer, *strategy, *recipe, *subject;
	uint32_t step;
	const struct oid *parent;	/* commits */
	size_t nr_parents;
	const struct srcset *source;	/* NULL: no new state */
	const char *plan;		/* Markdown */
	const char *agents;		/* what the stages did, JSON lines, or NULL */
	int steps;			/* that its plan still has, 0 mostly */
	const struct usages *used;	/* of models; NULL: nothing */
	const struct record *rec;	/* verdict and numbers */
	struct oid state;
	struct oid id;			/* out: the commit */
};
/*
 * Writes a batch: objects, sync, anchor, plan, metrics, spend.  When it
 * returns 0 all of it survives kill -9 and a power cut.
 */
int store_append(struct search *s, struct store_attempt *a, size_t nr,
		 struct err *err);
/* One more measurement of a node (confirmation, verify). */
int store_measure(struct search *s, const struct oid *node,
		  const struct oid *state, const struct record *rec,
		  struct err *err);

/*
 * Loads the graph, as seen on a device class (records of others are kept out
 * of scores).  Corrupt or newer notes are skipped and named in warn.
 */
int store_load(struct search *s, const char *device, struct graph *out,
	       struct strv *warn, struct err *err);
/* The newest record of a node with shapes and samples read from its blob. */
int store_record(struct search *s, const struct oid *node,
		 const char *device, struct record *out, struct err *err);
/* Every record line of a node, oldest first; caller releases each and frees
 * the array. */
int store_records(struct search *s, const struct oid *node,
		  struct record **out, size_t *nr, struct err *err);
/* Plan note text; empty if none. */
int store_plan(struct search *s, const struct oid *node, struct buf *out,
	       struct err *err);
/*
 * A verdict of this clone for (state, section, epoch, device) from any of its
 * searches over equal root sources: 1 and *out, or 0.
 */
int store_judged(struct search *s, const struct oid *state,
		 const char *device, struct record *out, struct err *err);

/* Files of a commit: `file` and `use` of k (aux: and reference, baseline,
 * rivals).  Errors name the pattern and the section's line. */
int store_source(struct repo *r, const struct oid *commit,
		 const struct kernel *k, bool aux, struct srcset *out,
		 struct err *err);
/* The same from the work tree's files (O_NOFOLLOW, regular files). */
int store_source_worktree(struct repo *r, const struct oid *base,
			  const struct kernel *k, bool aux,
			  struct srcset *out, struct err *err);
/* A commit on base holding the work tree's versions; moves no ref. */
int store_worktree_root(struct repo *r, const struct oid *base,
			const struct kernel *k, struct oid *out,
			struct err *err);

/*
 * Landing commits: parent = base, tree = base with the node's kernel files.
 * message: the text of a pull request.  Writes and moves
 * refs/heads/maxkernel/<s>/<what>, what = "best/<d>" or "beam/<d>/<k>".
 * No change when the branch holds an equal tree and message.
 */
int store_land(struct search *s, const char *what, const struct oid *node,
	       const char *message, struct err *err);
/* Deletes a landing branch that is ours alone; none there is fine. */
int store_unland(struct search *s, const char *what, struct err *err);
/* Deletes beam branches with an index of keep or more, by git update-ref. */
int store_land_trim(struct search *s, const char *device, int keep,
		    struct err *err);

/* The search and node that a commit belongs to, by its trailers (a landing
 * commit stands for its Maxkernel-Node): ERR_NOTFOUND if it is none. */
int store_resolve(struct repo *r, const char *rev, struct oid *node,
		  char **slug, struct err *err);

#endif
