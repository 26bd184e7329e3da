/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_STACK_H
#define DAEMON_SOURCE_PERF_OPD_PERF_STACK_H

/*
 * From what a sample of perf_events tells of its stack to the callers in the
 * stream: the kernel's are in the record, the user's are found by unwinding
 * (libcfi/unwinder.h) the copied piece of stack at once.
 */

#include <stdint.h>

#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/perf/opd_perf_words.h"
#include "daemon/source/waits/opd_kept_stack.h"
#include "libcfi/unwinder.h"

struct opd_process_table;
struct opd_process;

struct opd_perf_stacks {
	uint32_t depth; /* frames of a stack, the innermost too; 0: no stacks */
	uint32_t kernel_depth; /* of them in the kernel, as far as it goes */
	/* Code of the kernel's scheduler, which kept stacks leave out where it
	 * is innermost; both are 0 where it is not known. */
	uint64_t scheduler_start, scheduler_end;
	struct unwinder *unwinder;
	struct unwinder_frame *frames; /* depth of them */
	struct opd_kept_stack once; /* room for depth callers */
	/* the stack in hand */
	struct opd_process_table *table;
	struct opd_process *process;
	uint32_t tgid;
};

/*
 * Take stacks of up to @depth frames, which must be more than 0; the kernel
 * gives @kernel_depth of its own at most. Returns 0 or -ENOMEM.
 */
int opd_perf_stacks_init(struct opd_process_table *table, uint32_t depth,
			 uint32_t kernel_depth);
void opd_perf_stacks_release(struct opd_perf_stacks *stacks);

/*
 * Write the callers of sample @rec, which has been written as the innermost
 * frame of a trace in @place, and the end of the trace. @process may be NULL
 * in the kernel.
 */
void opd_perf_stack_callers(struct opd_process_table *table,
			    struct opd_process *process,
			    const struct opd_perf_place *place,
			    const struct opd_perf_rec *rec);

/*
 * The stack of sample @rec in @place, of one frame where no stacks are taken:
 * to be written as samples of several events. Good until the next call.
 */
struct opd_kept_stack *opd_perf_stack_once(struct opd_process_table *table,
					   struct opd_process *process,
					   const struct opd_perf_place *place,
					   uint64_t pc,
					   const struct opd_perf_rec *rec);

/*
 * The stack of sample @rec, which was taken in the kernel in @place, without
 * the scheduler's frames; of one frame where no stacks are taken. NULL when
 * memory is short.
 */
struct opd_kept_stack *opd_perf_stack_keep(struct opd_process_table *table,
					   struct opd_process *process,
					   const struct opd_perf_place *place,
					   const struct opd_perf_rec *rec);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_STACK_H */
