/* needs: core/sha1.c core/source.c core/oid.c */
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/sha1.h"
#include "core/source.h"
#include "tests/unit/tap.h"

static char *dir;

static void sha_is(const char *text, int times, const char *want)
{
	struct sha1 s;
	struct oid id;

	sha1_init(&s);
	for (int i = 0; i < times; i++)
		sha1_add(&s, text, strlen(text));
	sha1_end(&s, id.id);
	is_str(oid_text(&id).s, want, "SHA-1 of %d times '%.20s'", times,
	       text);
}

static void vectors(void)
{
	sha_is("", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	sha_is("abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d");
	sha_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	       "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	sha_is("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
	       "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", 1,
	       "a49b2446a02c645bf419f995b67091253a04a259");
	sha_is("a", 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
	sha_is("0123456701234567012345670123456701234567012345670123456701"
	       "234567", 10, "dea356a2cddd90c7a7ecedc5ebb563934f460452");
}

/* What `git hash-object` says of the bytes. */
static void git_id(const void *data, size_t len, char hex[64])
{
	char *path = xasprintf("%s/blob", dir);
	char *cmd = xasprintf("git hash-object --no-filters '%s'", path);
	struct err err = ERR_INIT;
	FILE *git;

	hex[0] = '\0';
	if (buf_write_file(path, data, len, &err))
		printf("# %s\n", err.msg);
	git = popen(cmd, "r");
	if (git) {
		if (!fgets(hex, 64, git))
			hex[0] = '\0';
		pclose(git);
	}
	hex[strcspn(hex, "\n")] = '\0';
	free(path);
	free(cmd);
}

static void blobs(void)
{
	static const size_t sizes[] = {
		0, 1, 43, 44, 45, 46, 47, 48, 54, 55, 56, 57, 63, 64, 65,
		108, 111, 112, 119, 120, 128, 1000, 100003
	};
	unsigned char *data = xmalloc(100003);
	char hex[64];
	struct oid id;

	for (size_t i = 0; i < 100003; i++)
		data[i] = (unsigned char)(i * i * 31 + i / 7);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		source_blob_id(data, sizes[i], &id);
		git_id(data, sizes[i], hex);
		is_str(oid_text(&id).s, hex, "blob id of %zu bytes",
		       sizes[i]);
	}
	free(data);
	source_blob_id("hello\n", 6, &id);
	is_str(oid_text(&id).s, "ce013625030ba8dba906f756967f9e9ca394464a",
	       "a blob id that everybody knows");
}

static void sets(void)
{
	struct srcset s = SRCSET_INIT, copy;
	struct oid a, b;
	struct buf lines = BUF_INIT;

	srcset_state(&s, &a);
	is_str(oid_text(&a).s, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
	       "the state of nothing is the empty blob");
	srcset_put(&s, "k/b.c", "bb", 2, true);
	srcset_put(&s, "k/a.c", "a", 1, true);
	srcset_put(&s, "u.h", "", 0, false);
	srcset_put(&s, "k.c", "hello\n", 6, false);
	ok(s.nr == 4 && !strcmp(s.v[0].path, "k.c") &&
	   !strcmp(s.v[1].path, "k/a.c") && !strcmp(s.v[2].path, "k/b.c") &&
	   !strcmp(s.v[3].path, "u.h"), "sorted by path");
	ok(srcset_find(&s, "k/b.c") == &s.v[2], "found");
	ok(!srcset_find(&s, "k/c.c") && !srcset_find(&s, ""), "not found");

	for (size_t i = 0; i < s.nr; i++) {
		source_blob_id(s.v[i].text.ptr, s.v[i].text.len, &a);
		buf_addf(&lines, "%s %s\n", oid_text(&a).s, s.v[i].path);
	}
	source_blob_id(lines.ptr, lines.len, &a);
	srcset_state(&s, &b);
	ok(oid_eq(&a, &b), "the state is the id of the list");
	buf_release(&lines);

	srcset_copy(&copy, &s);
	srcset_state(&copy, &b);
	ok(oid_eq(&a, &b), "a copy has the same state");
	srcset_put(&copy, "k/a.c", copy.v[1].text.ptr, 0, false);
	ok(copy.nr == 4 && !copy.v[1].text.len && !copy.v[1].writable,
	   "a path that is there is replaced");
	srcset_state(&copy, &b);
	ok(!oid_eq(&a, &b), "another text, another state");
	is_str(s.v[1].text.ptr, "a", "the original is as it was");
	srcset_release(&copy);
	srcset_release(&s);
	ok(!s.nr && !s.v, "released");
}

static void paths(void)
{
	static const char *const good[] = {
		"a", "a/b/c.c", "..a", "a..b/c", ".gitignore", "a/.github/x",
		"x y.c", "k\xc3\xa4rn.c", "-x", "a*.c", "...", "git",
	};
	static const char *const bad[] = {
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..",
		"a/../b", "./a", "a/.", ".git", ".git/config", "a/.GIT/b",
		"a/.Git", "a\nb", "a\tb", "a\x7f", "\x01",
	};
	char longer[SOURCE_MAX_PATH + 2];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ok(path_is_safe(good[i]), "'%s' is allowed", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(!path_is_safe(bad[i]), "bad path %zu is refused", i);
	memset(longer, 'a', sizeof(longer));
	longer[SOURCE_MAX_PATH + 1] = '\0';
	ok(!path_is_safe(longer), "a path beyond the cap");
	longer[SOURCE_MAX_PATH] = '\0';
	ok(path_is_safe(longer), "a path at the cap");
}

static void files_of(const char *where)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct stat st;
	char *path = xasprintf("%s/k/deep/a.c", where);

	ok(!buf_read_file(&text, path, 100, &err) && text.len == 3 &&
	   !memcmp(text.ptr, "x\0y", 3), "the bytes are there");
	ok(!stat(path, &st) && (st.st_mode & 07777) == 0644, "mode 0644");
	free(path);
	path = xasprintf("%s/k/deep", where);
	ok(!stat(path, &st) && (st.st_mode & 07777) == 0755,
	   "folders are 0755");
	free(path);
	path = xasprintf("%s/k/b.c", where);
	buf_reset(&text);
	ok(!buf_read_file(&text, path, 100, &err) && !text.len,
	   "an empty file is there");
	free(path);
	buf_release(&text);
}

static void writes(void)
{
	struct srcset s = SRCSET_INIT;
	struct err err = ERR_INIT;
	char *where = xasprintf("%s/out", dir);
	char *link = xasprintf("%s/out2", dir);
	char *inner = xasprintf("%s/out2/f", dir);

	umask(022);
	mkdir(where, 0755);
	srcset_put(&s, "k/deep/a.c", "x\0y", 3, true);
	srcset_put(&s, "k/b.c", "", 0, true);
	is_int(srcset_write(&s, where, &err), 0, "written");
	files_of(where);
	is_int(srcset_write(&s, where, &err), ERR_SYS,
	       "what is there is not written over");
	srcset_put(&s, "k/../../evil", "x", 1, true);
	is_int(srcset_write(&s, where, &err), ERR_FORMAT,
	       "a path that leaves the folder is refused");
	ok(strstr(err.msg, "k/../../evil") != NULL, "and named");
	srcset_release(&s);

	mkdir(link, 0755);
	if (symlink("/tmp/maxkernel-nowhere", inner))
		printf("# no symlink\n");
	srcset_put(&s, "f", "x", 1, true);
	is_int(srcset_write(&s, link, &err), ERR_SYS, "no way through a link");
	srcset_release(&s);
	srcset_put(&s, "a", "x", 1, true);
	is_int(srcset_write(&s, "/nonexistent/folder", &err), ERR_SYS,
	       "no folder");
	srcset_release(&s);
	free(where);
	free(link);
	free(inner);
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char *clean;

	dir = xasprintf("%s/u-source.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 1;
	vectors();
	blobs();
	sets();
	paths();
	writes();
	clean = xasprintf("rm -rf '%s'", dir);
	ok(system(clean) == 0, "cleaned up");
	free(clean);
	free(dir);
	return tap_done();
}
