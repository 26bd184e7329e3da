/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_NEAR_NAMES_H
#define LIBOP_BASE_OP_NEAR_NAMES_H

/*
 * For errors about a name that matches nothing: which of the names that are
 * there may have been meant.
 */

#include <stdbool.h>
#include <stddef.h>

#include "libop/base/op_arena.h"

/* Longer names are compared by their beginning. */
#define OP_EDIT_MAX 128 /* bytes */

/*
 * The Levenshtein distance: how many bytes must be inserted, removed or changed
 * to make @a of the first OP_EDIT_MAX bytes of @b. @any_case: an upper case
 * letter equals its lower case letter.
 */
unsigned int op_edit_distance(const char *a, const char *b, bool any_case);

/*
 * At most @max of the @nr @names as a text "a, b, c and 2 more", the most
 * similar to @wanted first. Names are compared by their last component,
 * wildcards in @wanted are not looked at, repeated names count once. @names
 * is sorted in place. NULL when memory is short; "none" when @nr is 0.
 */
const char *op_near_names(struct op_arena *arena, const char *wanted,
			  const char **names, size_t nr, size_t max);

#endif /* LIBOP_BASE_OP_NEAR_NAMES_H */
