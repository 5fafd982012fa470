#include "core/tune_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json.h"
#include "core/mem.h"

#define MAX_LINE 1024
#define MAX_SECONDS 86400.0

/* ---- by state ---- */

static size_t find(const struct tune_log *l, const struct oid *state)
{
	size_t mask = l->nr_slots - 1, at;

	memcpy(&at, state->id, sizeof(at));
	for (at &= mask; l->slot[at]; at = (at + 1) & mask)
		if (oid_eq(&l->v[l->slot[at] - 1]->state, state))
			break;
	return at;
}

const struct tune_result *tune_log_find(const struct tune_log *l,
					const struct oid *state)
{
	size_t at;

	if (!l->nr_slots)
		return NULL;
	at = find(l, state);
	return l->slot[at] ? l->v[l->slot[at] - 1] : NULL;
}

/* The first result of a state stays. */
static void insert(struct tune_log *l, const struct tune_result *r)
{
	struct tune_result *own;
	size_t at;

	if ((l->nr + 1) * 2 > l->nr_slots) {
		l->nr_slots = l->nr_slots ? l->nr_slots * 2 : 64;
		free(l->slot);
		l->slot = xcalloc(l->nr_slots, sizeof(*l->slot));
		for (size_t i = 0; i < l->nr; i++)
			l->slot[find(l, &l->v[i]->state)] = (uint32_t)i + 1;
	}
	at = find(l, &r->state);
	if (l->slot[at])
		return;
	own = xcalloc(1, sizeof(*own));
	*own = *r;
	own->error = NULL;
	if (r->error) {
		struct buf b = BUF_INIT;
		size_t len = strcspn(r->error, "\n");

		buf_add_clean(&b, r->error, len > TUNE_LOG_ERROR ?
			      TUNE_LOG_ERROR : len, false);
		own->error = buf_detach(&b);
	}
	GROW(l->v, l->nr, l->cap);
	l->v[l->nr++] = own;
	l->slot[at] = (uint32_t)l->nr;
}

/* ---- reading ---- */

static double seconds(const struct json *j, const char *key)
{
	double s = json_num(j, key, 0);

	return s > 0 ? s > MAX_SECONDS ? MAX_SECONDS : s : 0;
}

static bool read_result(const struct json *j, struct tune_result *r)
{
	const char *st = json_str(j, "st", ""), *v = json_str(j, "verdict", "");
	int verdict = verdict_parse(v);

	memset(r, 0, sizeof(*r));
	if (strlen(st) != OID_HEX || !oid_parse(&r->state, st) ||
	    verdict <= V_NONE)
		return false;
	r->verdict = (enum verdict)verdict;
	r->est = json_num(j, "est", NAN);
	if (!(r->est > 1e-9 && r->est < 1e9))
		r->est = NAN;
	r->lr = json_num(j, "lr", NAN);
	r->seconds = seconds(j, "s");
	r->device_s = seconds(j, "d");
	r->error = xstrdup(json_str(j, "error", NULL));
	/* A time without a number is none. */
	return !verdict_is_timed(r->verdict) || !isnan(r->est);
}

static void settled(struct tune_log *l)
{
	l->unpaid_s = l->unpaid_device_s = 0;
	memset(&l->paying, 0, sizeof(l->paying));
}

static void read_line(struct tune_log *l, const char *line, size_t len)
{
	struct err unused = ERR_INIT;
	struct tune_result r = { .error = NULL };
	struct json *j;

	if (len > MAX_LINE || json_parse_object(&j, line, len, &unused))
		return;
	if (json_num(j, "v", 0) >= 1 && json_num(j, "v", 0) < 2) {
		const char *name = json_str(j, "paying", "");

		if (json_bool(j, "paid", false)) {
			settled(l);
		} else if (strlen(name) == OID_HEX) {
			oid_parse(&l->paying, name);
		} else if (read_result(j, &r)) {
			insert(l, &r);
			l->unpaid_s += r.seconds;
			l->unpaid_device_s += r.device_s;
		}
	}
	free(r.error);
	json_free(j);
}

static char *log_path(const struct search *s, const char *device,
		      const char *sandbox)
{
	struct buf text = BUF_INIT;
	struct oid key;
	char *path;

	buf_addf(&text, "%s\n%s\n%d\n%s\n", s->section_hash, device,
		 JUDGE_EPOCH, sandbox ? sandbox : "");
	source_blob_id(text.ptr, text.len, &key);
	buf_release(&text);
	path = xasprintf("%smaxkernel/log/tune-%s-%.12s",
			 repo_gitdir(s->repo), s->spec.slug,
			 oid_text(&key).s);
	return path;
}

int tune_log_open(struct tune_log *l, const struct search *s,
		  const char *device, const char *sandbox, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret;

	memset(l, 0, sizeof(*l));
	l->fd = -1;
	l->path = log_path(s, device, sandbox);
	ret = buf_read_file(&text, l->path, TUNE_LOG_MAX, err);
	if (ret == ERR_NOTFOUND) {
		err->code = ERR_NONE;
		ret = 0;
	}
	if (ret == ERR_LIMIT)
		err_set(err, ERR_LIMIT, "'%s' is larger than %u bytes: remove "
			"it, its trials are then made again", l->path,
			TUNE_LOG_MAX);
	for (const char *p = text.ptr, *end = p + text.len; !ret && p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		l->torn = !nl;
		if (nl)
			read_line(l, p, (size_t)(nl - p));
		p = nl ? nl + 1 : end;
	}
	buf_release(&text);
	if (ret)
		return ret;
	l->fd = open(l->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
		     O_NOFOLLOW, 0666);
	return l->fd < 0 ? err_sys(err, "cannot open '%s'", l->path) : 0;
}

void tune_log_close(struct tune_log *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->v[i]->error);
		free(l->v[i]);
	}
	free(l->v);
	free(l->slot);
	if (l->path && l->fd >= 0)
		close(l->fd);
	free(l->path);
	memset(l, 0, sizeof(*l));
	l->fd = -1;
}

/* ---- writing ---- */

static int append(struct tune_log *l, struct buf *line, struct err *err)
{
	size_t done = 0;

	if (l->torn)
		buf_splice(line, 0, 0, "\n", 1);
	buf_addch(line, '\n');
	while (done < line->len) {
		ssize_t n = write(l->fd, line->ptr + done, line->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			l->torn = l->torn || done > 0;
			return err_sys(err, "cannot write '%s'", l->path);
		}
		done += (size_t)n;
	}
	l->torn = false;
	if (fdatasync(l->fd) < 0)
		return err_sys(err, "cannot write '%s'", l->path);
	return 0;
}

int tune_log_add(struct tune_log *l, const struct tune_result *r,
		 struct err *err)
{
	struct buf line = BUF_INIT;
	int ret;

	insert(l, r);
	r = tune_log_find(l, &r->state);	/* its error is short now */
	json_open(&line, NULL, '{');
	json_put_int(&line, "v", 1);
	json_put_str(&line, "st", oid_text(&r->state).s);
	json_put_str(&line, "verdict", verdict_name(r->verdict));
	if (!isnan(r->est))
		json_put_num(&line, "est", r->est, 0);
	if (!isnan(r->lr))
		json_put_num(&line, "lr", r->lr, 0);
	json_put_num(&line, "s", r->seconds, 4);
	json_put_num(&line, "d", r->device_s, 4);
	if (r->error)
		json_put_str(&line, "error", r->error);
	json_shut(&line, '}');
	ret = append(l, &line, err);
	buf_release(&line);
	if (!ret) {
		l->unpaid_s += r->seconds;
		l->unpaid_device_s += r->device_s;
	}
	return ret;
}

void tune_log_note(struct tune_log *l, const struct tune_result *r)
{
	insert(l, r);
}

int tune_log_paying(struct tune_log *l, struct err *err)
{
	struct buf line = BUF_INIT;
	char id[13];
	int ret;

	usage_make_id(id);
	source_blob_id(id, strlen(id), &l->paying);
	json_open(&line, NULL, '{');
	json_put_int(&line, "v", 1);
	json_put_str(&line, "paying", oid_text(&l->paying).s);
	json_shut(&line, '}');
	ret = append(l, &line, err);
	buf_release(&line);
	return ret;
}

int tune_log_paid(struct tune_log *l, struct err *err)
{
	struct buf line = BUF_INIT;
	int ret;

	buf_addstr(&line, "{\"v\":1,\"paid\":true}");
	ret = append(l, &line, err);
	buf_release(&line);
	if (!ret)
		settled(l);
	return ret;
}

int tune_log_settle(struct tune_log *l, const struct graph *g,
		    struct err *err)
{
	if (oid_is_zero(&l->paying))
		return 0;
	for (uint32_t i = 0; i < g->nr_spend; i++)
		if (!g->spend[i].step && !g->spend[i].claimed &&
		    oid_eq(&g->spend[i].state, &l->paying))
			return tune_log_paid(l, err);
	return 0;
}
