/* needs: tests/fuzz/fake_repo.c core/incoming*.c core/repo_trailer.c
	core/metrics*.c core/usage.c core/json.c core/record.c core/source.c core/sha1.c
	core/store_spec.c core/oidset.c core/dtype.c core/expr.c core/ini.c
	core/kernel*.c core/prune_names.c */
/*
 * Objects (fake_repo.h) behind a root and a spec; the last commit is a new tip
 * of an anchor chain, or a lease.  What passes is looked at once more, in a
 * plain way: from the tip only anchors and nodes lead to a root, and a node
 * has all of its root but the kernel's files.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/incoming_parts.h"
#include "core/mem.h"
#include "tests/fuzz/fake_repo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SLUG "k-aaaaaa"
#define WORKER "w-0000"

/* 0 1: files; 2: the root's tree; 3: the root; 4 5 6: the spec */
static const char before[] =
	"Bint k;\n"
	"Bread me\n"
	"T\nef0k.c\nef1README\n"
	"C2\nmfirst\n"
	"B{\"v\":1,\"slug\":\"" SLUG "\",\"kernel\":\"k\",\"policy\":\"greedy\","
	"\"width\":1,\"branches\":1,\"depth\":1,\"round\":1,\"keep\":0.5,"
	"\"seed\":\"1\",\"proposer\":\"builtin\",\"device\":\"d\","
	"\"base\":\"%3\",\"root\":\"%3\",\"attempts\":1,\"time_s\":1,\"time\":1,"
	"\"seeds\":\"\",\"section\":\"file = k*.c\\nentry = f\\n"
	"arg = in f32 x[4]\\narg = out f32 y[4]\\n\"}\n"
	"T\nef4spec\n"
	"C53\nmspec\n";

static void must(bool good)
{
	if (!good)
		abort();
}

static const struct tree_entry *entry(const struct fake *t, const char *name)
{
	for (size_t i = 0; t && i < t->tree.nr; i++)
		if (!strcmp(t->tree.v[i].name, name))
			return &t->tree.v[i];
	return NULL;
}

/* Every entry of a that is no kernel file at the top is in b. */
static void same_rest(const struct fake *a, const struct fake *b)
{
	for (size_t i = 0; a && i < a->tree.nr; i++) {
		const struct tree_entry *x = &a->tree.v[i], *y;

		if (glob_match("k*.c", x->name) && !S_ISDIR(x->mode)) {
			must(S_ISREG(x->mode));
			continue;
		}
		y = entry(b, x->name);
		must(y && y->mode == x->mode && oid_eq(&x->id, &y->id));
	}
}

struct plain {
	struct oid seen[FAKE_MAX];
	size_t nr;

};

/* The tree of some root below, which all roots of one tree have. */
static const struct fake *root_tree(const struct fake *c)
{
	for (int i = 0; c && i < FAKE_MAX; i++) {
		const struct fake *up = c->nr_parents ?
			fake_find(&c->parent[0]) : NULL;
		struct buf op = BUF_INIT;
		bool is_node = commit_trailer(c->text.ptr, "Maxkernel-Op",
					      &op);

		buf_release(&op);
		if (!is_node || !up)
			return fake_find(&c->of_tree);
		c = up;
	}
	return NULL;
}

static void look(struct plain *p, const struct oid *id)
{
	const struct fake *c = fake_find(id);
	struct buf b = BUF_INIT;
	struct oid root;

	fake_id(3, &root);
	for (size_t i = 0; i < p->nr; i++)
		if (oid_eq(&p->seen[i], id))
			return;
	p->seen[p->nr++] = *id;
	if (oid_eq(id, &root))
		return;
	must(c && c->kind == FAKE_COMMIT);
	if (!commit_trailer(c->text.ptr, "Maxkernel-Search", &b)) {
		buf_release(&b);	/* the root of a united search */
		must(oid_eq(&c->of_tree, &fake_find(&root)->of_tree));
		return;
	}
	if (strncmp(c->text.ptr, "maxkernel: anchor ", 18)) {
		const struct fake *from = root_tree(c);

		must(commit_trailer(c->text.ptr, "Maxkernel-Op", &b));
		must(c->nr_parents == 1 || c->nr_parents == 2);
		if (from) {
			same_rest(fake_find(&c->of_tree), from);
			same_rest(from, fake_find(&c->of_tree));
		}
	}
	buf_release(&b);
	for (size_t i = 0; i < c->nr_parents; i++)
		look(p, &c->parent[i]);
}

static void try_tip(struct incoming *in, const struct oid *tip)
{
	struct plain p = { .nr = 0 };
	struct err err = ERR_INIT;
	size_t nodes = 0;
	int ret = incoming_ref(in, "refs/maxkernel/" SLUG "/w/" WORKER,
			       &fakes.old, tip, &nodes, &err);

	must(ret == 0 || (err.msg[0] && !nodes));
	if (!ret && !fakes.nr_known && oid_is_zero(&fakes.old))
		look(&p, tip);
	ret = incoming_ref(in, "refs/maxkernel/" SLUG "/lease/a", &fakes.old,
			   tip, NULL, &err);
	if (!ret && !oid_eq(&fakes.old, tip))
		must(!fake_find(tip)->nr_parents);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct incoming *in;
	struct err err = ERR_INIT;
	struct oid spec, tip;

	fake_read(before, strlen(before));
	fake_id(6, &spec);
	fake_read((const char *)data, size);
	fake_id(fakes.nr - 1, &tip);
	must(in || incoming_begin(NULL, SLUG, &spec, &in, &err) == 0);
	if (fakes.v[fakes.nr - 1].kind == FAKE_COMMIT)
		try_tip(in, &tip);
	oidset_release(&in->passed);	/* new ids for the next one */
	oidset_release(&in->raws);
	fake_clear();
	return 0;
}
