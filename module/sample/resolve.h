/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_RESOLVE_H
#define MODULE_RESOLVE_H

/*
 * From a program counter to a sample that stands by itself.
 *
 * A user program counter means something only together with the mappings
 * that the task has at that moment, so it is looked up before the task runs
 * another user instruction: in the interrupt where the mappings can be
 * locked there without waiting, else in task work, which the kernel runs on
 * the way back to user mode, with the same mappings, able to sleep. No
 * reference to a task or an address space is ever kept. An NMI leaves it all
 * to an interrupt that follows at once (nmi_stage.h).
 *
 * oprofile_provider.h has what adds samples.
 */

#include <linux/ptrace.h>
#include <linux/types.h>

#include "buffer/cpu_buffer.h"
#include "uapi/oprofile.h"

struct backtrace;
struct mm_struct;
struct task_struct;

/* Make room for deferred work. Returns 0 or -ENOMEM. */
int resolve_setup(void);
void resolve_shutdown(void);

/*
 * Wait until no task has a sample to resolve. Sampling is off. Returns 0, or
 * -EINTR when a fatal signal came first.
 */
int resolve_drain(void);

/* Wait for what was sampled in NMIs; sampling is off. */
void resolve_settle(void);

/*
 * Add a sample of the current task, which has just got the CPU again, for a
 * wait that ended so (wait.h), @nr_taken << @shift times. @regs are those of
 * the interrupt in the kernel that does so. Its frames that are of the
 * scheduler are left out: where the thread went to wait is the innermost one.
 */
void resolve_add_wait(struct pt_regs *regs, unsigned int counter, u16 nr_taken,
		      u8 shift);

/* Frames of the scheduler at the end of a wait, at most. */
#define RESOLVE_SCHEDULER_FRAMES 12

/* A thread that waits while others run, and what is known of its stack. */
struct resolve_waiting {
	/* Set by the caller, who holds references to these. */
	struct task_struct *task;
	struct mm_struct *mm; /* of task */
	struct backtrace *bt; /* empty; NULL: no callers */
	/* Set by resolve_see_waiting(). */
	struct op_sample sample;
	struct pt_regs regs; /* of user mode */
	u32 user;
	enum op_trace_ending ending; /* of what is in the kernel */
	unsigned int nr_frames, nr_skipped;
	u64 own_frames[RESOLVE_SCHEDULER_FRAMES];
};

/*
 * See where a thread waits, while nothing can give it a CPU; any context. Then
 * gather its callers in user mode, in a task, and add a sample of it as
 * resolve_add_wait() does. If the thread has had a CPU since it was seen, these
 * callers are worthless: bt is to be taken away before the sample is added.
 */
void resolve_see_waiting(struct resolve_waiting *waiting);
void resolve_gather_waiting(struct resolve_waiting *waiting);
void resolve_add_waiting(const struct resolve_waiting *waiting,
			 unsigned int counter, u16 nr_taken, u8 shift);

/* The scheduler's code; both 0: not known. Settings. */
extern unsigned long resolve_scheduler_start, resolve_scheduler_end;

#endif /* MODULE_RESOLVE_H */
