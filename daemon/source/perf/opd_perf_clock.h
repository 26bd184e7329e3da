/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_CLOCK_H
#define DAEMON_SOURCE_PERF_OPD_PERF_CLOCK_H

/*
 * The clock that perf_event_open(2) is told to write into records.
 */

#include <stdint.h>
#include <time.h>

#define OPD_PERF_CLOCK CLOCK_MONOTONIC_RAW

/* What time it is by it, in ns. */
uint64_t opd_perf_now(void);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_CLOCK_H */
