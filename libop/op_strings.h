/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OP_STRINGS_H
#define LIBOP_OP_STRINGS_H

/* A set of strings: equal ones are the same pointer. */

#include <stddef.h>

#include "libop/op_arena.h"
#include "libop/op_hash.h"

struct op_strings {
	struct op_arena *arena; /* where the strings live */
	const char **list; /* in the order in which they were added */
	size_t nr;
	struct op_hash index; /* of places in the list, from 1 */
};

void op_strings_init(struct op_strings *strings, struct op_arena *arena);
/* The strings stay until their arena is released. */
void op_strings_release(struct op_strings *strings);

/* The string equal to @text; a copy is added if there is none. NULL when
 * memory is short. */
const char *op_strings_add(struct op_strings *strings, const char *text);

#endif /* LIBOP_OP_STRINGS_H */
