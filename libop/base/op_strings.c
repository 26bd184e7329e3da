// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/base/op_strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"

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

int op_strings_number(struct op_strings *strings, const char *text,
		      uint32_t *number)
{
	struct op_hash *index = &strings->index;
	int err = op_hash_reserve(index, strings->nr + 1)
			  ?: op_array_reserve(&strings->list, strings->nr, 1);
	uint32_t found;
	const char *copy;
	uint64_t hash;

	if (err)
		return err;
	hash = op_hash_text(index->seed, text);
	op_hash_each(index, hash, found) {
		*number = found - 1;
		if (!strcmp(strings->list[*number], text))
			return 0;
	}
	copy = op_arena_strdup(strings->arena, text);
	if (!copy)
		return -ENOMEM;
	*number = (uint32_t)strings->nr;
	strings->list[strings->nr++] = copy;
	op_hash_add(index, hash, (uint32_t)strings->nr);
	return 0;
}

const char *op_strings_add(struct op_strings *strings, const char *text)
{
	uint32_t number;

	return op_strings_number(strings, text, &number)
		       ? NULL
		       : strings->list[number];
}
