/* git maxkernel halt: ends searches that run, as a signal would. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/running.h"
#include "cmd/task.h"
#include "core/clock.h"
#include "core/mem.h"

#define TIMEOUT_S 300.0
#define LOOK_MS 100

static const char *const usage[] = {
	"git maxkernel halt [<options>] [<kernel>|<search>]",
	NULL
};

struct halted {			/* one that is asked */
	struct live_state last;	/* what it said last */
	bool gone;
	char *error;		/* it could not be asked */
};

struct halt {
	struct repo *repo;
	struct halted *v;
	size_t nr;
	bool wait, json;
	double timeout_s;
};

/* ---- asking ---- */

/* "process 4242 of anna"; "" if it is not known. */
static void add_process(struct buf *b, long pid)
{
	const struct passwd *pw;
	char path[64];
	struct stat st;

	if (!pid)
		return;
	buf_addf(b, "process %ld", pid);
	snprintf(path, sizeof(path), "/proc/%ld", pid);
	if (stat(path, &st) < 0 || st.st_uid == geteuid())
		return;
	pw = getpwuid(st.st_uid);
	if (pw)
		buf_addf(b, " of %s", pw->pw_name);
	else
		buf_addf(b, " of user %ld", (long)st.st_uid);
}

static void ask(struct halt *h, struct halted *one)
{
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;

	if (!live_ask_halt(h->repo, one->last.search, one->last.slot, &err))
		return;
	buf_addf(&b, "%s: %s", one->last.search, err.msg);
	if (one->last.pid) {
		buf_addstr(&b, "; it is run by ");
		add_process(&b, one->last.pid);
		buf_addf(&b, ", which 'kill %ld' as that user halts",
			 one->last.pid);
	}
	one->error = buf_detach(&b);
}

/* ---- waiting ---- */

/* Has the process that was asked let go of the search? */
static bool is_gone(struct halt *h, struct halted *one)
{
	const char *slug = one->last.search;
	int slot = one->last.slot;
	struct err unused = ERR_INIT;
	struct live_state now;
	int ret = live_read(h->repo, slug, slot, &now, &unused);

	if (ret < 0)
		return false;
	if (!ret) {
		live_unask(h->repo, slug, slot);	/* nobody heard it */
		return true;
	}
	if (one->last.pid && now.pid && now.pid != one->last.pid)
		return true;
	/* One that was just beginning took it for an older one. */
	if (!live_is_asked(h->repo, slug, slot))
		live_ask_halt(h->repo, slug, slot, &unused);
	if (now.started) {
		memcpy(now.kernel, one->last.kernel, sizeof(now.kernel));
		one->last = now;
	}
	return false;
}

static void show(const struct halt *h, const struct halted *one, double s)
{
	const struct live_state *l = &one->last;
	size_t left = 0;

	for (size_t i = 0; i < h->nr; i++)
		left += !h->v[i].gone && !h->v[i].error;
	if (l->nr_jobs)
		live("halting %s (%zu to go), %.0f s; attempt %" PRIu32 ": %s",
		     l->search, left, s, l->job[0].step, l->job[0].doing);
	else
		live("halting %s (%zu to go), %.0f s; %s", l->search, left, s,
		     l->doing);
}

/* 0: all are gone; EXIT_FAILED, EXIT_INTERRUPTED. */
static int wait_all(struct halt *h, struct err *err)
{
	double start = clock_s();

	for (;;) {
		struct pollfd p = { .fd = task_stop_fd, .events = POLLIN };
		const struct halted *open = NULL;

		for (size_t i = 0; i < h->nr; i++) {
			struct halted *one = &h->v[i];

			if (!one->gone && !one->error)
				one->gone = is_gone(h, one);
			if (!one->gone && !one->error && !open)
				open = one;
		}
		if (!open)
			return 0;
		if (task_stop)
			return EXIT_INTERRUPTED;
		if (clock_s() - start > h->timeout_s) {
			err_set(err, ERR_LIMIT, "search %s has not halted in "
				"%.0f s: it is asked to, and pid %ld still "
				"runs it", open->last.search, h->timeout_s,
				open->last.pid);
			return EXIT_FAILED;
		}
		show(h, open, clock_s() - start);
		poll(&p, 1, LOOK_MS);
	}
}

/* ---- telling ---- */

static void print_json(const struct halt *h, const struct halted *one)
{
	const struct live_state *l = &one->last;
	struct jout j;

	jout_begin(&j);
	jout_str(&j, "kernel", l->kernel);
	jout_str(&j, "search", l->search);
	if (l->pid)
		jout_int(&j, "pid", l->pid);
	else
		jout_str(&j, "pid", NULL);
	jout_int(&j, "attempts", l->attempts);
	jout_bool(&j, "asked", !one->error);
	jout_bool(&j, "halted", h->wait && one->gone);
	jout_str(&j, "error", one->error);
	jout_end(&j, stdout);
}

static void print_text(const struct halt *h, const struct halted *one)
{
	const struct live_state *l = &one->last;

	if (one->error || (h->wait && !one->gone))
		return;
	put_clean(stdout, l->kernel);
	printf(": %s %s %s; ", l->tuning ? "the tuning in search" : "search",
	       l->search, h->wait ? "is halted" : "is asked to halt");
	if (l->tuning)
		puts("the same 'git maxkernel tune' command goes on");
	else
		printf("go on: git maxkernel resume %s\n", l->search);
}

/* Each search that could not be asked is told of; the last is the error. */
static int tell(const struct halt *h, int status, struct err *err)
{
	const char *error = NULL;

	live("%s", "");
	for (size_t i = 0; i < h->nr; i++) {
		const struct halted *one = &h->v[i];

		if (h->json)
			print_json(h, one);
		else
			print_text(h, one);
		if (one->error && error)
			warn("%s", error);
		if (one->error)
			error = one->error;
	}
	if (!error)
		return status;
	if (err->code)
		warn("%s", err->msg);
	err_set(err, ERR_SYS, "%s", error);
	return status == EXIT_INTERRUPTED ? status : EXIT_FAILED;
}

static int halt_all(struct halt *h, const struct live_list *found,
		    struct err *err)
{
	int status = EXIT_DONE;

	h->nr = found->nr;
	h->v = xcalloc(h->nr, sizeof(*h->v));
	for (size_t i = 0; i < h->nr; i++) {
		h->v[i].last = found->v[i];
		ask(h, &h->v[i]);
	}
	if (h->wait) {
		task_signals();
		status = wait_all(h, err);
	}
	status = tell(h, status, err);
	for (size_t i = 0; i < h->nr; i++)
		free(h->v[i].error);
	free(h->v);
	return status;
}

static int halt_run(struct session *s, int argc, char **argv, struct err *err)
{
	bool no_wait = false;
	struct halt h = { .repo = s->repo, .timeout_s = TIMEOUT_S };
	const struct opt opts[] = {
		OPT_BOOL(0, "no-wait", &no_wait, "ask, and do not wait"),
		OPT_TIME(0, "timeout", &h.timeout_s, "<time>",
			"wait at most so long (5m)"),
		OPT_BOOL(0, "json", &h.json, "print one JSON object a search"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	struct live_list found = LIVE_LIST_INIT;
	int status;

	argc = opt_parse(&cmd_halt, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 1, err);
	if (status)
		return status;
	h.wait = !no_wait;
	if (running_find(s->repo, argc ? argv[0] : NULL, &found, err) &&
	    !(argc && err->code == ERR_NOTFOUND &&
	      task_is_kernel(s, argv[0]))) {
		live_list_release(&found);
		return cmd_status_of(err);
	}
	*err = (struct err)ERR_INIT;
	if (found.nr) {
		status = halt_all(&h, &found, err);
	} else {
		if (argc)
			say("'%s' does not run in this clone", argv[0]);
		else
			say("no search runs in this clone");
		status = EXIT_NO;
	}
	live_list_release(&found);
	return status;
}

const struct cmd cmd_halt = {
	.name = "halt",
	.group = "search",
	.summary = "end searches that run, to be resumed",
	.usage = usage,
	.needs = NEED_REPO,
	.run = halt_run,
};
