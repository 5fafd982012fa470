#include "agents/audit/mutant.h"

#include <ctype.h>
#include <string.h>

#include "agents/builtin/cfunc.h"
#include "core/mem.h"

#define MEMO_BYTES (1 << 22)

static const struct {
	const char *name, *summary;
} mutants[MUTANT_NR] = {
	[MUTANT_ZERO] = { "zero", "writes zeros and reads nothing" },
	[MUTANT_CONSTANT] = { "constant", "the mean of the output everywhere" },
	[MUTANT_COPY] = { "copy", "copies an input instead of computing" },
	[MUTANT_HALF] = { "half", "does half the work: the second half of the "
		"output repeats the first" },
	[MUTANT_ROW] = { "row", "computes one row and repeats it" },
	[MUTANT_FP16] = { "fp16", "the output in half precision" },
	[MUTANT_BF16] = { "bf16", "the output in bfloat16" },
	[MUTANT_MEMO] = { "memo", "keeps its first answer" },
};

const char *mutant_name(enum mutant m)
{
	return mutants[m].name;
}

const char *mutant_summary(enum mutant m)
{
	return mutants[m].summary;
}

static bool calls_kernel(enum mutant m)
{
	return m != MUTANT_ZERO && m != MUTANT_COPY;
}

/* ---- pieces of C ---- */

/* An expression of the section as C: its names are our parameters'. */
static void add_expr(struct buf *b, const struct expr *e)
{
	const char *p = e->text;

	buf_addch(b, '(');
	while (*p) {
		if (isalpha((unsigned char)*p) || *p == '_') {
			buf_addstr(b, "mk_");
			while (isalnum((unsigned char)*p) || *p == '_')
				buf_addch(b, *p++);
		} else {
			buf_addch(b, *p++);
		}
	}
	buf_addch(b, ')');
}

static const char *type_of(const struct kernel *k, const struct arg *a)
{
	static const char *const dims[] = {
		[DIM_INT] = "int", [DIM_LONG] = "long", [DIM_SIZE] = "size_t"
	};

	return a->kind == ARG_DIM ? dims[k->dim[a->dim].type] :
		dtype_ctype(a->type);
}

static const char *name_of(const struct kernel *k, const struct arg *a)
{
	return a->kind == ARG_DIM ? k->dim[a->dim].name : a->name;
}

static bool is_const(const struct arg *a)
{
	return a->kind == ARG_IN || a->kind == ARG_WEIGHT;
}

static bool is_output(const struct arg *a)
{
	return a->kind == ARG_OUT || a->kind == ARG_INOUT;
}

static const struct arg *returned(const struct kernel *k)
{
	for (int i = 0; i < k->nr_args; i++)
		if (k->arg[i].kind == ARG_RET)
			return &k->arg[i];
	return NULL;
}

static void add_head(struct buf *b, const struct kernel *k)
{
	const struct arg *ret = returned(k);
	const char *sep = "";

	buf_addf(b, "%s %s(", ret ? type_of(k, ret) : "void", k->entry);
	for (int i = 0; i < k->nr_args; i++) {
		const struct arg *a = &k->arg[i];

		if (a->kind == ARG_RET)
			continue;
		buf_addf(b, "%s%s%s %smk_%s", sep,
			 a->rank && is_const(a) ? "const " : "",
			 type_of(k, a), a->rank ? "*" : "", name_of(k, a));
		sep = ", ";
	}
	buf_addstr(b, *sep ? ")" : "void)");
}

/* The kernel's own parameters may be arrays of arrays: pointers to void
 * convert to them all. */
static void add_call(struct buf *b, const struct kernel *k)
{
	const char *sep = "";

	buf_addf(b, "\t%smk_own_%s(", returned(k) ? "mk_ret = " : "", k->entry);
	for (int i = 0; i < k->nr_args; i++) {
		const struct arg *a = &k->arg[i];

		if (a->kind == ARG_RET)
			continue;
		buf_addf(b, "%s%smk_%s", sep, !a->rank ? "" : is_const(a) ?
			 "(void *)(size_t)" : "(void *)", name_of(k, a));
		sep = ", ";
	}
	buf_addstr(b, ");\n");
}

/* rows and row, the length of one, and ld, from one to the next. */
static void add_rows(struct buf *b, const struct arg *a)
{
	buf_addstr(b, "\t\tconst long long rows = 1");
	for (int i = 0; i + 1 < a->rank; i++) {
		buf_addstr(b, " * ");
		add_expr(b, &a->extent[i]);
	}
	buf_addstr(b, ";\n\t\tconst long long row = ");
	add_expr(b, &a->extent[a->rank - 1]);
	buf_addstr(b, ";\n\t\tconst long long ld = ");
	if (a->has_ld)
		add_expr(b, &a->ld);
	else
		buf_addstr(b, "row");
	buf_addf(b, ";\n\t\t%s *const o = mk_%s;\n\t\tlong long i, j;\n\n",
		 dtype_ctype(a->type), a->name);
}

static void each_element(struct buf *b, const char *body)
{
	buf_addf(b, "\t\tfor (i = 0; i < rows; i++)\n"
		 "\t\t\tfor (j = 0; j < row; j++)\n\t\t\t\t%s\n", body);
}

static bool is_wide(const struct arg *a)
{
	return a->type == DT_F32 || a->type == DT_F64;
}

/* ---- what is done to one output; false: nothing can be ---- */

static bool do_constant(struct buf *b, const struct arg *a)
{
	if (is_wide(a)) {
		buf_addstr(b, "\t\tdouble mean = 0;\n\n");
		each_element(b, "mean += o[i * ld + j];");
		buf_addstr(b, "\t\tmean /= (double)(rows * row);\n");
		buf_addf(b, "\t\tconst %s c = (%s)mean;\n",
			 dtype_ctype(a->type), dtype_ctype(a->type));
	} else {
		buf_addf(b, "\t\tconst %s c = o[rows / 2 * ld + row / 2];\n",
			 dtype_ctype(a->type));
	}
	each_element(b, "o[i * ld + j] = c;");
	return true;
}

static bool do_copy(struct buf *b, const struct kernel *k,
		    const struct arg *a)
{
	for (int i = 0; i < k->nr_args; i++) {
		const struct arg *in = &k->arg[i];

		if ((in->kind != ARG_IN && in->kind != ARG_WEIGHT) ||
		    !in->rank || in->type != a->type)
			continue;
		buf_addstr(b, "\t\tconst long long n = 1");
		for (int d = 0; d + 1 < in->rank; d++) {
			buf_addstr(b, " * ");
			add_expr(b, &in->extent[d]);
		}
		buf_addstr(b, " * ");
		add_expr(b, in->has_ld ? &in->ld :
			 &in->extent[in->rank - 1]);
		buf_addstr(b, ";\n");
		buf_addf(b, "\t\tfor (i = 0; i < rows; i++)\n"
			 "\t\t\tfor (j = 0; j < row; j++)\n"
			 "\t\t\t\to[i * ld + j] = mk_%s[(i * row + j) %% n];\n",
			 in->name);
		return true;
	}
	return false;
}

static bool do_half(struct buf *b)
{
	buf_addstr(b, "\t\tif (rows > 1)\n"
		   "\t\t\tfor (i = rows / 2 + rows % 2; i < rows; i++)\n"
		   "\t\t\t\tfor (j = 0; j < row; j++)\n"
		   "\t\t\t\t\to[i * ld + j] = "
		   "o[(i - rows / 2 - rows % 2) * ld + j];\n"
		   "\t\telse\n"
		   "\t\t\tfor (i = row / 2 + row % 2; i < row; i++)\n"
		   "\t\t\t\to[i] = o[i - row / 2 - row % 2];\n"
		   "\t\t(void)j;\n");
	return true;
}

static bool do_row(struct buf *b, const struct arg *a)
{
	if (a->rank < 2)
		return false;
	buf_addstr(b, "\t\tfor (i = 1; i < rows; i++)\n"
		   "\t\t\tfor (j = 0; j < row; j++)\n"
		   "\t\t\t\to[i * ld + j] = o[j];\n");
	return true;
}

/* Rounds to nearest; NaN and infinity stay what they are. */
static bool do_round(struct buf *b, const struct arg *a, int bits)
{
	const char *word = a->type == DT_F32 ? "uint32_t" : "uint64_t";
	int drop = (a->type == DT_F32 ? 24 : 53) - bits;

	if (!is_wide(a))
		return false;
	each_element(b, "{");
	buf_addf(b, "\t\t\t\t\t%s *e = &o[i * ld + j];\n"
		 "\t\t\t\t\tunion { %s f; %s u; } x = { *e };\n"
		 "\t\t\t\t\tif (*e - *e == 0)\n"
		 "\t\t\t\t\t\tx.u += ((%s)1 << %d) - 1 + (x.u >> %d & 1);\n"
		 "\t\t\t\t\tx.u &= ~(((%s)1 << %d) - 1);\n"
		 "\t\t\t\t\tif (*e - *e == 0)\n"
		 "\t\t\t\t\t\t*e = x.f;\n\t\t\t\t}\n",
		 dtype_ctype(a->type), dtype_ctype(a->type), word, word,
		 drop - 1, drop, word, drop);
	return true;
}

static bool do_output(enum mutant m, struct buf *b, const struct kernel *k,
		      const struct arg *a)
{
	switch (m) {
	case MUTANT_ZERO:
		each_element(b, "o[i * ld + j] = 0;");
		return true;
	case MUTANT_CONSTANT:
		return do_constant(b, a);
	case MUTANT_COPY:
		return do_copy(b, k, a);
	case MUTANT_HALF:
		return do_half(b);
	case MUTANT_ROW:
		return do_row(b, a);
	case MUTANT_FP16:
		return do_round(b, a, 11);
	case MUTANT_BF16:
		return do_round(b, a, 8);
	case MUTANT_MEMO:
	case MUTANT_NR:
		break;
	}
	return false;
}

/* ---- keeping the first answer ---- */

/* Outputs longer than the store are kept as far as it goes: the rest is
 * right, so a judge that looks at the beginning alone would be needed too. */
static void add_memo(struct buf *b, const struct kernel *k)
{
	buf_addf(b, "\tstatic int mk_known;\n"
		 "\tstatic unsigned char mk_kept[%d][%d];\n\n", k->nr_args,
		 MEMO_BYTES / (k->nr_args ? k->nr_args : 1));
	if (returned(k))
		buf_addf(b, "\tstatic %s mk_last;\n", type_of(k, returned(k)));
	buf_addstr(b, "\tconst int mk_first = !mk_known;\n\n");
	buf_addstr(b, "\tmk_known = 1;\n");
	add_call(b, k);
	for (int i = 0; i < k->nr_args; i++) {
		const struct arg *a = &k->arg[i];

		if (!is_output(a) || !a->rank)
			continue;
		buf_addstr(b, "\t{\n");
		add_rows(b, a);
		buf_addf(b, "\t\t%s *kept = (void *)mk_kept[%d];\n"
			 "\t\tconst long long most = sizeof(mk_kept[0]) / "
			 "sizeof(*o);\n", dtype_ctype(a->type), i);
		each_element(b, "if (i * row + j < most) { if (mk_first) "
			     "kept[i * row + j] = o[i * ld + j]; else "
			     "o[i * ld + j] = kept[i * row + j]; }");
		buf_addstr(b, "\t}\n");
	}
	if (returned(k))
		buf_addstr(b, "\tif (mk_first)\n\t\tmk_last = mk_ret;\n"
			   "\tmk_ret = mk_last;\n");
}

/* ---- the whole ---- */

static bool add_outputs(enum mutant m, struct buf *b, const struct kernel *k)
{
	bool any = false;

	for (int i = 0; i < k->nr_args; i++) {
		const struct arg *a = &k->arg[i];
		struct buf one = BUF_INIT;

		if (!is_output(a) || !a->rank)
			continue;
		buf_addstr(&one, "\t{\n");
		add_rows(&one, a);
		if (do_output(m, &one, k, a)) {
			buf_add(b, one.ptr, one.len);
			buf_addstr(b, "\t}\n");
			any = true;
		}
		buf_release(&one);
	}
	return any;
}

static bool add_body(enum mutant m, struct buf *b, const struct kernel *k)
{
	const struct arg *ret = returned(k);
	bool any;

	buf_addstr(b, "\n{\n");
	if (ret)
		buf_addf(b, "\t%s mk_ret = 0;\n", type_of(k, ret));
	for (int i = 0; i < k->nr_args; i++)
		if (k->arg[i].kind != ARG_RET)
			buf_addf(b, "\t(void)mk_%s;\n", name_of(k, &k->arg[i]));
	if (m == MUTANT_MEMO) {
		add_memo(b, k);
		any = true;
	} else {
		if (calls_kernel(m))
			add_call(b, k);
		any = add_outputs(m, b, k);
		/* A kernel that only returns: zero is a mutant of it. */
		if (ret && m == MUTANT_ZERO)
			any = true;
	}
	if (ret)
		buf_addstr(b, "\treturn mk_ret;\n");
	buf_addstr(b, "}\n");
	return any;
}

static const struct srcfile *definition(const struct kernel *k,
					const struct srcset *root,
					bool *is_static)
{
	for (size_t i = 0; i < root->nr; i++) {
		const struct srcfile *f = &root->v[i];
		struct cunit u = CUNIT_INIT;
		const struct cfunc *fn = NULL;
		struct err ignored;
		bool found;

		if (!f->writable ||
		    cunit_parse(&u, f->text.ptr, f->text.len, &ignored) < 0)
			continue;
		fn = cunit_find(&u, k->entry);
		found = fn != NULL;
		*is_static = found && fn->is_static;
		cunit_release(&u);
		if (found)
			return f;
	}
	return NULL;
}

int mutant_make(enum mutant m, const struct kernel *k,
		const struct srcset *root, struct srcset *out,
		struct err *err)
{
	struct buf b = BUF_INIT;
	bool is_static = false, any;
	const struct srcfile *f = definition(k, root, &is_static);

	if (!f || is_static)
		return err_set(err, ERR_NOTFOUND, "the definition of '%s' was "
			       "not found in the kernel's files", k->entry);
	buf_addf(&b, "#define %s mk_own_%s\n#line 1\n", k->entry, k->entry);
	buf_add(&b, f->text.ptr, f->text.len);
	buf_addf(&b, "\n#undef %s\n#include <stddef.h>\n#include <stdint.h>\n"
		 "static inline long long mk_min(long long a, long long b)\n"
		 "{\n\treturn a < b ? a : b;\n}\n"
		 "static inline long long mk_max(long long a, long long b)\n"
		 "{\n\treturn a > b ? a : b;\n}\n", k->entry);
	add_head(&b, k);
	buf_addstr(&b, ";\n");
	add_head(&b, k);
	any = add_body(m, &b, k);
	if (any) {
		srcset_copy(out, root);
		srcset_put(out, f->path, b.ptr, b.len, true);
	}
	buf_release(&b);
	return any ? 0 : err_set(err, ERR_NOTFOUND, "it has no meaning for "
				 "the outputs of '%s'", k->entry);
}
