/*
 * The graph of a search as a file that is mapped: <gitdir>/maxkernel/cache/
 * graph/<slug>.<12 hex digits of whose it is>.  Derived from commits and
 * notes, good for the tips that it names, deleted freely.  It is written
 * beside its place and renamed, so that a reader's map never changes under
 * it, and believed only if it is ours, whole (a checksum) and in bounds.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/source.h"
#include "core/store_parts.h"

#define MAGIC "mkgraph"
#define CACHE_VERSION 3u
#define ORDER 0x01020304u	/* of bytes, on this machine */
#define MAX_FILE (4ull << 30)
#define LEFT_OVER_S 3600	/* nobody writes for so long */
#define UNUSED_S (30 * 86400)	/* of a search or device that was left */

/* Every text is an offset into the texts; 0 is none. */
enum { OP, PROPOSER, STRATEGY, RECIPE, SUBJECT, WORKER, REC_WORKER, ERROR,
       HOST, DEVICE, SANDBOX, ORACLE, CLOCK, COMPILER, FLAGS, AGAINST, TEXTS };
enum { NUMS = 16 };
enum { PENDING = 1, CLAIMED = 2, UNITED = 4, COMPILED = 8, CORRECT = 16,
       CONFIRMING = 32, REC_CLAIMED = 64 };

struct file_node {
	double num[NUMS];
	double spent_s;
	int64_t time;
	uint32_t parent[2];
	uint32_t step;
	uint32_t verdict;
	uint32_t bits;
	int32_t launches;
	uint32_t text[TEXTS];
	struct oid id, state;
};

struct file_spend {
	double attempt_s;
	uint32_t step, verdict;
	struct oid state;
	uint32_t claimed, ledger, unused;
};

struct file_tip {
	uint32_t name;
	struct oid id, tree;
};

/* What stands in the file, in this order. */
enum { PART_NODES, PART_SPENDS, PART_TIPS, PART_ROOTS, PART_LEDGERS, PART_STEPS,
       PART_SLUGS,
       PART_WARNINGS, PART_TEXTS, PARTS };
static const size_t part_size[PARTS] = {
	sizeof(struct file_node), sizeof(struct file_spend),
	sizeof(struct file_tip), sizeof(struct oid), sizeof(struct oid),
	sizeof(struct united_steps), sizeof(uint32_t), sizeof(uint32_t), 1
};

struct file_head {
	char magic[8];
	uint32_t version, order;
	uint64_t len;		/* of the file */
	uint64_t sum;		/* of all behind it */
	uint64_t nr[PARTS];
	uint32_t key;		/* text: what it depends on besides the tips */
	uint32_t unused;
};
#define SUM_FROM (offsetof(struct file_head, sum) + sizeof(uint64_t))

/* ---- names and sums ---- */

static char *cache_path(struct search *s, const struct buf *key, bool make)
{
	static const char *const below[] = { "", "/cache", "/cache/graph" };
	char *path;
	struct oid id;

	for (size_t i = 0; make && i < ARRAY_SIZE(below); i++) {
		path = xasprintf("%smaxkernel%s", repo_gitdir(s->repo),
				 below[i]);
		mkdir(path, 0777);
		free(path);
	}
	source_blob_id(key->ptr, key->len, &id);
	return xasprintf("%smaxkernel/cache/graph/%s.%.12s",
			 repo_gitdir(s->repo), s->spec.slug, oid_text(&id).s);
}

static uint64_t turn(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

/* Against damage, not against malice: four lanes of multiply and turn. */
static uint64_t sum_of(const unsigned char *p, size_t len)
{
	const uint64_t a = 0x9e3779b185ebca87u, b = 0xc2b2ae3d27d4eb4fu;
	uint64_t lane[4] = { a, b, len, a ^ b }, sum = len;
	uint64_t x[4] = { 0, 0, 0, 0 };

	for (; len >= sizeof(x); p += sizeof(x), len -= sizeof(x)) {
		memcpy(x, p, sizeof(x));
		for (int i = 0; i < 4; i++)
			lane[i] = turn(lane[i] + x[i] * b, 31) * a;
	}
	memset(x, 0, sizeof(x));
	memcpy(x, p, len);
	for (int i = 0; i < 4; i++) {
		lane[i] = turn(lane[i] + x[i] * b, 31) * a;
		sum = turn(sum ^ lane[i], 27) * b;
	}
	return sum ^ sum >> 29;
}

/* ---- reading ---- */

struct image {
	const unsigned char *map;
	size_t len;
	const struct file_head *head;
	const void *part[PARTS];
};

static bool map_file(const char *path, struct image *im)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	void *map;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid() || st.st_mode & S_IWOTH ||
	    (uint64_t)st.st_size < sizeof(struct file_head) ||
	    (uint64_t)st.st_size > MAX_FILE) {
		close(fd);
		return false;
	}
	im->len = (size_t)st.st_size;
	map = mmap(NULL, im->len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd,
		   0);
	close(fd);
	if (map == MAP_FAILED)
		return false;
	im->map = map;
	return true;
}

static const char *text_at(const struct image *im, uint32_t at)
{
	return at ? (const char *)im->part[PART_TEXTS] + at : NULL;
}

/* Whole, of our version, with its parts in bounds. */
static bool image_ok(struct image *im)
{
	const struct file_head *h = (const void *)im->map;
	uint64_t at = sizeof(*h);
	const char *text;

	im->head = h;
	if (memcmp(h->magic, MAGIC, sizeof(h->magic)) ||
	    h->version != CACHE_VERSION || h->order != ORDER ||
	    h->len != im->len)
		return false;
	for (int i = 0; i < PARTS; i++) {
		if (h->nr[i] > (im->len - at) / part_size[i])
			return false;
		im->part[i] = im->map + at;
		at += h->nr[i] * part_size[i];
	}
	text = im->part[PART_TEXTS];
	if (at != im->len || !h->nr[PART_TEXTS] ||
	    text[h->nr[PART_TEXTS] - 1] || !h->nr[PART_NODES] ||
	    h->nr[PART_NODES] > STORE_MAX_NODES + 1)
		return false;
	return sum_of(im->map + SUM_FROM, im->len - SUM_FROM) == h->sum;
}

static bool texts_ok(const struct image *im, const uint32_t *at, uint64_t nr)
{
	uint64_t max = im->head->nr[PART_TEXTS];

	for (uint64_t i = 0; i < nr; i++)
		if (at[i] >= max)
			return false;
	return true;
}

static bool node_ok(const struct image *im, const struct file_node *f)
{
	uint64_t nr = im->head->nr[PART_NODES];

	for (int i = 0; i < 2; i++)
		if (f->parent[i] >= nr && f->parent[i] != NODE_NONE)
			return false;
	return f->verdict < V_NR && texts_ok(im, f->text, TEXTS);
}

/* The texts stay those of the map; to free() them would be an error. */
static char *lent(const struct image *im, uint32_t at)
{
	return (char *)(uintptr_t)text_at(im, at);
}

static void take_record(const struct image *im, const struct file_node *f,
			struct record *r)
{
	const double *n = f->num;

	*r = (struct record){
		.verdict = (enum verdict)f->verdict, .lr = n[0],
		.lr_low = n[1], .lr_high = n[2], .est_speedup = n[3],
		.speedup = n[4], .ci_low = n[5], .ci_high = n[6],
		.vs_parent = n[7], .vs_rival = n[8], .vs_best_flags = n[9],
		.time_ns = n[10], .baseline_ns = n[11], .gflops = n[12],
		.gbs = n[13], .roof = n[14], .attempt_s = n[15],
		.compiled = f->bits & COMPILED, .correct = f->bits & CORRECT,
		.confirming = f->bits & CONFIRMING,
		.claimed = f->bits & REC_CLAIMED, .launches = f->launches,
		.error = lent(im, f->text[ERROR]),
		.host = lent(im, f->text[HOST]),
		.device = lent(im, f->text[DEVICE]),
		.sandbox = lent(im, f->text[SANDBOX]),
		.oracle = lent(im, f->text[ORACLE]),
		.clock = lent(im, f->text[CLOCK]),
		.compiler = lent(im, f->text[COMPILER]),
		.flags = lent(im, f->text[FLAGS]),
		.against = lent(im, f->text[AGAINST]),
		.samples = BUF_INIT, .borrowed = true,
	};
}

static bool take_nodes(const struct image *im, struct graph *g)
{
	const struct file_node *f = im->part[PART_NODES];
	uint32_t nr = (uint32_t)im->head->nr[PART_NODES];

	graph_reserve(g, nr);
	for (; nr; nr--, f++) {
		struct node n = {
			.id = f->id, .state = f->state,
			.parent = { f->parent[0], f->parent[1] },
			.step = f->step, .time = f->time,
			.op = lent(im, f->text[OP]),
			.proposer = lent(im, f->text[PROPOSER]),
			.strategy = lent(im, f->text[STRATEGY]),
			.recipe = lent(im, f->text[RECIPE]),
			.subject = lent(im, f->text[SUBJECT]),
			.worker = lent(im, f->text[WORKER]),
			.rec_worker = lent(im, f->text[REC_WORKER]),
			.pending = f->bits & PENDING,
			.claimed = f->bits & CLAIMED,
			.united = f->bits & UNITED, .borrowed = true,
			.spent_s = f->spent_s,
		};

		if (!node_ok(im, f))
			return false;
		take_record(im, f, &n.rec);
		graph_add(g, &n);
	}
	return true;
}

static bool take_spends(const struct image *im, struct graph *g)
{
	const struct file_spend *f = im->part[PART_SPENDS];
	uint64_t nr = im->head->nr[PART_SPENDS];

	for (; nr; nr--, f++) {
		if (f->verdict >= V_NR ||
		    f->ledger > im->head->nr[PART_LEDGERS])
			return false;
		GROW(g->spend, g->nr_spend, g->cap_spend);
		g->spend[g->nr_spend++] = (struct spend){
			f->step, (enum verdict)f->verdict, f->state,
			f->attempt_s, f->claimed != 0, f->ledger
		};
	}
	return true;
}

/* All but the graph. */
static bool take_rest(const struct image *im, struct cache *c)
{
	const uint64_t *nr = im->head->nr;
	const struct file_tip *tip = im->part[PART_TIPS];
	const struct oid *root = im->part[PART_ROOTS];
	const struct oid *ledger = im->part[PART_LEDGERS];
	const struct united_steps *steps = im->part[PART_STEPS];
	const uint32_t *slug = im->part[PART_SLUGS];
	const uint32_t *warning = im->part[PART_WARNINGS];

	if (!texts_ok(im, slug, nr[PART_SLUGS]) ||
	    !texts_ok(im, warning, nr[PART_WARNINGS]))
		return false;
	for (uint64_t i = 0; i < nr[PART_TIPS]; i++) {
		if (!tip[i].name || !texts_ok(im, &tip[i].name, 1))
			return false;
		cache_tip(c, text_at(im, tip[i].name), &tip[i].id,
			  &tip[i].tree);
	}
	for (uint64_t i = 0; i < nr[PART_ROOTS]; i++)
		oid_list_add(&c->root, &root[i]);
	for (uint64_t i = 0; i < nr[PART_LEDGERS]; i++)
		oid_list_add(&c->ledger, &ledger[i]);
	for (uint64_t i = 0; i < nr[PART_STEPS]; i++) {
		GROW(c->steps, c->nr_steps, c->cap_steps);
		c->steps[c->nr_steps++] = steps[i];
	}
	for (uint64_t i = 0; i < nr[PART_SLUGS]; i++)
		strv_push(&c->slug, slug[i] ? text_at(im, slug[i]) : "");
	for (uint64_t i = 0; i < nr[PART_WARNINGS]; i++)
		strv_push(&c->warn, warning[i] ? text_at(im, warning[i]) : "");
	return true;
}

bool cache_read(struct search *s, const struct buf *key, struct cache *c,
		struct graph *g)
{
	struct image im = { .map = NULL };
	char *path = cache_path(s, key, false);
	bool good = map_file(path, &im);

	free(path);
	if (!good)
		return false;
	g->pool = (void *)(uintptr_t)im.map;	/* unmapped with the graph */
	g->pool_len = im.len;
	good = image_ok(&im) && im.head->key &&
	       texts_ok(&im, &im.head->key, 1) &&
	       !strcmp(text_at(&im, im.head->key), key->ptr) &&
	       take_nodes(&im, g) && take_spends(&im, g) && take_rest(&im, c);
	if (!good) {
		graph_release(g);
		cache_release(c);
	}
	return good;
}

/* ---- writing ---- */

struct writer {
	struct buf text;
	uint32_t *slot;		/* offsets of texts that are there */
	size_t nr, nr_slots;
};

static size_t text_slot(const struct writer *w, const char *s, size_t len)
{
	size_t at = (size_t)sum_of((const unsigned char *)s, len);

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
			 r->attempt_s },
		.spent_s = n->spent_s, .time = n->time,
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

static void add_graph(struct writer *w, struct buf *b, const struct graph *g)
{
	for (uint32_t i = 0; i < g->nr; i++)
		add_node(w, b, &g->node[i]);
	for (uint32_t i = 0; i < g->nr_spend; i++) {
		const struct spend *x = &g->spend[i];
		struct file_spend f = { x->attempt_s, x->step, x->verdict,
					x->state, x->claimed, x->ledger, 0 };

		buf_add(b, &f, sizeof(f));
	}
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
	h.nr[PART_TIPS] = c->nr;
	h.nr[PART_ROOTS] = c->root.nr;
	h.nr[PART_LEDGERS] = c->ledger.nr;
	h.nr[PART_STEPS] = c->nr_steps;
	h.nr[PART_SLUGS] = c->slug.nr;
	h.nr[PART_WARNINGS] = c->warn.nr;
	h.nr[PART_TEXTS] = w.text.len;
	memcpy(b->ptr, &h, sizeof(h));
	h.sum = sum_of((unsigned char *)b->ptr + SUM_FROM, b->len - SUM_FROM);
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

/* ---- what is in it ---- */

void cache_tip(struct cache *c, const char *name, const struct oid *id,
	       const struct oid *tree)
{
	GROW(c->tip, c->nr, c->cap);
	c->tip[c->nr++] = (struct cache_tip){ xstrdup(name), *id, *tree };
}

void cache_release(struct cache *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->tip[i].name);
	free(c->tip);
	free(c->root.v);
	free(c->ledger.v);
	free(c->steps);
	strv_release(&c->slug);
	strv_release(&c->warn);
	memset(c, 0, sizeof(*c));
}
