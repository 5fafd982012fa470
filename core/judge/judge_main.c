/*
 * git-maxkernel-judge: builds, checks and times candidates for its parent
 * (core/judge/wire.h is the protocol).
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/judge/line.h"
#include "core/judge/session.h"
#include "core/judge/wire.h"
#include "core/mem.h"

#define MAX_KEY 64
#define PROGRESS_S 0.1		/* progress lines are not closer than this */
#define PROGRESS_AGAIN_S 1.0	/* equal ones */

struct server {
	struct session *session;
	struct buf in;		/* bytes read and not yet used */
	size_t used;		/* of in: lines done */
	bool eof;
	bool open;		/* and the task is sound */
	int64_t id;		/* of the request at work */
	double said;		/* when the last progress went out */
	char doing[128];	/* what it said */
	pid_t parent;
};

/* ---- the two ends of the line ---- */

static void put_all(const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);	/* nobody listens */
		p += n;
		len -= (size_t)n;
	}
}

static void send(struct buf *line)
{
	put_all(line->ptr, line->len);
	buf_release(line);
}

static void begin_done(struct server *v, struct buf *b)
{
	line_begin(b);
	line_add_int(b, "id", v->id);
	line_add_str(b, "e", "done");
}

static int fatal(struct server *v, const char *error)
{
	struct buf b = BUF_INIT;

	begin_done(v, &b);
	line_add_bool(&b, "ok", false);
	line_add_bool(&b, "fatal", true);
	line_add_str(&b, "error", error);
	line_end(&b);
	send(&b);
	return 1;
}

static void progress(void *ctx, const char *doing)
{
	struct server *v = ctx;
	struct buf b = BUF_INIT;
	double now = session_now();
	bool again = !strncmp(doing, v->doing, sizeof(v->doing) - 1);

	if (now - v->said < (again ? PROGRESS_AGAIN_S : PROGRESS_S))
		return;
	v->said = now;
	snprintf(v->doing, sizeof(v->doing), "%s", doing);
	line_begin(&b);
	line_add_int(&b, "id", v->id);
	line_add_str(&b, "e", "progress");
	line_add_str(&b, "doing", doing);
	line_end(&b);
	send(&b);
}

/* Ends at once when the client is gone; workers die with this process. */
static void tick(void *ctx)
{
	struct server *v = ctx;
	struct pollfd p = { STDIN_FILENO, POLLIN, 0 };

	if (getppid() != v->parent)
		_exit(1);
	if (poll(&p, 1, 0) <= 0)
		return;
	if ((p.revents & (POLLERR | POLLNVAL)) ||
	    ((p.revents & POLLHUP) && !(p.revents & POLLIN)))
		_exit(1);
}

/* One line without its newline, or false at the end. */
static bool read_line(struct server *v, const char **line, size_t *len)
{
	for (;;) {
		char *start = v->in.ptr + v->used;
		char *nl = memchr(start, '\n', v->in.len - v->used);
		char chunk[65536];
		ssize_t n;

		if (nl) {
			*line = start;
			*len = (size_t)(nl - start);
			v->used += *len + 1;
			return true;
		}
		if (v->eof)
			return false;
		buf_splice(&v->in, 0, v->used, NULL, 0);
		v->used = 0;
		n = read(STDIN_FILENO, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			v->eof = true;
		else if (!buf_add_max(&v->in, chunk, (size_t)n,
				      WIRE_MAX_REQUEST))
			return false;
	}
}

/* ---- replies ---- */

static void put_error(struct buf *b, const char *error)
{
	struct buf clean = BUF_INIT;

	if (error)
		buf_add_clean(&clean, error, strnlen(error, 4000), true);
	line_add_str(b, "error", error ? clean.ptr : NULL);
	buf_release(&clean);
}

static void reply_open(struct server *v, int ret, const struct err *err)
{
	struct session *s = v->session;
	struct buf b = BUF_INIT;
	int i;

	begin_done(v, &b);
	line_add_bool(&b, "ok", !ret);
	put_error(&b, ret ? err->msg : NULL);
	line_add_str(&b, "device", s->device);
	line_add_str(&b, "device_text", s->device_text);
	line_add_str(&b, "host", s->host);
	line_add_str(&b, "sandbox", s->sandbox);
	line_add_str(&b, "oracle", oracle_name(s->oracle.kind));
	if (s->oracle.why)
		line_add_str(&b, "oracle_why", s->oracle.why);
	line_add_str(&b, "compiler", s->compiler);
	line_add_num(&b, "resolution", s->resolution);
	line_add_str(&b, "best_flags", s->best_flags);
	line_add_num(&b, "best_flags_speedup", s->best_flags_speedup);
	line_add_key(&b, "shapes");
	buf_addch(&b, '[');
	for (i = 0; !ret && i < s->nr_timed; i++) {
		const struct timed *t = &s->timed[i];
		double roof = roof_seconds(t->flops, s->roof.flops, t->bytes,
					   t->rate) * 1e9 / t->root_ns;

		if (i)
			buf_addch(&b, ',');
		line_begin(&b);
		line_add_str(&b, "shape", t->shape.text);
		line_add_num(&b, "time_ns", t->root_ns);
		line_add_num(&b, "flops", t->flops);
		line_add_num(&b, "bytes", t->bytes);
		line_add_num(&b, "gflops", t->flops > 0 ?
			     t->flops / t->root_ns : NAN);
		line_add_num(&b, "gbs", t->bytes > 0 ?
			     t->bytes / t->root_ns : NAN);
		line_add_num(&b, "roof", roof > 0 ? roof : NAN);
		buf_addch(&b, '}');
	}
	buf_addch(&b, ']');
	line_end(&b);
	send(&b);
}

static void put_shapes(struct buf *b, const struct record *rec, bool screen)
{
	size_t i;

	line_add_key(b, "shapes");
	buf_addch(b, '[');
	for (i = 0; i < rec->nr_shapes; i++) {
		const struct shape_result *r = &rec->shape[i];

		if (i)
			buf_addch(b, ',');
		line_begin(b);
		line_add_str(b, "shape", r->shape);
		line_add_num(b, "time_ns", r->time_ns);
		if (screen) {
			line_add_num(b, "lr", log(r->speedup));
			buf_addch(b, '}');
			continue;
		}
		line_add_bool(b, "holdout", r->holdout);
		line_add_num(b, "baseline_ns", r->baseline_ns);
		line_add_num(b, "speedup", r->speedup);
		line_add_num(b, "ci_low", r->ci_low);
		line_add_num(b, "ci_high", r->ci_high);
		line_add_num(b, "flops", r->flops);
		line_add_num(b, "bytes", r->bytes);
		line_add_num(b, "gflops", r->gflops);
		line_add_num(b, "gbs", r->gbs);
		line_add_num(b, "roof", r->roof);
		buf_addch(b, '}');
	}
	buf_addch(b, ']');
}

static void reply_screen(struct server *v, const struct record *rec)
{
	struct buf b = BUF_INIT;

	begin_done(v, &b);
	line_add_str(&b, "verdict", verdict_name(rec->verdict));
	line_add_num(&b, "lr", rec->lr);
	line_add_num(&b, "lr_low", rec->lr_low);
	line_add_num(&b, "lr_high", rec->lr_high);
	line_add_num(&b, "time_ns", rec->time_ns);
	line_add_int(&b, "launches", rec->launches);
	put_error(&b, rec->error);
	put_shapes(&b, rec, true);
	line_end(&b);
	send(&b);
}

static void reply_confirm(struct server *v, const struct record *rec,
			  const char *samples)
{
	struct buf b = BUF_INIT;

	begin_done(v, &b);
	line_add_str(&b, "verdict", verdict_name(rec->verdict));
	line_add_num(&b, "lr", rec->lr);
	line_add_num(&b, "lr_low", rec->lr_low);
	line_add_num(&b, "lr_high", rec->lr_high);
	line_add_num(&b, "speedup", rec->speedup);
	line_add_num(&b, "ci_low", rec->ci_low);
	line_add_num(&b, "ci_high", rec->ci_high);
	line_add_num(&b, "est_speedup", rec->est_speedup);
	line_add_num(&b, "vs_rival", rec->vs_rival);
	line_add_num(&b, "vs_best_flags", rec->vs_best_flags);
	line_add_num(&b, "time_ns", rec->time_ns);
	line_add_num(&b, "baseline_ns", rec->baseline_ns);
	line_add_int(&b, "launches", rec->launches);
	line_add_str(&b, "clock", rec->clock);
	put_error(&b, rec->error);
	put_shapes(&b, rec, false);
	line_add_str(&b, "samples", samples);
	line_end(&b);
	send(&b);
}

static void reply_short(struct server *v, const struct record *rec)
{
	struct buf b = BUF_INIT;

	begin_done(v, &b);
	line_add_str(&b, "verdict", verdict_name(rec->verdict));
	put_error(&b, rec->error);
	if (isfinite(rec->attempt_s))
		line_add_num(&b, "build_s", rec->attempt_s);
	line_end(&b);
	send(&b);
}

/* ---- requests ---- */

/* A key becomes part of a file's name. */
static const char *key_of(const struct line *l, const char *field,
			  struct err *err)
{
	const char *key = line_str(l, field);
	size_t len = key ? strspn(key, "abcdefghijklmnopqrstuvwxyz"
				  "0123456789-") : 0;

	if (len && len <= MAX_KEY && !key[len] && *key != '-')
		return key;
	err_set(err, ERR_FORMAT, "the request has no proper '%s'", field);
	return NULL;
}

static int do_open(struct server *v, const struct line *l, struct err *err)
{
	struct session_config cfg = {
		.name = line_str(l, "name"),
		.section = line_str(l, "section"),
		.root = line_str(l, "root"), .aux = line_str(l, "aux"),
		.work = line_str(l, "work"), .progress = progress,
		.tick = tick, .ctx = v
	};
	const char *sandbox = line_str(l, "sandbox");
	double arms = 0;
	int ret;

	if (v->session)
		return err_set(err, ERR_FORMAT, "it is open already");
	if (!cfg.name || !cfg.section || !cfg.root || !cfg.aux || !cfg.work ||
	    !sandbox)
		return err_set(err, ERR_FORMAT, "a field of 'open' is "
			       "missing");
	cfg.sandbox_none = !strcmp(sandbox, "none");
	line_num(l, "flag_arms", &arms);
	cfg.flag_arms = arms > 0;
	ret = session_open(&v->session, &cfg, err);
	if (ret && ret != ERR_FORMAT)
		return ret;
	v->open = !ret;
	reply_open(v, ret, err);
	return 0;
}

static int do_build(struct server *v, const struct line *l, struct err *err)
{
	const char *key = key_of(l, "key", err), *src = line_str(l, "src");
	struct record rec;
	int ret;

	if (!key)
		return err->code;
	if (!src || !strcmp(key, SESSION_ROOT))
		return err_set(err, ERR_FORMAT, "nothing to build");
	record_init(&rec);
	ret = session_build(v->session, key, src, &rec, err);
	if (!ret)
		reply_short(v, &rec);
	record_release(&rec);
	return ret;
}

static int do_check(struct server *v, const struct line *l, struct err *err)
{
	const char *key = key_of(l, "key", err);
	struct record rec;
	int ret;

	if (!key)
		return err->code;
	record_init(&rec);
	ret = session_check(v->session, key, &rec, err);
	if (!ret)
		reply_short(v, &rec);
	record_release(&rec);
	return ret;
}

static int do_time(struct server *v, const struct line *l, bool confirm,
		   struct err *err)
{
	const char *key = key_of(l, "key", err);
	const char *against = key ? key_of(l, "against", err) : NULL;
	struct record rec;
	double lr = 0;
	char *samples = NULL;
	int ret;

	if (!against)
		return err->code;
	line_num(l, "against_lr", &lr);
	record_init(&rec);
	ret = confirm ?
	      session_confirm(v->session, key, against, lr, &rec, &samples,
			      err) :
	      session_screen(v->session, key, against, lr, &rec, err);
	if (!ret && confirm)
		reply_confirm(v, &rec, samples);
	else if (!ret)
		reply_screen(v, &rec);
	free(samples);
	record_release(&rec);
	return ret;
}

static int do_forget(struct server *v, const struct line *l, struct err *err)
{
	const char *key = key_of(l, "key", err);
	struct buf b = BUF_INIT;

	if (!key)
		return err->code;
	session_forget(v->session, key);
	begin_done(v, &b);
	line_end(&b);
	send(&b);
	return 0;
}

static int serve(struct server *v, const struct line *l, struct err *err)
{
	const char *op = line_str(l, "op");
	double id;

	if (!op || !line_num(l, "id", &id) || !(fabs(id) < 1e15))
		return err_set(err, ERR_FORMAT, "a request needs op and id");
	v->id = (int64_t)id;
	if (!strcmp(op, "open"))
		return do_open(v, l, err);
	if (!v->open)
		return err_set(err, ERR_FORMAT, "'%s' before 'open'", op);
	if (!strcmp(op, "build"))
		return do_build(v, l, err);
	if (!strcmp(op, "check"))
		return do_check(v, l, err);
	if (!strcmp(op, "screen") || !strcmp(op, "confirm"))
		return do_time(v, l, *op == 'c', err);
	if (!strcmp(op, "forget"))
		return do_forget(v, l, err);
	return err_set(err, ERR_FORMAT, "unknown request '%.32s'", op);
}

static int serve_all(struct server *v)
{
	struct err err = ERR_INIT;
	const char *text;
	size_t len;

	while (read_line(v, &text, &len)) {
		struct line l;
		int ret = line_parse(&l, text, len, &err);

		if (!ret) {
			ret = serve(v, &l, &err);
			line_release(&l);
		}
		if (ret)
			return fatal(v, err.msg);
	}
	return v->eof ? 0 : fatal(v, "a request is too long");
}

int main(void)
{
	struct server v;
	int status;

	memset(&v, 0, sizeof(v));
	buf_init(&v.in);
	v.parent = getppid();
	/* The default action ends us; workers die with their parent. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	if (getppid() != v.parent)
		return 1;
	status = serve_all(&v);
	session_close(v.session);
	buf_release(&v.in);
	return status;
}
