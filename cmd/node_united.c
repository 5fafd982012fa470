/* Nodes of searches that only live on in others (core/merge.h). */
#include "cmd/node.h"

int node_united(struct repo *r, const struct oid *node, struct view *out,
		uint32_t *idx, struct err *err)
{
	struct err why = *err;
	struct spec_list list = { NULL, 0, 0 };
	int ret = node_searches(r, &list, err);
	bool found = false;

	for (size_t i = 0; i < list.nr && !ret && !found; i++) {
		ret = view_open(out, r, list.v[i].slug, err);
		if (ret)
			break;
		*idx = graph_find(&out->graph, node);
		found = *idx != NODE_NONE;
		if (!found)
			view_close(out);
	}
	spec_list_release(&list);
	if (ret || found)
		return ret;
	*err = why;
	return err->code;
}
