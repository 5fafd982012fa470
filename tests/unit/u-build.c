/* needs: core/judge/build.c core/judge/stub.c core/judge/run.c
 * core/judge/jail.c core/judge/elf*.c core/judge/diagnostics.c core/record.c
 * core/dtype.c core/expr.c core/ini.c core/kernel.c core/kernel_arg.c
 * core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/source.c
 * core/sha1.c */
/*
 * A compiler that hostile source has taken over: whatever it leaves and says
 * is a result and no error, and nothing of others comes through.
 */
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/judge/build.h"
#include "core/judge/diagnostics.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

static const char section[] =
	"[kernel \"k\"]\nfile = k.c\nentry = k\n"
	"arg = in f32 x[n]\narg = out f32 y[n]\narg = dim n\ntime = n=10\n";

static char top[] = "/tmp/u-build.XXXXXX";
static char *dir, *so, *cc;
static struct kernel_file file;
static bool no_jail;

static void put(const char *name, const char *text, mode_t mode)
{
	char *path = xasprintf("%s/%s", top, name);
	struct err err = ERR_INIT;

	if (buf_write_file(path, text, strlen(text), &err) ||
	    chmod(path, mode) < 0)
		printf("# cannot write '%s'\n", path);
	free(path);
}

/* With a shell script in place of the compiler; $out: what it has to make. */
static bool build(const char *body, struct build_result *res)
{
	struct build_job job = { .kernel = file.v, .dir = dir, .so = so,
				 .cc = cc, .sandbox_none = no_jail };
	char *text = xasprintf("#!/bin/sh\nwhile [ $# -gt 0 ]; do\n"
			       "[ \"$1\" = -o ] && out=$2\nshift\ndone\n%s\n",
			       body);
	struct err err = ERR_INIT;
	int ret;

	put("home/bin/cc", text, 0755);
	free(text);
	unlink(so);
	ret = build_run(&job, res, &err);
	if (ret && !no_jail && strstr(err.msg, "jail")) {
		printf("# no jail here: %s\n", err.msg);
		no_jail = job.sandbox_none = true;
		ret = build_run(&job, res, &err);
	}
	if (ret)
		printf("# %s\n", err.msg);
	return !ret;
}

static void makes(const char *what, const char *body, enum verdict verdict,
		  const char *says)
{
	struct build_result res = { V_NONE, NULL, 0 };

	ok(build(body, &res) && res.verdict == verdict && res.error &&
	   strstr(res.error, says) && access(so, F_OK) < 0,
	   "%s: %s", what, says);
	if (res.error && !strstr(res.error, says))
		printf("# %s\n", res.error);
	build_result_release(&res);
}

static void test_objects(void)
{
	const char *none = "made no object file";

	makes("nothing", "exit 0", V_BUILD_FAIL, none);
	makes("a folder", "mkdir $out", V_BUILD_FAIL, none);
	makes("a pipe", "mkfifo $out", V_BUILD_FAIL, none);
	makes("a link to a good one", "ln -s ../good.so $out", V_BUILD_FAIL,
	      none);
	makes("a link to nowhere", "ln -s nowhere $out", V_BUILD_FAIL, none);
	makes("an empty file", ": >$out", V_GATE_FAIL, "damaged");
	makes("text", "echo int k >$out", V_GATE_FAIL, "damaged");
	makes("too much", "truncate -s 65M $out", V_GATE_FAIL, "64 MiB");
	makes("a crash", "kill -SEGV $$", V_BUILD_FAIL, "signal 11");
}

/* What it said, or NULL. */
static char *said(const char *body)
{
	struct build_result res = { V_NONE, NULL, 0 };
	char *text = NULL;

	if (build(body, &res) && res.verdict == V_BUILD_FAIL)
		text = xstrdup(res.error);
	build_result_release(&res);
	return text;
}

static void test_texts(void)
{
	char *s = said("printf 'k.c:1: error: \\033]0;x\\007\\377\\n'; exit 1");

	is_str(s, "k.c:1: error: ?]0;x??", "no control character comes out");
	free(s);
	s = said("echo \"$PWD/k.c:3: error: in $PWD\"; exit 1");
	is_str(s, "k.c:3: error: in .", "nor the folder");
	free(s);
	s = said("yes error: $PWD/ | head -c 1000000; exit 1");
	is_str(s, "error: ", "of much output the first");
	free(s);
	s = said("printf error:; printf '\\303\\251%.0s' $(seq 400); exit 1");
	ok(s && strlen(s) == DIAGNOSTICS_MAX && (s[DIAGNOSTICS_MAX - 1] & 0xff)
	   == 0xa9, "it is cut between characters");
	free(s);
	s = said("exit 3");
	is_str(s, "the compiler failed and did not say why", "silence");
	free(s);
	s = said("cat ../secret; exit 1");
	ok(s && (no_jail || !strstr(s, "hidden")), "what others have is not "
	   "read");
	free(s);
	s = said("cat ../home/secret; exit 1");
	ok(s && (no_jail || !strstr(s, "hidden")), "nor a home that holds "
	   "the compiler");
	free(s);
}

static void test_version(void)
{
	static const struct {
		const char *line, *want;
	} t[] = {
		{ "gcc (Debian 12.2.0-14) 12.2.0", "gcc 12.2.0" },
		{ "Debian clang version 14.0.6", "clang 14.0.6" },
		{ "gcc (x) \x1b[1m9\nrest", "gcc ?[1m9" },
		{ "", "gcc " },
	};
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		buf_reset(&b);
		diagnostics_version(&b, t[i].line);
		is_str(b.ptr, t[i].want, "version '%s'", t[i].want);
	}
	buf_release(&b);
}

static int drop(const char *path, const struct stat *st, int type,
		struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	struct err err = ERR_INIT;
	char *home, *bin;

	if (!mkdtemp(top) || kernel_file_parse(&file, "k", section,
					       strlen(section), &err)) {
		ok(false, "set up: %s", err.msg);
		return tap_done();
	}
	home = xasprintf("%s/home", top);
	bin = xasprintf("%s/bin", home);
	dir = xasprintf("%s/src", top);
	so = xasprintf("%s/out.so", top);
	cc = xasprintf("%s/cc", bin);
	if (mkdir(home, 0755) < 0 || mkdir(bin, 0755) < 0 ||
	    mkdir(dir, 0755) < 0 || setenv("HOME", home, 1) < 0)
		printf("# cannot make '%s'\n", bin);
	put("src/k.c", "void k(const float *x, float *y, int n) {}\n", 0644);
	put("good.so", "another's\n", 0644);
	put("secret", "hidden\n", 0600);
	put("home/secret", "hidden\n", 0600);
	test_objects();
	test_texts();
	test_version();
	nftw(top, drop, 8, FTW_DEPTH | FTW_PHYS);
	kernel_file_release(&file);
	free(home);
	free(bin);
	free(dir);
	free(so);
	free(cc);
	return tap_done();
}
