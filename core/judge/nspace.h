/*
 * Empty namespaces (network, IPC; a user namespace to have them, unless we
 * are root) that all workers of this process enter.  Made once, since making
 * and unmaking a network namespace for each launch would disturb what is
 * measured.  They come on top of seccomp and Landlock; where they can't be
 * had, those suffice.
 */
#ifndef CORE_JUDGE_NSPACE_H
#define CORE_JUDGE_NSPACE_H

#include "core/buf.h"

struct nspace {
	int user, net, ipc;	/* descriptors, or -1 */
};
/* The process's own; made at the first call.  NULL where there is none, with
 * the reason added to why unless that is NULL. */
const struct nspace *nspace_get(struct buf *why);
/* Between fork and exec. */
int nspace_enter(const struct nspace *n);

#endif
