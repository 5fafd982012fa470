/* needs: core/judge/device.c */
#include "core/judge/device.h"

#include <ctype.h>

#include "tests/unit/tap.h"

static void cpu(const char *cpuinfo, const char *slug, const char *text)
{
	struct buf s = BUF_INIT, t = BUF_INIT;

	device_cpu(&s, &t, cpuinfo);
	is_str(s.ptr, slug, "slug of %s", text);
	is_str(t.ptr, text, "text of %s", text);
	buf_release(&s);
	buf_release(&t);
}

static void this_one(void)
{
	struct buf s = BUF_INIT, t = BUF_INIT;
	size_t i, good = 0;

	device_name(&s, &t, 3);
	for (i = 0; i < s.len; i++)
		good += islower((unsigned char)s.ptr[i]) ||
			isdigit((unsigned char)s.ptr[i]) || s.ptr[i] == '-';
	ok(s.len && s.len <= 60 && good == s.len, "a slug: %s", s.ptr);
	ok(s.len > 3 && !strcmp(s.ptr + s.len - 3, "-t3"),
	   "with its threads");
	ok(strstr(t.ptr, ", 3 threads") != NULL, "a text: %s", t.ptr);
	buf_release(&s);
	buf_release(&t);
}

int main(void)
{
	cpu("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 207\n"
	    "model name\t: Intel(R) Xeon(R) Processor\n",
	    "intel-xeon-207", "Intel(R) Xeon(R) Processor (model 207)");
	cpu("model\t\t: 1\nmodel name\t: AMD EPYC 7763 64-Core Processor\n",
	    "amd-epyc-7763-64-core-1",
	    "AMD EPYC 7763 64-Core Processor (model 1)");
	cpu("model\t\t: 158\n"
	    "model name\t: Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz\n",
	    "intel-core-i7-8700k-158",
	    "Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz (model 158)");
	cpu("CPU part\t: 0xd0c\nCPU variant\t: 0x3\n", "0xd0c-0x3",
	    "0xd0c (model 0x3)");
	cpu("", "cpu", "cpu");
	this_one();
	return tap_done();
}
