/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OCOUNT_OCOUNT_RESULT_H
#define UTILS_OCOUNT_OCOUNT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "utils/ocount/ocount_counter.h"

/*
 * Counts of one interval. If counters had to share the hardware, each count is
 * an estimate for the whole time.
 */

enum ocount_state {
	OCOUNT_ACTUAL, /* counted all the time */
	OCOUNT_SCALED, /* counted part of the time and scaled */
	OCOUNT_NOT_COUNTED, /* never had a counter, or cannot have one */
	OCOUNT_NEVER_RAN, /* what was to be counted did not run: 0 is true */
};

struct ocount_count {
	bool failed; /* the event cannot be counted here */
	uint64_t count;
	uint64_t enabled; /* ns, of all targets together */
	uint64_t running;
};

struct ocount_result {
	const struct ocount_events *events; /* borrowed, as are targets */
	const struct ocount_targets *targets;
	size_t nr_groups; /* 1, or one for each target */
	struct ocount_count *counts; /* by event, then by group */
	uint64_t ns; /* length of the interval */
};

/* @separate: each target by itself. Returns 0 or -ENOMEM with the reason in
 * @diag. */
int ocount_result_init(struct ocount_result *result,
		       const struct ocount_counters *counters, bool separate,
		       struct op_diag *diag);
void ocount_result_release(struct ocount_result *result);

/* Read what was counted since the last time, in @ns. Returns 0 or -errno with
 * the reason in @diag. */
int ocount_result_read(struct ocount_result *result,
		       struct ocount_counters *counters, uint64_t ns,
		       struct op_diag *diag);

const struct ocount_count *ocount_result_get(const struct ocount_result *result,
					     size_t event, size_t group);

void ocount_count_add(struct ocount_count *count,
		      const struct ocount_reading *reading);
enum ocount_state ocount_count_state(const struct ocount_count *count);

/* How much of the time was counted, 0 to 100. */
double ocount_count_percent(const struct ocount_count *count);

/* Whether some count is scaled. */
bool ocount_result_is_scaled(const struct ocount_result *result);

#endif /* UTILS_OCOUNT_OCOUNT_RESULT_H */
