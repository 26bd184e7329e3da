// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "libop/base/op_clock.h"
#include "libop/base/op_terminal_safe.h"

/* Progress is shown after this long, and as often. */
#define FIRST_NS 500000000ull
#define NEXT_NS 100000000ull

void pp_progress_start(struct pp_progress *progress)
{
	*progress = (struct pp_progress){ 0 };
	if (isatty(STDERR_FILENO))
		progress->next = op_clock_ns(CLOCK_MONOTONIC) + FIRST_NS;
}

void pp_progress_show(struct pp_progress *progress, const char *fmt, ...)
{
	va_list ap;
	FILE *plain;

	if (!progress->next || op_clock_ns(CLOCK_MONOTONIC) < progress->next)
		return;
	plain = op_terminal_safe_open(stderr);
	if (!plain)
		return;
	fputs("\r\033[K", stderr);
	va_start(ap, fmt);
	vfprintf(plain, fmt, ap);
	va_end(ap);
	fclose(plain);
	progress->next = op_clock_ns(CLOCK_MONOTONIC) + NEXT_NS;
	progress->shown = true;
}

void pp_progress_end(struct pp_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->next = 0;
	progress->shown = false;
}
