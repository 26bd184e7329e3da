// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/images/symbol_names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"

void pp_symbol_names_release(struct pp_symbol_names *names)
{
	op_hash_release(&names->by_raw);
	op_hash_release(&names->by_shown);
	free(names->list);
}

static bool is_taken(const struct pp_symbol_names *names, const char *shown)
{
	uint64_t hash = op_hash_text(names->by_shown.seed, shown);
	uint32_t number;

	op_hash_each(&names->by_shown, hash, number)
		if (!strcmp(names->list[number - 1].shown, shown))
			return true;
	return false;
}

const char *pp_whole_symbol_name(struct op_arena *arena, const char *raw)
{
	return pp_demangle(arena, raw, PP_DEMANGLE_NORMAL);
}

const char *pp_symbol_name(struct pp_symbol_names *names,
			   struct op_arena *arena, const char *raw,
			   enum pp_demangle how)
{
	const char *shown;
	uint32_t number;
	uint64_t hash;

	if (how != PP_DEMANGLE_SMART)
		return pp_demangle(arena, raw, how);
	if (names->nr >= UINT32_MAX ||
	    op_hash_reserve(&names->by_raw, names->nr + 1) ||
	    op_hash_reserve(&names->by_shown, names->nr + 1) ||
	    op_array_reserve(&names->list, names->nr, 1))
		return NULL;
	hash = op_hash_text(names->by_raw.seed, raw);
	op_hash_each(&names->by_raw, hash, number)
		if (!strcmp(names->list[number - 1].raw, raw))
			return names->list[number - 1].shown;
	shown = pp_demangle(arena, raw, how);
	if (is_taken(names, shown))
		shown = pp_demangle(arena, raw, PP_DEMANGLE_NORMAL);
	if (is_taken(names, shown))
		shown = op_arena_printf(arena, "%s [%s]", shown, raw);
	if (!shown)
		return NULL;
	names->list[names->nr++] = (struct pp_symbol_name){ raw, shown };
	op_hash_add(&names->by_raw, hash, (uint32_t)names->nr);
	op_hash_add(&names->by_shown, op_hash_text(names->by_shown.seed, shown),
		    (uint32_t)names->nr);
	return shown;
}
