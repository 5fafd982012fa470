/*
 * A command that goes on in the background, in a session of its own, with a
 * log instead of a terminal: <gitdir>/maxkernel/log/<command>-<time>-<pid>.log.
 */
#ifndef CMD_DETACH_H
#define CMD_DETACH_H

#include "cmd/cmd.h"

/*
 * Forks.  In the background process it returns true; everything that is
 * printed from then on goes to the log.
 *
 * In the other it waits until the first search runs there and prints which,
 * where the log is and how to watch and to halt it (json: one object); or
 * until the process ends without one, and prints what that had to say.
 * Returns false with *status, the command's; *err is set where that is a
 * failure of its own.
 *
 * To be called before signals are set up, and while nothing is open that two
 * processes must not share.
 */
bool detach(struct session *s, const char *command, bool json, int *status,
	    struct err *err);
/* Is this the background process?  It ends neither with git nor with the
 * terminal. */
bool detach_is_on(void);
/* The log's absolute path, or "". */
const char *detach_log(void);
/* The search runs: the first one is told to who waits for it. */
void detach_tell(const char *slug, const char *kernel);

#endif
