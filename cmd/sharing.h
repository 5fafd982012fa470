/* What push and pull have in common: the remote, progress and warnings. */
#ifndef CMD_SHARING_H
#define CMD_SHARING_H

#include "cmd/cmd.h"
#include "core/share.h"

struct words {
	struct strv v;
	size_t told;		/* of them */
};

struct sharing {
	struct session *session;
	bool verbose, background;
	bool fetches;		/* pull: the usual remote is git fetch's */
	struct words words;	/* the remote's own */
	char *remote;
	struct strv searches;	/* slugs, or beginnings of slugs */
	struct strv moved;	/* searches with something moved, in order */
	size_t *refs, *nodes;	/* of each of them */
	struct remote_opts opts;
	struct share_teller teller;
};

/*
 * The operands [<remote>] [<search>...]: a first one that is no remote and no
 * path but a search of this repository means the usual remote.  Signals end
 * git from here on.  sharing_close() in any case.
 */
int sharing_open(struct sharing *sh, struct session *s, int argc, char **argv,
		 struct err *err);
void sharing_close(struct sharing *sh);

/* A line that git printed: kept if it is a remote's own words and no
 * progress. */
void words_hear(struct words *words, const char *line);
/* Those that are new, to stderr. */
void words_tell(struct words *words);

#endif
