#include "agents/agents.h"

#include <stdlib.h>
#include <string.h>

#include "agents/builtin/builtin.h"
#include "agents/scripted/scripted.h"

static const struct proposer *const all[] = {
	&proposer_builtin,
	NULL
};

static const struct proposer *const with_script[] = {
	&proposer_builtin,
	&proposer_scripted,
	NULL
};

const struct proposer *const *proposer_list(void)
{
	const char *script = getenv(SCRIPTED_VARIABLE);

	return script && *script ? with_script : all;
}

const struct proposer *proposer_find(const char *name)
{
	const struct proposer *const *list = proposer_list();

	for (int i = 0; list[i]; i++)
		if (!strcmp(list[i]->name, name))
			return list[i];
	return NULL;
}
