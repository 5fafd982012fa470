#include "core/judge/build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/judge/diagnostics.h"
#include "core/judge/elf.h"
#include "core/judge/run.h"
#include "core/mem.h"
#include "core/source.h"

#define TIMEOUT_S 120.0
#define MAX_OUTPUT (64u << 10)
#define MAX_SO (64u << 20)
#define MAX_DEPTH 32
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

struct paths {			/* of one build; all absolute */
	char *cc, *cc_prefix;	/* prefix: NULL if below /usr */
	char *dir, *prelude;
	char *stub, *script, *so;	/* names below dir */
};

/* Finding things */

/* Absolute path of a program. */
static int find_program(const char *name, char **out, struct err *err)
{
	const char *path = getenv("PATH"), *end;
	char *try;

	if (strchr(name, '/')) {
		*out = realpath(name, NULL);
		if (*out)
			return 0;
		return err_set(err, ERR_NOTFOUND, "there is no '%s'", name);
	}
	if (!path || !*path)
		path = DEFAULT_PATH;
	for (; ; path = end + 1) {
		end = strchrnul(path, ':');
		try = xasprintf("%.*s/%s", (int)(end - path), path, name);
		if (*try == '/' && !access(try, X_OK)) {
			*out = try;
			return 0;
		}
		free(try);
		if (!*end)
			break;
	}
	return err_set(err, ERR_NOTFOUND, "there is no compiler '%s'", name);
}

/* True of the folder itself, too. */
static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) &&
	       (!path[len] || path[len] == '/');
}

/*
 * What a compiler that does not live in /usr may read: the folder above its
 * bin/, or its own alone where that one holds a home, as of ~/bin/cc.
 */
static char *prefix_of(const char *program)
{
	char *real = realpath(program, NULL), *slash;
	const char *home = getenv("HOME");

	if (!real)
		return NULL;
	slash = strrchr(real, '/');
	if (slash)
		*slash = '\0';
	slash = strrchr(real, '/');
	if (slash) {
		*slash = '\0';
		if (home && is_below(home, real))
			*slash = '/';
	}
	if (*real && strcmp(real, "/usr") && strncmp(real, "/usr/", 5))
		return real;
	free(real);
	return NULL;
}

static bool is_source(const struct kernel *k, const char *path)
{
	size_t len = strlen(path);

	if (len < 3 || strcmp(path + len - 2, ".c"))
		return false;
	for (size_t i = 0; i < k->file.nr; i++)
		if (!fnmatch(k->file.v[i], path, FNM_PATHNAME))
			return true;
	for (size_t i = 0; i < k->use.nr; i++)
		if (!fnmatch(k->use.v[i], path, FNM_PATHNAME))
			return true;
	return false;
}

/* Adds the sources below dir/path; path is "" or ends in a slash. */
static int find_sources(const struct kernel *k, const char *dir,
			const char *path, int depth, struct strv *out,
			struct err *err)
{
	char *folder = xasprintf("%s/%s", dir, path), *name;
	DIR *d = opendir(folder);
	struct dirent *e;
	int ret = 0;

	if (!d || depth > MAX_DEPTH) {
		ret = d ? err_set(err, ERR_LIMIT, "'%s' is too deep", folder) :
			  err_sys(err, "cannot read '%s'", folder);
		free(folder);
		if (d)
			closedir(d);
		return ret;
	}
	for (e = readdir(d); e && !ret; e = readdir(d)) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		name = xasprintf("%s%s%s", path, e->d_name,
				 e->d_type == DT_DIR ? "/" : "");
		if (e->d_type == DT_DIR)
			ret = find_sources(k, dir, name, depth + 1, out, err);
		else if (e->d_type == DT_REG && is_source(k, name))
			strv_push(out, name);
		free(name);
		if (out->nr > SOURCE_MAX_FILES)
			ret = err_set(err, ERR_LIMIT, "over %d source files",
				      SOURCE_MAX_FILES);
	}
	closedir(d);
	free(folder);
	return ret;
}

static void paths_release(struct paths *p)
{
	free(p->cc);
	free(p->cc_prefix);
	free(p->dir);
	free(p->prelude);
	free(p->stub);
	free(p->script);
	free(p->so);
}

static int paths_make(struct paths *p, const struct build_job *job,
		      struct err *err)
{
	uint64_t id;

	memset(p, 0, sizeof(*p));
	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return err_sys(err, "no random numbers");
	if (find_program(job->cc ? job->cc : job->kernel->cc, &p->cc, err) < 0)
		return err->code;
	p->cc_prefix = prefix_of(p->cc);
	p->dir = realpath(job->dir, NULL);
	if (!p->dir)
		return err_sys(err, "cannot find '%s'", job->dir);
	if (job->prelude) {
		p->prelude = realpath(job->prelude, NULL);
		if (!p->prelude)
			return err_sys(err, "cannot find '%s'", job->prelude);
	}
	/* A secret name, so that no source can include it; and no ".c", so
	 * that no glob of the kernel finds it. */
	p->stub = xasprintf("mk_stub_%016" PRIx64 ".stub", id);
	p->script = xasprintf("mk_stub_%016" PRIx64 ".map", id);
	p->so = xasprintf("mk_stub_%016" PRIx64 ".so", id);
	return 0;
}

/* Files without a guarantee that they survive a power cut: they are made
 * anew when they are missing. */
static int write_plain(const char *path, const void *data, size_t len,
		       struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	const char *p = data;
	ssize_t n;

	if (fd < 0)
		return err_sys(err, "cannot create '%s'", path);
	while (len) {
		n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		p += n;
		len -= (size_t)n;
	}
	if (len || close(fd) < 0) {
		err_sys(err, "cannot write '%s'", path);
		if (len)
			close(fd);
		unlink(path);
		return err->code;
	}
	return 0;
}

/* The name of a file in the build folder; the caller frees. */
static char *in_dir(const struct paths *p, const char *name)
{
	return xasprintf("%s/%s", p->dir, name);
}

static int write_in_dir(const struct paths *p, const char *name,
			const char *text, size_t len, struct err *err)
{
	char *path = in_dir(p, name);
	int ret = write_plain(path, text, len, err);

	free(path);
	return ret;
}

static int write_stub(const struct paths *p, const struct build_job *job,
		      struct err *err)
{
	static const char script[] =
		"{ global: mk_call; local: *; };\n";
	struct buf text = BUF_INIT;
	int ret;

	stub_text(&text, job->kernel,
		  job->symbol ? job->symbol : job->kernel->entry,
		  job->as_double);
	ret = write_in_dir(p, p->stub, text.ptr, text.len, err);
	buf_release(&text);
	return ret ? ret : write_in_dir(p, p->script, script,
					sizeof(script) - 1, err);
}

static void remove_own(const struct paths *p)
{
	const char *const names[] = { p->stub, p->script, p->so };
	char *path;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!p->dir || !names[i])
			continue;
		path = in_dir(p, names[i]);
		unlink(path);
		free(path);
	}
}

/* The command */

static void add_flags(struct strv *argv, const struct build_job *job)
{
	const struct strv *flags = job->flags ? job->flags :
				   &job->kernel->flags;
	bool std = false;

	for (size_t i = 0; i < flags->nr; i++) {
		std = std || !strncmp(flags->v[i], "-std=", 5);
		strv_push(argv, flags->v[i]);
	}
	if (!std)
		strv_push(argv, "-std=gnu11");
	if (job->kernel->threads > 1)
		strv_push(argv, "-fopenmp");
}

static int add_sources(struct strv *argv, const struct paths *p,
		       const struct build_job *job, struct err *err)
{
	struct strv found = STRV_INIT;
	const struct strv *src = job->sources;
	int ret = 0;

	if (!src) {
		ret = find_sources(job->kernel, p->dir, "", 0, &found, err);
		strv_sort(&found);
		src = &found;
	}
	for (size_t i = 0; i < src->nr; i++)
		strv_pushf(argv, "%s%s", src->v[i][0] == '-' ? "./" : "",
			   src->v[i]);
	strv_push(argv, "-x");
	strv_push(argv, "c");
	strv_push(argv, p->stub);
	strv_push(argv, "-x");
	strv_push(argv, "none");
	strv_release(&found);
	return ret;
}

static int make_command(struct strv *argv, const struct paths *p,
			const struct build_job *job, struct err *err)
{
	static const char *const linking[] = {
		"-shared", "-nostartfiles", "-Wl,-z,now", "-Wl,-z,relro",
		"-Wl,-z,noexecstack", "-Wl,-z,defs",
		/* Equal sources and flags give equal bytes. */
		"-Wl,--build-id=none", "-Wl,--strip-all",
	};

	strv_push(argv, p->cc);
	add_flags(argv, job);
	strv_push(argv, "-fPIC");
	strv_push(argv, "-fvisibility=default");
	/* The linker then loads no plugin that heeds sections of a source. */
	strv_push(argv, "-fno-lto");
	strv_push(argv, "-I.");
	if (p->prelude) {
		strv_push(argv, "-include");
		strv_push(argv, p->prelude);
	}
	if (add_sources(argv, p, job, err) < 0)
		return err->code;
	for (size_t i = 0; i < ARRAY_SIZE(linking); i++)
		strv_push(argv, linking[i]);
	strv_pushf(argv, "-Wl,--version-script=%s", p->script);
	strv_push(argv, "-o");
	strv_push(argv, p->so);
	strv_push(argv, "-lm");
	strv_push(argv, "-lc");
	return 0;
}

/* What the compiler said */

static char *failure(const struct run_end *end, const struct buf *output,
		     const char *dir)
{
	struct buf text = BUF_INIT;

	if (end->late)
		return xasprintf("the compiler took over %.0f s", TIMEOUT_S);
	if (WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGXCPU)
		return xasprintf("the compiler used over %.0f s of processor "
				 "time", TIMEOUT_S);
	if (WIFSIGNALED(end->status))
		return xasprintf("the compiler was killed by signal %d",
				 WTERMSIG(end->status));
	diagnostics_text(&text, output, dir);
	return buf_detach(&text);
}

static int compile(const struct paths *p, const struct build_job *job,
		   struct build_result *out, struct err *err)
{
	const struct jail_path may[] = {
		{ "/usr", JAIL_READ }, { "/lib", JAIL_READ },
		{ "/lib32", JAIL_READ }, { "/lib64", JAIL_READ },
		{ "/bin", JAIL_READ }, { "/etc/ld.so.cache", JAIL_READ },
		{ "/etc/alternatives", JAIL_READ },
		{ "/proc/cpuinfo", JAIL_READ }, { "/dev/null", JAIL_WRITE },
		{ p->dir, JAIL_WRITE },
		{ p->prelude ? p->prelude : p->dir,
		  p->prelude ? JAIL_READ : JAIL_WRITE },
		{ p->cc_prefix ? p->cc_prefix : "/usr", JAIL_READ },
	};
	struct run r = {
		.dir = p->dir, .timeout_s = TIMEOUT_S,
		.max_output = MAX_OUTPUT, .jailed = !job->sandbox_none,
		.paths = may, .nr_paths = ARRAY_SIZE(may),
	};
	struct buf output = BUF_INIT;
	struct strv argv = STRV_INIT;
	struct run_end end;
	int ret = make_command(&argv, p, job, err);

	if (!ret) {
		r.argv = strv_argv(&argv);
		ret = run_program(&r, &output, &end, err);
	}
	if (!ret) {
		out->seconds = end.seconds;
		if (end.late || end.status) {
			out->verdict = V_BUILD_FAIL;
			out->error = failure(&end, &output, p->dir);
		}
	}
	strv_release(&argv);
	buf_release(&output);
	return ret;
}

/* The artefact */

static int place_so(const char *so, const struct buf *file, struct err *err)
{
	char *tmp = xasprintf("%s.%ld.tmp", so, (long)getpid());
	int ret;

	unlink(tmp);
	ret = write_plain(tmp, file->ptr, file->len, err);
	if (!ret && rename(tmp, so) < 0) {
		ret = err_sys(err, "cannot create '%s'", so);
		unlink(tmp);
	}
	free(tmp);
	return ret;
}

/* Of a compiler that was taken over it may be anything, a link to another
 * candidate's artefact among it. */
static int read_so(const char *path, struct buf *file, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int ret;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		ret = buf_read_fd(file, fd, MAX_SO, err);
	else
		ret = err_set(err, ERR_NOTFOUND, "no object file");
	if (fd >= 0)
		close(fd);
	return ret;
}

/* What passes the gate is what is written: the compiler's own file is in
 * a folder that the jailed compiler could write. */
static int take_so(const struct paths *p, const struct build_job *job,
		   struct build_result *out, struct err *err)
{
	struct buf file = BUF_INIT, why = BUF_INIT;
	char *made = in_dir(p, p->so);
	int ret = read_so(made, &file, err);

	free(made);
	if (ret == ERR_NOTFOUND) {
		out->verdict = V_BUILD_FAIL;
		out->error = xstrdup("the compiler made no object file");
		ret = 0;
	} else if (ret == ERR_LIMIT) {
		out->verdict = V_GATE_FAIL;
		out->error = xstrdup("the object file is over 64 MiB");
		ret = 0;
	} else if (!ret && !elf_gate(&file, job->kernel->threads > 1, &why)) {
		out->verdict = V_GATE_FAIL;
		out->error = buf_detach(&why);
	} else if (!ret) {
		ret = place_so(job->so, &file, err);
	}
	buf_release(&file);
	buf_release(&why);
	return ret;
}

int build_run(const struct build_job *job, struct build_result *out,
	      struct err *err)
{
	struct paths p;
	int ret;

	out->verdict = V_NONE;
	out->error = NULL;
	out->seconds = 0;
	ret = paths_make(&p, job, err);
	if (!ret)
		ret = write_stub(&p, job, err);
	if (!ret)
		ret = compile(&p, job, out, err);
	if (!ret && out->verdict == V_NONE)
		ret = take_so(&p, job, out, err);
	remove_own(&p);
	paths_release(&p);
	if (ret)
		build_result_release(out);
	return ret;
}

void build_result_release(struct build_result *r)
{
	free(r->error);
	r->error = NULL;
}

int build_imports(const char *so, struct strv *out, struct err *err)
{
	struct buf file = BUF_INIT;
	int ret = buf_read_file(&file, so, MAX_SO, err);

	if (!ret && elf_imports(&file, out, err) < 0)
		ret = err_wrap(err, "'%s'", so);
	buf_release(&file);
	return ret;
}

int build_compiler(const char *cc, char **out, struct err *err)
{
	char option[] = "--version", *argv[] = { NULL, option, NULL };
	struct buf text = BUF_INIT, name = BUF_INIT;
	struct run_end end;
	struct run r = { .argv = argv, .dir = "/", .timeout_s = 20,
			 .max_output = 4096 };
	int ret = find_program(cc, &argv[0], err);

	if (!ret)
		ret = run_program(&r, &text, &end, err);
	free(argv[0]);
	if (!ret && (end.late || end.status || !text.len))
		ret = err_set(err, ERR_NOTFOUND,
			      "'%s --version' does not work", cc);
	if (!ret) {
		text.ptr[strcspn(text.ptr, "\n")] = '\0';
		diagnostics_version(&name, text.ptr);
		*out = buf_detach(&name);
	}
	buf_release(&text);
	return ret;
}
