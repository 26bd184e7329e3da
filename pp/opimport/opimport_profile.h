/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_PROFILE_H
#define PP_OPIMPORT_OPIMPORT_PROFILE_H

/*
 * A profile that another program has summed up, of stacks whose frames have
 * names, becomes a session: readers of its formats tell it here piece by piece.
 * It is turned into a stream, which the daemon reads, and into images that have
 * the profile's own functions and lines (libop/session/op_code_image.h): the
 * binaries need not be here, and say nothing about them.
 *
 * What goes wrong on the way is kept until the end: numbers that are returned
 * then are good for nothing but being given back.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/session/op_code_image.h"
#include "libop/base/op_diag.h"
#include "module/uapi/oprofile.h"
#include "pp/opimport/opimport_daemon.h"

/* Hint for a file of an unknown format. */
#define OPIMPORT_CURE                                                          \
	"give a file of perf record, pprof, callgrind or folded stacks, or an old sample file with its --abi"

struct opimport_profile;

/* Where a frame is. */
struct opimport_frame {
	uint32_t part; /* of its image, as there may be many functions */
	uint64_t key; /* in that */
	enum op_trace_ending gap; /* not OP_TRACE_WHOLE: it is no function, but
				   * says what is wrong with its stack */
};

struct opimport_stack {
	uint32_t app; /* an image */
	uint32_t tgid; /* process; 0: not known, like the next */
	uint32_t tid;
	unsigned int event;
	uint64_t times; /* that it was sampled */
	const struct opimport_frame *frames; /* innermost first */
	size_t nr;
};

/* A profile of @format, "pprof", that is to become a session, in a folder that
 * has no samples yet. Returns 0 or -errno with the reason in @diag. */
int opimport_profile_new(struct opimport_profile **profile,
			 const struct opimport_into *into, const char *format,
			 struct op_diag *diag);
void opimport_profile_free(struct opimport_profile *profile);

/* An error that was kept, or 0; -EOVERFLOW where there are 2^64 samples or
 * more. */
int opimport_profile_error(const struct opimport_profile *profile);

/* Add an event that was sampled every @count times. Returns its number, from 0.
 */
unsigned int opimport_profile_event(struct opimport_profile *profile,
				    const char *name, uint64_t count);

/* The image that is called @name, a path or any text; its number. */
uint32_t opimport_profile_image(struct opimport_profile *profile,
				const char *name);

/* Where @function of @image begins, which has no bytes; the key of an offset in
 * it is so much more. "[truncated]" and so on, as we write it ourselves, are
 * gaps in stacks. */
struct opimport_frame
opimport_profile_function(struct opimport_profile *profile, uint32_t image,
			  const struct op_code_function *function);

/* Thread @tid of process @tgid, neither is 0, is called @name. */
void opimport_profile_thread(struct opimport_profile *profile, uint32_t tgid,
			     uint32_t tid, const char *name);

/* Events, and names of threads, come before the stacks that they are about. A
 * stack without frames is a loss in the account. */
void opimport_profile_stack(struct opimport_profile *profile,
			    const struct opimport_stack *stack);

/* A sample of which only the place is known, its one frame. */
void opimport_profile_sample(struct opimport_profile *profile,
			     const struct opimport_stack *sample);

/*
 * A call, from the second of two frames to the start of a function, the first:
 * it is all that is known of stacks of as many samples, which are told besides
 * by opimport_profile_sample(). Calls from and to gaps are left out.
 */
void opimport_profile_call(struct opimport_profile *profile,
			   const struct opimport_stack *call);

/* @nr more samples cannot be stored, by @cause, a name as the account has it.
 */
void opimport_profile_lose(struct opimport_profile *profile, uint64_t nr,
			   const char *cause);

/* Whether there are samples, and of none it is known where it was. */
bool opimport_profile_is_nowhere(const struct opimport_profile *profile);

/* Make the session. What became of the samples goes to stderr. Returns 0 or
 * -errno with the reason in @diag. */
int opimport_profile_end(struct opimport_profile *profile,
			 struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_PROFILE_H */
