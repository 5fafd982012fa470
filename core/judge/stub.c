#include "core/judge/build.h"

/* The C type of an argument as it is passed. */
static const char *ctype(const struct kernel *k, const struct arg *a,
			 bool as_double)
{
	if (a->kind == ARG_DIM) {
		switch (k->dim[a->dim].type) {
		case DIM_INT:
			return "int";
		case DIM_LONG:
			return "long";
		case DIM_SIZE:
			return "size_t";
		}
	}
	return dtype_ctype(as_double && a->type == DT_F32 ? DT_F64 : a->type);
}

static bool is_const(const struct arg *a)
{
	return a->kind == ARG_IN || a->kind == ARG_WEIGHT;
}

/* "const float *", "int ". */
static void add_type(struct buf *out, const struct kernel *k,
		     const struct arg *a, bool as_double)
{
	if (a->rank && is_const(a))
		buf_addstr(out, "const ");
	buf_addf(out, "%s %s", ctype(k, a, as_double), a->rank ? "*" : "");
}

static const struct arg *returned(const struct kernel *k, int *index)
{
	for (int i = 0; i < k->nr_args; i++) {
		if (k->arg[i].kind != ARG_RET)
			continue;
		*index = i;
		return &k->arg[i];
	}
	return NULL;
}

static void add_prototype(struct buf *out, const struct kernel *k,
			  const char *symbol, bool as_double)
{
	int index;
	const struct arg *ret = returned(k, &index);
	const char *sep = "";

	buf_addf(out, "%s %s(", ret ? ctype(k, ret, as_double) : "void",
		 symbol);
	for (int i = 0; i < k->nr_args; i++) {
		if (k->arg[i].kind == ARG_RET)
			continue;
		buf_addstr(out, sep);
		add_type(out, k, &k->arg[i], as_double);
		buf_addf(out, "a%d", i);
		sep = ",\n\t";
	}
	buf_addf(out, "%s);\n", *sep ? "" : "void");
}

static void add_call(struct buf *out, const struct kernel *k,
		     const char *symbol, bool as_double)
{
	int index;
	const struct arg *ret = returned(k, &index);
	const char *sep = "";

	buf_addch(out, '\t');
	if (ret)
		buf_addf(out, "*(%s *)arg[%d] = ", ctype(k, ret, as_double),
			 index);
	buf_addf(out, "%s(", symbol);
	for (int i = 0; i < k->nr_args; i++) {
		const struct arg *a = &k->arg[i];

		if (a->kind == ARG_RET)
			continue;
		buf_addstr(out, sep);
		if (a->rank) {
			buf_addch(out, '(');
			add_type(out, k, a, as_double);
			buf_addf(out, ")arg[%d]", i);
		} else {
			buf_addf(out, "*(const %s *)arg[%d]",
				 ctype(k, a, as_double), i);
		}
		sep = ",\n\t\t";
	}
	buf_addstr(out, ");\n");
}

/*
 * Array parameters of any rank are pointers to their first element, whatever
 * the source calls them: the two are passed alike, and the source's own
 * declaration is in another translation unit.
 */
void stub_text(struct buf *out, const struct kernel *k, const char *symbol,
	       bool as_double)
{
	buf_addstr(out, "#include <stddef.h>\n#include <stdint.h>\n\n");
	add_prototype(out, k, symbol, as_double);
	buf_addstr(out, "void mk_call(void *const *arg);\n"
		   "void mk_call(void *const *arg)\n{\n");
	buf_addstr(out, "\t(void)arg;\n");
	add_call(out, k, symbol, as_double);
	buf_addstr(out, "}\n");
}
