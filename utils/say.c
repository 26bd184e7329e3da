// SPDX-License-Identifier: GPL-2.0-or-later

#include "utils/say.h"

#include <stdarg.h>
#include <stdio.h>

void say_step(bool wanted, const char *fmt, ...)
{
	va_list ap;

	if (!wanted)
		return;
	va_start(ap, fmt);
	fputs("+ ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

void say_note(const char *program, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}
