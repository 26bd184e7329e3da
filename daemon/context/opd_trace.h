/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_TRACE_H
#define DAEMON_CONTEXT_OPD_TRACE_H

/*
 * The stack trace that the stream is telling: its frames are collected until
 * it ends, and then it is a stack (opd_stack.h).
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/context/opd_stack.h"

struct opd_defer;
struct opd_stats;

struct opd_trace {
	struct opd_stacks *stacks; /* borrowed, like the next two */
	struct opd_defer *defer;
	struct opd_stats *stats;
	bool is_open;
	bool unwound; /* whoever unwound the rest of it knows how it ends */
	enum op_trace_ending ending; /* then */
	struct opd_stack *stack; /* with room for OPD_STACK_MAX frames */
};

/* Returns 0 or -ENOMEM. */
int opd_trace_init(struct opd_trace *trace, struct opd_stacks *stacks,
		   struct opd_defer *defer, struct opd_stats *stats);
void opd_trace_release(struct opd_trace *trace);

/*
 * A trace begins with a sample of @context, which is stored or may
 * be later. One that was open is to be ended before.
 */
void opd_trace_begin(struct opd_trace *trace, const struct opd_context *context,
		     uint64_t pc, unsigned int counter);

/*
 * Callers in @context, two words each: those up to the next OP_ESCAPE. Without
 * an open trace they are passed over. Returns the first word that is none.
 */
const uint64_t *opd_trace_add(struct opd_trace *trace,
			      const struct opd_context *context,
			      const uint64_t *at, const uint64_t *end);

/* Likewise, where it was found otherwise (opd_user_stack.h). */
void opd_trace_add_frame(struct opd_trace *trace,
			 const struct opd_frame *frame);

/* Whether the last frame of the open trace is in the kernel. */
bool opd_trace_is_in_kernel(const struct opd_trace *trace);

/* No more frames come, for this reason. */
void opd_trace_unwound(struct opd_trace *trace, enum op_trace_ending ending);

/*
 * The trace, if one is open, ends: store its stack, or defer that.
 * OP_TRACE_DEPTH where nobody said why.
 */
void opd_trace_end(struct opd_trace *trace, enum op_trace_ending ending);

/* A call without its stack: both are images, by their cookies. */
struct opd_call {
	uint32_t counter; /* which has an event */
	uint64_t caller_cookie;
	uint64_t caller; /* the place of the call */
	uint64_t callee_cookie;
	uint64_t callee; /* the start of the function */
};

/* Store @call of @context. Returns 0, or -EINVAL within a trace. */
int opd_trace_call(struct opd_trace *trace, const struct opd_context *context,
		   const struct opd_call *call);

#endif /* DAEMON_CONTEXT_OPD_TRACE_H */
