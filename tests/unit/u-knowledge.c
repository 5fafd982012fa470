/* needs: core/knowledge_read.c core/knowledge_words.c */
#include <stdlib.h>

#include "core/knowledge_parts.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

#define HEAD "id: a-b\ntitle: A title\napplies: c x86\nsource: a book\n" \
	"since: 2026-12-01\n"

/* ---- words ---- */

static void words(const char *text, const char *want)
{
	struct buf b = BUF_INIT;

	words_add(&b, text, strlen(text));
	is_str(b.ptr, want, "words of \"%s\"", text);
	buf_release(&b);
}

/* Both have a word in common: the first of a's. */
static void meet(const char *a, const char *b)
{
	struct buf x = BUF_INIT, y = BUF_INIT;

	words_add(&x, a, strlen(a));
	words_add(&y, b, strlen(b));
	ok(x.len && !strcmp(x.ptr, y.ptr), "\"%s\" meets \"%s\" (%s| %s)", a,
	   b, x.ptr, y.ptr);
	buf_release(&x);
	buf_release(&y);
}

static void test_words(void)
{
	words("", "");
	words("the of a", "");
	words("Loop", "loop ");
	words("num_warps", "num warp num_warps ");
	words("-ffast-math", "ffast fast math ffast_math ");
	words("fast-math", "fast math fast_math ");
	words("pl.BlockSpec", "pl blockspec block spec pl_blockspec ");
	words("__m512", "m512 ");
	words("_mm512_fmadd_ps", "mm512 fmadd ps mm512_fmadd_ps ");
	words("8x128", "8x128 128 ");
	words("(16, 128)", "16 128 ");
	words("a<b>c", "");
	words("std::vector", "std vector std_vector ");
	words("end. Next", "end next ");
	words("CUDA_ERROR_ILLEGAL_ADDRESS", "cuda error illegal address "
	      "cuda_error_illegal_address ");
	words("\xc3\x84rger \xe6\xa0\xb8\xe5\xbf\x83", "\xc3\x84rger "
	      "\xe6\xa0\xb8 \xe5\xbf\x83 ");
	words("\xff\xfe\"'*()", "");
	words("x\xc2\xa0y 3\xc3\x97" "128", "128 ");

	meet("vectorised", "vectorizer");
	meet("vectorization", "vectorize");
	meet("accumulators", "accumulate");
	meet("spills", "spilling");
	meet("mapped", "mapping");
	meet("divisible", "divisible");
	meet("copies", "copy");
	meet("aligned", "alignment");
	meet("caches", "cache");
	meet("buffers", "buffering");
	meet("pointers", "pointer");
	meet("registers", "register");
	meet("reduction", "reductions");
}

static void test_query(void)
{
	struct strv v = STRV_INIT;
	char *big = xmalloc(100000);

	words_query(&v, "matmul matmul Matmul", 20, 10);
	ok(v.nr >= 1 && !strcmp(v.v[0], "matmul"), "each word once");
	ok(strv_has(&v, "gemm"), "and its other names");
	strv_release(&v);
	memset(big, 'a', 100000);
	words_query(&v, big, 100000, 10);
	is_int((long long)v.nr, 0, "a word of 100000 letters is none");
	for (int i = 0; i < 100000; i++)
		big[i] = i % 7 == 6 ? ' ' : (char)('a' + (i / 7 + i) % 26);
	words_query(&v, big, 100000, 10);
	is_int((long long)v.nr, 10, "no more than asked for");
	strv_release(&v);
	free(big);
}

/* ---- entries ---- */

static void refuses(const char *name, const char *text, const char *why)
{
	struct err err = ERR_INIT;
	struct entry e;
	int ret = entry_parse(&e, ENTRY_TARGET, name, text, strlen(text),
			      &err);

	ok(ret == ERR_FORMAT && !strcmp(err.msg, why), "refused: %s", why);
	if (strcmp(err.msg, why) != 0)
		printf("#  got %d '%s'\n", ret, err.msg);
	if (!ret)
		entry_release(&e);
}

static void test_entry(void)
{
	const char *text = HEAD "\nOne.\r\n\r\n    code\n\n";
	struct err err = ERR_INIT;
	struct strv w = STRV_INIT;
	struct entry e;

	is_int(entry_parse(&e, ENTRY_TARGET, "a-b.md", text, strlen(text),
			   &err), 0, "an entry is read");
	is_str(e.id, "a-b", "id");
	is_str(e.title, "A title", "title");
	is_str(e.source, "a book", "source");
	is_str(e.since, "2026-12-01", "since");
	is_str(e.text, "One.\n\n    code\n", "text, CRLF made LF");
	is_int((long long)e.applies.nr, 2, "applies");
	ok(entry_applies(&e, NULL), "it holds for no word");
	strv_push(&w, "c");
	strv_push(&w, "x86");
	ok(entry_applies(&e, &w), "for its words");
	strv_push(&w, "arm");
	ok(!entry_applies(&e, &w), "not for another");
	entry_release(&e);

	text = "since: 2026-02-28\nsource: s\nid: x\napplies: any\n"
		"title:\tT \n\ntext";
	is_int(entry_parse(&e, ENTRY_LOCAL, NULL, text, strlen(text), &err), 0,
	       "keys in any order");
	is_str(e.id, "local/x", "a local one is told apart");
	is_str(e.title, "T", "blanks around a value are none of it");
	is_str(e.text, "text\n", "a newline at the end");
	ok(entry_applies(&e, &w), "any holds for all");
	entry_release(&e);
	strv_release(&w);
}

static void test_refusals(void)
{
	char *big;

	refuses("a-b.md", "", "a-b.md:0: it ends within the head");
	refuses("a-b.md", HEAD, "a-b.md:5: it ends within the head");
	refuses("a-b.md", HEAD "\n\n \n", "a-b.md:6: there is no text behind "
		"the head");
	refuses("c.md", HEAD "\nx", "c.md:1: the id must be the name of the "
		"file, not 'a-b'");
	refuses(NULL, HEAD "id: c\n\nx", "entry:6: a second 'id'");
	refuses(NULL, HEAD "color: c\n\nx", "entry:6: unknown key 'color'");
	refuses(NULL, HEAD "Text.\n\nx", "entry:6: no 'key: value', and no "
		"empty line before the text");
	refuses(NULL, "id:\n\nx", "entry:1: nothing behind 'id'");
	refuses(NULL, "id: x\ntitle: t\napplies: c\nsource: s\n\nx",
		"entry:5: the head has no 'since'");
	refuses(NULL, "id: ../x\ntitle: t\napplies: c\nsource: s\n"
		"since: 2026-01-01\n\nx", "entry:1: an id has at most 64 "
		"small letters, digits, '-' and '.', not '../x'");
	refuses(NULL, "id: .x\ntitle: t\napplies: c\nsource: s\n"
		"since: 2026-01-01\n\nx", "entry:1: an id has at most 64 "
		"small letters, digits, '-' and '.', not '.x'");
	refuses(NULL, "id: x\ntitle: t\napplies: c\nsource: s\n"
		"since: 2026-13-01\n\nx", "entry:5: since is a date, "
		"2026-12-31, not '2026-13-01'");
	refuses(NULL, "id: x\ntitle: t\nsource: s\nsince: 2026-01-01\n"
		"applies: c C\n\nx", "entry:5: applies takes words of small "
		"letters, digits and -.+_, not 'C'");
	refuses(NULL, "id: x\ntitle: t\nsource: s\nsince: 2026-01-01\n"
		"applies: c c\n\nx", "entry:5: applies has twice 'c'");
	refuses(NULL, HEAD "\nx\ny\033[2J", "entry:8: a control character");
	refuses(NULL, HEAD "\nx\rz", "entry:7: a control character");
	refuses(NULL, HEAD "\nx\n\xe2\x80\xae", "entry:8: a control "
		"character");
	refuses(NULL, HEAD "\n\xc0\x80", "entry:7: this is not UTF-8");
	refuses(NULL, HEAD "\n\xed\xa0\x80", "entry:7: this is not UTF-8");
	refuses(NULL, HEAD "\n\xf0\x9f\x98", "entry:7: this is not UTF-8");

	big = xmalloc(KNOWLEDGE_MAX_FILE + 2);
	memset(big, 'x', KNOWLEDGE_MAX_FILE + 1);
	big[KNOWLEDGE_MAX_FILE + 1] = '\0';
	refuses(NULL, big, "entry:1: longer than 65536 bytes");
	free(big);
}

int main(void)
{
	test_words();
	test_query();
	test_entry();
	test_refusals();
	return tap_done();
}
