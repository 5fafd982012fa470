#include "agents/agents.h"

#include <string.h>

#include "agents/builtin/builtin.h"

static const struct proposer *const all[] = {
	&proposer_builtin,
	NULL
};

const struct proposer *const *proposer_list(void)
{
	return all;
}

const struct proposer *proposer_find(const char *name)
{
	for (int i = 0; all[i]; i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}
