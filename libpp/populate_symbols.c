// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which symbols the samples are in. A file uses the image that its samples are
 * in; a call graph uses two, that of the callers and that of the callees. All
 * uses are sorted by image, so that each image is opened once, whatever the
 * number of applications, events and CPUs: opening one means reading its
 * symbols, which takes longer than everything else. For each application, the
 * counts of its uses ("points") are sorted by key and walked side by side with
 * the sorted symbols.
 *
 * Ends of arcs and nodes of call trees are points, too, that count nothing.
 * Ends of arcs get the number of the symbol they are in, and nodes that of all
 * the functions there; gather_calls.c and populate_totals.c go on with these.
 *
 * A point may be in functions that were inlined. It counts for the innermost of
 * them; owners.c tells which there are. Starts of functions, which callees and
 * sampled frames of trees are kept as, stand for the whole function.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_search.h"
#include "libop/op_sort.h"
#include "libpp/kept_symbols.h"
#include "libpp/owners.h"
#include "libpp/symbol_match.h"
#include "libpp/tree_input.h"

#define NO_SYMBOL "(no symbols)"

/*
 * One count of one sample file, with the column it belongs to; or an end of an
 * arc or a node of a call tree, which count nothing, with the place for the
 * number of its symbol.
 */
struct point {
	uint64_t key;
	uint64_t count;
	unsigned int class_nr;
	uint32_t *symbol_nr;
	bool is_function; /* the start of a function: nothing is inlined */
	bool is_node; /* of a call tree */
	uint64_t weight; /* samples or calls here */
	struct pp_owner_chain chain; /* the owners of the place */
	uint64_t owner; /* the innermost */
};

/* What a file says about one image. */
struct use {
	struct pp_image *image;
	const char *app;
	const struct pp_sample_file *file;
	uint32_t *ends; /* of a call graph */
	unsigned int shift; /* of the keys of these ends */
	const struct pp_tree_input *tree; /* of a call tree */
	const struct pp_tree_image *tree_image; /* likewise: the image in it */
};

/* What a symbol is called, in the report's arena. */
struct symbol_names {
	const char *raw; /* NULL: nobody asked yet */
	const char *shown;
};

/* The samples of one image that were taken for one application. */
struct batch {
	struct pp_population *p;
	struct pp_side *side;
	struct pp_image_symbols *symbols;
	struct op_arena *places; /* names of source files; lives as long as
				    @symbols, which may outlive the report */
	const struct pp_image *image;
	struct symbol_names *names; /* of all symbols, for all applications;
				       NULL where there is just one */
	const char *app;
	struct pp_owners owners;
	uint32_t *entries; /* for each owner the number of its symbol */
};

/* ---- points -------------------------------------------------------------- */

static size_t nr_points_of(const struct use *use)
{
	return use->tree ? use->tree_image->nr_nodes : use->file->nr_samples;
}

static void put_tree_points(struct point *points, const struct use *use)
{
	const struct pp_tree_image *image = use->tree_image;

	for (uint32_t i = 0; i < image->nr_nodes; i++) {
		uint32_t at = image->nodes[i];
		struct ctree_node node;

		ctree_node(use->tree->tree, at + 1, &node);
		points[i] = (struct point){
			.key = node.offset,
			.is_function = node.count ||
				       !(use->tree->needs[at] & PP_NEEDS_PLACE),
			.is_node = true,
			.class_nr = (unsigned int)use->tree->class_nr,
			.symbol_nr = &use->tree->frames[at],
		};
	}
}

static void put_file_points(struct point *points, const struct use *use)
{
	const struct pp_sample_file *file = use->file;
	uint32_t *ends = use->ends;

	for (size_t i = 0; i < file->nr_samples; i++) {
		const struct pp_sample *sample = &file->samples[i];

		points[i] = (struct point){
			.key = ends ? (uint32_t)(sample->key >> use->shift)
				    : sample->key,
			.class_nr = file->class_nr,
			.count = ends ? 0 : sample->count,
			.symbol_nr = ends ? &ends[i] : NULL,
			.is_function = ends && !use->shift,
			.weight = sample->count,
		};
	}
}

/* All points of @nr uses by key; the caller frees them. */
static struct point *gather_points(const struct use *uses, size_t nr,
				   size_t *nr_points)
{
	struct point *points, *point;
	size_t room = 0;

	for (size_t i = 0; i < nr; i++)
		room += nr_points_of(&uses[i]);
	*nr_points = room;
	points = point = calloc(room + 1, sizeof(*points));
	for (size_t i = 0; points && i < nr; i++) {
		if (uses[i].tree)
			put_tree_points(point, &uses[i]);
		else
			put_file_points(point, &uses[i]);
		point += nr_points_of(&uses[i]);
	}
	if (points)
		op_sort_by(points, room, key);
	return points;
}

static void count_points(uint64_t *counts, const struct point *points,
			 size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		counts[points[i].class_nr] = pp_add_counts(
			counts[points[i].class_nr], points[i].count);
}

/* ---- entries ------------------------------------------------------------- */

static bool is_listed_name(const char *const *list, const char *raw,
			   const char *name)
{
	for (; *list; list++)
		if (pp_symbol_matches(*list, raw, name))
			return true;
	return false;
}

bool pp_is_wanted(const struct pp_request *request, const char *raw,
		  const char *name)
{
	if (request->include_symbols &&
	    !is_listed_name(request->include_symbols, raw, name))
		return false;
	return !request->exclude_symbols ||
	       !is_listed_name(request->exclude_symbols, raw, name);
}

static struct pp_place place_of(const struct batch *b, uint64_t key)
{
	struct pp_place place = { 0 };

	if (b->p->request->lines)
		pp_image_symbols_place(b->symbols, key, b->places, &place);
	return place;
}

/* The addresses of an entry, from its points. */
static int add_details(const struct batch *b, struct pp_symbol_entry *entry,
		       const struct point *points, size_t nr)
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
		if (b->p->request->call_sites)
			pp_image_symbols_inlined_at(b->symbols, points[i].key,
						    b->places,
						    &detail->inlined_at);
		if (b->p->request->code_frames &&
		    pp_image_symbols_frames(
			    b->symbols, points[i].key, entry->raw_name,
			    b->places, &detail->frames, &detail->nr_frames))
			return -ENOMEM;
	}
	entry->details = details;
	return 0;
}

/* Fill the names of @owner, which are those of the binary and as asked for. */
static int copy_names(const struct batch *b, const struct pp_owner *owner,
		      struct symbol_names *names)
{
	struct op_arena *arena = &b->p->report->arena;
	const struct pp_symbol *symbol = owner->symbol;
	const char *inlined = owner->inlined.name;
	const char *whole = b->symbols->whole;

	names->raw = op_arena_strdup(arena, symbol    ? symbol->name
					    : inlined ? inlined
					    : whole   ? whole
						      : NO_SYMBOL);
	if (!names->raw)
		return -ENOMEM;
	names->shown = names->raw;
	if (symbol || inlined)
		names->shown = pp_symbol_name(&b->p->names, arena, names->raw,
					      b->p->request->demangle);
	return names->shown ? 0 : -ENOMEM;
}

/* All applications of an image have the same names. */
static int find_names(const struct batch *b, const struct pp_owner *owner,
		      struct symbol_names *names)
{
	struct symbol_names *kept = NULL;
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

/* What is known of @owner, which may be that of what has no symbol. */
static int describe_entry(const struct batch *b, struct pp_symbol_entry *entry,
			  const struct pp_owner *owner)
{
	struct op_arena *arena = &b->p->report->arena;
	const struct pp_symbol *symbol = owner->symbol;
	struct symbol_names names;
	int err = find_names(b, owner, &names);

	if (err)
		return err;
	entry->app = b->app;
	entry->image = b->image;
	entry->is_inlined = owner->inlined.name;
	entry->raw_name = names.raw;
	entry->name = names.shown;
	if (entry->is_inlined && owner->inlined.file && b->p->request->lines) {
		entry->place.file = op_arena_strdup(arena, owner->inlined.file);
		entry->place.line = owner->inlined.line;
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

/* Whether functions without samples of their own matter: only stacks tell of
 * samples in what they called. */
static bool has_totals(const struct batch *b)
{
	return b->p->request->totals && b->side->trees && b->side->trees->nr;
}

/* Make room for what is counted for entry @nr beside its samples. */
static int grow_counts_beside(const struct batch *b, size_t nr)
{
	struct op_arena *arena = &b->p->report->arena;
	struct pp_side *side = b->side;
	size_t len = side->classes.nr * sizeof(uint64_t);

	if (!has_totals(b))
		return 0;
	side->in_table = op_arena_grow(arena, side->in_table, nr, len);
	side->where_inlined =
		op_arena_grow(arena, side->where_inlined, nr, len);
	if (!side->in_table || !side->where_inlined)
		return -ENOMEM;
	memset(&side->in_table[nr * side->classes.nr], 0, len);
	memset(&side->where_inlined[nr * side->classes.nr], 0, len);
	return 0;
}

static int note_other_name(const struct batch *b, const char *name)
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

/* Add the entry for @nr points of owner @owner, and tell ends of arcs its
 * number. */
static int add_symbol_entry(const struct batch *b, uint32_t owner,
			    const struct point *points, size_t nr)
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
	if (!request->call_graph &&
	    !pp_is_wanted(request, entry.raw_name, entry.name))
		return note_other_name(b, entry.name);
	entry.counts = counts = pp_new_counts(b->p, side);
	if (!counts)
		return -ENOMEM;
	count_points(counts, points, nr);
	if (symbol && request->lines)
		pp_image_symbols_declared(b->symbols, symbol->key, b->places,
					  &entry.place);
	if (symbol && request->code)
		entry.code = pp_image_symbols_code(b->symbols, symbol, arena);
	if (request->details && add_details(b, &entry, points, nr))
		return -ENOMEM;
	all = op_arena_grow(arena, side->symbols, entry.nr, sizeof(*all));
	if (!all || entry.nr >= UINT32_MAX || grow_counts_beside(b, entry.nr))
		return -ENOMEM;
	side->symbols = all;
	all[side->nr_symbols++] = entry;
	b->entries[owner] = (uint32_t)entry.nr;
	for (size_t i = 0; i < nr; i++)
		if (points[i].symbol_nr && !points[i].is_node)
			*points[i].symbol_nr = (uint32_t)entry.nr;
	return 0;
}

/* ---- side by side -------------------------------------------------------- */

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

/* Find the owners of all points, which are in ascending order. */
static int find_owners(struct batch *b, struct point *points, size_t nr)
{
	size_t next = 0;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		struct point *point = &points[i];
		const struct pp_symbol *symbol =
			next_symbol_at(b->symbols, &next, point->key);

		/* Sessions of earlier versions have callers as functions. */
		if (point->is_node && symbol && symbol->key == point->key)
			point->is_function = true;
		err = pp_owners_find(&b->owners, point->key, symbol,
				     !point->is_function, &point->chain);
		if (!err)
			point->owner = b->owners.chained[point->chain.first];
	}
	return err;
}

/* Functions without points of their own are needed where others are in them. */
static int add_entries_of_owners(const struct batch *b,
				 const struct point *points, size_t nr)
{
	const struct pp_request *request = b->p->request;
	size_t at = 0, end;
	int err = 0;

	for (uint32_t owner = 0; owner < b->owners.nr && !err; owner++) {
		for (end = at; end < nr && points[end].owner == owner;)
			end++;
		b->entries[owner] = PP_NO_SYMBOL;
		if (end > at || request->call_graph || has_totals(b))
			err = add_symbol_entry(b, owner, points + at, end - at);
		at = end;
	}
	return err;
}

static uint32_t entry_in_chain(const struct batch *b,
			       const struct pp_owner_chain *chain, uint32_t nr)
{
	return b->entries[b->owners.chained[chain->first + nr]];
}

static int add_inlined_share(const struct batch *b, const struct point *point,
			     uint32_t function, uint32_t inlined)
{
	struct pp_side *side = b->side;
	struct pp_inlined_share *all =
		op_arena_grow(&b->p->report->arena, side->inlined_shares,
			      side->nr_inlined_shares, sizeof(*all));

	if (!all)
		return -ENOMEM;
	side->inlined_shares = all;
	all[side->nr_inlined_shares++] = (struct pp_inlined_share){
		.function = function,
		.inlined = inlined,
		.count = point->count,
		.class_nr = point->class_nr,
	};
	return 0;
}

/* The places of the chain of @point: in each owner, where it has the one before
 * it inlined. */
static struct pp_place *places_of_chain(const struct batch *b,
					const struct point *point)
{
	uint32_t nr = point->chain.nr;
	struct pp_place *places =
		op_arena_alloc(&b->p->report->arena, nr, sizeof(*places));

	if (places && b->p->request->lines)
		pp_image_symbols_chain(b->symbols, point->key, b->places,
				       places, nr);
	return places;
}

/* A sample in an inlined function is one of a call of it, by the outermost of
 * its callers where it is above itself. */
static int add_inlined_stack_calls(const struct batch *b,
				   const struct point *point)
{
	const struct pp_owner_chain *chain = &point->chain;
	const uint32_t *owners = &b->owners.chained[chain->first];
	struct pp_place *places;

	if (chain->nr == 1)
		return 0;
	places = places_of_chain(b, point);
	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i + 1 < chain->nr; i++) {
		uint32_t at = chain->nr - 1, callee;

		callee = entry_in_chain(b, chain, i);
		if (callee == PP_NO_SYMBOL ||
		    pp_owner_is_repeated(&b->owners, chain, i))
			continue;
		while (owners[at] != owners[i])
			at--;
		while (++at < chain->nr &&
		       entry_in_chain(b, chain, at) == PP_NO_SYMBOL)
			;
		if (at < chain->nr)
			pp_stack_calls_add(
				&b->side->stack_calls,
				&(struct pp_stack_call_key){
					.caller = entry_in_chain(b, chain, at),
					.callee = callee,
					.place = places[at],
					.vma = pp_image_symbols_vma(b->symbols,
								    b->image,
								    point->key),
					.is_inlined = true,
				},
				point->class_nr, point->count);
	}
	return 0;
}

/* Samples of all functions at their place. A copy of a function in itself is a
 * part of it. */
static int count_beside(const struct batch *b, const struct point *point)
{
	const struct pp_owner_chain *chain = &point->chain;
	uint32_t last = entry_in_chain(b, chain, chain->nr - 1);
	struct pp_side *side = b->side;
	int err = 0;

	for (uint32_t i = 0; point->count && i < chain->nr && !err; i++) {
		uint32_t entry = entry_in_chain(b, chain, i);
		bool is_inlined = i + 1 < chain->nr;
		uint64_t *count;

		if (entry == PP_NO_SYMBOL ||
		    (is_inlined &&
		     (entry == last ||
		      pp_owner_is_repeated(&b->owners, chain, i))))
			continue;
		count = is_inlined ? side->where_inlined : side->in_table;
		count += entry * side->classes.nr + point->class_nr;
		*count = pp_add_counts(*count, point->count);
		if (is_inlined && last != PP_NO_SYMBOL)
			err = add_inlined_share(b, point, last, entry);
	}
	if (!err && point->count && b->p->request->stack_calls)
		err = add_inlined_stack_calls(b, point);
	return err;
}

/* Nodes at one place share what they are in. */
static int set_frame_symbols(const struct batch *b, const struct point *point,
			     const struct point *before)
{
	const struct pp_owner_chain *chain = &point->chain;
	struct op_arena *arena = &b->p->report->arena;
	struct pp_side *side = b->side;
	bool with_places = b->p->request->stack_calls;
	bool with_vma = with_places || b->p->request->addresses_of_calls;
	struct pp_frame_symbols *all;
	uint32_t *symbols;

	if (before && before->is_node && before->chain.first == chain->first &&
	    (!with_vma || before->key == point->key)) {
		*point->symbol_nr = *before->symbol_nr;
		return 0;
	}
	all = op_arena_grow(arena, side->frame_symbols, side->nr_frame_symbols,
			    sizeof(*all));
	symbols = op_arena_alloc(arena, chain->nr, sizeof(*symbols));
	if (!all || !symbols)
		return -ENOMEM;
	for (uint32_t i = 0; i < chain->nr; i++)
		symbols[i] = entry_in_chain(b, chain, i);
	side->frame_symbols = all;
	*point->symbol_nr = side->nr_frame_symbols;
	all += side->nr_frame_symbols++;
	*all = (struct pp_frame_symbols){ .symbols = symbols, .nr = chain->nr };
	if (with_vma)
		all->vma =
			pp_image_symbols_vma(b->symbols, b->image, point->key);
	if (with_places)
		all->places = places_of_chain(b, point);
	return !with_places || all->places ? 0 : -ENOMEM;
}

/* A sample in an inlined function, or a call from it, is a call of it. */
static int add_inlined_calls(const struct batch *b, const struct point *point)
{
	struct pp_side *side = b->side;

	for (uint32_t i = 0; i + 1 < point->chain.nr; i++) {
		struct pp_symbol_call *all =
			op_arena_grow(&b->p->report->arena, side->inlined_calls,
				      side->nr_inlined_calls, sizeof(*all));

		if (!all)
			return -ENOMEM;
		side->inlined_calls = all;
		all[side->nr_inlined_calls++] = (struct pp_symbol_call){
			.caller = entry_in_chain(b, &point->chain, i + 1),
			.callee = entry_in_chain(b, &point->chain, i),
			.count = point->weight,
			.class_nr = point->class_nr,
		};
	}
	return 0;
}

/* What has no symbol is one entry. */
static int match_points_to_symbols(struct batch *b, struct point *points,
				   size_t nr)
{
	const struct pp_request *request = b->p->request;
	int err = find_owners(b, points, nr);

	b->entries = calloc((size_t)b->owners.nr + 1, sizeof(*b->entries));
	if (!err && !b->entries)
		err = -ENOMEM;
	if (!err) {
		/* Those of one owner stay in the order of their keys. */
		op_sort_by(points, nr, owner);
		err = add_entries_of_owners(b, points, nr);
	}
	for (size_t i = 0; i < nr && !err; i++) {
		if (points[i].is_node)
			err = set_frame_symbols(b, &points[i],
						i ? &points[i - 1] : NULL);
		else if (has_totals(b))
			err = count_beside(b, &points[i]);
		if (!err && request->call_graph && !points[i].is_node)
			err = add_inlined_calls(b, &points[i]);
	}
	free(b->entries);
	return err;
}

static uint64_t samples_of_uses(const struct use *uses, size_t nr)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < nr; i++)
		if (!uses[i].ends && !uses[i].tree)
			samples = pp_add_counts(samples, uses[i].file->total);
	return samples;
}

/* Remember who made the code without names that has the most samples. */
static void note_nameless_maker(struct pp_report *report,
				const struct use *uses, size_t nr)
{
	uint64_t samples = samples_of_uses(uses, nr);

	if (samples <= report->nameless_made_samples)
		return;
	report->nameless_maker = uses->app;
	report->nameless_made_samples = samples;
}

/* Remember the stripped binary with the most samples. */
static void note_nameless(struct pp_report *report, const struct use *uses,
			  size_t nr)
{
	uint64_t samples = samples_of_uses(uses, nr);

	if (samples <= report->nameless_samples)
		return;
	report->nameless = uses->image->name;
	report->nameless_samples = samples;
}

/* All applications that used the image of @b; the uses are sorted by them.
 * Where the code of the image can be read is noted for those who list it. */
static int add_symbols_of_image(struct batch *b, struct pp_image *image,
				const struct use *uses, size_t nr)
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
		struct point *points;
		size_t nr_points;

		b->app = uses[i].app;
		for (end = i; end < nr && !strcmp(uses[end].app, b->app);)
			end++;
		points = gather_points(uses + i, end - i, &nr_points);
		b->owners = (struct pp_owners){
			.symbols = b->symbols,
			.has_inlines = b->p->request->inlines,
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

/* Its symbols may be there from an earlier report. */
static int open_and_add_image(struct pp_population *p, struct pp_side *side,
			      const struct use *uses, size_t nr)
{
	struct pp_kept_symbols *kept = p->request->kept_symbols;
	struct pp_messages *messages = &p->report->messages;
	struct pp_image *image = uses->image;
	struct pp_image_symbols own;
	struct batch b = {
		.p = p,
		.side = side,
		.symbols = &own,
		.places = &p->report->arena,
	};
	int err;

	if (!kept) {
		err = pp_image_symbols_open(&own, image, side->session,
					    &side->locator, side->wants,
					    messages)
			      ?: add_symbols_of_image(&b, image, uses, nr);
		pp_image_symbols_release(&own);
		return err;
	}
	err = pp_kept_symbols_get(kept, &b.symbols, image, side->session,
				  &side->locator, side->wants, messages);
	if (err)
		return err;
	b.places = pp_kept_symbols_arena(kept);
	err = add_symbols_of_image(&b, image, uses, nr);
	pp_kept_symbols_put(kept, b.symbols);
	return err;
}

/* ---- who uses which image ------------------------------------------------ */

static int compare_image_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return strcmp(x->image->name, y->image->name) ?:
	       op_compare((uintptr_t)x->image, (uintptr_t)y->image) ?:
	       strcmp(x->app, y->app) ?: strcmp(x->file->path, y->file->path);
}

/* A call graph uses two images. */
static int add_uses_of_calls(struct op_arena *arena,
			     struct pp_sample_file *file, struct use *uses)
{
	file->callers =
		op_arena_alloc(arena, file->nr_samples, sizeof(*file->callers));
	file->callees =
		op_arena_alloc(arena, file->nr_samples, sizeof(*file->callees));
	if (!file->callers || !file->callees)
		return -ENOMEM;
	uses[0] = (struct use){ .image = file->image,
				.app = file->app,
				.file = file,
				.ends = file->callers,
				.shift = 32 };
	uses[1] = (struct use){ .image = file->callee,
				.app = file->app,
				.file = file,
				.ends = file->callees };
	return 0;
}

/* A call tree uses the images of frames whose symbols are needed. */
static size_t add_uses_of_tree(const struct pp_tree_input *tree,
			       struct use *uses)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < ctree_nr_images(tree->tree); i++) {
		const struct pp_tree_image *image = &tree->images[i];

		if (image->nr_nodes)
			uses[nr++] = (struct use){ .image = image->image,
						   .app = image->app,
						   .file = tree->file,
						   .tree = tree,
						   .tree_image = image };
	}
	return nr;
}

static size_t most_uses(const struct pp_side *side)
{
	size_t nr = 2 * side->list.nr;

	for (size_t i = 0; side->trees && i < side->trees->nr; i++)
		nr += ctree_nr_images(side->trees->list[i].tree);
	return nr;
}

/* Set *@out to the *@nr uses that @side's files make of images, by image and
 * application; the caller frees them. */
static int find_uses(struct pp_population *p, const struct pp_side *side,
		     struct use **out, size_t *nr)
{
	struct use *uses = calloc(most_uses(side) + 1, sizeof(*uses));
	int err = uses ? 0 : -ENOMEM;

	*out = uses;
	*nr = 0;
	for (size_t i = 0; !err && i < side->list.nr; i++) {
		struct pp_sample_file *file = &side->list.files[i];

		if (pp_is_call_graph(file)) {
			err = add_uses_of_calls(&p->report->arena, file,
						&uses[*nr]);
			*nr += 2;
			continue;
		}
		uses[(*nr)++] = (struct use){ .image = file->image,
					      .app = file->app,
					      .file = file };
	}
	for (size_t i = 0; !err && side->trees && i < side->trees->nr; i++)
		*nr += add_uses_of_tree(&side->trees->list[i], &uses[*nr]);
	if (!err)
		qsort(uses, *nr, sizeof(*uses), compare_image_uses);
	return err;
}

/* Names choose which blocks of a call graph are shown, not what shares are
 * of. */
int pp_side_find_symbols(struct pp_population *p, struct pp_side *side)
{
	uint64_t *totals = pp_new_counts(p, side);
	size_t nr, nr_images = 0;
	struct use *uses;
	int err = find_uses(p, side, &uses, &nr);

	side->stack_calls.nr_classes = side->classes.nr;
	for (size_t i = 0, end; i < nr && !err; i = end) {
		for (end = i; end < nr && uses[end].image == uses[i].image;)
			end++;
		err = open_and_add_image(p, side, uses + i, end - i);
		nr_images++;
	}
	free(uses);
	if (!err && p->request->by_line)
		err = pp_side_split_lines(p, side);
	err = err ?: pp_side_add_up_builds(side);
	if (err || !totals)
		return err ?: -ENOMEM;
	pp_message(&p->report->messages, PP_REMARK_STATS,
		   "sample files: %zu; images, each opened once: %zu",
		   side->list.nr, nr_images);
	for (size_t i = 0; i < side->nr_symbols; i++) {
		const struct pp_symbol_entry *entry = &side->symbols[i];

		if (p->request->call_graph ||
		    pp_is_wanted(p->request, entry->raw_name, entry->name))
			pp_add_all_counts(totals, entry->counts,
					  side->classes.nr);
	}
	side->symbol_totals = totals;
	return 0;
}
