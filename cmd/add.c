/*
 * git maxkernel add: drafts a kernel's section from its source, proves it by
 * running the kernel between guard pages, picks a timed size.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/builtin/draft.h"
#include "cmd/audit.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "cmd/task.h"
#include "core/mem.h"

#define MAX_INCLUDES 32
#define LEAST_NS 5e6		/* of the timed size, on this machine */
#define MOST_BYTES (64 << 20)	/* the judge holds a dozen sets of inputs */
#define MOST_NS 100e6
#define AIM_NS 25e6
#define MAX_TRIES 3

struct add_opts {
	const char *entry;
	bool dry_run, no_run, json;
};

/* ---- the file and what it includes ---- */

/* Path from the top of the work tree; the caller frees. */
static int path_from_top(struct session *s, const char *file, char **out,
			 struct err *err)
{
	char top[PATH_MAX], full[PATH_MAX];
	size_t len;

	if (!realpath(repo_workdir(s->repo), top))
		return err_sys(err, "cannot read the work tree");
	if (!realpath(file, full))
		return errno == ENOENT ?
			err_set(err, ERR_NOTFOUND, "there is no file '%s'", file) :
			err_sys(err, "cannot read '%s'", file);
	len = strlen(top);
	if (strncmp(top, full, len) != 0 || full[len] != '/')
		return err_set(err, ERR_FORMAT, "'%s' is not in this repository",
			       file);
	*out = xstrdup(full + len + 1);
	if (path_is_safe(*out))
		return 0;
	err_set(err, ERR_FORMAT, "'%s' is not a path that a section may name",
		*out);
	free(*out);
	*out = NULL;
	return ERR_FORMAT;
}

static int read_source(struct session *s, struct srcset *src,
		       const char *path, bool writable, struct err *err)
{
	char *full = xasprintf("%s%s", repo_workdir(s->repo), path);
	struct buf text = BUF_INIT;
	int ret = buf_read_file(&text, full, SOURCE_MAX_FILE, err);

	if (!ret)
		srcset_put(src, path, text.ptr, text.len, writable);
	buf_release(&text);
	free(full);
	return ret;
}

/* The next `#include "x"` at or after p; its name is put into name. */
static const char *next_include(const char *p, struct buf *name)
{
	while (p) {
		const char *q = p + strspn(p, " \t");

		if (*q == '#') {
			q++;
			q += strspn(q, " \t");
			if (!strncmp(q, "include", 7)) {
				q += 7;
				q += strspn(q, " \t");
				if (*q == '"' && strchr(q + 1, '"')) {
					buf_reset(name);
					buf_add(name, q + 1,
						strcspn(q + 1, "\"\n"));
					p = strchr(q, '\n');
					return p ? p + 1 : q + strlen(q);
				}
			}
		}
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	return NULL;
}

/* "a/b.c" and "../u.h" -> "u.h"; NULL if it leads out of the tree. */
static char *beside(const char *path, const char *name)
{
	struct buf b = BUF_INIT;
	const char *slash = strrchr(path, '/');

	if (slash)
		buf_add(&b, path, (size_t)(slash - path));
	while (*name) {
		size_t len = strcspn(name, "/");

		if (len == 2 && !strncmp(name, "..", 2)) {
			char *cut = strrchr(b.ptr, '/');

			if (!b.len) {
				buf_release(&b);
				return NULL;
			}
			buf_splice(&b, cut ? (size_t)(cut - b.ptr) : 0,
				   b.len - (cut ? (size_t)(cut - b.ptr) : 0),
				   "", 0);
		} else if (len && !(len == 1 && *name == '.')) {
			if (b.len)
				buf_addch(&b, '/');
			buf_add(&b, name, len);
		}
		name += len + (name[len] == '/');
	}
	return buf_detach(&b);
}

/* Headers of this repository that the sources include, and theirs. */
static int read_includes(struct session *s, struct srcset *src,
			 struct strv *use, struct err *err)
{
	struct strv todo = STRV_INIT;
	struct buf name = BUF_INIT;

	for (size_t i = 0; i < src->nr; i++)
		strv_push(&todo, src->v[i].path);
	for (size_t i = 0; i < todo.nr && use->nr < MAX_INCLUDES; i++) {
		struct srcfile *f = srcset_find(src, todo.v[i]);
		char *text = f ? xstrdup(f->text.ptr) : NULL;
		const char *p = text;

		while (p && use->nr < MAX_INCLUDES) {
			char *path;

			p = next_include(p, &name);
			path = p ? beside(todo.v[i], name.ptr) : NULL;
			if (path && path_is_safe(path) &&
			    !srcset_find(src, path) &&
			    !read_source(s, src, path, false, err)) {
				strv_push(use, path);
				strv_push(&todo, path);
			}
			err->code = ERR_NONE;
			free(path);
		}
		free(text);
	}
	buf_release(&name);
	strv_release(&todo);
	return 0;
}

/* ---- the section ---- */

/* The draft, with a `use` line for each header behind the `file` line. */
static void add_use(struct buf *text, const struct strv *use)
{
	struct buf lines = BUF_INIT;
	const char *file = strstr(text->ptr, "\n\tfile = ");
	const char *end = file ? strchr(file + 1, '\n') : NULL;

	for (size_t i = 0; i < use->nr; i++)
		if (!strstr(text->ptr, use->v[i]))
			buf_addf(&lines, "\tuse = %s\n", use->v[i]);
	if (end)
		buf_splice(text, (size_t)(end + 1 - text->ptr), 0, lines.ptr,
			   lines.len);
	buf_release(&lines);
}

/* Replaces the value of the first `time` line. */
static void set_time(struct buf *text, const char *shape)
{
	const char *at = strstr(text->ptr, "\n\ttime = ");
	size_t start;

	if (!at)
		return;
	start = (size_t)(at - text->ptr) + strlen("\n\ttime = ");
	buf_splice(text, start, strcspn(text->ptr + start, "\n"), shape,
		   strlen(shape));
}

/* Work of a shape in the unit that the measured time scales with. */
static double work(const struct kernel *k, const struct shape *s)
{
	struct err unused = ERR_INIT;
	double flops = 0, bytes = 0;

	if (kernel_work(k, s, &flops, &bytes, &unused))
		return NAN;
	return flops > 0 ? flops : bytes;
}

/* Would a call of this shape be more work, or more memory, than is wanted? */
static bool too_large(const struct kernel *k, const struct shape *s,
		      double want)
{
	struct err unused = ERR_INIT;
	double flops, bytes;

	if (kernel_work(k, s, &flops, &bytes, &unused))
		return true;
	return work(k, s) > want || bytes > 0.9 * MOST_BYTES;
}

/*
 * The timed shape, every dim times the same factor, so that a call takes
 * about AIM_NS but touches no more than MOST_BYTES; odd sizes.  False: it
 * fits already, or can't be helped.
 */
static bool rescale(const struct kernel *k, double ns, struct buf *shape)
{
	const struct shape *old = &k->time[0];
	double want = work(k, old) * AIM_NS / ns, lo = 1.0 / 64, hi = 64;
	struct err unused = ERR_INIT;
	struct shape s;
	bool legal;

	if (!k->nr_dims || !(ns > 0) || (ns >= LEAST_NS && ns <= MOST_NS))
		return false;
	if (ns < LEAST_NS && too_large(k, old, INFINITY))
		return false;
	memset(&s, 0, sizeof(s));
	for (int i = 0; i < 40; i++) {
		double f = sqrt(lo * hi);

		for (int d = 0; d < k->nr_dims; d++) {
			int64_t v = (int64_t)((double)old->dim[d] * f);

			s.dim[d] = v < 2 ? 1 : v | 1;
		}
		if (too_large(k, &s, want))
			hi = f;
		else
			lo = f;
	}
	kernel_shape_text(k, &s);
	buf_reset(shape);
	buf_addstr(shape, s.text);
	legal = kernel_shape_legal(k, &s, &unused) == 1;
	shape_release(&s);
	return legal && strcmp(shape->ptr, old->text) != 0;
}

static int parse_draft(const struct buf *text, struct kernel_file *f,
		       struct err *err)
{
	int ret = kernel_file_parse(f, "the draft", text->ptr, text->len, err);

	if (!ret && f->nr != 1)
		ret = err_set(err, ERR_FORMAT, "the draft is not one section");
	return ret;
}

/* Opens the judge on the draft; *ns is the time of a call. */
static int try_draft(struct session *s, const struct kernel *k,
		     const struct srcset *src, double *ns, struct err *err)
{
	struct task t;
	int ret;

	memset(&t, 0, sizeof(t));
	t.session = s;
	t.kernel = k;
	srcset_copy(&t.source, src);
	srcset_copy(&t.aux, src);
	ret = task_judge(&t, 1, err);
	if (!ret) {
		*ns = t.judge[0]->info.shape[0].time_ns;
		task_print_root(&t);
	}
	task_close(&t);
	return ret;
}

/* Runs the draft, with other sizes as needed. */
static int prove(struct session *s, const struct srcset *src,
		 struct buf *text, struct err *err)
{
	struct buf shape = BUF_INIT;
	bool again = true;
	int ret = 0;

	for (int i = 0; i < MAX_TRIES && again && !ret; i++) {
		struct kernel_file f;
		double ns = NAN;

		ret = parse_draft(text, &f, err);
		if (ret)
			break;
		ret = try_draft(s, &f.v[0], src, &ns, err);
		again = !ret && rescale(&f.v[0], ns, &shape);
		if (again)
			set_time(text, shape.ptr);
		kernel_file_release(&f);
	}
	buf_release(&shape);
	return ret;
}

/* ---- the file .maxkernel ---- */

static int append_section(struct session *s, const char *name,
			  const struct buf *text, bool dry_run,
			  struct err *err)
{
	char *path = xasprintf("%s%s", repo_workdir(s->repo), KERNEL_FILE);
	struct kernel_file f = { NULL, 0, 0 };
	struct buf all = BUF_INIT;
	int ret = buf_read_file(&all, path, KERNEL_MAX_TEXT, err);

	if (ret == ERR_NOTFOUND) {
		err->code = ERR_NONE;
		ret = 0;
	}
	if (!ret)
		ret = kernel_file_parse(&f, KERNEL_FILE, all.ptr, all.len, err);
	if (!ret && kernel_find(&f, name))
		ret = err_set(err, ERR_FORMAT, "'%s' has a kernel '%s' already, "
			      "in line %d", KERNEL_FILE, name,
			      kernel_find(&f, name)->line);
	if (!ret && !dry_run) {
		if (all.len && all.ptr[all.len - 1] != '\n')
			buf_addch(&all, '\n');
		if (all.len)
			buf_addch(&all, '\n');
		buf_add(&all, text->ptr, text->len);
		ret = buf_write_file(path, all.ptr, all.len, err);
	}
	kernel_file_release(&f);
	buf_release(&all);
	free(path);
	return ret;
}

/* A section that lets wrong kernels through is worth a word at once. */
static int warn_of_mutants(struct session *s, const struct srcset *src,
			   const struct buf *text, struct err *err)
{
	struct kernel_file f;
	int ret = parse_draft(text, &f, err);

	if (ret)
		return ret;
	ret = audit_warn(s, &f.v[0], src, src, err);
	kernel_file_release(&f);
	return ret;
}

static void print_result(const char *name, const struct buf *text,
			 const struct strv *notes, const struct add_opts *o)
{
	struct jout j;

	for (size_t i = 0; i < notes->nr; i++)
		say("%s: %s", name, notes->v[i]);
	if (o->json) {
		jout_begin(&j);
		jout_str(&j, "kernel", name);
		jout_str(&j, "section", text->ptr);
		jout_end(&j, stdout);
		return;
	}
	put_clean_lines(stdout, "", text->ptr);
	if (!o->dry_run)
		say("added to '%s'; read it, commit it, then: "
		    "git maxkernel explore %s", KERNEL_FILE, name);
}

/* The draft goes to the person, who has to correct it. */
static void explain_failure(const struct buf *text, struct err *err)
{
	live("%s", "");
	put_clean_lines(stderr, "", text->ptr);
	err_wrap(err, "the section drafted above does not hold and was not "
		 "written; correct it and put it into '%s' by hand",
		 KERNEL_FILE);
}

/* What is right is the author's decision: it must stand there to be read. */
static void add_tolerance(struct buf *text, const struct kernel *k)
{
	if (strstr(text->ptr, "\trtol ") || strstr(text->ptr, "\tatol "))
		return;
	buf_addf(text, "\trtol = %g\t\t; a guess: what do your users need?\n"
		 "\tatol = %g\n", k->rtol, k->atol);
}

static int add_file(struct session *s, const char *file,
		    const struct add_opts *o, struct err *err)
{
	struct srcset src = SRCSET_INIT;
	struct strv use = STRV_INIT, notes = STRV_INIT;
	struct buf text = BUF_INIT;
	struct kernel_file f = { NULL, 0, 0 };
	char *path = NULL, *name = NULL;
	int ret = path_from_top(s, file, &path, err);

	if (!ret)
		ret = read_source(s, &src, path, true, err);
	if (!ret)
		ret = read_includes(s, &src, &use, err);
	if (!ret)
		ret = draft_section(&src, path, o->entry, &text, &notes, err);
	if (ret)
		goto out;
	add_use(&text, &use);
	ret = parse_draft(&text, &f, err);
	if (ret) {
		explain_failure(&text, err);
		goto out;
	}
	name = xstrdup(f.v[0].name);
	add_tolerance(&text, &f.v[0]);
	kernel_file_release(&f);
	ret = append_section(s, name, &text, true, err);
	if (ret)
		goto out;
	if (!o->no_run)
		ret = prove(s, &src, &text, err);
	if (ret && ret != ERR_STOPPED)
		explain_failure(&text, err);
	if (!ret)
		ret = append_section(s, name, &text, o->dry_run, err);
	if (!ret && !o->no_run)
		ret = warn_of_mutants(s, &src, &text, err);
	if (!ret)
		print_result(name, &text, &notes, o);
out:
	free(name);
	free(path);
	buf_release(&text);
	strv_release(&notes);
	strv_release(&use);
	srcset_release(&src);
	return ret;
}

static int add_run(struct session *s, int argc, char **argv, struct err *err)
{
	struct add_opts o = { NULL, false, false, false };
	const struct opt opts[] = {
		OPT_STR(0, "entry", &o.entry, "<function>",
			"the kernel's function, if the file has several"),
		OPT_BOOL('n', "dry-run", &o.dry_run,
			"print the section, write nothing"),
		OPT_BOOL(0, "no-run", &o.no_run,
			"do not run the kernel to prove the section"),
		OPT_BOOL(0, "json", &o.json, "print one JSON object a file"),
		OPT_BOOL('q', "quiet", &out_quiet, "no progress"),
		OPT_END
	};
	int status, ret = 0;

	argc = opt_parse(&cmd_add, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	if (opt_operands(argc, 1, INT_MAX, err))
		return EXIT_USAGE;
	task_signals();
	for (int i = 0; i < argc && !ret; i++)
		ret = add_file(s, argv[i], &o, err);
	return ret ? cmd_status_of(err) : EXIT_DONE;
}

static const char *const usage[] = {
	"git maxkernel add [--entry <function>] [-n] [--no-run] [--json] [-q] "
	"<file>...",
	NULL
};

const struct cmd cmd_add = {
	.name = "add",
	.group = "set up",
	.summary = "draft the section of a kernel from its source",
	.usage = usage,
	.needs = NEED_REPO | NEED_WORKTREE,
	.run = add_run,
};
