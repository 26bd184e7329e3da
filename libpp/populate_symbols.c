// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which symbols the samples are in. Each image is opened once; its sorted
 * samples and its sorted symbols are walked side by side.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

	return (x->key > y->key) - (x->key < y->key);
}

static void gather_points_of_use(const struct use *use, struct point *points)
{
	const struct pp_sample_file *file = use->file;

	for (size_t i = 0; i < file->nr_samples; i++) {
		const struct pp_sample *sample = &file->samples[i];

		points[i].key = sample->key;
		points[i].class_nr = file->class_nr;
		if (use->ends) {
			points[i].key = (uint32_t)(sample->key >> use->shift);
			points[i].symbol_nr = &use->ends[i];
		} else {
			points[i].count = sample->count;
		}
	}
}

/* All points of @nr uses by key; the caller frees them. */
static struct point *gather_points(const struct use *uses, size_t nr,
				   size_t *nr_points)
{
	struct point *points;
	size_t room = 0;

	*nr_points = 0;
	for (size_t i = 0; i < nr; i++)
		room += uses[i].file->nr_samples;
	points = calloc(room + 1, sizeof(*points));
	if (!points)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		gather_points_of_use(&uses[i], points + *nr_points);
		*nr_points += uses[i].file->nr_samples;
	}
	qsort(points, *nr_points, sizeof(*points), compare_points);
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

static size_t count_keys(const struct point *points, size_t nr)
{
	size_t keys = 0;

	for (size_t i = 0; i < nr; i++)
		keys += !i || points[i].key != points[i - 1].key;
	return keys;
}

/* The addresses of an entry, from its points. */
static int add_details(const struct batch *b, struct pp_symbol_entry *entry,
		       const struct point *points, size_t nr)
{
	struct pp_detail *details = op_arena_alloc(
		&b->p->report->arena, count_keys(points, nr), sizeof(*details));

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

static int keep_entry(struct pp_side *side, struct op_arena *arena,
		      struct pp_symbol_entry *entry)
{
	struct pp_symbol_entry *array = op_arena_grow(
		arena, side->symbols, side->nr_symbols, sizeof(*entry));

	if (!array || side->nr_symbols >= UINT32_MAX)
		return -ENOMEM;
	entry->nr = side->nr_symbols++;
	side->symbols = array;
	array[entry->nr] = *entry;
	return 0;
}

static void set_symbol_numbers(const struct point *points, size_t nr,
			       size_t symbol_nr)
{
	for (size_t i = 0; i < nr; i++)
		if (points[i].symbol_nr)
			*points[i].symbol_nr = (uint32_t)symbol_nr;
}

/* Add the entry for @nr points that are in @symbol, or in none (NULL). */
static int add_symbol_entry(const struct batch *b,
			    const struct pp_symbol *symbol,
			    const struct point *points, size_t nr)
{
	const struct pp_request *request = b->p->request;
	struct pp_symbol_entry entry = { 0 };
	uint64_t *counts;
	int err = describe_entry(b, &entry, symbol);

	/* Of a call graph, neighbours are shown whatever their names. */
	if (err || (!request->call_graph &&
		    !pp_is_wanted(request, entry.raw_name, entry.name)))
		return err;
	counts = pp_new_counts(b->p, b->side);
	if (!counts)
		return -ENOMEM;
	count_points(counts, points, nr);
	entry.counts = counts;
	if (symbol)
		entry.place = place_of(b, symbol->key);
	if (symbol && request->code)
		entry.code = pp_image_symbols_code(b->symbols, symbol,
						   &b->p->report->arena);
	if (request->details && add_details(b, &entry, points, nr))
		return -ENOMEM;
	err = keep_entry(b->side, &b->p->report->arena, &entry);
	if (!err)
		set_symbol_numbers(points, nr, entry.nr);
	return err;
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

static int add_batch(struct batch *b, const struct use *uses, size_t nr_uses)
{
	size_t nr;
	struct point *points = gather_points(uses, nr_uses, &nr);
	int err = points ? match_points_to_symbols(b, points, nr) : -ENOMEM;

	free(points);
	return err;
}

/* Say where the code of @image can be read. */
static int note_binary(struct pp_population *p, struct pp_image *image,
		       const struct pp_image_symbols *symbols)
{
	if (!symbols->bfd)
		return 0;
	image->binary =
		op_arena_strdup(&p->report->arena, op_bfd_path(symbols->bfd));
	image->binary_bias = symbols->text;
	return image->binary ? 0 : -ENOMEM;
}

/* All applications that used an image; the uses are sorted by them. */
static int add_symbols_of_image(struct pp_population *p, struct pp_side *side,
				const struct use *uses, size_t nr)
{
	struct pp_image_symbols symbols;
	struct batch b = { p, side, &symbols, uses->image, NULL };
	int err;

	err = pp_image_symbols_open(&symbols, uses->image, side->session,
				    &side->locator, side->wants,
				    &p->report->messages);
	if (!err)
		err = note_binary(p, uses->image, &symbols);
	for (size_t i = 0, end; i < nr && !err; i = end) {
		b.app = uses[i].file->app;
		for (end = i; end < nr && !strcmp(uses[end].file->app, b.app);)
			end++;
		err = add_batch(&b, uses + i, end - i);
	}
	pp_image_symbols_release(&symbols);
	return err;
}

/* ---- who uses which image ------------------------------------------------ */

static int compare_image_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	int order = strcmp(x->image->name, y->image->name);

	if (!order)
		order = (x->image > y->image) - (x->image < y->image);
	if (!order)
		order = strcmp(x->file->app, y->file->app);
	return order ? order : strcmp(x->file->path, y->file->path);
}

static int add_call_graph(struct op_arena *arena, struct pp_sample_file *file,
			  struct use *uses)
{
	file->callers =
		op_arena_alloc(arena, file->nr_samples, sizeof(*file->callers));
	file->callees =
		op_arena_alloc(arena, file->nr_samples, sizeof(*file->callees));
	if (!file->callers || !file->callees)
		return -ENOMEM;
	uses[0] = (struct use){ file->image, file, file->callers, 32 };
	uses[1] = (struct use){ file->callee, file, file->callees, 0 };
	return 0;
}

/* Set *@out to the *@nr uses that @side's files make of images, by image and
 * application; the caller frees them. */
static int find_uses(struct pp_population *p, const struct pp_side *side,
		     struct use **out, size_t *nr)
{
	struct use *uses = calloc(2 * side->list.nr + 1, sizeof(*uses));
	int err = uses ? 0 : -ENOMEM;

	*out = uses;
	*nr = 0;
	for (size_t i = 0; i < side->list.nr && !err; i++) {
		struct pp_sample_file *file = &side->list.files[i];

		if (!pp_is_call_graph(file)) {
			uses[(*nr)++] =
				(struct use){ file->image, file, NULL, 0 };
			continue;
		}
		err = add_call_graph(&p->report->arena, file, uses + *nr);
		*nr += 2;
	}
	if (!err)
		qsort(uses, *nr, sizeof(*uses), compare_image_uses);
	return err;
}

/* ---- all of it ----------------------------------------------------------- */

/* Names choose which blocks of a call graph are shown, not what shares are
 * of. */
static int total_symbols(struct pp_population *p, struct pp_side *side)
{
	uint64_t *totals = pp_new_counts(p, side);

	if (!totals)
		return -ENOMEM;
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

int pp_side_find_symbols(struct pp_population *p, struct pp_side *side)
{
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
	if (!err)
		pp_message(&p->report->messages, PP_REMARK_STATS,
			   "%zu sample files, %zu images, each opened once",
			   side->list.nr, nr_images);
	return err ? err : total_symbols(p, side);
}
