/* needs: core/judge/diagnostics.c */
/*
 * The first line is the folder of a build, the rest what a compiler said.  The
 * text of it is one clean line of valid UTF-8, bounded, and does not tell
 * where the folder is; an error's line that needs nothing done to it is shown
 * as it is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/judge/diagnostics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

/* Checked in another way than the text was made. */
static void is_utf8(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		unsigned c = *p++, more = c < 0x80 ? 0 : c < 0xe0 ? 1 :
			     c < 0xf0 ? 2 : 3;

		must(c >= 0x20 && c != 0x7f && (c < 0x80 || c >= 0xc2));
		must(c < 0xf5 && !(c == 0xc2 && *p < 0xa0));
		for (; more; more--)
			must((*p++ & 0xc0) == 0x80);
	}
}

static bool is_of_name(unsigned char c)
{
	return c >= 0x80 || (c >= '0' && c <= '9') ||
	       (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '.' || c == '_' || c == '-';
}

static void hides(const char *text, const char *dir)
{
	size_t n = strlen(dir);

	for (const char *at = strstr(text, dir); at; at = strstr(at + 1, dir))
		must(is_of_name((unsigned char)at[n]) ||
		     !strcmp(at + n, ""));	/* the end may be a cut */
	if (strlen(text) < DIAGNOSTICS_MAX - 4 && strlen(text) >= n)
		must(strcmp(text + strlen(text) - n, dir) != 0);
}

static bool is_plain(const char *s, size_t len, const char *dir)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] < 32 || s[i] > 126)
			return false;
	return !memmem(s, len, dir, strlen(dir)) &&
	       !memmem(s, len, "undefined", 9) && len <= DIAGNOSTICS_MAX;
}

/* The first line with an error, when nothing says more. */
static void shows_error(const struct buf *said, const char *text,
			const char *dir)
{
	const char *at = memmem(said->ptr, said->len, "error: ", 7), *p, *end;

	if (!at || memmem(said->ptr, said->len, "undefined", 9) ||
	    memmem(said->ptr, said->len, "multiple definition of", 22) ||
	    memmem(said->ptr, (size_t)(at - said->ptr), "rror:", 5))
		return;
	for (p = at; p > said->ptr && p[-1] != '\n'; p--)
		;
	end = memchr(at, '\n', said->len - (size_t)(at - said->ptr));
	if (!end)
		end = said->ptr + said->len;
	if (strncmp(p, "collect2", 8) && is_plain(p, (size_t)(end - p), dir) &&
	    !memmem(p, (size_t)(end - p), "linker command", 14))
		must(strlen(text) == (size_t)(end - p) &&
		     !memcmp(text, p, strlen(text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	struct buf said = BUF_INIT, text = BUF_INIT, name = BUF_INIT;
	char *dir;

	if (!end || end - data < 2 || data[0] != '/' || end[-1] == '/')
		return 0;
	dir = strndup((const char *)data, (size_t)(end - data));
	must(dir != NULL);
	buf_add(&said, end + 1, size - (size_t)(end + 1 - data));
	diagnostics_text(&text, &said, dir);
	must(text.len && text.len <= DIAGNOSTICS_MAX &&
	     strlen(text.ptr) == text.len);
	is_utf8(text.ptr);
	if (strlen(dir) > 1 && dir[strlen(dir) - 1] != '/') {
		buf_add_clean(&name, dir, strlen(dir), false);
		hides(text.ptr, name.ptr);
		shows_error(&said, text.ptr, name.ptr);
	}
	buf_reset(&text);
	diagnostics_version(&text, said.ptr);
	must(text.len >= 4 && text.len <= 46);
	is_utf8(text.ptr);
	buf_release(&said);
	buf_release(&text);
	buf_release(&name);
	free(dir);
	return 0;
}
