/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_EVENTS_H
#define DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_EVENTS_H

/* The events of a file of perf as events of the daemon. */

#include "daemon/source/opd_events.h"
#include "daemon/source/perfdata/opd_perfdata.h"

/* Whether there are samples of @event; else it is there for its side band. */
bool opd_perfdata_is_sampled(const struct opd_perfdata_event *event);

/*
 * Whether the kernel changed the period from sample to sample, to have so many
 * samples a second, and told it with each.
 */
bool opd_perfdata_has_periods(const struct opd_perfdata_event *event);

/*
 * Give each event of @data with samples a counter of @events: that of its like,
 * which a file before may have had, or a new one. Returns 0; -ENOMEM or, where
 * there are too many, -EINVAL with the reason in @diag. Sets ->counter and
 * ->counts_periods.
 */
int opd_perfdata_add_events(struct opd_perfdata *data,
			    struct opd_events *events, struct op_diag *diag);

#endif /* DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_EVENTS_H */
