/* needs: cmd/opt.c */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/opt.h"
#include "core/buf.h"
#include "tests/unit/tap.h"

static const char *const usage[] = {
	"git maxkernel try [<options>] <thing>",
	"git maxkernel try --again",
	NULL
};
static const struct cmd cmd_try = { .name = "try", .usage = usage };

static bool json, verify, dry;
static int verbose;
static int64_t count;
static const char *name;
static struct strv list;
static double keep, budget;
static char *operands[16];
static int status;
static struct err err;

/* opt_parse() may write to its operands; these live as long as the program. */
static char *copy(const char *word)
{
	static char store[64][32];
	static int next;
	char *s = store[next++ % 64];

	snprintf(s, sizeof(store[0]), "%s", word);
	return s;
}

/* Parses words; the first is the command's name. */
static int parse(const char *const *words)
{
	const struct opt opts[] = {
		OPT_BOOL(0, "json", &json, "as JSON"),
		OPT_BOOL(0, "no-verify", &verify, "trust it"),
		OPT_BOOL('d', "dry-run", &dry, "only look"),
		OPT_COUNT('v', "verbose", &verbose, "say more"),
		OPT_INT('n', "count", &count, 1, 100, "<n>", "how many"),
		OPT_STR('p', "policy", &name, "<name>", "which"),
		OPT_LIST(0, "with", &list, "<x>", "more of them"),
		OPT_DOUBLE(0, "keep", &keep, "<factor>", "the share that stays in a "
			   "long list"),
		OPT_TIME('t', "time", &budget, "<time>", "how long"),
		OPT_END
	};
	int argc = 1;

	json = verify = dry = false;
	verbose = 0;
	count = 7;
	name = NULL;
	strv_release(&list);
	keep = budget = -1;
	err = (struct err)ERR_INIT;
	status = -1;
	operands[0] = copy("try");
	for (; *words; words++)
		operands[argc++] = copy(*words);
	operands[argc] = NULL;
	return opt_parse(&cmd_try, opts, argc, operands, &status, &err);
}
#define PARSE(...) parse((const char *const[]){ __VA_ARGS__, NULL })

static void good(void)
{
	is_int(parse((const char *const[]){ NULL }), 0, "no words");
	is_int(PARSE("--json", "a", "-v", "-v", "b"), 2, "two operands");
	is_str(operands[0], "a", "the first");
	is_str(operands[1], "b", "the second");
	ok(!operands[2], "then a NULL");
	ok(json && verbose == 2, "a boolean and a counted one");
	is_int(PARSE("--no-json", "-vvd"), 0, "letters together");
	ok(!json && verbose == 2 && dry, "all of them count");
	PARSE("--json", "--no-json");
	ok(!json, "--no- takes it back");
	PARSE("--no-verify");
	ok(verify, "one that is called no-");
	PARSE("--no-verify", "--verify");
	ok(!verify, "and its opposite");
	PARSE("-n", "12");
	is_int(count, 12, "-n 12");
	PARSE("-n13");
	is_int(count, 13, "-n13");
	PARSE("--count=14");
	is_int(count, 14, "--count=14");
	PARSE("--count", "15");
	is_int(count, 15, "--count 15");
	PARSE("-20");
	is_int(count, 20, "-20 is -n 20");
	PARSE("--cou", "16");
	is_int(count, 16, "a prefix");
	PARSE("-p", "beam", "--with=a", "--with", "b");
	is_str(name, "beam", "a text");
	ok(list.nr == 2 && !strcmp(list.v[1], "b"), "a list");
	PARSE("--keep=0.5", "-t", "5m");
	is_near(keep, 0.5, 0, "a fraction");
	is_near(budget, 300, 0, "a time");
	is_int(PARSE("--", "--json", "-x"), 2, "after --");
	ok(!json && !strcmp(operands[0], "--json"), "all are operands");
	is_int(PARSE("-", "a"), 2, "a lone dash is an operand");
	is_int(PARSE("--policy", "--json"), 0, "a value may look like an option");
	is_str(name, "--json", "and is taken");
}

static void bad(const char *text, const char *const *words)
{
	int got = parse(words);

	ok(got < 0 && status == EXIT_USAGE && err.code == ERR_USAGE,
	   "refused: %s", text);
	if (!ok(strstr(err.msg, text) != NULL, "and it says so"))
		printf("#  said: %s\n", err.msg);
}
#define BAD(text, ...) bad(text, (const char *const[]){ __VA_ARGS__, NULL })

static void refused(void)
{
	BAD("unknown option 'foo'", "--foo");
	BAD("unknown option 'foo'", "--foo=1");
	BAD("unknown switch 'x'", "-x");
	BAD("unknown switch 'x'", "-vx");
	BAD("ambiguous option: no-", "--no-");
	BAD("option 'json' takes no value", "--json=1");
	BAD("option 'count' requires a value", "--count");
	BAD("option 'policy' requires a value", "-p");
	BAD("option 'count' expects a whole number, not '3x'", "-n", "3x");
	BAD("option 'count' expects a whole number, not ''", "--count=");
	BAD("option 'count' expects a whole number, not ' 3'", "-n", " 3");
	BAD("option 'count' is '0', but must be between 1 and 100", "-n", "0");
	BAD("option 'count' is '101'", "-n", "101");
	BAD("option 'count' is '99999999999999999999'", "-n",
	    "99999999999999999999");
	BAD("option 'keep' expects a number, not 'nan'", "--keep", "nan");
	BAD("option 'keep' expects a number, not '1,5'", "--keep", "1,5");
	BAD("option 'time': '-5' is not a time", "-t", "-5");
}

static void times(void)
{
	static const struct { const char *text; double s; } right[] = {
		{ "90", 90 }, { "90s", 90 }, { "1.5m", 90 }, { "2h", 7200 },
		{ "0", 0 }, { "1d", 86400 }, { ".5", 0.5 }
	};
	static const char *const wrong[] = {
		"", "s", "5x", "5mm", "-1", "+1", "inf", "nan", "0x10", " 5",
		"5 ", "1e400", "1e30", "1.2.3", "."
	};
	double s;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		s = -1;
		is_int(opt_time(right[i].text, &s, &err), 0, "time '%s'",
		       right[i].text);
		is_near(s, right[i].s, 1e-9, "is so many seconds");
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		is_int(opt_time(wrong[i], &s, &err), ERR_FORMAT,
		       "no time: '%s'", wrong[i]);
}

/* What fn prints to stdout. */
static void captured(struct buf *out, const char *const *words)
{
	FILE *f = tmpfile();
	int saved = dup(STDOUT_FILENO), got;

	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	got = parse(words);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	ok(got < 0, "it prints and returns");
	lseek(fileno(f), 0, SEEK_SET);
	buf_read_fd(out, fileno(f), 1 << 16, &err);
	fclose(f);
}

static void help(void)
{
	struct buf out = BUF_INIT;

	captured(&out, (const char *const[]){ "-h", NULL });
	is_int(status, EXIT_USAGE, "-h gives 129");
	ok(!err.code, "which is no error");
	is_str(out.ptr,
	       "usage: git maxkernel try [<options>] <thing>\n"
	       "   or: git maxkernel try --again\n"
	       "\n"
	       "    --json                as JSON\n"
	       "    --no-verify           trust it\n"
	       "    -d, --dry-run         only look\n"
	       "    -v, --verbose         say more\n"
	       "    -n, --count <n>       how many\n"
	       "    -p, --policy <name>   which\n"
	       "    --with <x>            more of them\n"
	       "    --keep <factor>       the share that stays in a long list\n"
	       "    -t, --time <time>     how long\n", "the help");
	buf_reset(&out);
	captured(&out, (const char *const[]){ "--git-completion-helper",
					      NULL });
	is_int(status, EXIT_DONE, "the names for completion give 0");
	is_str(out.ptr, "--json --no-verify --dry-run --verbose --count= "
	       "--policy= --with= --keep= --time=\n", "the names");
	buf_release(&out);
}

static void counts(void)
{
	err = (struct err)ERR_INIT;
	is_int(opt_operands(1, 0, 1, &err), 0, "one of at most one");
	is_int(opt_operands(2, 0, 1, &err), EXIT_USAGE, "two of at most one");
	is_str(err.msg, "too many arguments", "too many");
	is_int(opt_operands(0, 1, 1, &err), EXIT_USAGE, "none of one");
	is_str(err.msg, "too few arguments", "too few");
}

int main(void)
{
	good();
	refused();
	times();
	help();
	counts();
	strv_release(&list);
	return tap_done();
}
