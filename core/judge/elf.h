/*
 * Reading an ELF file that an untrusted source was compiled to.  Every offset
 * in it is checked against the bytes that there are.
 */
#ifndef CORE_JUDGE_ELF_H
#define CORE_JUDGE_ELF_H

#include "core/buf.h"

/* Names of the undefined symbols of an object (.o) or shared object, each
 * once; ERR_FORMAT if it is neither. */
int elf_imports(const struct buf *file, struct strv *out, struct err *err);

/*
 * The gate: may this shared object be loaded as a kernel?  True, or false
 * with the reason as a text for people.  What passes has no code that runs at
 * load or unload, no text relocations, no executable stack, no pages both
 * writable and executable, at most 256 MiB of static memory, exports mk_call
 * alone, and needs nothing but libc's and libm's functions for computing,
 * memory and text.  What the loader goes by can't be changed while it loads.
 *
 * Instructions are not looked at: what reads a clock or leaves the process
 * fails in the worker (jail.h), and bytes that look like it stand in honest
 * constants, too.
 */
bool elf_gate(const struct buf *file, bool threads, struct buf *why);

#endif
