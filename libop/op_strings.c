// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/op_strings.h"

#include <stdlib.h>
#include <string.h>

#include "libop/op_array.h"

void op_strings_init(struct op_strings *strings, struct op_arena *arena)
{
	*strings = (struct op_strings){ .arena = arena };
}

void op_strings_release(struct op_strings *strings)
{
	free(strings->list);
	op_hash_release(&strings->index);
	op_strings_init(strings, strings->arena);
}

const char *op_strings_add(struct op_strings *strings, const char *text)
{
	struct op_hash *index = &strings->index;
	const char *copy;
	uint32_t number;
	uint64_t hash;

	if (op_hash_reserve(index, strings->nr + 1) ||
	    op_array_reserve(&strings->list, strings->nr, 1))
		return NULL;
	hash = op_hash_text(index->seed, text);
	op_hash_each(index, hash, number)
		if (!strcmp(strings->list[number - 1], text))
			return strings->list[number - 1];
	copy = op_arena_strdup(strings->arena, text);
	if (!copy)
		return NULL;
	strings->list[strings->nr++] = copy;
	op_hash_add(index, hash, (uint32_t)strings->nr);
	return copy;
}
