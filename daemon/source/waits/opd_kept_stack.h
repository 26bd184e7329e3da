/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_WAITS_OPD_KEPT_STACK_H
#define DAEMON_SOURCE_WAITS_OPD_KEPT_STACK_H

/*
 * A stack that is kept until the length of the wait which began with it is
 * known: the frames are found when the record of the stack is read, as the
 * mappings of the process may be others later, and become words of the stream
 * when the wait is over. Likewise the stack of a sample of two events, which is
 * looked for once.
 */

#include <stddef.h>
#include <stdint.h>

#include "daemon/source/perf/opd_perf_words.h"

struct opd_kept_frame {
	uint64_t pc; /* as in opd_perf_words_caller() */
	/* as in struct opd_perf_place */
	uint64_t cookie;
	uint64_t start;
	uint64_t end;
	const char *anon;
	bool kernel;
};

struct opd_kept_stack {
	unsigned int nr_users;
	struct opd_perf_place place; /* of the innermost frame, and its task */
	uint64_t pc; /* of the innermost frame */
	enum op_trace_ending ending;
	struct opd_kept_frame *callers; /* an array of op_array.h ... */
	size_t nr_callers;
	size_t room; /* ... or of so many frames at most; 0: op_array.h's */
};

/* A stack of one frame, with one user. NULL when memory is short. */
struct opd_kept_stack *opd_kept_stack_new(const struct opd_perf_place *place,
					  uint64_t pc);

/* Drop a user of @stack; the last one frees it. NULL does nothing. */
void opd_kept_stack_put(struct opd_kept_stack *stack);

/* Add a caller. Where memory is short the stack ends before that caller. */
void opd_kept_stack_add(struct opd_kept_stack *stack,
			const struct opd_perf_place *place, uint64_t pc);

/* Bytes that the stack takes. */
size_t opd_kept_stack_size(const struct opd_kept_stack *stack);

/* Write the stack as a sample of event @counter that was taken @times times,
 * with its callers if there are to be stacks. There must be room. */
void opd_kept_stack_write(const struct opd_kept_stack *stack,
			  struct opd_perf_words *words, uint32_t counter,
			  uint64_t times, bool with_callers);

#endif /* DAEMON_SOURCE_WAITS_OPD_KEPT_STACK_H */
