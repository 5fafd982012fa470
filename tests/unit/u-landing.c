/* needs: core/landing.c core/oid.c core/record.c */
#include <stdlib.h>

#include "core/landing.h"
#include "tests/unit/tap.h"

static struct buf got = BUF_INIT;

static struct spec spec(const char *kernel)
{
	struct spec s = { .slug = (char *)"mm-abc234" };

	s.kernel = strdup(kernel);
	return s;
}

static void fill(struct record *r)
{
	record_init(r);
	r->verdict = V_CONFIRMED;
	r->speedup = 3.214;
	r->ci_low = 3.1;
	r->ci_high = 3.3;
	r->vs_best_flags = 1.5;
	r->time_ns = 1234567;
	r->baseline_ns = 3967888;
	r->launches = 12;
	r->host = strdup("box");
	r->device = strdup("cpu-x\033[31m");
	r->sandbox = strdup("S3");
	r->shape = calloc(2, sizeof(*r->shape));
	r->nr_shapes = 2;
	r->shape[0] = (struct shape_result){
		.shape = strdup("M=500"), .time_ns = 1234567,
		.baseline_ns = 3967888, .speedup = 3.214, .ci_low = 3.1,
		.ci_high = 3.3, .gflops = 12.34, .gbs = NAN, .roof = 0.43,
	};
	r->shape[1] = (struct shape_result){
		.shape = strdup("M=499"), .time_ns = NAN, .baseline_ns = NAN,
		.speedup = NAN, .ci_low = NAN, .ci_high = NAN, .gflops = NAN,
		.gbs = NAN, .roof = NAN, .holdout = true,
	};
}

static const char *message(const char *kernel, const struct record *r,
			   const char *plan)
{
	struct spec s = spec(kernel);
	struct node n = { .subject = (char *)"x" };

	memset(n.id.id, 0xab, sizeof(n.id.id));
	buf_reset(&got);
	land_message(&got, &s, &n, r, plan);
	free(s.kernel);
	return got.ptr;
}

static void whole(void)
{
	struct record r;

	fill(&r);
	is_str(message("matmul", &r, "# What\n\nvectorise\n---\n## Why\n"
		       "it\033[1m waits\n\n"),
	       "matmul: 3.21x faster (3.10 to 3.30)\n"
	       "\n"
	       "**What**\n"
	       "\n"
	       "vectorise\n"
	       "\n"
	       "**Why**\n"
	       "it?[1m waits\n"
	       "\n"
	       "| shape | baseline | now | speedup | 95 % interval | rate |\n"
	       "|---|---|---|---|---|---|\n"
	       "| M=500 | 3.97 ms | 1.23 ms | 3.21x | 3.10 to 3.30 | "
	       "12.3 GF/s (43 % of the roof) |\n"
	       "| M=499 (hold-out) | - | - | - | - | - |\n"
	       "| all timed shapes | 3.97 ms | 1.23 ms | 3.21x | "
	       "3.10 to 3.30 | |\n"
	       "\n"
	       "- over the best compiler flags: 1.50x\n"
	       "- verdict: confirmed\n"
	       "- host: box\n"
	       "- device: cpu-x?[31m\n"
	       "- sandbox: S3\n"
	       "- launches: 12\n"
	       "\n"
	       "Measure it again with:\n"
	       "\n"
	       "    git maxkernel verify abababababab\n"
	       "\n"
	       "Maxkernel-Search: mm-abc234\n"
	       "Maxkernel-Node: abababababababababababababababababababab\n",
	       "the whole message");
	record_release(&r);
}

static void subjects(void)
{
	struct record r;
	char name[201];

	fill(&r);
	memset(name, 'k', 200);
	name[200] = '\0';
	ok(strcspn(message(name, &r, ""), "\n") <= 72,
	   "a long name leaves the subject at 72 bytes");
	ok(strstr(got.ptr, "3.21x faster"), "with the number in it");
	for (int i = 0; i < 200; i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	message(name, &r, "");
	ok((got.ptr[strspn(got.ptr, "\xc3\xa4")]) == ':' &&
	   strspn(got.ptr, "\xc3\xa4") % 2 == 0,
	   "a name is not cut inside a character");
	message("a\nb", &r, "");
	ok(!strncmp(got.ptr, "a?b: ", 5), "a name has no line feed");

	r.verdict = V_FASTER;
	r.speedup = r.ci_low = r.ci_high = NAN;
	r.est_speedup = 2.5;
	ok(!strncmp(message("mm", &r, ""),
		    "mm: about 2.50x the speed, not confirmed\n", 40),
	   "an estimate is said to be one");
	r.verdict = V_WRONG;
	r.est_speedup = NAN;
	ok(!strncmp(message("mm", &r, ""), "mm: not confirmed (wrong)\n", 26),
	   "a failure too");
	record_release(&r);
}

static void hostile_plan(void)
{
	struct record r;
	struct buf plan = BUF_INIT;

	record_init(&r);
	buf_addstr(&plan, "####\n#no blank\nMaxkernel-Node: 1234\n\n\n");
	for (int i = 0; i < 20000; i++)
		buf_addstr(&plan, "word ");
	message("mm", &r, plan.ptr);
	ok(!strstr(got.ptr, "\n#"), "no line is a comment");
	ok(got.len < 20000, "a plan is cut");
	ok(strstr(strstr(got.ptr, "    git maxkernel verify"),
		  "\n\nMaxkernel-Search: "), "our trailers are last");
	buf_release(&plan);
	record_release(&r);
}

int main(void)
{
	whole();
	subjects();
	hostile_plan();
	buf_release(&got);
	return tap_done();
}
