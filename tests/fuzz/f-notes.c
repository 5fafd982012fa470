/* needs: tests/fuzz/fake_repo.c core/notes*.c core/store_lines.c core/graph.c
	core/metrics*.c core/usage.c core/json.c core/record.c core/source.c core/sha1.c
	core/store_spec.c core/incoming_notes.c core/incoming_text.c core/oidset.c
	core/dtype.c core/expr.c core/ini.c core/kernel*.c */
/*
 * The bytes are a spec; and they are objects (fake_repo.h), the last commit
 * being the tip of a notes ref.  A spec that is accepted is whole.  Notes are
 * read in order, and those that pass as incoming can be read whole and are
 * text; lines come sorted, each once.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/incoming_parts.h"
#include "core/mem.h"
#include "core/worker.h"
#include "tests/fuzz/fake_repo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

int worker_ids(struct repo *r, struct strv *out, struct err *err)
{
	(void)r;
	(void)err;
	strv_push(out, "worker-0000");
	return 0;
}

bool worker_is(const char *id, const char *w)
{
	return !strcmp(id, w);
}

bool worker_is_any(const struct strv *ids, const char *w)
{
	return strv_has(ids, w);
}

static void try_spec(const char *text, size_t len)
{
	struct err err = ERR_INIT;
	struct kernel k;
	struct spec s;

	if (store_spec_parse(text, len, &s, &err) < 0) {
		must(err.msg[0] && !s.slug && !s.section);
		return;
	}
	must(s.slug && s.kernel && s.section && s.policy && s.proposer &&
	     s.device && s.seeds && s.width > 0 && s.keep > 0);
	if (store_spec_kernel(&s, &k, &err) == 0) {
		must(k.file.nr && k.entry);
		kernel_release(&k);
	} else {
		must(err.msg[0]);
	}
	spec_release(&s);
}

static void check_order(const struct notes *n)
{
	for (size_t i = 1; i < n->nr; i++)
		must(oid_cmp(&n->v[i - 1].on, &n->v[i].on) <= 0);
}

static void try_passed(const struct notes *n)
{
	struct buf text = BUF_INIT;
	struct err err;

	for (size_t i = 0; i < n->nr; i++) {
		buf_reset(&text);
		must(repo_blob_read(NULL, &n->v[i].blob, &text,
				    NOTES_MAX_TEXT, &err) == 0);
		must(incoming_is_text(text.ptr, text.len));
	}
	buf_release(&text);
}

static void try_lines(void)
{
	struct lines l = { NULL, 0, 0 };
	struct strv warn = STRV_INIT;
	struct err err = ERR_INIT;

	if (lines_read(NULL, "a-bcdefg", "worker-0000", NULL, &l, &warn,
		       &err) == 0)
		lines_sort(&l);
	for (size_t i = 1; i < l.nr; i++)
		must(oid_cmp(&l.v[i - 1].on, &l.v[i].on) <= 0);
	for (size_t i = 0; i < l.nr; i++)
		must(l.v[i].m.worker && strlen(l.v[i].m.t) == METRIC_TIME);
	must(warn.nr <= STORE_MAX_WARN + 1);
	lines_release(&l);
	strv_release(&warn);
}

static void try_notes(const struct oid *tip)
{
	struct incoming in = { .repo = NULL };
	struct err err = ERR_INIT, why = ERR_INIT;
	struct notes n;
	bool passed = incoming_notes(&in, &fakes.old, tip, &why) == 0;

	must(passed || why.msg[0]);
	if (notes_read(NULL, "refs/notes/x", &n, &err) == 0) {
		check_order(&n);
		if (passed && oid_is_zero(&fakes.old))
			try_passed(&n);
		notes_release(&n);
	} else {
		must(err.msg[0] && (!passed || !oid_is_zero(&fakes.old)));
	}
	if (notes_get(NULL, "refs/notes/x", tip, &n, &err) == 0) {
		for (size_t i = 0; i < n.nr; i++)
			must(oid_eq(&n.v[i].on, tip));
		notes_release(&n);
	}
	try_lines();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct oid tip;

	try_spec(text, size);
	fake_read(text, size);
	for (size_t i = fakes.nr; i; i--) {
		if (fakes.v[i - 1].kind != FAKE_COMMIT)
			continue;
		fake_id(i - 1, &tip);
		fakes.known[0] = tip;
		fakes.nr_known = 1;
		try_notes(&tip);
		break;
	}
	fake_clear();
	return 0;
}
