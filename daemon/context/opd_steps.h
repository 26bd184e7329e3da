/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_STEPS_H
#define DAEMON_CONTEXT_OPD_STEPS_H

/*
 * The frames of recent stacks, each with its caller, and where they were
 * counted: most stacks of a program call their way through frames that came
 * before. A way is the application and whatever else decides about the call
 * tree; a step leads from it, or from a node of its tree, to a frame.
 *
 *	way --step--> main --step--> parse --step--> read_token
 *	                    \--step--> write
 *
 * Both are in tables with few entries for each hash, where new ones replace
 * old ones. A way has a serial number, which is never used again. It holds
 * until opd_places_changes() says another number, and so do its steps: nodes
 * have their numbers as long as the tree is open.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/context/opd_context.h"
#include "daemon/store/opd_tree.h"
#include "libop/session/op_ledger.h"

/* A frame as the stream told it. */
struct opd_frame {
	uint64_t pc; /* as the sample's of that context */
	bool kernel;
	/* user only: an image, or OP_NO_COOKIE and anonymous memory, or
	 * OP_NO_COOKIE and NULL: nobody said */
	uint64_t cookie;
	const char *anon; /* kept by opd_anon */
	uint64_t start;
	uint64_t end;
};

struct opd_way {
	struct opd_sfile_key key; /* of the tree */
	uint32_t counter;
	enum op_ledger_stacks class;
	bool has_app; /* of the stack; without it, each image is its own */
	uint64_t changes; /* opd_places_changes() then */
	uint64_t serial; /* 0: new, no step begins here */
	struct opd_tree *tree;
};

/* A power of two. They are some 2 MiB, of which only used pages take memory. */
#define OPD_NR_STEPS 16384

/* The way of stacks of a context, found without looking for its application. */
struct opd_context_way {
	uint64_t changes; /* opd_places_changes() then; 0: free */
	struct opd_whose whose;
	uint32_t counter;
	enum op_ledger_stacks class;
	struct opd_image *app; /* NULL: none, and the sample is in the kernel */
	uint64_t serial; /* of the way, not 0 */
	struct opd_tree *tree;
};

struct opd_step {
	uint64_t way; /* its serial; 0: free */
	bool kernel; /* so is the frame */
	uint32_t caller; /* node of the tree, CTREE_ROOT: none */
	uint64_t pc; /* of the frame, like the two below */
	uint64_t cookie;
	struct opd_spot spot;
};

struct opd_steps {
	struct opd_context_way *contexts;
	struct opd_way *ways;
	struct opd_step *steps;
	uint64_t serials; /* the last one given */
};

/* Returns 0 or -ENOMEM. */
int opd_steps_init(struct opd_steps *steps);
void opd_steps_release(struct opd_steps *steps);

/* The entry for ways of @context: compare and fill it. */
struct opd_context_way *opd_steps_context(const struct opd_steps *steps,
					  const struct opd_context *context);

/* The way that is @wanted in all before the serial; NULL if none is known. */
const struct opd_way *opd_steps_way(const struct opd_steps *steps,
				    const struct opd_way *wanted);

/* Keep @way, which was not known; returns its serial. */
uint64_t opd_steps_add_way(struct opd_steps *steps, const struct opd_way *way);

/* The first of the two entries for a step. Sampled places are many and seldom
 * the same, so they have a half of the table for themselves. */
static inline struct opd_step *opd_steps_entry(const struct opd_steps *steps,
					       uint64_t way, uint32_t caller,
					       uint64_t pc, bool innermost)
{
	uint64_t hash =
		((way << 32 | caller) ^ pc * UINT64_C(0xd1b54a32d192ed03)) *
		UINT64_C(0x9e3779b97f4a7c15);

	return &steps->steps[(hash >> 32) % (OPD_NR_STEPS / 4) * 4 +
			     innermost * 2];
}

/* A frame without a cookie is in the kernel or in memory of a process. */
static inline bool opd_step_is_to(const struct opd_step *step,
				  const struct opd_frame *frame, int64_t tgid)
{
	const struct opd_spot *spot = &step->spot;

	if (step->cookie != frame->cookie || step->kernel != frame->kernel)
		return false;
	return !spot->anon ||
	       (spot->anon == frame->anon && spot->start == frame->start &&
		spot->end == frame->end && spot->anon_tgid == tgid);
}

/* The step from node @caller to @frame of process @tgid; NULL if none is known.
 */
static inline const struct opd_step *
opd_steps_find(const struct opd_steps *steps, uint64_t way, uint32_t caller,
	       const struct opd_frame *frame, bool innermost, int64_t tgid)
{
	const struct opd_step *step =
		opd_steps_entry(steps, way, caller, frame->pc, innermost);

	for (unsigned int i = 0; i < 2; i++, step++)
		if (step->way == way && step->caller == caller &&
		    step->pc == frame->pc && opd_step_is_to(step, frame, tgid))
			return step;
	return NULL;
}

/* Keep the step from node @caller to @frame, which is at @spot. Steps that were
 * found before may have moved then. */
void opd_steps_add(struct opd_steps *steps, uint64_t way, uint32_t caller,
		   const struct opd_frame *frame, bool innermost,
		   const struct opd_spot *spot);

#endif /* DAEMON_CONTEXT_OPD_STEPS_H */
