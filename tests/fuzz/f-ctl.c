/* needs: core/judge/ctl_read.c */
/*
 * A control page with whatever a worker wrote on it, from the first word that
 * is the worker's on.  What comes of it are texts for people, clean and short,
 * and whether a mode was changed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "core/judge/ctl_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define THEIRS offsetof(struct ctl, done)

static void must(bool good)
{
	if (!good)
		abort();
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static void is_clean(const struct buf *b, size_t max)
{
	struct buf again = BUF_INIT;

	buf_add_clean(&again, b->ptr, b->len, false);
	must(again.len == b->len && !memcmp(again.ptr, b->ptr, b->len));
	must(b->len == strlen(b->ptr) && b->len <= max);
	buf_release(&again);
}

static void refused(const struct ctl *page, const struct ctl_said *said)
{
	struct buf text = BUF_INIT;

	ctl_refused_text(&text, said);
	is_clean(&text, 120);
	if (page->syscall == 1 + __NR_tgkill)
		must(starts(text.ptr, "aborted "));
	else if (page->syscall == 0)
		must(!strcmp(text.ptr, "killed by SIGSYS"));
	else
		must(starts(text.ptr, "killed by SIGSYS: it "));
	if (page->syscall == 1 + __NR_socket)
		must(strstr(text.ptr, " socket()") != NULL);
	buf_release(&text);
}

static void started(const struct ctl *page, const struct ctl_said *said)
{
	struct buf text = BUF_INIT;

	ctl_start_text(&text, said);
	/* Of the page, and of strerror(). */
	is_clean(&text, sizeof(page->text) + 64);
	/* Two bytes of a control character become one. */
	must(strnlen(page->text, sizeof(page->text)) <= 2 * text.len);
	must(!page->error || strstr(text.ptr, ": ") != NULL);
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctl_said said;
	struct ctl page;
	bool same;

	memset(&page, 0xa5, THEIRS);
	memset((char *)&page + THEIRS, 0, sizeof(page) - THEIRS);
	memcpy((char *)&page + THEIRS, data, size < sizeof(page) - THEIRS ?
	       size : sizeof(page) - THEIRS);
	memset(&said, 0x5a, sizeof(said));
	ctl_read(&said, &page);
	must(said.stage == page.stage && said.error == page.error);
	same = page.fpcw == CTL_FPCW;
	for (unsigned bit = 0; bit < 32; bit++)
		if (!(CTL_MXCSR_FLAGS >> bit & 1) &&
		    (page.mxcsr >> bit & 1) != (CTL_MXCSR >> bit & 1))
			same = false;
	must(ctl_fp_changed(&said) == !same);
	refused(&page, &said);
	started(&page, &said);
	return 0;
}
