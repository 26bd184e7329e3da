// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which symbols the samples are in. Each image is opened once; its sorted
 * samples and its sorted symbols are walked side by side.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/image_symbols.h"
#include "libpp/population.h"

#define NO_SYMBOL "(no symbols)"

/* One count of one sample file, with the column it belongs to. */
struct point {
	uint64_t key;
	uint64_t count;
	unsigned int class_nr;
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

static int by_key(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* All counts of @nr files by key; the caller frees them. */
static struct point *gather(const struct pp_sample_file *files, size_t nr,
			    size_t *nr_points)
{
	struct point *points;
	size_t room = 0;

	*nr_points = 0;
	for (size_t i = 0; i < nr; i++)
		room += files[i].nr_samples;
	points = calloc(room + 1, sizeof(*points));
	if (!points)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < files[i].nr_samples; j++)
			points[(*nr_points)++] = (struct point){
				.key = files[i].samples[j].key,
				.count = files[i].samples[j].count,
				.class_nr = files[i].class_nr,
			};
	qsort(points, *nr_points, sizeof(*points), by_key);
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

static bool in_list(const char *const *list,
		    const struct pp_symbol_entry *entry)
{
	for (; *list; list++)
		if (!strcmp(*list, entry->raw_name) ||
		    !strcmp(*list, entry->name))
			return true;
	return false;
}

static bool is_wanted(const struct pp_request *request,
		      const struct pp_symbol_entry *entry)
{
	if (request->include_symbols &&
	    !in_list(request->include_symbols, entry))
		return false;
	return !request->exclude_symbols ||
	       !in_list(request->exclude_symbols, entry);
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
	struct pp_detail *details = pp_arena_alloc(
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
static int describe(const struct batch *b, struct pp_symbol_entry *entry,
		    const struct pp_symbol *symbol)
{
	struct pp_arena *arena = &b->p->report->arena;
	const char *whole = b->symbols->whole;

	entry->app = b->app;
	entry->image = b->image;
	entry->raw_name = pp_arena_strdup(arena, symbol	 ? symbol->name
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
	entry->size = symbol->end - symbol->key;
	return 0;
}

static int keep_entry(struct pp_side *side, struct pp_arena *arena,
		      const struct pp_symbol_entry *entry)
{
	struct pp_symbol_entry *array = pp_arena_grow(
		arena, side->symbols, side->nr_symbols, sizeof(*entry));

	if (!array)
		return -ENOMEM;
	side->symbols = array;
	array[side->nr_symbols++] = *entry;
	return 0;
}

/* Add the entry for @nr points that are in @symbol, or in none (NULL). */
static int add_entry(const struct batch *b, const struct pp_symbol *symbol,
		     const struct point *points, size_t nr)
{
	const struct pp_request *request = b->p->request;
	struct pp_symbol_entry entry = { 0 };
	uint64_t *counts;
	int err = describe(b, &entry, symbol);

	if (err || !is_wanted(request, &entry))
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
	return keep_entry(b->side, &b->p->report->arena, &entry);
}

/* ---- side by side -------------------------------------------------------- */

/* The symbol that @key is in. *@next is the first that may be. */
static const struct pp_symbol *symbol_at(const struct pp_image_symbols *symbols,
					 size_t *next, uint64_t key)
{
	while (*next < symbols->nr && symbols->table[*next].end <= key)
		++*next;
	if (*next < symbols->nr && symbols->table[*next].key <= key)
		return &symbols->table[*next];
	return NULL;
}

/* The points without a symbol are moved together and make one entry. */
static int walk(const struct batch *b, struct point *points, size_t nr)
{
	size_t nr_loose = 0, next = 0;
	int err = 0;

	for (size_t at = 0, end; at < nr && !err; at = end) {
		const struct pp_symbol *symbol =
			symbol_at(b->symbols, &next, points[at].key);

		end = at + 1;
		if (!symbol) {
			points[nr_loose++] = points[at];
			continue;
		}
		while (end < nr && points[end].key < symbol->end)
			end++;
		err = add_entry(b, symbol, points + at, end - at);
	}
	return err || !nr_loose ? err : add_entry(b, NULL, points, nr_loose);
}

static int add_batch(struct batch *b, const struct pp_sample_file *files,
		     size_t nr_files)
{
	size_t nr;
	struct point *points = gather(files, nr_files, &nr);
	int err = points ? walk(b, points, nr) : -ENOMEM;

	free(points);
	return err;
}

/* All applications that used an image; the files are sorted by them. */
static int add_image(struct pp_population *p, struct pp_side *side,
		     const struct pp_sample_file *files, size_t nr)
{
	struct pp_image_symbols symbols;
	struct batch b = { p, side, &symbols, files->image, NULL };
	int err;

	err = pp_image_symbols_open(&symbols, files->image, side->session,
				    &side->locator, p->request->lines,
				    &p->report->messages);
	for (size_t i = 0, end; i < nr && !err; i = end) {
		for (end = i;
		     end < nr && !strcmp(files[end].app, files[i].app);)
			end++;
		b.app = files[i].app;
		err = add_batch(&b, files + i, end - i);
	}
	pp_image_symbols_release(&symbols);
	return err;
}

static int total_symbols(struct pp_population *p, struct pp_side *side)
{
	uint64_t *totals = pp_new_counts(p, side);

	if (!totals)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_symbols; i++)
		pp_add_all_counts(totals, side->symbols[i].counts,
				  side->classes.nr);
	side->symbol_totals = totals;
	return 0;
}

int pp_side_find_symbols(struct pp_population *p, struct pp_side *side)
{
	const struct pp_sample_file *files = side->list.files;
	size_t nr = side->list.nr, nr_images = 0;
	int err = 0;

	for (size_t i = 0, end; i < nr && !err; i = end) {
		for (end = i; end < nr && files[end].image == files[i].image;)
			end++;
		err = add_image(p, side, files + i, end - i);
		nr_images++;
	}
	if (!err)
		pp_message(&p->report->messages, PP_REMARK_STATS,
			   "%zu sample files, %zu images, each opened once", nr,
			   nr_images);
	return err ? err : total_symbols(p, side);
}
