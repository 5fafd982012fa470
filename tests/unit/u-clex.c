/* needs: agents/builtin/clex.c agents/builtin/cfunc.c */
#include "tests/unit/tap.h"

#include "agents/builtin/cfunc.h"
#include "core/buf.h"

static void tokens(const char *text, const char *want)
{
	static const char letters[] = "wns'pcl";
	static int nr;
	struct err err = ERR_INIT;
	struct buf got = BUF_INIT;
	struct clex l;

	if (clex_run(&l, text, strlen(text), &err)) {
		buf_addstr(&got, err.msg);
	} else {
		for (size_t i = 0; i < l.nr_all; i++)
			buf_addf(&got, "%s%c:%.*s", i ? " " : "",
				 letters[l.all[i].kind], (int)l.all[i].len,
				 text + l.all[i].pos);
		clex_release(&l);
	}
	is_str(got.ptr, want, "text %d", ++nr);
	buf_release(&got);
}

static void lexing(void)
{
	tokens("int x=1;", "w:int w:x p:= n:1 p:;");
	tokens("a+++b>>=c", "w:a p:++ p:+ w:b p:>>= w:c");
	tokens("1e+5f 0x1p-3 .5 1.f..x",
	       "n:1e+5f n:0x1p-3 n:.5 n:1.f..x");
	tokens("a /* b\n */ c // d \\\n e\nf",
	       "w:a c:/* b\n */ w:c c:// d \\\n e w:f");
	tokens("\"a\\\"b\" L'\\''", "s:\"a\\\"b\" w:L ':'\\''");
	tokens("#define A(x) \\\n x /* y\n z */ w\nb",
	       "l:#define A(x) \\\n x /* y\n z */ w w:b");
	tokens("/* */ # include <a'b>\n x # y",
	       "c:/* */ l:# include <a'b> w:x p:# w:y");
	tokens("#error don't \"\n1", "l:#error don't \" n:1");
	tokens("\xef\xbb\xbfint", "w:int");
	tokens("\xc3\xa4$_1", "w:\xc3\xa4$_1");
	tokens("a \\\n b", "w:a w:b");
	tokens("", "");
	tokens("a\\\nb", "line 1: a word goes on in the next line");
	tokens("\n/* x", "line 2: a comment does not end");
	tokens("\"x\n\"", "line 1: a string does not end");
	tokens("'", "line 1: a character does not end");
	tokens("\"\\", "line 1: a string does not end");
	tokens("a \001", "line 1: a control byte");
	tokens("#define X \"\\", "l:#define X \"\\");
}

static const char source[] =
"#include <math.h>\n"
"struct s { float (*f)(int); int n[3]; } table = { 0 };\n"
"static const float names[] = { 1, 2 };\n"
"float plain(const float *restrict x, float y[const 4], int n);\n"
"static inline float __attribute__((unused)) gelu(float x)\n"
"{ return x; }\n"
"MODULE(name) { for (;;) { } }\n"
"void *many(float const * const *a, float (*m)[8], float *(*f)(float *),\n"
"	float b[][3], struct s c, unsigned n) __attribute__((hot));\n"
"void entry(const float *a, float *restrict c, int m, int n)\n"
"{\n"
"	for (int i = 0; i < m; i++)\n"
"		for (int j = 0; j < n; j++) {\n"
"			float sum = 0;\n"
"			for (int k = 0; k < 3; k++)\n"
"				if (a[k] > 0) sum += a[k]; else sum -= 1;\n"
"			for (;;) break;\n"
"			c[i * n + j] = sum;\n"
"		}\n"
"	do { m--; } while (m);\n"
"}\n"
"int old(a, b) int a; float *b; { return a; }\n"
"void none(void) { }\n"
"#if 1\n"
"void odd(int a,\n"
"#ifdef B\n"
"	float *b,\n"
"#endif\n"
"	int c) { }\n"
"#endif\n";

static void show_params(const struct cunit *u, const struct cfunc *f,
			struct buf *out)
{
	for (size_t i = 0; i < f->nr_params; i++) {
		const struct cparam *p = &f->param[i];
		const struct ctok *t = &u->lex.v[p->name == CNONE ? p->first :
							    p->name];

		buf_addf(out, "%s%.*s%s%s", i ? " " : "", (int)t->len,
			 u->lex.text + t->pos,
			 p->kind == CPARAM_POINTER ? "*" :
			 p->kind == CPARAM_ARRAY ? "[]" : "",
			 p->restricted ? "!" : "");
	}
}

static void functions(void)
{
	static const struct {
		const char *name, *params, *problem;
		bool body, is_static;
	} want[] = {
		{ "plain", "x*! y[] n", NULL, false, false },
		{ "gelu", "x", NULL, true, true },
		{ "many", "a* m* float b[] c n", NULL, false, false },
		{ "entry", "a* c*! m n", NULL, true, false },
		{ "old", "", "its parameters are declared in the old style",
		  true, false },
		{ "none", "", NULL, true, false },
		{ "odd", "", "a preprocessor line stands among its parameters",
		  true, false },
	};
	struct err err = ERR_INIT;
	struct cunit u;

	ok(!cunit_parse(&u, source, strlen(source), &err),
	   "a file is parsed");
	for (size_t i = 0, k = 0; i < u.nr; i++) {
		struct buf params = BUF_INIT;
		const struct ctok *t = &u.lex.v[u.v[i].name];

		if (k < sizeof(want) / sizeof(want[0]) &&
		    strncmp(source + t->pos, want[k].name, t->len)) {
			printf("# also %.*s\n", (int)t->len, source + t->pos);
			continue;
		}
		if (!ok(k < sizeof(want) / sizeof(want[0]),
			"function %.*s", (int)t->len, source + t->pos))
			break;
		show_params(&u, &u.v[i], &params);
		is_str(params.ptr, want[k].params, "its parameters");
		ok((u.v[i].body != CNONE) == want[k].body &&
		   u.v[i].is_static == want[k].is_static,
		   "definition and static");
		is_str(u.v[i].problem ? u.v[i].problem : "",
		       want[k].problem ? want[k].problem : "", "its problem");
		buf_release(&params);
		k++;
		if (k == sizeof(want) / sizeof(want[0]))
			ok(true, "all of them are found");
	}
	ok(cunit_find(&u, "plain") == NULL, "a declaration is no definition");
	cunit_release(&u);
}

static void loops(void)
{
	struct err err = ERR_INIT;
	struct cloops l = CLOOPS_INIT;
	struct cunit u;

	cunit_parse(&u, source, strlen(source), &err);
	cunit_loops(&u, cunit_find(&u, "entry"), &l);
	is_int((long long)l.nr, 4, "four loops");
	ok(l.v[0].depth == 0 && l.v[1].depth == 1 && l.v[2].depth == 2 &&
	   l.v[3].depth == 2, "their depths");
	ok(!l.v[0].innermost && !l.v[1].innermost && l.v[2].innermost &&
	   l.v[3].innermost, "which are innermost");
	ok(clex_is(&u.lex, l.v[2].var, "k") && l.v[3].var == CNONE,
	   "their variables");
	ok(clex_is(&u.lex, l.v[2].last, ";") &&
	   clex_is(&u.lex, l.v[2].last - 1, "1") &&
	   clex_is(&u.lex, l.v[1].last, "}") && l.v[0].last == l.v[1].last,
	   "their ends");
	cloops_release(&l);
	cunit_release(&u);
}

static void refuses(const char *text, const char *want)
{
	struct err err = ERR_INIT;
	struct cunit u;

	ok(cunit_parse(&u, text, strlen(text), &err) < 0 && !u.nr,
	   "text is refused");
	is_str(err.msg, want, "%s", want);
}

static void hostile(void)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct cunit u;

	refuses("void f(void) { ( }", "line 1: brackets do not pair up");
	refuses("\nvoid f(void) {", "line 2: a bracket is not closed");
	refuses("}", "line 1: brackets do not pair up");
	buf_addstr(&text, "void f(void) { ");
	for (int i = 0; i < 100000; i++)
		buf_addstr(&text, "for (;;) ");
	buf_addstr(&text, "; }");
	if (ok(!cunit_parse(&u, text.ptr, text.len, &err),
	       "100,000 loops in each other")) {
		struct cloops l = CLOOPS_INIT;

		cunit_loops(&u, cunit_find(&u, "f"), &l);
		ok(l.nr < 100000, "are not followed to the bottom");
		cloops_release(&l);
		cunit_release(&u);
	}
	buf_release(&text);
}

int main(void)
{
	lexing();
	functions();
	loops();
	hostile();
	return tap_done();
}
