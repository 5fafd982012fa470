#include "core/judge/device.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#define MAX_SLUG 60

/* The value of the first line "key : value", or false. */
static bool cpuinfo_value(const char *cpuinfo, const char *key,
			  struct buf *out)
{
	const char *line = cpuinfo;
	size_t len = strlen(key);

	while (line) {
		const char *end = strchr(line, '\n'), *p = line + len;

		if (!strncmp(line, key, len)) {
			p += strspn(p, " \t");
			if (*p == ':') {
				p++;
				p += strspn(p, " \t");
				buf_add(out, p, end ? (size_t)(end - p) :
						      strlen(p));
				return true;
			}
		}
		line = end ? end + 1 : NULL;
	}
	return false;
}

static void slug_word(struct buf *slug, const char *word, size_t len)
{
	size_t i;

	if (slug->len)
		buf_addch(slug, '-');
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)word[i];

		if (isalnum(c))
			buf_addch(slug, tolower(c));
		else if (slug->len && slug->ptr[slug->len - 1] != '-')
			buf_addch(slug, '-');
	}
	while (slug->len && slug->ptr[slug->len - 1] == '-')
		slug->ptr[--slug->len] = '\0';
}

/* Words that tell nothing apart. */
static bool is_noise(const char *word, size_t len)
{
	static const char *const noise[] = {
		"CPU", "Processor", "processor", "@", "with"
	};
	size_t i;

	for (i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		if (strlen(noise[i]) == len && !strncmp(noise[i], word, len))
			return true;
	return len > 3 && (!strncmp(word + len - 3, "GHz", 3) ||
			   !strncmp(word + len - 3, "MHz", 3));
}

static void slug_model(struct buf *slug, const char *name)
{
	while (*name) {
		size_t len = strcspn(name, " ");
		/* "Xeon(R)" */
		const char *mark = memchr(name, '(', len);
		size_t use = mark ? (size_t)(mark - name) : len;

		if (use && !is_noise(name, len) && slug->len + use < 40)
			slug_word(slug, name, use);
		name += len;
		name += strspn(name, " ");
	}
}

void device_cpu(struct buf *slug, struct buf *text, const char *cpuinfo)
{
	struct buf name = BUF_INIT, number = BUF_INIT;

	if (!cpuinfo_value(cpuinfo, "model name", &name))
		cpuinfo_value(cpuinfo, "CPU part", &name);
	if (!cpuinfo_value(cpuinfo, "model\t", &number))
		cpuinfo_value(cpuinfo, "CPU variant", &number);
	if (!name.len)
		buf_addstr(&name, "cpu");
	slug_model(slug, name.ptr);
	if (number.len && number.len < 12)
		slug_word(slug, number.ptr, number.len);
	buf_add_clean(text, name.ptr, name.len < 100 ? name.len : 100, false);
	if (number.len && number.len < 12) {
		buf_addstr(text, " (model ");
		buf_add_clean(text, number.ptr, number.len, false);
		buf_addch(text, ')');
	}
	buf_release(&name);
	buf_release(&number);
}

static const char *isa_name(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f"))
		return "avx512";
	if (__builtin_cpu_supports("avx2"))
		return "avx2";
	if (__builtin_cpu_supports("avx"))
		return "avx";
	return "sse2";
#elif defined(__aarch64__)
	return "neon";
#else
	return "generic";
#endif
}

void device_name(struct buf *slug, struct buf *text, int threads)
{
	struct buf cpuinfo = BUF_INIT;
	struct err err = ERR_INIT;

	if (buf_read_file(&cpuinfo, "/proc/cpuinfo", 4u << 20, &err) ||
	    !cpuinfo.len)
		buf_reset(&cpuinfo);
	device_cpu(slug, text, cpuinfo.ptr);
	if (slug->len > MAX_SLUG - 16) {
		slug->len = MAX_SLUG - 16;
		slug->ptr[slug->len] = '\0';
	}
	slug_word(slug, isa_name(), strlen(isa_name()));
	buf_addf(slug, "-t%d", threads > 0 ? threads : 1);
	buf_addf(text, ", %s, %d thread%s", isa_name(),
		 threads > 0 ? threads : 1, threads > 1 ? "s" : "");
	buf_release(&cpuinfo);
}

void device_host(struct buf *out)
{
	char name[256];

	if (gethostname(name, sizeof(name)))
		name[0] = '\0';
	name[sizeof(name) - 1] = '\0';
	if (*name)
		buf_add_clean(out, name, strlen(name), false);
	else
		buf_addstr(out, "unknown");
}
