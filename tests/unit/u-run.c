/* needs: core/judge/run.c core/judge/jail.c */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/judge/run.h"
#include "core/mem.h"
#include "tests/unit/tap.h"

static char top[] = "/tmp/u-run.XXXXXX";

static int shell(const char *script, double timeout_s, bool jailed,
		 struct buf *out, struct run_end *end, struct err *err)
{
	static char sh[] = "/bin/sh", dash_c[] = "-c";
	char *text = xstrdup(script);
	char *argv[] = { sh, dash_c, text, NULL };
	const struct jail_path may[] = {
		{ "/usr", JAIL_READ }, { "/bin", JAIL_READ },
		{ "/lib", JAIL_READ }, { "/lib64", JAIL_READ },
		{ "/etc/ld.so.cache", JAIL_READ }, { top, JAIL_WRITE },
	};
	struct run r = {
		.argv = argv, .dir = top, .timeout_s = timeout_s,
		.max_output = 1000, .jailed = jailed, .paths = may,
		.nr_paths = ARRAY_SIZE(may),
	};
	int ret;

	buf_reset(out);
	ret = run_program(&r, out, end, err);
	free(text);
	return ret;
}

static void test_plain(void)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	struct run_end end;

	ok(!shell("echo a; echo b >&2; exit 3", 10, false, &out, &end, &err) &&
	   WEXITSTATUS(end.status) == 3 && !end.late && end.seconds > 0,
	   "a status %s", err.msg);
	is_str(out.ptr, "a\nb\n", "both streams");
	shell("/usr/bin/env | /usr/bin/sort | /bin/sed 's/=.*//' | "
	      "/bin/grep -v '^_$' | /bin/grep -v PWD", 10, false, &out, &end,
	      &err);
	is_str(out.ptr, "HOME\nLC_ALL\nPATH\nTMPDIR\n", "the environment");
	shell("pwd; read x || echo empty; ls /proc/self/fd | wc -l", 10, false,
	      &out, &end, &err);
	ok(!strncmp(out.ptr, top, strlen(top)) && strstr(out.ptr, "empty\n"),
	   "the folder, and nothing to read");
	ok(strstr(out.ptr, "\n4\n"), "no other descriptor");
	shell("while :; do echo 0123456789; done", 0.3, false, &out, &end,
	      &err);
	ok(out.len == 1000 && end.late, "endless output: 1000 bytes kept");
	shell("kill -9 $$", 10, false, &out, &end, &err);
	ok(WIFSIGNALED(end.status) && WTERMSIG(end.status) == 9, "a signal");
	buf_release(&out);
}

static void test_late(void)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	struct run_end end;
	pid_t pid;
	bool gone = false;

	shell("sleep 100 & echo $!; wait", 0.3, false, &out, &end, &err);
	pid = (pid_t)strtol(out.ptr, NULL, 10);
	for (int i = 0; i < 200 && !gone; i++) {
		char name[64], state = 0;
		FILE *f;

		snprintf(name, sizeof(name), "/proc/%ld/stat", (long)pid);
		f = fopen(name, "r");
		gone = !f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1 ||
		       state == 'Z';
		if (f)
			fclose(f);
		usleep(10000);
	}
	ok(end.late && pid > 1 && gone, "late: it and its children end");
	shell("exec >&- 2>&-; exec sleep 100", 0.3, false, &out, &end, &err);
	ok(end.late, "late without output");
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD,
	   "no child is left");
	buf_release(&out);
}

static void test_errors(void)
{
	char none[] = "/no/such/program", *argv[] = { none, NULL };
	struct run r = { .argv = argv, .dir = top, .timeout_s = 5,
			 .max_output = 100 };
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	struct run_end end;

	is_int(run_program(&r, &out, &end, &err), ERR_SYS, "no program");
	ok(strstr(err.msg, "/no/such/program"), "and it says which");
	r.dir = "/no/such/dir";
	is_int(run_program(&r, &out, &end, &err), ERR_SYS, "no folder");
	buf_release(&out);
}

static void test_jailed(void)
{
	struct buf out = BUF_INIT;
	struct err err = ERR_INIT;
	struct run_end end;

	if (!jail_landlock_abi()) {
		ok(true, "the jail # skip: no Landlock in this kernel");
		return;
	}
	ok(!shell("cat /etc/passwd", 10, true, &out, &end, &err) &&
	   end.status && strstr(out.ptr, "Permission denied"),
	   "no file of the system is read %s", err.msg);
	ok(!shell("echo x > file && cat file", 10, true, &out, &end, &err) &&
	   !end.status, "its folder can be written");
	ok(!shell("echo x > /tmp/u-run-outside", 10, true, &out, &end, &err) &&
	   end.status && access("/tmp/u-run-outside", F_OK) < 0,
	   "no other can");
	ok(!shell("ls /", 10, true, &out, &end, &err) && end.status,
	   "no other can be listed");
	buf_release(&out);
}

int main(void)
{
	char *clean;

	if (!mkdtemp(top)) {
		ok(false, "no folder for the test");
		return tap_done();
	}
	test_plain();
	test_late();
	test_errors();
	test_jailed();
	clean = xasprintf("rm -rf '%s'", top);
	if (system(clean))
		printf("# cannot remove %s\n", top);
	free(clean);
	return tap_done();
}
