#include "core/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return code;
}

int err_sys(struct err *err, const char *fmt, ...)
{
	int saved = errno;
	size_t len;
	va_list ap;

	err->code = ERR_SYS;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	snprintf(err->msg + len, sizeof(err->msg) - len, ": %s",
		 strerror(saved));
	return ERR_SYS;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	size_t len, room;
	va_list ap;

	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	room = sizeof(err->msg) - len - 1;
	if (room > 2) {
		size_t n = strnlen(old, room - 2);

		memcpy(err->msg + len, ": ", 2);
		memcpy(err->msg + len + 2, old, n);
		err->msg[len + 2 + n] = '\0';
	}
	return err->code;
}
