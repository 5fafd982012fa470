#include "cmd/task.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/detach.h"
#include "cmd/out.h"
#include "core/mem.h"
#include "core/tempdir.h"

volatile sig_atomic_t task_stop;
int task_stop_fd = -1;
static int stop_write_fd = -1;

/*
 * One press of the interrupt key comes from the terminal and, of
 * `git maxkernel`, once more from git, which passes it on to its child: those
 * two are one request, as are two that come at once.
 */
#define SAME_PRESS_MS 300

static struct {
	volatile sig_atomic_t from_parent, others;
	long long at_ms;
	pid_t parent;
} asked;

static bool is_second(const siginfo_t *info)
{
	bool passed_on = info && info->si_code == SI_USER &&
			 info->si_pid == asked.parent;
	struct timespec ts = { 0, 0 };
	long long now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
	if (task_stop && now - asked.at_ms < SAME_PRESS_MS)
		return false;
	asked.at_ms = now;
	if (passed_on)
		return ++asked.from_parent > 1;
	return ++asked.others > 1;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (is_second(info))
		_exit(EXIT_INTERRUPTED);
	task_stop = sig;
	if (write(stop_write_fd, "x", 1) < 0)
		task_stop = sig;
	errno = saved;
}

/*
 * `git maxkernel` is a child of git.  When that git is killed the search must
 * not go on unseen; a search started from a shell or service may.
 */
static void end_with_git(void)
{
	struct buf comm = BUF_INIT;
	struct err unused = ERR_INIT;
	char *path = xasprintf("/proc/%ld/comm", (long)getppid());

	if (!buf_read_file(&comm, path, 64, &unused) &&
	    !strcmp(comm.ptr, "git\n"))
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	buf_release(&comm);
	free(path);
}

void task_signals(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal,
				.sa_flags = SA_SIGINFO };
	int fd[2];

	if (task_stop_fd >= 0 || pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	asked.parent = getppid();
	task_stop_fd = fd[0];
	stop_write_fd = fd[1];
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (detach_is_on())
		return;		/* neither of these ends it */
	sigaction(SIGHUP, &sa, NULL);
	end_with_git();
}

/* The file's text from HEAD, where there is no work tree. */
static int read_head(struct repo *r, struct buf *text, struct err *err)
{
	struct oid head, tree;
	struct tree_entry e;
	int ret = repo_head(r, &head, err);

	if (!ret)
		ret = repo_commit_tree(r, &head, &tree, err);
	if (!ret)
		ret = repo_tree_path(r, &tree, KERNEL_FILE, &e, err);
	if (!ret)
		ret = repo_blob_read(r, &e.id, text, KERNEL_MAX_TEXT, err);
	return ret;
}

int task_kernels(struct session *s, struct kernel_file *f, struct err *err)
{
	const char *top = repo_workdir(s->repo);
	struct buf text = BUF_INIT;
	char *path;
	int ret;

	memset(f, 0, sizeof(*f));
	if (top) {
		path = xasprintf("%s%s", top, KERNEL_FILE);
		ret = buf_read_file(&text, path, KERNEL_MAX_TEXT, err);
		free(path);
	} else {
		ret = read_head(s->repo, &text, err);
	}
	if (ret == ERR_NOTFOUND)
		err_set(err, ERR_NOTFOUND, "there is no '%s' at the top of this "
			"repository: 'git maxkernel init' writes a commented "
			"one, 'git maxkernel add <file>' adds a kernel to it",
			KERNEL_FILE);
	if (!ret)
		ret = kernel_file_parse(f, KERNEL_FILE, text.ptr, text.len, err);
	if (!ret && !f->nr)
		ret = err_set(err, ERR_NOTFOUND, "'%s' describes no kernel yet: "
			      "'git maxkernel add <file>' drafts a section",
			      KERNEL_FILE);
	buf_release(&text);
	return ret;
}

bool task_is_kernel(struct session *s, const char *name)
{
	struct err unused = ERR_INIT;
	struct kernel_file f;
	bool is = !task_kernels(s, &f, &unused) && kernel_find(&f, name);

	kernel_file_release(&f);
	return is;
}

int task_kernel(const struct kernel_file *f, const char *name,
		const struct kernel **out, struct err *err)
{
	struct buf names = BUF_INIT;

	*out = kernel_find(f, name);
	if (*out)
		return 0;
	for (size_t i = 0; i < f->nr; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", f->v[i].name);
	err_set(err, ERR_USAGE, "there is no kernel '%s' in '%s'; it has: %s",
		name, KERNEL_FILE, names.ptr);
	buf_release(&names);
	return ERR_USAGE;
}

/* ---- sources ---- */

static int tell_difference(struct task *t, struct err *err)
{
	struct srcset now = SRCSET_INIT;
	struct oid head_state, now_state;
	int ret = store_source_worktree(t->session->repo, &t->base, t->kernel,
					false, &now, err);

	if (ret == ERR_NOTFOUND || ret == ERR_FORMAT) {
		srcset_release(&now);
		err->code = ERR_NONE;
		return 0;
	}
	if (!ret) {
		srcset_state(&t->source, &head_state);
		srcset_state(&now, &now_state);
		if (!oid_eq(&head_state, &now_state))
			warn("%s: the work tree differs from HEAD; HEAD is what "
			     "is searched (--worktree takes the work tree)",
			     t->kernel->name);
	}
	srcset_release(&now);
	return ret;
}

static int check_entry(const struct task *t, struct err *err)
{
	const struct kernel *k = t->kernel;

	for (size_t i = 0; i < t->source.nr; i++)
		if (strstr(t->source.v[i].text.ptr, k->entry))
			return 0;
	return err_set(err, ERR_FORMAT, "%s:%d: the entry '%s' of kernel '%s' is "
		       "in none of its files", k->source, k->line, k->entry,
		       k->name);
}

int task_open(struct task *t, struct session *s, const struct kernel *k,
	      const char *from, bool worktree, struct err *err)
{
	int ret;

	memset(t, 0, sizeof(*t));
	t->session = s;
	t->kernel = k;
	ret = from ? repo_rev(s->repo, from, &t->base, err)
		   : repo_head(s->repo, &t->base, err);
	if (ret == ERR_NOTFOUND && !from)
		return err_set(err, ERR_NOTFOUND, "this repository has no commit "
			       "yet: commit your kernels first, a search starts "
			       "from a commit");
	if (ret)
		return ret;
	t->root = t->base;
	if (worktree) {
		ret = store_worktree_root(s->repo, &t->base, k, &t->root, err);
		if (ret)
			return ret;
	}
	ret = store_source(s->repo, &t->root, k, false, &t->source, err);
	if (!ret)
		ret = store_source(s->repo, &t->root, k, true, &t->aux, err);
	if (!ret && !worktree && !from && repo_workdir(s->repo))
		ret = tell_difference(t, err);
	return ret ? ret : check_entry(t, err);
}

void task_close(struct task *t)
{
	for (int i = 0; i < t->jobs; i++)
		judge_close(t->judge[i]);
	srcset_release(&t->source);
	srcset_release(&t->aux);
	if (t->work) {
		tempdir_remove(t->work);
		close(t->work_lock);
	}
	free(t->work);
	memset(t, 0, sizeof(*t));
}

/* ---- the judge ---- */

static int wait_judge(struct task *t, struct record *out, struct err *err)
{
	struct judge *j = t->judge[0];
	int ret = 0;

	while (ret == 0) {
		struct pollfd p[2] = {
			{ .fd = task_stop_fd, .events = POLLIN },
			{ .fd = j->ops->fd(j), .events = POLLIN },
		};

		poll(p, 2, p[1].fd < 0 ? 0 : 200);
		if (task_stop)
			return err_set(err, ERR_STOPPED, "interrupted");
		ret = j->ops->step(j, out, err);
		live("%s: %s", t->kernel->name, j->ops->doing(j));
	}
	live("%s", "");
	return ret < 0 ? ret : 0;
}

int task_call(struct task *t, const struct judge_request *req,
	      struct record *out, struct err *err)
{
	int ret = t->judge[0]->ops->start(t->judge[0], req, err);

	return ret ? ret : wait_judge(t, out, err);
}

int task_judge(struct task *t, int jobs, struct err *err)
{
	struct judge_request req = { .stage = JUDGE_OPEN };
	struct buf sandbox = BUF_INIT;
	struct record unused;
	int ret = tempdir_make(&t->work, &t->work_lock, err);

	if (ret)
		return ret;
	if (t->session->repo)
		repo_config_str(t->session->repo, "maxkernel.sandbox",
				&sandbox);
	t->config = (struct judge_config){
		.kernel = t->kernel, .root = &t->source, .aux = &t->aux,
		.work = t->work,
		.sandbox_none = !strcmp(sandbox.ptr, "none"),
		.helper = t->brief,
	};
	buf_release(&sandbox);
	t->jobs = jobs;
	ret = judge_open(&t->judge[0], &t->config, err);
	if (ret)
		return ret;
	record_init(&unused);
	ret = task_call(t, &req, &unused, err);
	record_release(&unused);
	return ret < 0 && ret != ERR_STOPPED ?
		err_wrap(err, "%s", t->kernel->name) : ret;
}

/* Stages until one does not pass. */
int task_measure(struct task *t, const struct srcset *source,
		 struct record *out, struct err *err)
{
	static const enum judge_stage stages[] = {
		JUDGE_BUILD, JUDGE_CHECK, JUDGE_CONFIRM
	};
	struct judge_request req = { .source = source, .against_root = true };
	const struct judge_info *info = &t->judge[0]->info;
	int ret = 0;

	srcset_state(source, &req.state);
	for (size_t i = 0; i < ARRAY_SIZE(stages) && !ret; i++) {
		record_release(out);
		record_init(out);
		req.stage = stages[i];
		ret = task_call(t, &req, out, err);
		if (out->verdict != V_SAME)
			break;
	}
	out->compiled = out->verdict != V_BUILD_FAIL;
	out->correct = verdict_is_timed(out->verdict);
	if (!isnan(out->lr))
		out->est_speedup = exp(out->lr);
	if (!out->host)
		out->host = xstrdup(info->host);
	if (!out->device)
		out->device = xstrdup(info->device);
	if (!out->sandbox)
		out->sandbox = xstrdup(info->sandbox);
	if (!out->oracle)
		out->oracle = xstrdup(info->oracle);
	if (!out->compiler)
		out->compiler = xstrdup(info->compiler);
	return ret;
}

/* ---- printing ---- */

void task_print_root(const struct task *t)
{
	const struct judge_info *info = &t->judge[0]->info;

	for (size_t i = 0; i < info->nr_shapes; i++) {
		const struct shape_result *s = &info->shape[i];
		struct buf b = BUF_INIT;

		buf_addf(&b, "%s: baseline %s%s", t->kernel->name, s->shape,
			 *s->shape ? " " : "");
		fmt_time(&b, s->time_ns);
		buf_addstr(&b, ", ");
		fmt_rate(&b, s);
		if (!isnan(s->roof))
			buf_addf(&b, ", %.1f %% of the roof", s->roof * 100);
		say("%s", b.ptr);
		buf_release(&b);
	}
	if (info->best_flags && !isnan(info->best_flags_speedup))
		say("%s: flags alone: %s, %.2fx", t->kernel->name,
		    info->best_flags, info->best_flags_speedup);
	say("%s: smallest effect seen here %.1f %%; oracle %s, sandbox %s, %s, "
	    "%s", t->kernel->name, info->resolution * 100, info->oracle,
	    info->sandbox, info->compiler, info->device_text);
}
