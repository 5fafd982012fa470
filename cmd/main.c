/*
 * git maxkernel: finds the subcommand, opens the repository for it, prints
 * its error and checks that stdout could be written.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "core/mem.h"

static const struct cmd *const commands[] = {
	&cmd_init, &cmd_add, &cmd_audit, &cmd_doctor,
	&cmd_explore, &cmd_resume, &cmd_halt, &cmd_worker, &cmd_tune, &cmd_measure,
	&cmd_status, &cmd_log, &cmd_show, &cmd_graph, &cmd_frontier,
	&cmd_best, &cmd_diff, &cmd_cost,
	&cmd_pick, &cmd_merge, &cmd_prune, &cmd_verify,
	&cmd_hook,
	&cmd_push, &cmd_pull,
	&cmd_knowledge,
	&cmd_version,
};

static void print_commands(FILE *f)
{
	const char *group = "";

	fputs("usage: git maxkernel [-C <path>] <command> [<options>]\n", f);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(group, commands[i]->group) != 0) {
			group = commands[i]->group;
			fprintf(f, "\n%s\n", group);
		}
		fprintf(f, "   %-10s %s\n", commands[i]->name,
			commands[i]->summary);
	}
	fputs("\n'git maxkernel <command> -h' shows a command's options, "
	      "'git maxkernel --help' the page.\n", f);
}

static const struct cmd *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* Edits between two words, a swap of neighbours counting as one. */
static size_t distance(const char *a, const char *b)
{
	size_t d[3][32] = { { 0 } }, n = strlen(a), m = strlen(b);

	if (n > 30 || m > 30)
		return 31;
	for (size_t k = 0; k <= m; k++)
		d[0][k] = k;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = d[i % 3], *last = d[(i + 2) % 3];
		const size_t *older = d[(i + 1) % 3];

		now[0] = i;
		for (size_t k = 1; k <= m; k++) {
			size_t best = last[k - 1] + (a[i - 1] != b[k - 1]);

			if (last[k] + 1 < best)
				best = last[k] + 1;
			if (now[k - 1] + 1 < best)
				best = now[k - 1] + 1;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
			    a[i - 2] == b[k - 1] && older[k - 2] + 1 < best)
				best = older[k - 2] + 1;
			now[k] = best;
		}
	}
	return d[n % 3][m];
}

/* As git does it for its own. */
static void print_similar(const char *name)
{
	size_t best = strlen(name) < 4 ? 2 : 3, nr = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
			size_t d = distance(name, commands[i]->name);

			if (!pass && d < best)
				best = d;
			if (!pass || d != best || best > 2)
				continue;
			if (!nr++)
				fputs("\ndid you mean\n", stderr);
			fprintf(stderr, "\t%s\n", commands[i]->name);
		}
}

int cmd_status_of(const struct err *err)
{
	if (err->code == ERR_USAGE)
		return EXIT_USAGE;
	return err->code == ERR_STOPPED ? EXIT_INTERRUPTED : EXIT_FAILED;
}

/* "-h" anywhere: a command's help needs no repository. */
static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help") ||
		    !strcmp(argv[i], "--git-completion-helper"))
			return true;
	return false;
}

static int open_session(struct session *s, const struct cmd *cmd,
			struct err *err)
{
	struct buf value = BUF_INIT;
	int ret = repo_open(&s->repo, ".", err);

	if (ret)
		return ret;
	if ((cmd->needs & NEED_WORKTREE) && !repo_workdir(s->repo))
		return err_set(err, ERR_GIT,
			       "'%s' needs a work tree, and this repository is "
			       "bare: clone it and run it there", cmd->name);
	if (!repo_config_str(s->repo, "color.maxkernel", &value))
		repo_config_str(s->repo, "color.ui", &value);
	colour_setup(value.len ? value.ptr : NULL);
	buf_reset(&value);
	if (cmd->needs & PAGED) {
		repo_config_str(s->repo, "core.pager", &value);
		pager_start(value.len ? value.ptr : NULL);
	}
	buf_release(&value);
	return 0;
}

static int run(const struct cmd *cmd, int argc, char **argv)
{
	struct session s = { NULL, NULL };
	struct err err = ERR_INIT;
	int status = 0, ret = 0;

	if ((cmd->needs & (NEED_REPO | NEED_WORKTREE)) &&
	    !wants_help(argc, argv))
		ret = open_session(&s, cmd, &err);
	status = ret ? cmd_status_of(&err) : cmd->run(&s, argc, argv, &err);
	/* A call may have left a code of something that it coped with. */
	if (err.code && (status == EXIT_FAILED || status == EXIT_USAGE)) {
		struct buf clean = BUF_INIT;

		live("%s", "");
		buf_add_clean(&clean, err.msg, strlen(err.msg), true);
		fprintf(stderr, "%s: %s\n",
			err.code == ERR_USAGE ? "error" : "fatal", clean.ptr);
		buf_release(&clean);
		if (err.code == ERR_USAGE && opt_failed())
			opt_usage_last(stderr);
		else if (err.code == ERR_USAGE)
			fprintf(stderr, "see 'git maxkernel %s -h'\n",
				cmd->name);
	}
	repo_close(s.repo);
	return status;
}

/* stdio drops what an earlier write could not bring out, and its errno. */
static bool reader_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

/* A result that could not be written is a failure, not a success. */
static int close_stdout(int status)
{
	int bad = ferror(stdout);

	errno = 0;
	if (fflush(stdout) != 0 || bad) {
		if (errno == EPIPE || reader_gone()) {	/* as git ends behind `head` */
			pager_wait();
			signal(SIGPIPE, SIG_DFL);
			raise(SIGPIPE);
		}
		fprintf(stderr, "fatal: cannot write the output%s%s\n",
			errno ? ": " : "", errno ? strerror(errno) : "");
		status = EXIT_FAILED;
	}
	pager_wait();
	return status;
}

static void list_commands(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		puts(commands[i]->name);
}

int main(int argc, char **argv)
{
	const struct cmd *cmd;

	signal(SIGPIPE, SIG_IGN);
	while (argc > 1 && !strcmp(argv[1], "-C")) {
		if (argc == 2) {
			fputs("error: -C needs a directory\n", stderr);
			return EXIT_USAGE;
		}
		if (chdir(argv[2]) < 0) {
			fprintf(stderr, "fatal: cannot change to '%s': %s\n",
				argv[2], strerror(errno));
			return EXIT_FAILED;
		}
		argv += 2;
		argc -= 2;
	}
	if (argc < 2) {
		print_commands(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "help")) {
		print_commands(stdout);
		return close_stdout(argv[1][1] == 'h' ? EXIT_USAGE : EXIT_DONE);
	}
	if (!strcmp(argv[1], "--list-commands")) {
		list_commands();
		return close_stdout(EXIT_DONE);
	}
	cmd = find(!strcmp(argv[1], "--version") ? "version" : argv[1]);
	if (!cmd) {
		fprintf(stderr, "error: '%s' is not a git maxkernel command\n"
			"see 'git maxkernel -h'\n", argv[1]);
		print_similar(argv[1]);
		return EXIT_USAGE;
	}
	return close_stdout(run(cmd, argc - 1, argv + 1));
}
