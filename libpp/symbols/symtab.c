// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes one sorted table, in which no two symbols overlap, of all the symbols
 * of a binary. The order in which one of several names for an address is
 * preferred is that of the original profiler, behind one rule of its own: a
 * name that is typed as a function wins over a mere label such as the kernel's
 * _stext. A symbol ends where its size says, or where the next one begins, or
 * with its section.
 */

#include "libop/base/op_sort.h"
#include "libpp/symbols/symtab.h"

#include <stdbool.h>
#include <string.h>

/* Greater is better; each rule outweighs all that follow. */
static unsigned int rank_symbol_name(const struct pp_raw_symbol *sym)
{
	unsigned int rank = 0;

	rank = rank << 1 | !!(sym->flags & PP_SYM_FUNCTION);
	rank = rank << 1 | (strcmp(sym->name, "Letext") != 0);
	rank = rank << 1 | (strncmp(sym->name, "??", 2) != 0);
	rank = rank << 1 | !!(sym->flags & PP_SYM_GLOBAL);
	rank = rank << 1 | (sym->name[0] != '_');
	rank = rank << 1 | !(sym->flags & PP_SYM_WEAK);
	return rank;
}

static uint64_t end_of_raw_symbol(const struct pp_raw_symbol *sym)
{
	uint64_t end;

	if (!sym->size)
		return sym->key;
	if (__builtin_add_overflow(sym->key, sym->size, &end))
		end = UINT64_MAX;
	return end;
}

/* The one with the best name of the @nr at one key; the first of equals. */
static const struct pp_raw_symbol *best_symbol(const struct pp_raw_symbol *raw,
					       size_t nr)
{
	const struct pp_raw_symbol *best = raw;

	for (size_t i = 1; i < nr; i++)
		if (rank_symbol_name(&raw[i]) > rank_symbol_name(best))
			best = &raw[i];
	return best;
}

/*
 * Take the best of the symbols at one key. @reach is how far symbols with a
 * size reached so far: an inner one ends with the outer one.
 */
static bool take_best_symbol(struct pp_symbol *out,
			     const struct pp_raw_symbol *raw, size_t nr,
			     uint64_t next, uint64_t *reach)
{
	const struct pp_raw_symbol *best = best_symbol(raw, nr);
	uint64_t own = best->key, end;
	size_t i;

	for (i = 0; i < nr; i++)
		if (end_of_raw_symbol(&raw[i]) > own)
			own = end_of_raw_symbol(&raw[i]);
	if (own > *reach)
		*reach = own;
	end = *reach > best->key ? *reach : best->limit;
	end = end < next ? end : next;
	*out = (struct pp_symbol){ .name = best->name,
				   .key = best->key,
				   .end = end,
				   .vma = best->vma };
	return end > best->key;
}

size_t pp_symtab_build(struct pp_symbol *out, struct pp_raw_symbol *raw,
		       size_t nr)
{
	uint64_t reach = 0;
	size_t i, j, kept = 0;

	op_sort_by(raw, nr, key);
	for (i = 0; i < nr; i = j) {
		for (j = i + 1; j < nr && raw[j].key == raw[i].key;)
			j++;
		kept += take_best_symbol(&out[kept], &raw[i], j - i,
					 j < nr ? raw[j].key : UINT64_MAX,
					 &reach);
	}
	return kept;
}
