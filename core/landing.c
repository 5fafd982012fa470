#include "core/landing.h"

#include <math.h>
#include <string.h>

#define SUBJECT_MAX 72
#define KERNEL_NAME_MAX 34	/* bytes of the name in a subject */
#define PLAN_MAX 16384

static void add_ratio(struct buf *b, double x)
{
	if (isfinite(x))
		buf_addf(b, "%.2fx", x);
	else
		buf_addch(b, '-');
}

static void add_interval(struct buf *b, double lo, double hi)
{
	if (isfinite(lo) && isfinite(hi))
		buf_addf(b, "%.2f to %.2f", lo, hi);
	else
		buf_addch(b, '-');
}

static void add_time(struct buf *b, double ns)
{
	if (!isfinite(ns))
		buf_addch(b, '-');
	else if (ns < 1e3)
		buf_addf(b, "%.1f ns", ns);
	else if (ns < 1e6)
		buf_addf(b, "%.2f us", ns / 1e3);
	else if (ns < 1e9)
		buf_addf(b, "%.2f ms", ns / 1e6);
	else
		buf_addf(b, "%.2f s", ns / 1e9);
}

/* Cuts at a character, not inside one. */
static void cut(struct buf *b, size_t max)
{
	if (b->len <= max)
		return;
	while (max && ((unsigned char)b->ptr[max] & 0xc0) == 0x80)
		max--;
	buf_splice(b, max, b->len - max, "", 0);
}

static void add_clean(struct buf *b, const char *s)
{
	buf_add_clean(b, s, strlen(s), false);
}

static void add_subject(struct buf *out, const struct spec *spec,
			const struct record *rec)
{
	struct buf s = BUF_INIT;

	add_clean(&s, spec->kernel);
	cut(&s, KERNEL_NAME_MAX);
	buf_addstr(&s, ": ");
	if (rec->claimed)
		buf_addstr(&s, "not measured here, claimed ");
	if (rec->verdict == V_CONFIRMED && isfinite(rec->speedup)) {
		add_ratio(&s, rec->speedup);
		buf_addstr(&s, " faster (");
		add_interval(&s, rec->ci_low, rec->ci_high);
		buf_addch(&s, ')');
	} else if (isfinite(rec->est_speedup)) {
		buf_addstr(&s, "about ");
		add_ratio(&s, rec->est_speedup);
		buf_addstr(&s, " the speed, not confirmed");
	} else {
		buf_addf(&s, "not confirmed (%s)", verdict_name(rec->verdict));
	}
	cut(&s, SUBJECT_MAX);
	buf_add(out, s.ptr, s.len);
	buf_release(&s);
}

/* One line of the plan; headings become bold text. */
static void add_plan_line(struct buf *out, const char *line, size_t len)
{
	size_t hashes = 0;

	while (hashes < len && line[hashes] == '#')
		hashes++;
	while (hashes && hashes < len && line[hashes] == ' ')
		hashes++;
	line += hashes;
	len -= hashes;
	/* "---" ends the message for tools that read mailed patches */
	if (len >= 3 && !memcmp(line, "---", 3))
		return;
	if (hashes && len)
		buf_addstr(out, "**");
	buf_add_clean(out, line, len, false);
	if (hashes && len)
		buf_addstr(out, "**");
}

static void add_plan(struct buf *out, const char *plan)
{
	size_t left = strnlen(plan, PLAN_MAX);
	size_t start = out->len;

	while (left) {
		const char *nl = memchr(plan, '\n', left);
		size_t len = nl ? (size_t)(nl - plan) : left;

		add_plan_line(out, plan, len);
		buf_addch(out, '\n');
		len += nl != NULL;
		plan += len;
		left -= len;
	}
	while (out->len > start && strchr(" \n\t", out->ptr[out->len - 1]))
		buf_splice(out, out->len - 1, 1, "", 0);
	if (out->len > start)
		buf_addstr(out, "\n\n");
}

static void add_row(struct buf *out, const struct shape_result *s)
{
	buf_addstr(out, "| ");
	if (s->shape && *s->shape)
		add_clean(out, s->shape);
	else
		buf_addch(out, '-');
	if (s->holdout)
		buf_addstr(out, " (hold-out)");
	buf_addstr(out, " | ");
	add_time(out, s->baseline_ns);
	buf_addstr(out, " | ");
	add_time(out, s->time_ns);
	buf_addstr(out, " | ");
	add_ratio(out, s->speedup);
	buf_addstr(out, " | ");
	add_interval(out, s->ci_low, s->ci_high);
	buf_addstr(out, " | ");
	if (isfinite(s->gflops) && s->gflops > 0)
		buf_addf(out, "%.1f GF/s", s->gflops);
	else if (isfinite(s->gbs) && s->gbs > 0)
		buf_addf(out, "%.1f GB/s", s->gbs);
	else
		buf_addch(out, '-');
	if (isfinite(s->roof))
		buf_addf(out, " (%.0f %% of the roof)", s->roof * 100);
	buf_addstr(out, " |\n");
}

static void add_total(struct buf *out, const struct record *rec)
{
	buf_addstr(out, "| all timed shapes | ");
	add_time(out, rec->baseline_ns);
	buf_addstr(out, " | ");
	add_time(out, rec->time_ns);
	buf_addstr(out, " | ");
	add_ratio(out, rec->speedup);
	buf_addstr(out, " | ");
	add_interval(out, rec->ci_low, rec->ci_high);
	buf_addstr(out, " | |\n");
}

static void add_table(struct buf *out, const struct record *rec)
{
	if (!rec->nr_shapes && !isfinite(rec->speedup))
		return;
	buf_addstr(out, "| shape | baseline | now | speedup | 95 % interval "
		   "| rate |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < rec->nr_shapes; i++)
		add_row(out, &rec->shape[i]);
	if (isfinite(rec->speedup))
		add_total(out, rec);
	buf_addch(out, '\n');
}

static void add_fact(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_addf(out, "%s: ", name);
	add_clean(out, value);
	buf_addch(out, '\n');
}

static void add_factor(struct buf *out, const char *name, double value)
{
	if (!isfinite(value))
		return;
	buf_addf(out, "%s: ", name);
	add_ratio(out, value);
	buf_addch(out, '\n');
}

static void add_where(struct buf *out, const struct record *rec)
{
	size_t start = out->len;

	add_factor(out, "- over the best compiler flags", rec->vs_best_flags);
	add_factor(out, "- over the best rival", rec->vs_rival);
	add_fact(out, "- verdict", verdict_name(rec->verdict));
	if (rec->claimed)
		add_fact(out, "- trust", "claimed, not measured here");
	add_fact(out, "- host", rec->host);
	add_fact(out, "- device", rec->device);
	add_fact(out, "- compiler", rec->compiler);
	add_fact(out, "- sandbox", rec->sandbox);
	add_fact(out, "- oracle", rec->oracle);
	if (rec->launches > 0)
		buf_addf(out, "- launches: %d\n", rec->launches);
	if (out->len > start)
		buf_addch(out, '\n');
}

void land_message(struct buf *out, const struct spec *spec,
		  const struct node *node, const struct record *rec,
		  const char *plan)
{
	add_subject(out, spec, rec);
	buf_addstr(out, "\n\n");
	add_plan(out, plan);
	add_table(out, rec);
	add_where(out, rec);
	buf_addf(out, "Measure it again with:\n\n"
		 "    git maxkernel verify %s\n\n", oid_short(&node->id).s);
	buf_addf(out, "Maxkernel-Search: %s\nMaxkernel-Node: %s\n",
		 spec->slug, oid_text(&node->id).s);
}
