/* git maxkernel knowledge: what is known of devices, targets and methods. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/knowledge.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "core/mem.h"

#define DEFAULT_HITS 5
#define MAX_HITS 1000

static const char *const usage[] = {
	"git maxkernel knowledge search [-n <count>] [--applies <word>] "
		"[--json] <word>...",
	"git maxkernel knowledge list [--applies <word>] [--json]",
	"git maxkernel knowledge show [--json] <id>...",
	"git maxkernel knowledge add [-q] <file>",
	"git maxkernel knowledge learn [--json] [-q] [<search>]",
	"git maxkernel knowledge lessons [--json] [<search>]",
	"git maxkernel knowledge forget <lesson>...",
	NULL
};

/* ---- printing ---- */

static void json_entry(struct jout *j, const struct entry *e, bool text)
{
	struct buf words = BUF_INIT;

	buf_addch(&words, '[');
	for (size_t i = 0; i < e->applies.nr; i++) {
		if (i)
			buf_addch(&words, ',');
		buf_add_json(&words, e->applies.v[i]);
	}
	buf_addch(&words, ']');
	jout_begin(j);
	jout_str(j, "id", e->id);
	jout_str(j, "kind", entry_kind_name(e->kind));
	jout_bool(j, "local", e->kind == ENTRY_LOCAL);
	jout_str(j, "title", e->title);
	jout_raw(j, "applies", words.ptr);
	jout_str(j, "source", e->source);
	jout_str(j, "since", e->since);
	if (text)
		jout_str(j, "text", e->text);
	buf_release(&words);
}

static void row(struct table *t, const struct entry *e)
{
	struct buf words = BUF_INIT;

	for (size_t i = 0; i < e->applies.nr; i++)
		buf_addf(&words, "%s%s", i ? " " : "", e->applies.v[i]);
	table_cell(t, "%s", e->id);
	table_tint(t, COL_NODE);
	table_cell(t, "%s", e->title);
	table_cell(t, "%s", words.ptr);
	table_tint(t, COL_DIM);
	buf_release(&words);
}

static void print_entry(const struct entry *e)
{
	printf("%s%s%s\n", colour(COL_BOLD), e->title, colour(COL_RESET));
	printf("%s  id: %s, %s, applies to:", colour(COL_DIM), e->id,
	       entry_kind_name(e->kind));
	for (size_t i = 0; i < e->applies.nr; i++)
		printf(" %s", e->applies.v[i]);
	fputs("\n  source: ", stdout);
	put_clean(stdout, e->source);
	printf(" (%s)\n", e->since);
	if (e->kind == ENTRY_LOCAL)
		puts("  local: written in this repository, not by git "
		     "maxkernel");
	printf("%s\n", colour(COL_RESET));
	put_clean_lines(stdout, "", e->text);
}

/* ---- the verbs ---- */

/* The words as one text; "-" alone: standard input. */
static int read_query(int argc, char **argv, struct buf *out, struct err *err)
{
	if (argc == 1 && !strcmp(argv[0], "-"))
		return buf_read_fd(out, STDIN_FILENO, 64 * KNOWLEDGE_MAX_QUERY,
				   err) ? err_wrap(err, "standard input") : 0;
	for (int i = 0; i < argc; i++)
		buf_addf(out, "%s%s", i ? " " : "", argv[i]);
	return 0;
}

static void print_hits(const struct ask *a, const struct hit *hit, size_t nr)
{
	struct table t;
	struct jout j;

	table_init(&t, 3, 0);
	for (size_t i = 0; i < nr; i++) {
		const struct entry *e = &a->k.v[hit[i].entry];

		if (!a->json) {
			row(&t, e);
			continue;
		}
		json_entry(&j, e, true);
		jout_num(&j, "score", hit[i].score);
		jout_end(&j, stdout);
	}
	table_print_rows(&t, stdout);
	table_release(&t);
}

static int search(struct ask *a, int argc, char **argv, struct err *err)
{
	struct hit *hit = xcalloc((size_t)a->max, sizeof(*hit));
	struct buf query = BUF_INIT;
	int ret = read_query(argc, argv, &query, err);

	if (!ret)
		ret = knowledge_search(&a->k, query.ptr, query.len,
				       &a->applies, hit, (size_t)a->max, err);
	if (ret > 0)
		print_hits(a, hit, (size_t)ret);
	else if (!ret)
		say("nothing is known of that; 'git maxkernel knowledge list' "
		    "shows all");
	buf_release(&query);
	free(hit);
	return ret < 0 ? cmd_status_of(err) : ret ? EXIT_DONE : EXIT_NO;
}

static int list(struct ask *a, int argc, char **argv, struct err *err)
{
	struct table t;
	struct jout j;
	size_t nr = 0;

	(void)argc;
	(void)argv;
	(void)err;
	table_init(&t, 3, 0);
	for (size_t i = 0; i < a->k.nr; i++) {
		const struct entry *e = &a->k.v[i];

		if (!entry_applies(e, &a->applies))
			continue;
		nr++;
		if (!a->json) {
			row(&t, e);
			continue;
		}
		json_entry(&j, e, false);
		jout_end(&j, stdout);
	}
	table_print_rows(&t, stdout);
	table_release(&t);
	return nr ? EXIT_DONE : EXIT_NO;
}

static int show(struct ask *a, int argc, char **argv, struct err *err)
{
	const struct entry *e;
	int status = EXIT_DONE;
	struct jout j;

	(void)err;
	for (int i = 0; i < argc; i++) {
		e = knowledge_find(&a->k, argv[i]);
		if (!e) {
			warn("there is no entry '%s'; 'git maxkernel knowledge "
			     "list' shows all", argv[i]);
			status = EXIT_NO;
		} else if (a->json) {
			json_entry(&j, e, true);
			jout_end(&j, stdout);
		} else {
			if (i)
				putchar('\n');
			print_entry(e);
		}
	}
	return status;
}

static int add(struct ask *a, int argc, char **argv, struct err *err)
{
	bool input = !strcmp(argv[0], "-");
	struct buf text = BUF_INIT;
	char *path = NULL;
	int ret;

	(void)argc;
	if (!a->repo)
		return err_set(err, ERR_GIT, "not in a Git repository: an "
			       "entry is added to the one that it is about"),
			cmd_status_of(err);
	ret = input ? buf_read_fd(&text, STDIN_FILENO, KNOWLEDGE_MAX_FILE,
				  err) :
		buf_read_file(&text, argv[0], KNOWLEDGE_MAX_FILE, err);
	if (!ret)
		ret = knowledge_add(a->repo, text.ptr, text.len, &path, err);
	if (!ret) {
		printf("%s\n", path);
		say("to share it: git add %s && git commit", path);
	} else if (ret == ERR_FORMAT) {
		err_wrap(err, "'%s'", input ? "standard input" : argv[0]);
	}
	free(path);
	buf_release(&text);
	return ret ? cmd_status_of(err) : EXIT_DONE;
}

static const struct verb {
	const char *name;
	int min, max;		/* operands */
	bool hits, applies, json;	/* options that it takes */
	bool loads;
	int (*run)(struct ask *a, int argc, char **argv, struct err *err);
} verbs[] = {
	{ "search", 1, 10000, true, true, true, true, search },
	{ "list", 0, 0, false, true, true, true, list },
	{ "show", 1, 10000, false, false, true, true, show },
	{ "add", 1, 1, false, false, false, false, add },
	{ "learn", 0, 1, false, false, true, false, knowledge_learn },
	{ "lessons", 0, 1, false, false, true, false, knowledge_lessons },
	{ "forget", 1, 1000, false, false, false, false, knowledge_forget },
};

static const struct verb *find_verb(const struct ask *a, int argc, char **argv,
				    struct err *err)
{
	const struct verb *v = NULL;

	for (size_t i = 0; argc && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, argv[0]))
			v = &verbs[i];
	if (!v)
		err_set(err, ERR_USAGE, argc ? "'%s' is neither search, list, "
			"show, add, learn, lessons nor forget" : "search, "
			"list, show, add, learn, lessons or forget%s?",
			argc ? argv[0] : "");
	else if ((a->max && !v->hits) || (a->applies.nr && !v->applies) ||
		 (a->json && !v->json))
		err_set(err, ERR_USAGE, "'%s' does not take %s", v->name,
			a->max && !v->hits ? "-n" :
			a->applies.nr && !v->applies ? "--applies" : "--json");
	else if (!opt_operands(argc - 1, v->min, v->max, err))
		return v;
	return NULL;
}

static int run_verb(const struct verb *v, struct ask *a, int argc, char **argv,
		    struct err *err)
{
	struct strv left_out = STRV_INIT;
	int ret = v->loads ? knowledge_load(&a->k, a->repo, &left_out, err) :
		0;

	for (size_t i = 0; i < left_out.nr; i++)
		warn("%s", left_out.v[i]);
	strv_release(&left_out);
	if (!a->max)
		a->max = DEFAULT_HITS;
	ret = ret ? cmd_status_of(err) : v->run(a, argc, argv, err);
	knowledge_release(&a->k);
	return ret;
}

static int knowledge_run(struct session *s, int argc, char **argv,
			 struct err *err)
{
	struct ask a = { .applies = STRV_INIT };
	const struct opt opts[] = {
		OPT_INT('n', "count", &a.max, 1, MAX_HITS, "<count>",
			"show at most <count> entries; default 5"),
		OPT_LIST(0, "applies", &a.applies, "<word>",
			 "only what holds for <word>, as c, avx512 or pallas; "
			 "repeatable"),
		OPT_BOOL(0, "json", &a.json, "print one JSON object an entry"),
		OPT_BOOL('q', "quiet", &out_quiet, "print results alone"),
		OPT_END
	};
	const struct verb *v;
	struct err unused = ERR_INIT;
	int status;

	(void)s;
	argc = opt_parse(&cmd_knowledge, opts, argc, argv, &status, err);
	if (argc < 0) {
		strv_release(&a.applies);
		return status;
	}
	v = find_verb(&a, argc, argv, err);
	/* a repository is welcome, not needed */
	if (v && repo_open(&a.repo, ".", &unused))
		a.repo = NULL;
	status = v ? run_verb(v, &a, argc - 1, argv + 1, err) : EXIT_USAGE;
	repo_close(a.repo);
	strv_release(&a.applies);
	return status;
}

const struct cmd cmd_knowledge = {
	.name = "knowledge",
	.group = "know",
	.summary = "look up what is known of devices, targets and methods",
	.usage = usage,
	.run = knowledge_run,
};
