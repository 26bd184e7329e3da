/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_SOURCE_LINES_H
#define LIBPP_IMAGES_SOURCE_LINES_H

/* The source lines of one symbol: its addresses, added up by line. */

#include <stddef.h>
#include <stdint.h>

#include "libpp/report/report.h"

struct pp_source_line {
	struct pp_place place; /* no file: samples that are of no known line */
	const uint64_t *counts; /* one per class */
	const uint64_t
		*all_counts; /* samples that pass the line, likewise; NULL
				unless the report has totals of lines */
};

/*
 * Set *@out to the *@nr lines of @symbol, which has details with lines, by file
 * and line: those with samples, and those that samples pass. All memory is of
 * @arena. Counts are @nr_classes. Returns 0 or
 * -ENOMEM.
 */
int pp_source_lines(struct op_arena *arena,
		    const struct pp_symbol_entry *symbol, size_t nr_classes,
		    const struct pp_source_line **out, size_t *nr);

#endif /* LIBPP_IMAGES_SOURCE_LINES_H */
