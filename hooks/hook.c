/* git maxkernel hook: puts hooks into a repository and is what they run. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/opt.h"
#include "cmd/out.h"
#include "core/mem.h"
#include "hooks/hook.h"

static const char *const usage[] = {
	"git maxkernel hook install [--server] [--force] [-q]",
	"git maxkernel hook remove [-q]",
	"git maxkernel hook run <name> [<arg>...]",
	NULL
};

static const struct hook *const hooks[] = { &hook_pre_push,
					    &hook_pre_receive };

/* ---- what git says ---- */

void hook_say(const char *fmt, ...)
{
	struct buf b = BUF_INIT, clean = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	buf_add_clean(&clean, b.ptr, b.len, true);
	fprintf(stderr, "maxkernel: %s\n", clean.ptr);
	buf_release(&b);
	buf_release(&clean);
}

/* The next word of a line, ended where it stops; NULL if there is none. */
static char *word(char **at)
{
	char *start = *at, *end;

	if (!start || !*start)
		return NULL;
	end = strchr(start, ' ');
	if (end)
		*end++ = '\0';
	*at = end;
	return *start ? start : NULL;
}

static bool id(const char *text, struct oid *out)
{
	return text && strlen(text) == OID_HEX && oid_parse(out, text);
}

static bool line_parse(char *text, bool push, struct hook_line *l)
{
	char *first = word(&text), *second = word(&text);
	char *third = word(&text), *fourth = push ? word(&text) : NULL;

	memset(l, 0, sizeof(*l));
	if (text || !third || (push ? !id(second, &l->new) ||
			       !id(fourth, &l->old) :
			       !id(first, &l->old) || !id(second, &l->new)))
		return false;
	l->local = push ? xstrdup(first) : NULL;
	l->ref = xstrdup(third);
	return true;
}

int hook_lines_parse(const struct buf *input, bool push,
		     struct hook_lines *out, struct err *err)
{
	const char *p = input->ptr, *end = p + input->len;

	memset(out, 0, sizeof(*out));
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);
		char *text = xstrndup(p, len);
		struct hook_line l;
		bool good = strlen(text) == len && line_parse(text, push, &l);

		free(text);
		if (!good) {
			hook_lines_release(out);
			return err_set(err, ERR_FORMAT, "git's input is not "
				       "what such a hook gets");
		}
		GROW(out->v, out->nr, out->cap);
		out->v[out->nr++] = l;
		p += len + 1;
	}
	return 0;
}

void hook_lines_release(struct hook_lines *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->v[i].local);
		free(l->v[i].ref);
	}
	free(l->v);
	memset(l, 0, sizeof(*l));
}

/* ---- the command ---- */

static int run_hook(int argc, char **argv, struct err *err)
{
	const struct hook *h = NULL;
	struct buf input = BUF_INIT;
	int ret;

	for (size_t i = 0; argc && i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(hooks[i]->name, argv[0]))
			h = hooks[i];
	if (!h)
		return err_set(err, ERR_USAGE, argc ? "'%s' is no hook of "
			       "ours; they are pre-push and pre-receive" :
			       "hook run takes the name of a hook: pre-push "
			       "or pre-receive%s", argc ? argv[0] : "");
	ret = buf_read_fd(&input, STDIN_FILENO, HOOK_MAX_INPUT, err);
	if (!ret)
		ret = h->run(&input, argc - 1, argv + 1, err);
	buf_release(&input);
	return ret < 0 ? err_wrap(err, "%s", h->name) : ret;
}

static int install(struct repo *r, bool server, bool force, struct err *err)
{
	const struct hook *h = server ? &hook_pre_receive : &hook_pre_push;

	if (server && repo_workdir(r) && !force)
		return err_set(err, ERR_USAGE, "this repository is not bare; "
			       "with --force it gets the hook all the same");
	if (!server && !repo_workdir(r))
		return err_set(err, ERR_USAGE, "this repository is bare: what "
			       "is pushed to it is checked with --server");
	return hook_install(r, h, force, err);
}

static int remove_all(struct repo *r, struct err *err)
{
	int found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		int ret = hook_remove(r, hooks[i], err);

		if (ret < 0)
			return ret;
		found += ret;
	}
	if (!found)
		say("there is no hook of git maxkernel here");
	return !found;
}

/* How many operands each takes. */
static int check_operands(int argc, char **argv, bool server, bool force,
			  struct err *err)
{
	const char *verb = argc ? argv[0] : "";

	if (strcmp(verb, "install") && strcmp(verb, "remove") &&
	    strcmp(verb, "run"))
		return err_set(err, ERR_USAGE, argc ? "'%s' is neither "
			       "install, remove nor run" : "install, remove or "
			       "run%s?", verb);
	if ((server || force) && strcmp(verb, "install"))
		return err_set(err, ERR_USAGE, "'%s' takes no --server and no "
			       "--force", verb);
	return strcmp(verb, "run") ? opt_operands(argc, 1, 1, err) : 0;
}

static int hook_run(struct session *s, int argc, char **argv, struct err *err)
{
	bool server = false, force = false;
	const struct opt opts[] = {
		OPT_BOOL(0, "server", &server,
			 "check what is pushed to this repository"),
		OPT_BOOL(0, "force", &force, "also into a repository that is "
			 "not bare, also in place of a kept hook"),
		OPT_BOOL('q', "quiet", &out_quiet, "say nothing of what is "
			 "done"),
		OPT_END
	};
	struct repo *r;
	int status, ret;

	(void)s;
	argc = opt_parse(&cmd_hook, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	ret = check_operands(argc, argv, server, force, err);
	if (ret)
		return ret > 0 ? ret : cmd_status_of(err);
	if (!strcmp(argv[0], "run")) {
		ret = run_hook(argc - 1, argv + 1, err);
		return ret < 0 ? cmd_status_of(err) : ret;
	}
	ret = repo_open(&r, ".", err);
	if (ret < 0)
		return cmd_status_of(err);
	ret = !strcmp(argv[0], "install") ? install(r, server, force, err) :
		remove_all(r, err);
	repo_close(r);
	return ret < 0 ? cmd_status_of(err) : ret;
}

/* Opens the repository itself: a push that has nothing of ours in it must
 * pass in a repository that we cannot read. */
const struct cmd cmd_hook = {
	.name = "hook",
	.group = "hooks",
	.summary = "check what is pushed, to here or from here",
	.usage = usage,
	.run = hook_run,
};
