// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each deferred sample keeps a copy of its context, as the stream goes on to
 * other contexts. A retry that finds another image without a name (first the
 * image of the sample, then its application) waits for that cookie instead.
 * What stays is moved up in the same pass, so samples keep their order. Stacks
 * are tried after the samples, because a stack is stored only if its sample is.
 *
 * Each image that gets a name is asked for here, and hardly any is waited for.
 * So there is a bit for cookies of the same hash, set when one begins to wait
 * and made anew by each look at all: full queues, as of a cookie that never
 * gets a name, cost the others nothing.
 */

#include "daemon/context/opd_defer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/context/opd_place.h"
#include "daemon/opd_stats.h"
#include "libop/base/op_hash.h"
#include "module/uapi/oprofile.h"

int opd_defer_init(struct opd_defer *defer, const struct opd_places *places,
		   struct opd_stacks *into, struct opd_stats *stats)
{
	memset(defer, 0, sizeof(*defer));
	defer->places = places;
	defer->into = into;
	defer->stats = stats;
	defer->last_stack = &defer->stacks;
	defer->samples = calloc(OPD_MAX_DEFERRED, sizeof(defer->samples[0]));
	return defer->samples ? 0 : -ENOMEM;
}

/* Take the first stack of @*at out. */
static void drop_stack(struct opd_defer *defer, struct opd_deferred_stack **at)
{
	struct opd_deferred_stack *gone = *at;

	*at = gone->next;
	if (defer->last_stack == &gone->next)
		defer->last_stack = at;
	defer->nr_stacks--;
	defer->nr_frames -= gone->stack.nr;
	free(gone);
}

void opd_defer_release(struct opd_defer *defer)
{
	while (defer->stacks)
		drop_stack(defer, &defer->stacks);
	free(defer->samples);
	memset(defer, 0, sizeof(*defer));
}

static bool is_waited_for(const struct opd_defer *defer, uint64_t cookie)
{
	uint64_t bit = op_hash_mix(0, cookie) % OPD_DEFER_BITS;

	return defer->waited_for[bit / 64] >> bit % 64 & 1;
}

static void wait_for(struct opd_defer *defer, uint64_t cookie)
{
	uint64_t bit = op_hash_mix(0, cookie) % OPD_DEFER_BITS;

	defer->waited_for[bit / 64] |= UINT64_C(1) << bit % 64;
}

bool opd_defer_add(struct opd_defer *defer, const struct opd_deferred *sample)
{
	if (defer->nr == OPD_MAX_DEFERRED)
		return false;
	defer->samples[defer->nr++] = *sample;
	defer->nr_taken += 1 + sample->context.more;
	wait_for(defer, sample->waits_for);
	return true;
}

bool opd_defer_add_stack(struct opd_defer *defer, const struct opd_stack *stack,
			 uint64_t waits_for)
{
	size_t len = sizeof(*stack) + stack->nr * sizeof(stack->frames[0]);
	struct opd_deferred_stack *copy;

	if (stack->nr > OPD_MAX_DEFERRED_FRAMES - defer->nr_frames)
		return false;
	copy = malloc(offsetof(struct opd_deferred_stack, stack) + len);
	if (!copy)
		return false;
	copy->next = NULL;
	copy->waits_for = waits_for;
	memcpy(&copy->stack, stack, len);
	*defer->last_stack = copy;
	defer->last_stack = &copy->next;
	defer->nr_stacks++;
	defer->nr_frames += stack->nr;
	wait_for(defer, waits_for);
	return true;
}

/* True when @sample has met its fate. */
static bool retry(struct opd_defer *defer, struct opd_deferred *sample,
		  bool last)
{
	struct opd_place place;
	enum opd_fate fate;

	fate = opd_place_store(defer->places, &sample->context, sample->pc,
			       sample->counter, last, &place,
			       &sample->waits_for);
	if (fate == OPD_DEFERRED)
		return false;
	opd_stats_count(defer->stats, fate, 1 + sample->context.more);
	defer->nr_taken -= 1 + sample->context.more;
	return true;
}

static bool retry_stack(struct opd_defer *defer,
			struct opd_deferred_stack *deferred, bool last)
{
	return opd_stack_store(defer->into, &deferred->stack, last,
			       &deferred->waits_for);
}

/* Behind the samples: a stack is stored if its sample is. */
static void retry_stacks(struct opd_defer *defer, uint64_t cookie, bool last)
{
	struct opd_deferred_stack **at = &defer->stacks;

	while (*at) {
		bool tried =
			cookie == OP_NO_COOKIE || cookie == (*at)->waits_for;

		if (tried && retry_stack(defer, *at, last)) {
			drop_stack(defer, at);
			continue;
		}
		wait_for(defer, (*at)->waits_for);
		at = &(*at)->next;
	}
}

void opd_defer_retry(struct opd_defer *defer, uint64_t cookie, bool last)
{
	size_t kept = 0;

	if (cookie != OP_NO_COOKIE && !is_waited_for(defer, cookie))
		return;
	memset(defer->waited_for, 0, sizeof(defer->waited_for));
	for (size_t i = 0; i < defer->nr; i++) {
		struct opd_deferred *sample = &defer->samples[i];
		bool tried =
			cookie == OP_NO_COOKIE || cookie == sample->waits_for;

		if (tried && retry(defer, sample, last))
			continue;
		wait_for(defer, sample->waits_for);
		defer->samples[kept++] = *sample;
	}
	defer->nr = kept;
	retry_stacks(defer, cookie, last);
}
