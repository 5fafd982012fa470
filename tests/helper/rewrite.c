/* needs: agents/registry.c agents/scripted/s*.c core/usage.c agents/builtin/builtin.c agents/builtin/ccopt.c
	agents/builtin/cfunc.c agents/builtin/clex.c agents/builtin/cross.c agents/builtin/evidence.c
	agents/builtin/fastmath.c agents/builtin/maxloop.c
	agents/builtin/moves.c agents/builtin/draw.c agents/builtin/locus.c
	agents/builtin/memo.c agents/builtin/learn.c agents/builtin/model.c
	agents/builtin/shape.c agents/builtin/space.c agents/builtin/recipe.c
	agents/builtin/restrict.c agents/builtin/site.c
	agents/builtin/strategy.c agents/builtin/tunables.c
	agents/builtin/vecmath.c agents/builtin/vectext.c agents/builtin/vw.c
	core/proposer.c core/graph.c core/prior.c core/record.c core/rng.c core/source.c core/sha1.c core/kernel.c
	core/kernel_arg.c core/kernel_flags.c core/kernel_keys.c core/kernel_shape.c core/ini.c
	core/expr.c core/dtype.c */
/*
 * rewrite <.maxkernel> <kernel> <file> <recipe>: prints the file, which
 * stands for the kernel's first `file`, as the built-in proposer rewrites it.
 */
#include <stdio.h>

#include "agents/agents.h"

static int fail(const struct err *err)
{
	fprintf(stderr, "rewrite: %s\n", err->msg);
	return 128;
}

static int rewrite(const struct kernel *k, const struct buf *text,
		   const char *recipe, struct err *err)
{
	const struct proposer *p = proposer_find("builtin");
	struct srcset src = SRCSET_INIT, out = SRCSET_INIT;
	const struct srcfile *f;
	int rc;

	srcset_put(&src, k->file.v[0], text->ptr, text->len, true);
	rc = p->apply(k, &src, recipe, &out, err);
	if (!rc) {
		f = srcset_find(&out, k->file.v[0]);
		fwrite(f->text.ptr, 1, f->text.len, stdout);
	}
	srcset_release(&src);
	srcset_release(&out);
	return rc;
}

int main(int argc, char **argv)
{
	struct buf section = BUF_INIT, text = BUF_INIT;
	struct err err = ERR_INIT;
	struct kernel_file kernels;
	const struct kernel *k;
	int rc;

	if (argc != 5) {
		fprintf(stderr, "usage: rewrite <.maxkernel> <kernel> <file> "
				"<recipe>\n");
		return 129;
	}
	if (buf_read_file(&section, argv[1], KERNEL_MAX_TEXT, &err) ||
	    buf_read_file(&text, argv[3], SOURCE_MAX_FILE, &err) ||
	    kernel_file_parse(&kernels, argv[1], section.ptr, section.len,
			      &err))
		return fail(&err);
	k = kernel_find(&kernels, argv[2]);
	if (!k) {
		fprintf(stderr, "rewrite: no kernel '%s'\n", argv[2]);
		return 128;
	}
	rc = rewrite(k, &text, argv[4], &err);
	kernel_file_release(&kernels);
	buf_release(&section);
	buf_release(&text);
	return rc ? fail(&err) : 0;
}
