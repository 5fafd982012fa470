/*
 * Words of entries and of queries.  Both go the same way, so that "vectorised"
 * meets "vectorizer" and "-ffast-math" meets "fast math", while an identifier
 * or a flag is a word as a whole too, and a rare one.
 */
#include <stdlib.h>
#include <string.h>

#include "core/knowledge_parts.h"
#include "core/mem.h"

#define MAX_WORD 64		/* bytes; longer ones say nothing */
#define MAX_RUN 256

static const char *const stop_words[] = {	/* sorted */
	"about", "after", "all", "also", "am", "an", "and", "any", "are", "as",
	"at", "be", "because", "been", "but", "by", "can", "could", "did", "do",
	"does", "doesn", "don", "for", "from", "get", "gets", "had", "has",
	"have", "how", "if", "in", "into", "is", "isn", "it", "its", "just",
	"me", "my", "no", "not", "of", "on", "only", "or", "our", "should",
	"so", "some", "than", "that", "the", "their", "them", "then", "there",
	"these", "they", "this", "to", "too", "up", "us", "use", "used",
	"using", "very", "was", "we", "were", "what", "when", "where", "which",
	"while", "why", "will", "with", "would", "you", "your",
};

static int by_text(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

static bool is_stop(const char *w)
{
	return bsearch(w, stop_words, ARRAY_SIZE(stop_words),
		       sizeof(*stop_words), by_text) != NULL;
}

/* ---- stems ---- */

/* The first that fits and leaves enough is replaced. */
static const struct {
	const char *end, *by;
	size_t left;		/* bytes that must be left */
} endings[] = {
	{ "izations", "is", 3 }, { "isations", "is", 3 },
	{ "ization", "is", 3 }, { "isation", "is", 3 },
	{ "izers", "is", 3 }, { "isers", "is", 3 },
	{ "izer", "is", 3 }, { "iser", "is", 3 },
	{ "izing", "is", 3 }, { "ising", "is", 3 },
	{ "ized", "is", 3 }, { "ised", "is", 3 },
	{ "izes", "is", 3 }, { "ises", "is", 3 },
	{ "ize", "is", 3 }, { "ise", "is", 3 },
	{ "ations", "at", 3 }, { "ation", "at", 3 },
	{ "ators", "at", 3 }, { "ator", "at", 3 },
	{ "ating", "at", 3 }, { "ated", "at", 3 },
	{ "ates", "at", 3 }, { "ate", "at", 3 },
	{ "ments", "", 4 }, { "ment", "", 4 },
	{ "ities", "", 4 }, { "ity", "", 4 },
	{ "ings", "", 3 }, { "ing", "", 3 },
	{ "edly", "", 4 }, { "ed", "", 3 },
	{ "ions", "", 4 }, { "ion", "", 4 },
	{ "ers", "", 4 }, { "er", "", 4 },
	{ "ies", "i", 3 }, { "sses", "ss", 2 }, { "xes", "x", 2 },
	{ "ches", "ch", 2 }, { "shes", "sh", 2 },
	{ "ss", "ss", 2 }, { "us", "us", 2 }, { "is", "is", 2 },
	{ "s", "", 3 },
};

/* Words that an ending would make equal to another. */
static const char *const fixed[] = {	/* sorted */
	"number", "numbers", "pointer", "pointers", "register", "registers",
};

static void undouble(char *w, size_t *len)
{
	char c = w[*len - 1];

	if (*len > 3 && c == w[*len - 2] && !strchr("aeioulsz", c))
		w[--*len] = '\0';
}

static void stem(char *w)
{
	size_t len = strlen(w);

	if (len < 4 || bsearch(w, fixed, ARRAY_SIZE(fixed), sizeof(*fixed),
			       by_text)) {
		if (len > 7 && w[len - 1] == 's')
			w[len - 1] = '\0';
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t n = strlen(endings[i].end);

		if (len < n + endings[i].left ||
		    strcmp(w + len - n, endings[i].end) != 0)
			continue;
		memcpy(w + len - n, endings[i].by, strlen(endings[i].by) + 1);
		len = strlen(w);
		if (endings[i].by[0])
			break;
		if (len > 5 && !strcmp(w + len - 2, "er"))
			w[len -= 2] = '\0';	/* buffering, buffered */
		undouble(w, &len);
		break;
	}
	if (len > 3 && w[len - 1] == 'e')
		w[--len] = '\0';
	if (len > 3 && w[len - 1] == 'y')
		w[len - 1] = 'i';
}

/* ---- words ---- */

struct taker {
	void (*take)(void *ctx, const char *word);
	void *ctx;
};

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void lower(char *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		out[i] = (char)(is_upper(s[i]) ? s[i] + 32 : s[i]);
	out[len] = '\0';
}

/* One part of a run: letters, digits, bytes of other scripts. */
static void give_part(const struct taker *t, const char *s, size_t len)
{
	char w[MAX_WORD + 1];
	bool plain = true;

	if (!len || len > MAX_WORD || (len == 1 && !(s[0] & 0x80)))
		return;
	lower(w, s, len);
	for (size_t i = 0; i < len; i++)
		plain = plain && is_lower(w[i]);
	if (plain && is_stop(w))
		return;
	if (plain)
		stem(w);
	t->take(t->ctx, w);
}

/* "8x128" is 8 and 128 too. */
static void give_sizes(const struct taker *t, const char *s, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i < len; i++)
		if (!is_digit(s[i]) &&
		    !((s[i] == 'x' || s[i] == 'X') && i > from && i + 1 < len))
			return;
	if (!memchr(s, 'x', len) && !memchr(s, 'X', len))
		return;
	for (size_t i = 0; i <= len; i++) {
		if (i < len && is_digit(s[i]))
			continue;
		give_part(t, s + from, i - from);
		from = i + 1;
	}
}

/* "BlockSpec" is block and spec, "HTTPServer" http and server. */
static bool hump(const char *s, size_t i, size_t len)
{
	if (!is_upper(s[i]))
		return false;
	return is_lower(s[i - 1]) ||
		(is_upper(s[i - 1]) && i + 1 < len && is_lower(s[i + 1]));
}

static void give_humps(const struct taker *t, const char *s, size_t len)
{
	size_t from = 0;

	give_part(t, s, len);
	give_sizes(t, s, len);
	for (size_t i = 1; i < len; i++) {
		if (!hump(s, i, len))
			continue;
		give_part(t, s + from, i - from);
		from = i;
	}
	if (from)
		give_part(t, s + from, len - from);
}

static bool joins(char c)
{
	return c == '_' || c == '.' || c == '-' || c == ':' || c == '+';
}

/* The run as one word, its joints made '_'. */
static void give_whole(const struct taker *t, const char *s, size_t len)
{
	char w[MAX_WORD + 1];
	size_t n = 0;

	for (size_t i = 0; i < len && n < MAX_WORD; i++) {
		if (!joins(s[i]))
			lower(w + n++, s + i, 1);
		else if (n && w[n - 1] != '_')
			w[n++] = '_';
	}
	while (n && w[n - 1] == '_')
		n--;
	w[n] = '\0';
	if (n > 1 && len <= MAX_WORD)
		t->take(t->ctx, w);
}

static void give_run(const struct taker *t, const char *s, size_t len,
		     bool flag)
{
	size_t from = 0, parts = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && !joins(s[i]))
			continue;
		if (i > from) {
			give_humps(t, s + from, i - from);
			parts++;
		}
		/* -ffast-math, -fno-math-errno */
		if (flag && !from && i > 3 && s[0] == 'f')
			give_part(t, s + 1, i - 1);
		from = i + 1;
	}
	if (parts > 1)
		give_whole(t, s, len);
}

/* Bytes of the character at p if it can stand in a word, or 0. */
static size_t word_char(const char *p, size_t left, bool *alone)
{
	uint32_t code = 0;
	size_t n;

	*alone = false;
	if (!((unsigned char)*p & 0x80))
		return is_lower(*p) || is_upper(*p) || is_digit(*p) ||
			*p == '_';
	n = utf8_code(p, left, &code);
	if (code < 0xc0 || code == 0xd7 || code == 0xf7 ||
	    (code >= 0x2000 && code < 0x2c00) ||
	    (code >= 0x3000 && code < 0x3040) ||
	    (code >= 0xff00 && code < 0xff10))
		return 0;
	*alone = code >= 0x2e80;	/* no blanks between these */
	return n;
}

/* Where the run that begins at s ends. */
static size_t run_length(const char *s, size_t len)
{
	size_t i = 0;
	bool alone;

	while (i < len && i < MAX_RUN) {
		size_t n = word_char(s + i, len - i, &alone), k = i;

		if (alone && i)
			break;
		if (n && alone)
			return n;
		if (n) {
			i += n;
			continue;
		}
		while (k < len && k < i + 2 && joins(s[k]))
			k++;
		if (k == i || k >= len || !word_char(s + k, len - k, &alone) ||
		    alone)
			break;
		i = k;
	}
	return i;
}

static void each_word(const char *text, size_t len, const struct taker *t)
{
	size_t i = 0;
	bool alone;

	while (i < len) {
		size_t n = word_char(text + i, len - i, &alone), run;

		if (!n) {
			i++;
			continue;
		}
		run = run_length(text + i, len - i);
		give_run(t, text + i, run, i && text[i - 1] == '-');
		i += run;
	}
}

static void take_text(void *ctx, const char *word)
{
	struct buf *out = ctx;

	buf_addstr(out, word);
	buf_addch(out, ' ');
}

void words_add(struct buf *out, const char *text, size_t len)
{
	const struct taker t = { take_text, out };

	each_word(text, len, &t);
}

struct list {
	struct strv *words;
	size_t max;
};

/* Names of one thing, as stems: a query for one asks for all of its line. */
static const char *const same[][5] = {
	{ "bf16", "bfloat16" }, { "f16", "fp16", "float16" },
	{ "f32", "fp32", "float32" }, { "f64", "fp64", "float64" },
	{ "matmul", "gemm" }, { "simd", "vectoris", "autovectoris" },
	{ "relu", "gelu", "activat" }, { "sigsegv", "segfault" },
	{ "zmm", "512" }, { "ymm", "256" }, { "smem", "shared" }, { "vram", "hbm" },
	{ "moe", "expert" },
};

static void add_word(struct list *l, const char *word)
{
	if (l->words->nr < l->max && !strv_has(l->words, word))
		strv_push(l->words, word);
}

static void take_word(void *ctx, const char *word)
{
	struct list *l = ctx;

	add_word(l, word);
	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		bool here = false;

		for (size_t k = 0; k < ARRAY_SIZE(same[i]) && same[i][k]; k++)
			here = here || !strcmp(same[i][k], word);
		for (size_t k = 0; here && k < ARRAY_SIZE(same[i]) &&
		     same[i][k]; k++)
			add_word(l, same[i][k]);
	}
}

void words_query(struct strv *out, const char *text, size_t len, size_t max)
{
	struct list l = { out, max };
	const struct taker t = { take_word, &l };

	each_word(text, len, &t);
}
