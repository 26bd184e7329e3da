// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Filling in the reason of a failure. Text of others (file names, lines of
 * files, answers of the daemon) ends up in it, so it is made harmless for a
 * terminal and a log here, in one place.
 */

#include "libop/op_diag.h"

#include <stdarg.h>
#include <stdio.h>

static void make_printable(char *text)
{
	for (; *text; text++) {
		unsigned char c = *text;

		if (c < 0x20 || c == 0x7f)
			*text = '?';
	}
}

int op_diag_set(struct op_diag *diag, int err, const char *fmt, ...)
{
	va_list args;

	if (!diag || diag->text[0])
		return err;
	va_start(args, fmt);
	if (vsnprintf(diag->text, sizeof(diag->text), fmt, args) < 0)
		diag->text[0] = '\0';
	va_end(args);
	make_printable(diag->text);
	return err;
}
