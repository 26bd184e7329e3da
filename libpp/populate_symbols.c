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
 * Ends of arcs are points, too, that count nothing and get the number of the
 * symbol they are in; populate_calls.c goes on with these.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_search.h"
#include "libpp/population.h"

#define NO_SYMBOL "(no symbols)"

/*
 * One count of one sample file, with the column it belongs to; or an end of an
 * arc, which counts nothing, with the place for the number of its symbol.
 */
struct point {
	uint64_t key;
	uint64_t count;
	unsigned int class_nr;
	uint32_t *symbol_nr;
};

/* What a file says about one image. */
struct use {
	struct pp_image *image;
	const struct pp_sample_file *file;
	uint32_t *ends; /* of a call graph */
	unsigned int shift; /* of the keys of these ends */
};

/* The samples of one image that were taken for one application. */
struct batch {
	struct pp_population *p;
	struct pp_side *side;
	struct pp_image_symbols *symbols;
	const struct pp_image *image;
	const char *app;
};

/* ---- points -------------------------------------------------------------- */

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return op_compare(x->key, y->key);
}

/* All points of @nr uses by key; the caller frees them. */
static struct point *gather_points(const struct use *uses, size_t nr,
				   size_t *nr_points)
{
	struct point *points, *point;
	size_t room = 0;

	for (size_t i = 0; i < nr; i++)
		room += uses[i].file->nr_samples;
	*nr_points = room;
	points = point = calloc(room + 1, sizeof(*points));
	for (size_t i = 0; points && i < nr; i++) {
		const struct pp_sample_file *file = uses[i].file;
		uint32_t *ends = uses[i].ends;

		for (size_t j = 0; j < file->nr_samples; j++, point++) {
			const struct pp_sample *sample = &file->samples[j];

			point->key =
				ends ? (uint32_t)(sample->key >> uses[i].shift)
				     : sample->key;
			point->class_nr = file->class_nr;
			point->count = ends ? 0 : sample->count;
			point->symbol_nr = ends ? &ends[j] : NULL;
		}
	}
	if (points)
		qsort(points, room, sizeof(*points), compare_points);
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
		if (!strcmp(*list, raw) || !strcmp(*list, name))
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
		pp_image_symbols_place(b->symbols, key, &b->p->report->arena,
				       &place);
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
	}
	entry->details = details;
	return 0;
}

/* What is known of @symbol, or of what has no symbol (NULL). */
static int describe_entry(const struct batch *b, struct pp_symbol_entry *entry,
			  const struct pp_symbol *symbol)
{
	struct op_arena *arena = &b->p->report->arena;
	const char *whole = b->symbols->whole;

	entry->app = b->app;
	entry->image = b->image;
	entry->raw_name = op_arena_strdup(arena, symbol	 ? symbol->name
						 : whole ? whole
							 : NO_SYMBOL);
	if (!entry->raw_name)
		return -ENOMEM;
	entry->name = symbol ? pp_demangle(arena, entry->raw_name,
					   b->p->request->demangle)
			     : entry->raw_name;
	if (!symbol)
		return 0;
	entry->vma = symbol->vma;
	entry->key = symbol->key;
	entry->size = symbol->end - symbol->key;
	return 0;
}

/* Add the entry for @nr points that are in @symbol, or in none (NULL), and tell
 * ends of arcs its number. */
static int add_symbol_entry(const struct batch *b,
			    const struct pp_symbol *symbol,
			    const struct point *points, size_t nr)
{
	const struct pp_request *request = b->p->request;
	struct op_arena *arena = &b->p->report->arena;
	struct pp_side *side = b->side;
	struct pp_symbol_entry entry = { .nr = side->nr_symbols }, *all;
	uint64_t *counts;
	int err = describe_entry(b, &entry, symbol);

	/* Of a call graph, neighbours are shown whatever their names. */
	if (err || (!request->call_graph &&
		    !pp_is_wanted(request, entry.raw_name, entry.name)))
		return err;
	entry.counts = counts = pp_new_counts(b->p, side);
	if (!counts)
		return -ENOMEM;
	count_points(counts, points, nr);
	if (symbol)
		entry.place = place_of(b, symbol->key);
	if (symbol && request->code)
		entry.code = pp_image_symbols_code(b->symbols, symbol, arena);
	if (request->details && add_details(b, &entry, points, nr))
		return -ENOMEM;
	all = op_arena_grow(arena, side->symbols, entry.nr, sizeof(*all));
	if (!all || entry.nr >= UINT32_MAX)
		return -ENOMEM;
	side->symbols = all;
	all[side->nr_symbols++] = entry;
	for (size_t i = 0; i < nr; i++)
		if (points[i].symbol_nr)
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

/* The points without a symbol are moved together and make one entry. */
static int match_points_to_symbols(const struct batch *b, struct point *points,
				   size_t nr)
{
	size_t nr_loose = 0, next = 0;
	int err = 0;

	for (size_t at = 0, end; at < nr && !err; at = end) {
		const struct pp_symbol *symbol =
			next_symbol_at(b->symbols, &next, points[at].key);

		end = at + 1;
		if (!symbol) {
			points[nr_loose++] = points[at];
			continue;
		}
		while (end < nr && points[end].key < symbol->end)
			end++;
		err = add_symbol_entry(b, symbol, points + at, end - at);
	}
	return err || !nr_loose ? err
				: add_symbol_entry(b, NULL, points, nr_loose);
}

/* All applications that used an image; the uses are sorted by them. Where the
 * code of the image can be read is noted for those who list it. */
static int add_symbols_of_image(struct pp_population *p, struct pp_side *side,
				const struct use *uses, size_t nr)
{
	struct pp_image *image = uses->image;
	struct pp_image_symbols symbols;
	struct batch b = { p, side, &symbols, image, NULL };
	int err = pp_image_symbols_open(&symbols, image, side->session,
					&side->locator, side->wants,
					&p->report->messages);

	if (!err && symbols.bfd) {
		image->binary = op_arena_strdup(&p->report->arena,
						op_bfd_path(symbols.bfd));
		image->binary_bias = symbols.text;
		err = image->binary ? 0 : -ENOMEM;
	}
	for (size_t i = 0, end; i < nr && !err; i = end) {
		struct point *points;
		size_t nr_points;

		b.app = uses[i].file->app;
		for (end = i; end < nr && !strcmp(uses[end].file->app, b.app);)
			end++;
		points = gather_points(uses + i, end - i, &nr_points);
		err = points ? match_points_to_symbols(&b, points, nr_points)
			     : -ENOMEM;
		free(points);
	}
	pp_image_symbols_release(&symbols);
	return err;
}

/* ---- who uses which image ------------------------------------------------ */

static int compare_image_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return strcmp(x->image->name, y->image->name) ?:
	       op_compare((uintptr_t)x->image, (uintptr_t)y->image) ?:
	       strcmp(x->file->app, y->file->app) ?:
	       strcmp(x->file->path, y->file->path);
}

/* Set *@out to the *@nr uses that @side's files make of images, by image and
 * application; the caller frees them. A call graph uses two images. */
static int find_uses(struct pp_population *p, const struct pp_side *side,
		     struct use **out, size_t *nr)
{
	struct op_arena *arena = &p->report->arena;
	struct use *uses = calloc(2 * side->list.nr + 1, sizeof(*uses));

	*out = uses;
	*nr = 0;
	for (size_t i = 0; uses && i < side->list.nr; i++) {
		struct pp_sample_file *file = &side->list.files[i];

		if (!pp_is_call_graph(file)) {
			uses[(*nr)++] =
				(struct use){ file->image, file, NULL, 0 };
			continue;
		}
		file->callers = op_arena_alloc(arena, file->nr_samples,
					       sizeof(*file->callers));
		file->callees = op_arena_alloc(arena, file->nr_samples,
					       sizeof(*file->callees));
		if (!file->callers || !file->callees)
			return -ENOMEM;
		uses[(*nr)++] =
			(struct use){ file->image, file, file->callers, 32 };
		uses[(*nr)++] =
			(struct use){ file->callee, file, file->callees, 0 };
	}
	if (uses)
		qsort(uses, *nr, sizeof(*uses), compare_image_uses);
	return uses ? 0 : -ENOMEM;
}

/* Names choose which blocks of a call graph are shown, not what shares are
 * of. */
int pp_side_find_symbols(struct pp_population *p, struct pp_side *side)
{
	uint64_t *totals = pp_new_counts(p, side);
	size_t nr, nr_images = 0;
	struct use *uses;
	int err = find_uses(p, side, &uses, &nr);

	for (size_t i = 0, end; i < nr && !err; i = end) {
		for (end = i; end < nr && uses[end].image == uses[i].image;)
			end++;
		err = add_symbols_of_image(p, side, uses + i, end - i);
		nr_images++;
	}
	free(uses);
	err = err ?: pp_side_add_up_builds(side);
	if (err || !totals)
		return err ?: -ENOMEM;
	pp_message(&p->report->messages, PP_REMARK_STATS,
		   "%zu sample files, %zu images, each opened once",
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
