// SPDX-License-Identifier: GPL-2.0-or-later
/* The entries of symbols, with what a report shows of each. */

#include <errno.h>
#include <string.h>

#include "libpp/report/populate_symbols.h"
#include "libpp/images/symbol_match.h"

#define NO_SYMBOL "(no symbols)"

static void count_points(uint64_t *counts, const struct pp_point *points,
			 size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		counts[points[i].class_nr] = pp_add_counts(
			counts[points[i].class_nr], points[i].count);
}

static struct pp_place place_of(const struct pp_batch *b, uint64_t key)
{
	struct pp_place place = { 0 };

	if (b->p->request->lines.wanted)
		pp_image_symbols_place(b->symbols, key, b->places, &place);
	return place;
}

/* The addresses of an entry, from its points. */
static int add_details(const struct pp_batch *b, struct pp_symbol_entry *entry,
		       const struct pp_point *points, size_t nr)
{
	struct pp_detail *details;
	size_t nr_keys = 0;

	for (size_t i = 0; i < nr; i++)
		nr_keys += !i || points[i].key != points[i - 1].key;
	details =
		op_arena_alloc(&b->p->report->arena, nr_keys, sizeof(*details));
	if (!details)
		return -ENOMEM;
	for (size_t i = 0, end; i < nr; i = end) {
		struct pp_detail *detail = &details[entry->nr_details++];
		uint64_t *counts = pp_new_counts(b->p, b->side);

		if (!counts)
			return -ENOMEM;
		for (end = i; end < nr && points[end].key == points[i].key;)
			end++;
		count_points(counts, points + i, end - i);
		detail->counts = counts;
		detail->vma = pp_image_symbols_vma(b->symbols, b->image,
						   points[i].key);
		detail->place = place_of(b, points[i].key);
		if (b->p->request->lines.call_sites)
			pp_image_symbols_inlined_at(b->symbols, points[i].key,
						    b->places,
						    &detail->inlined_at);
		if (b->p->request->lines.frames &&
		    pp_image_symbols_frames(
			    b->symbols, points[i].key, entry->raw_name,
			    b->places, &detail->frames, &detail->nr_frames))
			return -ENOMEM;
	}
	entry->details = details;
	return 0;
}

/* Whether all samples in @image are of the profiler itself. */
static bool is_own_image(const struct pp_image *image)
{
	return image->kind == OP_IMAGE_PSEUDO &&
	       !strcmp(image->recorded.name, OP_SELF_NAME);
}

/* Fill the names of @owner, which are those of the binary and as asked for. */
static int copy_names(const struct pp_batch *b, const struct pp_owner *owner,
		      struct pp_entry_names *names)
{
	struct op_arena *arena = &b->p->report->arena;
	const struct pp_symbol *symbol = owner->symbol;
	const char *inlined = owner->inlined.name;
	const char *whole = b->symbols->whole;

	names->raw =
		op_arena_strdup(arena, symbol			? symbol->name
				       : inlined		? inlined
				       : whole			? whole
				       : is_own_image(b->image) ? OP_SELF_NAME
								: NO_SYMBOL);
	if (!names->raw)
		return -ENOMEM;
	names->shown = names->raw;
	if (symbol || inlined)
		names->shown = pp_symbol_name(&b->p->names, arena, names->raw,
					      b->p->request->names.demangle);
	return names->shown ? 0 : -ENOMEM;
}

/* All applications of an image have the same names. */
static int find_names(const struct pp_batch *b, const struct pp_owner *owner,
		      struct pp_entry_names *names)
{
	struct pp_entry_names *kept = NULL;
	int err;

	if (b->names && owner->symbol)
		kept = &b->names[owner->symbol - b->symbols->table];
	if (kept && kept->raw) {
		*names = *kept;
		return 0;
	}
	err = copy_names(b, owner, names);
	if (!err && kept)
		*kept = *names;
	return err;
}

/* Fill @entry with what is known of @owner, which may be the owner of code
 * without a symbol. */
static int describe_entry(const struct pp_batch *b,
			  struct pp_symbol_entry *entry,
			  const struct pp_owner *owner)
{
	struct op_arena *arena = &b->p->report->arena;
	const struct pp_symbol *symbol = owner->symbol;
	struct pp_entry_names names;
	int err = find_names(b, owner, &names);

	if (err)
		return err;
	entry->app = b->app;
	entry->image = b->image;
	entry->is_inlined = owner->inlined.name;
	entry->raw_name = names.raw;
	entry->name = names.shown;
	if (entry->is_inlined && owner->inlined.file) {
		entry->declared.file =
			op_arena_strdup(arena, owner->inlined.file);
		entry->declared.line = owner->inlined.line;
		if (b->p->request->lines.wanted)
			entry->place = entry->declared;
	}
	/* Where its addresses begin, which are those in memory. */
	if (!symbol && b->image->kind == OP_IMAGE_ANON)
		entry->vma = b->image->anon_start;
	if (!symbol)
		return 0;
	entry->vma = symbol->vma;
	entry->key = symbol->key;
	entry->size = symbol->end - symbol->key;
	return 0;
}

static int note_other_name(const struct pp_batch *b, const char *name)
{
	struct pp_side *side = b->side;
	const char **names =
		op_arena_grow(&b->p->report->arena, side->other_names,
			      side->nr_other_names, sizeof(*names));

	if (!names)
		return -ENOMEM;
	side->other_names = names;
	names[side->nr_other_names++] = name;
	return 0;
}

int pp_add_symbol_entry(const struct pp_batch *b, uint32_t owner,
			const struct pp_point *points, size_t nr)
{
	const struct pp_symbol *symbol = b->owners.list[owner].symbol;
	const struct pp_request *request = b->p->request;
	struct op_arena *arena = &b->p->report->arena;
	struct pp_side *side = b->side;
	struct pp_symbol_entry entry = { .nr = side->nr_symbols }, *all;
	uint64_t *counts;
	int err = describe_entry(b, &entry, &b->owners.list[owner]);

	/* Of a call graph, neighbours are shown whatever their names. */
	if (err)
		return err;
	if (!request->calls.wanted &&
	    !pp_is_wanted(&request->names, entry.raw_name, entry.name))
		return note_other_name(b, entry.raw_name);
	entry.counts = counts = pp_new_counts(b->p, side);
	if (!counts)
		return -ENOMEM;
	count_points(counts, points, nr);
	if (symbol && request->lines.wanted)
		pp_image_symbols_declared(b->symbols, symbol->key, b->places,
					  &entry.place);
	if (symbol && request->symbols.code)
		entry.code = pp_image_symbols_code(b->symbols, symbol, arena);
	if (request->symbols.details && add_details(b, &entry, points, nr))
		return -ENOMEM;
	all = op_arena_grow(arena, side->symbols, entry.nr, sizeof(*all));
	if (!all || entry.nr >= UINT32_MAX)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_users; i++)
		if (side->users[i]->take_symbol &&
		    side->users[i]->take_symbol(b, entry.nr))
			return -ENOMEM;
	side->symbols = all;
	all[side->nr_symbols++] = entry;
	b->entries[owner] = (uint32_t)entry.nr;
	return 0;
}
