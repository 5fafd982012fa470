#include <stdlib.h>

#include "core/judge/confirm.h"
#include "core/judge/line.h"
#include "core/mem.h"

#define MAX_HASHES 2000

static void put_array(struct buf *b, const char *key, const double *v, int n)
{
	int i;

	line_add_key(b, key);
	buf_addch(b, '[');
	for (i = 0; i < n; i++) {
		if (i)
			buf_addch(b, ',');
		line_put_num(b, v[i]);
	}
	buf_addch(b, ']');
}

static const char *role_name(enum role role)
{
	static const char *const name[] = { "root", "baseline", "best_flags",
					    "rival" };

	return name[role];
}

static void put_shape(struct buf *b, const struct confirmation *c, int i)
{
	int l, k;

	line_begin(b);
	line_add_str(b, "shape", c->s->timed[i].shape.text);
	put_array(b, "lr", c->lr[i], c->n);
	put_array(b, "time_ns", c->ns[i], c->n);
	put_array(b, "champion_ns", c->champ_ns[i], c->n);
	line_add_key(b, "placement");
	buf_addch(b, '[');
	for (l = 0; l < c->n; l++)
		buf_addf(b, "%s\"%s%u\"", l ? "," : "",
			 c->offset[i][l] >> 31 ? "right-" : "left+",
			 c->offset[i][l] & 0x7fffffff);
	buf_addch(b, ']');
	for (k = 0; k < c->nr_extra; k++) {
		const struct extra *e = &c->extra[k];
		struct buf key = BUF_INIT;

		buf_addf(&key, "lr_%s%s", role_name(e->role),
			 e->role == ROLE_RIVAL ? "s" : "");
		if (e->role == ROLE_RIVAL)
			buf_addf(&key, "_%d", k);
		put_array(b, key.ptr, e->lr[i], e->n);
		buf_release(&key);
	}
	buf_addch(b, '}');
}

static void put_hashes(struct buf *b, const struct session *s)
{
	int i, j, nr = 0;

	line_add_key(b, "sets");
	buf_addch(b, '[');
	for (i = 0; i < s->nr_timed; i++) {
		const struct pool *p = &s->timed[i].pool;

		for (j = 0; j < p->nr && nr < MAX_HASHES; j++) {
			char hash[17];

			if (!p->set[j]->launches)
				continue;
			seed_hash(&p->set[j]->seed, hash);
			buf_addf(b, "%s\"%s\"", nr++ ? "," : "", hash);
		}
	}
	buf_addch(b, ']');
}

int samples_write(struct confirmation *c, const char *key,
		  const char *against, char **name, struct err *err)
{
	struct session *s = c->s;
	struct buf b = BUF_INIT;
	char *path;
	int i, ret;

	line_begin(&b);
	line_add_str(&b, "key", key);
	line_add_str(&b, "against", against);
	line_add_str(&b, "clock", s->kernel->threads > 1 ? "wall" : "cpu");
	line_add_num(&b, "s_aa", s->s_aa);
	line_add_key(&b, "shapes");
	buf_addch(&b, '[');
	for (i = 0; i < s->nr_timed; i++) {
		if (i)
			buf_addch(&b, ',');
		put_shape(&b, c, i);
	}
	buf_addch(&b, ']');
	line_add_key(&b, "holdouts");
	buf_addch(&b, '[');
	for (i = 0; i < c->holdouts.nr; i++) {
		if (i)
			buf_addch(&b, ',');
		line_begin(&b);
		line_add_str(&b, "shape", c->holdouts.v[i].shape.text);
		put_array(&b, "lr_root", c->holdouts.v[i].lr,
			  c->holdouts.v[i].n);
		buf_addch(&b, '}');
	}
	buf_addch(&b, ']');
	put_hashes(&b, s);
	line_end(&b);
	*name = xasprintf("%s-samples.json", key);
	path = xasprintf("%s/%s", s->cfg.work, *name);
	ret = buf_write_file(path, b.ptr, b.len, err);
	free(path);
	buf_release(&b);
	return ret;
}
