/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_TARGET_H
#define DAEMON_SOURCE_PERF_OPD_PERF_TARGET_H

/*
 * The processes that the perf_events source samples, as "KEY=VALUE,...":
 *
 *	exec=PID	a process that is about to exec, and its children
 *	pid=PID		one that runs, and its children; may be repeated
 *	cgroup=PATH	all that is in this cgroup while it is there
 *	rate=HZ		samples per second and CPU of the clock
 *	callgraph=DEPTH	take stacks, of so many frames at most; 0: none
 *	remove-maps=1	remove the perf maps of those runtimes that leave theirs
 *	stack=BYTES	of the user stack for these, at most; else as much as
 *			a record holds, or less where memory is short
 *
 * Without the first three it is everything.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"
#include "libop/kernel/op_perf_filter.h"

#define OPD_PERF_RATE 1000
#define OPD_PERF_RATE_MAX 100000
#define OPD_PERF_DEPTH_MAX 1024
#define OPD_PERF_STACK_MIN 512
#define OPD_PERF_STACK_MAX 61440 /* a record has 16 bits for its length */

struct opd_perf_target {
	pid_t exec; /* 0: none */
	pid_t *pids;
	size_t nr_pids;
	char *cgroup; /* NULL: none */
	uint32_t rate;
	uint32_t depth; /* frames, 0: no stacks */
	uint32_t stack; /* bytes, a multiple of 8; 0: not said */
	bool removes_maps; /* that nobody but us asked for */
	/* Processes are chosen, but CPUs are sampled: whoever opens the source
	 * sets it where the user may do that. */
	bool by_cpu;
	/* With @by_cpu: drops what is known to be of others; NULL: nothing
	 * does. Not owned. */
	struct op_perf_filter *filter;
};

/* Whether it is about some processes and not the machine. */
bool opd_perf_is_targeted(const struct opd_perf_target *target);

/* Whether all that runs on the CPUs is sampled, be it of the target or not. */
bool opd_perf_samples_cpus(const struct opd_perf_target *target);

/* NULL is an empty list. Returns 0 or -errno with the reason; release in any
 * case. */
int opd_perf_target_parse(struct opd_perf_target *target, const char *text,
			  struct op_diag *diag);
void opd_perf_target_release(struct opd_perf_target *target);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_TARGET_H */
