// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/base/op_array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The room that @nr elements have, or 0 for more than there can be. */
static size_t array_room(size_t nr)
{
	size_t room = OP_ARRAY_MIN;

	if (!nr)
		return 0;
	while (room && room < nr)
		room *= 2;
	return room;
}

/*
 * @array is the address of a pointer of any type, so the pointer is copied:
 * reading it as a void * would break the rules of aliasing.
 */
static int set_room(void *array, size_t room, size_t size)
{
	void *old, *moved;
	size_t len;

	if (__builtin_mul_overflow(room, size, &len) || len > PTRDIFF_MAX)
		return -ENOMEM;
	memcpy(&old, array, sizeof(old));
	moved = realloc(old, len);
	if (!moved)
		return -ENOMEM;
	memcpy(array, &moved, sizeof(moved));
	/* cppcheck-suppress memleak ; the array has it */
	return 0;
}

int op_array_grow(void *array, size_t nr, size_t more, size_t size)
{
	size_t room;

	if (__builtin_add_overflow(nr, more, &more))
		return -ENOMEM;
	room = array_room(more);
	if (room == array_room(nr) && room)
		return 0;
	if (!room)
		return more ? -ENOMEM : 0;
	return set_room(array, room, size);
}

void op_array_trim_sized(void *array, size_t nr, size_t size)
{
	/* Memory that cannot be given back is only kept for longer. */
	if (nr)
		set_room(array, nr, size);
}
