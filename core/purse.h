/*
 * The budget of a run, which several searches may share: what may be used,
 * what has been, and what is kept in reserve so that each search can confirm
 * its champion before the end.  Plain data; the clock is the caller's.
 */
#ifndef CORE_PURSE_H
#define CORE_PURSE_H

#include <stdbool.h>
#include <stdint.h>

struct budget {			/* 0: no cap */
	int64_t attempts;
	double time_s;		/* wall */
	double device_s;	/* that the judge checks and times */
	int64_t tokens;		/* of models, all kinds */
	double cost;		/* US dollars */
	double until;		/* a confirmed speedup over the baseline that
				 * is enough */
};

enum purse_end {		/* why no further attempt may begin */
	PURSE_OPEN,
	PURSE_ATTEMPTS, PURSE_TIME, PURSE_DEVICE, PURSE_TOKENS, PURSE_COST
};
/* "attempts", "time", "device time", "tokens", "cost"; "" for PURSE_OPEN. */
const char *purse_end_name(enum purse_end e);

struct purse {
	struct budget budget;
	struct budget used;	/* but until; time_s by purse_clock() */
	double reserve_s;	/* sum of purse_reserve() */
	double start_s;		/* clock_s() when the first search began; 0:
				 * none has */
};

void purse_init(struct purse *p, const struct budget *b);
/* Wall seconds since the run began. */
void purse_clock(struct purse *p, double elapsed_s);
/* A search changes what it needs for its last confirmation, from `was`
 * seconds to `now`. */
void purse_reserve(struct purse *p, double was, double now);
/*
 * May one more attempt begin, with `planned` others that have not ended (what
 * their proposals have cost is used already)?  tokens and cost are what it is
 * expected to use, or what attempts have used on average if that is more: a
 * cap that it would pass stops it before.  Caps of wall and device time keep
 * the reserve back.
 */
enum purse_end purse_ask(const struct purse *p, int64_t planned,
			 int64_t tokens, double cost);
/* Would wall or device time be up in `spare` seconds, the reserve kept back?
 * A search that is at its end gives its own reserve back first. */
bool purse_late(const struct purse *p, double spare);
/* Would device time be up if one more attempt began beside those in flight, if
 * each takes what others took? */
bool purse_device_late(const struct purse *p, int in_flight);
/* An attempt ended, or something was confirmed: adds what it used. */
void purse_use(struct purse *p, int64_t attempts, double device_s,
	       int64_t tokens, double cost);

#endif
