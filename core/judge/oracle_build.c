#include "core/judge/oracle.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define WALK_DEPTH 16
#define WALK_FILES 4096

/* Functions of math.h whose single-precision form is <name>f. */
static const char *const math_call[] = {
	"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt",
	"ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp", "exp2",
	"exp10", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin",
	"fmod", "frexp", "hypot", "ilogb", "j0", "j1", "ldexp", "lgamma",
	"llrint", "llround", "log", "log10", "log1p", "log2", "logb",
	"lrint", "lround", "modf", "nan", "nearbyint", "nextafter", "pow",
	"remainder", "remquo", "rint", "round", "scalbln", "scalbn", "sin",
	"sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc", "y0",
	"y1"
};

const char *oracle_name(enum oracle_kind kind)
{
	static const char *const name[] = { "auto", "given", "native" };

	return name[kind];
}

static void prelude_text(struct buf *b)
{
	static const char *const header[] = {
		"assert", "complex", "ctype", "errno", "float", "inttypes",
		"limits", "math", "stdarg", "stdbool", "stddef", "stdint",
		"stdio", "stdlib", "string"
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(header); i++)
		buf_addf(b, "#include <%s.h>\n", header[i]);
	buf_addstr(b, "#ifdef _OPENMP\n#include <omp.h>\n#endif\n"
		   "#define float double\n");
	for (i = 0; i < ARRAY_SIZE(math_call); i++)
		buf_addf(b, "#define %sf %s\n#define __builtin_%sf %s\n",
			 math_call[i], math_call[i], math_call[i],
			 math_call[i]);
}

static bool calls_single(const char *symbol)
{
	char name[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(math_call); i++) {
		snprintf(name, sizeof(name), "%sf", math_call[i]);
		if (!strcmp(symbol, name))
			return true;
	}
	return false;
}

/* Paths below dir of C sources that one of the globs matches. */
static void walk(const char *top, const char *path, const struct strv *globs,
		 struct strv *out, int depth)
{
	char *dir = *path ? xasprintf("%s/%s", top, path) : xstrdup(top);
	DIR *d = opendir(dir);
	struct dirent *e;

	free(dir);
	while (d && out->nr < WALK_FILES) {
		char *sub;
		size_t i, len;

		e = readdir(d);
		if (!e)
			break;
		if (e->d_name[0] == '.')
			continue;
		sub = *path ? xasprintf("%s/%s", path, e->d_name) :
			      xstrdup(e->d_name);
		len = strlen(sub);
		if (e->d_type == DT_DIR && depth < WALK_DEPTH)
			walk(top, sub, globs, out, depth + 1);
		for (i = 0; e->d_type == DT_REG && i < globs->nr; i++)
			if (len > 2 && !strcmp(sub + len - 2, ".c") &&
			    !fnmatch(globs->v[i], sub, FNM_PATHNAME) &&
			    !strv_has(out, sub))
				strv_push(out, sub);
		free(sub);
	}
	if (d)
		closedir(d);
}

static bool is_kernel_file(const struct kernel *k, const char *path)
{
	size_t i;

	for (i = 0; i < k->file.nr; i++)
		if (!fnmatch(k->file.v[i], path, FNM_PATHNAME))
			return true;
	return false;
}

/*
 * Fills job for a function that the section names: its file and the `use`
 * sources; everything when it stands among the kernel's own files.
 */
static void func_job(struct build_job *job, struct strv *sources,
		     const struct func_ref *f, const char *aux)
{
	const struct kernel *k = job->kernel;

	job->dir = aux;
	if (!f->path)
		return;
	if (f->symbol)
		job->symbol = f->symbol;
	if (is_kernel_file(k, f->path))
		return;
	strv_push(sources, f->path);
	walk(aux, "", &k->use, sources, 0);
	job->sources = sources;
}

int oracle_build_func(const struct kernel *k, const struct func_ref *f,
		      const char *aux, const char *so,
		      const struct strv *flags, bool sandbox_none,
		      struct build_result *out, struct err *err)
{
	struct build_job job = { .kernel = k, .so = so, .flags = flags,
				 .sandbox_none = sandbox_none };
	struct strv sources = STRV_INIT;
	int ret;

	func_job(&job, &sources, f, aux);
	ret = build_run(&job, out, err);
	strv_release(&sources);
	return ret;
}

int oracle_func_failed(const struct kernel *k, const struct func_ref *f,
		       const char *key, const struct build_result *res,
		       struct err *err)
{
	const char *why = res->error ? res->error : "no reason given";

	if (!f->path)
		return err_set(err, ERR_FORMAT, "the kernel at the root does "
			       "not build: %s", why);
	return err_set(err, ERR_FORMAT, "%s %s:%s does not build: %s", key,
		       f->path, f->symbol ? f->symbol : k->entry, why);
}

/* Ours to choose, but for what gives the source its meaning. */
static void oracle_flags(struct strv *flags, const struct kernel *k)
{
	size_t i;

	strv_push(flags, "-O3");
	strv_push(flags, "-march=native");
	strv_push(flags, "-ffp-contract=off");
	strv_push(flags, "-w");
	for (i = 0; i < k->flags.nr; i++) {
		const char *f = k->flags.v[i];

		if (!strncmp(f, "-D", 2) || !strncmp(f, "-U", 2) ||
		    !strncmp(f, "-std=", 5) || !strcmp(f, "-lm"))
			strv_push(flags, f);
	}
}

/* NULL, or why the section's types rule a double version out. */
static const char *types_refuse(const struct kernel *k)
{
	bool single = false;
	int i;

	for (i = 0; i < k->nr_args; i++) {
		if (k->arg[i].kind == ARG_DIM)
			continue;
		switch (k->arg[i].type) {
		case DT_F16: case DT_BF16: case DT_F8E4M3: case DT_F8E5M2:
			return "an argument has floats of 16 bits or fewer";
		case DT_F64:
			return "an argument is double already";
		case DT_F32:
			single = true;
			break;
		default:
			break;
		}
	}
	return single ? NULL : "no argument is a float";
}

static int build_double(struct oracle *o, const struct strv *flags,
			const char *work, struct build_result *res,
			struct err *err)
{
	const struct kernel *k = o->kernel;
	struct build_job job = { .kernel = k, .so = o->double_so,
				 .flags = flags, .as_double = true,
				 .sandbox_none = o->limits.sandbox_none };
	struct strv sources = STRV_INIT;
	struct buf text = BUF_INIT;
	char *prelude = NULL;
	int ret = 0;

	func_job(&job, &sources, &k->reference, o->aux);
	if (o->kind == ORACLE_AUTO) {
		prelude = xasprintf("%s/prelude.h", work);
		prelude_text(&text);
		ret = buf_write_file(prelude, text.ptr, text.len, err);
		job.prelude = prelude;
	}
	if (!ret)
		ret = build_run(&job, res, err);
	free(prelude);
	buf_release(&text);
	strv_release(&sources);
	return ret;
}

static int refuse_imports(struct oracle *o, struct err *err)
{
	struct strv names = STRV_INIT;
	size_t i;
	int ret = build_imports(o->double_so, &names, err);

	for (i = 0; !ret && i < names.nr; i++) {
		char *why;

		if (!calls_single(names.v[i]))
			continue;
		why = xasprintf("it still calls %s()", names.v[i]);
		oracle_make_native(o, why);
		free(why);
		break;
	}
	strv_release(&names);
	return ret;
}

static int open_double(struct oracle *o, const struct strv *flags,
		       const char *work, struct err *err)
{
	struct build_result res = { V_NONE, NULL, 0 };
	const char *refused;
	int ret;

	o->kind = o->kernel->reference.is_double ? ORACLE_GIVEN : ORACLE_AUTO;
	refused = o->kind == ORACLE_AUTO ? types_refuse(o->kernel) : NULL;
	if (refused) {
		oracle_make_native(o, refused);
		return 0;
	}
	o->double_so = xasprintf("%s/mk-oracle.so", work);
	ret = build_double(o, flags, work, &res, err);
	if (!ret && res.verdict != V_NONE && o->kind == ORACLE_GIVEN)
		ret = oracle_func_failed(o->kernel, &o->kernel->reference,
					 "reference", &res, err);
	else if (!ret && res.verdict != V_NONE)
		oracle_make_native(o, "it does not compile in double");
	else if (!ret && o->kind == ORACLE_AUTO)
		ret = refuse_imports(o, err);
	build_result_release(&res);
	return ret;
}

static int open_native(struct oracle *o, const struct strv *flags,
		       const char *work, struct err *err)
{
	/* A reference in double has no native form: the root stands in. */
	static const struct func_ref root = { NULL, NULL, false };
	const struct func_ref *f = o->kernel->reference.is_double ?
				   &root : &o->kernel->reference;
	struct build_result res = { V_NONE, NULL, 0 };
	int ret;

	o->native_so = xasprintf("%s/mk-native.so", work);
	ret = oracle_build_func(o->kernel, f, o->aux, o->native_so, flags,
				o->limits.sandbox_none, &res, err);
	if (!ret && res.verdict != V_NONE)
		ret = oracle_func_failed(o->kernel, f, "reference", &res,
					 err);
	build_result_release(&res);
	return ret;
}

int oracle_open(struct oracle *o, const struct kernel *k, const char *aux,
		const char *work, bool sandbox_none, struct err *err)
{
	struct strv flags = STRV_INIT;
	int ret;

	memset(o, 0, sizeof(*o));
	o->kernel = k;
	o->aux = aux;
	o->kind = ORACLE_NATIVE;
	o->limits.load_s = 10;
	o->limits.scratch = (size_t)1 << 30;
	o->limits.threads = k->threads;
	o->limits.sandbox_none = sandbox_none;
	o->limits.cpu = -1;
	oracle_flags(&flags, k);
	ret = open_native(o, &flags, work, err);
	if (!ret)
		ret = open_double(o, &flags, work, err);
	strv_release(&flags);
	return ret;
}

/* Is the native form of the reference the root? */
static bool is_root(const struct kernel *k, const struct func_ref *f)
{
	return !f->path || f->is_double ||
	       (is_kernel_file(k, f->path) &&
		(!f->symbol || !strcmp(f->symbol, k->entry)));
}

void oracle_use_root(struct oracle *o, const char *so)
{
	o->root_so = is_root(o->kernel, &o->kernel->reference) ? NULL : so;
}

void oracle_close(struct oracle *o)
{
	free(o->native_so);
	free(o->double_so);
	free(o->why);
	memset(o, 0, sizeof(*o));
}

void oracle_make_native(struct oracle *o, const char *why)
{
	o->kind = ORACLE_NATIVE;
	free(o->why);
	o->why = xstrdup(why);
	free(o->double_so);
	o->double_so = NULL;
}
