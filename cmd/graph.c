/* git maxkernel graph: the tree of a search, as text, dot or JSON. */
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/claim.h"
#include "cmd/node.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "core/mem.h"

static const char *const usage[] = {
	"git maxkernel graph [--dot | --json] [<kernel>|<search>]",
	NULL
};

/* ---- text ---- */

struct branches {
	const char *tee, *corner, *bar, *blank;
};
static const struct branches unicode = { "├─ ", "└─ ", "│  ", "   " };
static const struct branches ascii = { "|- ", "`- ", "|  ", "   " };

/* First child and next sibling by first parents, in order of the nodes. */
struct children {
	uint32_t *first, *next;
};

static void children_init(struct children *c, const struct graph *g)
{
	uint32_t i, p;

	c->first = xcalloc((size_t)g->nr + 1, sizeof(*c->first));
	c->next = xcalloc((size_t)g->nr + 1, sizeof(*c->next));
	for (i = 0; i < g->nr; i++)
		c->first[i] = c->next[i] = NODE_NONE;
	for (i = g->nr; i-- > 1;) {
		/* an orphan hangs on the root */
		p = g->node[i].parent[0];
		if (p == NODE_NONE || p == i)
			p = 0;
		c->next[i] = c->first[p];
		c->first[p] = i;
	}
}

static void children_release(struct children *c)
{
	free(c->first);
	free(c->next);
}

static void print_node(const struct view *v, uint32_t i)
{
	const struct node *n = &v->graph.node[i];
	struct buf b = BUF_INIT;

	printf("%s%s%s", colour(COL_NODE), node_short(v, i).s,
	       colour(COL_RESET));
	printf(" %s%s%s", colour(i ? verdict_colour(n->pending ? V_NONE :
						    n->rec.verdict) : COL_DIM),
	       node_verdict(v, i), colour(COL_RESET));
	if (i)
		node_speedup(&b, n);
	if (b.len && strcmp(b.ptr, "-"))
		printf(" %s", b.ptr);
	buf_reset(&b);
	claim_text(&b, n, NULL);
	if (i && b.len)
		printf(" (%s)", b.ptr);
	if (i && i == v->graph.champion)
		printf(" %s*%s", colour(COL_GOOD), colour(COL_RESET));
	if (n->parent[1] != NODE_NONE)
		printf(" (+ %s)", node_short(v, n->parent[1]).s);
	if (n->subject) {
		putchar(' ');
		put_clean(stdout, n->subject);
	}
	putchar('\n');
	buf_release(&b);
}

/* Depth first without recursion: a lineage may be as long as the search.
 * prefix holds the bars of the levels above; len[d] is its length at d. */
static void print_tree(const struct view *v, const struct branches *br)
{
	const struct graph *g = &v->graph;
	struct buf prefix = BUF_INIT;
	struct children c;
	uint32_t *stack;
	size_t *len, depth = 0;

	children_init(&c, g);
	stack = xcalloc((size_t)g->nr + 1, sizeof(*stack));
	len = xcalloc((size_t)g->nr + 1, sizeof(*len));
	print_node(v, 0);
	stack[0] = c.first[0];
	for (;;) {
		uint32_t i = stack[depth];

		if (i == NODE_NONE) {
			if (!depth)
				break;
			depth--;
			continue;
		}
		stack[depth] = c.next[i];
		buf_splice(&prefix, len[depth], prefix.len - len[depth], "",
			   0);
		printf("%s%s", prefix.ptr,
		       c.next[i] == NODE_NONE ? br->corner : br->tee);
		print_node(v, i);
		buf_addstr(&prefix, c.next[i] == NODE_NONE ? br->blank :
			   br->bar);
		depth++;
		len[depth] = prefix.len;
		stack[depth] = c.first[i];
	}
	free(len);
	free(stack);
	children_release(&c);
	buf_release(&prefix);
}

static bool locale_is_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* ---- dot ---- */

/* Inside a double-quoted dot string. */
static void put_dot(const char *s)
{
	struct buf b = BUF_INIT;

	buf_add_clean(&b, s, strlen(s), false);
	for (size_t i = 0; i < b.len; i++) {
		if (b.ptr[i] == '"' || b.ptr[i] == '\\')
			putchar('\\');
		putchar(b.ptr[i]);
	}
	buf_release(&b);
}

static const char *dot_colour(const struct node *n)
{
	if (n->pending)
		return "gray60";
	switch (verdict_colour(n->rec.verdict)) {
	case COL_GOOD:
		return "darkgreen";
	case COL_BAD:
		return "firebrick";
	default:
		return "gray60";
	}
}

static void dot_node(const struct view *v, uint32_t i)
{
	const struct node *n = &v->graph.node[i];
	struct buf b = BUF_INIT;

	node_speedup(&b, n);
	printf("\t\"%s\" [label=\"%s\\n%s", oid_text(&n->id).s,
	       node_short(v, i).s, node_verdict(v, i));
	if (i && strcmp(b.ptr, "-"))
		printf(" %s", b.ptr);
	buf_reset(&b);
	claim_text(&b, n, NULL);
	if (i && b.len) {
		fputs("\\n", stdout);
		put_dot(b.ptr);
	}
	if (n->subject) {
		fputs("\\n", stdout);
		put_dot(n->subject);
	}
	printf("\", color=\"%s\"%s];\n", i ? dot_colour(n) : "black",
	       i && i == v->graph.champion ? ", penwidth=3" : "");
	for (int p = 0; p < 2; p++)
		if (n->parent[p] != NODE_NONE)
			printf("\t\"%s\" -> \"%s\"%s;\n",
			       oid_text(&v->graph.node[n->parent[p]].id).s,
			       oid_text(&n->id).s,
			       p ? " [style=dashed]" : "");
	buf_release(&b);
}

static void print_dot(const struct view *v)
{
	fputs("digraph \"", stdout);
	put_dot(v->search->spec.slug);
	puts("\" {\n\tnode [shape=box, fontname=\"monospace\"];");
	for (uint32_t i = 0; i < v->graph.nr; i++)
		dot_node(v, i);
	puts("}");
}

static void print_json(struct view *v)
{
	for (uint32_t i = 0; i < v->graph.nr; i++) {
		struct jout j;

		jout_begin(&j);
		node_json_full(&j, v, i);
		jout_end(&j, stdout);
	}
}

static int graph_run(struct session *s, int argc, char **argv,
		     struct err *err)
{
	bool dot = false, json = false;
	const struct opt opts[] = {
		OPT_BOOL(0, "dot", &dot, "print it for graphviz"),
		OPT_BOOL(0, "json", &json, "print one JSON object per node"),
		OPT_END
	};
	struct view v;
	int status;

	argc = opt_parse(&cmd_graph, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 1, err);
	if (status)
		return status;
	if (dot && json) {
		err_set(err, ERR_USAGE, "--dot and --json exclude each other");
		return EXIT_USAGE;
	}
	if (node_search(s->repo, argc ? argv[0] : NULL, &v, err))
		return cmd_status_of(err);
	if (dot)
		print_dot(&v);
	else if (json)
		print_json(&v);
	else
		print_tree(&v, locale_is_utf8() ? &unicode : &ascii);
	view_close(&v);
	return EXIT_DONE;
}

const struct cmd cmd_graph = {
	.name = "graph",
	.group = "look",
	.summary = "draw the tree of a search",
	.usage = usage,
	.needs = NEED_REPO | PAGED,
	.run = graph_run,
};
