/* needs: core/ini.c */
/*
 * Prints a file as `git config -f FILE --list -z` would, read by our reader;
 * with --lines "<line> <key>" instead.  Exit status 1: the file is refused.
 */
#include <stdio.h>
#include <string.h>

#include "core/ini.h"

static void print_key(const struct ini *r, bool lines)
{
	if (lines)
		printf("%d ", r->line);
	if (r->section.len)
		printf("%s.", r->section.ptr);
	if (r->has_sub)
		printf("%s.", r->sub.ptr);
	fputs(r->key.ptr, stdout);
	if (lines)
		putchar('\n');
	else if (r->has_value)
		printf("\n%s%c", r->value.ptr, '\0');
	else
		putchar('\0');
}

int main(int argc, char **argv)
{
	bool lines = argc == 3 && !strcmp(argv[1], "--lines");
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct ini r;
	int event;

	if (argc != (lines ? 3 : 2)) {
		fputs("usage: ini_dump [--lines] FILE\n", stderr);
		return 129;
	}
	if (buf_read_file(&text, argv[argc - 1], 1 << 20, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 128;
	}
	ini_init(&r, text.ptr, text.len);
	do {
		event = ini_next(&r, &err);
		if (event == INI_KEY)
			print_key(&r, lines);
	} while (event > 0);
	if (event < 0)
		fprintf(stderr, "%d: %s\n", r.line, err.msg);
	ini_release(&r);
	buf_release(&text);
	return event < 0;
}
