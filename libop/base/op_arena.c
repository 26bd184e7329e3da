// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory that is given back as a whole, as a list of blocks that are each
 * filled from the start. Objects are never freed alone, so there is no
 * book-keeping for each of them. A request that is larger than a block gets a
 * block of its own behind the current one, so that the room left in the
 * current one stays in use. So does an array that grows large: its block is
 * made longer, or what it had been would stay and take as much again.
 */

#include "libop/base/op_arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)64 << 10)
#define ALIGNMENT _Alignof(max_align_t)

struct op_arena_block {
	struct op_arena_block *next;
	struct op_arena_block *prev; /* NULL: the newest */
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

/* Put @block behind @prev, or first. */
static void link_block(struct op_arena *arena, struct op_arena_block *prev,
		       struct op_arena_block *block)
{
	struct op_arena_block **at = prev ? &prev->next : &arena->blocks;

	block->prev = prev;
	block->next = *at;
	if (block->next)
		block->next->prev = block;
	*at = block;
}

/* Behind the newest, which goes on being filled. */
static void *alloc_own_block(struct op_arena *arena, size_t len)
{
	struct op_arena_block *block = block_new(len);

	if (!block)
		return NULL;
	block->used = len;
	link_block(arena, arena->blocks, block);
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
		link_block(arena, NULL, block);
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

/* Arrays of more bytes have a block of their own. */
#define GROWS_IN_BLOCK (BLOCK_SIZE / 4)

static struct op_arena_block *block_of(void *array)
{
	return (void *)((unsigned char *)array -
			offsetof(struct op_arena_block, data));
}

/* @array has an own block, which gets @len bytes. */
static void *grow_own_block(struct op_arena *arena, void *array, size_t len)
{
	struct op_arena_block *block = block_of(array);
	struct op_arena_block *prev = block->prev, *next = block->next;
	struct op_arena_block *grown = realloc(block, sizeof(*block) + len);

	if (!grown)
		return NULL;
	grown->size = grown->used = len;
	*(prev ? &prev->next : &arena->blocks) = grown;
	if (next)
		next->prev = grown;
	return grown->data;
}

/* Room for twice the @len bytes of @array. */
static void *double_array(struct op_arena *arena, void *array, size_t len)
{
	void *more;

	if (len > GROWS_IN_BLOCK)
		return grow_own_block(arena, array, 2 * len);
	more = 2 * len > GROWS_IN_BLOCK ? alloc_own_block(arena, 2 * len)
					: op_arena_alloc(arena, 2 * len, 1);
	return more ? memcpy(more, array, len) : NULL;
}

void *op_arena_grow(struct op_arena *arena, void *array, size_t nr, size_t size)
{
	void *more = array;
	size_t len;

	if (__builtin_mul_overflow(nr, size, &len) ||
	    len > SIZE_MAX / 4 - BLOCK_SIZE)
		return NULL;
	/* The room is always the power of two at or above @nr. */
	if (!nr)
		more = size > GROWS_IN_BLOCK ? alloc_own_block(arena, size)
					     : op_arena_alloc(arena, 1, size);
	else if (!(nr & (nr - 1)))
		more = double_array(arena, array, len);
	/* realloc(3) does not zero the bytes that it adds. Only those in use
	 * are zeroed here, as the others then take no memory. */
	if (more)
		memset((unsigned char *)more + len, 0, size);
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
