/*
 * The graph of a search as a file that is mapped: <gitdir>/maxkernel/cache/
 * graph/<slug>.<12 hex digits of whose it is>.  Derived from commits and
 * notes, good for the tips that it names, deleted freely.  It is written
 * beside its place and renamed, so that a reader's map never changes under
 * it, and believed only if it is ours, whole (a checksum) and in bounds.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/source.h"
#include "core/store_cache_parts.h"

static const size_t part_size[PARTS] = {
	sizeof(struct file_node), sizeof(struct file_spend),
	sizeof(struct file_call), sizeof(struct file_tip), sizeof(struct oid),
	sizeof(struct oid), sizeof(struct united_steps), sizeof(uint32_t), sizeof(uint32_t), 1
};

/* ---- names and sums ---- */

char *cache_path(struct search *s, const struct buf *key, bool make)
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
uint64_t cache_sum(const unsigned char *p, size_t len)
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
	return cache_sum(im->map + SUM_FROM, im->len - SUM_FROM) == h->sum;
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
		.device_s = n[16],
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
			.spent_s = f->spent_s, .device_s = f->device_s,
			.steps = f->steps,
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
		    f->ledger > im->head->nr[PART_LEDGERS] ||
		    !texts_ok(im, &f->recipe, 1))
			return false;
		GROW(g->spend, g->nr_spend, g->cap_spend);
		g->spend[g->nr_spend++] = (struct spend){
			f->step, (enum verdict)f->verdict, f->state,
			f->attempt_s, f->device_s, f->claimed != 0, f->ledger,
			f->line, lent(im, f->recipe), f->parent, f->origin,
			f->score
		};
	}
	return true;
}

static bool call_ok(const struct image *im, const struct file_call *f)
{
	return f->agent && f->model && f->worker &&
	       texts_ok(im, &f->agent, 1) && texts_ok(im, &f->model, 1) &&
	       texts_ok(im, &f->worker, 1) &&
	       f->ledger <= im->head->nr[PART_LEDGERS];
}

static bool take_calls(const struct image *im, struct graph *g)
{
	const struct file_call *f = im->part[PART_CALLS];
	uint64_t nr = im->head->nr[PART_CALLS];

	for (; nr; nr--, f++) {
		struct call c;

		if (!call_ok(im, f))
			return false;
		c = (struct call){
			.used = {
				.agent = lent(im, f->agent),
				.model = lent(im, f->model),
				.tokens_in = f->in,
				.tokens_cached = f->cached,
				.tokens_out = f->out,
				.tokens_reasoning = f->reasoning,
				.cost = f->cost, .seconds = f->seconds,
			},
			.step = f->step, .worker = lent(im, f->worker),
			.time = f->time, .claimed = f->claimed != 0,
			.ledger = f->ledger
		};
		memcpy(c.used.id, f->id, sizeof(c.used.id) - 1);
		GROW(g->call, g->nr_call, g->cap_call);
		g->call[g->nr_call++] = c;
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
	       take_nodes(&im, g) && take_spends(&im, g) &&
	       take_calls(&im, g) && take_rest(&im, c);
	if (!good) {
		graph_release(g);
		cache_release(c);
	}
	return good;
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
