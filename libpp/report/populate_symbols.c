// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols that the samples are in. All uses of images are sorted by image, so
 * that each image is opened once, whatever the number of applications, events
 * and CPUs: opening an image means reading its symbols, which takes longer than
 * everything else. For each application, the counts of its uses ("points") are
 * sorted by key and walked side by side with the sorted symbols.
 *
 * Other parts of the report (struct pp_symbol_user) have points that count
 * nothing, as ends of arcs and nodes of call trees, and are told the symbols of
 * all points.
 *
 * A point may be in functions that were inlined. It counts for the innermost of
 * them; owners.c finds these. Starts of functions, which callees and sampled
 * frames of trees are kept as, stand for the whole function.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_sort.h"
#include "libpp/images/kept_symbols.h"
#include "libpp/images/symbol_match.h"
#include "libpp/report/populate_symbols.h"

/* The symbol that @key is in. *@next is the first that may be. */
static const struct pp_symbol *
next_symbol_at(const struct pp_image_symbols *symbols, size_t *next,
	       uint64_t key)
{
	while (*next < symbols->nr && symbols->table[*next].end <= key)
		++*next;
	if (*next < symbols->nr && symbols->table[*next].key <= key)
		return &symbols->table[*next];
	return NULL;
}

int pp_find_owners(struct pp_owners *owners, struct pp_point *points, size_t nr)
{
	size_t next = 0;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		struct pp_point *point = &points[i];
		const struct pp_symbol *symbol =
			next_symbol_at(owners->symbols, &next, point->key);

		/* Sessions of earlier versions have callers as functions. */
		if (point->is_node && symbol && symbol->key == point->key)
			point->is_function = true;
		err = pp_owners_find(owners, point->key, symbol,
				     !point->is_function, &point->chain);
		if (!err)
			point->owner = owners->chained[point->chain.first];
	}
	return err;
}

/* Functions without points of their own are needed where others are in them. */
static int add_entries_of_owners(const struct pp_batch *b,
				 const struct pp_point *points, size_t nr)
{
	size_t at = 0, end;
	int err = 0;

	for (uint32_t owner = 0; owner < b->owners.nr && !err; owner++) {
		for (end = at; end < nr && points[end].owner == owner;)
			end++;
		b->entries[owner] = PP_NO_SYMBOL;
		if (end > at || b->side->nr_users)
			err = pp_add_symbol_entry(b, owner, points + at,
						  end - at);
		at = end;
	}
	return err;
}

/* Find the entries of @points, of which all those without a symbol get one, and
 * let the users of the symbols know them. */
static int match_points_to_symbols(struct pp_batch *b, struct pp_point *points,
				   size_t nr)
{
	int err = pp_find_owners(&b->owners, points, nr);

	b->entries = calloc((size_t)b->owners.nr + 1, sizeof(*b->entries));
	if (!err && !b->entries)
		err = -ENOMEM;
	if (!err) {
		/* Those of one owner stay in the order of their keys. */
		op_sort_by(points, nr, owner);
		err = add_entries_of_owners(b, points, nr);
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t u = 0; u < b->side->nr_users && !err; u++)
			err = b->side->users[u]->take_point(
				b, &points[i], i ? &points[i - 1] : NULL);
	free(b->entries);
	return err;
}

static uint64_t samples_of_uses(const struct pp_use *uses, size_t nr)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < nr; i++)
		if (!uses[i].is_of_user)
			samples = pp_add_counts(samples, uses[i].file->total);
	return samples;
}

/* Remember who made the code without names that has the most samples. */
static void note_nameless_maker(struct pp_report *report,
				const struct pp_use *uses, size_t nr)
{
	uint64_t samples = samples_of_uses(uses, nr);

	if (samples <= report->missing.nameless_made_samples)
		return;
	report->missing.nameless_maker = uses->app;
	report->missing.nameless_made_samples = samples;
}

/* Remember the stripped binary with the most samples. */
static void note_nameless(struct pp_report *report, const struct pp_use *uses,
			  size_t nr)
{
	uint64_t samples = samples_of_uses(uses, nr);

	if (samples <= report->missing.nameless_samples)
		return;
	report->missing.nameless = uses->image->name;
	report->missing.nameless_samples = samples;
}

/* All applications that used the image of @b; the uses are sorted by them.
 * Where the code of the image can be read is noted for those who list it. */
static int add_symbols_of_image(struct pp_batch *b, struct pp_image *image,
				const struct pp_use *uses, size_t nr)
{
	const struct pp_image_symbols *symbols = b->symbols;
	struct pp_report *report = b->p->report;
	int err = 0;

	b->image = image;
	if (symbols->bfd) {
		image->binary = op_arena_strdup(&report->arena,
						op_bfd_path(symbols->bfd));
		image->binary_bias = symbols->text;
		if (symbols->is_stripped)
			note_nameless(report, uses, nr);
		err = image->binary ? 0 : -ENOMEM;
	}
	if (image->kind == OP_IMAGE_ANON && !symbols->nr)
		note_nameless_maker(report, uses, nr);
	if (strcmp(uses->app, uses[nr - 1].app)) {
		b->names = calloc(symbols->nr + 1, sizeof(*b->names));
		if (!b->names)
			err = -ENOMEM;
	}
	for (size_t i = 0, end; i < nr && !err; i = end) {
		struct pp_point *points;
		size_t nr_points;

		b->app = uses[i].app;
		for (end = i; end < nr && !strcmp(uses[end].app, b->app);)
			end++;
		points = pp_gather_points(uses + i, end - i, &nr_points);
		b->owners = (struct pp_owners){
			.symbols = b->symbols,
			.has_inlines = b->p->request->names.inlines,
		};
		err = points ? match_points_to_symbols(b, points, nr_points)
			     : -ENOMEM;
		pp_owners_release(&b->owners);
		free(points);
	}
	free(b->names);
	b->names = NULL;
	return err;
}

/* The kernel has 100,000 symbols, of which a report needs a few thousand. */
static int open_for_uses(struct pp_image_symbols *symbols, struct pp_side *side,
			 const struct pp_use *uses, size_t nr,
			 struct pp_messages *messages)
{
	const struct pp_image *image = uses->image;
	struct op_ksyms_wanted wanted = { NULL, 0 };
	uint64_t *keys = NULL;
	int err;

	if (image->recorded.space == OP_SPACE_KERN) {
		keys = pp_gather_keys(uses, nr, &wanted.nr);
		wanted.offsets = keys;
	}
	err = pp_image_symbols_open_wanted(symbols, image, side->session,
					   &side->locator, side->wants,
					   keys ? &wanted : NULL, messages);
	free(keys);
	return err;
}

/* Its symbols may be there from an earlier report. */
static int open_and_add_image(struct pp_population *p, struct pp_side *side,
			      const struct pp_use *uses, size_t nr)
{
	struct pp_kept_symbols *kept = p->request->images.kept_symbols;
	struct pp_messages *messages = &p->report->messages;
	struct pp_image *image = uses->image;
	struct pp_image_symbols own;
	struct pp_batch b = {
		.p = p,
		.side = side,
		.symbols = &own,
		.places = &p->report->arena,
	};
	int err;

	if (!kept) {
		err = open_for_uses(&own, side, uses, nr, messages)
			      ?: add_symbols_of_image(&b, image, uses, nr);
		pp_image_symbols_release(&own);
		return err;
	}
	err = pp_kept_symbols_get(kept, &b.symbols, image, side->session,
				  &side->locator, side->wants, messages);
	if (err)
		return err;
	b.places = pp_kept_symbols_arena(kept, b.symbols) ?: b.places;
	err = add_symbols_of_image(&b, image, uses, nr);
	pp_kept_symbols_put(kept, b.symbols, messages);
	return err;
}

/* Names choose which blocks of a call graph are shown, not what shares are
 * of. */
int pp_side_find_symbols(struct pp_population *p, struct pp_side *side)
{
	uint64_t *totals = pp_new_counts(p, side);
	size_t nr, nr_images = 0;
	struct pp_use *uses;
	int err = pp_find_uses(p, side, &uses, &nr);

	for (size_t i = 0, end; i < nr && !err; i = end) {
		for (end = i; end < nr && uses[end].image == uses[i].image;)
			end++;
		err = open_and_add_image(p, side, uses + i, end - i);
		nr_images++;
	}
	pp_note_runtimes(p->report, uses, nr);
	free(uses);
	err = err ?: pp_side_add_up_builds(side);
	if (err || !totals)
		return err ?: -ENOMEM;
	pp_message(&p->report->messages, PP_REMARK_STATS,
		   "sample files: %zu; images, each opened once: %zu",
		   side->list.nr, nr_images);
	for (size_t i = 0; i < side->nr_symbols; i++) {
		const struct pp_symbol_entry *entry = &side->symbols[i];

		if (p->request->calls.wanted ||
		    pp_is_wanted(&p->request->names, entry->raw_name,
				 entry->name))
			pp_add_all_counts(totals, entry->counts,
					  side->classes.nr);
	}
	side->symbol_totals = totals;
	return 0;
}
