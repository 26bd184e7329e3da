// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/op_strings.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

void op_strings_init(struct op_strings *strings, struct op_arena *arena)
{
	*strings = (struct op_strings){ .arena = arena };
}

void op_strings_release(struct op_strings *strings)
{
	free(strings->slots);
	strings->slots = NULL;
	strings->room = strings->nr = 0;
}

/* FNV-1a */
static uint64_t hash_string(const char *text)
{
	uint64_t h = 0xcbf29ce484222325;

	while (*text)
		h = (h ^ (unsigned char)*text++) * 0x100000001b3;
	return h ^ h >> 32;
}

/* The slot that holds @text, or the free one where it belongs. */
static size_t find_string_slot(const char **slots, size_t room,
			       const char *text)
{
	size_t at = hash_string(text) & (room - 1);

	while (slots[at] && strcmp(slots[at], text))
		at = (at + 1) & (room - 1);
	return at;
}

static bool make_string_room(struct op_strings *strings)
{
	size_t room = strings->room ? 2 * strings->room : FIRST_ROOM;
	const char **slots;

	if (strings->nr < strings->room / 2)
		return true;
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < strings->room; i++)
		if (strings->slots[i])
			slots[find_string_slot(slots, room,
					       strings->slots[i])] =
				strings->slots[i];
	free(strings->slots);
	strings->slots = slots;
	strings->room = room;
	return true;
}

const char *op_strings_add(struct op_strings *strings, const char *text)
{
	size_t at;

	if (!make_string_room(strings))
		return NULL;
	at = find_string_slot(strings->slots, strings->room, text);
	if (!strings->slots[at]) {
		strings->slots[at] = op_arena_strdup(strings->arena, text);
		strings->nr += strings->slots[at] != NULL;
	}
	return strings->slots[at];
}
