/*
 * The file of store_cache.c, which reads it, and store_cache_write.c; no one
 * else includes this.
 */
#ifndef CORE_STORE_CACHE_PARTS_H
#define CORE_STORE_CACHE_PARTS_H

#include "core/store_parts.h"

#define MAGIC "mkgraph"
#define CACHE_VERSION 5u
#define ORDER 0x01020304u	/* of bytes, on this machine */
#define MAX_FILE (4ull << 30)

/* Every text is an offset into the texts; 0 is none. */
enum { OP, PROPOSER, STRATEGY, RECIPE, SUBJECT, WORKER, REC_WORKER, ERROR,
       HOST, DEVICE, SANDBOX, ORACLE, CLOCK, COMPILER, FLAGS, AGAINST, TEXTS };
enum { NUMS = 17 };
enum { PENDING = 1, CLAIMED = 2, UNITED = 4, COMPILED = 8, CORRECT = 16,
       CONFIRMING = 32, REC_CLAIMED = 64 };

struct file_node {
	double num[NUMS];
	double spent_s, device_s;
	int64_t time;
	uint32_t parent[2];
	uint32_t step;
	uint32_t verdict;
	uint32_t bits;
	int32_t launches, steps;
	uint32_t unused;
	uint32_t text[TEXTS];
	struct oid id, state;
};

struct file_spend {
	double attempt_s, device_s, score;
	uint64_t line;
	uint32_t step, verdict;
	struct oid state;
	uint32_t claimed, ledger, recipe, parent, origin;
};

struct file_call {
	double cost, seconds;
	int64_t in, cached, out, reasoning, time;
	uint32_t step, claimed, ledger;
	uint32_t agent, model, worker;	/* texts */
	char id[16];
};

struct file_tip {
	uint32_t name;
	struct oid id, tree;
};

/* What stands in the file, in this order. */
enum { PART_NODES, PART_SPENDS, PART_CALLS, PART_TIPS, PART_ROOTS,
       PART_LEDGERS, PART_STEPS, PART_SLUGS, PART_WARNINGS, PART_TEXTS,
       PARTS };

struct file_head {
	char magic[8];
	uint32_t version, order;
	uint64_t len;		/* of the file */
	uint64_t sum;		/* of all behind it */
	uint64_t nr[PARTS];
	uint32_t key;		/* text: what it depends on besides the tips */
	uint32_t unused;
};
#define SUM_FROM (offsetof(struct file_head, sum) + sizeof(uint64_t))

/* make: its folders too.  Caller frees. */
char *cache_path(struct search *s, const struct buf *key, bool make);
uint64_t cache_sum(const unsigned char *p, size_t len);

#endif
