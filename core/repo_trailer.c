/* Trailers of a commit message: text alone. */
#include <string.h>

#include "core/repo.h"

bool commit_trailer(const char *message, const char *key, struct buf *out)
{
	const char *end = message + strlen(message), *start, *line, *next;
	size_t key_len = strlen(key);
	bool found = false;

	while (end > message && (end[-1] == '\n' || end[-1] == ' '))
		end--;
	for (start = end; start > message; start--)
		if (start - message >= 2 && start[-1] == '\n' &&
		    start[-2] == '\n')
			break;
	if (start == message)	/* the subject is no trailer */
		return false;
	for (line = start; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		next = stop < end ? stop + 1 : end;
		if ((size_t)(stop - line) <= key_len || line[key_len] != ':' ||
		    strncasecmp(line, key, key_len))
			continue;
		line += key_len + 1;
		while (line < stop && (*line == ' ' || *line == '\t'))
			line++;
		buf_reset(out);
		buf_add(out, line, (size_t)(stop - line));
		found = true;	/* the last one counts */
	}
	return found;
}
