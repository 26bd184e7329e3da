/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_REPORT_REPORT_TIMES_H
#define LIBPP_REPORT_REPORT_TIMES_H

/*
 * The time that the samples of a report stand for, where they are of time: of
 * clocks, and of threads that wait.
 */

#include <stdbool.h>
#include <stdint.h>

#include "libpp/report/report.h"

struct pp_times {
	bool has_ran; /* a clock is in the report */
	bool are_mixed; /* several events are of the same time: the sums below
			   are of no use */
	uint64_t parts; /* of waits that are: OP_WAIT_* */
	/* ns, of all samples that were chosen */
	uint64_t ran;
	uint64_t blocked, ready; /* of events of only one of both */
	uint64_t waited; /* all */
};

/* Nanoseconds that a sample of @class stands for; 0 if they are no time. */
uint64_t pp_class_sample_ns(const struct pp_report *report,
			    const struct pp_class *class);

/* Add up the times of @report. False where there is no waiting in it, or where
 * they are mixed. */
bool pp_report_times(const struct pp_report *report, struct pp_times *times);

/* Whether tables and pictures show counts of samples that stand for time as
 * seconds: beside waiting and elapsed time, and not in a comparison, which has
 * measures of its own. */
bool pp_counts_are_seconds(const struct pp_report *report);

#endif /* LIBPP_REPORT_REPORT_TIMES_H */
