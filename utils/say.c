// SPDX-License-Identifier: GPL-2.0-or-later

#include "utils/say.h"

#include <stdarg.h>
#include <stdio.h>

static __attribute__((format(printf, 1, 0))) void print_step(const char *fmt,
							     va_list ap)
{
	fputs("+ ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void say_step(bool wanted, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (wanted)
		print_step(fmt, ap);
	va_end(ap);
}

void say_always(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_step(fmt, ap);
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
