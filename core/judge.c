#include "core/judge.h"

#include <poll.h>
#include <stdlib.h>

#include "core/mem.h"

const char *judge_stage_name(enum judge_stage s)
{
	static const char *const names[] = {
		"open", "build", "check", "screen", "confirm"
	};

	return names[s];
}

void judge_info_copy(struct judge_info *to, const struct judge_info *from)
{
	*to = *from;
	to->device = xstrdup(from->device);
	to->device_text = xstrdup(from->device_text);
	to->host = xstrdup(from->host);
	to->sandbox = xstrdup(from->sandbox);
	to->oracle = xstrdup(from->oracle);
	to->compiler = xstrdup(from->compiler);
	to->best_flags = xstrdup(from->best_flags);
	to->shape = xcalloc(from->nr_shapes, sizeof(*to->shape));
	for (size_t i = 0; i < from->nr_shapes; i++) {
		to->shape[i] = from->shape[i];
		to->shape[i].shape = xstrdup(from->shape[i].shape);
	}
}

void judge_info_release(struct judge_info *i)
{
	free(i->device);
	free(i->device_text);
	free(i->host);
	free(i->sandbox);
	free(i->oracle);
	free(i->compiler);
	free(i->best_flags);
	for (size_t k = 0; k < i->nr_shapes; k++)
		free(i->shape[k].shape);
	free(i->shape);
	memset(i, 0, sizeof(*i));
}

int judge_open(struct judge **out, const struct judge_config *cfg,
	       struct err *err)
{
	const char *table = getenv("MAXKERNEL_JUDGE");

	if (table && *table)
		return judge_scripted_open(out, table, cfg, err);
	return judge_process_open(out, cfg, err);
}

void judge_close(struct judge *j)
{
	if (j)
		j->ops->close(j);
}

int judge_call(struct judge *j, const struct judge_request *req,
	       struct record *out, struct err *err)
{
	int ret = j->ops->start(j, req, err);

	while (ret == 0) {
		struct pollfd p = { .fd = j->ops->fd(j), .events = POLLIN };

		if (p.fd >= 0)
			poll(&p, 1, 1000);
		ret = j->ops->step(j, out, err);
	}
	return ret < 0 ? ret : 0;
}
