/* needs: cmd/out.c cmd/out_table.c cmd/out_json.c core/record.c */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/out.h"
#include "tests/unit/tap.h"

static struct buf got = BUF_INIT;

static const char *time_of(double ns)
{
	buf_reset(&got);
	fmt_time(&got, ns);
	return got.ptr;
}

static const char *ratio_of(double x)
{
	buf_reset(&got);
	fmt_ratio(&got, x);
	return got.ptr;
}

static const char *interval_of(double lo, double hi)
{
	buf_reset(&got);
	fmt_interval(&got, lo, hi);
	return got.ptr;
}

static const char *seconds_of(double s)
{
	buf_reset(&got);
	fmt_seconds(&got, s);
	return got.ptr;
}

static const char *age_of(int64_t s)
{
	buf_reset(&got);
	fmt_age(&got, 1000000000 - s, 1000000000);
	return got.ptr;
}

static const char *rate_of(double gflops, double gbs)
{
	struct shape_result s = { .gflops = gflops, .gbs = gbs };

	buf_reset(&got);
	fmt_rate(&got, &s);
	return got.ptr;
}

static void numbers(void)
{
	is_str(time_of(0), "0.00 ns", "no time at all");
	is_str(time_of(12.34), "12.3 ns", "nanoseconds");
	is_str(time_of(999.4), "999 ns", "the last of them");
	is_str(time_of(999.6), "1.00 us", "then microseconds");
	is_str(time_of(1234567), "1.23 ms", "milliseconds");
	is_str(time_of(45.6e9), "45.6 s", "seconds");
	is_str(time_of(NAN), "-", "not measured");
	is_str(time_of(INFINITY), "-", "infinite");
	is_str(ratio_of(3.214), "3.21x", "a ratio");
	is_str(ratio_of(32.14), "32.1x", "a larger one");
	is_str(ratio_of(321.4), "321x", "a very large one");
	is_str(ratio_of(9.999), "10.0x", "rounding up gains no digit");
	is_str(ratio_of(NAN), "-", "none");
	is_str(interval_of(3.1, 3.3), "[3.10, 3.30]", "an interval");
	is_str(interval_of(3.1, NAN), "-", "half an interval is none");
	is_str(seconds_of(1.25), "1.2 s", "a second");
	is_str(seconds_of(42), "42 s", "some seconds");
	is_str(seconds_of(200), "3 min 20 s", "minutes");
	is_str(seconds_of(7260), "2 h 1 min", "hours");
	is_str(age_of(0), "just now", "now");
	is_str(age_of(1), "1 second ago", "one second");
	is_str(age_of(90), "90 seconds ago", "as Git says it");
	is_str(age_of(3 * 60), "3 minutes ago", "minutes ago");
	is_str(age_of(5 * 86400), "5 days ago", "days ago");
	is_str(age_of(-5), "in the future", "a clock that went back");
	is_str(rate_of(12.34, 5), "12.3 GF/s", "operations first");
	is_str(rate_of(NAN, 5.5), "5.50 GB/s", "bytes without operations");
	is_str(rate_of(0, NAN), "-", "neither");
}

static void widths(void)
{
	is_int(text_width(""), 0, "nothing is no column wide");
	is_int(text_width("abc"), 3, "letters");
	is_int(text_width("äöü"), 3, "two bytes, one column");
	is_int(text_width("日本"), 4, "two columns each");
	is_int(text_width("e\xcc\x81"), 1, "a combining accent");
}

/* What fn writes to a file. */
static const char *written(void (*fn)(FILE *f))
{
	FILE *f = tmpfile();
	struct err err = ERR_INIT;

	fn(f);
	fflush(f);
	lseek(fileno(f), 0, SEEK_SET);
	buf_reset(&got);
	buf_read_fd(&got, fileno(f), 1 << 16, &err);
	fclose(f);
	return got.ptr;
}

static void a_table(FILE *f)
{
	struct table t;

	table_init(&t, 3, 1u << 1);
	table_cell(&t, "name");
	table_cell(&t, "n");
	table_cell(&t, "text");
	table_cell(&t, "größe");
	table_cell(&t, "%d", 1000);
	table_cell(&t, "last");
	table_tint(&t, COL_GOOD);
	table_cell(&t, "x");
	table_cell(&t, "%d", 7);
	table_cell(&t, "bad\033[31m\n\xff");
	table_print(&t, f);
	table_release(&t);
}

static void tables(void)
{
	colour_setup("never");
	is_str(written(a_table),
	       "name      n  text\n"
	       "größe  1000  last\n"
	       "x         7  bad?[31m??\n", "columns line up, text is cleaned");
	colour_setup("always");
	is_str(written(a_table),
	       "\033[1mname\033[m      \033[1mn\033[m  \033[1mtext\033[m\n"
	       "größe  1000  \033[32mlast\033[m\n"
	       "x         7  bad?[31m??\n", "colours take no width");
}

static void lines(FILE *f)
{
	put_clean(f, "one\ntwo\033");
	putc('\n', f);
	put_clean_lines(f, "  ", "a\n\nb\033]0;x\007\tc");
}

static void a_json(FILE *f)
{
	struct jout j;

	jout_begin(&j);
	jout_str(&j, "s", "a\"b\n\xff");
	jout_str(&j, "none", NULL);
	jout_num(&j, "n", 0.1);
	jout_num(&j, "nan", NAN);
	jout_num(&j, "inf", -INFINITY);
	jout_int(&j, "i", -5);
	jout_bool(&j, "b", true);
	jout_raw(&j, "r", "[1]");
	jout_end(&j, f);
}

static void an_empty_json(FILE *f)
{
	struct jout j;

	jout_begin(&j);
	jout_end(&j, f);
}

static struct shape_result shape(const char *text, bool holdout)
{
	return (struct shape_result){
		.shape = strdup(text), .time_ns = 10, .baseline_ns = 30,
		.speedup = 3, .ci_low = 2.9, .ci_high = 3.1, .flops = NAN,
		.bytes = NAN, .gflops = NAN, .gbs = 7, .roof = 0.5,
		.holdout = holdout,
	};
}

static void a_record(FILE *f)
{
	struct record r;
	struct jout j;

	record_init(&r);
	r.verdict = V_CONFIRMED;
	r.speedup = 3;
	r.compiled = r.correct = true;
	r.launches = 12;
	r.error = strdup("no \"error\"");
	r.shape = calloc(2, sizeof(*r.shape));
	r.nr_shapes = 2;
	r.shape[0] = shape("M=1", false);
	r.shape[1] = shape("M=2", true);
	jout_begin(&j);
	jout_record(&j, &r);
	jout_end(&j, f);
	record_release(&r);
}

#define SHAPE(m) "[{\"shape\":\"M=" m "\",\"time_ns\":10,\"baseline_ns\":30," \
	"\"speedup\":3,\"ci_low\":2.9,\"ci_high\":3.1,\"gflops\":null," \
	"\"gbs\":7,\"roof\":0.5}]"

static void json(void)
{
	is_str(written(a_json),
	       "{\"s\":\"a\\\"b\\n\\ufffd\",\"none\":null,\"n\":0.1,"
	       "\"nan\":null,\"inf\":null,\"i\":-5,\"b\":true,\"r\":[1]}\n",
	       "one object, one line; what is no number is null");
	is_str(written(an_empty_json), "{}\n", "an empty object");
	is_str(written(a_record),
	       "{\"verdict\":\"confirmed\",\"est_speedup\":null,"
	       "\"speedup\":3,\"ci_low\":null,\"ci_high\":null,"
	       "\"vs_parent\":null,\"vs_rival\":null,"
	       "\"vs_best_flags\":null,\"time_ns\":null,"
	       "\"baseline_ns\":null,\"gflops\":null,\"gbs\":null,"
	       "\"roof\":null,\"shapes\":" SHAPE("1") ",\"holdout\":"
	       SHAPE("2") ",\"compiled\":true,\"correct\":true,"
	       "\"launches\":12,\"host\":null,\"device\":null,"
	       "\"sandbox\":null,\"oracle\":null,\"trust\":\"measured\","
	       "\"attempt_s\":null,\"device_s\":null,\"error\":\"no \\\"error\\\"\"}\n",
	       "a record, by the names of the design");
}

static void colours(void)
{
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	unsetenv("GIT_PAGER_IN_USE");
	colour_setup("always");
	is_str(colour(COL_GOOD), "\033[32m", "always is always");
	colour_setup("never");
	is_str(colour(COL_GOOD), "", "never is never");
	setenv("GIT_PAGER_IN_USE", "true", 1);
	colour_setup(NULL);
	ok(colour_on(), "in a pager, which is a terminal's");
	colour_setup("false");
	ok(!colour_on(), "unless switched off");
	setenv("NO_COLOR", "1", 1);
	colour_setup("auto");
	ok(!colour_on(), "or NO_COLOR");
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	colour_setup(NULL);
	ok(!colour_on(), "or the terminal is dumb");
	is_int(verdict_colour(V_CONFIRMED), COL_GOOD, "a winner");
	is_int(verdict_colour(V_CRASH), COL_BAD, "a failure");
	is_int(verdict_colour(V_SLOWER), COL_DIM, "neither");
}

int main(void)
{
	numbers();
	widths();
	tables();
	colour_setup("never");
	is_str(written(lines), "one?two?\n  a\n\n  b?]0;x?\tc\n",
	       "foreign text is cleaned");
	json();
	colours();
	buf_release(&got);
	return tap_done();
}
