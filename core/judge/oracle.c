#include "core/judge/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define ANSWER_SLOTS LAYOUT_MAX_SLOTS
#define ANSWER_BYTES ((size_t)96 << 20)	/* of one batch */
#define ANSWER_TIMEOUT_S 120.0

/* ---- sets ---- */

struct set *set_new(const struct seed *seed, enum regime regime,
		    enum special special, int special_arg)
{
	struct set *set = xcalloc(1, sizeof(*set));

	set->seed = *seed;
	set->regime = regime;
	set->special = special;
	set->special_arg = special_arg;
	return set;
}

void set_free(struct set *set)
{
	int i;

	if (!set)
		return;
	for (i = 0; i < KERNEL_MAX_ARGS; i++) {
		free(set->in[i]);
		free(set->own[i]);
	}
	free(set);
}

static size_t native_bytes(const struct kernel *k, int arg,
			   const struct rows *rows)
{
	if (k->arg[arg].kind == ARG_DIM)
		return sizeof(int64_t);
	return (size_t)rows->elems * dtype_size(k->arg[arg].type);
}

static bool is_output(const struct arg *a)
{
	return a->kind == ARG_OUT || a->kind == ARG_INOUT ||
	       a->kind == ARG_RET;
}

static int make_inputs(const struct oracle *o, const struct shape *s,
		       struct set *set, struct err *err)
{
	const struct kernel *k = o->kernel;
	int i, ret;

	for (i = 0; i < k->nr_args; i++) {
		size_t bytes;

		ret = rows_of(k, i, s, &set->rows[i], err);
		if (ret)
			return ret;
		if (!input_is_read(&k->arg[i]))
			continue;
		bytes = native_bytes(k, i, &set->rows[i]);
		set->in[i] = xmalloc(bytes);
		set->bytes += bytes;
		ret = input_fill(set->in[i], k, i, s, &set->seed, set->regime,
				 o->aux, err);
		if (ret)
			return ret;
	}
	if (set->special == SPECIAL_NONE)
		return 0;
	/* Nothing times NaN or Inf is NaN: zeros stand in the others. */
	for (i = 0; i < k->nr_args && set->special != SPECIAL_NINF_ROWS; i++) {
		if (i == set->special_arg || !set->in[i] || !k->arg[i].rank ||
		    !dtype_is_float(k->arg[i].type))
			continue;
		ret = input_plant(set->in[i], k, i, s, &set->seed,
				  SPECIAL_ZERO, err);
		if (ret)
			return ret;
	}
	return input_plant(set->in[set->special_arg], k, set->special_arg, s,
			   &set->seed, set->special, err);
}

static void load_one(void *to, const struct set *set, const struct layout *l,
		     int arg)
{
	const struct arg *a = &l->kernel->arg[arg];
	int64_t n = set->rows[arg].elems, i;

	if (a->kind != ARG_DIM && layout_type(l, arg) != a->type) {
		for (i = 0; i < n; i++)
			((double *)to)[i] = dtype_get(a->type, set->in[arg],
						      (size_t)i);
		return;
	}
	if (a->kind == ARG_DIM) {
		static const size_t size[] = { sizeof(int), sizeof(long),
					       sizeof(size_t) };

		memcpy(to, set->in[arg], size[l->kernel->dim[a->dim].type]);
		return;
	}
	memcpy(to, set->in[arg], (size_t)n * dtype_size(a->type));
}

void set_load(const struct set *set, const struct arena *in, int slot)
{
	const struct layout *l = in->layout;
	int i;

	for (i = 0; i < l->kernel->nr_args; i++)
		if (set->in[i] && !is_output(&l->kernel->arg[i]) &&
		    !layout_at(l, slot, i)->lent)
			load_one(arena_in(in, slot, i), set, l, i);
}

void set_load_inout(const struct set *set, const struct layout *l,
		    const struct worker *w, int slot)
{
	int i;

	for (i = 0; i < l->kernel->nr_args; i++)
		if (l->kernel->arg[i].kind == ARG_INOUT ||
		    layout_at(l, slot, i)->lent)
			load_one(worker_out(w, slot, i), set, l, i);
}

/* ---- answering ---- */

struct batch {
	struct oracle *o;
	const struct shape *shape;
	struct set *const *set;
	int nr;
	void **native;		/* [set * nr_args + arg], copies */
	void **root;		/* the same of the root; NULL: not run */
	double ns;		/* CPU time of all */
};

static void **copies_new(const struct batch *b)
{
	return xcalloc((size_t)b->nr * (size_t)b->o->kernel->nr_args,
		       sizeof(void *));
}

static void copies_free(const struct batch *b, void **v)
{
	int i;

	for (i = 0; v && i < b->nr * b->o->kernel->nr_args; i++)
		free(v[i]);
	free(v);
}

/* Copies every output: to `copies`, or, where this is NULL, to the sets. */
static void batch_take(struct batch *b, const struct layout *l,
		       const struct worker *w, void **copies)
{
	const struct kernel *k = l->kernel;
	int i, j;

	for (i = 0; i < b->nr; i++) {
		for (j = 0; j < k->nr_args; j++) {
			struct set *set = b->set[i];
			size_t bytes = (size_t)set->rows[j].elems *
				       dtype_size(layout_type(l, j));
			void **to = copies ? &copies[i * k->nr_args + j] :
				    &set->own[j];

			if (!is_output(&k->arg[j]))
				continue;
			*to = xmalloc(bytes);
			memcpy(*to, worker_out(w, i, j), bytes);
		}
	}
}

/* Calls the worker on the batch; ERR_FORMAT when it fails. */
static int batch_call(struct batch *b, const struct layout *l,
		      struct worker *w, const char *who, struct err *err)
{
	const struct kernel *k = l->kernel;
	const char *shape = *b->shape->text ? b->shape->text : "its size";
	enum worker_state state = worker_state(w);
	struct call_time t = { 0, 0 };
	int64_t elem;
	int i, ret, arg = 0;

	if (state == WORKER_OK) {
		worker_poison(w, 0, b->nr, b->set[0]->seed.w[0]);
		for (i = 0; i < b->nr; i++)
			set_load_inout(b->set[i], l, w, i);
		ret = worker_call(w, 0, b->nr, false, ANSWER_TIMEOUT_S, &t,
				  &state, err);
		if (ret)
			return ret;
	}
	if (state != WORKER_OK)
		return err_set(err, ERR_FORMAT, "%s fails at %s: %s", who,
			       shape, worker_why(w));
	b->ns += t.cpu_ns;
	if (!worker_untouched(w, 0, b->nr, &arg, &elem))
		return 0;
	return err_set(err, ERR_FORMAT, "%s %s of '%s' at %s%s", who,
		       elem < 0 ? "writes outside" :
				  "leaves elements unwritten",
		       k->arg[arg].name ? k->arg[arg].name : "return", shape,
		       elem < 0 ? "" : " (if it should, declare it inout)");
}

/* Runs one artefact over the batch; copies: as batch_take() has it, NULL for
 * the double version. */
static int batch_run(struct batch *b, const char *so, void **copies,
		     const char *who, struct err *err)
{
	struct placement p = { 0, false };
	struct layout l;
	struct arena in;
	struct worker *w = NULL;
	int ret, i;

	ret = layout_make(&l, b->o->kernel, b->shape, !copies, b->nr, p, err);
	if (ret)
		return ret;
	ret = arena_open(&in, &l, err);
	if (ret) {
		layout_release(&l);
		return ret;
	}
	for (i = 0; i < b->nr; i++)
		set_load(b->set[i], &in, i);
	ret = worker_start(&w, so, &in, &b->o->limits, err);
	if (!ret)
		ret = batch_call(b, &l, w, who, err);
	if (!ret)
		batch_take(b, &l, w, copies);
	worker_end(w);
	arena_close(&in);
	layout_release(&l);
	return ret;
}

bool oracle_agrees(const struct oracle *o, const struct shape *s,
		   const struct set *set, const void *const *native,
		   struct buf *why)
{
	const struct kernel *k = o->kernel;
	struct compare c;
	struct mismatch m;
	int i;

	for (i = 0; i < k->nr_args; i++) {
		struct want w = { set->own[i], set->own[i], -1, 0, 0 };
		int64_t e;

		if (!is_output(&k->arg[i]))
			continue;
		compare_init(&c, k, i, &set->rows[i]);
		if (!dtype_is_float(c.type)) {
			if (compare_full(&c, &w, native[i], &m))
				continue;
			mismatch_text(why, &m, k, i, s);
			return false;
		}
		/* Where one of them overflows, the other need not.  What is
		 * looked for is another meaning, not another rounding. */
		memset(&m, 0, sizeof(m));
		compare_reference(c.type, &set->rows[i], native[i], &w);
		for (e = 0; e < set->rows[i].elems; e++) {
			double want = w.value[e];
			double got = dtype_get(c.type, native[i], (size_t)e);
			double tol = c.atol + c.rtol * fabs(want) +
				     1e-3 * w.rms;

			if (e % c.rows.stride >= c.rows.cols ||
			    !isfinite(want) || !isfinite(got) ||
			    fabs(got - want) <= tol)
				continue;
			m.rule = RULE_TOLERANCE;
			m.elem = e;
			m.got = got;
			m.want = want;
			m.err = fabs(got - want);
			m.limit = tol;
			mismatch_text(why, &m, k, i, s);
			return false;
		}
	}
	return true;
}

/* The root's error counts where it is larger than the reference's. */
static void admit_root(enum dtype t, const struct rows *r, const void *root,
		       struct want *w)
{
	struct want own = *w;

	if (!root || w->ref_rms < 0)
		return;
	compare_reference(t, r, root, &own);
	w->ref_rms = fmax(w->ref_rms, own.ref_rms);
}

/* want of one output from the native values and, perhaps, double ones. */
static void settle_output(const struct oracle *o, struct set *set, int arg,
			  void **native, const void *root)
{
	enum dtype t = o->kernel->arg[arg].type;
	const struct rows *r = &set->rows[arg];
	struct want *w = &set->want[arg];
	size_t n = (size_t)r->elems, i;
	double *v;

	if (!dtype_is_float(t)) {
		free(set->own[arg]);
		set->own[arg] = *native;
		*native = NULL;
		w->exact = set->own[arg];
		set->bytes += n * dtype_size(t);
		return;
	}
	v = set->own[arg];
	if (o->kind == ORACLE_NATIVE || !v) {
		free(v);
		v = xreallocarray(NULL, n, sizeof(*v));
		for (i = 0; i < n; i++)
			v[i] = dtype_get(t, *native, i);
	}
	for (i = 0; i < n; i++) {
		double g = dtype_get(t, *native, i);

		if (!isfinite(g) || !isfinite(v[i]))
			v[i] = g;
	}
	set->own[arg] = v;
	w->value = v;
	compare_reference(t, r, *native, w);
	if (o->kind == ORACLE_NATIVE)
		w->ref_rms = -1;
	admit_root(t, r, root, w);
	/* On plain data the tolerance stands as its author wrote it; other
	 * regimes scale the data, and rounding with it, past what it is for. */
	if (set->regime == REGIME_PLAIN)
		w->ref_max = 0;
	set->bytes += n * sizeof(*v);
}

/*
 * One output of few elements may come out nearly exact by luck, and would
 * then ask the same luck of others: all sets of a batch share their error.
 */
static void share_errors(struct batch *b, int arg)
{
	double sum = 0, rel;
	int i, n = 0;

	for (i = 0; i < b->nr; i++) {
		const struct want *w = &b->set[i]->want[arg];

		if (!(w->ref_rms >= 0) || !(w->rms > 0))
			continue;
		sum += (w->ref_rms / w->rms) * (w->ref_rms / w->rms);
		n++;
	}
	rel = n ? sqrt(sum / n) : 0;
	for (i = 0; i < b->nr; i++) {
		struct want *w = &b->set[i]->want[arg];

		if (w->ref_rms >= 0 && w->ref_rms < rel * w->rms)
			w->ref_rms = rel * w->rms;
	}
}

static void batch_drop_double(struct batch *b)
{
	int i, j;

	for (i = 0; i < b->nr; i++) {
		for (j = 0; j < KERNEL_MAX_ARGS; j++) {
			free(b->set[i]->own[j]);
			b->set[i]->own[j] = NULL;
		}
	}
}

static int batch_double(struct batch *b, struct err *err)
{
	const int nr_args = b->o->kernel->nr_args;
	struct buf why = BUF_INIT;
	int ret, i;

	ret = batch_run(b, b->o->double_so, NULL, "the oracle", err);
	if (ret == ERR_FORMAT && b->o->kind == ORACLE_AUTO) {
		oracle_make_native(b->o, err->msg);
		batch_drop_double(b);
		return 0;
	}
	for (i = 0; !ret && i < b->nr; i++) {
		const void *const *native =
			(const void *const *)&b->native[i * nr_args];

		/* Special values take other ways through some kernels. */
		if (b->o->kind != ORACLE_AUTO ||
		    b->set[i]->special != SPECIAL_NONE ||
		    oracle_agrees(b->o, b->shape, b->set[i], native, &why))
			continue;
		oracle_make_native(b->o, why.ptr);
		batch_drop_double(b);
		break;
	}
	buf_release(&why);
	return ret;
}

/* A root that fails has no error to count; its own check tells of it. */
static int batch_root(struct batch *b, struct err *err)
{
	struct err own = ERR_INIT;
	int ret;

	b->root = copies_new(b);
	ret = batch_run(b, b->o->root_so, b->root, "the kernel at the root",
			&own);
	if (ret == ERR_FORMAT)
		return 0;
	if (ret)
		*err = own;
	return ret;
}

static void batch_settle(struct batch *b)
{
	const struct kernel *k = b->o->kernel;
	int i, j;

	for (j = 0; j < k->nr_args; j++) {
		if (!is_output(&k->arg[j]))
			continue;
		for (i = 0; i < b->nr; i++) {
			int at = i * k->nr_args + j;

			settle_output(b->o, b->set[i], j, &b->native[at],
				      b->root ? b->root[at] : NULL);
		}
		if (dtype_is_float(k->arg[j].type))
			share_errors(b, j);
	}
}

static int answer_batch(struct batch *b, struct err *err)
{
	const struct kernel *k = b->o->kernel;
	int ret;

	b->native = copies_new(b);
	b->root = NULL;
	ret = batch_run(b, b->o->native_so, b->native,
			k->reference.path && !k->reference.is_double ?
			"the reference" : "the kernel at the root", err);
	if (!ret && b->o->kind != ORACLE_NATIVE)
		ret = batch_double(b, err);
	if (!ret && b->o->kind != ORACLE_NATIVE && b->o->root_so)
		ret = batch_root(b, err);
	if (!ret)
		batch_settle(b);
	copies_free(b, b->native);
	copies_free(b, b->root);
	return ret;
}

/* Sets a batch that keep its memory within bounds. */
static int batch_size(const struct oracle *o, const struct set *set)
{
	size_t bytes = 0;
	int i;

	for (i = 0; i < o->kernel->nr_args; i++)
		bytes += (size_t)set->rows[i].elems * 8 + 8192;
	if (bytes > ANSWER_BYTES)
		return 1;
	bytes = ANSWER_BYTES / bytes;
	return bytes < ANSWER_SLOTS ? (int)bytes : ANSWER_SLOTS;
}

int oracle_answer(struct oracle *o, const struct shape *s,
		  struct set *const *sets, int nr, double *call_ns,
		  struct err *err)
{
	struct batch b = { o, s, sets, 0, NULL, NULL, 0 };
	int i, ret, done = 0, room;

	for (i = 0; i < nr; i++) {
		ret = make_inputs(o, s, sets[i], err);
		if (ret)
			return ret;
	}
	while (done < nr) {
		room = batch_size(o, sets[done]);
		b.set = sets + done;
		b.nr = nr - done < room ? nr - done : room;
		ret = answer_batch(&b, err);
		if (ret)
			return ret;
		done += b.nr;
	}
	if (call_ns && nr)
		*call_ns = b.ns / nr;
	return 0;
}

/* ---- verifying ---- */

bool set_verify(const struct set *set, const struct layout *l,
		struct worker *w, int slot, int sample, struct dice *d,
		struct buf *why)
{
	const struct kernel *k = l->kernel;
	int64_t elem;
	int i, arg = 0;

	if (worker_untouched(w, slot, 1, &arg, &elem)) {
		if (elem < 0) {
			buf_addf(why, "it writes outside of '%s'",
				 k->arg[arg].name ? k->arg[arg].name :
				 "the return value");
			return false;
		}
		element_text(why, k, arg, l->shape, elem);
		buf_addstr(why, " is never written");
		return false;
	}
	for (i = 0; i < k->nr_args; i++) {
		struct compare c;
		struct mismatch m;
		const void *got;
		bool right;

		if (!is_output(&k->arg[i]))
			continue;
		compare_init(&c, k, i, &set->rows[i]);
		got = worker_out(w, slot, i);
		if (sample && sample < set->rows[i].elems)
			right = compare_sample(&c, &set->want[i], got, sample,
					       d, &m);
		else
			right = compare_full(&c, &set->want[i], got, &m);
		if (right)
			continue;
		mismatch_text(why, &m, k, i, l->shape);
		return false;
	}
	return true;
}
