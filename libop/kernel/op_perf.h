/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_KERNEL_OP_PERF_H
#define LIBOP_KERNEL_OP_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"

/*
 * perf_event_open(2): the events that every kernel names itself, opening one,
 * and what a person can do when that is refused.
 */

/* An event of the kernel's own list. */
struct op_perf_event {
	const char *name; /* letters, digits and '-', as perf(1) shows it */
	uint32_t type; /* PERF_TYPE_HARDWARE, _SOFTWARE or _HW_CACHE */
	uint64_t config;
	const char *desc; /* one line for lists */
};

/*
 * The event called @name, also by its second name (cpu-cycles, faults, cs);
 * the entry returned has the usual one. NULL if there is none.
 */
const struct op_perf_event *op_perf_event_find(const char *name);

/* All of them, hardware first; *@nr is their number. */
const struct op_perf_event *op_perf_events(size_t *nr);

/* Let @attr count the CPU cycles of a task's user mode. */
void op_perf_cycles(struct perf_event_attr *attr);

/*
 * The kernel's own events are those of the first kind of cores. Intel's hybrids
 * have a second kind, whose PMU an event names above its config (since Linux
 * 5.13). Make @attr, one of these events, that of the second kind, by @root/sys
 * (@root "" for this machine's). False, and @attr as it was, if there is no
 * second kind, or @attr is another event.
 */
bool op_perf_second_kind(struct perf_event_attr *attr, const char *root);

/*
 * perf_event_open(2), close-on-exec; arguments as there, but that the kernel's
 * own events are opened on cores of either kind. Returns the descriptor or
 * -errno. Where the running kernel may be too old for an optional bit of @attr
 * (-EINVAL, -E2BIG), the caller decides what to drop.
 */
int op_perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
		 int group_fd);

/* The same for the tasks of a cgroup, whose folder is open as @cgroup_fd, while
 * they run on @cpu. */
int op_perf_open_cgroup(const struct perf_event_attr *attr, int cgroup_fd,
			int cpu);

/* The facts that decide which events this process may open. */
struct op_perf_rights {
	int paranoid; /* kernel.perf_event_paranoid; 2 if unreadable */
	bool capable; /* CAP_PERFMON or CAP_SYS_ADMIN, not of a namespace */
	bool root; /* effective user 0, perhaps only of a namespace */
	bool namespace; /* in a user namespace, whose capabilities don't help */
	bool seccomp; /* a seccomp filter looks at its system calls */
	bool basic; /* counting its own user mode works */
};

void op_perf_rights_get(struct op_perf_rights *rights);

/* The same but for "basic", from /proc below the folder @root, "" for this
 * process's own. */
void op_perf_rights_read(struct op_perf_rights *rights, const char *root);

/*
 * Put into @diag why opening @attr, shown as @name, for @pid and @cpu (as
 * in op_perf_open()) failed with @err (-errno), and what to do about it.
 * Returns @err. op_perf_explain() finds out the rights itself.
 */
int op_perf_explain(struct op_diag *diag, int err,
		    const struct perf_event_attr *attr, pid_t pid, int cpu,
		    const char *name);
int op_perf_explain_rights(struct op_diag *diag, int err,
			   const struct perf_event_attr *attr, pid_t pid,
			   int cpu, const char *name,
			   const struct op_perf_rights *rights);

/* kernel.perf_event_paranoid; 2, the kernel's default, if unreadable. */
int op_perf_paranoid(void);

/* kernel.perf_event_max_stack, frames; 127, the default, if unreadable. */
unsigned int op_perf_max_stack(void);

/* Whether this process may sample the kernel, and whether all processes. */
bool op_perf_may_sample_kernel(void);
bool op_perf_may_sample_system(void);

/* Whether the CPU's cycles can be counted: tries it for this process. */
bool op_perf_has_pmu(void);

#endif /* LIBOP_KERNEL_OP_PERF_H */
