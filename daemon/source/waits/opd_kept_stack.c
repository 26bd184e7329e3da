// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/source/waits/opd_kept_stack.h"

#include <stdlib.h>

#include "libop/base/op_array.h"

struct opd_kept_stack *opd_kept_stack_new(const struct opd_perf_place *place,
					  uint64_t pc)
{
	struct opd_kept_stack *stack = calloc(1, sizeof(*stack));

	if (!stack)
		return NULL;
	stack->nr_users = 1;
	stack->place = *place;
	stack->pc = pc;
	return stack;
}

void opd_kept_stack_put(struct opd_kept_stack *stack)
{
	if (!stack || --stack->nr_users)
		return;
	free(stack->callers);
	free(stack);
}

void opd_kept_stack_add(struct opd_kept_stack *stack,
			const struct opd_perf_place *place, uint64_t pc)
{
	if (stack->nr_callers >= stack->room &&
	    op_array_reserve(&stack->callers, stack->nr_callers, 1))
		return;
	stack->callers[stack->nr_callers++] = (struct opd_kept_frame){
		.pc = pc,
		.cookie = place->cookie,
		.start = place->start,
		.end = place->end,
		.anon = place->anon,
		.kernel = place->kernel,
	};
}

size_t opd_kept_stack_size(const struct opd_kept_stack *stack)
{
	return sizeof(*stack) + stack->nr_callers * sizeof(*stack->callers);
}

void opd_kept_stack_write(const struct opd_kept_stack *stack,
			  struct opd_perf_words *words, uint32_t counter,
			  uint64_t times, bool with_callers)
{
	struct opd_perf_place place = stack->place;

	place.times = times;
	if (!with_callers) {
		opd_perf_words_sample(words, &place, stack->pc, counter);
		return;
	}
	opd_perf_words_trace(words, &place, stack->pc, counter);
	for (size_t i = 0; i < stack->nr_callers; i++) {
		const struct opd_kept_frame *caller = &stack->callers[i];

		place.kernel = caller->kernel;
		place.cookie = caller->cookie;
		place.anon = caller->anon;
		place.start = caller->start;
		place.end = caller->end;
		opd_perf_words_caller(words, &place, caller->pc);
	}
	opd_perf_words_trace_end(words, stack->ending);
}
