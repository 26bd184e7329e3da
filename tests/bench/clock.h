/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_BENCH_CLOCK_H
#define TESTS_BENCH_CLOCK_H

#include <time.h>

/* Of CPU time, so that other processes count less. */
static inline double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif /* TESTS_BENCH_CLOCK_H */
