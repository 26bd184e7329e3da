// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/waits/opd_latency.h"

#include <stdlib.h>

#include "daemon/source/perf/opd_perf_record.h"
#include "libop/base/op_array.h"

#define NO_TASK UINT32_MAX /* perf_events' number for one that is freed */

/* NULL when memory is short. */
static struct opd_running *running_on(struct opd_latency *latency, uint32_t cpu)
{
	struct opd_running *running;

	while (latency->nr_cpus <= cpu) {
		if (op_array_reserve(&latency->cpus, latency->nr_cpus, 1))
			return NULL;
		latency->cpus[latency->nr_cpus++] =
			(struct opd_running){ .tgid = 0 };
	}
	running = &latency->cpus[cpu];
	if (!running->is_known)
		opd_axis_init(&running->axis, &latency->draws,
			      latency->interval);
	running->is_known = true;
	return running;
}

void opd_latency_switch(struct opd_latency *latency,
			const struct opd_perf_rec *rec, uint32_t cpu)
{
	struct opd_running *running;

	if (rec->type != PERF_RECORD_SWITCH &&
	    rec->type != PERF_RECORD_SWITCH_CPU_WIDE)
		return;
	running = running_on(latency, cpu);
	if (!running)
		return;
	if (!(rec->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		running->tgid = rec->pid;
		running->tid = rec->tid;
	} else if (running->tid == rec->tid) {
		running->tgid = running->tid = 0;
	}
}

void opd_latency_side(struct opd_latency *latency,
		      const struct opd_perf_rec *rec)
{
	for (size_t i = 0; i < latency->nr_cpus; i++)
		if (rec->type == PERF_RECORD_EXIT &&
		    latency->cpus[i].tid == rec->tid)
			latency->cpus[i].tgid = latency->cpus[i].tid = 0;
}

uint64_t opd_latency_count(struct opd_latency *latency,
			   const struct opd_perf_rec *rec, uint32_t cpu,
			   uint64_t ns)
{
	struct opd_running *running;
	uint64_t nr = 1; /* threads of its process */

	if (!rec->pid || rec->pid == NO_TASK || !rec->tid)
		return 0;
	running = running_on(latency, cpu);
	if (!running)
		return 0;
	/* The first sample of a thread may come before any of its switches. */
	running->tgid = rec->pid;
	running->tid = rec->tid;
	for (size_t i = 0; i < latency->nr_cpus; i++)
		nr += i != cpu && latency->cpus[i].tgid == rec->pid;
	return opd_axis_pass(&running->axis, &latency->draws, ns / nr,
			     latency->interval);
}

void opd_latency_init(struct opd_latency *latency,
		      const struct opd_events *events)
{
	*latency = (struct opd_latency){ .interval = 0 };
	opd_draws_init(&latency->draws);
	for (uint32_t i = 0; i < events->nr; i++) {
		const struct opd_event *event = &events->counter[i];

		if (!event->set || !opd_event_is_latency(event))
			continue;
		latency->counter = i;
		latency->interval = event->count;
	}
}

void opd_latency_release(struct opd_latency *latency)
{
	free(latency->cpus);
	*latency = (struct opd_latency){ .interval = 0 };
}
