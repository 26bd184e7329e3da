/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OCOUNT_OCOUNT_COUNTER_H
#define UTILS_OCOUNT_OCOUNT_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "utils/ocount/ocount_event.h"
#include "utils/ocount/ocount_target.h"

/*
 * The kernel's counters: one for each event and target, in one array.
 */

/* Values of a counter, summed since it was opened. */
struct ocount_reading {
	uint64_t value;
	uint64_t enabled; /* ns that it was to count */
	uint64_t running; /* ns that it did, less if it shared the hardware */
};

struct ocount_counter {
	int fd; /* -1: the event or target cannot be counted */
	struct ocount_reading last;
};

struct ocount_counters {
	struct ocount_events *events; /* borrowed, as are targets */
	struct ocount_targets *targets;
	struct ocount_counter *list; /* by event, then by target */
	bool on_exec; /* they begin to count by themselves */
	bool verbose; /* say on stderr what is opened */
	bool user_only; /* the kernel may not be counted; */
	struct op_diag user_only_why; /* and this is why */
};

/*
 * Open all counters, stopped. With @on_exec they start when the target
 * executes a program. Events whose modes are open are counted in user mode
 * only if that is all this user may do. An event that this machine does not
 * have is marked as failed, a target that has ended as gone. Returns 0, or
 * -errno with the reason in @diag when nothing is left or the rest is no use;
 * ocount_counters_close() must follow in any case.
 */
int ocount_counters_open(struct ocount_counters *counters,
			 struct ocount_events *events,
			 struct ocount_targets *targets, bool on_exec,
			 bool verbose, struct op_diag *diag);
void ocount_counters_close(struct ocount_counters *counters);

/* Return 0 or -errno with the reason in @diag. */
int ocount_counters_start(const struct ocount_counters *counters,
			  struct op_diag *diag);
int ocount_counters_stop(const struct ocount_counters *counters,
			 struct op_diag *diag);

/*
 * Read the counts of @event on @target since the last reading. @reading is all
 * 0 for a counter that is not available. Returns 0 or -errno with the reason.
 */
int ocount_counters_read(struct ocount_counters *counters, size_t event,
			 size_t target, struct ocount_reading *reading,
			 struct op_diag *diag);

#endif /* UTILS_OCOUNT_OCOUNT_COUNTER_H */
