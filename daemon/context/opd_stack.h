/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_STACK_H
#define DAEMON_CONTEXT_OPD_STACK_H

/*
 * The stack of a sample, and where it goes: to the call tree of its
 * application. The sample itself is counted elsewhere, as if it had no stack; a
 * stack is stored if its sample is.
 *
 * Frames are innermost first. A caller's pc is the return address, so what is
 * stored of it is the place before it, in the call.
 *
 * The sampled frame is a function: kept by its start, as the image's unwind
 * data has it, or there would be as many of them as places that the samples
 * met. Callers are at their calls, of which programs have few and which tell
 * the line and what was inlined there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/context/opd_context.h"
#include "daemon/context/opd_steps.h"
#include "daemon/store/opd_tree.h"
#include "libop/session/op_ledger.h"
#include "module/uapi/oprofile.h"

struct opd_image;
struct opd_places;
struct opd_stats;
struct unwinder;

/* More is truncated. */
#define OPD_STACK_MAX 1024

struct opd_stack {
	struct opd_context context; /* of its sample */
	uint32_t counter; /* which has an event */
	enum op_trace_ending ending;
	unsigned int nr; /* frames, at least 1 */
	struct opd_frame frames[];
};

static inline uint64_t opd_stack_times(const struct opd_stack *stack)
{
	return 1 + stack->context.more;
}

/* The stack that is being stored, and what is remembered from one to the
 * next. */
struct opd_stacks {
	const struct opd_places *places; /* borrowed, like the next two */
	struct unwinder *unwinder; /* knows functions */
	struct opd_stats *stats;
	struct opd_steps steps; /* of stacks before */
	/* To the frames of this stack; NULL: it was looked up. */
	const struct opd_step *known[OPD_STACK_MAX];
	struct opd_spot spots[OPD_STACK_MAX]; /* of those, and their callers */
	struct opd_image *app; /* NULL: not known, a kernel thread */
	/* what is put before a stack that is not whole, by enum
	 * op_ledger_stacks; no image for one that is */
	struct opd_spot roots[OP_STACKS_BROKEN + 1];
	/* The last image that was found, while opd_places_changes() says this.
	 */
	uint64_t changes;
	uint64_t cookie;
	struct opd_image *image;
	struct opd_image *unknown; /* stands for an image without name */
};

/* Once there are images and unwinders. Returns 0 or -ENOMEM. */
int opd_stacks_init(struct opd_stacks *stacks, const struct opd_places *places,
		    struct unwinder *unwinder, struct opd_stats *stats);
void opd_stacks_release(struct opd_stacks *stacks);

/*
 * Store @stack and count what becomes of it. False if some image has no name
 * yet, whose cookie is *@waits_for then; nothing was done. Not with @last: no
 * name will come any more.
 */
bool opd_stack_store(struct opd_stacks *stacks, const struct opd_stack *stack,
		     bool last, uint64_t *waits_for);

/* Store the call that leads from the second frame of @stack to its first, and
 * nothing of the stack, which has no more; count what becomes of it. */
void opd_stack_store_call(struct opd_stacks *stacks,
			  const struct opd_stack *stack);

#endif /* DAEMON_CONTEXT_OPD_STACK_H */
