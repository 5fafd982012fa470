#include "core/proposer.h"

#include <stdlib.h>

void proposal_release(struct proposal *p)
{
	srcset_release(&p->source);
	free(p->recipe);
	free(p->strategy);
	free(p->subject);
	buf_release(&p->plan);
	p->recipe = p->strategy = p->subject = NULL;
	p->expect = 0;
}
