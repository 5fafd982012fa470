/* needs: core/dtype.c core/expr.c core/ini.c core/kernel.c core/kernel_arg.c
 * core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/record.c
 * core/source.c core/sha1.c core/json.c core/judge.c core/judge_process.c
 * core/judge_reply.c core/judge_scripted.c core/paths.c core/tempdir.c
 *
 * Puts kernels before the real judge: attack <folder> <work> [<name>...].
 * The folder holds one C file for each kernel, which begins with
 *
 *	 * tries: <what it does>
 *	 * kernel: <base>
 *	 * expect: <verdict>[|<verdict>...]	"accepted": not rejected
 *	 * says: <text in the reason>		optional
 *	 * stage: check|screen|confirm		how far it goes; default check
 *
 * and in base/ the sections and roots that these stand in for.  One judge is
 * opened for each base.  Prints, by tabs: name, ok or bad, stage, verdict,
 * seconds, what it tries, the reason.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/judge.h"
#include "core/mem.h"
#include "core/tempdir.h"

#define MAX_TEXT (1u << 20)

struct attack {
	char *name;
	struct buf text;
	char *tries, *kernel, *expect, *says, *stage;
};

struct suite {
	const char *dir, *work;
	struct attack *v;
	size_t nr, cap;
};

struct base {
	char *name, *work;
	struct kernel_file file;
	struct srcset root, aux;
	struct judge *judge;
};

static struct err err;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The value of a line " * key: value" of the head, or NULL. */
static char *head_value(const struct buf *text, const char *key)
{
	char *line = xasprintf("\n * %s: ", key), *out = NULL;
	const char *at = strstr(text->ptr, line);
	const char *end = strstr(text->ptr, "*/");

	if (at && end && at < end) {
		at += strlen(line);
		out = xasprintf("%.*s", (int)strcspn(at, "\n"), at);
	}
	free(line);
	return out;
}

static int attack_read(struct suite *s, const char *file)
{
	char *path = xasprintf("%s/%s", s->dir, file);
	struct attack *a;
	int ret;

	GROW(s->v, s->nr, s->cap);
	a = &s->v[s->nr++];
	memset(a, 0, sizeof(*a));
	buf_init(&a->text);
	a->name = xasprintf("%.*s", (int)strlen(file) - 2, file);
	ret = buf_read_file(&a->text, path, MAX_TEXT, &err);
	free(path);
	if (ret)
		return ret;
	a->tries = head_value(&a->text, "tries");
	a->kernel = head_value(&a->text, "kernel");
	a->expect = head_value(&a->text, "expect");
	a->says = head_value(&a->text, "says");
	a->stage = head_value(&a->text, "stage");
	if (!a->tries || !a->kernel || !a->expect)
		return err_set(&err, ERR_FORMAT, "%s: the head lacks a line",
			       file);
	return 0;
}

static void attack_release(struct attack *a)
{
	free(a->name);
	free(a->tries);
	free(a->kernel);
	free(a->expect);
	free(a->says);
	free(a->stage);
	buf_release(&a->text);
}

static int by_kernel(const void *a, const void *b)
{
	const struct attack *x = a, *y = b;
	int c = strcmp(x->kernel, y->kernel);

	return c ? c : strcmp(x->name, y->name);
}

static bool is_chosen(const char *file, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strncmp(file, *names, strlen(*names)) &&
		    !strcmp(file + strlen(*names), ".c"))
			return true;
	return false;
}

static int suite_read(struct suite *s, char **names)
{
	DIR *d = opendir(s->dir);
	struct dirent *e;
	int ret = 0;

	if (!d)
		return err_sys(&err, "cannot read '%s'", s->dir);
	for (e = readdir(d); e && !ret; e = readdir(d)) {
		size_t len = strlen(e->d_name);

		if (len > 2 && !strcmp(e->d_name + len - 2, ".c") &&
		    is_chosen(e->d_name, names))
			ret = attack_read(s, e->d_name);
	}
	closedir(d);
	if (!ret)
		qsort(s->v, s->nr, sizeof(*s->v), by_kernel);
	return ret;
}

/* ---- a judge of one base ---- */

static int put_file(struct srcset *to, const char *path, const char *from,
		    bool needed)
{
	struct buf text = BUF_INIT;
	int ret = buf_read_file(&text, from, MAX_TEXT, &err);

	if (!ret)
		srcset_put(to, path, text.ptr, text.len, true);
	buf_release(&text);
	return ret == ERR_NOTFOUND && !needed ? 0 : ret;
}

static int base_read(struct base *b, const struct suite *s, const char *name)
{
	char *section = xasprintf("%s/base/%s.maxkernel", s->dir, name);
	char *root = xasprintf("%s/base/%s.c", s->dir, name);
	char *ref = xasprintf("%s/base/%s-ref.c", s->dir, name);
	char *path = xasprintf("%s.c", name);
	char *ref_path = xasprintf("ref/%s.c", name);
	struct buf text = BUF_INIT;
	int ret = buf_read_file(&text, section, MAX_TEXT, &err);

	if (!ret)
		ret = kernel_file_parse(&b->file, section, text.ptr, text.len,
					&err);
	if (!ret)
		ret = put_file(&b->root, path, root, true);
	if (!ret)
		srcset_copy(&b->aux, &b->root);
	if (!ret)
		ret = put_file(&b->aux, ref_path, ref, false);
	buf_release(&text);
	free(section);
	free(root);
	free(ref);
	free(path);
	free(ref_path);
	return ret;
}

static int base_judge(struct base *b)
{
	struct judge_config cfg = { .kernel = &b->file.v[0], .root = &b->root,
				    .aux = &b->aux, .work = b->work,
				    .helper = true };
	struct judge_request req = { .stage = JUDGE_OPEN };
	struct record rec;
	int ret = judge_open(&b->judge, &cfg, &err);

	record_init(&rec);
	if (!ret)
		ret = judge_call(b->judge, &req, &rec, &err);
	record_release(&rec);
	return ret;
}

static int base_open(struct base *b, const struct suite *s, const char *name)
{
	double start = now_s();
	int ret;

	memset(b, 0, sizeof(*b));
	b->name = xstrdup(name);
	b->work = xasprintf("%s/%s.XXXXXX", s->work, name);
	if (!mkdtemp(b->work))
		return err_sys(&err, "cannot make a folder in '%s'", s->work);
	ret = base_read(b, s, name);
	if (!ret)
		ret = base_judge(b);
	if (!ret)
		fprintf(stderr, "%s: opened in %.1f s, %s\n", name,
			now_s() - start, b->judge->info.sandbox);
	return ret ? err_wrap(&err, "%s", name) : 0;
}

static void base_close(struct base *b)
{
	judge_close(b->judge);
	if (b->work)
		tempdir_remove(b->work);
	kernel_file_release(&b->file);
	srcset_release(&b->root);
	srcset_release(&b->aux);
	free(b->work);
	free(b->name);
	memset(b, 0, sizeof(*b));
}

/* ---- one kernel ---- */

static int call(struct base *b, const struct srcset *src, enum judge_stage st,
		struct record *rec)
{
	struct judge_request req = { .stage = st, .source = src,
				     .against_root = true };

	srcset_state(src, &req.state);
	record_release(rec);
	record_init(rec);
	return judge_call(b->judge, &req, rec, &err);
}

static enum judge_stage last_stage(const struct attack *a)
{
	if (a->stage && !strcmp(a->stage, "screen"))
		return JUDGE_SCREEN;
	if (a->stage && !strcmp(a->stage, "confirm"))
		return JUDGE_CONFIRM;
	return JUDGE_CHECK;
}

/* As far as its stage; an attack that screens as faster must stand a
 * confirmation, too.  *st: where it ended. */
static int run_stages(struct base *b, const struct attack *a,
		      struct record *rec, enum judge_stage *st)
{
	struct srcset src = SRCSET_INIT;
	char *path = xasprintf("%s.c", b->name);
	enum judge_stage last = last_stage(a);
	int ret;

	srcset_put(&src, path, a->text.ptr, a->text.len, true);
	*st = JUDGE_BUILD;
	ret = call(b, &src, *st, rec);
	while (!ret && rec->verdict == V_SAME && *st < last) {
		*st = *st + 1;
		ret = call(b, &src, *st, rec);
		if (!ret && *st == JUDGE_SCREEN && rec->verdict == V_FASTER &&
		    strcmp(a->expect, "accepted")) {
			*st = JUDGE_CONFIRM;
			ret = call(b, &src, *st, rec);
			break;
		}
	}
	srcset_release(&src);
	free(path);
	return ret;
}

static bool is_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (; list; list = strchr(list, '|')) {
		list += *list == '|';
		if (!strncmp(list, word, len) && (!list[len] ||
						  list[len] == '|'))
			return true;
	}
	return false;
}

static bool is_expected(const struct attack *a, const struct record *rec,
			enum judge_stage st)
{
	if (!strcmp(a->expect, "accepted"))
		return verdict_is_timed(rec->verdict) ||
		       (st >= JUDGE_SCREEN && rec->verdict == V_NO_VERDICT);
	return is_listed(a->expect, verdict_name(rec->verdict)) &&
	       (!a->says || (rec->error && strstr(rec->error, a->says)));
}

static int run_attack(struct base *b, const struct attack *a)
{
	struct record rec;
	enum judge_stage st;
	double start = now_s();
	int ret;

	record_init(&rec);
	ret = run_stages(b, a, &rec, &st);
	printf("%s\t%s\t%s\t%s\t%.1f\t%s\t%s", a->name,
	       !ret && is_expected(a, &rec, st) ? "ok" : "bad",
	       judge_stage_name(st), ret ? "lost" : verdict_name(rec.verdict),
	       now_s() - start, a->tries, ret ? err.msg :
	       rec.error ? rec.error : "");
	if (st >= JUDGE_SCREEN && verdict_is_timed(rec.verdict))
		printf(" [%.2fx, %.1f us]", exp(rec.lr), rec.time_ns * 1e-3);
	putchar('\n');
	fflush(stdout);
	record_release(&rec);
	return ret;
}

/* A judge that is lost counts against the kernel that it was lost to. */
static int run_all(const struct suite *s)
{
	struct base b;
	int ret = 0;

	memset(&b, 0, sizeof(b));
	for (size_t i = 0; i < s->nr && !ret; i++) {
		const struct attack *a = &s->v[i];

		if (!b.name || strcmp(b.name, a->kernel)) {
			base_close(&b);
			ret = base_open(&b, s, a->kernel);
		}
		if (!ret && run_attack(&b, a))
			base_close(&b);
	}
	base_close(&b);
	return ret;
}

int main(int argc, char **argv)
{
	struct suite s = { .dir = argc > 2 ? argv[1] : NULL,
			   .work = argc > 2 ? argv[2] : NULL };
	int ret;

	if (argc < 3) {
		fputs("usage: attack <folder> <work> [<name>...]\n", stderr);
		return 129;
	}
	ret = suite_read(&s, argv + 3);
	if (!ret)
		ret = run_all(&s);
	if (ret)
		fprintf(stderr, "fatal: %s\n", err.msg);
	for (size_t i = 0; i < s.nr; i++)
		attack_release(&s.v[i]);
	free(s.v);
	return ret ? 128 : 0;
}
