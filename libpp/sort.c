// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of symbols in a report. The keys that were asked for come first,
 * and behind them all others in their usual order, so that the order of rows
 * never depends on the order in which files were found.
 */

#include "libpp/sort.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_search.h"
#include "libpp/report.h"

static const char *const key_names[PP_NR_SORT_KEYS] = {
	[PP_SORT_SAMPLE] = "sample", [PP_SORT_TOTAL] = "total",
	[PP_SORT_IMAGE] = "image",   [PP_SORT_APP] = "app-name",
	[PP_SORT_SYMBOL] = "symbol", [PP_SORT_DEBUG] = "debug",
	[PP_SORT_VMA] = "vma",
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

int pp_sort_init(struct pp_sort *sort, const char *text, struct op_diag *diag)
{
	int nr = 0;

	while (text && *text) {
		size_t len = strcspn(text, ",");
		int key = parse_sort_key(text, len);

		if (key < 0)
			return op_diag_set(
				diag, -EINVAL,
				"--sort=%.*s: unknown key; use sample, total, image, app-name, symbol, debug or vma",
				(int)len, text);
		if (!has_key(sort, nr, key))
			sort->keys[nr++] = key;
		sort->wants_total |= key == PP_SORT_TOTAL;
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

static int compare_by(const struct pp_sort *sort, enum pp_sort_key key,
		      const struct pp_symbol_entry *a,
		      const struct pp_symbol_entry *b)
{
	switch (key) {
	case PP_SORT_TOTAL:
		return a->all_counts
			       ? op_compare(b->all_counts[0], a->all_counts[0])
			       : 0;
	case PP_SORT_IMAGE:
		return compare_paths(sort, a->image->name, b->image->name);
	case PP_SORT_APP:
		return compare_paths(sort, a->app, b->app);
	case PP_SORT_SYMBOL:
		return strcmp(a->name, b->name);
	case PP_SORT_DEBUG:
		return compare_paths(sort, a->place.file ?: "",
				     b->place.file ?: "")
			       ?: op_compare(a->place.line, b->place.line);
	case PP_SORT_VMA:
		return op_compare(a->vma, b->vma);
	default:
		return op_compare(pp_shown_counts(b)[0], pp_shown_counts(a)[0]);
	}
}

static int compare_symbols(const void *a, const void *b, void *arg)
{
	const struct pp_sort *sort = arg;

	for (int i = 0; i < PP_NR_SORT_KEYS; i++) {
		int order = compare_by(sort, sort->keys[i], a, b);

		if (order)
			return sort->reverse ? -order : order;
	}
	return 0;
}

void pp_sort_symbols(const struct pp_sort *sort,
		     struct pp_symbol_entry *symbols, size_t nr)
{
	if (nr)
		qsort_r(symbols, nr, sizeof(*symbols), compare_symbols,
			(void *)sort);
}
