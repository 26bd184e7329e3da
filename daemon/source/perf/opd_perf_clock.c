// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/perf/opd_perf_clock.h"
#include "libop/base/op_clock.h"

uint64_t opd_perf_now(void)
{
	return op_clock_ns(OPD_PERF_CLOCK);
}
