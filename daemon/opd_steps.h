/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_STEPS_H
#define DAEMON_OPD_STEPS_H

/*
 * The frames of recent stacks, each with its caller, and where they were
 * counted: most stacks of a program call their way through frames that came
 * before. A way is the application and whatever else decides about the call
 * tree and the files of arcs; a step leads from it, or from another step, to
 * a frame.
 *
 *	way --step--> main --step--> parse --step--> read_token
 *	                    \--step--> write
 *
 * Both are in tables with one entry for each hash. A step tells its caller by
 * that one's serial number, which is never used again: who replaces an entry
 * makes the steps behind it unreachable. A way holds until
 * opd_places_changes() says another number, and so do all steps behind it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/store/opd_tree.h"
#include "libop/op_ledger.h"

struct opd_context;

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

/* A power of two. They are some 1 MiB, of which only used pages take memory. */
#define OPD_NR_STEPS 8192

/* The way of stacks of a context, found without looking for its application. */
struct opd_context_way {
	uint64_t changes; /* opd_places_changes() then; 0: free */
	uint64_t app_cookie; /* of the context, like all up to cgroup */
	const struct opd_image *run_as;
	int64_t tid;
	int64_t tgid;
	int64_t cpu;
	const char *cgroup;
	bool has_app;
	uint32_t counter;
	enum op_ledger_stacks class;
	struct opd_image *app; /* NULL: none, and the sample is in the kernel */
	uint64_t serial; /* of the way, not 0 */
	struct opd_tree *tree;
};

struct opd_step {
	uint64_t serial; /* 0: free */
	uint64_t caller; /* the serial of a step or of the way */
	uint64_t pc; /* of the frame, like the two below */
	uint64_t cookie;
	bool kernel;
	uint64_t arc; /* its key in spot.arcs */
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

/* Sampled places are many and seldom the same, so they have a half of the table
 * for themselves. */
static inline struct opd_step *opd_steps_entry(const struct opd_steps *steps,
					       uint64_t caller, uint64_t pc,
					       bool innermost)
{
	uint64_t hash = (pc * UINT64_C(0xd1b54a32d192ed03) + caller) *
			UINT64_C(0x9e3779b97f4a7c15);

	return &steps->steps[(hash >> 32) % (OPD_NR_STEPS / 2) * 2 + innermost];
}

/* The step from @caller to @frame of process @tgid; NULL if none is known. */
static inline const struct opd_step *
opd_steps_find(const struct opd_steps *steps, uint64_t caller,
	       const struct opd_frame *frame, bool innermost, int64_t tgid)
{
	const struct opd_step *step =
		opd_steps_entry(steps, caller, frame->pc, innermost);
	const struct opd_spot *spot = &step->spot;

	if (step->caller != caller || step->pc != frame->pc ||
	    step->cookie != frame->cookie || step->kernel != frame->kernel)
		return NULL;
	/* A frame without a cookie is in the kernel or in memory of a process.
	 */
	if (spot->anon &&
	    (spot->anon != frame->anon || spot->start != frame->start ||
	     spot->end != frame->end || spot->anon_tgid != tgid))
		return NULL;
	return step;
}

/* Keep the step to @frame, which is at @spot, with the key of its arc; returns
 * its serial. */
uint64_t opd_steps_add(struct opd_steps *steps, uint64_t caller,
		       const struct opd_frame *frame, bool innermost,
		       const struct opd_spot *spot, uint64_t arc);

#endif /* DAEMON_OPD_STEPS_H */
