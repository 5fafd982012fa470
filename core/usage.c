#include "core/usage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"

bool usage_name_ok(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > USAGE_MAX_NAME || *name == '.' || *name == '-')
		return false;
	return strspn(name, USAGE_NAME_CHARS) == len;
}

void usage_fit_name(const char *name, char out[USAGE_MAX_NAME + 1])
{
	size_t len = 0;

	for (; name && *name && len < USAGE_MAX_NAME; name++) {
		bool good = strchr(USAGE_NAME_CHARS, *name) &&
			    (len || (*name != '.' && *name != '-'));

		out[len++] = good ? *name : '_';
	}
	if (!len)
		out[len++] = '_';
	out[len] = '\0';
}

void usage_make_id(char id[13])
{
	static uint32_t count;
	uint64_t x = 0;
	struct timespec now;

	if (getrandom(&x, sizeof(x), 0) != (ssize_t)sizeof(x)) {
		clock_gettime(CLOCK_REALTIME, &now);
		x = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^
			(uint64_t)now.tv_sec << 20 ^ (uint64_t)getpid() ^
			(uint64_t)++count << 40;
	}
	snprintf(id, 13, "%012llx",
		 (unsigned long long)(x & 0xffffffffffffu));
}

int64_t usage_sum(int64_t a, int64_t b)
{
	if (a < 0 || b < 0)	/* nobody uses less than nothing */
		return a < 0 ? (b < 0 ? 0 : b) : a;
	return a > USAGE_MAX_TOKENS - b ? USAGE_MAX_TOKENS : a + b;
}

void usage_add(struct usage *sum, const struct usage *one)
{
	sum->tokens_in = usage_sum(sum->tokens_in, one->tokens_in);
	sum->tokens_cached = usage_sum(sum->tokens_cached,
				       one->tokens_cached);
	sum->tokens_out = usage_sum(sum->tokens_out, one->tokens_out);
	sum->tokens_reasoning = usage_sum(sum->tokens_reasoning,
					  one->tokens_reasoning);
	if (isfinite(one->seconds))
		sum->seconds += one->seconds;
	if (isfinite(one->cost))
		sum->cost += one->cost;
}

int64_t usage_tokens(const struct usage *u)
{
	return usage_sum(usage_sum(u->tokens_in, u->tokens_cached),
			 usage_sum(u->tokens_out, u->tokens_reasoning));
}

void usages_add(struct usages *u, const struct usage *one)
{
	struct usage copy = *one;

	copy.agent = xstrdup(one->agent);
	copy.model = xstrdup(one->model);
	GROW(u->v, u->nr, u->cap);
	u->v[u->nr++] = copy;
}

void usages_copy(struct usages *to, const struct usages *from)
{
	*to = (struct usages)USAGES_INIT;
	for (size_t i = 0; i < from->nr; i++)
		usages_add(to, &from->v[i]);
}

void usages_release(struct usages *u)
{
	for (size_t i = 0; i < u->nr; i++) {
		free(u->v[i].agent);
		free(u->v[i].model);
	}
	free(u->v);
	*u = (struct usages)USAGES_INIT;
}

int64_t usages_tokens(const struct usages *u)
{
	int64_t sum = 0;

	for (size_t i = 0; i < u->nr; i++)
		sum = usage_sum(sum, usage_tokens(&u->v[i]));
	return sum;
}

double usages_cost(const struct usages *u, bool *unknown)
{
	double sum = 0;

	if (unknown)
		*unknown = false;
	for (size_t i = 0; i < u->nr; i++) {
		if (isfinite(u->v[i].cost))
			sum += u->v[i].cost;
		else if (unknown)
			*unknown = true;
	}
	return sum;
}
