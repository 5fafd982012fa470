/*
 * The judge as a process: JSON lines over two pipes (core/judge/wire.h).  Its
 * replies are parsed strictly and bounded, although it is ours: what it says
 * was seen by hostile code's neighbour.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/json.h"
#include "core/judge.h"
#include "core/judge/wire.h"
#include "core/mem.h"
#include "core/paths.h"
#include "core/tempdir.h"

#define MAX_TEXT 4096		/* of one string in a reply */
#define MAX_SHAPES 256
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

static char *text_of(const struct json *o, const char *key)
{
	const char *s = json_str(o, key, NULL);
	struct buf b = BUF_INIT;

	if (!s)
		return NULL;
	buf_add_clean(&b, s, strnlen(s, MAX_TEXT), true);
	return buf_detach(&b);
}

static void read_shape(const struct json *o, struct shape_result *s)
{
	s->shape = text_of(o, "shape");
	if (!s->shape)
		s->shape = xstrdup("");
	s->time_ns = json_num(o, "time_ns", NAN);
	s->baseline_ns = json_num(o, "baseline_ns", NAN);
	s->speedup = json_num(o, "speedup", NAN);
	s->ci_low = json_num(o, "ci_low", NAN);
	s->ci_high = json_num(o, "ci_high", NAN);
	s->flops = json_num(o, "flops", NAN);
	s->bytes = json_num(o, "bytes", NAN);
	s->gflops = json_num(o, "gflops", NAN);
	s->gbs = json_num(o, "gbs", NAN);
	s->roof = json_num(o, "roof", NAN);
	s->holdout = json_bool(o, "holdout", false);
}

static struct shape_result *read_shapes(const struct json *o, size_t *nr)
{
	const struct json *list = json_get(o, "shapes"), *v;
	struct shape_result *s;
	size_t max = json_count(list);

	*nr = 0;
	if (json_type(list) != JSON_ARRAY || max > MAX_SHAPES)
		return NULL;
	s = xcalloc(max, sizeof(*s));
	for (v = json_first(list); v && *nr < max; v = json_next(v))
		read_shape(v, &s[(*nr)++]);
	return s;
}

static int read_info(struct process *j, const struct json *o, struct err *err)
{
	struct judge_info *i = &j->base.info;

	if (!json_bool(o, "ok", false)) {
		char *why = text_of(o, "error");

		err_set(err, ERR_FORMAT, "%s", why ? why : "the judge gave up");
		free(why);
		return err->code;
	}
	i->device = text_of(o, "device");
	i->device_text = text_of(o, "device_text");
	i->host = text_of(o, "host");
	i->sandbox = text_of(o, "sandbox");
	i->oracle = text_of(o, "oracle");
	i->compiler = text_of(o, "compiler");
	i->best_flags = text_of(o, "best_flags");
	i->best_flags_speedup = json_num(o, "best_flags_speedup", NAN);
	i->resolution = json_num(o, "resolution", NAN);
	i->shape = read_shapes(o, &i->nr_shapes);
	if (!i->device || !i->device_text || !i->host || !i->sandbox ||
	    !i->oracle || !i->compiler || !i->nr_shapes)
		return err_set(err, ERR_FORMAT, "the judge's answer to 'open' "
			       "lacks a field");
	return 0;
}

/* The file with the raw samples, from the work folder and nowhere else. */
static void read_samples(const struct process *j, const struct json *o,
			 struct record *out)
{
	const char *name = json_str(o, "samples", NULL);
	struct err unused = ERR_INIT;
	char *path;

	if (!name || strchr(name, '/') || *name == '.')
		return;
	path = xasprintf("%s/%s", j->work, name);
	if (buf_read_file(&out->samples, path, MAX_SAMPLES, &unused))
		buf_reset(&out->samples);
	unlink(path);
	free(path);
}

static int read_record(struct process *j, const struct json *o,
		       struct record *out, struct err *err)
{
	const char *verdict = json_str(o, "verdict", "");
	int v = verdict_parse(verdict);
	bool confirm = j->req.stage == JUDGE_CONFIRM;

	if (v < 0 || v == V_NONE || (v == V_CONFIRMED && !confirm))
		return err_set(err, ERR_FORMAT, "the judge's verdict '%.40s' is "
			       "not one of this stage", verdict);
	out->verdict = (enum verdict)v;
	out->error = text_of(o, "error");
	out->clock = text_of(o, "clock");
	out->lr = json_num(o, "lr", NAN);
	out->lr_low = json_num(o, "lr_low", NAN);
	out->lr_high = json_num(o, "lr_high", NAN);
	out->time_ns = json_num(o, "time_ns", NAN);
	out->baseline_ns = json_num(o, "baseline_ns", NAN);
	out->launches = (int)fmax(0, fmin(json_num(o, "launches", 0), 1e6));
	out->shape = read_shapes(o, &out->nr_shapes);
	out->compiler = xstrdup(j->base.info.compiler);
	if (j->req.stage >= JUDGE_SCREEN)
		out->against = xstrdup(j->req.against_root ? "root" :
				       oid_text(&j->req.against).s);
	if (out->nr_shapes) {
		out->gflops = out->shape[0].gflops;
		out->gbs = out->shape[0].gbs;
		out->roof = out->shape[0].roof;
	}
	if (!confirm)
		return 0;
	out->speedup = json_num(o, "speedup", NAN);
	out->ci_low = json_num(o, "ci_low", NAN);
	out->ci_high = json_num(o, "ci_high", NAN);
	out->confirming = true;
	out->est_speedup = json_num(o, "est_speedup", NAN);
	out->vs_rival = json_num(o, "vs_rival", NAN);
	out->vs_best_flags = json_num(o, "vs_best_flags", NAN);
	read_samples(j, o, out);
	if (out->verdict == V_CONFIRMED && !(out->speedup > 0))
		return err_set(err, ERR_FORMAT, "the judge confirms without a "
			       "speedup");
	return 0;
}

/* A build that a later stage needed: go on with what is next. */
static int after_build(struct process *j, const struct json *o,
		       struct record *out, struct err *err)
{
	const struct oid *state = j->want == WANT_CHAMPION ? &j->req.against
							   : &j->req.state;
	int ret;

	if (strcmp(json_str(o, "verdict", ""), "same") != 0) {
		if (j->want == WANT_CANDIDATE) {
			ret = read_record(j, o, out, err);
			return ret ? ret : 1;
		}
		return err_set(err, ERR_FORMAT, "the champion no longer builds: "
			       "%.200s", json_str(o, "error", ""));
	}
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

static int on_done(struct process *j, const struct json *o,
		   struct record *out, struct err *err)
{
	int ret;

	if (j->src)
		tempdir_remove(j->src);
	free(j->src);
	j->src = NULL;
	if (json_bool(o, "fatal", false))
		return err_set(err, ERR_SYS, "the judge cannot go on: %.300s",
			       json_str(o, "error", "no reason given"));
	if (j->req.stage == JUDGE_OPEN) {
		ret = read_info(j, o, err);
		return ret ? ret : 1;
	}
	if (j->want != WANT_REPLY)
		return after_build(j, o, out, err);
	ret = read_record(j, o, out, err);
	if (!ret && j->req.stage == JUDGE_BUILD && out->verdict == V_SAME)
		ret = remember(j, &j->req.state, err);
	return ret ? ret : 1;
}

static int on_line(struct process *j, const char *line, size_t len,
		   struct record *out, struct err *err)
{
	struct json *doc;
	const char *event;
	int ret = json_parse_object(&doc, line, len, err);

	if (ret)
		return err_wrap(err, "the judge's reply");
	event = json_str(doc, "e", "");
	if (json_num(doc, "id", -1) != j->id) {
		ret = 0;	/* of a request that was given up, or forget */
	} else if (!strcmp(event, "progress")) {
		struct buf b = BUF_INIT;
		const char *doing = json_str(doc, "doing", "");

		buf_add_clean(&b, doing, strnlen(doing, 100), false);
		snprintf(j->doing, sizeof(j->doing), "%s", b.ptr);
		buf_release(&b);
		ret = 0;
	} else if (!strcmp(event, "done")) {
		ret = on_done(j, doc, out, err);
	}
	json_free(doc);
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
	char chunk[8192], *end;
	ssize_t n = read(j->out, chunk, sizeof(chunk));
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
		end = memchr(j->reply.ptr, '\n', j->reply.len);
		if (!end)
			break;
		ret = on_line(j, j->reply.ptr, (size_t)(end - j->reply.ptr),
			      out, err);
		buf_splice(&j->reply, 0, (size_t)(end - j->reply.ptr) + 1, "",
			   0);
	}
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
