/*
 * A judge at work on one kernel: its root, oracle, pools, roofs, artefacts.
 * Candidates fail in records, never in errors; errors are for what keeps us
 * from knowing.
 */
#ifndef CORE_JUDGE_SESSION_H
#define CORE_JUDGE_SESSION_H

#include "core/judge/cpulock.h"
#include "core/judge/launch.h"
#include "core/judge/roof.h"
#include "core/judge/stats.h"
#include "core/judge/suite.h"

#define SESSION_ROOT "root"	/* key of the kernel at the root */
#define SESSION_MAX_ARTEFACTS 4096

struct timed {			/* one `time` shape */
	struct shape shape;
	double flops, bytes;	/* of one call */
	size_t footprint;	/* bytes of all arguments */
	struct pool pool;
	double root_ns;
	double rate;		/* bandwidth of the roof, bytes a second */
};

struct artefact {		/* something built */
	char *key, *so;
	double *ns;		/* by timed shape; NAN: not timed yet */
	double lr;		/* as last screened; NAN */
};

struct session_config {
	const char *name, *section, *root, *aux, *work;
	bool sandbox_none, flag_arms;
	void (*progress)(void *ctx, const char *doing);
	void (*tick)(void *ctx);	/* often; may end the program */
	void *ctx;
};

struct session {
	struct session_config cfg;	/* strings are owned */
	struct kernel_file file;
	const struct kernel *kernel;
	struct oracle oracle;
	struct suite suite;
	struct timed *timed;
	int nr_timed;
	struct roof roof;
	struct artefact *art;		/* art[0]: the root */
	size_t nr_art, cap_art;
	char *baseline_so;		/* NULL: the root */
	char *rival_so[KERNEL_MAX_RIVALS];
	char *flags_so;			/* the root with best_flags, or NULL */
	char *best_flags;
	double best_flags_speedup;	/* NAN: no flag arms */
	double s_aa;			/* A/A deviation of a launch, log */
	double resolution;
	struct dice dice;
	struct cpulock cpu;
	struct worker_limits limits;	/* of candidates */
	char *device, *device_text, *host, *sandbox, *compiler;
};

/*
 * 0; ERR_FORMAT: the task is at fault and the message says why to a person;
 * else the judge can't go on.  *s is set in any case; session_close() it.
 */
int session_open(struct session **s, const struct session_config *cfg,
		 struct err *err);
void session_close(struct session *s);

/* Each fills *rec (record_init() has been called on it). */
int session_build(struct session *s, const char *key, const char *src,
		  struct record *rec, struct err *err);
int session_check(struct session *s, const char *key, struct record *rec,
		  struct err *err);
/* In rec->shape of a screening, speedup is over `against`. */
int session_screen(struct session *s, const char *key, const char *against,
		   double against_lr, struct record *rec, struct err *err);
/* samples: name of the file in the work folder; caller frees. */
int session_confirm(struct session *s, const char *key, const char *against,
		    double against_lr, struct record *rec, char **samples,
		    struct err *err);
void session_forget(struct session *s, const char *key);

/* ---- shared by session.c and the files of its steps ---- */

#define SESSION_SLOW_NS 5e8	/* calls over this: no warm ones */
#define SESSION_ROUNDS 8	/* of a launch that is no confirmation */
#define SESSION_CLAIM 0.01	/* log-ratio that may be called faster */

double session_now(void);	/* monotonic seconds */
void session_say(struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void session_tick(struct session *s);
struct artefact *session_find(struct session *s, const char *key);
/* A call of it at a timed shape: as last measured, else the root's. */
double session_known_ns(const struct session *s, const struct artefact *a,
			int shape);
/* Ends a record with a verdict and its reason. */
void session_stop(struct record *rec, enum verdict v, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void session_lock(struct session *s);
void session_unlock(struct session *s);
/*
 * Fills a launch for these arms: slots from the fastest expected time,
 * rounds so that it lasts about 0.3 s, and sees to it that the pool suffices.
 */
int session_plan(struct session *s, struct pool *pool, size_t footprint,
		 struct launch_arm *arm, int nr, double fastest_ns,
		 double sum_ns, int max_rounds, struct launch *out,
		 struct err *err);
/* Runs arms that are ours: one that fails is ERR_FORMAT, the task's fault. */
int session_launch_ours(struct launch *l, const char *who, struct err *err);
void session_rates(struct shape_result *r);	/* gflops, gbs from time_ns */

#endif
