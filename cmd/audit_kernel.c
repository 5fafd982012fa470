/* The mutants of a kernel before the judge, and a tolerance that stops them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/audit.h"
#include "cmd/out.h"
#include "core/mem.h"

#define MOST_POWER 8		/* tolerances are tightened by up to 1e8 */

void audit_release(struct audit *a)
{
	for (int i = 0; i < MUTANT_NR; i++)
		free(a->entry[i].why);
	memset(a, 0, sizeof(*a));
}

void audit_names(const struct audit *a, struct buf *out)
{
	int left = a->passed;

	for (int i = 0; i < MUTANT_NR; i++) {
		const struct audit_entry *e = &a->entry[i];

		if (!e->tried || e->verdict != V_SAME)
			continue;
		buf_addf(out, "%s%s", mutant_name(e->mutant),
			 --left > 1 ? ", " : left == 1 ? " and " : "");
	}
}

/* Does the judge let it through, up to its time being taken? */
static int try_source(struct task *t, const struct srcset *source,
		      struct record *rec, struct err *err)
{
	static const enum judge_stage stages[] = {
		JUDGE_BUILD, JUDGE_CHECK, JUDGE_SCREEN
	};
	struct judge_request req = { .source = source, .against_root = true };
	int ret = 0;

	srcset_state(source, &req.state);
	for (size_t i = 0; i < ARRAY_SIZE(stages) && !ret; i++) {
		record_release(rec);
		record_init(rec);
		req.stage = stages[i];
		ret = task_call(t, &req, rec, err);
		if (rec->verdict != V_SAME)
			break;
	}
	/* What has a time was taken for right. */
	if (!ret && (verdict_is_timed(rec->verdict) ||
		     rec->verdict == V_TOO_GOOD))
		rec->verdict = V_SAME;
	return ret;
}

static int try_mutant(struct task *t, enum mutant m, struct audit_entry *e,
		      struct err *err)
{
	struct srcset source = SRCSET_INIT;
	struct record rec;
	int ret = mutant_make(m, t->kernel, &t->source, &source, err);

	e->mutant = m;
	if (ret) {
		e->why = xstrdup(err->msg);
		err->code = ERR_NONE;
		return ret == ERR_NOTFOUND ? 0 : ret;
	}
	record_init(&rec);
	ret = try_source(t, &source, &rec, err);
	if (!ret) {
		e->tried = true;
		e->verdict = rec.verdict;
		e->why = rec.error ? xstrdup(rec.error) : NULL;
	}
	record_release(&rec);
	srcset_release(&source);
	return ret;
}

/* ---- a better tolerance ---- */

static bool is_key(const char *line, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(line, key, len) &&
		(line[len] == ' ' || line[len] == '=');
}

/* The section with another tolerance. */
static int section_with(const struct kernel *k, double rtol, double atol,
			struct kernel_file *f, struct err *err)
{
	struct buf text = BUF_INIT;
	size_t len;
	int ret;

	for (const char *p = k->text.ptr; *p; p += len + (p[len] == '\n')) {
		len = strcspn(p, "\n");
		if (!is_key(p, "rtol") && !is_key(p, "atol"))
			buf_addf(&text, "%.*s\n", (int)len, p);
	}
	buf_addf(&text, "rtol = %.3g\natol = %.3g\n", rtol, atol);
	ret = kernel_section_parse(f, k->name, text.ptr, text.len, err);
	buf_release(&text);
	return ret;
}

/* What is audited: the kernel under one tolerance or another. */
struct subject {
	struct session *session;
	const struct srcset *source, *aux;
};

static int open_judge(struct task *t, const struct subject *on,
		      const struct kernel *k, struct err *err)
{
	memset(t, 0, sizeof(*t));
	t->session = on->session;
	t->kernel = k;
	t->brief = true;
	srcset_copy(&t->source, on->source);
	srcset_copy(&t->aux, on->aux);
	return task_judge(t, 1, err);
}

/* Of one tolerance: does it still reject what passed, does the root pass? */
struct trial {
	bool rejects, sound;
};

static int try_tolerance(const struct subject *on, const struct kernel *k,
			 const struct audit *a, struct trial *out,
			 struct err *err)
{
	struct record rec;
	struct task t;
	int ret = open_judge(&t, on, k, err);

	*out = (struct trial){ true, false };
	if (ret) {
		task_close(&t);
		/* ERR_FORMAT: the root itself fails there. */
		return ret == ERR_FORMAT ? 0 : ret;
	}
	record_init(&rec);
	ret = try_source(&t, &t.source, &rec, err);
	out->sound = rec.verdict == V_SAME;
	record_release(&rec);
	for (int i = 0; i < MUTANT_NR && out->rejects && !ret; i++) {
		struct audit_entry e = { .why = NULL };

		if (!a->entry[i].tried || a->entry[i].verdict != V_SAME)
			continue;
		ret = try_mutant(&t, (enum mutant)i, &e, err);
		out->rejects = e.tried && e.verdict != V_SAME;
		free(e.why);
	}
	task_close(&t);
	return ret;
}

static int try_powers(const struct subject *on, const struct kernel *k,
		      const struct audit *a, int rtol_e, int atol_e,
		      struct trial *out, struct err *err)
{
	struct kernel_file f = { NULL, 0, 0 };
	int ret = section_with(k, k->rtol * pow(10, -rtol_e),
			       k->atol * pow(10, -atol_e), &f, err);

	if (!ret)
		ret = try_tolerance(on, &f.v[0], a, out, err);
	kernel_file_release(&f);
	return ret;
}

/*
 * A tighter tolerance rejects whatever a wider one does: the widest power of
 * ten that rejects all is found by halving.  First atol alone, since one
 * that is too wide for the outputs' size is the common fault, then both.
 */
static int advise_on(const struct subject *on, const struct kernel *k,
		     struct audit *a, struct err *err)
{
	for (int both = 0; both <= 1; both++) {
		int lo = 0, hi = MOST_POWER;
		struct trial at_hi;
		int ret = try_powers(on, k, a, both * hi, hi, &at_hi, err);

		while (!ret && at_hi.rejects && hi - lo > 1) {
			int mid = (lo + hi) / 2;
			struct trial t;

			ret = try_powers(on, k, a, both * mid, mid, &t, err);
			if (t.rejects) {
				hi = mid;
				at_hi = t;
			} else {
				lo = mid;
			}
		}
		if (ret)
			return ret;
		if (!at_hi.rejects || !at_hi.sound)
			continue;
		a->better_rtol = k->rtol * pow(10, -both * hi);
		a->better_atol = k->atol * pow(10, -hi);
		return 0;
	}
	return 0;
}

int audit_kernel(struct session *s, const struct kernel *k,
		 const struct srcset *source, const struct srcset *aux,
		 bool advise, struct audit *out, struct err *err)
{
	struct subject on = { s, source, aux };
	struct task t;
	int ret;

	memset(out, 0, sizeof(*out));
	out->rtol = k->rtol;
	out->atol = k->atol;
	out->better_rtol = out->better_atol = NAN;
	ret = open_judge(&t, &on, k, err);
	for (int i = 0; i < MUTANT_NR && !ret; i++) {
		ret = try_mutant(&t, (enum mutant)i, &out->entry[i], err);
		out->tried += out->entry[i].tried;
		out->passed += out->entry[i].tried &&
			out->entry[i].verdict == V_SAME;
	}
	task_close(&t);
	if (!ret && advise && out->passed)
		ret = advise_on(&on, k, out, err);
	return ret;
}

int audit_warn(struct session *s, const struct kernel *k,
	       const struct srcset *source, const struct srcset *aux,
	       struct err *err)
{
	struct buf names = BUF_INIT;
	struct audit a;
	int ret = audit_kernel(s, k, source, aux, false, &a, err);

	if (!ret && a.passed) {
		audit_names(&a, &names);
		warn("%s: wrong on purpose, and right by this section: %s; "
		     "'git maxkernel audit %s' looks for a tolerance that "
		     "rejects them", k->name, names.ptr, k->name);
	} else if (ret && ret != ERR_STOPPED) {
		warn("%s: not audited: %s", k->name, err->msg);
		err->code = ERR_NONE;
		ret = 0;
	}
	buf_release(&names);
	audit_release(&a);
	return ret;
}
