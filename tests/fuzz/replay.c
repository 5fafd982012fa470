/*
 * The driver that replays a corpus with any compiler: each argument is an
 * input or a folder of inputs.  The empty input and the prefixes of every
 * input are tried too, since a reader of foreign bytes meets torn ones.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/buf.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REPLAY_MAX (8u << 20)
#define MAX_PREFIXES 64

/* On memory of exactly that size: a sanitizer then sees a read past it. */
static void one(const char *data, size_t len)
{
	uint8_t *copy = xmalloc(len ? len : 1);

	if (len)
		memcpy(copy, data, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static void replay_file(const char *path)
{
	struct err err = ERR_INIT;
	struct buf text = BUF_INIT;
	size_t step;

	/* Said before: the name is there when the input kills us. */
	printf("# %s\n", path);
	fflush(stdout);
	if (buf_read_file(&text, path, REPLAY_MAX, &err)) {
		ok(false, "%s is read: %s", path, err.msg);
		buf_release(&text);
		return;
	}
	step = text.len / MAX_PREFIXES + 1;
	for (size_t n = 0; n < text.len; n += step)
		one(text.ptr, n);
	one(text.ptr, text.len);
	ok(true, "%s", path);
	buf_release(&text);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void replay(const char *path)
{
	struct dirent **entry;
	struct stat st;
	int nr;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		replay_file(path);
		return;
	}
	nr = scandir(path, &entry, visible, alphasort);
	if (!ok(nr > 0, "%s holds inputs", path))
		return;
	for (int i = 0; i < nr; i++) {
		char *full = xasprintf("%s/%s", path, entry[i]->d_name);

		replay_file(full);
		free(full);
		free(entry[i]);
	}
	free(entry);
}

int main(int argc, char **argv)
{
	one("", 0);
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	return tap_done();
}
