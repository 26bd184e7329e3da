/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_ROWS_H
#define PP_OPTOP_OPTOP_ROWS_H

/*
 * Help for the files that fill readings: the report that rows come from, and
 * rows with counts by event.
 */

#include "pp/optop/optop_reading.h"

/* Make the report of @reading, on the process, thread and cgroup of @target
 * alone, as far as it has these. Returns as pp_report_new(). */
int optop_make_report(struct optop_reading *reading,
		      const struct pp_request *request,
		      const struct optop_target *target, struct op_diag *diag);

/* The function that @target is; NULL if @report has none. Of static functions
 * of one name it is that at the target's address. */
const struct pp_symbol_entry *
optop_find_function(const struct pp_report *report,
		    const struct optop_target *target);

/*
 * Give @reading @nr rows and the events of its report. *@event_of gets the
 * event of each of the report's classes, in the arena. Returns 0 or -ENOMEM.
 */
int optop_make_rows(struct optop_reading *reading, size_t nr, bool has_all,
		    const size_t **event_of);

/* Add @from, counts of the report's classes, to @to, of events. */
void optop_add_counts(const struct optop_reading *reading,
		      const size_t *event_of, uint64_t *to,
		      const uint64_t *from);

#endif /* PP_OPTOP_OPTOP_ROWS_H */
