/* needs: core/knowledge_read.c core/knowledge_words.c core/knowledge_index.c \
   core/db.c core/sha1.c */
/*
 * An entry and, behind the first byte 0xff, a query.  An entry that is taken
 * is clean UTF-8, and written again it reads the same; words hold nothing that
 * counts in an expression of the index; no query is an error.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/knowledge_parts.h"
#include "core/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void write_entry(const struct entry *e, struct buf *out)
{
	buf_addf(out, "id: %s\ntitle: %s\nsource: %s\nsince: %s\napplies:",
		 e->id, e->title, e->source, e->since);
	for (size_t i = 0; i < e->applies.nr; i++)
		buf_addf(out, " %s", e->applies.v[i]);
	buf_addf(out, "\n\n%s", e->text);
}

static void is_clean(const char *s)
{
	size_t len = strlen(s), n;
	uint32_t code = 0;

	for (; len; s += n, len -= n) {
		n = utf8_code(s, len, &code);
		must(n > 0);
		must(code == '\n' || code == '\t' ||
		     (code >= 0x20 && (code < 0x7f || code >= 0xa0)));
		must(code < 0x202a || code > 0x202e);
	}
}

static void are_words(const char *s, size_t len)
{
	must(strlen(s) == len);
	for (size_t i = 0; i < len; i++)
		must((s[i] & 0x80) || islower((unsigned char)s[i]) ||
		     isdigit((unsigned char)s[i]) || s[i] == '_' ||
		     s[i] == ' ');
}

static void try_entry(const char *text, size_t len)
{
	struct buf one = BUF_INIT, words = BUF_INIT;
	struct err err = ERR_INIT;
	struct entry e, again;

	words_add(&words, text, len);
	are_words(words.ptr, words.len);
	buf_release(&words);
	if (entry_parse(&e, ENTRY_TARGET, NULL, text, len, &err)) {
		must(err.code == ERR_FORMAT && strstr(err.msg, "entry:"));
		return;
	}
	is_clean(e.id);
	is_clean(e.title);
	is_clean(e.source);
	is_clean(e.text);
	must(!strchr(e.id, '/') && e.id[0] != '.');
	write_entry(&e, &one);
	must(entry_parse(&again, ENTRY_TARGET, NULL, one.ptr, one.len, &err) ==
	     0);
	must(!strcmp(e.id, again.id) && !strcmp(e.title, again.title));
	must(!strcmp(e.source, again.source) && !strcmp(e.text, again.text));
	must(e.applies.nr == again.applies.nr);
	entry_release(&again);
	entry_release(&e);
	buf_release(&one);
}

static struct knowledge *known(void)
{
	static const char text[] = "id: a\ntitle: Loop tiling\napplies: c\n"
		"source: s\nsince: 2026-01-01\n\nTile loops that -ffast-math "
		"and num_warps do not help.\n";
	static struct knowledge k;
	struct err err = ERR_INIT;

	if (k.nr)
		return &k;
	k.v = xcalloc(2, sizeof(*k.v));
	for (k.nr = 0; k.nr < 2; k.nr++)
		must(!entry_parse(&k.v[k.nr], ENTRY_TARGET, NULL, text,
				  sizeof(text) - 1, &err));
	return &k;
}

static void try_query(const char *text, size_t len)
{
	struct err err = ERR_INIT;
	struct hit hit[4];
	int nr = knowledge_search(known(), text, len, NULL, hit, 4, &err);

	must(nr >= 0 && nr <= 2);
	for (int i = 0; i < nr; i++)
		must(hit[i].entry < 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *cut = size ? memchr(text, 0xff, size) : NULL;
	size_t len = cut ? (size_t)(cut - text) : size;

	if (size)
		try_entry(text, len);
	if (cut)
		try_query(cut + 1, size - len - 1);
	else if (size)
		try_query(text, size);
	return 0;
}
