/* The graph of a search as a file, written (see store_cache.c). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/store_cache_parts.h"

#define LEFT_OVER_S 3600	/* nobody writes for so long */
#define UNUSED_S (30 * 86400)	/* of a search or device that was left */

struct writer {
	struct buf text;
	uint32_t *slot;		/* offsets of texts that are there */
	size_t nr, nr_slots;
};

static size_t text_slot(const struct writer *w, const char *s, size_t len)
{
	size_t at = (size_t)cache_sum((const unsigned char *)s, len);

	for (at &= w->nr_slots - 1; w->slot[at];
	     at = (at + 1) & (w->nr_slots - 1))
		if (!strcmp(w->text.ptr + w->slot[at], s))
			break;
	return at;
}

static void text_grow(struct writer *w)
{
	uint32_t *old = w->slot;
	size_t nr = w->nr_slots;

	w->nr_slots = nr ? nr * 2 : 1024;
	w->slot = xcalloc(w->nr_slots, sizeof(*w->slot));
	for (size_t i = 0; i < nr; i++) {
		const char *s = w->text.ptr + old[i];

		if (old[i])
			w->slot[text_slot(w, s, strlen(s))] = old[i];
	}
	free(old);
}

/* Each text once. */
static uint32_t add_text(struct writer *w, const char *s)
{
	size_t len, at;

	if (!s)
		return 0;
	if (!w->text.len)
		buf_addch(&w->text, '\0');	/* offset 0 is none */
	if (w->nr * 2 >= w->nr_slots)
		text_grow(w);
	len = strlen(s);
	at = text_slot(w, s, len);
	if (!w->slot[at]) {
		w->slot[at] = (uint32_t)w->text.len;
		buf_add(&w->text, s, len + 1);
		w->nr++;
	}
	return w->slot[at];
}

static void add_node(struct writer *w, struct buf *b, const struct node *n)
{
	const struct record *r = &n->rec;
	const char *const text[TEXTS] = {
		n->op, n->proposer, n->strategy, n->recipe, n->subject,
		n->worker, n->rec_worker, r->error, r->host, r->device,
		r->sandbox, r->oracle, r->clock, r->compiler, r->flags,
		r->against,
	};
	struct file_node f = {
		.num = { r->lr, r->lr_low, r->lr_high, r->est_speedup,
			 r->speedup, r->ci_low, r->ci_high, r->vs_parent,
			 r->vs_rival, r->vs_best_flags, r->time_ns,
			 r->baseline_ns, r->gflops, r->gbs, r->roof,
			 r->attempt_s, r->device_s },
		.spent_s = n->spent_s, .device_s = n->device_s,
		.time = n->time, .steps = n->steps,
		.parent = { n->parent[0], n->parent[1] }, .step = n->step,
		.verdict = r->verdict, .launches = r->launches,
		.id = n->id, .state = n->state,
	};

	f.bits = (n->pending ? PENDING : 0) | (n->claimed ? CLAIMED : 0) |
		 (n->united ? UNITED : 0) | (r->compiled ? COMPILED : 0) |
		 (r->correct ? CORRECT : 0) |
		 (r->confirming ? CONFIRMING : 0) |
		 (r->claimed ? REC_CLAIMED : 0);
	for (int i = 0; i < TEXTS; i++)
		f.text[i] = add_text(w, text[i]);
	buf_add(b, &f, sizeof(f));
}

static void add_call(struct writer *w, struct buf *b, const struct call *c)
{
	const struct usage *u = &c->used;
	struct file_call f = {
		.cost = u->cost, .seconds = u->seconds, .in = u->tokens_in,
		.cached = u->tokens_cached, .out = u->tokens_out,
		.reasoning = u->tokens_reasoning, .time = c->time,
		.step = c->step, .claimed = c->claimed, .ledger = c->ledger,
		.agent = add_text(w, u->agent), .model = add_text(w, u->model),
		.worker = add_text(w, c->worker),
	};

	memcpy(f.id, u->id, sizeof(u->id) - 1);
	buf_add(b, &f, sizeof(f));
}

static void add_graph(struct writer *w, struct buf *b, const struct graph *g)
{
	for (uint32_t i = 0; i < g->nr; i++)
		add_node(w, b, &g->node[i]);
	for (uint32_t i = 0; i < g->nr_spend; i++) {
		const struct spend *x = &g->spend[i];
		struct file_spend f = { x->attempt_s, x->device_s, x->score,
					x->line, x->step, x->verdict,
					x->state, x->claimed, x->ledger,
					add_text(w, x->recipe), x->parent,
					x->origin };

		buf_add(b, &f, sizeof(f));
	}
	for (uint32_t i = 0; i < g->nr_call; i++)
		add_call(w, b, &g->call[i]);
}

static void add_texts(struct writer *w, struct buf *b, const struct strv *v)
{
	for (size_t i = 0; i < v->nr; i++) {
		uint32_t at = add_text(w, v->v[i]);

		buf_add(b, &at, sizeof(at));
	}
}

static void build(struct buf *b, const struct buf *key, const struct cache *c,
		  const struct graph *g)
{
	struct writer w = { .text = BUF_INIT };
	struct file_head h = { .magic = MAGIC, .version = CACHE_VERSION,
			       .order = ORDER };

	h.key = add_text(&w, key->ptr);
	buf_add(b, &h, sizeof(h));
	add_graph(&w, b, g);
	for (size_t i = 0; i < c->nr; i++) {
		struct file_tip f = { add_text(&w, c->tip[i].name),
				      c->tip[i].id, c->tip[i].tree };

		buf_add(b, &f, sizeof(f));
	}
	buf_add(b, c->root.v, c->root.nr * sizeof(*c->root.v));
	buf_add(b, c->ledger.v, c->ledger.nr * sizeof(*c->ledger.v));
	buf_add(b, c->steps, c->nr_steps * sizeof(*c->steps));
	add_texts(&w, b, &c->slug);
	add_texts(&w, b, &c->warn);
	buf_add(b, w.text.ptr, w.text.len);
	h.len = b->len;
	h.nr[PART_NODES] = g->nr;
	h.nr[PART_SPENDS] = g->nr_spend;
	h.nr[PART_CALLS] = g->nr_call;
	h.nr[PART_TIPS] = c->nr;
	h.nr[PART_ROOTS] = c->root.nr;
	h.nr[PART_LEDGERS] = c->ledger.nr;
	h.nr[PART_STEPS] = c->nr_steps;
	h.nr[PART_SLUGS] = c->slug.nr;
	h.nr[PART_WARNINGS] = c->warn.nr;
	h.nr[PART_TEXTS] = w.text.len;
	memcpy(b->ptr, &h, sizeof(h));
	h.sum = cache_sum((unsigned char *)b->ptr + SUM_FROM, b->len - SUM_FROM);
	memcpy(b->ptr, &h, sizeof(h));
	buf_release(&w.text);
	free(w.slot);
}

static bool write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

/* "<slug>.<12 digits>.XXXXXX", left by a process that was killed; without the
 * last, one that nothing new has come to for long. */
static bool is_left_over(int dir, const char *name, time_t now)
{
	const char *dot = strrchr(name, '.');
	size_t len = dot ? strlen(dot + 1) : 0;
	struct stat st;

	return (len == 6 || len == 12) &&
	       fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) &&
	       now - st.st_mtime > (len == 6 ? LEFT_OVER_S : UNUSED_S);
}

static void sweep(const char *path)
{
	char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	DIR *d = opendir(folder);
	time_t now = time(NULL);

	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
		if (is_left_over(dirfd(d), e->d_name, now))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	free(folder);
}

/* Not synced: what a power cut makes of it has a wrong sum. */
void cache_write(struct search *s, const struct buf *key,
		 const struct cache *c, const struct graph *g)
{
	char *path = cache_path(s, key, true);
	char *tmp = xasprintf("%s.XXXXXX", path);
	struct buf b = BUF_INIT;
	int fd = mkostemp(tmp, O_CLOEXEC);
	bool good;

	sweep(path);
	if (fd >= 0) {
		build(&b, key, c, g);
		good = b.len <= MAX_FILE && write_all(fd, b.ptr, b.len);
		if (close(fd) < 0 || !good || rename(tmp, path) < 0)
			unlink(tmp);
	}
	buf_release(&b);
	free(tmp);
	free(path);
}
