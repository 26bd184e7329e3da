// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Filling in the reason of a failure. Text of others (file names, lines of
 * files, answers of the daemon) ends up in it, so it is made harmless for a
 * terminal and a log here, in one place.
 */

#include "libop/base/op_diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_terminal_safe.h"

#define CUT " ... "
#define LIMIT "ulimit -n"
#define RAISE "; raise " LIMIT

/* A path may be longer than all of @diag; the reason behind it must show. */
static void fill_shortened(struct op_diag *diag, const char *text)
{
	size_t len = strlen(text), head = sizeof(diag->text) / 2;
	size_t tail = sizeof(diag->text) - 1 - head - strlen(CUT);

	if (len < sizeof(diag->text)) {
		strcpy(diag->text, text);
	} else {
		memcpy(diag->text, text, head);
		strcpy(diag->text + head, CUT);
		strcat(diag->text, text + len - tail);
	}
	op_terminal_safe(diag->text);
}

int op_diag_set(struct op_diag *diag, int err, const char *fmt, ...)
{
	char *whole = NULL;
	va_list args;
	int len;

	if (!diag || diag->text[0])
		return err;
	va_start(args, fmt);
	len = vasprintf(&whole, fmt, args);
	va_end(args);
	fill_shortened(diag, len < 0 ? "out of memory" : whole);
	/* Wherever it happens, the way out is the same. */
	if ((err == -EMFILE || err == -ENFILE) && !strstr(diag->text, LIMIT) &&
	    strlen(diag->text) + strlen(RAISE) < sizeof(diag->text))
		strcat(diag->text, RAISE);
	if (len >= 0)
		free(whole);
	return err;
}

int op_out_of_memory(struct op_diag *diag)
{
	return op_diag_set(diag, -ENOMEM, "out of memory");
}

const char *op_diag_text(const struct op_diag *diag, int err)
{
	if (*diag->text)
		return diag->text;
	return err == -ENOMEM ? "out of memory" : strerror(-err);
}
