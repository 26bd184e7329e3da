/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPANNOTATE_TEXT_H
#define PP_OPANNOTATE_TEXT_H

/* The output of opannotate, and what its two kinds have in common: the counts
 * before a line and the comments around them. */

#include <stdio.h>

#include "libpp/annotation.h"
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

/* ---- the two kinds of output --------------------------------------------- */

/*
 * Write source files with the samples of each line: those of @annotation that
 * are asked for, one behind the other or each in a file of its own. What is
 * wrong with one becomes a message, and the others are written. Returns 0;
 * -errno with the reason in @diag.
 */
int opannotate_write_source(const struct opannotate_text *text,
			    const struct pp_annotation *annotation,
			    struct op_diag *diag);

/*
 * Write the instructions of the report, which has details, with the samples of
 * each, image by image, symbol by symbol; with --source the source lines stand
 * before what was made of them. An image whose code is not to be had is said on
 * standard error. Returns 0; -ENOENT with the reason in @diag if no symbol is
 * left to show; -ENOMEM.
 */
int opannotate_write_assembly(const struct opannotate_text *text,
			      struct op_diag *diag);

#endif /* PP_OPANNOTATE_TEXT_H */
