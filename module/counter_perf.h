/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_COUNTER_PERF_H
#define MODULE_COUNTER_PERF_H

/*
 * Settings of the hardware counters, written by oprofilefs while sampling is
 * off and read while it is on.
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
extern unsigned int counter_nr; /* how many this machine has */

/*
 * The kinds of PMU that are tried on each CPU, as perf_events numbers them
 * (/sys/bus/event_source/devices/NAME/type): a hybrid machine has several.
 */
extern unsigned long counter_pmu_types[COUNTER_MAX_PMU_TYPES];
extern unsigned long counter_nr_pmu_types;

#endif /* MODULE_COUNTER_PERF_H */
