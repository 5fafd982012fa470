#include "agents/scripted/script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define MAX_SCRIPT (1u << 20)
#define MAX_CALLS 64
#define MAX_DELAY_MS 60000
#define MAX_WORDS 9

struct words {
	char *v[MAX_WORDS];
	int nr;			/* MAX_WORDS: too many */
};

static int need_number(const char *text, int64_t lo, int64_t hi, int64_t *out,
		       struct err *err)
{
	char *end;
	long long x;

	errno = 0;
	x = strtoll(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || x < lo || x > hi)
		return err_set(err, ERR_USAGE, "'%.20s' is not a number from "
			       "%lld to %lld", text, (long long)lo,
			       (long long)hi);
	*out = x;
	return 0;
}

static int need_int(const char *text, int lo, int hi, int *out,
		    struct err *err)
{
	int64_t x = lo;
	int ret = need_number(text, lo, hi, &x, err);

	*out = (int)x;
	return ret;
}

static int need_step(const char *text, uint32_t *out, struct err *err)
{
	int64_t x = 0;
	int ret = need_number(text, 1, 1000000000, &x, err);

	*out = (uint32_t)x;
	return ret;
}

static int need_cost(const char *text, double *out, struct err *err)
{
	char *end;

	*out = NAN;
	if (!strcmp(text, "-"))
		return 0;
	*out = strtod(text, &end);
	if (*text < '0' || *text > '9' || *end ||
	    !(*out >= 0 && *out <= USAGE_MAX_COST))
		return err_set(err, ERR_USAGE, "'%.20s' is not an amount of "
			       "dollars", text);
	return 0;
}

static int parse_call(struct script *s, const struct words *w,
		      struct err *err)
{
	struct usage u = { .agent = w->v[1], .model = w->v[2],
			   .seconds = NAN };
	int64_t *const tokens[] = {
		&u.tokens_in, &u.tokens_cached, &u.tokens_out,
		&u.tokens_reasoning
	};

	if (!usage_name_ok(u.agent) || !usage_name_ok(u.model))
		return err_set(err, ERR_USAGE, "'%.64s %.64s' are not the "
			       "names of an agent and a model", u.agent,
			       u.model);
	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++)
		if (need_number(w->v[3 + i], 0, USAGE_MAX_TOKENS, tokens[i],
				err) < 0)
			return err->code;
	if (need_cost(w->v[7], &u.cost, err) < 0)
		return err->code;
	if (s->calls.nr >= MAX_CALLS)
		return err_set(err, ERR_USAGE, "more than %d calls",
			       MAX_CALLS);
	usages_add(&s->calls, &u);
	return 0;
}

/* The name of a file beside the script. */
static char *beside(const char *script, const char *name)
{
	const char *slash = strrchr(script, '/');

	if (*name == '/' || !slash)
		return xstrdup(name);
	return xasprintf("%.*s/%s", (int)(slash - script), script, name);
}

static int parse_die(struct script *s, const struct words *w,
		     const char *path, struct err *err)
{
	free(s->die_file);
	s->die_file = beside(path, w->v[2]);
	return need_step(w->v[1], &s->die, err);
}

static int parse_words(struct script *s, const struct words *w,
		       const char *path, struct err *err)
{
	static const struct {
		const char *name;
		int values;
	} known[] = {
		{ "branch", 1 }, { "call", 7 }, { "delay", 1 }, { "steps", 1 },
		{ "empty", 1 }, { "dup", 1 }, { "die", 2 }, { "fail", 1 },
	};
	size_t i = 0;

	while (i < ARRAY_SIZE(known) && strcmp(known[i].name, w->v[0]) != 0)
		i++;
	if (i == ARRAY_SIZE(known))
		return err_set(err, ERR_USAGE, "'%.20s' is not known",
			       w->v[0]);
	if (w->nr - 1 != known[i].values)
		return err_set(err, ERR_USAGE, "'%s' takes %d value%s",
			       w->v[0], known[i].values,
			       known[i].values == 1 ? "" : "s");
	switch (i) {
	case 0:
		return need_int(w->v[1], 1, SCRIPT_MAX_BRANCH, &s->branch,
				err);
	case 1:
		return parse_call(s, w, err);
	case 2:
		return need_number(w->v[1], 0, MAX_DELAY_MS, &s->delay_ms,
				   err);
	case 3:
		return need_int(w->v[1], 0, SCRIPT_MAX_STEPS, &s->steps, err);
	case 4:
		return need_int(w->v[1], 0, 100, &s->empty, err);
	case 5:
		return need_int(w->v[1], 0, 100, &s->dup, err);
	case 6:
		return parse_die(s, w, path, err);
	default:
		return need_step(w->v[1], &s->fail, err);
	}
}

static void split(char *line, struct words *w)
{
	w->nr = 0;
	line[strcspn(line, "#")] = '\0';
	for (char *p = line; w->nr < MAX_WORDS;) {
		p += strspn(p, " \t\r");
		if (!*p)
			break;
		w->v[w->nr++] = p;
		p += strcspn(p, " \t\r");
		if (*p)
			*p++ = '\0';
	}
}

static int parse(struct script *s, char *text, const char *path,
		 struct err *err)
{
	int number = 0;

	for (char *line = text, *next; line; line = next) {
		struct words w;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		number++;
		split(line, &w);
		if (w.nr && parse_words(s, &w, path, err) < 0)
			return err_wrap(err, "%s:%d", path, number);
	}
	return 0;
}

int script_read(struct script *s, const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret = buf_read_file(&text, path, MAX_SCRIPT, err);

	memset(s, 0, sizeof(*s));
	s->branch = 4;
	if (!ret && strlen(text.ptr) != text.len)
		ret = err_set(err, ERR_USAGE, "'%s' is no text", path);
	if (!ret)
		ret = parse(s, text.ptr, path, err);
	buf_release(&text);
	if (ret < 0)
		script_release(s);
	if (ret == ERR_NOTFOUND || ret == ERR_FORMAT)
		ret = err->code = ERR_USAGE;
	return ret;
}

void script_release(struct script *s)
{
	free(s->die_file);
	usages_release(&s->calls);
	memset(s, 0, sizeof(*s));
}
