// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/report/report_times.h"

#include <string.h>

#include "libop/events/op_wait_event.h"

#define NS_PER_SECOND UINT64_C(1000000000)

uint64_t pp_class_sample_ns(const struct pp_report *report,
			    const struct pp_class *class)
{
	uint64_t hz = class->count ? class->count : report->cpu.timer_hz;

	if (pp_class_is_timer(class))
		return NS_PER_SECOND / (hz ? hz : OP_TIMER_HZ);
	return pp_class_is_cpu_time(class) || pp_class_is_wait(class) ||
			       pp_class_is_latency(class)
		       ? class->count
		       : 0;
}

/* The unit masks of the events of waits before class @nr that are not its own:
 * an event has a class for each task where tasks are separated. */
static uint64_t others_masks(const struct pp_classes *classes, size_t nr)
{
	uint64_t masks = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct pp_class *class = &classes->classes[i];

		if (pp_class_is_wait(class) &&
		    !pp_same_event(class, &classes->classes[nr]))
			masks |= class->counted_unit_mask;
	}
	return masks;
}

/* Add the samples of class @nr. False if its time is in @taken, the unit masks
 * of other events of waits. */
static bool add_wait(struct pp_times *times, const struct pp_report *report,
		     size_t nr, uint64_t taken)
{
	const struct pp_class *class = &report->classes.classes[nr];
	uint64_t ns = report->totals[nr] * pp_class_sample_ns(report, class);
	uint64_t mask = class->counted_unit_mask;

	if (class->unit_masks_differ || (taken & mask))
		return false;
	times->parts |= mask;
	times->waited += ns;
	if (!(mask & OP_WAIT_BLOCKED))
		times->ready += ns;
	else if (!(mask & OP_WAIT_READY))
		times->blocked += ns;
	return true;
}

bool pp_report_times(const struct pp_report *report, struct pp_times *times)
{
	const struct pp_classes *classes = &report->classes;
	const struct pp_class *clock = NULL;

	memset(times, 0, sizeof(*times));
	for (size_t i = 0; i < classes->nr; i++) {
		const struct pp_class *class = &classes->classes[i];

		if (pp_class_is_wait(class)) {
			if (!add_wait(times, report, i,
				      others_masks(classes, i)))
				times->are_mixed = true;
		} else if (pp_class_is_cpu_time(class)) {
			times->are_mixed |=
				clock && !pp_same_event(clock, class);
			clock = class;
			times->has_ran = true;
			times->ran += report->totals[i] *
				      pp_class_sample_ns(report, class);
		}
	}
	return times->parts && !times->are_mixed;
}

static bool has_latency(const struct pp_classes *classes)
{
	for (size_t i = 0; i < classes->nr; i++)
		if (pp_class_is_latency(&classes->classes[i]))
			return true;
	return false;
}

bool pp_counts_are_seconds(const struct pp_report *report)
{
	struct pp_times times;

	return !report->old.made && (has_latency(&report->classes) ||
				     pp_report_times(report, &times));
}
