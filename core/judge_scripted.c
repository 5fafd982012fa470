/*
 * A judge that reads its verdicts from a table, so that policies, resuming
 * and crashes can be tested to the bit.  MAXKERNEL_JUDGE names the table:
 *
 *	device <slug>			default "scripted"
 *	delay <ms>			of each stage, default 0
 *	default <verdict> [<speedup> [<text>]]
 *	default hash			from the state id: a tenth fail to
 *					build, a tenth are wrong, the others
 *					are 0.25x to 4x as fast as the root
 *	<state id> <verdict> [<speedup> [<text>]]
 *	<state id> die			the judge is lost when it checks it
 *	<state id> stuck		it never ends checking it
 *
 * A prefix of a state id of at least 6 digits will do.  A verdict of build
 * or check comes in its stage; a timed one is compared with the champion's:
 * over 1 % faster is `faster`, and `confirmed` when confirmed.  The
 * measurements say that they are unsandboxed.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/judge.h"
#include "core/mem.h"

#define MAX_TABLE (8u << 20)
#define MIN_PREFIX 6

enum fate { FATE_NONE, FATE_DIE, FATE_STUCK };

struct row {
	char *state;		/* prefix of the id; NULL: default */
	bool hash;
	enum fate fate;
	enum verdict verdict;
	double speedup;
	char *text;
};

struct scripted {
	struct judge base;
	struct row *row;
	size_t nr, cap;
	long delay_ms;
	int timer;
	struct judge_request req;
};

static void row_add(struct scripted *j, struct row *r)
{
	GROW(j->row, j->nr, j->cap);
	j->row[j->nr++] = *r;
}

static int parse_row(struct scripted *j, const char *key, char *rest,
		     struct err *err)
{
	struct row r = { .speedup = 1 };
	char *word = strsep(&rest, " \t"), *end;
	int v;

	r.state = strcmp(key, "default") ? xstrdup(key) : NULL;
	if (word && !strcmp(word, "hash")) {
		r.hash = true;
		row_add(j, &r);
		return 0;
	}
	if (word && (!strcmp(word, "die") || !strcmp(word, "stuck")))
		r.fate = *word == 'd' ? FATE_DIE : FATE_STUCK;
	v = r.fate ? V_SAME : word ? verdict_parse(word) : -1;
	if (v < 0 || (r.state && strlen(r.state) < MIN_PREFIX)) {
		free(r.state);
		return err_set(err, ERR_FORMAT, "bad row '%s %s'", key,
			       word ? word : "");
	}
	r.verdict = (enum verdict)v;
	word = strsep(&rest, " \t");
	if (word && *word) {
		r.speedup = strtod(word, &end);
		if (*end || !(r.speedup > 0)) {
			free(r.state);
			return err_set(err, ERR_FORMAT, "bad speedup '%s'",
				       word);
		}
	}
	r.text = xstrdup(rest && *rest ? rest : verdict_name(r.verdict));
	row_add(j, &r);
	return 0;
}

static int parse(struct scripted *j, char *text, struct err *err)
{
	char *line, *key;

	for (line = strsep(&text, "\n"); line; line = strsep(&text, "\n")) {
		int ret = 0;

		if (!*line || *line == '#')
			continue;
		key = strsep(&line, " \t");
		if (!strcmp(key, "device") && line) {
			free(j->base.info.device);
			j->base.info.device = xstrdup(line);
		} else if (!strcmp(key, "delay") && line) {
			j->delay_ms = strtol(line, NULL, 10);
		} else {
			ret = parse_row(j, key, line, err);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static const struct row *find_row(const struct scripted *j,
				  const struct oid *state)
{
	struct oid_hex hex = oid_text(state);
	const struct row *r = NULL;

	for (size_t i = 0; i < j->nr; i++)
		if (j->row[i].state ? !strncmp(j->row[i].state, hex.s,
					       strlen(j->row[i].state))
				    : !r)
			r = &j->row[i];
	return r;
}

/* What the table says of a state; *speedup over the root. */
static enum verdict look_up(const struct scripted *j, const struct oid *state,
			    double *speedup, const char **text)
{
	const struct row *r = find_row(j, state);

	*speedup = 1;
	*text = NULL;
	if (!r)
		return V_SAME;
	if (!r->hash) {
		*speedup = r->speedup;
		*text = r->text;
		return r->verdict;
	}
	*text = "by the hash";
	if (state->id[0] < 26)
		return V_BUILD_FAIL;
	if (state->id[0] < 52)
		return V_WRONG;
	*speedup = exp2((state->id[1] * 256 + state->id[2]) / 16384.0 - 2);
	return V_FASTER;
}

static bool is_stuck(const struct scripted *j)
{
	const struct row *r = j->req.stage == JUDGE_CHECK ?
		find_row(j, &j->req.state) : NULL;

	return r && r->fate == FATE_STUCK;
}

static int scripted_start(struct judge *base, const struct judge_request *req,
			  struct err *err)
{
	struct scripted *j = (struct scripted *)base;
	struct itimerspec t = {
		.it_value = { j->delay_ms / 1000,
			      j->delay_ms % 1000 * 1000000L },
	};

	j->req = *req;
	if (j->delay_ms && !is_stuck(j) && timerfd_settime(j->timer, 0, &t, NULL) < 0)
		return err_sys(err, "cannot set a timer");
	return 0;
}

/* The timer of one that is stuck is not set, or is over. */
static int scripted_fd(const struct judge *base)
{
	const struct scripted *j = (const struct scripted *)base;

	return j->delay_ms || is_stuck(j) ? j->timer : -1;
}

/* Every timed shape alike. */
static void fill_shapes(const struct scripted *j, struct record *out)
{
	out->nr_shapes = j->base.info.nr_shapes;
	out->shape = xcalloc(out->nr_shapes, sizeof(*out->shape));
	for (size_t i = 0; i < out->nr_shapes; i++) {
		struct shape_result *s = &out->shape[i];

		*s = j->base.info.shape[i];
		s->shape = xstrdup(s->shape);
		s->time_ns = out->time_ns;
		s->speedup = out->speedup;
		s->ci_low = out->ci_low;
		s->ci_high = out->ci_high;
	}
}

static void timed(const struct scripted *j, struct record *out, double speedup)
{
	double lr = log(speedup) - (j->req.against_root ? 0 : j->req.against_lr);
	bool confirm = j->req.stage == JUDGE_CONFIRM;

	out->verdict = lr > 0.01 ? (confirm ? V_CONFIRMED : V_FASTER) :
		       lr < -0.01 ? V_SLOWER : V_SAME;
	out->lr = lr;
	out->lr_low = lr - 0.005;
	out->lr_high = lr + 0.005;
	out->baseline_ns = 1e6;
	out->time_ns = 1e6 / speedup;
	out->launches = confirm ? 12 : 3;
	if (confirm) {
		out->speedup = speedup;
		out->ci_low = speedup * 0.99;
		out->ci_high = speedup * 1.01;
	}
	out->against = xstrdup(j->req.against_root ? "root" :
			       oid_text(&j->req.against).s);
	fill_shapes(j, out);
}

static int scripted_step(struct judge *base, struct record *out,
			 struct err *err)
{
	struct scripted *j = (struct scripted *)base;
	enum verdict v;
	const char *text;
	const struct row *r;
	double speedup;
	uint64_t ticks;

	if (is_stuck(j))
		return 0;
	if (j->delay_ms && read(j->timer, &ticks, sizeof(ticks)) < 0 &&
	    errno == EAGAIN)
		return 0;
	if (j->req.stage == JUDGE_OPEN)
		return 1;
	r = find_row(j, &j->req.state);
	if (r && r->fate == FATE_DIE && j->req.stage == JUDGE_CHECK)
		return err_set(err, ERR_SYS, "the scripted judge has died");
	v = look_up(j, &j->req.state, &speedup, &text);
	out->verdict = V_SAME;
	if (v == V_BUILD_FAIL || v == V_GATE_FAIL ||
	    (!verdict_is_timed(v) && j->req.stage >= JUDGE_CHECK)) {
		out->verdict = v;
		out->error = xstrdup(text);
	} else if (j->req.stage >= JUDGE_SCREEN) {
		timed(j, out, speedup);
	}
	return 1;
}

static const char *scripted_doing(const struct judge *base)
{
	return judge_stage_name(((const struct scripted *)base)->req.stage);
}

static void scripted_close(struct judge *base)
{
	struct scripted *j = (struct scripted *)base;

	for (size_t i = 0; i < j->nr; i++) {
		free(j->row[i].state);
		free(j->row[i].text);
	}
	free(j->row);
	judge_info_release(&j->base.info);
	if (j->timer >= 0)
		close(j->timer);
	free(j);
}

static const struct judge_ops scripted_ops = {
	.start = scripted_start,
	.fd = scripted_fd,
	.step = scripted_step,
	.doing = scripted_doing,
	.close = scripted_close,
};

int judge_scripted_open(struct judge **out, const char *table,
			const struct judge_config *cfg, struct err *err)
{
	struct scripted *j = xcalloc(1, sizeof(*j));
	struct judge_info *info = &j->base.info;
	struct buf text = BUF_INIT;
	int ret;

	j->base.ops = &scripted_ops;
	info->device = xstrdup("scripted");
	info->device_text = xstrdup("scripted judge");
	info->host = xstrdup("scripted");
	info->sandbox = xstrdup("none");
	info->oracle = xstrdup("native");
	info->compiler = xstrdup(cfg->kernel->cc);
	info->resolution = 0.01;
	info->shape = xcalloc((size_t)cfg->kernel->nr_time,
			      sizeof(*info->shape));
	info->nr_shapes = (size_t)cfg->kernel->nr_time;
	for (size_t i = 0; i < info->nr_shapes; i++) {
		struct shape_result *s = &info->shape[i];

		*s = (struct shape_result){
			.shape = xstrdup(cfg->kernel->time[i].text),
			.time_ns = 1e6, .baseline_ns = 1e6, .speedup = NAN,
			.ci_low = NAN, .ci_high = NAN, .flops = NAN,
			.bytes = NAN, .gflops = NAN, .gbs = NAN, .roof = NAN,
		};
	}
	info->best_flags_speedup = NAN;
	j->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret = buf_read_file(&text, table, MAX_TABLE, err);
	if (!ret)
		ret = parse(j, text.ptr, err);
	if (ret)
		err_wrap(err, "MAXKERNEL_JUDGE");
	buf_release(&text);
	if (ret) {
		scripted_close(&j->base);
		return ret;
	}
	*out = &j->base;
	return 0;
}
