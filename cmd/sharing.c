#include "cmd/sharing.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/node.h"
#include "cmd/out.h"
#include "cmd/task.h"
#include "core/mem.h"

#define BACKGROUND_MS 600000	/* of one call of git */
#define MAX_WORDS 40		/* lines of a remote that are passed on */
#define MAX_WORD 300		/* bytes of such a line */

void words_hear(struct words *words, const char *line)
{
	static const char *const progress[] = {
		"Enumerating ", "Counting ", "Compressing ", "Total ",
		"Resolving ", "Processing ", "Checking ",
	};
	size_t len = strlen(line);
	const char *text;
	char *kept;

	if (strncmp(line, "remote: ", 8) != 0 || words->v.nr >= MAX_WORDS)
		return;
	text = line + 8 + strspn(line + 8, " ");
	for (size_t i = 0; i < ARRAY_SIZE(progress); i++)
		if (!strncmp(text, progress[i], strlen(progress[i])))
			return;
	len = len > MAX_WORD ? MAX_WORD : len;
	while (len && line[len - 1] == ' ')
		len--;
	kept = xstrndup(line, len);
	if (*text && !strv_has(&words->v, kept))
		strv_push(&words->v, kept);
	free(kept);
}

void words_tell(struct words *words)
{
	if (words->told < words->v.nr)
		live("%s", "");
	for (; words->told < words->v.nr; words->told++)
		fprintf(stderr, "%s\n", words->v.v[words->told]);
}

static void on_said(void *ctx, const char *line)
{
	struct sharing *sh = ctx;

	words_hear(&sh->words, line);
	if (live_on())
		live("%s: %s", sh->remote, line);
}

static void on_told(void *ctx, const char *text)
{
	const struct sharing *sh = ctx;

	if (sh->verbose)
		say("%s", text);
}

static void on_line(void *ctx, const char *text)
{
	(void)ctx;
	say("%s", text);
}

static void on_warned(void *ctx, const char *text)
{
	struct sharing *sh = ctx;

	words_tell(&sh->words);
	warn("%s", text);
}

static void on_search(void *ctx, const char *slug, size_t refs, size_t nodes)
{
	struct sharing *sh = ctx;
	size_t nr = sh->moved.nr + 1;

	for (size_t i = 0; i + 1 < nr; i++)
		if (!strcmp(sh->moved.v[i], slug)) {
			sh->refs[i] += refs;
			sh->nodes[i] += nodes;
			return;
		}
	strv_push(&sh->moved, slug);
	sh->refs = xreallocarray(sh->refs, nr, sizeof(*sh->refs));
	sh->nodes = xreallocarray(sh->nodes, nr, sizeof(*sh->nodes));
	sh->refs[nr - 1] = refs;
	sh->nodes[nr - 1] = nodes;
}

static bool is_configured(struct repo *r, const char *name)
{
	char *url = xasprintf("remote.%s.url", name);
	char *push = xasprintf("remote.%s.pushurl", name);
	struct buf v = BUF_INIT;
	bool is = repo_config_str(r, url, &v) || repo_config_str(r, push, &v);

	free(url);
	free(push);
	buf_release(&v);
	return is;
}

static bool is_search(struct repo *r, const char *name)
{
	return node_names_search(r, name);
}

/* A relative path is from where the user stands; git runs at the top. */
static char *remote_of(struct repo *r, const char *name)
{
	char full[PATH_MAX];
	struct stat st;

	if (!is_configured(r, name) && *name != '/' && !stat(name, &st) &&
	    realpath(name, full))
		return xstrdup(full);
	return xstrdup(name);
}

static bool names_remote(struct repo *r, const char *name)
{
	struct stat st;

	return is_configured(r, name) || strchr(name, ':') ||
	       strchr(name, '/') || !stat(name, &st) || !is_search(r, name);
}

int sharing_open(struct sharing *sh, struct session *s, int argc, char **argv,
		 struct err *err)
{
	int ret = 0, first = 0;

	sh->session = s;
	if (argc && names_remote(s->repo, argv[0]))
		sh->remote = remote_of(s->repo, argv[first++]);
	else
		ret = sh->fetches ?
			remote_default_fetch(s->repo, &sh->remote, err) :
			remote_default(s->repo, &sh->remote, err);
	for (int i = first; i < argc; i++)
		strv_push(&sh->searches, argv[i]);
	task_signals();
	sh->opts = (struct remote_opts){
		.name = sh->remote, .background = sh->background,
		.timeout_ms = sh->background ? BACKGROUND_MS : 0,
		.quiet = !live_on(), .stop_fd = task_stop_fd,
		.said = on_said, .ctx = sh,
	};
	sh->teller = (struct share_teller){
		.said = on_line, .told = on_told, .warned = on_warned, .search = on_search,
		.ctx = sh,
	};
	return ret;
}

void sharing_close(struct sharing *sh)
{
	free(sh->remote);
	free(sh->refs);
	free(sh->nodes);
	strv_release(&sh->searches);
	strv_release(&sh->moved);
	strv_release(&sh->words.v);
}
