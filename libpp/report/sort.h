/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_REPORT_SORT_H
#define LIBPP_REPORT_SORT_H

/* In which order a report shows its symbols. */

#include <stdbool.h>
#include <stddef.h>

#include "libop/base/op_diag.h"

struct pp_symbol_entry; /* libpp/report/report.h */

enum pp_sort_key {
	PP_SORT_SAMPLE, /* descending, by the first class */
	PP_SORT_TOTAL, /* likewise, and what was called; if that is known */
	PP_SORT_IMAGE,
	PP_SORT_APP,
	PP_SORT_SYMBOL,
	PP_SORT_DEBUG, /* by source file, as images are, and line */
	PP_SORT_VMA,
	PP_SORT_DIFF, /* of a comparison: what grew most first */
	PP_NR_SORT_KEYS
};

struct pp_sort {
	enum pp_sort_key keys[PP_NR_SORT_KEYS]; /* most important first */
	bool wants_total, wants_diff; /* they were asked for */
	bool is_default; /* no key was asked for */
	bool by_difference; /* before all keys, whatever has changed most */
	bool reverse;
	size_t nr_counts; /* of a symbol, the sum of which matters */
	bool long_names; /* compare whole paths, not base names */
};

/*
 * Fill @sort with the keys in @text, a comma list of sample, total, image,
 * app-name, symbol, debug, vma and diff (NULL for none), and behind them those
 * that it leaves out. Returns 0 or -EINVAL with the reason in @diag.
 */
int pp_sort_init(struct pp_sort *sort, const char *text, struct op_diag *diag);

/* Sort @nr entries; those that are equal in all keys keep their order. Returns
 * 0, or -ENOMEM with @symbols as they were. */
int pp_sort_symbols(const struct pp_sort *sort, struct pp_symbol_entry *symbols,
		    size_t nr);

#endif /* LIBPP_REPORT_SORT_H */
