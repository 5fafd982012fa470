/*
 * The judge as a process: JSON lines over two pipes (core/judge/wire.h).  Its
 * replies are parsed strictly and bounded, although it is ours: what it says
 * was seen by hostile code's neighbour.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/json.h"
#include "core/judge_reply.h"
#include "core/judge/wire.h"
#include "core/mem.h"
#include "core/paths.h"
#include "core/tempdir.h"

#define MAX_SAMPLES (1u << 20)
#define MAX_BUILT 48		/* artefacts kept before the oldest goes */

enum want { WANT_REPLY, WANT_CHAMPION, WANT_CANDIDATE };

struct process {
	struct judge base;
	pid_t pid;
	int in, out;		/* its stdin, its stdout */
	struct buf reply;	/* bytes read, not yet a whole line */
	int id;
	char doing[128];
	char *work, *src;	/* src: what is being built, or NULL */
	struct judge_config cfg;
	struct judge_request req;	/* its sources: see champion */
	struct srcset champion;	/* req.against's, our own copy */
	/* A screening needs both arms built: what is missing goes first. */
	enum want want;
	struct oid built[MAX_BUILT], last_champion;
	int nr_built;
};

/* ---- the child ---- */

/* Between fork and exec: async-signal-safe calls alone. */
static void child(int in, int out, const char *path, pid_t parent)
{
	char *const argv[] = { (char *)(size_t)path, NULL };
	struct sigaction dfl = { .sa_handler = SIG_DFL };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	setpgid(0, 0);
	sigaction(SIGPIPE, &dfl, NULL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0)
		_exit(127);
	execv(path, argv);
	_exit(127);
}

static int spawn(struct process *j, struct err *err)
{
	char *path = paths_exec("git-maxkernel-judge");
	pid_t parent = getpid();
	int to[2], from[2], ret = 0;

	if (access(path, X_OK) < 0) {
		err_sys(err, "the judge is not installed: cannot run '%s'",
			path);
		free(path);
		return err->code;
	}
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0) {
		free(path);
		return err_sys(err, "cannot make a pipe");
	}
	j->pid = fork();
	if (j->pid == 0)
		child(to[0], from[1], path, parent);
	if (j->pid < 0)
		ret = err_sys(err, "cannot start the judge");
	close(to[0]);
	close(from[1]);
	j->in = to[1];
	j->out = from[0];
	fcntl(j->out, F_SETFL, O_NONBLOCK);
	free(path);
	return ret;
}

static int send_line(struct process *j, const struct buf *line,
		     struct err *err)
{
	size_t done = 0;

	if (line->len > WIRE_MAX_REQUEST)
		return err_set(err, ERR_LIMIT, "request to the judge too long");
	while (done < line->len) {
		ssize_t n = write(j->in, line->ptr + done, line->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "the judge does not listen");
		done += (size_t)n;
	}
	return 0;
}

/* ---- requests ---- */

static void begin(struct process *j, struct buf *line, const char *op)
{
	json_open(line, NULL, '{');
	json_put_str(line, "op", op);
	json_put_int(line, "id", ++j->id);
}

static int finish(struct process *j, struct buf *line, struct err *err)
{
	int ret;

	json_shut(line, '}');
	buf_addch(line, '\n');
	ret = send_line(j, line, err);
	buf_release(line);
	return ret;
}

static int write_sources(const struct srcset *s, const char *dir,
			 struct err *err)
{
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "cannot create '%s'", dir);
	return srcset_write(s, dir, err);
}

static int send_open(struct process *j, struct err *err)
{
	char *root = xasprintf("%s/root", j->work);
	char *aux = xasprintf("%s/aux", j->work);
	struct buf line = BUF_INIT;
	int ret = write_sources(j->cfg.root, root, err);

	if (!ret)
		ret = write_sources(j->cfg.aux, aux, err);
	if (!ret) {
		begin(j, &line, "open");
		json_put_str(&line, "name", j->cfg.kernel->name);
		json_put_str(&line, "section", j->cfg.kernel->text.ptr);
		json_put_str(&line, "root", root);
		json_put_str(&line, "aux", aux);
		json_put_str(&line, "work", j->work);
		json_put_str(&line, "sandbox",
			     j->cfg.sandbox_none ? "none" : "auto");
		json_put_int(&line, "flag_arms", !j->cfg.helper);
		ret = finish(j, &line, err);
	}
	free(aux);
	free(root);
	return ret;
}

static int send_build(struct process *j, const struct oid *state,
		      const struct srcset *source, struct err *err)
{
	struct buf line = BUF_INIT;
	int ret;

	j->src = xasprintf("%s/src", j->work);
	ret = write_sources(source, j->src, err);
	if (ret)
		return ret;
	begin(j, &line, "build");
	json_put_str(&line, "key", oid_text(state).s);
	json_put_str(&line, "src", j->src);
	return finish(j, &line, err);
}

static int send_stage(struct process *j, struct err *err)
{
	struct buf line = BUF_INIT;

	begin(j, &line, judge_stage_name(j->req.stage));
	json_put_str(&line, "key", oid_text(&j->req.state).s);
	if (j->req.stage >= JUDGE_SCREEN) {
		json_put_str(&line, "against", j->req.against_root ? "root" :
			     oid_text(&j->req.against).s);
		json_put_num(&line, "against_lr", j->req.against_root ? 0 :
			     j->req.against_lr, 0);
	}
	return finish(j, &line, err);
}

/* ---- artefacts ---- */

static bool is_built(const struct process *j, const struct oid *state)
{
	for (int i = 0; i < j->nr_built; i++)
		if (oid_eq(&j->built[i], state))
			return true;
	return false;
}

/* By the present request, or likely by the next: the last champion. */
static bool is_needed(const struct process *j, const struct oid *state)
{
	return oid_eq(state, &j->req.state) ||
	       oid_eq(state, &j->last_champion);
}

/* The judge forgets the oldest artefact when there are too many. */
static int remember(struct process *j, const struct oid *state,
		    struct err *err)
{
	struct buf line = BUF_INIT;
	int ret = 0, old = 0;

	if (is_built(j, state))
		return 0;
	if (j->nr_built == MAX_BUILT) {
		while (old < MAX_BUILT - 1 && is_needed(j, &j->built[old]))
			old++;
		begin(j, &line, "forget");
		json_put_str(&line, "key", oid_text(&j->built[old]).s);
		ret = finish(j, &line, err);
		memmove(&j->built[old], &j->built[old + 1],
			sizeof(j->built[0]) * (size_t)(MAX_BUILT - old - 1));
		j->nr_built--;
	}
	j->built[j->nr_built++] = *state;
	return ret;
}

static int process_start(struct judge *base, const struct judge_request *req,
			 struct err *err)
{
	struct process *j = (struct process *)base;

	j->req = *req;
	j->req.source = NULL;
	if (!oid_is_zero(&req->against))
		j->last_champion = req->against;
	j->req.against_source = &j->champion;
	srcset_release(&j->champion);
	if (req->against_source)
		srcset_copy(&j->champion, req->against_source);
	j->want = WANT_REPLY;
	snprintf(j->doing, sizeof(j->doing), "%s",
		 judge_stage_name(req->stage));
	if (req->stage == JUDGE_OPEN)
		return send_open(j, err);
	if (req->stage == JUDGE_BUILD)
		return send_build(j, &req->state, req->source, err);
	if (req->source && !is_built(j, &req->state)) {
		j->want = WANT_CANDIDATE;
		return send_build(j, &req->state, req->source, err);
	}
	if (req->stage >= JUDGE_SCREEN && !req->against_root &&
	    !is_built(j, &req->against)) {
		j->want = WANT_CHAMPION;
		return send_build(j, &req->against, &j->champion, err);
	}
	return send_stage(j, err);
}

/* ---- replies ---- */

/* The file with the raw samples, from the work folder and nowhere else. */
static void read_samples(const struct process *j, const struct judge_reply *r,
			 struct record *out)
{
	const char *name = judge_reply_samples(r);
	struct err unused = ERR_INIT;
	char *path;

	if (!name)
		return;
	path = xasprintf("%s/%s", j->work, name);
	if (buf_read_file(&out->samples, path, MAX_SAMPLES, &unused))
		buf_reset(&out->samples);
	unlink(path);
	free(path);
}

/* stage: what it answers, which may be a build that the request needed. */
static int read_record(struct process *j, const struct judge_reply *r,
		       enum judge_stage stage, struct record *out,
		       struct err *err)
{
	if (judge_reply_record(r, stage, out, err))
		return err->code;
	out->compiler = xstrdup(j->base.info.compiler);
	out->confirming = j->req.stage == JUDGE_CONFIRM;
	if (j->req.stage >= JUDGE_SCREEN)
		out->against = xstrdup(j->req.against_root ? "root" :
				       oid_text(&j->req.against).s);
	if (stage == JUDGE_CONFIRM)
		read_samples(j, r, out);
	return 0;
}

/* A build that a later stage needed: go on with what is next. */
static int after_build(struct process *j, const struct judge_reply *r,
		       struct record *out, struct err *err)
{
	const struct oid *state = j->want == WANT_CHAMPION ? &j->req.against
							   : &j->req.state;
	char *why;
	int ret = read_record(j, r, JUDGE_BUILD, out, err);

	if (ret)
		return ret;
	if (out->verdict != V_SAME && j->want == WANT_CANDIDATE)
		return 1;
	if (out->verdict != V_SAME) {
		why = judge_reply_error(r);
		err_set(err, ERR_FORMAT, "the champion no longer builds: "
			"%.300s", why ? why : "");
		free(why);
		return err->code;
	}
	record_release(out);
	record_init(out);
	ret = remember(j, state, err);
	if (ret)
		return ret;
	if (j->want == WANT_CANDIDATE && j->req.stage >= JUDGE_SCREEN &&
	    !j->req.against_root && !is_built(j, &j->req.against)) {
		j->want = WANT_CHAMPION;
		return send_build(j, &j->req.against, &j->champion, err);
	}
	j->want = WANT_REPLY;
	return send_stage(j, err);
}

static int lost(const struct judge_reply *r, struct err *err)
{
	char *why = judge_reply_error(r);

	err_set(err, ERR_SYS, "the judge cannot go on: %.300s",
		why ? why : "no reason given");
	free(why);
	return err->code;
}

static int on_done(struct process *j, const struct judge_reply *r,
		   struct record *out, struct err *err)
{
	int ret;

	if (j->src)
		tempdir_remove(j->src);
	free(j->src);
	j->src = NULL;
	if (r->fatal)
		return lost(r, err);
	if (j->req.stage == JUDGE_OPEN) {
		ret = judge_reply_info(r, &j->base.info, err);
		return ret ? ret : 1;
	}
	if (j->want != WANT_REPLY)
		return after_build(j, r, out, err);
	ret = read_record(j, r, j->req.stage, out, err);
	if (!ret && j->req.stage == JUDGE_BUILD && out->verdict == V_SAME)
		ret = remember(j, &j->req.state, err);
	return ret ? ret : 1;
}

static int on_line(struct process *j, const char *line, size_t len,
		   struct record *out, struct err *err)
{
	struct judge_reply r;
	int ret = judge_reply_parse(&r, line, len, err);

	if (ret)
		return ret;
	/* Others are of a request that was given up, or of a "forget". */
	if (r.id == j->id && r.event == REPLY_PROGRESS)
		memcpy(j->doing, r.doing, sizeof(j->doing));
	else if (r.id == j->id && r.event == REPLY_DONE)
		ret = on_done(j, &r, out, err);
	judge_reply_release(&r);
	return ret;
}

/* Why it ended, from its exit status. */
static int gone(struct process *j, struct err *err)
{
	int status = 0;

	/* Its output is closed: it ends by itself, or is made to. */
	for (int i = 0; i < 20 && j->pid > 0; i++) {
		if (waitpid(j->pid, &status, WNOHANG) != 0)
			j->pid = -1;
		else
			usleep(5000);
	}
	if (j->pid > 0)
		kill(j->pid, SIGKILL);
	if (j->pid > 0 && waitpid(j->pid, &status, 0) == j->pid)
		j->pid = -1;
	if (WIFSIGNALED(status))
		return err_set(err, ERR_SYS, "the judge was killed by signal %d",
			       WTERMSIG(status));
	return err_set(err, ERR_SYS, "the judge ended with status %d",
		       WEXITSTATUS(status));
}

static int process_step(struct judge *base, struct record *out,
			struct err *err)
{
	struct process *j = (struct process *)base;
	char chunk[8192], *line, *end;
	ssize_t n = read(j->out, chunk, sizeof(chunk));
	size_t used = 0;
	int ret = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		n = 0;
	else if (n == 0)
		return gone(j, err);
	else if (n < 0)
		return err_sys(err, "cannot read from the judge");
	if (!buf_add_max(&j->reply, chunk, (size_t)n, WIRE_MAX_REPLY))
		return err_set(err, ERR_LIMIT, "the judge's reply is too long");
	while (ret == 0) {
		line = j->reply.ptr + used;
		end = memchr(line, '\n', j->reply.len - used);
		if (!end)
			break;
		ret = on_line(j, line, (size_t)(end - line), out, err);
		used += (size_t)(end - line) + 1;
	}
	buf_splice(&j->reply, 0, used, "", 0);
	return ret;
}

static int process_fd(const struct judge *base)
{
	return ((const struct process *)base)->out;
}

static const char *process_doing(const struct judge *base)
{
	return ((const struct process *)base)->doing;
}

static void process_close(struct judge *base)
{
	struct process *j = (struct process *)base;

	if (j->in >= 0)
		close(j->in);
	if (j->out >= 0)
		close(j->out);
	if (j->pid > 0) {
		/* Its group holds its compilers; its workers die with it. */
		kill(-j->pid, SIGKILL);
		kill(j->pid, SIGKILL);
		waitpid(j->pid, NULL, 0);
	}
	judge_info_release(&j->base.info);
	buf_release(&j->reply);
	if (j->src)
		tempdir_remove(j->src);
	srcset_release(&j->champion);
	free(j->src);
	free(j->work);
	free(j);
}

static const struct judge_ops process_ops = {
	.start = process_start,
	.fd = process_fd,
	.step = process_step,
	.doing = process_doing,
	.close = process_close,
};

int judge_process_open(struct judge **out, const struct judge_config *cfg,
		       struct err *err)
{
	struct process *j = xcalloc(1, sizeof(*j));

	j->base.ops = &process_ops;
	j->in = j->out = -1;
	buf_init(&j->reply);
	j->cfg = *cfg;
	j->work = xstrdup(cfg->work);
	if (spawn(j, err)) {
		process_close(&j->base);
		return err->code;
	}
	*out = &j->base;
	return 0;
}
