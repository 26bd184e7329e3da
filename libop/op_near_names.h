/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OP_NEAR_NAMES_H
#define LIBOP_OP_NEAR_NAMES_H

/*
 * For errors about a name that matches nothing: which of the names that are
 * there may have been meant.
 */

#include <stddef.h>

#include "libop/op_arena.h"

/*
 * At most @max of the @nr @names as a text "a, b, c and 2 more", the most
 * similar to @wanted first. Names are compared by their last component,
 * wildcards in @wanted are not looked at, repeated names count once. @names
 * is sorted in place. NULL when memory is short; "none" when @nr is 0.
 */
const char *op_near_names(struct op_arena *arena, const char *wanted,
			  const char **names, size_t nr, size_t max);

#endif /* LIBOP_OP_NEAR_NAMES_H */
