// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames are copied into one stack that is made at the start, so that a trace
 * needs no memory of its own. A trace with too many frames keeps the innermost
 * ones and is marked as cut. When the user part was unwound by the daemon, the
 * unwinder's ending counts and not that of the stream, because the module can
 * only say how its own part ended.
 */

#include "daemon/context/opd_trace.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/context/opd_defer.h"
#include "daemon/opd_stats.h"

int opd_trace_init(struct opd_trace *trace, struct opd_stacks *stacks,
		   struct opd_defer *defer, struct opd_stats *stats)
{
	trace->stacks = stacks;
	trace->defer = defer;
	trace->stats = stats;
	trace->is_open = false;
	trace->stack = malloc(sizeof(*trace->stack) +
			      OPD_STACK_MAX * sizeof(trace->stack->frames[0]));
	return trace->stack ? 0 : -ENOMEM;
}

void opd_trace_release(struct opd_trace *trace)
{
	free(trace->stack);
	trace->stack = NULL;
	trace->is_open = false;
}

static void fill_frame(struct opd_frame *frame,
		       const struct opd_context *context, uint64_t pc)
{
	frame->pc = pc;
	frame->kernel = context->mode == OPD_MODE_KERNEL;
	frame->cookie = OP_NO_COOKIE;
	frame->anon = NULL;
	frame->start = frame->end = 0;
	if (context->mode != OPD_MODE_USER)
		return;
	if (context->where == OPD_WHERE_COOKIE) {
		frame->cookie = context->cookie;
	} else if (context->where == OPD_WHERE_ANON) {
		frame->anon = context->anon;
		frame->start = context->start;
		frame->end = context->end;
	}
}

void opd_trace_begin(struct opd_trace *trace, const struct opd_context *context,
		     uint64_t pc, unsigned int counter)
{
	struct opd_stack *stack = trace->stack;

	trace->is_open = true;
	trace->unwound = false;
	stack->context = *context;
	stack->counter = counter;
	fill_frame(&stack->frames[0], context, pc);
	stack->nr = 1;
}

/* Where the next frame goes; NULL if it is left out. */
static struct opd_frame *next_frame(struct opd_trace *trace)
{
	struct opd_stack *stack = trace->stack;

	trace->stats->frames++;
	if (!trace->is_open)
		return NULL;
	/* A number above OPD_STACK_MAX says that frames were left out. */
	if (stack->nr <= OPD_STACK_MAX)
		stack->nr++;
	return stack->nr <= OPD_STACK_MAX ? &stack->frames[stack->nr - 1]
					  : NULL;
}

void opd_trace_add_frame(struct opd_trace *trace, const struct opd_frame *frame)
{
	struct opd_frame *next = next_frame(trace);

	if (next)
		*next = *frame;
}

const uint64_t *opd_trace_add(struct opd_trace *trace,
			      const struct opd_context *context,
			      const uint64_t *at, const uint64_t *end)
{
	for (; end - at >= 2 && at[0] != OP_ESCAPE && at[1] != OP_ESCAPE;
	     at += 2) {
		struct opd_frame *next = next_frame(trace);

		if (next)
			fill_frame(next, context, at[0]);
	}
	return at;
}

bool opd_trace_is_in_kernel(const struct opd_trace *trace)
{
	const struct opd_stack *stack = trace->stack;

	return stack->nr <= OPD_STACK_MAX &&
	       stack->frames[stack->nr - 1].kernel;
}

void opd_trace_unwound(struct opd_trace *trace, enum op_trace_ending ending)
{
	trace->unwound = true;
	trace->ending = ending;
}

void opd_trace_end(struct opd_trace *trace, enum op_trace_ending ending)
{
	struct opd_stack *stack = trace->stack;
	uint64_t waits_for;

	if (!trace->is_open)
		return;
	trace->is_open = false;
	stack->ending = trace->unwound ? trace->ending : ending;
	if (stack->nr > OPD_STACK_MAX) {
		stack->nr = OPD_STACK_MAX;
		stack->ending = OP_TRACE_DEPTH;
	}
	if (opd_stack_store(trace->stacks, stack, false, &waits_for))
		return;
	if (!opd_defer_add_stack(trace->defer, stack, waits_for))
		trace->stats->stacks[OP_STACKS_NOT_STORED] +=
			opd_stack_times(stack);
}

int opd_trace_call(struct opd_trace *trace, const struct opd_context *context,
		   const struct opd_call *call)
{
	struct opd_stack *stack = trace->stack;

	if (trace->is_open)
		return -EINVAL;
	stack->context = *context;
	stack->counter = call->counter;
	stack->frames[0] = (struct opd_frame){ .pc = call->callee,
					       .cookie = call->callee_cookie };
	stack->frames[1] = (struct opd_frame){ .pc = call->caller + 1,
					       .cookie = call->caller_cookie };
	stack->nr = 2;
	opd_stack_store_call(trace->stacks, stack);
	return 0;
}
