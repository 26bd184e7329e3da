/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_DEFER_H
#define DAEMON_CONTEXT_OPD_DEFER_H

/*
 * Samples whose image has no name yet. The kernel names an image a moment
 * after its first sample; until then they wait here, with their context. The
 * queue is bounded: what does not fit is lost_no_image_name.
 *
 * The stacks of such samples, and those with callers in such images, wait in a
 * queue of their own; what does not fit there is not stored.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/context/opd_context.h"
#include "daemon/context/opd_stack.h"

struct opd_places;
struct opd_stats;

#define OPD_MAX_DEFERRED 8192
#define OPD_DEFER_BITS 65536
#define OPD_MAX_DEFERRED_FRAMES 131072 /* of all stacks, 6 MiB */

struct opd_deferred {
	struct opd_context context;
	uint64_t pc;
	uint64_t waits_for; /* a cookie */
	uint32_t counter;
};

struct opd_deferred_stack {
	struct opd_deferred_stack *next;
	uint64_t waits_for;
	struct opd_stack stack; /* must be the last */
};

struct opd_defer {
	const struct opd_places *places; /* borrowed, like the next two */
	struct opd_stacks *into; /* where stacks go in the end */
	struct opd_stats *stats;
	struct opd_deferred *samples;
	size_t nr;
	uint64_t nr_taken; /* the same, each as often as it was taken */
	/* Where the bit of a cookie is clear nobody waits for it. */
	uint64_t waited_for[OPD_DEFER_BITS / 64];
	struct opd_deferred_stack *stacks; /* first come, first here */
	struct opd_deferred_stack **last_stack; /* the NULL at their end */
	size_t nr_stacks;
	size_t nr_frames;
};

/* Nothing waits; @into takes the stacks. Returns 0 or -ENOMEM. */
int opd_defer_init(struct opd_defer *defer, const struct opd_places *places,
		   struct opd_stacks *into, struct opd_stats *stats);
void opd_defer_release(struct opd_defer *defer);

/* Keep a sample. False when the queue is full. */
bool opd_defer_add(struct opd_defer *defer, const struct opd_deferred *sample);

/* Keep a copy of @stack. False when there is no room for it. */
bool opd_defer_add_stack(struct opd_defer *defer, const struct opd_stack *stack,
			 uint64_t waits_for);

/*
 * Try again those that wait for @cookie, or all if it is OP_NO_COOKIE. With
 * @last none stays.
 */
void opd_defer_retry(struct opd_defer *defer, uint64_t cookie, bool last);

#endif /* DAEMON_CONTEXT_OPD_DEFER_H */
