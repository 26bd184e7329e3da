/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPPUSH_OPPUSH_SUMS_H
#define PP_OPPUSH_OPPUSH_SUMS_H

/*
 * Two files of pprof about one session, an earlier and a later one, stack by
 * stack: what the later one has more, and the sum of both. Stacks are the same
 * if their functions, images and labels are, whatever their numbers in a file.
 *
 * A stack may have less in the later file: where a report shares samples out,
 * or a name became known since. What is missing there is taken off from other
 * stacks, of the same labels where these have enough, so that no value is
 * negative and the values of each type add up to the difference of the totals.
 * Where the total itself is less, the difference is 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_diag.h"
#include "libop/base/op_strings.h"
#include "libpp/format/profile.pb-c.h"

#define PUSH_MAX_TYPES 64

struct push_type {
	const char *type, *unit;
};

struct push_sums {
	struct op_arena arena;
	/* Each thing by a text that is another for another thing. */
	struct op_strings functions, mappings, locations, label_sets, stacks;
	struct push_function *function;
	struct push_mapping *mapping;
	struct push_location *location;
	struct push_label_set *label_set;
	struct push_stack *stack;
	struct push_type types[PUSH_MAX_TYPES];
	size_t nr_types;
	struct push_type period_type; /* of the later file; NULLs: none */
	int64_t period;
	int64_t *old, *now; /* nr_types for each stack, op_arrays; then: */
	int64_t *more; /* what @now has more than @old */
};

/* Facts about a profile that are written beside its samples. */
struct push_profile_info {
	int64_t begin, end; /* of the span, ns since 1970 */
	const char *const *comments;
	size_t nr_comments;
	bool as_servers; /* a type of time is called "cpu" */
};

/*
 * Read the file of pprof @path, which is packed. Returns 0, -ENOENT without a
 * reason where it is missing, or -errno with the reason in @diag. To be freed
 * by pprof__profile__free_unpacked().
 */
int push_read_profile(const char *path, Pprof__Profile **profile,
		      struct op_diag *diag);

/*
 * Compare @now with @old, which may be NULL and stays the caller's like @now.
 * Returns 0, -EBADMSG for a file that is not sound or has too many types, or
 * -ENOMEM. To be released either way.
 */
int push_sums_init(struct push_sums *sums, const Pprof__Profile *old,
		   const Pprof__Profile *now);
void push_sums_release(struct push_sums *sums);

/* How many samples there are more: the sum of the first of the types that are
 * called samples, of each event. */
uint64_t push_sums_more(const struct push_sums *sums);

/*
 * Write a file of pprof, compressed by gzip: what there is more, or with
 * @is_sum what @old and that add up to. It is the caller's to free. Returns 0,
 * -ENOMEM or -EFBIG.
 */
int push_sums_write(const struct push_sums *sums, bool is_sum,
		    const struct push_profile_info *info, uint8_t **bytes,
		    size_t *len);

#endif /* PP_OPPUSH_OPPUSH_SUMS_H */
