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
 * writable and executable, exports mk_call alone, and needs nothing
 * but libc's and libm's functions for computing, memory and text.
 */
bool elf_gate(const struct buf *file, bool threads, struct buf *why);

#endif
