/* needs: core/purse.c */
#include "core/purse.h"
#include "tests/unit/tap.h"

static struct purse with(struct budget b)
{
	struct purse p;

	purse_init(&p, &b);
	return p;
}

static void no_caps(void)
{
	struct purse p = with((struct budget){ .until = 2 });

	purse_clock(&p, 1e9);
	purse_use(&p, 1000000, 1e9, 1000000000, 1e9);
	purse_reserve(&p, 0, 1e6);
	is_int(purse_ask(&p, 1000, 1000, 1000), PURSE_OPEN,
	       "without a cap nothing ends it");
	ok(!purse_late(&p, 1e9), "nor is it ever late");
}

static void attempts(void)
{
	struct purse p = with((struct budget){ .attempts = 5 });

	is_int(purse_ask(&p, 4, 0, 0), PURSE_OPEN, "the fifth attempt");
	is_int(purse_ask(&p, 5, 0, 0), PURSE_ATTEMPTS, "not a sixth");
	purse_use(&p, 3, 0, 0, 0);
	is_int(purse_ask(&p, 1, 0, 0), PURSE_OPEN, "three and one");
	is_int(purse_ask(&p, 2, 0, 0), PURSE_ATTEMPTS, "three and two");
	purse_use(&p, 4, 0, 0, 0);
	is_int(purse_ask(&p, 0, 0, 0), PURSE_ATTEMPTS, "past the cap");
}

static void wall(void)
{
	struct purse p = with((struct budget){ .time_s = 100 });

	purse_clock(&p, 99);
	is_int(purse_ask(&p, 50, 0, 0), PURSE_OPEN, "a second is left");
	purse_reserve(&p, 0, 10);
	is_int(purse_ask(&p, 0, 0, 0), PURSE_TIME, "it is kept back");
	purse_reserve(&p, 0, 5);
	purse_clock(&p, 84);
	is_int(purse_ask(&p, 0, 0, 0), PURSE_OPEN, "two have a reserve");
	purse_clock(&p, 86);
	is_int(purse_ask(&p, 0, 0, 0), PURSE_TIME, "of which both count");
	ok(purse_late(&p, 0), "late for what is not needed");
	purse_reserve(&p, 10, 0);
	ok(!purse_late(&p, 8) && purse_late(&p, 10),
	   "one gives its own back, the other's stays");
	purse_reserve(&p, 5, 0);
	ok(p.reserve_s >= 0 && p.reserve_s <= 0, "and nothing is left of it");
}

static void device(void)
{
	struct purse p = with((struct budget){ .device_s = 10 });

	purse_clock(&p, 1e6);
	is_int(purse_ask(&p, 9, 0, 0), PURSE_OPEN,
	       "of the first attempts nothing is known");
	purse_use(&p, 2, 4, 0, 0);
	is_int(purse_ask(&p, 1, 0, 0), PURSE_OPEN, "two more of two seconds");
	is_int(purse_ask(&p, 2, 0, 0), PURSE_DEVICE,
	       "three more would pass the cap");
	purse_reserve(&p, 0, 3);
	is_int(purse_ask(&p, 0, 0, 0), PURSE_OPEN, "one with a reserve");
	is_int(purse_ask(&p, 1, 0, 0), PURSE_DEVICE, "two with a reserve");
	ok(!purse_late(&p, 2) && purse_late(&p, 4), "late in three seconds");
	purse_use(&p, 0, NAN, 0, 0);
	is_near(p.used.device_s, 4, 0, "what is not known adds nothing");
}

static void tokens(void)
{
	struct purse p = with((struct budget){ .tokens = 1000 });

	is_int(purse_ask(&p, 0, 1000, 0), PURSE_OPEN, "all at once");
	is_int(purse_ask(&p, 0, 1001, 0), PURSE_TOKENS, "not one too many");
	purse_use(&p, 0, 0, 300, 0);
	purse_use(&p, 1, 0, 100, 0);
	is_int(purse_ask(&p, 0, 10, 0), PURSE_OPEN, "600 are left");
	is_int(purse_ask(&p, 0, 601, 0), PURSE_TOKENS, "601 are not");
	purse_use(&p, 0, 0, 250, 0);
	is_int(purse_ask(&p, 0, 10, 0), PURSE_TOKENS,
	       "an estimate below what attempts use is not believed");
	p = with((struct budget){ .tokens = 1000 });
	purse_use(&p, 0, 0, 1000, 0);
	is_int(purse_ask(&p, 0, 0, 0), PURSE_TOKENS, "all are used");
}

static void cost(void)
{
	struct purse p = with((struct budget){ .cost = 1 });

	for (int i = 0; i < 9; i++)
		purse_use(&p, 1, 0, 0, 0.1);
	is_int(purse_ask(&p, 0, 0, 0.1), PURSE_OPEN,
	       "the tenth of ten cents, whatever the sum rounds to");
	is_int(purse_ask(&p, 0, 0, 0.11), PURSE_COST, "not of eleven");
	purse_use(&p, 1, 0, 0, 0.1);
	is_int(purse_ask(&p, 0, 0, 0.01), PURSE_COST, "nothing is left");
	purse_use(&p, 1, 0, 0, NAN);
	ok(p.used.cost < 1.01, "a price that is not known counts as nothing");
}

static void names(void)
{
	is_str(purse_end_name(PURSE_OPEN), "", "open");
	is_str(purse_end_name(PURSE_ATTEMPTS), "attempts", "attempts");
	is_str(purse_end_name(PURSE_TIME), "time", "time");
	is_str(purse_end_name(PURSE_DEVICE), "device time", "device time");
	is_str(purse_end_name(PURSE_TOKENS), "tokens", "tokens");
	is_str(purse_end_name(PURSE_COST), "cost", "cost");
}

int main(void)
{
	no_caps();
	attempts();
	wall();
	device();
	tokens();
	cost();
	names();
	return tap_done();
}
