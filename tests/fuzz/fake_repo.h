/*
 * A repository that is made of the bytes of a fuzz input, in place of
 * core/repo*.c: whatever objects, hanging together in whatever way, without a
 * disk.  A line is
 *
 *	B<text>		a blob; the lines "b<text>" go on with it
 *	T		a tree; "e<kind><object><name>" puts an entry into it,
 *			kind: f file, x executable, l link, d folder, s
 *			submodule
 *	C<tree><parents>	a commit; "m<text>" adds a line to its message,
 *			"t<digits>" is its time
 *	K<object>	a ref that is here; O<object>	the ref's old value
 *
 * An object is one character, '0' being the first.  In texts and names
 * "%<object>" stands for its id.
 */
#ifndef TESTS_FUZZ_FAKE_REPO_H
#define TESTS_FUZZ_FAKE_REPO_H

#include "core/repo.h"

#define FAKE_MAX 64

enum fake_kind { FAKE_BLOB, FAKE_TREE, FAKE_COMMIT };

struct fake {
	enum fake_kind kind;
	struct buf text;		/* blob, message */
	struct tree tree;
	struct oid of_tree;
	struct oid parent[FAKE_MAX];
	size_t nr_parents;
	int64_t time;
};
struct fakes {
	struct fake v[FAKE_MAX];
	size_t nr;
	struct oid known[FAKE_MAX];
	size_t nr_known;
	struct oid old;
};
extern struct fakes fakes;

/* The objects of these lines, behind those that are there. */
void fake_read(const char *text, size_t len);
void fake_clear(void);
void fake_id(size_t i, struct oid *out);
/* NULL: there is none. */
const struct fake *fake_find(const struct oid *id);

#endif
