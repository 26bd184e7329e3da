/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_ATTR_H
#define DAEMON_SOURCE_PERF_OPD_PERF_ATTR_H

/* The attributes that are given to perf_event_open(2). */

#include <linux/perf_event.h>
#include <stdint.h>

#include "daemon/source/perf/opd_perf_events.h"

/* Nanoseconds between two samples of the clock. */
uint64_t opd_perf_period(uint32_t rate);

/* The event that tells what processes do. */
void opd_perf_side_attr(const struct opd_perf_events *all,
			struct perf_event_attr *attr);

/* The one that counts @event; off until it is enabled. */
void opd_perf_sample_attr(const struct opd_perf_events *all,
			  struct perf_event_attr *attr,
			  const struct opd_event *event);

/* Whether the kernel is asked how long @event had a counter: the clock needs
 * none. */
bool opd_perf_is_timed(const struct opd_event *event);

/* Find out, with events of our own, what this kernel can tell: sets
 * @all->no_build_ids and @all->tells_lost. */
void opd_perf_probe_kernel(struct opd_perf_events *all);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_ATTR_H */
