/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_KERNEL_OP_PERF_FILTER_H
#define LIBOP_KERNEL_OP_PERF_FILTER_H

/*
 * Processes whose samples the kernel drops, so that an event of a CPU costs
 * neither room in the ring nor a copy of the stack for what others do there.
 * The kernel reads the set at each sample; a change needs no system call. The
 * numbers are those of tgids in the first pid namespace.
 *
 * A sample that interrupts another BPF program which traces is dropped, too:
 * the kernel runs one of them at a time on a CPU.
 */

#include <stdbool.h>
#include <stdint.h>

/* Above each number of a process (the kernel's PID_MAX_LIMIT). */
#define OP_PERF_FILTER_PIDS (UINT32_C(4) << 20)
#define OP_PERF_FILTER_WORDS (OP_PERF_FILTER_PIDS / 64)

struct op_perf_filter {
	uint64_t *words; /* a bit for each process; NULL: not open */
	int program_fd;
};

/*
 * A filter that drops nothing yet. Returns 0, or -errno where the kernel has
 * no such programs, or lets this user load none; -EXDEV in a pid namespace that
 * is not the first. Then *@filter is closed.
 */
int op_perf_filter_open(struct op_perf_filter *filter);

/* Events that have it keep it as it is. May be closed already. */
void op_perf_filter_close(struct op_perf_filter *filter);

/* Whether this process can open one. */
bool op_perf_filter_works(void);

/* Filter the samples of the event @fd. Returns 0 or -errno. */
int op_perf_filter_attach(const struct op_perf_filter *filter, int fd);

/* Drop the samples of process @tgid from now on, or let them pass. */
void op_perf_filter_drop(struct op_perf_filter *filter, uint32_t tgid,
			 bool drop);

/* Whether samples of process @tgid are dropped. */
bool op_perf_filter_drops(const struct op_perf_filter *filter, uint32_t tgid);

#endif /* LIBOP_KERNEL_OP_PERF_FILTER_H */
