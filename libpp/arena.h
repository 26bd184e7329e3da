/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_ARENA_H
#define LIBPP_ARENA_H

/*
 * Memory that dies together. What is taken from an arena is zeroed, aligned
 * for any type, and lives until the arena is released; single pieces are
 * never given back. One thread at a time.
 */

#include <stddef.h>

struct pp_arena_block;

struct pp_arena {
	struct pp_arena_block *blocks; /* the newest first */
};

void pp_arena_init(struct pp_arena *arena);
void pp_arena_release(struct pp_arena *arena);

/* Room for @nr things of @size bytes; NULL when memory is short or their
 * product overflows. */
void *pp_arena_alloc(struct pp_arena *arena, size_t nr, size_t size);

/*
 * @array holds @nr things of @size bytes and has grown through this function
 * only, one thing at a time: returns it with room for one more, possibly at
 * another place. NULL when memory is short; then @array is as it was.
 */
void *pp_arena_grow(struct pp_arena *arena, void *array, size_t nr,
		    size_t size);

/* A copy of @text, or of a formatted text; NULL when memory is short. */
char *pp_arena_strdup(struct pp_arena *arena, const char *text);
char *pp_arena_printf(struct pp_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* LIBPP_ARENA_H */
