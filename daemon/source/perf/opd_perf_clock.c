// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/perf/opd_perf_clock.h"

uint64_t opd_perf_now(void)
{
	struct timespec now;

	clock_gettime(OPD_PERF_CLOCK, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
