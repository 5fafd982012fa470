/*
 * A search that is made alone and pushed, until somebody joins.  While it is
 * alone it holds a lease that says so, and looks now and then for others; a
 * push and a pull for each chunk would be too much for a forge, and for it.
 */
#include <math.h>
#include <string.h>

#include "core/crowd_parts.h"

#define LOST_CALLS 2		/* in a row, until we go on alone */
#define BLIND_MOST 5		/* doublings of the time between looks */

static void look_later(struct crowd *c)
{
	int n = c->blind < BLIND_MOST ? c->blind : BLIND_MOST;

	c->look_at = clock_s() + ldexp(c->look_s, n);
}

/* Trouble of a call that the search goes on without: the pushes tell of it. */
static void missed(struct crowd *c)
{
	leases_blind(c->leases);
	c->blind++;
	look_later(c);
}

static bool somebody(const struct crowd *c)
{
	return leases_live(c->leases, "") > 0;
}

/* One look; what is ours is renewed, or claimed if nobody is there. */
static void look(struct crowd *c)
{
	struct err err = ERR_INIT;
	size_t lost;
	int ret = leases_look(c->leases, &err);

	if (!ret)
		ret = leases_renew(c->leases, &lost, &err);
	if (!ret && !somebody(c) && !lease_held(c->leases, c->single))
		ret = lease_claim(c->leases, c->single, &err);
	if (ret < 0) {
		missed(c);
		return;
	}
	c->blind = 0;
	look_later(c);
	err.code = ERR_NONE;
	crowd_noted(c, 0, &err);
}

void crowd_keep_alone(struct crowd *c)
{
	if (clock_s() >= c->look_at)
		look(c);
}

/* Shows that we are here, shares what was made alone, takes what they made. */
static void meet(struct crowd *c)
{
	struct err err = ERR_INIT;
	bool news;
	int ret = lease_claim(c->leases, c->here, &err);

	c->retry = 0;
	if (ret >= 0)
		ret = crowd_share(c, &err);
	if (!ret)
		ret = crowd_take(c, &news, &err);
	if (ret) {
		lease_drop(c->leases, c->here);
		missed(c);
		return;
	}
	c->alone = false;
	c->quiet = 0;
	crowd_say(c, "another worker has come: the rounds are made together");
}

/* Who comes at this very moment is seen by one look more. */
static void part(struct crowd *c)
{
	c->alone = true;
	lease_drop(c->leases, c->here);
	c->blind = 0;
	look(c);
	if (somebody(c))
		meet(c);
	if (c->alone)
		crowd_say(c, "nobody else is there any more: it goes on alone");
}

static bool lost(void *ctx)
{
	const struct crowd *c = ctx;

	return c->failed >= LOST_CALLS || c->refused >= LOST_CALLS;
}

/* Called between two rounds. */
static bool company(void *ctx)
{
	struct crowd *c = ctx;

	if (c->alone) {
		crowd_keep_alone(c);
		if (!c->blind && somebody(c))
			meet(c);
	} else if (lost(c)) {
		c->alone = true;
		c->blind = 1;
		leases_drop_all(c->leases);
		look_later(c);
		crowd_say(c, "it goes on alone until then");
	} else {
		c->quiet = c->news || somebody(c) ? 0 : c->quiet + 1;
		if (c->quiet >= CROWD_QUIET_ROUNDS)
			part(c);
	}
	c->news = false;
	return !c->alone;
}

void crowd_alone(struct crowd *c, double look_s)
{
	int ttl_s = (int)repo_config_int(c->search->repo,
					 "maxkernel.leaseSeconds",
					 LEASE_TTL_S);

	c->look_s = fmin(look_s, ttl_s / 3.0);
	c->alone = true;
	c->look_at = 0;
	c->face.company = company;
	c->face.lost = lost;
}

bool crowd_is_alone(const struct crowd *c)
{
	return c->alone;
}
