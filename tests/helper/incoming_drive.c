/* needs: core/oid.c core/dtype.c core/expr.c core/ini.c core/kernel*.c
 * core/record.c core/source.c core/sha1.c core/oidset.c core/repo*.c core/git.c
 * core/notes*.c core/json.c core/metrics*.c core/usage.c core/lesson.c core/prior.c core/graph.c core/store*.c
 * core/incoming*.c core/prune_names.c
 *
 * Asks the rules for what comes from others, for the shell tests:
 *
 *	incoming_drive <slug> [<ref> <old>|- <new>]...
 *
 * The spec is what refs/maxkernel/<slug>/spec names, or SPEC=<commit>.  For
 * each ref "<ref>: <n> new nodes" on stdout, or the reason on stderr; exit
 * status 1 if one was refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/incoming.h"
#include "core/mem.h"

static struct repo *repo;
static struct err err;

static int failed(void)
{
	fprintf(stderr, "fatal: %s\n", err.msg);
	return 128;
}

static int find_spec(const char *slug, struct oid *out)
{
	char *ref = xasprintf("refs/maxkernel/%s/spec", slug);
	const char *given = getenv("SPEC");
	int ret = 0;

	if (!given)
		ret = repo_ref_read(repo, ref, out, &err);
	else if (!oid_parse(out, given))
		ret = repo_rev(repo, given, out, &err);
	free(ref);
	return ret;
}

static int id(const char *text, struct oid *out)
{
	memset(out, 0, sizeof(*out));
	if (!strcmp(text, "-") ||
	    (strlen(text) == OID_HEX && oid_parse(out, text)))
		return 0;
	return repo_rev(repo, text, out, &err);
}

static int ask(struct incoming *in, char **arg)
{
	struct oid old, new;
	size_t nodes;
	int ret;

	if (id(arg[1], &old) < 0 || id(arg[2], &new) < 0)
		return failed();
	ret = incoming_ref(in, arg[0], &old, &new, &nodes, &err);
	if (!ret) {
		printf("%s: %zu new nodes\n", arg[0], nodes);
		return 0;
	}
	fprintf(stderr, "%s: %s\n", arg[0], err.msg);
	return ret == ERR_FORMAT || ret == ERR_LIMIT ? 1 : 128;
}

int main(int argc, char **argv)
{
	struct incoming *in;
	struct oid spec;
	int ret = 0;

	if (argc < 2 || (argc - 2) % 3)
		return 129;
	if (repo_open(&repo, ".", &err) || find_spec(argv[1], &spec))
		return failed();
	if (incoming_begin(repo, argv[1], &spec, &in, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		ret = 1;
	}
	for (int i = 2; in && i < argc; i += 3) {
		int one = ask(in, argv + i);

		ret = one > ret ? one : ret;
	}
	incoming_end(in);
	repo_close(repo);
	return ret;
}
