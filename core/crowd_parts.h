/* What the files of the crowd share; no one else includes this. */
#ifndef CORE_CROWD_PARTS_H
#define CORE_CROWD_PARTS_H

#include "core/clock.h"
#include "core/crowd.h"
#include "core/lease.h"
#include "core/rng.h"

#define WAIT_LEAST_S 0.2	/* between two looks */
#define WAIT_MOST_S 5.0

/* Keys of leases besides those of rounds, which begin with the device class:
 * who is there, and that one makes the rounds alone. */
#define KEY_HERE "_here."
#define KEY_ALONE "_alone."

#define CROWD_REFS 4

struct own_ref {		/* that this worker writes */
	char *local, *there;	/* names */
	struct oid id;		/* what the remote has of it; zero: unknown */
};

struct crowd {
	struct search_crowd face;
	char *worker;		/* that own[] is named after */
	char *here, *single;	/* keys: our presence, and that we are alone */
	struct search *search;
	struct remote_opts opts;
	char *remote;
	struct share_teller teller;
	struct leases *leases;
	struct own_ref own[CROWD_REFS];
	struct oid others;	/* what the others' refs were like last */
	bool dirty;		/* the last pull did not come to its end */
	double wait_s;
	double interval_s;	/* between pushes of all workers; 0: none */
	double pushed_at;	/* by this one */
	int failed;		/* calls in a row */
	int refused;		/* among them */
	double retry;		/* not before, when failed */
	bool looked;		/* at the leases, ever */
	bool held_off;		/* told that another works alone */
	struct rng rng;

	/* ---- crowd_alone.c ---- */
	bool alone;		/* rounds are made without the others */
	double look_s;		/* between two looks, alone */
	double look_at;		/* the next one */
	int blind;		/* looks that failed, in a row */
	int quiet;		/* joint rounds in which nobody was seen */
	bool news;		/* there was some since the last round */
};

void crowd_warn(const struct crowd *c, const char *text);
void crowd_say(const struct crowd *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Tells once that the remote is out of reach, and once that it is back; gives
 * ret back. */
int crowd_noted(struct crowd *c, int ret, const struct err *err);
int crowd_take(struct crowd *c, bool *news, struct err *err);
int crowd_share(struct crowd *c, struct err *err);

/* The time for a look has come, alone. */
void crowd_keep_alone(struct crowd *c);

#endif
