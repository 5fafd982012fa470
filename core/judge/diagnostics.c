#include "core/judge/diagnostics.h"

#include <ctype.h>
#include <string.h>

#define MAX_VERSION 40

static bool has(const char *line, size_t len, const char *what)
{
	return memmem(line, len, what, strlen(what)) != NULL;
}

static bool starts(const char *line, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(line, with, strlen(with));
}

/* How much a line says; the first of the best is shown. */
static int weight(const char *line, size_t len)
{
	if (has(line, len, "undefined reference to") ||
	    has(line, len, "multiple definition of") ||
	    has(line, len, "undefined symbol"))
		return 3;
	if (!has(line, len, "error:") && !has(line, len, "Error:"))
		return len ? 1 : 0;
	/* The driver's summary of what a linker said before. */
	return starts(line, len, "collect2:") ||
	       has(line, len, "linker command failed") ? 2 : 3;
}

static const char *best_line(const struct buf *output, size_t *best_len)
{
	const char *p = output->ptr, *end = p + output->len, *nl, *best = p;
	int w, best_w = 0;
	size_t len;

	*best_len = 0;
	for (; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			nl = end;
		len = (size_t)(nl - p);
		w = weight(p, len);
		if (w <= best_w)
			continue;
		best_w = w;
		best = p;
		*best_len = len;
	}
	/* A linker's line begins with names of its own files. */
	nl = memmem(best, *best_len, "undefined reference", 19);
	if (nl) {
		*best_len -= (size_t)(nl - best);
		best = nl;
	}
	return best;
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._-", c)) ||
	       (c & 0x80);
}

/* Its files are named without it, itself it is ".".  What is left on either
 * side of a name that went may make another, hence one character after the
 * other. */
static void drop_dir(struct buf *out, const char *text, const char *dir)
{
	size_t n = strlen(dir);

	for (; *text; text++) {
		buf_addch(out, *text);
		if (out->len < n || memcmp(out->ptr + out->len - n, dir, n) ||
		    is_of_name(text[1]))
			continue;
		buf_splice(out, out->len - n, n, NULL, 0);
		if (text[1] == '/')
			text++;
		else
			buf_addch(out, '.');
	}
}

/* To max bytes, and no half character. */
static void cut(struct buf *text, size_t max)
{
	if (text->len <= max)
		return;
	while (max && (text->ptr[max] & 0xc0) == 0x80)
		max--;
	buf_splice(text, max, text->len - max, NULL, 0);
}

void diagnostics_text(struct buf *out, const struct buf *output,
		      const char *dir)
{
	struct buf clean = BUF_INIT, name = BUF_INIT, text = BUF_INIT;
	const char *line;
	size_t len;

	line = best_line(output, &len);
	buf_add_clean(&clean, line, len, false);
	buf_add_clean(&name, dir, strlen(dir), false);
	drop_dir(&text, clean.ptr, name.ptr);
	cut(&text, DIAGNOSTICS_MAX);
	buf_addstr(out, text.len ? text.ptr :
		   "the compiler failed and did not say why");
	buf_release(&clean);
	buf_release(&name);
	buf_release(&text);
}

/* "gcc (Debian 12.2.0-14) 12.2.0" and "Debian clang version 14.0.6". */
void diagnostics_version(struct buf *out, const char *line)
{
	const char *word = strstr(line, "clang version ");
	struct buf text = BUF_INIT;

	if (word) {
		buf_addstr(out, "clang ");
		word += strlen("clang version ");
	} else {
		buf_addstr(out, "gcc ");
		word = strchr(line, ')');
		word = word ? word + 1 : line;
		word += strspn(word, " ");
	}
	buf_add_clean(&text, word, strcspn(word, " \t\n"), false);
	cut(&text, MAX_VERSION);
	buf_addstr(out, text.ptr);
	buf_release(&text);
}
