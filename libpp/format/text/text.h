/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_TEXT_TEXT_H
#define LIBPP_FORMAT_TEXT_TEXT_H

/* Declarations that the files of the text format share. */

#include "libop/base/op_arena.h"
#include "libop/base/op_decimal.h"
#include "libpp/format/format.h"
#include "libpp/format/text/text_paths.h"
#include "libpp/format/text/text_rows.h"

#define PP_PERCENT_LEN OP_DECIMAL_LEN
#define PP_INTERVAL_LEN 80

/* A report on its way out. */
struct pp_text {
	FILE *out;
	const struct pp_report *report;
	const struct pp_format_options *options;
	bool show_image, show_app;
	int vma_digits;
	size_t pending; /* blanks owed before the next field */
	const struct pp_task_rows *rows; /* tasks in rows; NULL: in columns */
	size_t nr_columns;
	bool has_times; /* counts that stand for time are shown as seconds */
	const uint64_t *totals; /* of all samples, one per column */
	size_t column; /* where they begin */
	/* Of fields, which may be those of source lines. */
	size_t place_width, image_width, app_width, name_width;
	struct pp_short_paths shorts; /* of the images and applications shown */
	struct op_arena *arena; /* of names that were changed */
};

/* @name, or where it has characters that end a line or a column, a copy with
 * '?' in their place. */
const char *pp_text_plain(const struct pp_text *t, const char *name);

/* The same of @name or its short form (text_paths.h), as asked for. */
const char *pp_text_name(const struct pp_text *t, const char *name);

/* Seven characters for every ordinary value. @buf has PP_PERCENT_LEN bytes. */
const char *pp_text_percent(char *buf, double percent);

/*
 * The head of a column of counts: "samples" or, where counts are seconds, what
 * the samples of the column are the time of: "CPU s", "waited s", "elapsed s".
 * Then a count as the column has it, in samples or in seconds. @buf has
 * OP_DECIMAL_LEN bytes.
 */
const char *pp_text_count_head(const struct pp_text *t, size_t column);
const char *pp_text_count(char *buf, const struct pp_text *t, size_t column,
			  uint64_t count);

/* "LOW-HIGH" in percent, of counts that are samples times @scale. @buf has
 * PP_INTERVAL_LEN bytes. */
const char *pp_text_interval(char *buf, uint64_t part, uint64_t whole,
			     double scale);

void pp_text_header(const struct pp_text *t);

/* The same of a report, with a line for each class. */
void pp_text_describe(FILE *out, const struct pp_report *report,
		      const struct pp_format_options *options);
/* A line for each class of a comparison whose counts can be compared: how much
 * more time or events all samples are. */
void pp_text_describe_change(FILE *out, const struct pp_report *report);
/* Returns 0 or -ENOMEM. */
int pp_text_summary(const struct pp_text *t);

/* The unit in which a change is written that has a measure (struct pp_measure).
 */
struct pp_text_unit {
	double per_sample; /* of that unit */
	int decimals;
	const char *name; /* in the head of a column: "s", "M" */
	const char *words; /* behind a number, with the blank before it */
};

/* Whether counts of a class can be compared; then in which unit, how all of
 * them have changed, and a change and its interval in that unit. Buffers have
 * PP_INTERVAL_LEN bytes. */
#define PP_TEXT_GROUPED_LEN (OP_DECIMAL_LEN * 2)
bool pp_text_has_measure(const struct pp_text *t, size_t class_nr);
struct pp_text_unit pp_text_unit(const struct pp_text *t, size_t class_nr);
void pp_text_compared(const struct pp_text *t, size_t class_nr);
/* "0.58 -> 0.30 s of CPU, -48 % (95 %: -52 to -43 %)": a count of such a class
 * in both profiles. */
void pp_text_write_growth(FILE *out, const struct pp_report *report,
			  size_t class_nr, uint64_t old, uint64_t now);
void pp_text_difference(char *buf, const struct pp_text_unit *unit,
			const struct pp_change *change);
void pp_text_difference_interval(char *buf, const struct pp_text_unit *unit,
				 const struct pp_change *change);

/* The class that column @column of @t is of. */
const struct pp_class *pp_text_column(const struct pp_text *t, size_t column);

/* The table of symbols, a call graph, the call tree, symbols over time, or
 * threads. Each
 * returns 0 or -ENOMEM. */
int pp_text_symbols(struct pp_text *t);
int pp_text_call_graph(struct pp_text *t);
int pp_text_tree(struct pp_text *t);
int pp_text_over_time(struct pp_text *t);
int pp_text_threads(struct pp_text *t);

/* A row of such a table. */
struct pp_text_row {
	const struct pp_symbol_entry *entry;
	const uint64_t *counts; /* to show for it */
	const uint64_t *totals; /* that shares are of, one per column */
	uint64_t *running; /* cumulative counts, likewise; NULL to show none */
	size_t task; /* where tasks are in rows: which */
	const char *mark; /* behind the name */
};

void pp_text_row(struct pp_text *t, const struct pp_text_row *row);
/* Choose the columns and, if asked for, write their heads. */
void pp_text_table_begin(struct pp_text *t);

#endif /* LIBPP_FORMAT_TEXT_TEXT_H */
