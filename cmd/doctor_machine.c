/* The machine as the system, its files and its compilers describe it. */
#include <linux/landlock.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/child.h"
#include "cmd/doctor.h"
#include "core/mem.h"
#include "core/paths.h"

#define TEXT_MAX (1u << 20)

/* ---- small readers ---- */

/* First line of a file of the system, or false. */
static bool first_line(const char *path, struct buf *out)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	bool good = !buf_read_file(&text, path, TEXT_MAX, &err) && text.len;

	if (good)
		buf_add_clean(out, text.ptr, strcspn(text.ptr, "\n"), false);
	buf_release(&text);
	return good && out->len;
}

/* stdout of a program, or false. */
static bool output_of(const char *const *words, struct buf *out)
{
	struct strv argv = STRV_INIT;
	struct err err = ERR_INIT;
	int status = 1;

	for (; *words; words++)
		strv_push(&argv, *words);
	if (child_read(&argv, true, TEXT_MAX, out, &status, &err))
		status = 1;
	strv_release(&argv);
	return status == 0;
}

/* The rest of the first line that begins with key and a separator. */
static bool line_of(const char *text, const char *key, struct buf *out)
{
	size_t len = strlen(key);

	for (const char *p = text; *p; p += *p == '\n') {
		const char *line = p + strspn(p, " \t");

		p += strcspn(p, "\n");
		if (strncmp(line, key, len))
			continue;
		line += len;
		line += strspn(line, " \t:=");
		if (line >= p)
			continue;
		buf_add_clean(out, line, (size_t)(p - line), false);
		return true;
	}
	return false;
}

/* ---- programs ---- */

static void check_git(struct findings *f)
{
	static const char *const words[] = { "git", "--version", NULL };
	struct buf b = BUF_INIT;

	if (output_of(words, &b))
		doctor_found(f, "git", "%.*s", (int)strcspn(b.ptr, "\n"),
			     b.ptr);
	else
		doctor_advise(doctor_found(f, "git", "not found"), true,
			      "install git and see that PATH leads to it");
	buf_release(&b);
}

static bool check_compiler(struct findings *f, const char *cc)
{
	const char *const words[] = { cc, "--version", NULL };
	struct buf b = BUF_INIT;
	bool there = output_of(words, &b);

	if (there)
		doctor_found(f, cc, "%.*s", (int)strcspn(b.ptr, "\n"), b.ptr);
	else
		doctor_found(f, cc, "not found");
	buf_release(&b);
	return there;
}

/* What -march=native means to the compiler, and how wide its vectors are:
 * both from the compiler, which knows them better than any table of ours. */
static void check_isa(struct findings *f, const char *cc)
{
	const char *const macros[] = { cc, "-march=native", "-dM", "-E", "-x",
				       "c", "/dev/null", NULL };
	const char *const target[] = { cc, "-march=native", "-Q",
				       "--help=target", NULL };
	struct buf text = BUF_INIT, width = BUF_INIT, arch = BUF_INIT;

	if (output_of(macros, &text) &&
	    line_of(text.ptr, "#define __BIGGEST_ALIGNMENT__", &width)) {
		buf_reset(&text);
		if (!output_of(target, &text) ||
		    !line_of(text.ptr, "-march", &arch))
			buf_addstr(&arch, "unknown");
		doctor_found(f, "vectors", "%ld bits (-march=native is %s)",
			     8 * strtol(width.ptr, NULL, 10), arch.ptr);
	} else {
		doctor_found(f, "vectors",
			     "%s does not know -march=native here", cc);
	}
	buf_release(&arch);
	buf_release(&width);
	buf_release(&text);
}

static void check_compilers(struct findings *f)
{
	bool gcc = check_compiler(f, "gcc"), clang = check_compiler(f, "clang");

	if (!gcc && !clang) {
		doctor_advise(&f->v[f->nr - 1], true,
			      "install a compiler: apt install gcc (dnf "
			      "install gcc)");
		return;
	}
	if (!gcc)
		doctor_advise(&f->v[f->nr - 2], false,
			      "install gcc, or say `cc = "
			      "clang' in .maxkernel");
	check_isa(f, gcc ? "gcc" : "clang");
}

static void check_helper(struct findings *f, const char *name)
{
	char *path = paths_exec(name);

	if (!access(path, X_OK))
		doctor_found(f, name, "%s", path);
	else
		doctor_advise(
			doctor_found(f, name, "not found at %s", path), true,
			"run 'make install', or set MAXKERNEL_EXEC_PATH to the "
			"folder that holds it");
	free(path);
}

/* ---- the machine ---- */

static void check_cpu(struct findings *f)
{
	struct buf text = BUF_INIT, model = BUF_INIT;
	struct err err = ERR_INIT;

	if (!buf_read_file(&text, "/proc/cpuinfo", TEXT_MAX, &err) &&
	    (line_of(text.ptr, "model name", &model) ||
	     line_of(text.ptr, "CPU part", &model)))
		doctor_found(f, "cpu", "%s", model.ptr);
	else
		doctor_found(f, "cpu", "unknown");
	buf_release(&model);
	buf_release(&text);
}

/* Physical cores among the CPUs that we may use: different sibling lists. */
static size_t physical_cores(const cpu_set_t *set)
{
	struct strv lists = STRV_INIT;
	size_t nr;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		struct buf b = BUF_INIT;
		char *path;

		if (!CPU_ISSET(cpu, set))
			continue;
		path = xasprintf("/sys/devices/system/cpu/cpu%d/topology/"
				 "thread_siblings_list",
				 cpu);
		if (first_line(path, &b) && !strv_has(&lists, b.ptr))
			strv_push(&lists, b.ptr);
		free(path);
		buf_release(&b);
	}
	nr = lists.nr;
	strv_release(&lists);
	return nr;
}

static void check_cores(struct findings *f)
{
	struct buf smt = BUF_INIT;
	int cpus, online = (int)sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) < 0) {
		doctor_found(f, "cores", "%d", online);
		return;
	}
	cpus = CPU_COUNT(&set);
	if (!first_line("/sys/devices/system/cpu/smt/active", &smt))
		buf_addstr(&smt, "unknown");
	doctor_found(f, "cores", "%zu cores, %d of %d CPUs usable, SMT %s",
		     physical_cores(&set), cpus, online,
		     !strcmp(smt.ptr, "1")   ? "on"
		     : !strcmp(smt.ptr, "0") ? "off"
					     : smt.ptr);
	if (cpus < 2)
		doctor_advise(&f->v[f->nr - 1], false,
			      "with one CPU, whatever else "
			      "runs disturbs the measurements");
	buf_release(&smt);
}

static void check_governor(struct findings *f)
{
	struct buf b = BUF_INIT;

	if (!first_line("/sys/devices/system/cpu/cpu0/cpufreq/"
			"scaling_governor",
			&b))
		doctor_found(f, "governor", "not visible (a virtual machine?)");
	else if (strcmp(b.ptr, "performance"))
		doctor_advise(doctor_found(f, "governor", "%s", b.ptr), false,
			      "for steadier numbers: cpupower frequency-set -g "
			      "performance");
	else
		doctor_found(f, "governor", "%s", b.ptr);
	buf_release(&b);
}

static void check_load(struct findings *f)
{
	double load[3];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (getloadavg(load, 3) != 3) {
		doctor_found(f, "load", "unknown");
		return;
	}
	doctor_found(f, "load", "%.2f %.2f %.2f", load[0], load[1], load[2]);
	if (load[0] > 0.5 * (double)cpus)
		doctor_advise(&f->v[f->nr - 1], false,
			      "other programs are running; "
			      "small gains will not be seen until they end");
}

static double now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* How long a reading takes and, in a busy loop of 50 ms, the longest time that
 * was taken from us. */
static void check_clock(struct findings *f)
{
	struct buf source = BUF_INIT;
	double start = now_ns(CLOCK_MONOTONIC), last = start, worst = 0, now;
	long nr = 0;

	do {
		now = now_ns(CLOCK_MONOTONIC);
		if (now - last > worst)
			worst = now - last;
		last = now;
		nr++;
	} while (now - start < 50e6);
	if (!first_line("/sys/devices/system/clocksource/clocksource0/"
			"current_clocksource",
			&source))
		buf_addstr(&source, "unknown source");
	doctor_found(f, "clock",
		     "%s, a reading takes %.0f ns, longest gap %.0f us",
		     source.ptr, (now - start) / (double)nr, worst / 1e3);
	if ((now - start) / (double)nr > 500)
		doctor_advise(&f->v[f->nr - 1], false,
			      "reading this clock is slow; "
			      "kernels under 10 us are measured in batches");
	buf_release(&source);
}

void doctor_machine(struct findings *f)
{
	doctor_found(f, "program", "git-maxkernel %s", VERSION);
	check_git(f);
	check_compilers(f);
	check_helper(f, "git-maxkernel-judge");
	check_helper(f, "git-maxkernel-worker");
	check_cpu(f);
	check_cores(f);
	check_governor(f);
	check_load(f);
	check_clock(f);
}

/* ---- the sandbox ---- */

static int landlock_version(void)
{
	long n = syscall(SYS_landlock_create_ruleset, NULL, 0,
			 LANDLOCK_CREATE_RULESET_VERSION);

	return n > 0 ? (int)n : 0;
}

/* May a child of ours have a user namespace of its own? */
static bool namespaces_work(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) ? 1 : 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

void doctor_sandbox(struct findings *f, bool disabled)
{
	struct buf seccomp = BUF_INIT;
	bool filters =
		first_line("/proc/sys/kernel/seccomp/actions_avail", &seccomp);
	int landlock = landlock_version();
	bool ns = namespaces_work();

	doctor_found(f, "sandbox",
		     "%s%sseccomp %s, landlock %s%.0d, "
		     "user namespaces %s",
		     f->sandbox ? f->sandbox : "", f->sandbox ? ": " : "",
		     filters ? "yes" : "no", landlock ? "version " : "no",
		     landlock, ns ? "yes" : "no");
	if (disabled)
		doctor_advise(
			&f->v[f->nr - 1], false,
			"maxkernel.sandbox is none: "
			"candidates run unconfined, and every number says so");
	else if (!filters)
		doctor_advise(
			&f->v[f->nr - 1], true,
			"this kernel has no seccomp "
			"filters: run on one that has, or accept unconfined "
			"candidates with 'git config maxkernel.sandbox none'");
	else if (!landlock)
		doctor_advise(&f->v[f->nr - 1], false,
			      "Linux 5.13 or newer with "
			      "landlock in its 'lsm=' list confines files too");
	buf_release(&seccomp);
}
