// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/context/opd_steps.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/context/opd_context.h"

/* Powers of two. */
#define CONTEXTS 256
#define WAYS 256

int opd_steps_init(struct opd_steps *steps)
{
	steps->serials = 0;
	steps->contexts = calloc(CONTEXTS, sizeof(*steps->contexts));
	steps->ways = calloc(WAYS, sizeof(*steps->ways));
	steps->steps = calloc(OPD_NR_STEPS, sizeof(*steps->steps));
	return steps->contexts && steps->ways && steps->steps ? 0 : -ENOMEM;
}

void opd_steps_release(struct opd_steps *steps)
{
	free(steps->contexts);
	free(steps->ways);
	free(steps->steps);
	steps->contexts = NULL;
	steps->ways = NULL;
	steps->steps = NULL;
}

struct opd_context_way *opd_steps_context(const struct opd_steps *steps,
					  const struct opd_context *context)
{
	uint64_t hash = (context->app_cookie + ((uint64_t)context->tid << 32)) *
			UINT64_C(0x9e3779b97f4a7c15);

	return &steps->contexts[(hash >> 32) % CONTEXTS];
}

/* ---- ways ------------------------------------------------------------------
 */

static struct opd_way *way_entry(const struct opd_steps *steps,
				 const struct opd_way *way)
{
	uint64_t hash = opd_key_mix(opd_sfile_key_hash(&way->key),
				    way->counter * OP_NR_STACKS + way->class);

	return &steps->ways[hash % WAYS];
}

const struct opd_way *opd_steps_way(const struct opd_steps *steps,
				    const struct opd_way *wanted)
{
	const struct opd_way *way = way_entry(steps, wanted);

	if (!way->serial || way->changes != wanted->changes ||
	    way->counter != wanted->counter || way->class != wanted->class ||
	    way->has_app != wanted->has_app ||
	    !opd_sfile_key_same(&way->key, &wanted->key))
		return NULL;
	return way;
}

uint64_t opd_steps_add_way(struct opd_steps *steps, const struct opd_way *way)
{
	struct opd_way *entry = way_entry(steps, way);

	*entry = *way;
	entry->serial = ++steps->serials;
	return entry->serial;
}

/* ---- steps -----------------------------------------------------------------
 */

void opd_steps_add(struct opd_steps *steps, uint64_t way, uint32_t caller,
		   const struct opd_frame *frame, bool innermost,
		   const struct opd_spot *spot)
{
	struct opd_step *step =
		opd_steps_entry(steps, way, caller, frame->pc, innermost);

	step[1] = step[0];
	step[0] = (struct opd_step){
		.way = way,
		.caller = caller,
		.pc = frame->pc,
		.cookie = frame->cookie,
		.kernel = frame->kernel,
		.spot = *spot,
	};
}
