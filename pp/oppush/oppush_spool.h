/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPPUSH_OPPUSH_SPOOL_H
#define PP_OPPUSH_OPPUSH_SPOOL_H

/*
 * The folder of profiles that are on their way to a server, and what is known
 * of those that went. It holds
 *
 *	lock			only one program uses the folder
 *	state			numbers, as "key = value" lines
 *	sum-N.pb.gz		what profiles up to number N add up to
 *	profile-N-BEGIN-END-SAMPLES.pb.gz	the profiles, times in ns
 *	pending-N...		a profile that is counted in no state yet
 *
 * A profile comes with a new sum. Both are whole on the disk before the state
 * names them, in one step; a profile whose state did not come to be is removed
 * by the next one who opens the spool, and its samples are in a later profile.
 * So each sample is in one profile, whenever the program ends.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

struct push_spooled {
	uint64_t number;
	int64_t begin, end; /* of its span, ns since 1970 */
	uint64_t samples;
	uint64_t bytes;
	char name[128]; /* in the folder */
};

struct push_state {
	uint64_t number; /* of the last profile and of the sum; 0: none yet */
	char session[96]; /* what the sum is of */
	uint64_t taken; /* samples that it had taken, by its account */
	int64_t end; /* of the last span, ns since 1970 */
	/* Profiles and samples that servers refused, since the spool was made.
	 */
	uint64_t dropped_profiles, dropped_samples;
	uint64_t told_samples; /* of these, told in a profile */
	uint64_t failures; /* to send the oldest one, in a row */
	uint64_t refusals; /* of the oldest one, in a row */
	int64_t retry_at; /* not to be sent before that, ms since 1970 */
};

struct push_spool {
	const char *dir; /* the caller's */
	int fd; /* of the lock; -1: not open */
	uint64_t max; /* bytes of profiles */
	struct push_state state;
	struct push_spooled *list; /* the oldest first, an op_array */
	size_t nr;
	uint64_t bytes; /* of them */
};

/*
 * Open the spool @dir, which is made if it is missing, and lock it. Returns 0,
 * or -errno with the reason in @diag, -EBUSY where another program uses it. To
 * be closed either way.
 */
int push_spool_open(struct push_spool *spool, const char *dir, uint64_t max,
		    struct op_diag *diag);
void push_spool_close(struct push_spool *spool);

/* Put the path of what is called @name there into @buf of PATH_MAX bytes; that
 * of the sum. */
void push_spool_path(const struct push_spool *spool, const char *name,
		     char *buf);
void push_spool_sum_path(const struct push_spool *spool, char *buf);

struct push_bytes {
	const uint8_t *bytes;
	size_t len;
};

/*
 * Add @profile, of @state.end as told and state.number plus 1, with the @sum
 * that it leads to; @state has what is new of session, taken and end. Returns
 * 0; -ENOSPC where the spool has no room for it, without a reason; or -errno
 * with the reason in @diag. The spool is as it was then.
 */
int push_spool_add(struct push_spool *spool, const struct push_state *state,
		   int64_t begin, uint64_t samples,
		   const struct push_bytes *profile,
		   const struct push_bytes *sum, struct op_diag *diag);

/* Take the oldest profile off: a server has it, or with @is_dropped none wants
 * it, which is counted. Return 0 or -errno with the reason in @diag. */
int push_spool_remove(struct push_spool *spool, bool is_dropped,
		      struct op_diag *diag);

/* Write the state, of which some number has changed. */
int push_spool_save(struct push_spool *spool, struct op_diag *diag);

#endif /* PP_OPPUSH_OPPUSH_SPOOL_H */
