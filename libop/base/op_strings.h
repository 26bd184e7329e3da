/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_STRINGS_H
#define LIBOP_BASE_OP_STRINGS_H

/* A set of strings: equal ones are the same pointer. */

#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_hash.h"

struct op_strings {
	struct op_arena *arena; /* where the strings live */
	const char **list; /* in the order in which they were added */
	size_t nr;
	struct op_hash index; /* of places in the list, from 1 */
};

void op_strings_init(struct op_strings *strings, struct op_arena *arena);
/* The strings stay until their arena is released. */
void op_strings_release(struct op_strings *strings);

/* Set *@number to that of @text in the list, from 0; a copy is added if there
 * is none. Returns 0, -ENOMEM or -EFBIG. */
int op_strings_number(struct op_strings *strings, const char *text,
		      uint32_t *number);

/* The string equal to @text, likewise; NULL when memory is short. */
const char *op_strings_add(struct op_strings *strings, const char *text);

#endif /* LIBOP_BASE_OP_STRINGS_H */
