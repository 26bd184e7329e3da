// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "libop/base/op_plain.h"

/* Progress is shown after this long, and as often. */
#define FIRST_NS 500000000ull
#define NEXT_NS 100000000ull

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

void pp_progress_start(struct pp_progress *progress)
{
	*progress = (struct pp_progress){ 0 };
	if (isatty(STDERR_FILENO))
		progress->next = monotonic_ns() + FIRST_NS;
}

void pp_progress_show(struct pp_progress *progress, const char *fmt, ...)
{
	va_list ap;
	FILE *plain;

	if (!progress->next || monotonic_ns() < progress->next)
		return;
	plain = op_plain_open(stderr);
	if (!plain)
		return;
	fputs("\r\033[K", stderr);
	va_start(ap, fmt);
	vfprintf(plain, fmt, ap);
	va_end(ap);
	fclose(plain);
	progress->next = monotonic_ns() + NEXT_NS;
	progress->shown = true;
}

void pp_progress_end(struct pp_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->next = 0;
	progress->shown = false;
}
