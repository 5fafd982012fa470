#include "core/proposer.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SETTINGS 1e18

void proposal_init(struct proposal *p)
{
	memset(p, 0, sizeof(*p));
	buf_init(&p->plan);
}

void proposal_release(struct proposal *p)
{
	srcset_release(&p->source);
	free(p->recipe);
	free(p->strategy);
	free(p->subject);
	buf_release(&p->plan);
	proposal_init(p);
}

void space_release(struct space *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->v[i].name);
		strv_release(&s->v[i].values);
	}
	free(s->v);
	*s = (struct space)SPACE_INIT;
}

double space_size(const struct space *s)
{
	double size = 1;

	for (size_t i = 0; i < s->nr; i++) {
		size *= (double)s->v[i].values.nr + !s->v[i].needed;
		if (size > MOST_SETTINGS)
			return MOST_SETTINGS;
	}
	return size;
}
