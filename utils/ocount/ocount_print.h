/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OCOUNT_OCOUNT_PRINT_H
#define UTILS_OCOUNT_OCOUNT_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "utils/ocount/ocount_result.h"

/*
 * Counts as text: a table for people, or values with commas between.
 */

struct ocount_style {
	const char *subject; /* what was counted, for the heading */
	bool separate; /* each CPU or thread by itself */
	bool brief;
	bool intervals; /* the time of day goes before each result */
};

/* Whether that went well is found with ferror(3). */
void ocount_print(FILE *file, const struct ocount_style *style,
		  const struct ocount_result *result);

#endif /* UTILS_OCOUNT_OCOUNT_PRINT_H */
