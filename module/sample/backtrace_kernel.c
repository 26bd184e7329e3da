// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own stack: by the kernel's unwinder where modules may use it,
 * else by frame records.
 */

#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/irq_regs.h>
#include <asm/processor.h>

#include "sample/backtrace.h"

#if defined(CONFIG_X86_64)

#include <asm/unwind.h>

/* The last frame that the unwinder tells of a user task is in user mode. */
static bool is_in_user_mode(struct unwind_state *state)
{
	struct pt_regs *regs = unwind_get_entry_regs(state, NULL);

	return regs && user_mode(regs);
}

/*
 * At generated code that it does not know the unwinder goes on by frame
 * pointers, which is a guess: the end is not taken for the outermost frame.
 */
static unsigned int walk_kernel(struct task_struct *task, struct pt_regs *regs,
				u64 *frames, unsigned int max,
				enum op_trace_ending *ending)
{
	struct unwind_state state;
	unsigned int nr = 0;

	*ending = OP_TRACE_NO_UNWIND;
	unwind_start(&state, task, regs, NULL);
	for (; !unwind_done(&state); unwind_next_frame(&state)) {
		unsigned long pc = unwind_get_return_address(&state);

		if (!pc && is_in_user_mode(&state))
			break;
		if (!pc)
			return nr;
		if (nr == max) {
			*ending = OP_TRACE_DEPTH;
			return nr;
		}
		frames[nr++] = pc;
	}
	if (!unwind_error(&state))
		*ending = OP_TRACE_WHOLE;
	return nr;
}

unsigned int backtrace_walk_kernel(struct pt_regs *regs, u64 *frames,
				   unsigned int max,
				   enum op_trace_ending *ending)
{
	return walk_kernel(current, regs, frames, max, ending);
}

unsigned int backtrace_walk_waiting(struct task_struct *task, u64 *frames,
				    unsigned int max,
				    enum op_trace_ending *ending)
{
	return walk_kernel(task, NULL, frames, max, ending);
}

/* Only some interrupts leave their registers where get_irq_regs() looks. */
struct pt_regs *backtrace_interrupted(void)
{
	struct pt_regs *regs = get_irq_regs();
	struct unwind_state state;

	if (!regs) {
		unwind_start(&state, current, NULL, NULL);
		while (!unwind_done(&state) && !regs) {
			unwind_next_frame(&state);
			regs = unwind_get_entry_regs(&state, NULL);
		}
	}
	return regs && !user_mode(regs) ? regs : NULL;
}

#elif defined(CONFIG_ARM64)

struct frame_record {
	u64 fp;
	u64 lr;
};

/* The kernel may sign return addresses; its text is at the top. */
static u64 plain_address(u64 lr)
{
	return lr | GENMASK_ULL(63, VA_BITS_MIN);
}

static bool is_on_stack_of(struct task_struct *task, u64 fp)
{
	u64 base = (u64)task_stack_page(task);

	return fp >= base && fp < base + THREAD_SIZE;
}

/*
 * Frame records lie one above the other; from the stack of interrupts they
 * lead to that of the task, and never back. The last one is made at the entry
 * to the kernel.
 */
static unsigned int walk_kernel(struct task_struct *task, u64 fp, u64 *frames,
				unsigned int nr, unsigned int max,
				enum op_trace_ending *ending)
{
	u64 last = (u64)task_pt_regs(task)->stackframe;
	struct frame_record record;

	while (fp != last) {
		*ending = OP_TRACE_BAD_STACK;
		if (fp & 7 ||
		    copy_from_kernel_nofault(&record, (void *)fp,
					     sizeof(record)) ||
		    !record.lr)
			return nr;
		if (record.fp <= fp && (is_on_stack_of(task, fp) ||
					!is_on_stack_of(task, record.fp)))
			return nr;
		*ending = OP_TRACE_DEPTH;
		if (nr == max)
			return nr;
		frames[nr++] = plain_address(record.lr);
		fp = record.fp;
	}
	*ending = OP_TRACE_WHOLE;
	return nr;
}

unsigned int backtrace_walk_kernel(struct pt_regs *regs, u64 *frames,
				   unsigned int max,
				   enum op_trace_ending *ending)
{
	return walk_kernel(current, regs->regs[29], frames, 0, max, ending);
}

unsigned int backtrace_walk_waiting(struct task_struct *task, u64 *frames,
				    unsigned int max,
				    enum op_trace_ending *ending)
{
	*ending = OP_TRACE_DEPTH;
	if (!max)
		return 0;
	frames[0] = plain_address(thread_saved_pc(task));
	return walk_kernel(task, thread_saved_fp(task), frames, 1, max, ending);
}

struct pt_regs *backtrace_interrupted(void)
{
	struct pt_regs *regs = get_irq_regs();

	return regs && !user_mode(regs) ? regs : NULL;
}

#else

struct pt_regs *backtrace_interrupted(void)
{
	return NULL;
}

unsigned int backtrace_walk_kernel(struct pt_regs *regs, u64 *frames,
				   unsigned int max,
				   enum op_trace_ending *ending)
{
	*ending = OP_TRACE_NO_UNWIND;
	return 0;
}

unsigned int backtrace_walk_waiting(struct task_struct *task, u64 *frames,
				    unsigned int max,
				    enum op_trace_ending *ending)
{
	*ending = OP_TRACE_NO_UNWIND;
	return 0;
}

#endif
