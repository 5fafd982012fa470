/* needs: core/oid.c core/dtype.c core/expr.c core/ini.c core/kernel*.c
 * core/record.c core/source.c core/sha1.c core/oidset.c core/repo*.c core/git.c
 * core/notes*.c core/json.c core/metrics*.c core/usage.c core/lesson.c core/prior.c core/graph.c core/store*.c
 *
 * Drives the store for the shell tests: one command a run, plain lines out,
 * exit status 0, 1 ("no") or 128 with the message on stderr.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "core/notes.h"
#include "core/store.h"

static struct repo *repo;
static struct err err;

static int failed(void)
{
	fprintf(stderr, "fatal: %s\n", err.msg);
	return 128;
}

static int want(int argc, char **argv, int nr, const char *usage)
{
	if (argc >= nr)
		return 0;
	fprintf(stderr, "usage: store_drive %s %s\n", argv[0], usage);
	return 129;
}

static bool rev(const char *text, struct oid *out)
{
	return oid_parse(out, text) || repo_rev(repo, text, out, &err) == 0;
}

static void show_warnings(struct strv *warn)
{
	for (size_t i = 0; i < warn->nr; i++)
		fprintf(stderr, "warning: %s\n", warn->v[i]);
	strv_release(warn);
}

/* The kernel's section from .maxkernel in the work tree. */
static int read_kernel(const char *name, struct kernel_file *f,
		       const struct kernel **out)
{
	struct buf text = BUF_INIT;
	int ret = buf_read_file(&text, KERNEL_FILE, KERNEL_MAX_TEXT, &err);

	if (!ret)
		ret = kernel_file_parse(f, KERNEL_FILE, text.ptr, text.len,
					&err);
	buf_release(&text);
	if (ret)
		return ret;
	*out = kernel_find(f, name);
	return *out ? 0 : err_set(&err, ERR_NOTFOUND, "no kernel '%s'", name);
}

/* ---- searches ---- */

static int do_create(int argc, char **argv)
{
	struct kernel_file f = { NULL, 0, 0 };
	const struct kernel *k;
	struct search *s = NULL;
	struct spec spec = {
		.kernel = argv[1], .policy = xstrdup("greedy"), .width = 4,
		.branches = 2, .depth = 6, .round = 8, .keep = 0.5,
		.seed = UINT64_MAX, .proposer = xstrdup("builtin"),
		.device = xstrdup("dev-avx2-t1"),
		.budget = { .attempts = 100, .time_s = 60.5 },
	};
	int ret = want(argc, argv, 2, "<kernel> [<root>]");

	if (ret)
		return ret;
	ret = read_kernel(argv[1], &f, &k);
	if (!ret)
		ret = repo_head(repo, &spec.base, &err);
	spec.root = spec.base;
	if (!ret && argc > 2 && !rev(argv[2], &spec.root))
		ret = err.code;
	if (!ret) {
		spec.kernel = xstrdup(k->name);
		spec.section = xstrdup(k->text.ptr);
		ret = store_create(repo, &spec, &s, &err);
		if (!ret)
			puts(s->spec.slug);
		spec_release(&spec);
		store_close(s);
	}
	kernel_file_release(&f);
	return ret ? failed() : 0;
}

static int do_list(int argc, char **argv)
{
	struct spec_list l;
	struct strv warn = STRV_INIT;
	int ret = store_list(repo, &l, &warn, &err);

	(void)argc;
	(void)argv;
	for (size_t i = 0; !ret && i < l.nr; i++)
		printf("%s %s %s %llu %.17g\n", l.v[i].slug, l.v[i].kernel,
		       l.v[i].policy, (unsigned long long)l.v[i].seed,
		       l.v[i].budget.time_s);
	spec_list_release(&l);
	show_warnings(&warn);
	return ret ? failed() : 0;
}

static int do_worker(int argc, char **argv)
{
	char *w;

	(void)argc;
	(void)argv;
	if (store_worker(repo, &w, &err))
		return failed();
	puts(w);
	free(w);
	return 0;
}

static int do_finish(int argc, char **argv)
{
	struct search *s;
	int ret = want(argc, argv, 3, "<slug> done|reopen|ask [<why>]");

	if (ret)
		return ret;
	if (store_open(repo, argv[1], &s, &err))
		return failed();
	if (!strcmp(argv[2], "ask")) {
		char *why;

		ret = store_finished(s, &why, &err);
		if (!ret)
			puts(why ? why : "(unfinished)");
		free(why);
	} else if (!strcmp(argv[2], "done")) {
		ret = store_finish(s, argc > 3 ? argv[3] : NULL, &err);
	} else {
		ret = store_reopen(s, argc > 3 ? argv[3] : NULL, &err);
	}
	store_close(s);
	return ret ? failed() : 0;
}

/* ---- attempts ---- */

static void fill_record(struct record *r, uint32_t step)
{
	static const enum verdict cycle[] = {
		V_FASTER, V_WRONG, V_BUILD_FAIL, V_SLOWER, V_SAME, V_CRASH,
	};

	record_init(r);
	r->verdict = cycle[step % ARRAY_SIZE(cycle)];
	r->device = xstrdup("dev-avx2-t1");
	r->host = xstrdup("test-host");
	r->sandbox = xstrdup("full");
	r->compiler = xstrdup("gcc 12.2.0");
	r->flags = xstrdup("-O3 -march=native");
	r->attempt_s = 0.25;
	if (verdict_is_timed(r->verdict)) {
		r->compiled = r->correct = true;
		r->lr = log(1.0 + step / 100.0);
		r->est_speedup = 1.0 + step / 300.0;
		r->time_ns = 1e6 / r->est_speedup;
		r->launches = 4;
		buf_addf(&r->samples, "{\"lr\":[%.9g]}\n", r->lr);
	} else {
		r->compiled = r->verdict != V_BUILD_FAIL;
		r->error = xasprintf("attempt %u failed\nin two lines", step);
	}
}

static void fill_source(struct srcset *s, const struct srcset *root,
			uint32_t step)
{
	char *text = xasprintf("/* step %u */\n", step);

	srcset_copy(s, root);
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].writable)
			buf_add(&s->v[i].text, text, strlen(text));
	free(text);
}

struct drive {
	struct search *s;
	struct graph g;
	struct srcset root;
};

static int drive_open(struct drive *d, const char *slug)
{
	struct strv warn = STRV_INIT;
	struct kernel_file f = { NULL, 0, 0 };
	const struct kernel *k;
	int ret;

	memset(d, 0, sizeof(*d));
	ret = store_open(repo, slug, &d->s, &err);
	if (!ret)
		ret = store_load(d->s, "dev-avx2-t1", &d->g, &warn, &err);
	show_warnings(&warn);
	if (!ret)
		ret = read_kernel(d->s->spec.kernel, &f, &k);
	if (!ret)
		ret = store_source(repo, &d->s->spec.root, k, false, &d->root,
				   &err);
	kernel_file_release(&f);
	return ret;
}

static void drive_close(struct drive *d)
{
	graph_release(&d->g);
	srcset_release(&d->root);
	store_close(d->s);
}

/* Every fourth attempt is a spend line, every fifth stands on the root, every
 * seventh is a crossover with the root. */
static int append_batch(struct drive *d, uint32_t step, size_t nr,
			struct oid *last)
{
	struct store_attempt *a = xcalloc(nr, sizeof(*a));
	struct srcset *source = xcalloc(nr, sizeof(*source));
	struct record *rec = xcalloc(nr, sizeof(*rec));
	char (*recipe)[32] = xcalloc(nr, sizeof(*recipe));
	const struct oid *root = &d->s->spec.root;
	struct oid both[2] = { *last, *root };
	int ret;

	for (size_t i = 0; i < nr; i++) {
		uint32_t n = step + (uint32_t)i;

		fill_record(&rec[i], n);
		snprintf(recipe[i], sizeof(recipe[i]), "uj(n=%u) vw(256)", n);
		a[i] = (struct store_attempt){
			.op = "mutate", .proposer = "builtin",
			.strategy = "uj+vw", .recipe = recipe[i],
			.subject = "unroll and jam: \303\244 kernel",
			.step = n, .nr_parents = 1,
			.parent = n % 5 ? both : root,
			.plan = getenv("DRIVE_RAW") ? "a \033[2J plan\a\n\tx \200\n" :
				"# Plan\n\nUnroll.\n",
			.rec = &rec[i],
			.agents = getenv("DRIVE_RAW") ? "{\"stage\":\"\033\"}\n" :
				"{\"stage\":\"propose\"}\n",
		};
		if (n % 5 && n % 7 == 0 && !oid_eq(last, root)) {
			a[i].op = "crossover";
			a[i].nr_parents = 2;
		}
		if (n % 4 == 0) {
			rec[i].verdict = V_DUP;
			continue;
		}
		fill_source(&source[i], &d->root, n);
		a[i].source = &source[i];
	}
	ret = store_append(d->s, a, nr, &err);
	for (size_t i = 0; i < nr; i++) {
		if (!ret && a[i].source)
			*last = a[i].id;
		if (!ret)
			printf("ack %u %s\n", a[i].step, a[i].source ?
			       oid_text(&a[i].id).s : "-");
		srcset_release(&source[i]);
		record_release(&rec[i]);
	}
	fflush(stdout);
	free(a);
	free(source);
	free(rec);
	free(recipe);
	return ret;
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Goes on behind the last step, as a resumed search does. */
static int do_append(int argc, char **argv)
{
	struct drive d;
	struct oid last;
	uint32_t step, end;
	size_t batch;
	double start;
	int ret = want(argc, argv, 4, "<slug> <number> <batch>");

	if (ret)
		return ret;
	ret = drive_open(&d, argv[1]);
	step = graph_last_step(&d.g) + 1;
	end = step + (uint32_t)strtoul(argv[2], NULL, 10);
	batch = strtoul(argv[3], NULL, 10);
	if (!ret)
		last = d.g.node[d.g.nr - 1].id;
	start = now_s();
	while (!ret && step < end) {
		size_t nr = end - step < batch ? end - step : batch;

		ret = append_batch(&d, step, nr, &last);
		step += (uint32_t)nr;
	}
	if (getenv("DRIVE_TIME"))
		fprintf(stderr, "append: %.3f s\n", now_s() - start);
	drive_close(&d);
	return ret ? failed() : 0;
}

static int do_load(int argc, char **argv)
{
	struct search *s;
	struct graph g;
	struct strv warn = STRV_INIT;
	double start;
	int ret = want(argc, argv, 3, "<slug> <device>");

	if (ret)
		return ret;
	if (store_open(repo, argv[1], &s, &err))
		return failed();
	start = now_s();
	ret = store_load(s, argv[2], &g, &warn, &err);
	if (getenv("DRIVE_TIME"))
		fprintf(stderr, "load: %.3f s\n", now_s() - start);
	show_warnings(&warn);
	for (uint32_t i = 0; !ret && i < g.nr; i++) {
		const struct node *n = &g.node[i];

		printf("node %u %s %s %s parent %d depth %u origin %u %s%s%s "
		       "%.6g\n", n->step, oid_text(&n->id).s,
		       oid_text(&n->state).s, n->op, (int)n->parent[0],
		       n->depth, n->origin, verdict_name(n->rec.verdict),
		       n->pending ? " pending" : "",
		       n->claimed ? " claimed" : "", n->score);
	}
	for (uint32_t i = 0; !ret && i < g.nr_spend; i++)
		printf("spend %u %s\n", g.spend[i].step,
		       verdict_name(g.spend[i].verdict));
	if (!ret)
		printf("champion %u spent %.2f\n", g.champion, g.spent_s);
	graph_release(&g);
	store_close(s);
	return ret ? failed() : 0;
}

/* measure <slug> <node> <verdict> <speedup or -> [<device>] */
static int do_measure(int argc, char **argv)
{
	struct drive d;
	struct record r;
	struct oid node;
	uint32_t i;
	int ret = want(argc, argv, 5, "<slug> <node> <verdict> <speedup> "
		       "[<device>]");

	if (ret)
		return ret;
	ret = drive_open(&d, argv[1]);
	if (ret || !rev(argv[2], &node))
		return failed();
	i = graph_find(&d.g, &node);
	if (i == NODE_NONE) {
		fprintf(stderr, "fatal: no such node\n");
		return 128;
	}
	record_init(&r);
	r.verdict = (enum verdict)verdict_parse(argv[3]);
	if (strcmp(argv[4], "-")) {
		r.speedup = strtod(argv[4], NULL);
		r.ci_low = r.speedup * 0.98;
		r.ci_high = r.speedup * 1.02;
	}
	r.attempt_s = 1;
	r.device = xstrdup(argc > 5 ? argv[5] : "dev-avx2-t1");
	r.shape = xcalloc(1, sizeof(*r.shape));
	r.nr_shapes = 1;
	shape_result_init(&r.shape[0]);
	r.shape[0].shape = xstrdup("M=5 N=7");
	r.shape[0].speedup = r.speedup;
	buf_addstr(&r.samples, "{\"raw\":[1,2,3]}\nsecond line\n");
	ret = store_measure(d.s, &node, &d.g.node[i].state, &r, &err);
	record_release(&r);
	drive_close(&d);
	return ret ? failed() : 0;
}

static void print_record(const struct record *r)
{
	printf("%s speedup %.6g shapes %zu %s samples %zu error %s\n",
	       verdict_name(r->verdict), r->speedup, r->nr_shapes,
	       r->nr_shapes ? r->shape[0].shape : "-", r->samples.len,
	       r->error ? r->error : "-");
}

static int do_record(int argc, char **argv)
{
	struct search *s;
	struct record r, *all;
	struct oid node;
	size_t nr;
	int ret = want(argc, argv, 4, "<slug> <node> <device>|all");

	if (ret)
		return ret;
	if (store_open(repo, argv[1], &s, &err) || !rev(argv[2], &node))
		return failed();
	if (!strcmp(argv[3], "all")) {
		ret = store_records(s, &node, &all, &nr, &err);
		for (size_t i = 0; i < nr; i++) {
			print_record(&all[i]);
			record_release(&all[i]);
		}
		free(all);
	} else {
		ret = store_record(s, &node, argv[3], &r, &err);
		if (!ret)
			print_record(&r);
		record_release(&r);
	}
	store_close(s);
	return ret ? failed() : 0;
}

static int do_judged(int argc, char **argv)
{
	struct search *s;
	struct record r;
	struct oid state;
	int ret = want(argc, argv, 4, "<slug> <state> <device>");

	if (ret)
		return ret;
	if (store_open(repo, argv[1], &s, &err) || !oid_parse(&state, argv[2]))
		return failed();
	record_init(&r);
	ret = store_judged(s, &state, argv[3], &r, &err);
	if (ret == 1)
		print_record(&r);
	record_release(&r);
	store_close(s);
	return ret < 0 ? failed() : ret == 1 ? 0 : 1;
}

static int do_plan(int argc, char **argv)
{
	struct search *s;
	struct buf b = BUF_INIT;
	struct oid node;
	int ret = want(argc, argv, 3, "<slug> <node>");

	if (ret)
		return ret;
	if (store_open(repo, argv[1], &s, &err) || !rev(argv[2], &node))
		return failed();
	ret = store_plan(s, &node, &b, &err);
	fputs(b.ptr, stdout);
	buf_release(&b);
	store_close(s);
	return ret ? failed() : 0;
}

/* ---- landing ---- */

static int do_land(int argc, char **argv)
{
	struct search *s;
	struct oid node;
	int ret = want(argc, argv, 5, "<slug> <what> <node> <message>");

	if (ret)
		return ret;
	if (store_open(repo, argv[1], &s, &err) || !rev(argv[3], &node))
		return failed();
	ret = store_land(s, argv[2], &node, argv[4], &err);
	store_close(s);
	return ret ? failed() : 0;
}

static int do_trim(int argc, char **argv)
{
	struct search *s;
	int ret = want(argc, argv, 4, "<slug> <device> <keep>");

	if (ret)
		return ret;
	if (store_open(repo, argv[1], &s, &err))
		return failed();
	ret = store_land_trim(s, argv[2], (int)strtol(argv[3], NULL, 10),
			      &err);
	store_close(s);
	return ret ? failed() : 0;
}

static int do_resolve(int argc, char **argv)
{
	struct oid node;
	char *slug;
	int ret = want(argc, argv, 2, "<rev>");

	if (ret)
		return ret;
	ret = store_resolve(repo, argv[1], &node, &slug, &err);
	if (ret == ERR_NOTFOUND) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	if (ret)
		return failed();
	printf("%s %s\n", oid_text(&node).s, slug);
	free(slug);
	return 0;
}

/* ---- sources ---- */

/* source <kernel> <rev>|worktree [aux] */
static int do_source(int argc, char **argv)
{
	struct kernel_file f = { NULL, 0, 0 };
	const struct kernel *k;
	struct srcset s = SRCSET_INIT;
	struct oid id;
	bool aux = argc > 3;
	int ret = want(argc, argv, 3, "<kernel> <rev>|worktree [aux]");

	if (ret)
		return ret;
	ret = read_kernel(argv[1], &f, &k);
	if (!ret && !strcmp(argv[2], "worktree"))
		ret = store_source_worktree(repo, NULL, k, aux, &s, &err);
	else if (!ret && !rev(argv[2], &id))
		ret = err.code;
	else if (!ret)
		ret = store_source(repo, &id, k, aux, &s, &err);
	for (size_t i = 0; !ret && i < s.nr; i++)
		printf("%s %zu %s\n", s.v[i].path, s.v[i].text.len,
		       s.v[i].writable ? "file" : "use");
	if (!ret) {
		srcset_state(&s, &id);
		printf("state %s\n", oid_text(&id).s);
	}
	srcset_release(&s);
	kernel_file_release(&f);
	return ret ? failed() : 0;
}

static int do_worktree(int argc, char **argv)
{
	struct kernel_file f = { NULL, 0, 0 };
	const struct kernel *k;
	struct oid base, root;
	int ret = want(argc, argv, 2, "<kernel>");

	if (ret)
		return ret;
	ret = read_kernel(argv[1], &f, &k);
	if (!ret)
		ret = repo_head(repo, &base, &err);
	if (!ret)
		ret = store_worktree_root(repo, &base, k, &root, &err);
	if (!ret)
		puts(oid_text(&root).s);
	kernel_file_release(&f);
	return ret ? failed() : 0;
}

/* ---- notes and refs ---- */

/* One line of a batch: put|append|remove <commit> <text> */
static int note_line(struct notes_batch *b, char *line)
{
	char *id = strchr(line, ' '), *text = id ? strchr(id + 1, ' ') : NULL;
	struct oid on;

	line[strcspn(line, "\n")] = '\0';
	if (!text || !oid_parse(&on, id + 1))
		return err_set(&err, ERR_FORMAT, "bad line '%s'", line);
	if (*line == 'r') {
		notes_remove(b, &on);
		return 0;
	}
	return *line == 'p' ? notes_put(b, &on, text + 1, strlen(text + 1),
					&err) :
		notes_append(b, &on, text + 1, &err);
}

static int notes_once(const char *ref, struct strv *lines)
{
	struct notes_batch *b;
	int ret = notes_begin(repo, ref, &b, &err);

	for (size_t i = 0; !ret && i < lines->nr; i++) {
		char *copy = xstrdup(lines->v[i]);

		ret = note_line(b, copy);
		free(copy);
	}
	if (!ret)
		ret = notes_write(b, &err);
	if (!ret)
		ret = repo_sync(repo, &err);
	if (!ret)
		ret = notes_move(b, &err);
	notes_free(b);
	return ret;
}

/* The batch is on stdin; a lost race begins again. */
static int do_write_notes(int argc, char **argv)
{
	struct strv lines = STRV_INIT;
	char *line = NULL;
	size_t cap = 0;
	int ret = want(argc, argv, 2, "<ref>");

	if (ret)
		return ret;
	while (getline(&line, &cap, stdin) > 0)
		strv_push(&lines, line);
	free(line);
	do {
		ret = notes_once(argv[1], &lines);
	} while (ret == ERR_RACE);
	strv_release(&lines);
	return ret ? failed() : 0;
}

static int do_read_notes(int argc, char **argv)
{
	struct notes n;
	int ret = want(argc, argv, 2, "<ref>");

	if (ret)
		return ret;
	if (notes_read(repo, argv[1], &n, &err))
		return failed();
	for (size_t i = 0; i < n.nr; i++)
		printf("%s %s\n", oid_text(&n.v[i].on).s,
		       oid_text(&n.v[i].blob).s);
	notes_release(&n);
	return 0;
}

static int do_cas(int argc, char **argv)
{
	struct oid old, new;
	bool absent;
	int ret = want(argc, argv, 4, "<ref> <old>|- <new>");

	if (ret)
		return ret;
	absent = !strcmp(argv[2], "-");
	if (!oid_parse(&new, argv[3]) || (!absent && !oid_parse(&old,
								argv[2])))
		return 129;
	if (repo_lock(repo, &err))
		return failed();
	ret = repo_ref_cas(repo, argv[1], absent ? NULL : &old, &new, "test",
			   &err);
	repo_unlock(repo);
	if (ret == ERR_RACE) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	return ret ? failed() : 0;
}

static int do_info(int argc, char **argv)
{
	struct buf name = BUF_INIT, mail = BUF_INIT;
	struct oid head;
	int ret;

	(void)argc;
	(void)argv;
	printf("gitdir %s\n", repo_gitdir(repo));
	printf("workdir %s\n", repo_workdir(repo) ? repo_workdir(repo) :
	       "(bare)");
	if (repo_head(repo, &head, &err) == 0)
		printf("head %s\n", oid_text(&head).s);
	else
		printf("head: %s\n", err.msg);
	printf("branch %s\n", repo_head_branch(repo, &name) ? name.ptr :
	       "(detached)");
	ret = repo_identity(repo, &name, &mail, &err);
	if (!ret)
		printf("identity %s <%s>\n", name.ptr, mail.ptr);
	buf_release(&name);
	buf_release(&mail);
	return ret ? failed() : 0;
}

static int do_config(int argc, char **argv)
{
	struct buf b = BUF_INIT;
	int ret = want(argc, argv, 3, "<key> <value>");

	if (ret)
		return ret;
	ret = repo_config_add(repo, argv[1], argv[2], &err);
	if (!ret && !(repo_config_has_value(repo, argv[1], argv[2]) &&
		      repo_config_str(repo, argv[1], &b)))
		ret = err_set(&err, ERR_GIT, "it is not there");
	buf_release(&b);
	return ret ? failed() : 0;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int (*run)(int, char **); }
	cmds[] = {
		{ "create", do_create }, { "list", do_list },
		{ "worker", do_worker }, { "finish", do_finish },
		{ "append", do_append }, { "load", do_load },
		{ "measure", do_measure }, { "record", do_record },
		{ "judged", do_judged }, { "plan", do_plan },
		{ "land", do_land }, { "trim", do_trim },
		{ "resolve", do_resolve }, { "source", do_source },
		{ "worktree", do_worktree },
		{ "write-notes", do_write_notes },
		{ "read-notes", do_read_notes }, { "cas", do_cas },
		{ "info", do_info }, { "config", do_config },
	};
	int ret = 129;

	if (repo_open(&repo, ".", &err))
		return failed();
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(cmds); i++)
		if (!strcmp(cmds[i].name, argv[1]))
			ret = cmds[i].run(argc - 1, argv + 1);
	repo_close(repo);
	return ret;
}
