/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_STRINGS_H
#define LIBPP_STRINGS_H

/* A set of strings: equal ones are the same pointer. */

#include <stddef.h>

#include "libpp/arena.h"

struct pp_strings {
	struct pp_arena *arena; /* where the strings live */
	const char **slots; /* a hash table; NULL is free */
	size_t room; /* slots, a power of two or 0 */
	size_t nr;
};

void pp_strings_init(struct pp_strings *strings, struct pp_arena *arena);
/* The strings stay until their arena is released. */
void pp_strings_release(struct pp_strings *strings);

/* The string equal to @text; a copy is added if there is none. NULL when
 * memory is short. */
const char *pp_strings_add(struct pp_strings *strings, const char *text);

#endif /* LIBPP_STRINGS_H */
