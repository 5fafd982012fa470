/*
 * What a kernel may need of others: the lists that the gate (elf.h) goes by.
 */
#ifndef CORE_JUDGE_ELF_NAMES_H
#define CORE_JUDGE_ELF_NAMES_H

#include <stdbool.h>

#define ELF_MAX_NAME 256	/* characters; no longer one is allowed */

/* threads: the kernel is declared with more than one. */
bool elf_library_allowed(const char *name, bool threads);
bool elf_import_allowed(const char *name, bool threads);

#endif
