// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/base/op_clock.h"

static time_t clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

static time_t clock_date(void)
{
	return time(NULL);
}

static void clock_pause(unsigned int ms)
{
	const struct timespec pause = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000L,
	};

	nanosleep(&pause, NULL);
}

uint64_t op_clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t op_clock_ms(void)
{
	return op_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

const struct op_clock op_clock = {
	.seconds = clock_seconds,
	.date = clock_date,
	.pause = clock_pause,
};
