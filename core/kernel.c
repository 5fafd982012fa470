#include "core/kernel.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ini.h"
#include "core/kernel_parts.h"
#include "core/mem.h"
#include "core/source.h"

#define MAX_KERNELS 256
#define MAX_VALUE 4096		/* bytes */
#define MAX_KERNEL_NAME 60

int kernel_fail(const struct kernel_parse *p, const char *fmt, ...)
{
	struct buf msg = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&msg, fmt, ap);
	va_end(ap);
	err_set(p->err, ERR_FORMAT, "%s:%d: %s", p->k->source, p->line,
		msg.ptr);
	buf_release(&msg);
	return ERR_FORMAT;
}

bool kernel_is_name(const char *s)
{
	static const char *const keywords[] = {
		"auto", "break", "case", "char", "const", "continue",
		"default", "do", "double", "else", "enum", "extern", "float",
		"for", "goto", "if", "inline", "int", "long", "register",
		"restrict", "return", "short", "signed", "sizeof", "static",
		"struct", "switch", "typedef", "union", "unsigned", "void",
		"volatile", "while", "_Bool", "asm", "typeof",
	};
	size_t len = 0;

	if (isdigit((unsigned char)*s))
		return false;
	while (isalnum((unsigned char)s[len]) || s[len] == '_')
		len++;
	if (!len || len > KERNEL_MAX_NAME || s[len])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (!strcmp(keywords[i], s))
			return false;
	return true;
}

bool kernel_number(const char *s, double *out)
{
	size_t whole, part = 0, len = *s == '-' || *s == '+';

	whole = strspn(s + len, "0123456789");
	len += whole;
	if (s[len] == '.') {
		part = strspn(s + len + 1, "0123456789");
		len += 1 + part;
	}
	if (!whole && !part)
		return false;
	if (s[len] == 'e' || s[len] == 'E') {
		size_t sign = s[len + 1] == '-' || s[len + 1] == '+';
		size_t n = strspn(s + len + 1 + sign, "0123456789");

		if (!n)
			return false;
		len += 1 + sign + n;
	}
	if (s[len])
		return false;
	*out = strtod(s, NULL);
	return isfinite(*out);
}

bool kernel_integer(const char *s, int64_t max, int64_t *out)
{
	int64_t v = 0;

	if (!*s)
		return false;
	for (; isdigit((unsigned char)*s); s++)
		if (__builtin_mul_overflow(v, (int64_t)10, &v) ||
		    __builtin_add_overflow(v, (int64_t)(*s - '0'), &v))
			return false;
	*out = v;
	return !*s && v <= max;
}

void kernel_words(struct strv *out, const char *s)
{
	for (;;) {
		size_t len;

		s += strspn(s, " \t");
		if (!*s)
			return;
		len = strcspn(s, " \t");
		strv_pushf(out, "%.*s", (int)len, s);
		s += len;
	}
}

struct entry {			/* one key of a section */
	const struct kernel_key *key;
	int line;
	char *value;
};

struct section {		/* the section that is being read */
	struct entry *v;
	size_t nr, cap;
	int first[KERNEL_NR_KEYS];	/* line of the first; 0: none */
};

static void section_release(struct section *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->v[i].value);
	free(s->v);
	memset(s, 0, sizeof(*s));
}

/* Edits (insert, delete, replace) from a to b; both under 32 bytes. */
static int distance(const char *a, const char *b)
{
	int row[33], la = (int)strlen(a), lb = (int)strlen(b);

	if (la > 32 || lb > 32)
		return 99;
	for (int j = 0; j <= lb; j++)
		row[j] = j;
	for (int i = 1; i <= la; i++) {
		int diagonal = row[0];

		row[0] = i;
		for (int j = 1; j <= lb; j++) {
			int best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

static int unknown_key(struct kernel_parse *p, const char *name)
{
	const char *near = NULL;
	int best = 3;

	for (size_t i = 0; i < KERNEL_NR_KEYS; i++) {
		int d = distance(name, kernel_keys[i].name);

		if (d < best && d < (int)strlen(kernel_keys[i].name)) {
			best = d;
			near = kernel_keys[i].name;
		}
	}
	if (near)
		return kernel_fail(p, "unknown key '%.60s': did you mean "
				   "'%s'?", name, near);
	return kernel_fail(p, "unknown key '%.60s'; 'git maxkernel --help' "
			   "lists the keys", name);
}

/* Valid UTF-8 without control characters. */
static bool is_plain(const struct buf *b)
{
	struct buf clean = BUF_INIT;
	bool same;

	buf_add_clean(&clean, b->ptr, b->len, false);
	same = clean.len == b->len && !memcmp(clean.ptr, b->ptr, b->len);
	buf_release(&clean);
	return same;
}

/* The value as it is read: tabs are blanks, and but in paths one blank. */
static char *tidy(const struct buf *value, bool path)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < value->len; i++) {
		char c = value->ptr[i];

		if (path || (c != ' ' && c != '\t'))
			buf_addch(&b, c);
		else if (b.len && b.ptr[b.len - 1] != ' ')
			buf_addch(&b, ' ');
	}
	if (!path && b.len && b.ptr[b.len - 1] == ' ')
		b.ptr[--b.len] = '\0';
	return buf_detach(&b);
}

static bool key_is(const struct kernel_key *key, const char *name)
{
	return !strcmp(key->name, name);
}

/* The key that the reader stands on, into the section. */
static int section_add(struct section *s, struct kernel_parse *p,
		       struct ini *ini)
{
	const struct kernel_key *key = NULL;
	int *first;

	p->line = ini->line;
	for (size_t i = 0; i < KERNEL_NR_KEYS; i++)
		if (!strcmp(kernel_keys[i].name, ini->key.ptr))
			key = &kernel_keys[i];
	if (!key)
		return unknown_key(p, ini->key.ptr);
	first = &s->first[key - kernel_keys];
	if (*first && !key->many)
		return kernel_fail(p, "a second '%s': the first is in line %d",
				   key->name, *first);
	if (!*first)
		*first = p->line;
	if (!ini->has_value && key_is(key, "reentrant")) {
		ini->has_value = true;
		buf_addstr(&ini->value, "yes");
	}
	if (!ini->has_value || (!ini->value.len && !key_is(key, "flags")))
		return kernel_fail(p, "'%s' lacks its value", key->name);
	if (ini->value.len > MAX_VALUE)
		return kernel_fail(p, "the value of '%s' is over %d bytes",
				   key->name, MAX_VALUE);
	for (size_t i = 0; !key->path && i < ini->value.len; i++)
		if (ini->value.ptr[i] == '\t')
			ini->value.ptr[i] = ' ';
	if (!is_plain(&ini->value))
		return kernel_fail(p, "the value of '%s' holds a control "
				   "character or bad UTF-8", key->name);
	GROW(s->v, s->nr, s->cap);
	s->v[s->nr++] = (struct entry){ key, p->line,
		tidy(&ini->value, key->path) };
	return 0;
}

/* One line of the normal form: it reads back as the same value. */
static void normal_line(struct buf *out, const struct entry *e)
{
	const char *v = e->value;
	size_t len = strlen(v);
	bool quote = !len || strpbrk(v, "\"\\;#") || strstr(v, "  ") ||
		     *v == ' ' || v[len - 1] == ' ';

	buf_addf(out, "%s = %s", e->key->name, quote ? "\"" : "");
	for (; *v; v++) {
		if (*v == '"' || *v == '\\')
			buf_addch(out, '\\');
		buf_addch(out, *v);
	}
	buf_addstr(out, quote ? "\"\n" : "\n");
}

static bool is_output(const struct arg *a)
{
	return a->kind == ARG_OUT || a->kind == ARG_INOUT ||
	       a->kind == ARG_RET;
}

static void default_tolerance(struct kernel *k, bool has_rtol, bool has_atol)
{
	static const struct { enum dtype type; double rtol, atol; } steps[] = {
		{ DT_F8E5M2, 0.25, 0.25 }, { DT_F8E4M3, 0.125, 0.125 },
		{ DT_F16, 2e-2, 2e-2 }, { DT_F32, 1e-3, 1e-4 },
		{ DT_F64, 1e-9, 1e-12 },
	};
	double coarsest = 0;

	for (int i = 0; i < k->nr_args; i++)
		if (is_output(&k->arg[i]) &&
		    dtype_roundoff(k->arg[i].type) > coarsest)
			coarsest = dtype_roundoff(k->arg[i].type);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (coarsest < dtype_roundoff(steps[i].type))
			continue;
		if (!has_rtol)
			k->rtol = steps[i].rtol;
		if (!has_atol)
			k->atol = steps[i].atol;
		return;
	}
}

static int default_shapes(struct kernel_parse *p)
{
	struct kernel *k = p->k;
	struct err why = ERR_INIT;
	double flops, bytes;

	if (k->nr_dims && !k->nr_time)
		return kernel_fail(p, "kernel '%s': give at least one 'time = "
				   "%s=...' line", k->name, k->dim[0].name);
	if (k->nr_dims)
		return 0;
	k->time = xcalloc(1, sizeof(*k->time));
	k->check = xcalloc(1, sizeof(*k->check));
	k->nr_time = k->nr_check = 1;
	if (kernel_shape_parse(k, &k->time[0], "", &why) ||
	    kernel_work(k, &k->time[0], &flops, &bytes, &why))
		return kernel_fail(p, "kernel '%s': %s", k->name, why.msg);
	shape_copy(&k->check[0], &k->time[0]);
	return 0;
}

static void default_symbol(struct func_ref *f, const char *entry)
{
	if (f->path && !f->symbol)
		f->symbol = xstrdup(entry);
}

static bool has_output(const struct kernel *k)
{
	for (int i = 0; i < k->nr_args; i++)
		if (is_output(&k->arg[i]))
			return true;
	return false;
}

/* After the last key: what must be there, and defaults. */
static int complete(struct kernel_parse *p, const struct section *s)
{
	struct kernel *k = p->k;
	bool has_rtol = false, has_atol = false, has_flags = false;

	p->line = k->line;
	for (size_t i = 0; i < s->nr; i++) {
		has_rtol |= key_is(s->v[i].key, "rtol");
		has_atol |= key_is(s->v[i].key, "atol");
		has_flags |= key_is(s->v[i].key, "flags");
	}
	if (!k->file.nr)
		return kernel_fail(p, "kernel '%s' lacks 'file': the source "
				   "that may change", k->name);
	if (!k->entry)
		return kernel_fail(p, "kernel '%s' lacks 'entry': the "
				   "function's name", k->name);
	if (!has_output(k))
		return kernel_fail(p, "kernel '%s' has no output: declare an "
				   "'arg = out', 'inout' or 'ret'", k->name);
	if (!k->target)
		k->target = xstrdup("c");
	if (!k->cc)
		k->cc = xstrdup("gcc");
	/* clang's OpenMP runtime is not the one whose threads a worker makes
	 * before it is locked. */
	if (k->threads > 1 && strcmp(k->cc, "gcc") != 0)
		return kernel_fail(p, "kernel '%s': threads = %d needs "
				   "cc = gcc", k->name, k->threads);
	if (!has_flags) {
		strv_push(&k->flags, "-O3");
		strv_push(&k->flags, "-march=native");
	}
	default_symbol(&k->reference, k->entry);
	default_symbol(&k->baseline, k->entry);
	for (int i = 0; i < k->nr_rivals; i++)
		default_symbol(&k->rival[i], k->entry);
	default_tolerance(k, has_rtol, has_atol);
	return default_shapes(p);
}

/* Reads the collected keys in the order in which they need each other. */
static int section_read(const struct section *s, struct kernel_parse *p)
{
	int ret = 0;

	for (int phase = PHASE_DIMS; phase < PHASE_END; phase++)
		for (size_t i = 0; i < s->nr && !ret; i++) {
			const struct entry *e = &s->v[i];

			p->line = e->line;
			if (phase == PHASE_DIMS &&
			    e->key->phase == PHASE_ARGS)
				ret = kernel_parse_dim(p, e->value);
			else if ((int)e->key->phase == phase)
				ret = e->key->set(p, e->value);
		}
	if (ret)
		return ret;
	for (size_t i = 0; i < s->nr; i++)
		normal_line(&p->k->text, &s->v[i]);
	return complete(p, s);
}

static void kernel_init(struct kernel *k, const char *source)
{
	memset(k, 0, sizeof(*k));
	k->source = xstrdup(source);
	k->math = MATH_REASSOC;
	k->reentrant = true;
	k->threads = 1;
	buf_init(&k->text);
}

static bool is_kernel_name(const struct buf *name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/ ";
	const char *s = name->ptr;
	size_t len = name->len;

	return len && len <= MAX_KERNEL_NAME && strspn(s, good) == len &&
	       isalnum((unsigned char)s[0]) && s[len - 1] != '/' &&
	       s[len - 1] != ' ';
}

static int check_head(const struct kernel_parse *p, const struct ini *ini)
{
	const char *base = ini->section.ptr;

	if (!strcmp(base, "include") || !strcmp(base, "includeif"))
		return kernel_fail(p, "[%s] is not allowed: a kernel's section "
				   "must stand in this file", base);
	if (!strncmp(base, "kernel.", 7) && !ini->has_sub)
		return kernel_fail(p, "write [kernel \"%.60s\"], not "
				   "[%.60s]", base + 7, base);
	if (strcmp(base, "kernel"))
		return kernel_fail(p, "[%.60s] is not allowed: only sections "
				   "[kernel \"NAME\"] are", base);
	if (!ini->has_sub)
		return kernel_fail(p, "[kernel] lacks a name: write "
				   "[kernel \"NAME\"]");
	if (!is_kernel_name(&ini->sub))
		return kernel_fail(p, "a kernel's name is 1 to %d of letters, "
				   "digits, '.', '_', '+', '-', '/' and "
				   "blanks, and begins with a letter or digit",
				   MAX_KERNEL_NAME);
	return 0;
}

/* A new kernel for the head that the reader stands on. */
static int open_section(struct kernel_file *f, struct kernel_parse *p,
			const struct ini *ini, const char *source)
{
	struct kernel head = { .source = NULL };
	const struct kernel *twin;
	int ret;

	head.source = xstrdup(source);
	p->k = &head;
	p->line = ini->line;
	ret = check_head(p, ini);
	twin = ret ? NULL : kernel_find(f, ini->sub.ptr);
	if (twin)
		ret = kernel_fail(p, "a second [kernel \"%s\"]: the first is "
				  "in line %d", twin->name, twin->line);
	else if (!ret && f->nr == MAX_KERNELS)
		ret = kernel_fail(p, "over %d kernels", MAX_KERNELS);
	free(head.source);
	p->k = NULL;
	if (ret)
		return ret;
	GROW(f->v, f->nr, f->cap);
	p->k = &f->v[f->nr++];
	kernel_init(p->k, source);
	p->k->line = ini->line;
	p->k->name = xstrdup(ini->sub.ptr);
	return 0;
}

static int read_all(struct kernel_file *f, struct ini *ini,
		    struct section *s, const char *source, struct err *err)
{
	struct kernel_parse p = { .err = err };
	struct err why = ERR_INIT;
	int event, ret = 0;

	do {
		event = ini_next(ini, &why);
		if (event < 0)
			return err_set(err, ERR_FORMAT, "%s:%d: %s", source,
				       ini->line, why.msg);
		if (event == INI_KEY && !p.k)
			return err_set(err, ERR_FORMAT, "%s:%d: '%.60s' "
				       "stands outside a [kernel \"NAME\"]",
				       source, ini->line, ini->key.ptr);
		if (event == INI_KEY) {
			ret = section_add(s, &p, ini);
			continue;
		}
		if (p.k)
			ret = section_read(s, &p);
		section_release(s);
		if (!ret && event == INI_SECTION)
			ret = open_section(f, &p, ini, source);
	} while (!ret && event != INI_END);
	return ret;
}

int kernel_file_parse(struct kernel_file *f, const char *source,
		      const char *text, size_t len, struct err *err)
{
	struct section s = { .v = NULL };
	struct ini ini;
	int ret;

	memset(f, 0, sizeof(*f));
	if (len > KERNEL_MAX_TEXT)
		return err_set(err, ERR_LIMIT, "%s: longer than %u bytes",
			       source, KERNEL_MAX_TEXT);
	ini_init(&ini, text, len);
	ret = read_all(f, &ini, &s, source, err);
	section_release(&s);
	ini_release(&ini);
	if (ret)
		kernel_file_release(f);
	return ret;
}

int kernel_section_parse(struct kernel_file *f, const char *name,
			 const char *text, size_t len, struct err *err)
{
	struct buf b = BUF_INIT;
	int ret;

	buf_addf(&b, "[kernel \"%s\"]\n", name);
	buf_add(&b, text, len);
	ret = kernel_file_parse(f, name, b.ptr, b.len, err);
	buf_release(&b);
	if (ret)
		return ret;
	if (f->nr == 1 && !strcmp(f->v[0].name, name))
		return 0;
	kernel_file_release(f);
	return err_set(err, ERR_FORMAT, "the section of a kernel holds "
		       "another section");
}

void kernel_file_release(struct kernel_file *f)
{
	for (size_t i = 0; i < f->nr; i++)
		kernel_release(&f->v[i]);
	free(f->v);
	memset(f, 0, sizeof(*f));
}

const struct kernel *kernel_find(const struct kernel_file *f,
				 const char *name)
{
	for (size_t i = 0; i < f->nr; i++)
		if (!strcmp(f->v[i].name, name))
			return &f->v[i];
	return NULL;
}

static void func_release(struct func_ref *f)
{
	free(f->path);
	free(f->symbol);
}

static void shapes_release(struct shape *list, int nr)
{
	for (int i = 0; i < nr; i++)
		shape_release(&list[i]);
	free(list);
}

void kernel_release(struct kernel *k)
{
	for (int i = 0; i < k->nr_args; i++)
		kernel_arg_release(&k->arg[i]);
	for (int i = 0; i < k->nr_dims; i++)
		free(k->dim[i].name);
	for (int i = 0; i < k->nr_require; i++)
		expr_release(&k->require[i]);
	free(k->require);
	expr_release(&k->flops);
	expr_release(&k->bytes);
	shapes_release(k->time, k->nr_time);
	shapes_release(k->check, k->nr_check);
	func_release(&k->reference);
	func_release(&k->baseline);
	for (int i = 0; i < k->nr_rivals; i++)
		func_release(&k->rival[i]);
	strv_release(&k->file);
	strv_release(&k->use);
	strv_release(&k->flags);
	strv_release(&k->alias);
	strv_release(&k->deny);
	for (int i = 0; i < k->nr_tunables; i++) {
		free(k->tunable[i].name);
		strv_release(&k->tunable[i].values);
	}
	strv_release(&k->dim_names);
	free(k->name);
	free(k->source);
	free(k->entry);
	free(k->target);
	free(k->cc);
	buf_release(&k->text);
	memset(k, 0, sizeof(*k));
	buf_init(&k->text);
}
