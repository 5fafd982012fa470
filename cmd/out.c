#include "cmd/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAX_TOLD 1000		/* warnings that are kept apart */

bool out_quiet;

/* ---- numbers ---- */

/* Three digits that count, without an exponent. */
static void add_three(struct buf *b, double v)
{
	buf_addf(b, "%.*f", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v);
}

void fmt_time(struct buf *b, double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t i = 0;

	if (!isfinite(ns) || ns < 0) {
		buf_addch(b, '-');
		return;
	}
	while (i < 3 && ns >= 999.5) {
		ns /= 1000;
		i++;
	}
	add_three(b, ns);
	buf_addf(b, " %s", units[i]);
}

void fmt_ratio(struct buf *b, double x)
{
	if (!isfinite(x) || x < 0) {
		buf_addch(b, '-');
		return;
	}
	add_three(b, x);
	buf_addch(b, 'x');
}

void fmt_interval(struct buf *b, double lo, double hi)
{
	if (!isfinite(lo) || !isfinite(hi)) {
		buf_addch(b, '-');
		return;
	}
	buf_addch(b, '[');
	add_three(b, lo);
	buf_addstr(b, ", ");
	add_three(b, hi);
	buf_addch(b, ']');
}

void fmt_rate(struct buf *b, const struct shape_result *s)
{
	if (isfinite(s->gflops) && s->gflops > 0) {
		add_three(b, s->gflops);
		buf_addstr(b, " GF/s");
	} else if (isfinite(s->gbs) && s->gbs > 0) {
		add_three(b, s->gbs);
		buf_addstr(b, " GB/s");
	} else {
		buf_addch(b, '-');
	}
}

void fmt_share(struct buf *b, double share)
{
	if (!isfinite(share) || share < 0)
		buf_addch(b, '-');
	else
		buf_addf(b, "%.*f %%", share < 0.095 ? 1 : 0, share * 100);
}

void fmt_age(struct buf *b, int64_t then, int64_t now)
{
	static const struct { int64_t s; const char *name; } units[] = {
		{ 365 * 86400, "year" }, { 30 * 86400, "month" },
		{ 7 * 86400, "week" }, { 86400, "day" }, { 3600, "hour" },
		{ 60, "minute" }, { 1, "second" }
	};
	int64_t age = now - then;

	if (age < 0) {
		buf_addstr(b, "in the future");
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		int64_t n = age / units[i].s;

		if (n < 2 && (units[i].s > 1 || n < 1))
			continue;
		buf_addf(b, "%lld %s%s ago", (long long)n, units[i].name,
			 n == 1 ? "" : "s");
		return;
	}
	buf_addstr(b, "just now");
}

void fmt_seconds(struct buf *b, double s)
{
	if (!isfinite(s) || s < 0)
		buf_addch(b, '-');
	else if (s < 9.95)
		buf_addf(b, "%.1f s", s);
	else if (s < 120)
		buf_addf(b, "%.0f s", s);
	else if (s < 7200)
		buf_addf(b, "%.0f min %.0f s", floor(s / 60),
			 floor(fmod(s, 60)));
	else
		buf_addf(b, "%.0f h %.0f min", floor(s / 3600),
			 floor(fmod(s, 3600) / 60));
}

/* ---- colour ---- */

static bool colours;

void colour_setup(const char *color_ui)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
	bool terminal = isatty(STDOUT_FILENO) || getenv("GIT_PAGER_IN_USE");

	if (color_ui && !strcasecmp(color_ui, "always")) {
		colours = true;
		return;
	}
	colours = terminal && term && strcmp(term, "dumb") &&
		  !(no && *no);
	if (color_ui && (!strcasecmp(color_ui, "never") ||
			 !strcasecmp(color_ui, "false") ||
			 !strcasecmp(color_ui, "no") ||
			 !strcasecmp(color_ui, "off") ||
			 !strcmp(color_ui, "0")))
		colours = false;
}

bool colour_on(void)
{
	return colours;
}

const char *colour(enum colour c)
{
	static const char *const codes[] = {
		[COL_RESET] = "\033[m", [COL_GOOD] = "\033[32m",
		[COL_BAD] = "\033[31m", [COL_DIM] = "\033[2m",
		[COL_BOLD] = "\033[1m", [COL_NODE] = "\033[33m"
	};

	return colours ? codes[c] : "";
}

enum colour verdict_colour(enum verdict v)
{
	switch (v) {
	case V_CONFIRMED:
	case V_FASTER:
		return COL_GOOD;
	case V_BUILD_FAIL:
	case V_GATE_FAIL:
	case V_CRASH:
	case V_TIMEOUT:
	case V_WRONG:
	case V_CHEAT:
	case V_TOO_GOOD:
		return COL_BAD;
	default:
		return COL_DIM;
	}
}

void put_clean(FILE *f, const char *s)
{
	struct buf b = BUF_INIT;

	buf_add_clean(&b, s, strlen(s), false);
	fwrite(b.ptr, 1, b.len, f);
	buf_release(&b);
}

void put_clean_lines(FILE *f, const char *indent, const char *s)
{
	while (*s) {
		size_t len = strcspn(s, "\n");
		struct buf b = BUF_INIT;

		buf_add_clean(&b, s, len, true);
		fprintf(f, "%s%s\n", b.len ? indent : "", b.ptr);
		buf_release(&b);
		s += len;
		s += *s == '\n';
	}
}

/* ---- stderr ---- */

static bool live_shown;

bool live_on(void)
{
	const char *term = getenv("TERM");

	return !out_quiet && isatty(STDERR_FILENO) && term &&
	       strcmp(term, "dumb");
}

static void live_clear(void)
{
	if (live_shown)
		fputs("\r\033[K", stderr);
	live_shown = false;
}

__attribute__((format(printf, 2, 0)))
static void message(const char *prefix, const char *fmt, va_list ap)
{
	struct buf text = BUF_INIT, clean = BUF_INIT;

	buf_vaddf(&text, fmt, ap);
	buf_add_clean(&clean, text.ptr, text.len, true);
	live_clear();
	fprintf(stderr, "%s%s\n", prefix, clean.ptr);
	buf_release(&clean);
	buf_release(&text);
}

void say(const char *fmt, ...)
{
	va_list ap;

	if (out_quiet)
		return;
	va_start(ap, fmt);
	message("", fmt, ap);
	va_end(ap);
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("warning: ", fmt, ap);
	va_end(ap);
}

static int terminal_columns(void)
{
	struct winsize ws;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) < 0 || ws.ws_col < 20)
		return 80;
	return ws.ws_col;
}

void text_cut(struct buf *b, int columns)
{
	while (b->len && text_width(b->ptr) > columns) {
		while (b->len && ((unsigned char)b->ptr[b->len - 1] & 0xc0) ==
		       0x80)
			b->ptr[--b->len] = '\0';
		if (b->len)
			b->ptr[--b->len] = '\0';
	}
}

void live(const char *fmt, ...)
{
	struct buf text = BUF_INIT, clean = BUF_INIT;
	va_list ap;

	if (!live_on())
		return;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	buf_add_clean(&clean, text.ptr, text.len, false);
	text_cut(&clean, terminal_columns() - 1);
	live_clear();
	if (clean.len) {
		fputs(clean.ptr, stderr);
		live_shown = true;
	}
	fflush(stderr);
	buf_release(&clean);
	buf_release(&text);
}

void warn_once(const char *text)
{
	static struct strv told;

	if (strv_has(&told, text))
		return;
	if (told.nr < MAX_TOLD)
		strv_push(&told, text);
	warn("%s", text);
}
