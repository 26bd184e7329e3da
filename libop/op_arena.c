// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory that is given back as a whole, as a list of blocks that are each
 * filled from the start. Objects are never freed alone, so there is no
 * book-keeping for each of them. A request that is larger than a block gets a
 * block of its own behind the current one, so that the room left in the
 * current one stays in use.
 */

#include "libop/op_arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)64 << 10)
#define ALIGNMENT _Alignof(max_align_t)

struct op_arena_block {
	struct op_arena_block *next;
	size_t used; /* bytes of data */
	size_t size; /* bytes in data */
	_Alignas(max_align_t) unsigned char data[];
};

void op_arena_init(struct op_arena *arena)
{
	arena->blocks = NULL;
}

void op_arena_release(struct op_arena *arena)
{
	struct op_arena_block *block = arena->blocks;

	while (block) {
		struct op_arena_block *next = block->next;

		free(block);
		block = next;
	}
	arena->blocks = NULL;
}

static struct op_arena_block *block_new(size_t size)
{
	struct op_arena_block *block;

	block = calloc(1, sizeof(*block) + size);
	if (block)
		block->size = size;
	return block;
}

static void *alloc_own_block(struct op_arena *arena, size_t len)
{
	struct op_arena_block *block = block_new(len);

	if (!block)
		return NULL;
	block->used = len;
	if (arena->blocks) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		arena->blocks = block;
	}
	return block->data;
}

static void *alloc_bytes(struct op_arena *arena, size_t len)
{
	struct op_arena_block *block = arena->blocks;
	void *p;

	if (!block || len > block->size - block->used) {
		if (len > BLOCK_SIZE / 4)
			return alloc_own_block(arena, len);
		block = block_new(BLOCK_SIZE);
		if (!block)
			return NULL;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	p = block->data + block->used;
	block->used += len;
	return p;
}

void *op_arena_alloc(struct op_arena *arena, size_t nr, size_t size)
{
	size_t len;

	if (__builtin_mul_overflow(nr, size, &len) ||
	    len > SIZE_MAX / 2 - BLOCK_SIZE)
		return NULL;
	/* Nothing wanted still gets an address of its own. */
	len = (len ? len : 1) + ALIGNMENT - 1;
	return alloc_bytes(arena, len / ALIGNMENT * ALIGNMENT);
}

void *op_arena_grow(struct op_arena *arena, void *array, size_t nr, size_t size)
{
	void *more;

	/* The room is always the power of two at or above @nr. */
	if (nr & (nr - 1))
		return array;
	if (nr > SIZE_MAX / 2)
		return NULL;
	more = op_arena_alloc(arena, nr ? 2 * nr : 1, size);
	if (more && nr)
		memcpy(more, array, nr * size);
	return more;
}

char *op_arena_strdup(struct op_arena *arena, const char *text)
{
	size_t len = strlen(text) + 1;
	char *copy = op_arena_alloc(arena, len, 1);

	return copy ? memcpy(copy, text, len) : NULL;
}

char *op_arena_printf(struct op_arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		return NULL;
	text = op_arena_alloc(arena, (size_t)len + 1, 1);
	if (!text)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return text;
}
