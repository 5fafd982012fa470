#include "core/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/sha1.h"

/* Index of path, or of the place where it belongs. */
static size_t place(const struct srcset *s, const char *path, bool *there)
{
	size_t lo = 0, hi = s->nr;

	*there = false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(s->v[mid].path, path);

		if (c == 0) {
			*there = true;
			return mid;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void srcset_put(struct srcset *s, const char *path, const char *text,
		size_t len, bool writable)
{
	bool there;
	size_t at = place(s, path, &there);
	struct buf copy = BUF_INIT;

	buf_add(&copy, text, len);	/* text may be that of the old file */
	if (there) {
		buf_release(&s->v[at].text);
	} else {
		char *own = xstrdup(path);

		GROW(s->v, s->nr, s->cap);
		memmove(s->v + at + 1, s->v + at,
			(s->nr - at) * sizeof(*s->v));
		s->nr++;
		s->v[at].path = own;
	}
	s->v[at].text = copy;
	s->v[at].writable = writable;
}

struct srcfile *srcset_find(const struct srcset *s, const char *path)
{
	bool there;
	size_t at = place(s, path, &there);

	return there ? &s->v[at] : NULL;
}

void srcset_copy(struct srcset *to, const struct srcset *from)
{
	*to = (struct srcset)SRCSET_INIT;
	for (size_t i = 0; i < from->nr; i++)
		srcset_put(to, from->v[i].path, from->v[i].text.ptr,
			   from->v[i].text.len, from->v[i].writable);
}

void srcset_release(struct srcset *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->v[i].path);
		buf_release(&s->v[i].text);
	}
	free(s->v);
	*s = (struct srcset)SRCSET_INIT;
}

void source_blob_id(const void *data, size_t len, struct oid *id)
{
	struct sha1 sha;
	char head[32];
	int n = snprintf(head, sizeof(head), "blob %zu", len);

	sha1_init(&sha);
	sha1_add(&sha, head, (size_t)n + 1);	/* with its NUL */
	sha1_add(&sha, data, len);
	sha1_end(&sha, id->id);
}

void srcset_state(const struct srcset *s, struct oid *state)
{
	struct buf list = BUF_INIT;
	struct oid id;

	for (size_t i = 0; i < s->nr; i++) {
		source_blob_id(s->v[i].text.ptr, s->v[i].text.len, &id);
		buf_addf(&list, "%s %s\n", oid_text(&id).s, s->v[i].path);
	}
	source_blob_id(list.ptr, list.len, state);
	buf_release(&list);
}

bool path_is_safe(const char *path)
{
	const char *p = path;

	if (!*path || strlen(path) > SOURCE_MAX_PATH)
		return false;
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return false;
	for (;;) {
		size_t len = strcspn(p, "/");

		if (len == 0 || (len == 1 && p[0] == '.') ||
		    (len == 2 && p[0] == '.' && p[1] == '.') ||
		    (len == 4 && !strncasecmp(p, ".git", 4)))
			return false;
		if (!p[len])
			return true;
		p += len + 1;
	}
}

/* Makes the folders that path names, below the folder dir. */
static int make_folders(int dir, const char *path, struct err *err)
{
	char *part = xstrdup(path);
	int ret = 0;

	for (char *p = strchr(part, '/'); p && !ret; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdirat(dir, part, 0755) < 0 && errno != EEXIST)
			ret = err_sys(err, "cannot make the folder '%s'",
				      part);
		*p = '/';
	}
	free(part);
	return ret;
}

static int write_one(int dir, const struct srcfile *f, struct err *err)
{
	const char *p = f->text.ptr;
	size_t left = f->text.len;
	int ret = 0;
	int fd = openat(dir, f->path, O_WRONLY | O_CREAT | O_EXCL |
			O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_sys(err, "cannot create '%s'", f->path);
	while (left && !ret) {
		ssize_t n = write(fd, p, left);

		if (n < 0 && errno != EINTR) {
			ret = err_sys(err, "cannot write '%s'", f->path);
		} else if (n > 0) {
			p += n;
			left -= (size_t)n;
		}
	}
	if (!ret && fchmod(fd, 0644) < 0)
		ret = err_sys(err, "cannot write '%s'", f->path);
	if (close(fd) < 0 && !ret)
		ret = err_sys(err, "cannot write '%s'", f->path);
	return ret;
}

int srcset_write(const struct srcset *s, const char *dir, struct err *err)
{
	int fd, ret = 0;

	for (size_t i = 0; i < s->nr; i++)
		if (!path_is_safe(s->v[i].path))
			return err_set(err, ERR_FORMAT,
				       "the path '%s' is not allowed",
				       s->v[i].path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot open the folder '%s'", dir);
	for (size_t i = 0; i < s->nr && !ret; i++) {
		ret = make_folders(fd, s->v[i].path, err);
		if (!ret)
			ret = write_one(fd, &s->v[i], err);
	}
	close(fd);
	return ret ? err_wrap(err, "'%s'", dir) : 0;
}
