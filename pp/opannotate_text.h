/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPANNOTATE_TEXT_H
#define PP_OPANNOTATE_TEXT_H

/* What annotated sources and listings have in common: the counts before a line
 * and the comments around them. */

#include <stdio.h>

#include "libpp/messages.h"
#include "libpp/report.h"
#include "pp/opannotate_options.h"

struct opannotate_text {
	FILE *out;
	const struct pp_report *report;
	const struct opannotate_options *options;
	struct pp_messages *messages; /* to be printed behind the text */
};

/* What stands before a line: the counts, or blanks as wide when they are all
 * zeros or NULL, and " :". */
void opannotate_margin(const struct opannotate_text *t, const uint64_t *counts);

/* Whether some count is not zero; NULL has none. */
bool opannotate_has_counts(const struct opannotate_text *t,
			   const uint64_t *counts);

/* Counts and shares of all columns. */
void opannotate_counts(const struct opannotate_text *t, const uint64_t *counts);

/* " / * NAME total: COUNTS * /" for the symbols that start in a line; of
 * several each name is followed by a comma, and the counts are their sum. */
void opannotate_symbols(const struct opannotate_text *t,
			const struct pp_symbol_entry *const *symbols,
			size_t nr);

/* The comment that says what was asked for and counted. Returns 0 or
 * -ENOMEM. */
int opannotate_header(const struct opannotate_text *t);

/* Whether some column is at least the asked percentage of its total. */
bool opannotate_passes(const struct opannotate_text *t, const uint64_t *counts);

#endif /* PP_OPANNOTATE_TEXT_H */
