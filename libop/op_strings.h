/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OP_STRINGS_H
#define LIBOP_OP_STRINGS_H

/* A set of strings: equal ones are the same pointer. */

#include <stddef.h>

#include "libop/op_arena.h"

struct op_strings {
	struct op_arena *arena; /* where the strings live */
	const char **slots; /* a hash table; NULL is free */
	size_t room; /* slots, a power of two or 0 */
	size_t nr;
};

void op_strings_init(struct op_strings *strings, struct op_arena *arena);
/* The strings stay until their arena is released. */
void op_strings_release(struct op_strings *strings);

/* The string equal to @text; a copy is added if there is none. NULL when
 * memory is short. */
const char *op_strings_add(struct op_strings *strings, const char *text);

#endif /* LIBOP_OP_STRINGS_H */
