/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_BACKTRACE_H
#define MODULE_BACKTRACE_H

/*
 * The callers of a sample: those in the kernel, and behind them those in user
 * mode, by frame pointers or as the part of the user stack that the reader
 * unwinds. They are gathered in memory that is made beforehand for interrupts
 * and kept for tasks, put behind the sample as words of the stream, and
 * always end with why they end.
 *
 * Interrupts gather what is in the kernel, and the user part of a sample in the
 * kernel without waiting for anything. The user part of a sample in user mode
 * is gathered in task work, where the stack is still the same and the lock of
 * the mappings may be waited for, for a while, and so may pages of anonymous
 * memory. NMIs only walk the kernel's stack.
 */

#include <linux/types.h>

#include "buffer/stream.h"
#include "sample/lookup.h"
#include "uapi/oprofile.h"

struct mm_struct;
struct op_sample;
struct pt_regs;
struct task_struct;

/* A piece of an address space that words of a user stack point to. */
struct backtrace_range {
	u64 start;
	u64 end;
	u64 offset; /* in the file, of start */
	u64 cookie;
	bool is_code;
};

/* More than this many are not looked up for one stack. */
#define BACKTRACE_MAX_RANGES 128

struct backtrace {
	struct stream records; /* what is behind the sample */
	enum op_trace_ending ending;
	unsigned int nr_frames; /* callers in records */
	u64 *frames; /* room for backtrace_depth addresses */
	u8 *stack; /* room for backtrace_stack bytes; of user space */
	unsigned int stack_len; /* behind records, whole words */
	struct backtrace_range ranges[BACKTRACE_MAX_RANGES]; /* by start */
	unsigned int nr_ranges;
};

/* Settings; fixed while set up. */
extern unsigned long backtrace_depth; /* callers, 0: none are gathered */
extern unsigned long backtrace_stack; /* bytes of user stack, 0: none */

#define BACKTRACE_MAX_DEPTH 1024

/* Make the memory for interrupts. Returns 0 or -ENOMEM. */
int backtrace_setup(void);

/* Nothing is being gathered any more. */
void backtrace_shutdown(void);

static inline bool backtrace_is_on(void)
{
	return backtrace_depth != 0;
}

/*
 * An empty one: that of this CPU, in a hard interrupt, for as long as it
 * lasts; or one for a task, NULL when memory is short, to be given back. Only
 * while backtrace_is_on().
 */
struct backtrace *backtrace_of_interrupt(void);
struct backtrace *backtrace_get(void);
void backtrace_put(struct backtrace *bt);

/* Add the callers in the kernel of code that runs with @regs. */
void backtrace_add_kernel(struct backtrace *bt, struct pt_regs *regs);

/*
 * The same in an NMI, into memory of this CPU that lasts until the next one.
 * Returns how many and why no more, and sets *@frames.
 */
unsigned int backtrace_in_nmi(struct pt_regs *regs, const u64 **frames,
			      enum op_trace_ending *ending);

/* Add the @nr callers that an NMI found. */
void backtrace_add_found(struct backtrace *bt, const u64 *frames,
			 unsigned int nr, enum op_trace_ending ending);

/*
 * backtrace_user.c: add the current task's callers in user mode, if what there
 * is leads to them. @sample is what all this is about, resolved. In a hard
 * interrupt.
 */
void backtrace_add_user(struct backtrace *bt, const struct op_sample *sample);

/*
 * The same for @task of @user, which waited in the kernel when @regs were
 * copied from where it left user mode, and whose address space @mm the caller
 * holds. In another task. What it says holds only if @task has had no CPU
 * since.
 */
void backtrace_add_user_of(struct backtrace *bt, const struct op_sample *sample,
			   const struct task_struct *task, struct mm_struct *mm,
			   struct pt_regs *regs, u32 user);

/*
 * The same in a task, for a user sample that is resolved at this: the mappings
 * are locked once for both. May sleep. On anything but LOOKUP_DONE there is no
 * place that the sample could be stored for.
 */
enum lookup backtrace_resolve(struct backtrace *bt, struct op_sample *sample);

/* Store @sample with its callers, or without, or count it as lost. */
void backtrace_store(struct backtrace *bt, struct op_sample *sample);

/* The same for a sample whose callers could not be gathered, and why. */
void backtrace_store_alone(struct op_sample *sample,
			   enum op_trace_ending ending);

/* The callers that are wanted beside those there are. */
static inline unsigned int backtrace_room(const struct backtrace *bt)
{
	return backtrace_depth - bt->nr_frames;
}

/*
 * backtrace_kernel.c: up to @max callers in the kernel of @regs in the current
 * task; or of where @task lost its CPU, which it does not get meanwhile. Any
 * context.
 */
unsigned int backtrace_walk_kernel(struct pt_regs *regs, u64 *frames,
				   unsigned int max,
				   enum op_trace_ending *ending);
unsigned int backtrace_walk_waiting(struct task_struct *task, u64 *frames,
				    unsigned int max,
				    enum op_trace_ending *ending);

/* The registers of the kernel code that the current hard interrupt came over,
 * NULL if it came over user mode or nothing tells them. */
struct pt_regs *backtrace_interrupted(void);

#endif /* MODULE_BACKTRACE_H */
