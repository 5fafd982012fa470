#include "cmd/running.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/detach.h"
#include "cmd/node.h"
#include "core/clock.h"
#include "core/mem.h"

struct running {
	struct search *search;
	const struct purse *purse;
	struct live_state state;
	double next_s;		/* when the file is to be written again */
	bool asked;
	bool deaf;		/* what asks can't be taken away */
	struct running *next;
};

static struct running *all;	/* of this process */

/* ---- what it says ---- */

static void write_now(struct running *r, double now)
{
	struct err unused = ERR_INIT;

	r->state.updated = (int64_t)time(NULL);
	r->state.cap = r->purse->budget;
	r->state.used = r->purse->used;
	r->state.used.until = 0;
	r->next_s = now + LIVE_EVERY_S;
	live_write(r->search->repo, r->search->spec.slug, r->search->slot,
		   &r->state, &unused);
}

static void fill(char *out, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (len >= size) {
		len = size - 1;
		while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(out, text, len);
	out[len] = '\0';
}

static void take_jobs(struct live_state *s, const struct search_now *n)
{
	s->nr_jobs = 0;
	for (int i = 0; i < n->nr_jobs && s->nr_jobs < LIVE_MAX_JOBS; i++) {
		struct live_job *job = &s->job[s->nr_jobs];

		if (!n->job[i].step)
			continue;	/* its judge is being opened */
		job->step = n->job[i].step;
		job->seconds = n->job[i].seconds;
		fill(job->subject, sizeof(job->subject),
		     n->job[i].subject ? n->job[i].subject : "");
		fill(job->doing, sizeof(job->doing), n->job[i].doing);
		s->nr_jobs++;
	}
	fill(s->doing, sizeof(s->doing), s->nr_jobs ? "" : n->doing);
}

static void take(struct live_state *s, const struct search_now *n)
{
	s->attempts = n->attempts;
	s->elapsed_s = n->elapsed_s;
	s->device_s = n->device_s;
	s->tokens = n->tokens;
	s->cost = n->cost;
	s->best = n->best;
	take_jobs(s, n);
}

/* Those that wait for their turn. */
static void keep_others(const struct running *r, double now)
{
	for (struct running *o = all; o; o = o->next) {
		if (o == r)
			continue;
		running_is_asked(o);
		if (now < o->next_s)
			continue;
		o->state.nr_jobs = 0;
		fill(o->state.doing, sizeof(o->state.doing),
		     "waiting for its turn");
		o->state.elapsed_s = r->state.elapsed_s;
		write_now(o, now);
	}
}

/* ---- begin, tick, end ---- */

void running_begin(struct running **out, struct search *s,
		   const struct purse *purse)
{
	struct running *r = xcalloc(1, sizeof(*r));

	r->search = s;
	r->purse = purse;
	r->state.pid = (long)getpid();
	r->state.started = (int64_t)time(NULL);
	r->state.best = 1;
	gethostname(r->state.host, sizeof(r->state.host) - 1);
	fill(r->state.kernel, sizeof(r->state.kernel), s->spec.kernel);
	fill(r->state.log, sizeof(r->state.log), detach_log());
	fill(r->state.doing, sizeof(r->state.doing), "beginning");
	/* What an earlier process left, or was asked. */
	live_clear(s->repo, s->spec.slug, s->slot);
	r->deaf = live_is_asked(s->repo, s->spec.slug, s->slot);
	write_now(r, clock_s());
	r->next = all;
	all = r;
	detach_tell(s->spec.slug, s->spec.kernel);
	*out = r;
}

bool running_is_asked(struct running *r)
{
	if (!r->asked && !r->deaf)
		r->asked = live_is_asked(r->search->repo,
					 r->search->spec.slug,
					 r->search->slot);
	return r->asked;
}

bool running_tick(struct running *r, const struct search_now *n)
{
	double now = clock_s();

	keep_others(r, now);
	if (now >= r->next_s) {
		take(&r->state, n);
		write_now(r, now);
	}
	return running_is_asked(r);
}

void running_rest(struct running *r, const struct search_run *run)
{
	const struct graph *g = &run->graph;
	struct live_state *s = &r->state;

	s->attempts = run->made;
	s->device_s = run->device_s;
	s->tokens = run->tokens;
	s->cost = run->cost;
	if (g->champion)
		s->best = g->node[g->champion].rec.speedup;
	s->nr_jobs = 0;
}

void running_tunes(struct running *r)
{
	r->state.tuning = true;
	write_now(r, clock_s());
}

void running_end(struct running *r)
{
	struct running **at = &all;

	if (!r)
		return;
	while (*at && *at != r)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
	live_clear(r->search->repo, r->search->spec.slug, r->search->slot);
	free(r);
}

/* ---- what runs ---- */

static bool is_kernel(const struct spec_list *l, const char *name)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].slug, name))
			return false;
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].kernel, name))
			return true;
	return false;
}

/* Its spec says of which kernel it is; the file that runs it need not. */
static void set_kernels(const struct spec_list *specs, struct live_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		for (size_t k = 0; k < specs->nr; k++)
			if (!strcmp(specs->v[k].slug, l->v[i].search))
				fill(l->v[i].kernel, sizeof(l->v[i].kernel),
				     specs->v[k].kernel);
}

static void keep_kernel(struct live_list *l, const char *kernel)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].kernel, kernel))
			l->v[kept++] = l->v[i];
	l->nr = kept;
}

int running_find(struct repo *r, const char *name, struct live_list *out,
		 struct err *err)
{
	struct spec_list specs = { NULL, 0, 0 };
	char *slug = NULL;
	bool kernel = false;
	int ret = node_searches(r, &specs, err);

	if (!ret && name)
		kernel = is_kernel(&specs, name);
	if (!ret && name && !kernel)
		ret = node_slug(r, name, &slug, err);
	if (!ret)
		ret = live_find(r, slug, out, err);
	if (!ret) {
		set_kernels(&specs, out);
		if (kernel)
			keep_kernel(out, name);
	}
	free(slug);
	spec_list_release(&specs);
	return ret;
}
