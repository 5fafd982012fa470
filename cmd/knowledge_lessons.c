/* git maxkernel knowledge learn, lessons, forget: what searches taught. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/knowledge.h"
#include "cmd/node.h"
#include "cmd/out.h"
#include "core/lesson.h"
#include "core/mem.h"

#define SHORTEST_ID 4

static int need_repo(const struct ask *a, struct err *err)
{
	return a->repo ? 0 : err_set(err, ERR_GIT, "not in a Git repository: "
				     "lessons are those of its searches");
}

/* ---- printing ---- */

static void json_lesson(const struct lesson *l, const struct spec *spec)
{
	struct jout j;

	jout_begin(&j);
	jout_str(&j, "lesson", *l->id ? l->id : NULL);
	jout_str(&j, "kind", lesson_kind_name(l->kind));
	jout_str(&j, "strategy", l->gene);
	jout_str(&j, "target", l->target);
	jout_str(&j, "shape", strcmp(l->shape, "-") ? l->shape : NULL);
	jout_str(&j, "device", l->device);
	jout_int(&j, "tried", l->tried);
	jout_int(&j, "failed", l->failed);
	jout_int(&j, "won", l->won);
	jout_num(&j, "vs_parent", l->ratio);
	jout_str(&j, "verdict", l->kind == LESSON_FAILED ?
		 verdict_name(l->verdict) : NULL);
	jout_str(&j, "node", l->node);
	jout_str(&j, "kernel", spec->kernel);
	jout_str(&j, "search", spec->slug);
	if (l->worker) {
		jout_str(&j, "worker", l->worker);
		jout_bool(&j, "claimed", l->claimed);
	}
	jout_end(&j, stdout);
}

static void row(struct table *t, const struct lesson *l,
		const struct spec *spec)
{
	struct buf b = BUF_INIT;

	table_cell(t, "%s", lesson_kind_name(l->kind));
	table_tint(t, l->kind == LESSON_HELPED ? COL_GOOD : COL_BAD);
	table_cell(t, "%s", l->gene);
	if (l->kind == LESSON_FAILED)
		buf_addstr(&b, verdict_name(l->verdict));
	else
		fmt_ratio(&b, l->ratio);
	table_cell(t, "%s", b.ptr);
	table_cell(t, "%u of %u", l->kind == LESSON_FAILED ? l->failed : l->won,
		   l->tried);
	table_cell(t, "%s", strcmp(l->shape, "-") ? l->shape : "");
	table_cell(t, "%s", l->node);
	table_tint(t, COL_NODE);
	table_cell(t, "%s", spec->slug);
	table_cell(t, "%s", l->id);
	table_cell(t, "%s", l->claimed ? l->worker : "");
	buf_release(&b);
}

static void print_lessons(const struct ask *a, const struct lessons *l,
			  const struct spec *spec, struct table *t)
{
	for (size_t i = 0; i < l->nr; i++) {
		if (a->json)
			json_lesson(&l->v[i], spec);
		else
			row(t, &l->v[i], spec);
	}
}

static void table_open(struct table *t)
{
	static const char *const head[] = {
		"lesson", "strategy", "ratio", "tries", "shape", "node",
		"search", "id", "of"
	};

	table_init(t, ARRAY_SIZE(head), 1u << 2);
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(t, "%s", head[i]);
}

static void table_close(const struct ask *a, struct table *t, size_t nr)
{
	if (nr && !a->json)
		table_print(t, stdout);
	table_release(t);
}

/* ---- learn ---- */

int knowledge_learn(struct ask *a, int argc, char **argv, struct err *err)
{
	struct lessons new = LESSONS_INIT;
	struct table t;
	struct view v;
	int ret = need_repo(a, err);

	if (!ret)
		ret = node_search(a->repo, argc ? argv[0] : NULL, &v, err);
	if (ret)
		return cmd_status_of(err);
	if (!v.kernel)
		ret = err_set(err, ERR_FORMAT, "the section of search %s "
			      "cannot be read", v.search->spec.slug);
	if (!ret)
		ret = store_claim(v.search, err);
	if (!ret)
		ret = lessons_learn(v.search, &v.graph, v.kernel->target, &new,
				    err);
	if (!ret) {
		table_open(&t);
		print_lessons(a, &new, &v.search->spec, &t);
		table_close(a, &t, new.nr);
		if (!new.nr)
			say("search %s teaches nothing that is not known yet",
			    v.search->spec.slug);
	}
	lessons_release(&new);
	view_close(&v);
	return ret ? cmd_status_of(err) : EXIT_DONE;
}

/* ---- lessons ---- */

static int read_one(struct ask *a, const char *slug, struct search **s,
		    struct lessons *l, struct err *err)
{
	struct strv left_out = STRV_INIT;
	int ret = store_open(a->repo, slug, s, err);

	if (!ret) {
		ret = lessons_read(*s, l, &left_out, err);
		if (ret)
			store_close(*s);
	}
	for (size_t i = 0; i < left_out.nr; i++)
		warn("%s", left_out.v[i]);
	strv_release(&left_out);
	return ret;
}

static int list_one(struct ask *a, const char *slug, struct table *t,
		    size_t *nr, struct err *err)
{
	struct lessons l = LESSONS_INIT;
	struct search *s = NULL;
	int ret = read_one(a, slug, &s, &l, err);

	if (!ret) {
		print_lessons(a, &l, &s->spec, t);
		*nr += l.nr;
		store_close(s);
	}
	lessons_release(&l);
	return ret;
}

int knowledge_lessons(struct ask *a, int argc, char **argv, struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	char *slug = NULL;
	struct table t;
	size_t nr = 0;
	int ret = need_repo(a, err);

	if (!ret && argc)
		ret = node_slug(a->repo, argv[0], &slug, err);
	if (!ret)
		ret = node_searches(a->repo, &list, err);
	if (ret) {
		free(slug);
		return cmd_status_of(err);
	}
	table_open(&t);
	for (size_t i = 0; !ret && i < list.nr; i++)
		if (!slug || !strcmp(slug, list.v[i].slug))
			ret = list_one(a, list.v[i].slug, &t, &nr, err);
	table_close(a, &t, nr);
	spec_list_release(&list);
	free(slug);
	if (!ret && !nr)
		say("no lesson was learned yet: 'git maxkernel knowledge "
		    "learn' does that");
	return ret ? cmd_status_of(err) : nr ? EXIT_DONE : EXIT_NO;
}

/* ---- forget ---- */

struct found {
	char *slug;
	char id[13];
	int nr;
};

static int find_in(struct ask *a, const char *slug, const char *id,
		   struct found *f, struct err *err)
{
	struct lessons l = LESSONS_INIT;
	struct search *s = NULL;
	int ret = read_one(a, slug, &s, &l, err);

	for (size_t i = 0; !ret && i < l.nr; i++) {
		if (strncmp(l.v[i].id, id, strlen(id)) != 0)
			continue;
		free(f->slug);
		f->slug = xstrdup(slug);
		memcpy(f->id, l.v[i].id, sizeof(f->id));
		f->nr++;
	}
	if (!ret)
		store_close(s);
	lessons_release(&l);
	return ret;
}

static int forget_one(struct ask *a, const struct spec_list *list,
		      const char *id, struct err *err)
{
	struct found f = { NULL, "", 0 };
	struct search *s = NULL;
	int ret = 0;

	for (size_t i = 0; !ret && i < list->nr; i++)
		ret = find_in(a, list->v[i].slug, id, &f, err);
	if (!ret && (f.nr > 1 || (f.nr && strlen(id) < SHORTEST_ID)))
		ret = err_set(err, ERR_USAGE, "'%s' may mean several lessons: "
			      "give more of the id", id);
	if (!ret && f.nr)
		ret = store_open(a->repo, f.slug, &s, err);
	if (!ret && f.nr)
		ret = store_claim(s, err);
	if (!ret && f.nr)
		ret = lesson_take_back(s, f.id, err);
	store_close(s);
	free(f.slug);
	return ret ? ret : f.nr;
}

int knowledge_forget(struct ask *a, int argc, char **argv, struct err *err)
{
	struct spec_list list = { NULL, 0, 0 };
	int ret = need_repo(a, err), status = EXIT_DONE;

	if (!ret)
		ret = node_searches(a->repo, &list, err);
	for (int i = 0; ret >= 0 && i < argc; i++) {
		ret = forget_one(a, &list, argv[i], err);
		if (ret == 0) {
			warn("there is no lesson '%s'; 'git maxkernel "
			     "knowledge lessons' shows all", argv[i]);
			status = EXIT_NO;
		}
	}
	spec_list_release(&list);
	return ret < 0 ? cmd_status_of(err) : status;
}
