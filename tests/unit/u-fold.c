/* needs: core/dtype.c core/expr.c core/ini.c core/kernel*.c core/record.c
 * core/source.c core/sha1.c core/oid.c core/oidset.c core/repo*.c core/git.c
 * core/notes*.c core/json.c core/metrics*.c core/usage.c core/lesson.c core/prior.c core/graph.c core/store*.c
 * core/search*.c core/policy*.c core/rng.c core/trial.c core/judge*.c
 * core/proposer.c core/paths.c core/publish.c core/landing.c core/tempdir.c
 * core/purse.c core/prior.c core/round.c core/journal.c
 */
#include <string.h>
#include <sys/mman.h>

#include "core/mem.h"
#include "core/search_state.h"
#include "tests/unit/tap.h"

#define POOL 4096

/* Two nodes that made step 1; the texts of one are the pool's. */
static void fold(bool pool_first)
{
	struct graph g;
	struct node n;
	char *pool = mmap(NULL, POOL, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	graph_init(&g);
	memcpy(pool + 8, "mutate", 7);
	memcpy(pool + 32, "host-ab12", 10);
	g.pool = pool;
	g.pool_len = POOL;
	memset(&n, 0, sizeof(n));
	record_init(&n.rec);
	n.parent[0] = n.parent[1] = NODE_NONE;
	n.op = pool + 8;
	n.borrowed = n.rec.borrowed = true;
	graph_add(&g, &n);
	for (int i = 0; i < 2; i++) {
		bool mapped = (i == 0) == pool_first;

		memset(&n, 0, sizeof(n));
		record_init(&n.rec);
		n.parent[1] = NODE_NONE;
		n.step = 1;
		n.id.id[0] = (unsigned char)(i + 1);
		n.state.id[0] = 9;
		n.borrowed = mapped;
		n.op = mapped ? pool + 8 : xstrdup("mutate");
		n.pending = i == 0;
		if (i == 1) {	/* the one with a record is folded in */
			n.rec_worker = mapped ? pool + 32 :
				xstrdup("host-ab12");
			n.rec.borrowed = mapped;
			n.rec.verdict = V_SLOWER;
			n.rec.lr = -0.1;
		}
		graph_add(&g, &n);
	}
	graph_settle(&g);
	search_crowd_fold(&g);
	is_int(g.nr, 2, "one of the two stays");
	ok(!g.node[1].pending && g.node[1].rec.verdict == V_SLOWER,
	   "with the record");
	ok(!strcmp(g.node[1].rec_worker, "host-ab12"), "and who measured it");
	graph_release(&g);
}

int main(void)
{
	fold(false);
	fold(true);
	return tap_done();
}
