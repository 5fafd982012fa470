/* git maxkernel init: makes a repository ready, and says what it did. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/opt.h"
#include "cmd/out.h"
#include "core/kernel.h"
#include "core/mem.h"

#define NOTES_GLOB "refs/notes/maxkernel/*"

static const char template[] =
"; Kernels that 'git maxkernel explore' may make faster, one section each.\n"
"; 'git maxkernel add FILE' drafts a section from a C file; or take away the\n"
"; first semicolon of each line below and write your own.\n"
"\n"
";[kernel \"matmul\"]\n"
";\tfile = kernels/matmul.c		; may change; repeatable; globs\n"
";\tuse = kernels/util.h			; read-only headers and sources\n"
";\tentry = matmul			; the function\n"
";\ttarget = c\n"
";\tcc = gcc				; gcc or clang\n"
";\tflags = -O3 -march=native		; of both sides of a comparison\n"
";\n"
";\t; The arguments in the order of the call: in, out, inout, dim, ret.\n"
";\targ = in f32 a[M][K]\n"
";\targ = in f32 b[K][N] ld(ldb) align(64)\n"
";\targ = in f32 alpha = 1.5		; a scalar by value\n"
";\targ = out f32 c[M][N]\n"
";\targ = dim M				; dim, dim long or dim size_t\n"
";\targ = dim N\n"
";\targ = dim K\n"
";\targ = dim ldb\n"
";\n"
";\t; Shapes: timed (and checked), checked only, what is legal.\n"
";\ttime = M=500 N=500 K=500 ldb=512\n"
";\tcheck = M=67 N=129 K=33 ldb=140\n"
";\trequire = ldb >= N\n"
";\n"
";\t; What is right: inputs, tolerance, what may be done to the arithmetic.\n"
";\tinput = a uniform(-1,1)		; default normal(0,1)\n"
";\trtol = 1e-4\n"
";\tatol = 1e-4\n"
";\tmath = reassoc			; strict, reassoc or finite\n"
";\treentrant = yes			; may run in several threads at once\n"
";\talias = c a				; these may overlap; default: none\n"
";\tscratch = 1M malloc			; memory that it may use besides\n"
";\tdeny = ccopt vw			; strategies that you don't want\n"
";\ttunable = TILE 16 32 64 128		; values to try for #define TILE\n"
";\n"
";\t; What it is measured against; each defaults to the kernel as it is.\n"
";\treference = ref/matmul.c:matmul_ref\n"
";\tbaseline = kernels/matmul.c\n"
";\trival = tuned/matmul_avx512.c:matmul\n"
";\n"
";\t; For GF/s and the share of the roof; the machine.\n"
";\tflops = 2*M*N*K\n"
";\tthreads = 1				; N adds -fopenmp to both sides\n"
";\tcache = hot				; hot, llc or cold\n";

static const char *const usage[] = {
	"git maxkernel init [-q]",
	NULL
};

__attribute__((format(printf, 1, 2)))
static void tell(const char *fmt, ...)
{
	va_list ap;

	if (out_quiet)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* 1: written, 0: one was there. */
static int write_template(const char *path, struct err *err)
{
	size_t len = sizeof(template) - 1, done = 0;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0)
		return err_sys(err, "cannot create '%s'", path);
	while (done < len) {
		ssize_t n = write(fd, template + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		done += (size_t)n;
	}
	if (done < len || fsync(fd) < 0 || close(fd) < 0) {
		err_sys(err, "cannot write '%s'", path);
		unlink(path);
		return err->code;
	}
	return 1;
}

/* What is there must be a file that the other commands can read. */
static int look_at(const char *path, size_t *kernels, struct err *err)
{
	struct kernel_file f = { NULL, 0, 0 };
	struct buf text = BUF_INIT;
	struct stat st;
	int ret;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "'%s' is not a regular file; "
			       "move it away first", path);
	ret = buf_read_file(&text, path, KERNEL_MAX_TEXT, err);
	if (!ret)
		ret = kernel_file_parse(&f, KERNEL_FILE, text.ptr, text.len,
					err);
	*kernels = f.nr;
	kernel_file_release(&f);
	buf_release(&text);
	return ret;
}

static int init_notes(struct repo *r, struct err *err)
{
	if (repo_config_has_value(r, "notes.displayRef", NOTES_GLOB)) {
		tell("notes.displayRef has %s already", NOTES_GLOB);
		return 0;
	}
	if (repo_config_add(r, "notes.displayRef", NOTES_GLOB, err))
		return err_wrap(err, "cannot set notes.displayRef");
	tell("set notes.displayRef to %s: 'git log' now shows plans and "
	    "measurements", NOTES_GLOB);
	return 0;
}

/* The next thing to type, and what would stand in its way. */
static void next_step(struct repo *r, size_t kernels)
{
	struct buf name = BUF_INIT, mail = BUF_INIT;
	struct err err = ERR_INIT;
	struct oid head;

	if (repo_identity(r, &name, &mail, &err))
		tell("hint: set your name and mail before you explore:\n"
		    "hint:   git config user.name \"Your Name\"\n"
		    "hint:   git config user.email \"you@example.com\"");
	if (repo_head(r, &head, &err))
		tell("hint: there is no commit yet; make the first one before "
		    "you explore");
	if (kernels)
		tell("next: git maxkernel explore");
	else
		tell("next: git maxkernel add <file.c>");
	buf_release(&name);
	buf_release(&mail);
}

static int init_run(struct session *s, int argc, char **argv, struct err *err)
{
	const struct opt opts[] = {
		OPT_BOOL('q', "quiet", &out_quiet, "say nothing"),
		OPT_END
	};
	size_t kernels = 0;
	char *path;
	int status, made;

	argc = opt_parse(&cmd_init, opts, argc, argv, &status, err);
	if (argc < 0)
		return status;
	status = opt_operands(argc, 0, 0, err);
	if (status)
		return status;
	if (!repo_workdir(s->repo)) {
		err_set(err, ERR_GIT, "this is a bare repository: `%s' has "
			"its place in a work tree; make one with `git "
			"worktree add' and run init there", KERNEL_FILE);
		return EXIT_FAILED;
	}
	path = xasprintf("%s%s", repo_workdir(s->repo), KERNEL_FILE);
	made = write_template(path, err);
	if (!made) {
		if (look_at(path, &kernels, err))
			made = -1;
		else
			tell("%s is there already, with %zu kernel%s",
			    KERNEL_FILE, kernels, kernels == 1 ? "" : "s");
	} else if (made > 0) {
		tell("wrote %s, which explains itself", path);
	}
	free(path);
	if (made < 0 || init_notes(s->repo, err))
		return EXIT_FAILED;
	next_step(s->repo, kernels);
	return EXIT_DONE;
}

const struct cmd cmd_init = {
	.name = "init",
	.group = "set up",
	.summary = "make a repository ready: .maxkernel and the notes setting",
	.usage = usage,
	.needs = NEED_REPO,
	.run = init_run,
};
