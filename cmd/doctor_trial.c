/*
 * doctor --judge: kernels of known speed and kernels that cheat go through
 * the judge as any candidate does.  A judge that errs here is not to be
 * believed about anything else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/child.h"
#include "cmd/doctor.h"
#include "cmd/task.h"
#include "core/mem.h"
#include "core/trial.h"

#define CALL_US 200.0

struct planted {
	const char *name, *what;
	double factor;		/* of the root's steps */
	bool confirmed;		/* is to be */
};

static const struct planted planted[] = {
	{ "equal", "another version of equal speed", 1, false },
	{ "equal again", "another version of equal speed", 1, false },
	{ "5 % slower", "a longer chain", 1.05, false },
	{ "20 % slower", "a longer chain", 1.2, false },
	{ "5 % faster", "a shorter chain", 1 / 1.05, true },
	{ "twice as fast", "a shorter chain", 0.5, true },
};

/* As in a search: confirmed only after the screening has called it faster. */
static int judge_one(struct task *t, const struct srcset *source,
		     struct record *rec, struct err *err)
{
	static const enum judge_stage stages[] = {
		JUDGE_BUILD, JUDGE_CHECK, JUDGE_SCREEN, JUDGE_CONFIRM
	};
	struct judge_request req = { .source = source, .against_root = true };
	int ret = 0;

	srcset_state(source, &req.state);
	for (size_t i = 0; i < ARRAY_SIZE(stages) && !ret; i++) {
		record_release(rec);
		record_init(rec);
		req.stage = stages[i];
		ret = task_call(t, &req, rec, err);
		if (rec->verdict != (stages[i] == JUDGE_SCREEN ? V_FASTER :
				     V_SAME))
			break;
	}
	return ret;
}

static void tell(struct findings *f, const char *name, const char *what,
		 const struct record *rec, bool good, const char *wanted)
{
	struct buf b = BUF_INIT;

	buf_addf(&b, "%s: %s", what, verdict_name(rec->verdict));
	if (!isnan(rec->speedup))
		buf_addf(&b, " %.3fx [%.3f, %.3f]", rec->speedup, rec->ci_low,
			 rec->ci_high);
	if (!good)
		buf_addf(&b, ", and should be %s", wanted);
	doctor_found(f, name, "%s", b.ptr);
	if (!good)
		doctor_advise(&f->v[f->nr - 1], true, "numbers of this machine "
			      "are not to be believed now; try again when "
			      "nothing else runs on it");
	buf_release(&b);
}

static int try_planted(struct task *t, const struct planted *p, int steps,
		       unsigned nr, struct findings *f, struct err *err)
{
	struct srcset source;
	struct record rec;
	int is = (int)lround(steps * p->factor), ret;
	double ratio = (double)steps / is;
	bool good;

	record_init(&rec);
	trial_source(&source, is, nr, (int)(7 * nr % 30));
	ret = judge_one(t, &source, &rec, err);
	good = (rec.verdict == V_CONFIRMED) == p->confirmed &&
		verdict_is_timed(rec.verdict);
	/* Twice the interval: one in twenty is outside of it by rights. */
	if (good && p->confirmed)
		good = fabs(log(rec.speedup / ratio)) <
			log(rec.ci_high / rec.ci_low) + 0.005;
	if (!ret)
		tell(f, p->name, p->what, &rec, good, p->confirmed ?
		     "confirmed at that ratio" : "slower, same or unsure");
	srcset_release(&source);
	record_release(&rec);
	return ret;
}

static int try_cheat(struct task *t, const struct trial_cheat *c,
		     struct findings *f, struct err *err)
{
	struct srcset source;
	struct record rec;
	int ret;

	record_init(&rec);
	trial_cheat_source(&source, c);
	ret = judge_one(t, &source, &rec, err);
	if (!ret)
		tell(f, c->name, c->summary, &rec,
		     !verdict_is_timed(rec.verdict) &&
		     rec.verdict != V_NO_VERDICT, "rejected");
	srcset_release(&source);
	record_release(&rec);
	return ret;
}

static int trials(struct session *s, const struct kernel *k,
		  struct findings *f, struct err *err)
{
	int steps = trial_steps(CALL_US), ret;
	struct task t;

	memset(&t, 0, sizeof(t));
	t.session = s;
	t.kernel = k;
	trial_source(&t.source, steps, 0, 0);
	srcset_copy(&t.aux, &t.source);
	ret = task_judge(&t, 1, err);
	for (size_t i = 0; i < ARRAY_SIZE(planted) && !ret; i++)
		ret = try_planted(&t, &planted[i], steps, (unsigned)i + 1, f,
				  err);
	for (size_t i = 0; i < trial_nr_cheats && !ret; i++)
		ret = try_cheat(&t, &trial_cheats[i], f, err);
	task_close(&t);
	return ret;
}

int doctor_trial(struct session *s, struct findings *f, struct err *err)
{
	struct kernel_file file = { NULL, 0, 0 };
	struct buf text = BUF_INIT;
	int ret;

	trial_section(&text, child_exists("gcc") ? "gcc" : "clang");
	ret = kernel_file_parse(&file, "doctor", text.ptr, text.len, err);
	buf_release(&text);
	if (!ret)
		ret = trials(s, &file.v[0], f, err);
	kernel_file_release(&file);
	if (!ret || ret == ERR_STOPPED)
		return ret;
	doctor_found(f, "judge", "cannot measure: %s", err->msg);
	doctor_advise(&f->v[f->nr - 1], true,
		      "'git maxkernel doctor' says what is missing");
	err->code = ERR_NONE;
	return 0;
}
