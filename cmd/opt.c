#include "cmd/opt.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"

#define HELP_COLUMN 26

struct parse {
	const struct cmd *cmd;
	const struct opt *opts;
	int argc, at;
	char **argv;
	struct err *err;
};

static struct buf last_usage = BUF_INIT;
static bool failed;		/* the last opt_parse() */

static void add_option(struct buf *b, const struct opt *o)
{
	size_t start = b->len, width;

	buf_addstr(b, "    ");
	if (o->shortname)
		buf_addf(b, "-%c", o->shortname);
	if (o->name)
		buf_addf(b, "%s--%s", o->shortname ? ", " : "", o->name);
	if (o->argh)
		buf_addf(b, "%s%s", o->type == OPT_T_MAYBE ? "" : " ",
			 o->argh);
	width = b->len - start;
	if (width >= HELP_COLUMN) {
		buf_addch(b, '\n');
		width = 0;
	}
	buf_addf(b, "%*s%s\n", (int)(HELP_COLUMN - width), "", o->help);
}

static void build_usage(const struct cmd *cmd, const struct opt *opts)
{
	struct buf *b = &last_usage;

	buf_reset(b);
	for (int i = 0; cmd->usage[i]; i++)
		buf_addf(b, "%s %s\n", i ? "   or:" : "usage:", cmd->usage[i]);
	if (opts->type != OPT_T_END)
		buf_addch(b, '\n');
	for (; opts->type != OPT_T_END; opts++)
		add_option(b, opts);
}

bool opt_failed(void)
{
	return failed;
}

void opt_usage_last(FILE *f)
{
	fwrite(last_usage.ptr, 1, last_usage.len, f);
}

static bool takes_value(const struct opt *o)
{
	return o->type != OPT_T_BOOL && o->type != OPT_T_COUNT;
}

static void print_names(const struct opt *opts)
{
	const char *sep = "";

	for (; opts->type != OPT_T_END; opts++) {
		if (!opts->name)
			continue;
		printf("%s--%s%s", sep, opts->name,
		       takes_value(opts) && opts->type != OPT_T_MAYBE ?
		       "=" : "");
		sep = " ";
	}
	putchar('\n');
}

/* How an option is called in a message. */
static const char *called(const struct opt *o, char *text, size_t size)
{
	if (o->name)
		snprintf(text, size, "option '%s'", o->name);
	else
		snprintf(text, size, "switch '%c'", o->shortname);
	return text;
}

static int parse_int(const struct opt *o, const char *text, struct err *err)
{
	char name[80], *end;
	intmax_t v;

	errno = 0;
	v = strtoimax(text, &end, 10);
	if (end == text || *end || isspace((unsigned char)*text))
		return err_set(err, ERR_USAGE, "%s expects a whole number, "
			       "not '%s'", called(o, name, sizeof(name)),
			       text);
	if (errno == ERANGE || v < o->min || v > o->max)
		return err_set(err, ERR_USAGE, "%s is '%s', but must be "
			       "between %" PRId64 " and %" PRId64,
			       called(o, name, sizeof(name)), text, o->min,
			       o->max);
	*(int64_t *)o->value = v;
	return 0;
}

static int parse_double(const struct opt *o, const char *text,
			struct err *err)
{
	char name[80], *end;
	double v = strtod(text, &end);

	if (end == text || *end || isspace((unsigned char)*text) ||
	    !isfinite(v))
		return err_set(err, ERR_USAGE, "%s expects a number, not "
			       "'%s'", called(o, name, sizeof(name)), text);
	*(double *)o->value = v;
	return 0;
}

int opt_time(const char *text, double *seconds, struct err *err)
{
	static const struct { const char *unit; double factor; } units[] = {
		{ "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 },
		{ "d", 86400 }
	};
	char *end;
	double v = 0;

	/* strtod() would also take "inf", hexadecimals and blanks */
	if (strspn(text, "0123456789.") == 0)
		goto bad;
	v = strtod(text, &end);
	if (end == text || (size_t)(end - text) > strspn(text, "0123456789.e"))
		goto bad;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit))
			continue;
		v *= units[i].factor;
		if (!isfinite(v) || v > 1e9)
			goto bad;
		*seconds = v;
		return 0;
	}
bad:
	return err_set(err, ERR_FORMAT, "'%s' is not a time: write seconds, "
		       "or a number with s, m or h, as in '90s' or '5m'",
		       text);
}

static int parse_time(const struct opt *o, const char *text, struct err *err)
{
	char name[80];

	if (!opt_time(text, o->value, err))
		return 0;
	err_wrap(err, "%s", called(o, name, sizeof(name)));
	err->code = ERR_USAGE;
	return ERR_USAGE;
}

static int set_value(const struct opt *o, const char *text, bool yes,
		     struct err *err)
{
	switch (o->type) {
	case OPT_T_BOOL:
		*(bool *)o->value = yes;
		return 0;
	case OPT_T_COUNT:
		*(int *)o->value = yes ? *(int *)o->value + 1 : 0;
		return 0;
	case OPT_T_INT:
		return parse_int(o, text, err);
	case OPT_T_STR:
	case OPT_T_MAYBE:
		*(const char **)o->value = text;
		return 0;
	case OPT_T_LIST:
		strv_push(o->value, text);
		return 0;
	case OPT_T_DOUBLE:
		return parse_double(o, text, err);
	case OPT_T_TIME:
		return parse_time(o, text, err);
	case OPT_T_END:
		break;
	}
	return 0;
}

/* The value: behind '=', glued to the switch, or the next word. */
static int take_value(struct parse *p, const struct opt *o, const char *glued)
{
	char name[80];

	if (glued)
		return set_value(o, glued, true, p->err);
	if (o->type == OPT_T_MAYBE)
		return set_value(o, "", true, p->err);
	if (p->at + 1 >= p->argc)
		return err_set(p->err, ERR_USAGE, "%s requires a value",
			       called(o, name, sizeof(name)));
	return set_value(o, p->argv[++p->at], true, p->err);
}

struct match {
	const struct opt *opt;
	bool yes;
	int nr;			/* of different options that it may mean */
	const struct opt *other;
};

/* Does word (len bytes) name the option, or begin its name? */
static void match_name(struct match *m, const struct opt *o, const char *name,
		       bool yes, const char *word, size_t len)
{
	if (strncmp(name, word, len))
		return;
	if (!name[len]) {		/* exact: nothing else counts */
		if (m->nr < 1000)
			m->opt = o, m->yes = yes;
		m->nr = 1000;
		return;
	}
	if (m->nr >= 1000 || (m->nr && m->opt == o && m->yes == yes))
		return;
	if (m->nr++)
		m->other = o;
	else
		m->opt = o, m->yes = yes;
}

static struct match find_long(const struct opt *opts, const char *word,
			      size_t len)
{
	struct match m = { NULL, true, 0, NULL };

	for (const struct opt *o = opts; o->type != OPT_T_END; o++) {
		char no[80];

		if (!o->name)
			continue;
		match_name(&m, o, o->name, true, word, len);
		if (takes_value(o))
			continue;
		if (!strncmp(o->name, "no-", 3)) {
			match_name(&m, o, o->name + 3, false, word, len);
			continue;
		}
		snprintf(no, sizeof(no), "no-%s", o->name);
		match_name(&m, o, no, false, word, len);
	}
	return m;
}

static int parse_long(struct parse *p, const char *word)
{
	const char *eq = strchr(word, '=');
	size_t len = eq ? (size_t)(eq - word) : strlen(word);
	struct match m = find_long(p->opts, word, len);

	if (!m.nr)
		return err_set(p->err, ERR_USAGE, "unknown option '%.*s'",
			       (int)(len > 60 ? 60 : len), word);
	if (m.nr > 1 && m.nr < 1000)
		return err_set(p->err, ERR_USAGE, "ambiguous option: %.*s "
			       "(could be --%s or --%s)", (int)len, word,
			       m.opt->name, m.other->name);
	if (takes_value(m.opt))
		return take_value(p, m.opt, eq ? eq + 1 : NULL);
	if (eq)
		return err_set(p->err, ERR_USAGE, "option '%s' takes no "
			       "value", m.opt->name);
	return set_value(m.opt, NULL, m.yes, p->err);
}

static const struct opt *find_short(const struct opt *o, char c)
{
	for (; o->type != OPT_T_END; o++)
		if (o->shortname == c)
			return o;
	return NULL;
}

/* 1: -h was among them */
static int parse_short(struct parse *p, const char *letters)
{
	for (; *letters; letters++) {
		const struct opt *o = find_short(p->opts, *letters);
		int ret;

		if (!o && *letters == 'h')
			return 1;
		if (!o && isdigit((unsigned char)*letters)) {
			/* -20 is -n 20, as in `git log` */
			o = find_short(p->opts, 'n');
			if (o && o->type == OPT_T_INT)
				return parse_int(o, letters, p->err);
			o = NULL;
		}
		if (!o)
			return err_set(p->err, ERR_USAGE,
				       isprint((unsigned char)*letters) ?
				       "unknown switch '%c'" :
				       "unknown switch '\\x%02x'",
				       (unsigned char)*letters);
		if (takes_value(o))
			return take_value(p, o,
					  letters[1] ? letters + 1 : NULL);
		ret = set_value(o, NULL, true, p->err);
		if (ret)
			return ret;
	}
	return 0;
}

static int help(int *status)
{
	opt_usage_last(stdout);
	*status = EXIT_USAGE;
	return -1;
}

int opt_parse(const struct cmd *cmd, const struct opt *opts, int argc,
	      char **argv, int *status, struct err *err)
{
	struct parse p = { cmd, opts, argc, 1, argv, err };
	int nr = 0, ret;

	build_usage(cmd, opts);
	failed = false;
	for (; p.at < argc; p.at++) {
		char *word = argv[p.at];

		if (word[0] != '-' || !word[1]) {
			argv[nr++] = word;
			continue;
		}
		if (!strcmp(word, "--")) {
			for (p.at++; p.at < argc; p.at++)
				argv[nr++] = argv[p.at];
			break;
		}
		if (!strcmp(word, "--git-completion-helper")) {
			print_names(opts);
			*status = EXIT_DONE;
			return -1;
		}
		if (!strcmp(word, "--help"))
			return help(status);
		ret = word[1] == '-' ? parse_long(&p, word + 2) :
		      parse_short(&p, word + 1);
		if (ret > 0)
			return help(status);
		if (ret < 0) {
			failed = true;
			*status = EXIT_USAGE;
			return -1;
		}
	}
	if (nr < argc)
		argv[nr] = NULL;
	return nr;
}

int opt_operands(int nr, int min, int max, struct err *err)
{
	if (nr >= min && nr <= max)
		return 0;
	failed = true;
	err_set(err, ERR_USAGE, nr > max ? "too many arguments" :
		"too few arguments");
	return EXIT_USAGE;
}
