/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_EVENTS_H
#define UTILS_OPERF_OPERF_EVENTS_H

/*
 * The events to sample, as far as this user may sample them: the events asked
 * for; else the CPU's default event; else its cycles, if event files do not
 * describe the CPU; else the CPU clock, if the machine has no cycle counter.
 */

#include <stdbool.h>

#include "libop/base/op_diag.h"
#include "utils/event_machine.h"

struct operf_events {
	char *text; /* for the daemon's --events; NULL: the CPU clock */
	bool no_counter; /* the CPU clock only because of that */
	bool user_only; /* the kernel is left out: this user may not */
	bool share; /* there are more events than counters */
	bool waits; /* threads that wait are sampled */
};

/* Rights of this user on this machine, and further requirements. */
struct operf_rights {
	bool can_sample_cpu; /* event_machine_can_sample() */
	bool may_sample_kernel; /* op_perf_may_sample_kernel() */
	bool stacks; /* with each sample: take default events less often */
};

/*
 * Turn @list, "name:count[:um[:kernel[:user]]],..." or NULL for the default,
 * into @events. @clock: the CPU clock is asked for. @wall: threads that wait
 * are, too, beside @list or the CPU clock. @latency: so is the elapsed time of
 * processes, with @wall alone. Returns 0, or -errno with the reason
 * in @diag; operf_events_release() in any case.
 */
int operf_events_init(struct operf_events *events,
		      struct event_machine *machine, const char *list,
		      bool clock, bool wall, bool latency,
		      const struct operf_rights *rights, struct op_diag *diag);
void operf_events_release(struct operf_events *events);

#endif /* UTILS_OPERF_OPERF_EVENTS_H */
