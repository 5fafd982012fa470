/* git maxkernel version: what is running. */
#include <stdio.h>

#include "cmd/opt.h"
#include "cmd/out.h"

#define STRING(x) #x
#define TEXT(x) STRING(x)

static const char *const usage[] = {
	"git maxkernel version [--json]",
	NULL
};

static const char compiler[] =
#if defined(__clang__)
	"clang " TEXT(__clang_major__) "." TEXT(__clang_minor__);
#elif defined(__GNUC__)
	"gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__);
#else
	"unknown";
#endif

static int version_run(struct session *s, int argc, char **argv,
		       struct err *err)
{
	bool json = false;
	const struct opt opts[] = {
		OPT_BOOL(0, "json", &json, "print one JSON object"),
		OPT_END
	};
	struct jout j;
	int status;

	(void)s;
	argc = opt_parse(&cmd_version, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 0, err);
	if (status)
		return status;
	if (!json) {
		printf("git-maxkernel version %s\n", VERSION);
		printf("built with %s, libgit2 %s\n", compiler,
		       repo_libgit2());
		return EXIT_DONE;
	}
	jout_begin(&j);
	jout_str(&j, "version", VERSION);
	jout_str(&j, "compiler", compiler);
	jout_str(&j, "libgit2", repo_libgit2());
	jout_end(&j, stdout);
	return EXIT_DONE;
}

const struct cmd cmd_version = {
	.name = "version",
	.group = "help",
	.summary = "print the version",
	.usage = usage,
	.run = version_run,
};
