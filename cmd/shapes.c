#include "cmd/shapes.h"

static void heads(struct table *t)
{
	table_init(t, 7, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 5 | 1u << 6);
	table_cell(t, "shape");
	table_cell(t, "baseline");
	table_cell(t, "time");
	table_cell(t, "speedup");
	table_cell(t, "interval");
	table_cell(t, "rate");
	table_cell(t, "roof");
}

static void row(struct table *t, const struct shape_result *s)
{
	struct buf b = BUF_INIT;

	table_cell(t, "%s%s", s->shape && *s->shape ? s->shape : "-",
		   s->holdout ? " (hold-out)" : "");
	fmt_time(&b, s->baseline_ns);
	table_cell(t, "%s", b.ptr);
	buf_reset(&b);
	fmt_time(&b, s->time_ns);
	table_cell(t, "%s", b.ptr);
	buf_reset(&b);
	fmt_ratio(&b, s->speedup);
	table_cell(t, "%s", b.ptr);
	if (s->speedup >= 0)
		table_tint(t, s->speedup > 1 ? COL_GOOD : COL_BAD);
	buf_reset(&b);
	fmt_interval(&b, s->ci_low, s->ci_high);
	table_cell(t, "%s", b.ptr);
	buf_reset(&b);
	fmt_rate(&b, s);
	table_cell(t, "%s", b.ptr);
	buf_reset(&b);
	fmt_share(&b, s->roof);
	table_cell(t, "%s", b.ptr);
	buf_release(&b);
}

void shapes_print(const struct record *r, FILE *f)
{
	struct table t;

	if (!r->nr_shapes)
		return;
	heads(&t);
	for (size_t i = 0; i < r->nr_shapes; i++)
		row(&t, &r->shape[i]);
	table_print(&t, f);
	table_release(&t);
}
