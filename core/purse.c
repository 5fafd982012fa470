#include "core/purse.h"

#include <math.h>
#include <string.h>

const char *purse_end_name(enum purse_end e)
{
	static const char *const names[] = {
		"", "attempts", "time", "device time", "tokens", "cost"
	};

	return names[e];
}

void purse_init(struct purse *p, const struct budget *b)
{
	memset(p, 0, sizeof(*p));
	p->budget = *b;
}

void purse_clock(struct purse *p, double elapsed_s)
{
	p->used.time_s = elapsed_s;
}

void purse_reserve(struct purse *p, double was, double now)
{
	p->reserve_s += now - was;
	if (p->reserve_s < 1e-9)	/* what is left of many sums */
		p->reserve_s = 0;
}

/* What attempts took so far, on average: of the first nothing is known. */
static double device_each(const struct purse *p)
{
	return p->used.attempts > 0 ?
		p->used.device_s / (double)p->used.attempts : 0;
}

/* An estimate that attempts have proved too low is no longer believed. */
static double tokens_each(const struct purse *p, int64_t made,
			  int64_t tokens)
{
	double mean = made > 0 ? (double)p->used.tokens / (double)made : 0;

	return fmax((double)tokens, mean);
}

static double cost_each(const struct purse *p, int64_t made, double cost)
{
	double mean = made > 0 ? p->used.cost / (double)made : 0;

	return fmax(cost, mean);
}

enum purse_end purse_ask(const struct purse *p, int64_t planned,
			 int64_t tokens, double cost)
{
	const struct budget *b = &p->budget, *u = &p->used;
	/* What planned attempts cost is spent already. */
	int64_t made = u->attempts + planned;

	if (b->attempts && planned >= b->attempts - u->attempts)
		return PURSE_ATTEMPTS;
	if (b->time_s > 0 && u->time_s + p->reserve_s >= b->time_s)
		return PURSE_TIME;
	if (b->device_s > 0 &&
	    u->device_s + p->reserve_s +
	    device_each(p) * (double)(planned + 1) >= b->device_s)
		return PURSE_DEVICE;
	if (b->tokens && (u->tokens >= b->tokens ||
			  (double)u->tokens + tokens_each(p, made, tokens) >
			  (double)b->tokens))
		return PURSE_TOKENS;
	/* A sum of many prices is not exact. */
	if (b->cost > 0 && (u->cost >= b->cost ||
			    u->cost + cost_each(p, made, cost) > b->cost * (1 + 1e-9)))
		return PURSE_COST;
	return PURSE_OPEN;
}

bool purse_late(const struct purse *p, double spare)
{
	const struct budget *b = &p->budget;
	double need = spare + p->reserve_s;

	return (b->time_s > 0 && p->used.time_s + need > b->time_s) ||
	       (b->device_s > 0 && p->used.device_s + need > b->device_s);
}

bool purse_device_late(const struct purse *p, int in_flight)
{
	const struct budget *b = &p->budget;

	return b->device_s > 0 && p->used.device_s + p->reserve_s +
		device_each(p) * (in_flight + 1) > b->device_s;
}

void purse_use(struct purse *p, int64_t attempts, double device_s,
	       int64_t tokens, double cost)
{
	p->used.attempts += attempts;
	p->used.device_s += device_s > 0 ? device_s : 0;
	p->used.tokens += tokens;
	p->used.cost += cost > 0 ? cost : 0;
}
