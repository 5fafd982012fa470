#include "agents/builtin/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define NOISE 0.03		/* ln: of a screening */
#define CONSTANT 0.5		/* c: how wrong the beliefs may be as a whole */
#define REACH 1.5		/* doublings after which numbers differ */
#define OTHER 0.3		/* k' of unequal values without an order */

static const double adds[] = { 0.15, 0.3, 0.6 };	/* a */
static const double mixes[] = { 0.05, 0.15, 0.35 };	/* p */

struct point {
	int *setting;
	double score;
	bool pending;
};

struct model {
	struct model_locus *locus;
	size_t nr_loci;
	double **sum, **product;	/* of each locus, (nr + 1)^2 */
	struct point *point;
	size_t nr, cap;
	double add, mix;
	double *chol, *weight;		/* lower triangle; K^-1 (y - mean) */
	double best;
};

/* ---- what is alike ---- */

static double alike(const struct model_locus *l, int x, int y, double other)
{
	if (x == y)
		return 1;
	return l->ordered ? exp(-fabs(l->place[x] - l->place[y]) / REACH) :
		other;
}

static void copy_locus(struct model *m, size_t i,
		       const struct model_locus *from)
{
	struct model_locus *l = &m->locus[i];
	size_t nr = (size_t)from->nr + 1;

	*l = *from;
	l->place = xcalloc(nr, sizeof(*l->place));
	l->belief = xcalloc(nr, sizeof(*l->belief));
	if (from->ordered)
		memcpy(l->place, from->place, nr * sizeof(*l->place));
	memcpy(l->belief, from->belief, nr * sizeof(*l->belief));
	m->sum[i] = xcalloc(nr * nr, sizeof(double));
	m->product[i] = xcalloc(nr * nr, sizeof(double));
	for (size_t x = 0; x < nr; x++)
		for (size_t y = 0; y < nr; y++) {
			m->sum[i][x * nr + y] = alike(l, (int)x, (int)y, 0);
			m->product[i][x * nr + y] =
				alike(l, (int)x, (int)y, OTHER);
		}
}

struct model *model_new(const struct model_locus *l, size_t nr)
{
	struct model *m = xcalloc(1, sizeof(*m));

	m->nr_loci = nr;
	m->locus = xcalloc(nr, sizeof(*m->locus));
	m->sum = xcalloc(nr, sizeof(*m->sum));
	m->product = xcalloc(nr, sizeof(*m->product));
	for (size_t i = 0; i < nr; i++)
		copy_locus(m, i, &l[i]);
	return m;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr_loci; i++) {
		free(m->locus[i].place);
		free(m->locus[i].belief);
		free(m->sum[i]);
		free(m->product[i]);
	}
	for (size_t i = 0; i < m->nr; i++)
		free(m->point[i].setting);
	free(m->locus);
	free(m->sum);
	free(m->product);
	free(m->point);
	free(m->chol);
	free(m->weight);
	free(m);
}

static double covariance(const struct model *m, const int *x, const int *y)
{
	double sum = 0, product = 1;

	for (size_t i = 0; i < m->nr_loci; i++) {
		size_t nr = (size_t)m->locus[i].nr + 1;
		size_t at = (size_t)(x[i] + 1) * nr + (size_t)(y[i] + 1);

		sum += m->sum[i][at];
		product *= m->product[i][at];
	}
	return CONSTANT * CONSTANT + m->add * m->add * sum +
	       m->mix * m->mix * product;
}

static double believed(const struct model *m, const int *setting)
{
	double sum = 0;

	for (size_t i = 0; i < m->nr_loci; i++)
		sum += m->locus[i].belief[setting[i] + 1];
	return sum;
}

/* ---- points ---- */

static void add_point(struct model *m, const int *setting, double score,
		      bool pending)
{
	struct point *p;

	GROW(m->point, m->nr, m->cap);
	p = &m->point[m->nr++];
	p->setting = xcalloc(m->nr_loci, sizeof(*p->setting));
	for (size_t i = 0; i < m->nr_loci; i++)
		p->setting[i] = setting[i];
	p->score = score;
	p->pending = pending;
}

void model_add(struct model *m, const int *setting, double score)
{
	add_point(m, setting, score, false);
}

void model_add_pending(struct model *m, const int *setting)
{
	add_point(m, setting, 0, true);
}

static int by_score(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

/* The better half of what is kept is the best, the other the latest. */
static void thin(struct model *m)
{
	const size_t half = MODEL_MAX_POINTS / 2;
	size_t kept = 0, from = m->nr - half;
	double *score, least;

	if (m->nr <= MODEL_MAX_POINTS)
		return;
	score = xcalloc(m->nr, sizeof(*score));
	for (size_t i = 0; i < from; i++)
		score[i] = m->point[i].score;
	qsort(score, from, sizeof(*score), by_score);
	least = score[half - 1];
	for (size_t i = 0; i < m->nr; i++) {
		if (i >= from || (kept < half &&
				  m->point[i].score >= least))
			m->point[kept++] = m->point[i];
		else
			free(m->point[i].setting);
	}
	m->nr = kept;
	free(score);
}

/* ---- the fit ---- */

/* The Cholesky factor of the first nr points, into m->chol. */
static void factorise(struct model *m, size_t nr)
{
	double *l = m->chol;

	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k <= i; k++) {
			double s = covariance(m, m->point[i].setting,
					      m->point[k].setting);

			if (i == k)
				s += NOISE * NOISE;
			for (size_t j = 0; j < k; j++)
				s -= l[i * m->nr + j] * l[k * m->nr + j];
			/* NOISE keeps it well over 0; rounding may not. */
			l[i * m->nr + k] = i == k ?
				sqrt(s > 1e-9 ? s : 1e-9) :
				s / l[k * m->nr + k];
		}
	}
}

/* x = L^-1 x, of the first nr. */
static void solve_lower(const struct model *m, double *x, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		for (size_t j = 0; j < i; j++)
			x[i] -= m->chol[i * m->nr + j] * x[j];
		x[i] /= m->chol[i * m->nr + i];
	}
}

static void solve_upper(const struct model *m, double *x, size_t nr)
{
	for (size_t i = nr; i-- > 0;) {
		for (size_t j = i + 1; j < nr; j++)
			x[i] -= m->chol[j * m->nr + i] * x[j];
		x[i] /= m->chol[i * m->nr + i];
	}
}

/* Weights of the first nr points; returns ln of how likely they are, but for
 * a constant. */
static double weigh(struct model *m, size_t nr)
{
	double fit = 0, size = 0;

	factorise(m, nr);
	for (size_t i = 0; i < nr; i++)
		m->weight[i] = m->point[i].score -
			believed(m, m->point[i].setting);
	solve_lower(m, m->weight, nr);
	for (size_t i = 0; i < nr; i++) {
		fit += m->weight[i] * m->weight[i];
		size += log(m->chol[i * m->nr + i]);
	}
	solve_upper(m, m->weight, nr);
	return -fit / 2 - size;
}

static void choose_scales(struct model *m, size_t nr)
{
	double most = -INFINITY, add = adds[1], mix = mixes[1];

	for (size_t i = 0; nr >= 3 && i < ARRAY_SIZE(adds); i++)
		for (size_t k = 0; k < ARRAY_SIZE(mixes); k++) {
			double likely;

			m->add = adds[i];
			m->mix = mixes[k];
			likely = weigh(m, nr);
			if (likely > most) {
				most = likely;
				add = adds[i];
				mix = mixes[k];
			}
		}
	m->add = add;
	m->mix = mix;
}

static double mean_of(const struct model *m, const int *setting, size_t nr)
{
	double mean = believed(m, setting);

	for (size_t i = 0; i < nr; i++)
		mean += covariance(m, setting, m->point[i].setting) *
			m->weight[i];
	return mean;
}

void model_fit(struct model *m)
{
	size_t known = 0;

	thin(m);
	m->best = -INFINITY;
	/* Those under way stand behind the others. */
	for (size_t i = 0; i < m->nr; i++) {
		struct point p = m->point[i];

		if (p.pending)
			continue;
		m->best = p.score > m->best ? p.score : m->best;
		memmove(m->point + known + 1, m->point + known,
			(i - known) * sizeof(p));
		m->point[known++] = p;
	}
	free(m->chol);
	free(m->weight);
	m->chol = xcalloc(m->nr * m->nr + 1, sizeof(*m->chol));
	m->weight = xcalloc(m->nr + 1, sizeof(*m->weight));
	choose_scales(m, known);
	weigh(m, known);
	for (size_t i = known; i < m->nr; i++) {
		struct point *p = &m->point[i];

		p->score = mean_of(m, p->setting, i);
		m->best = p->score > m->best ? p->score : m->best;
		weigh(m, i + 1);
	}
	if (!isfinite(m->best))
		m->best = 0;
}

double model_mean(const struct model *m, const int *setting)
{
	return mean_of(m, setting, m->nr);
}

double model_sd(const struct model *m, const int *setting)
{
	double *x = xcalloc(m->nr + 1, sizeof(*x));
	double var = covariance(m, setting, setting);

	for (size_t i = 0; i < m->nr; i++)
		x[i] = covariance(m, setting, m->point[i].setting);
	solve_lower(m, x, m->nr);
	for (size_t i = 0; i < m->nr; i++)
		var -= x[i] * x[i];
	free(x);
	return sqrt(var > 1e-9 ? var : 1e-9);
}

double model_improvement(const struct model *m, double mean, double sd)
{
	double z = (mean - m->best) / sd;
	double below = erfc(-z / sqrt(2)) / 2;
	double density = exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);

	return (mean - m->best) * below + sd * density;
}
