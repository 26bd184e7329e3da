// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of symbols in a report. The keys that were asked for come first,
 * and behind them all others in their usual order, so that the order of rows
 * never depends on the order in which files were found.
 *
 * Most rows have as many samples as many others, so paths are compared often.
 * There are few different ones: they are sorted first, and rows compare their
 * ranks. Rows are large: small items are sorted instead, and then each row is
 * moved once.
 */

#include "libpp/report/sort.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_arena.h"
#include "libop/options/op_perf_habits.h"
#include "libop/base/op_search.h"
#include "libop/base/op_strings.h"
#include "libpp/report/report.h"

static const char *const key_names[PP_NR_SORT_KEYS] = {
	[PP_SORT_SAMPLE] = "sample", [PP_SORT_TOTAL] = "total",
	[PP_SORT_IMAGE] = "image",   [PP_SORT_APP] = "app-name",
	[PP_SORT_SYMBOL] = "symbol", [PP_SORT_DEBUG] = "debug",
	[PP_SORT_VMA] = "vma",	     [PP_SORT_DIFF] = "diff",
};

static bool has_key(const struct pp_sort *sort, int nr, enum pp_sort_key key)
{
	for (int i = 0; i < nr; i++)
		if (sort->keys[i] == key)
			return true;
	return false;
}

static int parse_sort_key(const char *text, size_t len)
{
	for (int key = 0; key < PP_NR_SORT_KEYS; key++)
		if (strlen(key_names[key]) == len &&
		    !strncmp(key_names[key], text, len))
			return key;
	return -EINVAL;
}

static int refuse_sort_key(const char *text, size_t len, struct op_diag *diag)
{
	char option[32];

	snprintf(option, sizeof(option), "--sort=%.*s", (int)len, text);
	return op_perf_habit(diag, "opreport", option, NULL)
		       ?: op_diag_set(
				  diag, -EINVAL,
				  "--sort=%.*s: unknown key; use sample, total, image, app-name, symbol, debug, vma or diff",
				  (int)len, text);
}

int pp_sort_init(struct pp_sort *sort, const char *text, struct op_diag *diag)
{
	int nr = 0;

	sort->is_default = !text || !*text;
	while (text && *text) {
		size_t len = strcspn(text, ",");
		int key = parse_sort_key(text, len);

		if (key < 0)
			return refuse_sort_key(text, len, diag);
		if (!has_key(sort, nr, key))
			sort->keys[nr++] = key;
		sort->wants_total |= key == PP_SORT_TOTAL;
		sort->wants_diff |= key == PP_SORT_DIFF;
		text += len + (text[len] == ',');
	}
	for (int key = 0; key < PP_NR_SORT_KEYS; key++)
		if (!has_key(sort, nr, key))
			sort->keys[nr++] = key;
	return 0;
}

static int compare_paths(const struct pp_sort *sort, const char *a,
			 const char *b)
{
	int order =
		sort->long_names ? 0 : strcmp(pp_base_name(a), pp_base_name(b));

	/* Two of one name stay apart. */
	return order ? order : strcmp(a, b);
}

/* ---- ranks of paths ------------------------------------------------------ */

/* A row on its way to its place. */
struct sort_item {
	const struct pp_symbol_entry *entry;
	uint64_t count;
	/* Numbers of paths, then their ranks. */
	uint32_t image, app, file;
	uint32_t nr; /* where the row was */
};

/* Rows beside each other mostly have the same path: @last is the one before. */
static int number_path(struct op_strings *paths, const char **last,
		       const char *path, uint32_t *number)
{
	if (path == *last)
		return 0;
	*last = path;
	return op_strings_number(paths, path, number);
}

static int number_paths(struct op_strings *paths, struct sort_item *items,
			size_t nr)
{
	const char *image = NULL, *app = NULL, *file = NULL;
	struct sort_item item = { .nr = 0 };
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const struct pp_symbol_entry *entry = items[i].entry;

		err = number_path(paths, &image, entry->image->name,
				  &item.image)
			      ?: number_path(paths, &app, entry->app, &item.app)
			      ?: number_path(paths, &file,
					     entry->place.file ?: "",
					     &item.file);
		items[i].image = item.image;
		items[i].app = item.app;
		items[i].file = item.file;
	}
	return err;
}

struct ranked_path {
	const char *path;
	uint32_t number;
};

static int compare_ranked_paths(const void *a, const void *b, void *arg)
{
	const struct ranked_path *x = a, *y = b;

	return compare_paths(arg, x->path, y->path);
}

/* Put the rank of each path into @ranks, by its number. */
static int rank_paths(const struct pp_sort *sort,
		      const struct op_strings *paths, uint32_t *ranks)
{
	struct ranked_path *sorted = calloc(paths->nr + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < paths->nr; i++)
		sorted[i] = (struct ranked_path){ paths->list[i], i };
	qsort_r(sorted, paths->nr, sizeof(*sorted), compare_ranked_paths,
		(void *)sort);
	for (uint32_t i = 0; i < paths->nr; i++)
		ranks[sorted[i].number] = i;
	free(sorted);
	return 0;
}

static int rank_items(const struct pp_sort *sort, struct sort_item *items,
		      size_t nr)
{
	struct op_strings paths;
	struct op_arena arena;
	uint32_t *ranks = NULL;
	int err;

	op_arena_init(&arena);
	op_strings_init(&paths, &arena);
	err = number_paths(&paths, items, nr);
	if (!err)
		ranks = calloc(paths.nr + 1, sizeof(*ranks));
	if (!err)
		err = ranks ? rank_paths(sort, &paths, ranks) : -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++) {
		items[i].image = ranks[items[i].image];
		items[i].app = ranks[items[i].app];
		items[i].file = ranks[items[i].file];
	}
	free(ranks);
	op_strings_release(&paths);
	op_arena_release(&arena);
	return err;
}

/* ---- sorting ------------------------------------------------------------- */

/* Without a comparison nothing changed. */
static double change_of(const struct sort_item *item)
{
	return item->entry->changes ? item->entry->changes[0].percent : 0;
}

static int compare_by(enum pp_sort_key key, const struct sort_item *a,
		      const struct sort_item *b)
{
	switch (key) {
	case PP_SORT_TOTAL:
		return a->entry->all_counts
			       ? op_compare(b->entry->all_counts[0],
					    a->entry->all_counts[0])
			       : 0;
	case PP_SORT_IMAGE:
		return op_compare(a->image, b->image);
	case PP_SORT_APP:
		return op_compare(a->app, b->app);
	case PP_SORT_SYMBOL:
		return strcmp(a->entry->name, b->entry->name);
	case PP_SORT_DEBUG:
		return op_compare(a->file, b->file)
			       ?: op_compare(a->entry->place.line,
					     b->entry->place.line);
	case PP_SORT_VMA:
		return op_compare(a->entry->vma, b->entry->vma);
	case PP_SORT_DIFF:
		return (change_of(a) < change_of(b)) -
		       (change_of(a) > change_of(b));
	default:
		return op_compare(b->count, a->count);
	}
}

static int compare_items(const void *a, const void *b, void *arg)
{
	const struct sort_item *x = a, *y = b;
	const struct pp_sort *sort = arg;

	if (sort->by_difference) {
		double a_size = fabs(x->entry->changes[0].difference);
		double b_size = fabs(y->entry->changes[0].difference);

		if (a_size != b_size)
			return (a_size < b_size) != sort->reverse ? 1 : -1;
	}
	for (int i = 0; i < PP_NR_SORT_KEYS; i++) {
		int order = compare_by(sort->keys[i], x, y);

		if (order)
			return sort->reverse ? -order : order;
	}
	return op_compare(x->nr, y->nr);
}

/* Move each row to where its item is: around each circle of places, of which
 * one row waits outside. */
static void move_rows(struct pp_symbol_entry *symbols, struct sort_item *items,
		      size_t nr)
{
	for (uint32_t first = 0; first < nr; first++) {
		struct pp_symbol_entry waits = symbols[first];
		uint32_t to = first;

		while (items[to].nr != first) {
			uint32_t from = items[to].nr;

			symbols[to] = symbols[from];
			items[to].nr = to;
			to = from;
		}
		symbols[to] = waits;
		items[to].nr = to;
	}
}

int pp_sort_symbols(const struct pp_sort *sort, struct pp_symbol_entry *symbols,
		    size_t nr)
{
	struct sort_item *items = calloc(nr + 1, sizeof(*items));
	int err = 0;

	if (!items || nr > UINT32_MAX) {
		free(items);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nr; i++)
		items[i] = (struct sort_item){
			.entry = &symbols[i],
			.count = pp_sum_counts(pp_shown_counts(&symbols[i]),
					       sort->nr_counts),
			.nr = i,
		};
	err = rank_items(sort, items, nr);
	if (!err) {
		qsort_r(items, nr, sizeof(*items), compare_items, (void *)sort);
		move_rows(symbols, items, nr);
	}
	free(items);
	return err;
}
