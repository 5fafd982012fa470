#include "core/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

char buf_empty[1];

void buf_init(struct buf *b)
{
	b->ptr = buf_empty;
	b->len = b->cap = 0;
}

void buf_release(struct buf *b)
{
	if (b->cap)
		free(b->ptr);
	buf_init(b);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->cap)
		b->ptr[0] = '\0';
}

char *buf_detach(struct buf *b)
{
	char *s = b->cap ? b->ptr : xstrdup("");

	buf_init(b);
	return s;
}

/* Room for extra more bytes and the terminator. */
static void reserve(struct buf *b, size_t extra)
{
	size_t need, cap;

	if (extra >= SIZE_MAX / 2 - b->len)
		xcalloc(SIZE_MAX, 2);	/* reports and ends */
	need = b->len + extra + 1;
	if (need <= b->cap)
		return;
	cap = b->cap ? b->cap : 64;
	while (cap < need)
		cap *= 2;
	b->ptr = xreallocarray(b->cap ? b->ptr : NULL, cap, 1);
	b->cap = cap;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	reserve(b, len);
	if (len)
		memcpy(b->ptr + b->len, data, len);
	b->len += len;
	b->ptr[b->len] = '\0';
}

void buf_addstr(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addch(struct buf *b, int c)
{
	char ch = (char)c;

	buf_add(b, &ch, 1);
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list copy;
	int len;

	va_copy(copy, ap);
	len = vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	if (len < 0)
		return;
	reserve(b, (size_t)len);
	vsnprintf(b->ptr + b->len, (size_t)len + 1, fmt, ap);
	b->len += (size_t)len;
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

bool buf_add_max(struct buf *b, const void *data, size_t len, size_t max)
{
	if (b->len > max || len > max - b->len)
		return false;
	buf_add(b, data, len);
	return true;
}

void buf_splice(struct buf *b, size_t pos, size_t len,
		const void *data, size_t data_len)
{
	size_t tail = b->len - pos - len;

	reserve(b, data_len);
	memmove(b->ptr + pos + data_len, b->ptr + pos + len, tail);
	if (data_len)
		memcpy(b->ptr + pos, data, data_len);
	b->len = pos + data_len + tail;
	b->ptr[b->len] = '\0';
}

int buf_read_fd(struct buf *b, int fd, size_t max, struct err *err)
{
	char chunk[16384];
	ssize_t n;

	for (;;) {
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "cannot read");
		if (n == 0)
			return 0;
		if (!buf_add_max(b, chunk, (size_t)n, max))
			return err_set(err, ERR_LIMIT,
				       "longer than %zu bytes", max);
	}
}

int buf_read_file(struct buf *b, const char *path, size_t max,
		  struct err *err)
{
	struct stat st;
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOTFOUND, "there is no '%s'", path);
	if (fd < 0)
		return err_sys(err, "cannot open '%s'", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, ERR_FORMAT, "'%s' is not a regular file",
			       path);
	}
	ret = buf_read_fd(b, fd, max, err);
	close(fd);
	return ret ? err_wrap(err, "'%s'", path) : 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int buf_write_file(const char *path, const void *data, size_t len,
		   struct err *err)
{
	char *tmp = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(tmp, O_CLOEXEC);

	if (fd < 0) {
		err_sys(err, "cannot create '%s'", tmp);
		free(tmp);
		return err->code;
	}
	if (fchmod(fd, 0644) < 0 || write_all(fd, data, len) < 0 ||
	    fsync(fd) < 0) {
		err_sys(err, "cannot write '%s'", path);
		close(fd);
		goto fail;
	}
	if (close(fd) < 0 || rename(tmp, path) < 0) {
		err_sys(err, "cannot write '%s'", path);
		goto fail;
	}
	free(tmp);
	return 0;
fail:
	unlink(tmp);
	free(tmp);
	return err->code;
}

/* Length of the valid UTF-8 sequence at s (1 to 4), or 0. */
static size_t utf8_len(const unsigned char *s, size_t len)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned c = s[0], code;
	size_t n, i;

	if (c < 0x80)
		return 1;
	n = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 :
	    c >= 0xc2 && c < 0xe0 ? 2 : 0;
	if (!n || n > len)
		return 0;
	code = c & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3fu);
	}
	if (code < least[n] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return n;
}

void buf_add_json(struct buf *b, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t left = strlen(s), n;

	buf_addch(b, '"');
	for (; left; p += n, left -= n) {
		n = utf8_len(p, left);
		if (!n) {
			buf_addstr(b, "\\ufffd");
			n = 1;
		} else if (*p == '"' || *p == '\\') {
			buf_addf(b, "\\%c", *p);
		} else if (*p == '\n') {
			buf_addstr(b, "\\n");
		} else if (*p == '\t') {
			buf_addstr(b, "\\t");
		} else if (*p < 0x20 || *p == 0x7f) {
			buf_addf(b, "\\u%04x", *p);
		} else {
			buf_add(b, p, n);
		}
	}
	buf_addch(b, '"');
}

void buf_add_clean(struct buf *b, const char *s, size_t len, bool multiline)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n;

	for (; len; p += n, len -= n) {
		n = utf8_len(p, len);
		if (multiline && (*p == '\n' || *p == '\t')) {
			buf_addch(b, *p);
			n = 1;
		} else if (!n || *p < 0x20 || *p == 0x7f ||
			   (n == 2 && p[0] == 0xc2 && p[1] < 0xa0)) {
			buf_addch(b, '?');
			n = n ? n : 1;
		} else {
			buf_add(b, p, n);
		}
	}
}

void strv_push(struct strv *s, const char *text)
{
	GROW(s->v, s->nr, s->cap);
	s->v[s->nr++] = xstrdup(text);
}

void strv_pushf(struct strv *s, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	GROW(s->v, s->nr, s->cap);
	s->v[s->nr++] = buf_detach(&b);
}

bool strv_has(const struct strv *s, const char *text)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->v[i], text))
			return true;
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strv_sort(struct strv *s)
{
	if (s->nr > 1)
		qsort(s->v, s->nr, sizeof(*s->v), by_text);
}

void strv_release(struct strv *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->v[i]);
	free(s->v);
	s->v = NULL;
	s->nr = s->cap = 0;
}

char **strv_argv(struct strv *s)
{
	GROW(s->v, s->nr, s->cap);
	s->v[s->nr] = NULL;
	return s->v;
}
