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

#include <linux/types.h>

struct pt_regs;

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

/* The scheduler's code; both 0: not known. Settings. */
extern unsigned long resolve_scheduler_start, resolve_scheduler_end;

#endif /* MODULE_RESOLVE_H */
