/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_ARENA_H
#define LIBOP_BASE_OP_ARENA_H

/*
 * Memory that dies together. What is taken from an arena is zeroed, aligned
 * for any type, and lives until the arena is released; single pieces are
 * never given back, but for an array that grows. One thread at a time.
 */

#include <stddef.h>

struct op_arena_block;

struct op_arena {
	struct op_arena_block *blocks; /* the newest first */
};

void op_arena_init(struct op_arena *arena);
void op_arena_release(struct op_arena *arena);

/* Room for @nr things of @size bytes; NULL when memory is short or their
 * product overflows. */
void *op_arena_alloc(struct op_arena *arena, size_t nr, size_t size);

/*
 * @array holds @nr things of @size bytes and has grown through this function
 * only, one thing at a time: returns it with room for one more, possibly at
 * another place; then nothing may refer to the old one any more. NULL when
 * memory is short; then @array is as it was.
 */
void *op_arena_grow(struct op_arena *arena, void *array, size_t nr,
		    size_t size);

/* A copy of @text, or of a formatted text; NULL when memory is short. */
char *op_arena_strdup(struct op_arena *arena, const char *text);
char *op_arena_printf(struct op_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* LIBOP_BASE_OP_ARENA_H */
