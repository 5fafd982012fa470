#include "core/store.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/prior.h"
#include "core/store_parts.h"

#define NEWER "it was written by a newer git maxkernel"
#define SPEC_VERSION 2		/* 1 lacks the keys of parse_later() */
#define SPEC_MAX_FILE (4u << 20)
#define SPEC_MAX_SMALL 4096	/* width, branches, depth and the like */
#define SPEC_MAX_SEEDS (64u << 10)

/* ---- names ---- */

bool store_slug_ok(const char *slug)
{
	size_t len = strlen(slug);

	return len && len <= STORE_MAX_SLUG && slug[0] != '-' &&
	       strspn(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

bool store_word_ok(const char *word)
{
	size_t len = strlen(word);

	return len && len <= 64 && *word != '.' && *word != '-' &&
	       word[len - 1] != '.' && !strstr(word, "..") &&
	       (len < 5 || strcmp(word + len - 5, ".lock")) &&
	       strspn(word, "abcdefghijklmnopqrstuvwxyz"
		      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") == len;
}

#define ANCHOR "maxkernel: anchor "

bool is_anchor(const char *message)
{
	return !strncmp(message, ANCHOR, strlen(ANCHOR));
}

unsigned long anchor_number(const char *message)
{
	unsigned long n = 0;

	return sscanf(message, ANCHOR "%lu\n", &n) == 1 ? n : 0;
}

bool store_op_ok(const char *op)
{
	static const char *const ops[] = {
		"seed", "plan", "mutate", "crossover", "repair", "tune",
		"import", "human",
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (!strcmp(ops[i], op))
			return true;
	return false;
}

char *store_anchor_ref(const char *slug, const char *w)
{
	return xasprintf("refs/maxkernel/%s/w/%s", slug, w ? w : "");
}

char *store_notes_ref(const char *slug, const char *kind, const char *w)
{
	return xasprintf("refs/notes/maxkernel/%s/%s/%s", slug, kind,
			 w ? w : "");
}

char *store_spec_ref(const char *slug)
{
	return xasprintf("refs/maxkernel/%s/spec", slug);
}

void store_warn(struct strv *warn, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	if (!warn || warn->nr > STORE_MAX_WARN)
		return;
	if (warn->nr == STORE_MAX_WARN) {
		strv_push(warn, "and more of this kind");
		return;
	}
	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	strv_push(warn, b.ptr);
	buf_release(&b);
}

void store_section_hash(const char *section, char out[13])
{
	struct oid id;

	source_blob_id(section, strlen(section), &id);
	memcpy(out, oid_text(&id).s, 12);
	out[12] = '\0';
}

/* ---- a spec as plain data ---- */

void spec_release(struct spec *s)
{
	free(s->slug);
	free(s->kernel);
	free(s->section);
	free(s->policy);
	free(s->proposer);
	free(s->device);
	free(s->inner);
	free(s->seeds);
	free(s->prior);
	free(s->shape);
	free(s->group);
	memset(s, 0, sizeof(*s));
}

void spec_copy(struct spec *to, const struct spec *from)
{
	*to = *from;
	to->slug = xstrdup(from->slug);
	to->kernel = xstrdup(from->kernel);
	to->section = xstrdup(from->section);
	to->policy = xstrdup(from->policy);
	to->proposer = xstrdup(from->proposer);
	to->device = xstrdup(from->device);
	to->inner = xstrdup(from->inner);
	to->seeds = xstrdup(from->seeds);
	to->prior = xstrdup(from->prior);
	to->shape = xstrdup(from->shape);
	to->group = xstrdup(from->group);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool spec_same(const struct spec *a, const struct spec *b)
{
	return same_text(a->kernel, b->kernel) &&
	       same_text(a->section, b->section) &&
	       same_text(a->policy, b->policy) &&
	       same_text(a->proposer, b->proposer) &&
	       same_text(a->inner ? a->inner : "", b->inner ? b->inner : "") &&
	       same_text(a->device, b->device) && a->width == b->width &&
	       a->branches == b->branches && a->depth == b->depth &&
	       a->round == b->round && a->patience == b->patience &&
	       a->islands == b->islands && !(a->keep < b->keep) &&
	       !(a->keep > b->keep) && a->seed == b->seed &&
	       oid_eq(&a->root, &b->root);
}

void spec_list_release(struct spec_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		spec_release(&l->v[i]);
	free(l->v);
	memset(l, 0, sizeof(*l));
}

/* ---- a spec as text ---- */

static const char *const spec_keys[] = {
	"v", "slug", "kernel", "policy", "width", "branches", "depth",
	"round", "patience", "islands", "keep", "seed", "proposer", "inner",
	"device", "base", "root", "attempts", "time_s", "device_s", "tokens",
	"cost", "until", "time", "shape", "space", "group", "seeds", "prior",
	"section", NULL
};

void store_spec_format(struct buf *b, const struct spec *s)
{
	char seed[24];

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)s->seed);
	buf_addstr(b, "{\n");
	json_put_int(b, "v", SPEC_VERSION);
	json_put_str(b, "slug", s->slug);
	json_put_str(b, "kernel", s->kernel);
	json_put_str(b, "policy", s->policy);
	json_put_int(b, "width", s->width);
	json_put_int(b, "branches", s->branches);
	json_put_int(b, "depth", s->depth);
	json_put_int(b, "round", s->round);
	json_put_int(b, "patience", s->patience);
	json_put_int(b, "islands", s->islands);
	json_put_num(b, "keep", s->keep, 0);
	json_put_str(b, "seed", seed);	/* 64 bits do not fit a number */
	json_put_str(b, "proposer", s->proposer);
	json_put_str(b, "inner", s->inner ? s->inner : "");
	json_put_str(b, "device", s->device);
	json_put_str(b, "base", oid_text(&s->base).s);
	json_put_str(b, "root", oid_text(&s->root).s);
	json_put_int(b, "attempts", s->budget.attempts);
	json_put_num(b, "time_s", s->budget.time_s, 0);
	json_put_num(b, "device_s", s->budget.device_s, 0);
	json_put_int(b, "tokens", s->budget.tokens);
	json_put_num(b, "cost", s->budget.cost, 0);
	json_put_num(b, "until", s->budget.until, 0);
	json_put_int(b, "time", s->time);
	json_put_str(b, "shape", s->shape ? s->shape : "");
	json_put_num(b, "space", s->space, 0);
	json_put_str(b, "group", s->group ? s->group : "");
	json_put_str(b, "seeds", s->seeds ? s->seeds : "");
	json_put_str(b, "prior", s->prior ? s->prior : "");
	json_put_str(b, "section", s->section);
	buf_addstr(b, "\n}\n");
}

static int need_word(const struct json *j, const char *key, char **out,
		     struct err *err)
{
	const char *s = NULL;

	if (json_need_str(j, key, 64, &s, err) < 0)
		return err->code;
	if (!store_word_ok(s))
		return err_set(err, ERR_FORMAT, "'%s' is not a name", key);
	*out = xstrdup(s);
	return 0;
}

static int need_text(const struct json *j, const char *key, size_t max,
		     char **out, struct err *err)
{
	const char *s = NULL;

	if (json_need_str(j, key, max, &s, err) < 0)
		return err->code;
	for (const char *p = s; *p; p++)
		if ((unsigned char)*p < 32 && *p != '\n' && *p != '\t')
			return err_set(err, ERR_FORMAT, "'%s' holds control "
				       "characters", key);
	*out = xstrdup(s);
	return 0;
}

/* A name, or "". */
static int may_word(const struct json *j, const char *key, char **out,
		    struct err *err)
{
	const char *s = NULL;

	if (json_need_str(j, key, 64, &s, err) < 0)
		return err->code;
	if (*s && !store_word_ok(s))
		return err_set(err, ERR_FORMAT, "'%s' is not a name", key);
	*out = xstrdup(s);
	return 0;
}

static int need_small(const struct json *j, const char *key, int least,
		      int *out, struct err *err)
{
	int64_t x = least;
	int ret = json_need_int(j, key, least, SPEC_MAX_SMALL, &x, err);

	*out = (int)x;
	return ret;
}

static int need_oid(const struct json *j, const char *key, struct oid *out,
		    struct err *err)
{
	const char *s = NULL;

	if (json_need_str(j, key, OID_HEX, &s, err) < 0)
		return err->code;
	if (strlen(s) != OID_HEX || !oid_parse(out, s))
		return err_set(err, ERR_FORMAT, "'%s' is not an object id",
			       key);
	return 0;
}

static int need_seed(const struct json *j, uint64_t *out, struct err *err)
{
	const char *s = NULL;
	char *end;

	if (json_need_str(j, "seed", 20, &s, err) < 0)
		return err->code;
	errno = 0;
	*out = strtoull(s, &end, 10);
	if (!isdigit((unsigned char)*s) || *end || errno)
		return err_set(err, ERR_FORMAT, "'seed' is not a number");
	return 0;
}

/* Not below 0. */
static int need_amount(const struct json *j, const char *key, double *out,
		       struct err *err)
{
	if (json_need_num(j, key, out, err) < 0)
		return err->code;
	return *out >= 0 ? 0 : err_set(err, ERR_FORMAT, "'%s' is below 0",
				       key);
}

/* What version 1 did not have. */
static int parse_later(const struct json *j, struct spec *s, struct err *err)
{
	const int64_t most = (int64_t)1 << 53;
	struct budget *b = &s->budget;

	if (may_word(j, "inner", &s->inner, err) < 0 ||
	    may_word(j, "shape", &s->shape, err) < 0 ||
	    may_word(j, "group", &s->group, err) < 0 ||
	    need_text(j, "prior", PRIOR_MAX_TEXT, &s->prior, err) < 0 ||
	    need_small(j, "patience", 0, &s->patience, err) < 0 ||
	    need_small(j, "islands", 0, &s->islands, err) < 0 ||
	    need_amount(j, "space", &s->space, err) < 0 ||
	    json_need_int(j, "tokens", 0, most, &b->tokens, err) < 0 ||
	    need_amount(j, "device_s", &b->device_s, err) < 0 ||
	    need_amount(j, "cost", &b->cost, err) < 0 ||
	    need_amount(j, "until", &b->until, err) < 0)
		return err->code;
	return 0;
}

static int parse_fields(const struct json *j, struct spec *s, struct err *err)
{
	const int64_t most = (int64_t)1 << 53;

	if (need_text(j, "kernel", STORE_MAX_NAME, &s->kernel, err) < 0 ||
	    need_text(j, "section", KERNEL_MAX_TEXT, &s->section, err) < 0 ||
	    need_text(j, "seeds", SPEC_MAX_SEEDS, &s->seeds, err) < 0 ||
	    need_word(j, "slug", &s->slug, err) < 0 ||
	    need_word(j, "policy", &s->policy, err) < 0 ||
	    need_word(j, "proposer", &s->proposer, err) < 0 ||
	    need_word(j, "device", &s->device, err) < 0 ||
	    need_small(j, "width", 0, &s->width, err) < 0 ||
	    need_small(j, "branches", 0, &s->branches, err) < 0 ||
	    need_small(j, "depth", 0, &s->depth, err) < 0 ||
	    need_small(j, "round", 1, &s->round, err) < 0 ||
	    json_need_num(j, "keep", &s->keep, err) < 0 ||
	    need_seed(j, &s->seed, err) < 0 ||
	    need_oid(j, "base", &s->base, err) < 0 ||
	    need_oid(j, "root", &s->root, err) < 0 ||
	    json_need_int(j, "attempts", 0, most, &s->budget.attempts,
			  err) < 0 ||
	    need_amount(j, "time_s", &s->budget.time_s, err) < 0 ||
	    json_need_int(j, "time", 0, most, &s->time, err) < 0)
		return err->code;
	if (!(s->keep > 0 && s->keep <= 1))
		return err_set(err, ERR_FORMAT, "'keep' is not in (0, 1]");
	if (strchr(s->kernel, '\n'))
		return err_set(err, ERR_FORMAT, "'kernel' is not a name");
	return 0;
}

int store_spec_parse(const char *text, size_t len, struct spec *s,
		     struct err *err)
{
	struct json *j;
	int64_t v = 0;
	int ret = json_parse_object(&j, text, len, err);

	memset(s, 0, sizeof(*s));
	if (ret < 0)
		return ret;
	ret = json_need_int(j, "v", 1, 1000000, &v, err);
	if (!ret && v > SPEC_VERSION)
		ret = err_set(err, ERR_FORMAT, NEWER " (format %lld): update "
			      "git maxkernel here", (long long)v);
	if (!ret)
		ret = json_only(j, spec_keys, err);
	if (!ret)
		ret = parse_fields(j, s, err);
	if (!ret && v > 1)
		ret = parse_later(j, s, err);
	json_free(j);
	if (ret < 0)
		spec_release(s);
	return ret;
}

/* ---- reading a search ---- */

static int check_parents(const struct spec *s, const struct commit *c,
			 struct err *err)
{
	bool own_root = !oid_eq(&s->root, &s->base);

	if (c->nr_parents != (own_root ? 2u : 1u) ||
	    !oid_eq(&c->parent[0], &s->base) ||
	    (own_root && !oid_eq(&c->parent[1], &s->root)))
		return err_set(err, ERR_FORMAT, "its parents are not its base "
			       "and root");
	return 0;
}

static int read_commit(struct repo *r, const struct oid *id, struct spec *s,
		       struct err *err)
{
	struct buf text = BUF_INIT;
	struct tree_entry e;
	struct commit c;
	int ret = repo_commit_read(r, id, &c, err);

	if (!ret)
		ret = repo_tree_path(r, &c.tree, "spec", &e, err);
	if (!ret && !S_ISREG(e.mode))
		ret = err_set(err, ERR_FORMAT, "its 'spec' is no file");
	if (!ret)
		ret = repo_blob_read(r, &e.id, &text, SPEC_MAX_FILE, err);
	if (!ret)
		ret = store_spec_parse(text.ptr, text.len, s, err);
	if (!ret)
		ret = check_parents(s, &c, err);
	buf_release(&text);
	commit_release(&c);
	return ret;
}

int store_spec_at(struct repo *r, const char *slug, const struct oid *commit,
		  struct spec *out, struct err *err)
{
	int ret;

	memset(out, 0, sizeof(*out));
	ret = read_commit(r, commit, out, err);
	if (!ret && strcmp(out->slug, slug))
		ret = err_set(err, ERR_FORMAT, "its spec is that of '%s'",
			      out->slug);
	if (ret < 0)
		spec_release(out);
	return ret;
}

int store_spec_read(struct repo *r, const char *slug, struct spec *out,
		    struct oid *commit, struct err *err)
{
	char *ref = store_spec_ref(slug);
	int ret;

	memset(out, 0, sizeof(*out));
	ret = repo_ref_read(r, ref, commit, err);
	free(ref);
	if (ret == ERR_NOTFOUND)
		return err_set(err, ERR_NOTFOUND, "there is no search '%s'",
			       slug);
	if (!ret)
		ret = store_spec_at(r, slug, commit, out, err);
	if (!ret)
		return 0;
	spec_release(out);
	if (ret == ERR_NOTFOUND)	/* of an object: that is damage */
		err->code = ERR_GIT;
	if (!strncmp(err->msg, NEWER, strlen(NEWER)))
		return err_wrap(err, "search '%s'", slug);
	return err_wrap(err, "search '%s' is damaged", slug);
}

int store_spec_kernel(const struct spec *spec, struct kernel *out,
		      struct err *err)
{
	struct kernel_file f = { NULL, 0, 0 };
	struct buf text = BUF_INIT;
	const char *p;
	int ret;

	buf_addstr(&text, "[kernel \"");
	for (p = spec->kernel; *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_addch(&text, '\\');
		buf_addch(&text, *p);
	}
	buf_addf(&text, "\"]\n%s", spec->section);
	ret = kernel_file_parse(&f, "spec", text.ptr, text.len, err);
	buf_release(&text);
	if (!ret && f.nr != 1)
		ret = err_set(err, ERR_FORMAT, "it is not one section");
	if (ret < 0) {
		kernel_file_release(&f);
		return err_wrap(err, "the section of search '%s'",
				spec->slug);
	}
	*out = f.v[0];			/* taken over */
	free(f.v);
	return 0;
}
