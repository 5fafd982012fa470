#include "core/paths.h"

#include <stdlib.h>

#include "core/mem.h"

static char *below(const char *variable, const char *prefix, const char *name)
{
	const char *dir = getenv(variable);

	return xasprintf("%s/%s", dir && *dir ? dir : prefix, name);
}

char *paths_exec(const char *name)
{
	return below("MAXKERNEL_EXEC_PATH", LIBEXECDIR, name);
}

char *paths_data(const char *name)
{
	return below("MAXKERNEL_DATA", DATADIR, name);
}
