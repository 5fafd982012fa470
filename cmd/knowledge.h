/* What the parts of `git maxkernel knowledge` share. */
#ifndef CMD_KNOWLEDGE_H
#define CMD_KNOWLEDGE_H

#include "cmd/cmd.h"
#include "core/knowledge.h"

struct ask {
	struct repo *repo;	/* NULL outside of one */
	struct knowledge k;
	struct strv applies;
	int64_t max;
	bool json;
};

/* The verbs about lessons; each gives an exit status, or fills *err. */
int knowledge_learn(struct ask *a, int argc, char **argv, struct err *err);
int knowledge_lessons(struct ask *a, int argc, char **argv, struct err *err);
int knowledge_forget(struct ask *a, int argc, char **argv, struct err *err);

#endif
