/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPANNOTATE_OPANNOTATE_TEXT_H
#define PP_OPANNOTATE_OPANNOTATE_TEXT_H

/* The output of opannotate, and what its two kinds have in common: the counts
 * before a line and the comments around them. */

#include <stdio.h>

#include "libpp/images/annotation.h"
#include "libpp/messages.h"
#include "libpp/report/report.h"
#include "pp/opannotate/opannotate_options.h"

struct opannotate_text {
	FILE *out;
	const struct pp_report *report;
	const struct opannotate_options *options;
	struct pp_messages *messages; /* to be printed behind the text */
};

/* Write the margin before a line: the counts, where lines have totals then the
 * shares of @totals, which pass the line, and " :". What is all zeros or NULL
 * is as many blanks. */
void opannotate_margin(const struct opannotate_text *t, const uint64_t *counts,
		       const uint64_t *totals);

/* Whether some count is not zero; NULL has none. */
bool opannotate_has_counts(const struct opannotate_text *t,
			   const uint64_t *counts);

/* Counts and shares of all columns. */
void opannotate_counts(const struct opannotate_text *t, const uint64_t *counts);

/* " / * NAME total: COUNTS * /" for the symbols that start in a line; of
 * several each has its counts, and the total is their sum. */
void opannotate_symbols(const struct opannotate_text *t,
			const struct pp_symbol_entry *const *symbols,
			size_t nr);

/* Write the description of the counted events, and above lines with totals what
 * the columns are; with --all also a comment with the arguments. Returns 0 or
 * -ENOMEM. */
int opannotate_header(const struct opannotate_text *t);

/* Whether some column is at least the asked percentage of its total. */
bool opannotate_passes(const struct opannotate_text *t, const uint64_t *counts);

/* Whether enough samples pass @symbol to show it for what it calls: ten times
 * the asked percentage, or that where it is asked for by its name. */
bool opannotate_is_passed(const struct opannotate_text *t,
			  const struct pp_symbol_entry *symbol);

/* Whether some column of @counts is large enough to be shown of @whole; NULL of
 * either is not. */
bool opannotate_is_hot(const struct opannotate_text *t, const uint64_t *counts,
		       const uint64_t *whole);

/* The line that opens a function, behind a blank line: its counts, and those
 * that pass it, its name, which on a terminal is shortened until all fits, and
 * @more. Returns 0 or -ENOMEM. */
int opannotate_title(const struct opannotate_text *t, const char *name,
		     const char *more, const uint64_t *counts,
		     const uint64_t *totals);

/* A line "..." for lines that are left out; @hidden are their counts. */
void opannotate_gap(const struct opannotate_text *t, const uint64_t *hidden);

/* Say how many functions are below the threshold, if any, and what they have
 * together. */
void opannotate_rest(const struct opannotate_text *t, size_t nr,
		     const uint64_t *hidden);

/* ---- the kinds of output ------------------------------------------------- */

/* Say with -ENOENT that nothing of @annotation was asked for. */
int opannotate_none_shown(const struct pp_annotation *annotation,
			  struct op_diag *diag);

/*
 * Write the functions above the threshold, file by file, the hottest first:
 * their lines with samples, and some around these. Returns 0; -ENOENT with the
 * reason in @diag if there is none of them; -ENOMEM.
 */
int opannotate_write_functions(const struct opannotate_text *text,
			       const struct pp_annotation *annotation,
			       struct op_diag *diag);

/*
 * Write source files with the samples of each line: those of @annotation that
 * are asked for, one behind the other or each in a file of its own. What is
 * wrong with one becomes a message, and the others are written. Returns 0;
 * -ENOENT if none is asked for, or -errno if not all could be written, with the
 * reason in @diag.
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

#endif /* PP_OPANNOTATE_OPANNOTATE_TEXT_H */
