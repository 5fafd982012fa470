#include "cmd/watch.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/node.h"
#include "cmd/out.h"
#include "cmd/rest.h"
#include "cmd/running.h"
#include "cmd/task.h"
#include "core/mem.h"
#include "core/rng.h"

#define EVERY_MS 1000
#define SILENT_S 15		/* without news from one that runs */
#define LAST 5			/* results that are shown */

struct watched {		/* a search that runs, or did */
	struct live_state now;
	bool runs, told_end;
	struct view view;
	bool open;		/* the view is */
	uint64_t refs;		/* that it was loaded from */
	/* as told last, where changes are told */
	bool told;
	uint32_t attempts, nodes;
	double best;
};

struct watch {
	struct repo *repo;
	const char *name;
	bool json, terminal;
	struct watched *v;
	size_t nr, cap;
	int drawn;		/* lines on the terminal */
};

uint32_t watch_best(const struct graph *g)
{
	uint32_t best = 0;

	if (g->champion)
		return g->champion;
	for (uint32_t i = 1; i < g->nr; i++) {
		const struct node *n = &g->node[i];

		if (n->pending || !verdict_is_timed(n->rec.verdict) ||
		    !isfinite(n->score) || n->score <= 0)
			continue;
		if (!best || n->score > g->node[best].score)
			best = i;
	}
	return best;
}

void watch_state(struct buf *b, const struct live_state *l)
{
	int64_t now = (int64_t)time(NULL);

	buf_addstr(b, "running");
	if (!l->pid)
		return;
	buf_addf(b, " (pid %ld", l->pid);
	if (l->started && l->started <= now) {
		buf_addstr(b, ", for ");
		fmt_seconds(b, (double)(now - l->started));
	}
	buf_addch(b, ')');
}

/* ---- looking ---- */

static int add_ref(void *ctx, const char *name, const struct oid *id)
{
	uint64_t *sum = ctx;

	*sum = rng_mix(*sum, rng_hash(name, strlen(name)));
	*sum = rng_mix(*sum, rng_hash(id->id, sizeof(id->id)));
	return 0;
}

/* Of all refs that a graph is made from. */
static uint64_t sum_refs(struct repo *r, const char *slug)
{
	char *refs = xasprintf("refs/maxkernel/%s/", slug);
	char *notes = xasprintf("refs/notes/maxkernel/%s/", slug);
	struct err unused = ERR_INIT;
	uint64_t sum = 1;

	repo_ref_each(r, refs, add_ref, &sum, &unused);
	repo_ref_each(r, notes, add_ref, &sum, &unused);
	free(refs);
	free(notes);
	return sum;
}

/* Loads the graph when it has moved; what cannot be read is not shown. */
static void load(struct watch *w, struct watched *s)
{
	uint64_t refs = sum_refs(w->repo, s->now.search);
	struct err err = ERR_INIT;

	if (s->open && refs == s->refs)
		return;
	if (s->open)
		view_close(&s->view);
	s->refs = refs;
	s->open = !view_open(&s->view, w->repo, s->now.search, &err);
	if (!s->open)
		warn_once(err.msg);
}

static struct watched *watched(struct watch *w, const struct live_state *l)
{
	for (size_t i = 0; i < w->nr; i++)
		if (!strcmp(w->v[i].now.search, l->search) &&
		    w->v[i].now.slot == l->slot)
			return &w->v[i];
	GROW(w->v, w->nr, w->cap);
	memset(&w->v[w->nr], 0, sizeof(w->v[w->nr]));
	return &w->v[w->nr++];
}

/* How many run. */
static int look(struct watch *w, size_t *running, struct err *err)
{
	struct live_list found = LIVE_LIST_INIT;
	int ret = running_find(w->repo, w->name, &found, err);

	for (size_t i = 0; i < w->nr; i++)
		w->v[i].runs = false;
	for (size_t i = 0; i < found.nr; i++) {
		struct watched *s = watched(w, &found.v[i]);

		s->now = found.v[i];
		s->runs = true;
		s->told_end = false;
	}
	*running = found.nr;
	live_list_release(&found);
	/* Those that have ended made their last nodes meanwhile. */
	for (size_t i = 0; i < w->nr && !ret; i++)
		if (!w->v[i].told_end)
			load(w, &w->v[i]);
	return ret;
}

/* ---- figures ---- */

static double rate(const struct live_state *l)
{
	return l->elapsed_s > 0 ? l->attempts / l->elapsed_s * 60 : NAN;
}

/* "12 s", and of how many where there is a cap. */
static void add_seconds(struct buf *b, double s, double cap)
{
	fmt_seconds(b, s);
	if (cap > 0) {
		buf_addstr(b, " of ");
		fmt_seconds(b, cap);
	}
}

static void add_best(struct buf *b, const struct watched *s)
{
	uint32_t best = s->open ? watch_best(&s->view.graph) : 0;
	const struct node *n;

	if (!best) {
		buf_addstr(b, "nothing faster yet");
		return;
	}
	n = &s->view.graph.node[best];
	node_speedup(b, n);
	if (best == s->view.graph.champion) {
		buf_addch(b, ' ');
		fmt_interval(b, n->rec.ci_low, n->rec.ci_high);
		buf_addstr(b, n->claimed ? " claimed" : " confirmed");
	} else {
		buf_addstr(b, " estimated");
	}
	buf_addf(b, ", node %s", node_short(&s->view, best).s);
	if (n->subject)
		buf_addf(b, " (%s)", n->subject);
}

static void add_spent(struct buf *b, const struct live_state *l)
{
	buf_addstr(b, "device ");
	add_seconds(b, l->device_s, l->cap.device_s);
	if (l->tokens || l->cap.tokens) {
		buf_addf(b, ", %" PRId64, l->tokens);
		if (l->cap.tokens)
			buf_addf(b, " of %" PRId64, l->cap.tokens);
		buf_addstr(b, " tokens");
	}
	if (l->cost > 0 || l->cap.cost > 0) {
		buf_addf(b, ", $%.4f", l->cost);
		if (l->cap.cost > 0) {
			buf_addstr(b, " of ");
			budget_dollars(l->cap.cost, b);
		}
	}
}

/* Of all its runs. */
static uint32_t in_all(const struct watched *s)
{
	const struct graph *g = &s->view.graph;

	return s->open ? g->nr - 1 + g->nr_spend : 0;
}

/* "12 of 100, 8.3 a minute, 34 s of 60 s"; of one that has ended, all. */
static void add_attempts(struct buf *b, const struct watched *s)
{
	const struct live_state *l = &s->now;

	if (!s->runs) {
		buf_addf(b, "%" PRIu32 " in all", in_all(s));
		return;
	}
	buf_addf(b, "%" PRIu32, l->attempts);
	if (l->cap.attempts)
		buf_addf(b, " of %" PRId64, l->cap.attempts);
	/* The cap is of all that shares it. */
	if (l->used.attempts > l->attempts)
		buf_addf(b, " (%" PRId64 " of all)", l->used.attempts);
	if (isfinite(rate(l)))
		buf_addf(b, ", %.1f a minute", rate(l));
	buf_addstr(b, ", ");
	add_seconds(b, l->elapsed_s, l->cap.time_s);
}

/* ---- on a terminal ---- */

__attribute__((format(printf, 2, 3)))
static void add_line(struct strv *out, const char *fmt, ...)
{
	struct buf text = BUF_INIT, clean = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	buf_add_clean(&clean, text.ptr, text.len, false);
	strv_push(out, clean.ptr);
	buf_release(&text);
	buf_release(&clean);
}

static void job_lines(struct strv *out, const struct live_state *l)
{
	const char *head = "now";

	for (int i = 0; i < l->nr_jobs; i++) {
		const struct live_job *job = &l->job[i];

		add_line(out, "  %-8s  %6" PRIu32 "  %5.1f s  %-24s  %s", head,
			 job->step, job->seconds, job->doing, job->subject);
		head = "";
	}
	if (!l->nr_jobs && *l->doing)
		add_line(out, "  %-8s  %s", head, l->doing);
}

/* Index of the newest node with a step under `below`, 0: none. */
static uint32_t newest(const struct graph *g, uint32_t below)
{
	uint32_t best = 0;

	for (uint32_t i = g->nr; i-- > 1 && !best;)
		if (!g->node[i].pending && g->node[i].step < below)
			best = i;
	return best;
}

static void last_lines(struct strv *out, const struct watched *s)
{
	const struct graph *g = &s->view.graph;
	const char *head = "last";
	uint32_t below = UINT32_MAX;

	for (int i = 0; s->open && i < LAST; i++) {
		uint32_t at = newest(g, below);
		struct buf ratio = BUF_INIT;

		if (!at)
			break;
		below = g->node[at].step;
		node_speedup(&ratio, &g->node[at]);
		add_line(out, "  %-8s  %6" PRIu32 "  %-10s  %8s  %s", head,
			 below, node_verdict(&s->view, at), ratio.ptr,
			 g->node[at].subject ? g->node[at].subject : "");
		buf_release(&ratio);
		head = "";
	}
}

static void search_lines(struct strv *out, const struct watched *s)
{
	const struct live_state *l = &s->now;
	int64_t silent = (int64_t)time(NULL) - l->updated;
	struct buf b = BUF_INIT;

	if (s->runs)
		watch_state(&b, l);
	else
		buf_addstr(&b, "has ended");
	if (s->runs && l->started && silent > SILENT_S)
		buf_addf(&b, ", no news for %" PRId64 " s", silent);
	if (l->slot > 1)
		buf_addf(&b, ", worker %d", l->slot);
	add_line(out, "%s: search %s, %s", l->kernel, l->search, b.ptr);
	buf_reset(&b);
	add_attempts(&b, s);
	add_line(out, "  attempts  %s", b.ptr);
	buf_reset(&b);
	add_best(&b, s);
	add_line(out, "  best      %s", b.ptr);
	buf_reset(&b);
	add_spent(&b, l);
	add_line(out, "  spent     %s", b.ptr);
	if (*l->log && s->runs)
		add_line(out, "  log       %s", l->log);
	if (s->runs)
		job_lines(out, l);
	last_lines(out, s);
	strv_push(out, "");
	buf_release(&b);
}

/* Over what was drawn before, no more than fits. */
static void draw(struct watch *w)
{
	struct strv lines = STRV_INIT;
	struct winsize ws = { .ws_row = 0, .ws_col = 0 };
	struct buf out = BUF_INIT;
	int rows, columns, nr = 0;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws);
	rows = ws.ws_row > 1 ? ws.ws_row - 1 : ws.ws_row ? 1 : 23;
	columns = ws.ws_col >= 20 ? ws.ws_col - 1 : 79;
	for (size_t i = 0; i < w->nr; i++)
		search_lines(&lines, &w->v[i]);
	if (w->drawn)
		buf_addf(&out, "\033[%dA", w->drawn);
	for (; nr < rows && (size_t)nr < lines.nr; nr++) {
		struct buf line = BUF_INIT;

		buf_addstr(&line, lines.v[nr]);
		text_cut(&line, columns);
		buf_addf(&out, "\r%s\033[K\n", line.ptr);
		buf_release(&line);
	}
	buf_addstr(&out, "\033[J");
	w->drawn = nr;
	fwrite(out.ptr, 1, out.len, stdout);
	fflush(stdout);
	buf_release(&out);
	strv_release(&lines);
}

/* ---- elsewhere ---- */

static void jobs_json(struct jout *j, const struct live_state *l)
{
	struct buf list = BUF_INIT, one = BUF_INIT;

	buf_addch(&list, '[');
	for (int i = 0; i < l->nr_jobs; i++) {
		struct jout job;

		jout_begin(&job);
		jout_int(&job, "step", l->job[i].step);
		jout_str(&job, "subject", l->job[i].subject);
		jout_str(&job, "stage", l->job[i].doing);
		jout_num(&job, "seconds", l->job[i].seconds);
		buf_reset(&one);
		jout_detach(&job, &one);
		buf_addf(&list, "%s%s", i ? "," : "", one.ptr);
	}
	buf_addch(&list, ']');
	jout_raw(j, "jobs", list.ptr);
	buf_release(&list);
	buf_release(&one);
}

static void budget_json(struct jout *j, const char *key,
			const struct budget *g)
{
	struct buf text = BUF_INIT;
	struct jout in;

	jout_begin(&in);
	jout_int(&in, "attempts", g->attempts);
	jout_num(&in, "time_s", g->time_s);
	jout_num(&in, "device_s", g->device_s);
	jout_int(&in, "tokens", g->tokens);
	jout_num(&in, "cost", g->cost);
	jout_detach(&in, &text);
	jout_raw(j, key, text.ptr);
	buf_release(&text);
}

static void best_json(struct jout *j, const struct watched *s)
{
	const struct graph *g = &s->view.graph;
	uint32_t best = s->open ? watch_best(g) : 0;
	const struct record *r = best ? &g->node[best].rec : NULL;
	bool sure = best && best == g->champion;

	jout_str(j, "node", best ? oid_text(&g->node[best].id).s : NULL);
	jout_num(j, "est_speedup", best ? r->est_speedup : NAN);
	jout_num(j, "speedup", sure ? r->speedup : NAN);
	jout_num(j, "ci_low", sure ? r->ci_low : NAN);
	jout_num(j, "ci_high", sure ? r->ci_high : NAN);
}

static void print_json(const struct watched *s)
{
	const struct live_state *l = &s->now;
	struct jout j;

	jout_begin(&j);
	jout_str(&j, "kernel", l->kernel);
	jout_str(&j, "search", l->search);
	jout_int(&j, "slot", l->slot);
	jout_bool(&j, "running", s->runs);
	if (s->runs && l->pid)
		jout_int(&j, "pid", l->pid);
	else
		jout_str(&j, "pid", NULL);
	jout_str(&j, "log", *l->log ? l->log : NULL);
	jout_int(&j, "attempts", l->attempts);
	jout_int(&j, "attempts_in_all", in_all(s));
	jout_num(&j, "attempts_a_minute", rate(l));
	jout_num(&j, "elapsed_s", l->elapsed_s);
	jout_num(&j, "device_s", l->device_s);
	jout_int(&j, "tokens", l->tokens);
	jout_num(&j, "cost", l->cost);
	jout_int(&j, "nodes", s->open ? s->view.graph.nr : 0);
	best_json(&j, s);
	budget_json(&j, "budget", &l->cap);
	budget_json(&j, "used", &l->used);
	jout_str(&j, "doing", *l->doing ? l->doing : NULL);
	jobs_json(&j, l);
	jout_end(&j, stdout);
}

/* A line when something has come of it. */
static void print_change(struct watched *s)
{
	const struct live_state *l = &s->now;
	uint32_t nodes = s->open ? s->view.graph.nr : 0;
	bool moved = !s->told || s->attempts != l->attempts ||
		     s->nodes != nodes || s->best < l->best ||
		     s->best > l->best;
	struct buf b = BUF_INIT;

	if (s->runs && !moved)
		return;
	s->told = true;
	s->attempts = l->attempts;
	s->nodes = nodes;
	s->best = l->best;
	add_attempts(&b, s);
	buf_addstr(&b, "; ");
	add_best(&b, s);
	if (!s->runs)
		buf_addstr(&b, "; has ended");
	else if (l->nr_jobs)
		buf_addf(&b, "; attempt %" PRIu32 ": %s", l->job[0].step,
			 l->job[0].doing);
	else if (*l->doing)
		buf_addf(&b, "; %s", l->doing);
	printf("%s: ", l->search);
	put_clean(stdout, b.ptr);
	putchar('\n');
	buf_release(&b);
}

static void show(struct watch *w)
{
	if (w->terminal) {
		draw(w);
		return;
	}
	for (size_t i = 0; i < w->nr; i++) {
		struct watched *s = &w->v[i];

		if (s->told_end)
			continue;
		if (w->json)
			print_json(s);
		else
			print_change(s);
		s->told_end = !s->runs;
	}
	fflush(stdout);
}

int watch(struct session *s, const char *name, bool json, struct err *err)
{
	struct watch w = { .repo = s->repo, .name = name, .json = json };
	const char *term = getenv("TERM");
	size_t running = 1;
	int ret = 0;

	w.terminal = !json && isatty(STDOUT_FILENO) && term &&
		     strcmp(term, "dumb") != 0;
	task_signals();
	while (!ret && running && !task_stop && !ferror(stdout)) {
		struct pollfd p = { .fd = task_stop_fd, .events = POLLIN };

		ret = look(&w, &running, err);
		if (!ret && w.nr)
			show(&w);
		if (!ret && running)
			poll(&p, 1, EVERY_MS);
	}
	if (!ret && !w.nr)
		say("no search runs here");
	for (size_t i = 0; i < w.nr; i++)
		if (w.v[i].open)
			view_close(&w.v[i].view);
	free(w.v);
	return ret ? cmd_status_of(err) :
	       task_stop ? EXIT_INTERRUPTED : EXIT_DONE;
}
