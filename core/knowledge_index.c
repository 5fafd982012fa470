/*
 * The index: full-text search of SQLite over words_add() of the entries, the
 * row of an entry being its place in the list.  Its file is the image of the
 * database and one line:
 *
 *	maxkernel-knowledge <stamp> <sum>
 *
 * stamp is the SHA-1 of what was indexed, sum that of the image.  It is written
 * beside and renamed, so that processes need no lock; one that does not fit,
 * or is damaged, is made anew.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/db.h"
#include "core/knowledge_parts.h"
#include "core/mem.h"
#include "core/sha1.h"

#define INDEX_VERSION "1"	/* raised with any change of the words */
#define INDEX_MAX (64u << 20)	/* bytes of the file */
#define MAX_TERMS 256		/* of a query */

#define HEX (2 * SHA1_RAW)
#define MARK "\nmaxkernel-knowledge "
#define TRAILER (sizeof(MARK) - 1 + HEX + 1 + HEX + 1)

static void hex(struct sha1 *s, char out[HEX + 1])
{
	unsigned char raw[SHA1_RAW];

	sha1_end(s, raw);
	for (int i = 0; i < SHA1_RAW; i++)
		snprintf(out + 2 * i, 3, "%02x", raw[i]);
}

static void add_field(struct sha1 *s, const char *text)
{
	sha1_add(s, text, strlen(text) + 1);
}

static void stamp(const struct knowledge *k, char out[HEX + 1])
{
	struct sha1 s;

	sha1_init(&s);
	add_field(&s, INDEX_VERSION);
	for (size_t i = 0; i < k->nr; i++) {
		const struct entry *e = &k->v[i];

		add_field(&s, e->id);
		add_field(&s, e->title);
		for (size_t w = 0; w < e->applies.nr; w++)
			add_field(&s, e->applies.v[w]);
		add_field(&s, "");
		add_field(&s, e->text);
	}
	hex(&s, out);
}

static void trailer(const struct knowledge *k, const struct buf *image,
		    char out[TRAILER + 1])
{
	char of[HEX + 1], sum[HEX + 1];
	struct sha1 s;

	stamp(k, of);
	sha1_init(&s);
	sha1_add(&s, image->ptr, image->len);
	hex(&s, sum);
	snprintf(out, TRAILER + 1, MARK "%s %s\n", of, sum);
}

/* ---- its file ---- */

static int load(struct knowledge *k, struct err *err)
{
	struct buf image = BUF_INIT;
	char want[TRAILER + 1];
	int ret = buf_read_file(&image, k->cache, INDEX_MAX, err);

	if (!ret && image.len <= TRAILER)
		ret = err_set(err, ERR_FORMAT, "torn");
	if (!ret) {
		image.len -= TRAILER;
		trailer(k, &image, want);
		if (memcmp(image.ptr + image.len, want, TRAILER) != 0)
			ret = err_set(err, ERR_FORMAT, "of other entries");
	}
	if (!ret)
		ret = db_open_image(&k->index, image.ptr, image.len, err);
	buf_release(&image);
	return ret;
}

static void make_folders(const char *path)
{
	char *copy = xstrdup(path), *last = strrchr(copy, '/'), *first;

	*last = '\0';
	first = strrchr(copy, '/');
	*first = '\0';
	mkdir(copy, 0777);
	*first = '/';
	mkdir(copy, 0777);
	free(copy);
}

/* A cache: where it cannot be written there is none. */
static void save(struct knowledge *k)
{
	struct buf image = BUF_INIT;
	struct err unused = ERR_INIT;
	char end[TRAILER + 1];

	if (!db_image(k->index, &image, &unused) &&
	    image.len < INDEX_MAX - TRAILER) {
		trailer(k, &image, end);
		buf_add(&image, end, TRAILER);
		make_folders(k->cache);
		buf_write_file(k->cache, image.ptr, image.len, &unused);
	}
	buf_release(&image);
}

/* ---- making it ---- */

static int add_entry(struct db_query *q, int64_t row, const struct entry *e,
		     struct err *err)
{
	struct buf title = BUF_INIT, head = BUF_INIT, text = BUF_INIT;
	int ret;

	words_add(&title, e->title, strlen(e->title));
	words_add(&head, e->id, strlen(e->id));
	for (size_t i = 0; i < e->applies.nr; i++)
		words_add(&head, e->applies.v[i], strlen(e->applies.v[i]));
	words_add(&text, e->text, strlen(e->text));
	db_int(q, 1, row);
	db_text(q, 2, title.ptr, title.len);
	db_text(q, 3, head.ptr, head.len);
	db_text(q, 4, text.ptr, text.len);
	ret = db_step(q, err);
	db_again(q);
	buf_release(&title);
	buf_release(&head);
	buf_release(&text);
	return ret < 0 ? ret : 0;
}

static int build(struct knowledge *k, struct err *err)
{
	struct db_query *q = NULL;
	int ret = db_open(&k->index, err);

	if (!ret)
		ret = db_exec(k->index, "CREATE VIRTUAL TABLE word USING fts5("
			      "title, head, text, content='', tokenize="
			      "\"ascii tokenchars '_'\"); BEGIN", err);
	if (!ret)
		ret = db_query(k->index, "INSERT INTO word(rowid, title, head, "
			       "text) VALUES (?1, ?2, ?3, ?4)", &q, err);
	for (size_t i = 0; !ret && i < k->nr; i++)
		ret = add_entry(q, (int64_t)i + 1, &k->v[i], err);
	db_query_end(q);
	if (!ret)
		ret = db_exec(k->index, "COMMIT; INSERT INTO word(word) "
			      "VALUES ('optimize')", err);
	if (ret) {
		db_close(k->index);
		k->index = NULL;
		return err_wrap(err, "cannot index the entries");
	}
	return 0;
}

static int ready(struct knowledge *k, struct err *err)
{
	struct err unused = ERR_INIT;
	int ret;

	if (k->index || (k->cache && !load(k, &unused)))
		return 0;
	ret = build(k, err);
	if (!ret && k->cache)
		save(k);
	return ret;
}

/* ---- asking it ---- */

/* Each word a quoted one: words hold no quote, nor anything that counts. */
static void expression(const struct strv *words, struct buf *out)
{
	for (size_t i = 0; i < words->nr; i++)
		buf_addf(out, "%s\"%s\"", i ? " OR " : "", words->v[i]);
}

static int ask(struct knowledge *k, const struct buf *match,
	       const struct strv *applies, struct hit *hit, size_t max,
	       struct err *err)
{
	struct db_query *q;
	size_t nr = 0;
	int ret = db_query(k->index, "SELECT rowid, bm25(word, 4.0, 1.0, 1.0) "
			   "AS score FROM word WHERE word MATCH ?1 "
			   "ORDER BY score, rowid", &q, err);

	if (ret)
		return ret;
	db_text(q, 1, match->ptr, match->len);
	while (nr < max) {
		int64_t row;

		ret = db_step(q, err);
		if (ret <= 0)
			break;
		row = db_get_int(q, 0);
		if (row < 1 || row > (int64_t)k->nr ||
		    !entry_applies(&k->v[row - 1], applies))
			continue;
		hit[nr].entry = (uint32_t)(row - 1);
		hit[nr++].score = -db_get_double(q, 1);
	}
	db_query_end(q);
	return ret < 0 ? ret : (int)nr;
}

int knowledge_search(struct knowledge *k, const char *query, size_t len,
		     const struct strv *applies, struct hit *hit, size_t max,
		     struct err *err)
{
	struct strv words = STRV_INIT;
	struct buf match = BUF_INIT;
	int ret = 0;

	words_query(&words, query, len > KNOWLEDGE_MAX_QUERY ?
		    KNOWLEDGE_MAX_QUERY : len, MAX_TERMS);
	if (words.nr)
		ret = ready(k, err);
	if (!ret && words.nr) {
		expression(&words, &match);
		ret = ask(k, &match, applies, hit, max, err);
	}
	buf_release(&match);
	strv_release(&words);
	return ret;
}
