// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes one sorted table, in which no two symbols overlap, of all the symbols
 * of a binary. The order in which one of several names for an address is
 * preferred is that of the original profiler, behind one rule of its own: a
 * name that is typed as a function wins over a mere label such as the kernel's
 * _stext. A symbol ends where its size says, or where the next one begins, or
 * with its section.
 */

#include "libop/op_search.h"
#include "libpp/symbols/symtab.h"

#include <stdbool.h>
#include <stdlib.h>
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

/* By key, the best name for a key first, then the first that was found. */
static int compare_raw_symbols(const void *pa, const void *pb)
{
	const struct pp_raw_symbol *a = pa, *b = pb;

	return op_compare(a->key, b->key) ?:
	       op_compare(rank_symbol_name(b), rank_symbol_name(a)) ?:
	       op_compare(a->order, b->order);
}

/* As those of a snapshot of the kernel's are, which are many. */
static bool are_symbols_sorted(const struct pp_raw_symbol *raw, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (compare_raw_symbols(&raw[i - 1], &raw[i]) > 0)
			return false;
	return true;
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

/*
 * Take the symbols at one key, @raw[0] the best of them. @reach is how far
 * symbols with a size reached so far: an inner one ends with the outer one.
 */
static bool take_best_symbol(struct pp_symbol *out,
			     const struct pp_raw_symbol *raw, size_t nr,
			     uint64_t next, uint64_t *reach)
{
	uint64_t own = raw[0].key, end;
	size_t i;

	for (i = 0; i < nr; i++)
		if (end_of_raw_symbol(&raw[i]) > own)
			own = end_of_raw_symbol(&raw[i]);
	if (own > *reach)
		*reach = own;
	end = *reach > raw[0].key ? *reach : raw[0].limit;
	end = end < next ? end : next;
	*out = (struct pp_symbol){ .name = raw[0].name,
				   .key = raw[0].key,
				   .end = end,
				   .vma = raw[0].vma };
	return end > raw[0].key;
}

size_t pp_symtab_build(struct pp_symbol *out, struct pp_raw_symbol *raw,
		       size_t nr)
{
	uint64_t reach = 0;
	size_t i, j, kept = 0;

	for (i = 0; i < nr; i++)
		raw[i].order = i;
	if (!are_symbols_sorted(raw, nr))
		qsort(raw, nr, sizeof(*raw), compare_raw_symbols);
	for (i = 0; i < nr; i = j) {
		for (j = i + 1; j < nr && raw[j].key == raw[i].key;)
			j++;
		kept += take_best_symbol(&out[kept], &raw[i], j - i,
					 j < nr ? raw[j].key : UINT64_MAX,
					 &reach);
	}
	return kept;
}
