/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_EVENT_MACHINE_H
#define UTILS_EVENT_MACHINE_H

/*
 * Events of this machine: the kernel's own (libop/kernel/op_perf.h) and those
 * of the CPU (libop/events/op_events.h), both as lists for op_parse_event().
 * Those of the CPU are read once, when they are first needed.
 *
 * A folder that stands in for oprofilefs ($OPROFILE_FS) stands in for the whole
 * machine: its /proc/cpuinfo and /sys are in there, and it has hardware
 * counters if that folder has one, "0".
 */

#include <stdbool.h>
#include <stddef.h>

#include "libop/base/op_diag.h"
#include "libop/events/op_events.h"

struct event_kernel;

struct event_machine {
	char *root; /* in front of /proc and /sys; "" for this machine */
	struct event_kernel *kernel;
	struct op_events *cpu; /* NULL: not known, or not asked for yet */
	int cpu_err; /* 1: not asked for yet */
	bool is_module; /* the module may sample: IBS may be chosen */
	bool has_waits; /* THREAD_WAIT and the timer may be chosen */
	struct op_diag cpu_why; /* why it is not known */
	uint64_t factor; /* of minimum counts in lists of events, 0 is 1 */
};

/* Returns 0 or -ENOMEM; event_machine_release() must follow in any case. */
int event_machine_init(struct event_machine *machine);
void event_machine_release(struct event_machine *machine);

/* The kernel's own events. */
const struct op_events *
event_machine_kernel(const struct event_machine *machine);

/* Whether @event is one of these. */
bool event_is_kernels(const struct op_event *event);

/*
 * The events of the CPU, of the first kind where there are several. NULL with
 * one clause in @diag when they are not known.
 */
const struct op_events *event_machine_cpu(struct event_machine *machine,
					  struct op_diag *diag);

/* Whether perf_events can take samples with the CPU's counters. */
bool event_machine_can_sample(const struct event_machine *machine);

/*
 * Write the numbers that perf_events gave to the PMUs of the CPUs
 * (perf_event_open(2), "type") to @buf, ascending, with blanks between, at
 * most 8; there are several where CPUs are of several kinds. Returns how many.
 */
int event_machine_pmu_types(const struct event_machine *machine, char *buf,
			    size_t len);

/* The number of the PMU @name. Returns 0 or -errno. */
int event_machine_pmu_type(const struct event_machine *machine,
			   const char *name, uint64_t *type);

#endif /* UTILS_EVENT_MACHINE_H */
