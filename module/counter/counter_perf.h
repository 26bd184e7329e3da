/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_COUNTER_PERF_H
#define MODULE_COUNTER_PERF_H

#include <linux/types.h>

/*
 * Settings of the events that counters count, written by oprofilefs while
 * sampling is off and read while it is on.
 */

#define COUNTER_MAX_PMU_TYPES 8

struct counter_setting {
	unsigned long enabled; /* 0: not used */
	unsigned long event; /* the number in the vendor's manual */
	unsigned long count; /* events from one sample to the next */
	unsigned long unit_mask;
	unsigned long kernel; /* sample the kernel */
	unsigned long user; /* sample user code */
	unsigned long extra; /* further bits of the event's register */
};

extern struct counter_setting counter_settings[];
extern unsigned int counter_nr; /* events that may count at a time */

/*
 * How long the event @nr was to be counted since the profiler was set up, and
 * had a counter, ns; its count, and how many turns it had where it did not have
 * the counter all the time: sums over CPUs. Process context.
 */
struct counter_time {
	u64 enabled, running, counted, turns;
};
void counter_perf_time(unsigned int nr, struct counter_time *time);
void counter_perf_reset_times(void);

/*
 * The kinds of PMU that are tried on each CPU, as perf_events numbers them
 * (/sys/bus/event_source/devices/NAME/type): a hybrid machine has several.
 */
struct counter_pmu_types {
	unsigned long nr;
	unsigned long types[COUNTER_MAX_PMU_TYPES];
};

extern struct counter_pmu_types counter_pmu_types;

#endif /* MODULE_COUNTER_PERF_H */
