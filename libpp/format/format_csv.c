// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comma-separated values (RFC 4180, but lines end in a line feed), one row for
 * each count that is not 0, so that a spreadsheet or awk can filter rows
 * without knowing how many classes there are. The first column is the version
 * of the layout, the second the kind of the row; columns that say nothing
 * about a kind are empty. doc/reports.md describes the columns. A change of
 * their meaning raises CSV_VERSION; a new column is added at the end.
 */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "libpp/format/format.h"
#include "libpp/report/interval.h"

#define CSV_VERSION "1"

struct csv {
	FILE *out;
	const struct pp_report *report;
	const struct pp_format_options *options;
	bool has_tasks; /* the columns that tell them are there */
	size_t nr_columns; /* without those */
	size_t *nr_fields; /* of the row being written */
};

/* The fields that say what a row is about; NULL is an empty field. */
struct row {
	const char *kind;
	const struct pp_class *class;
	const char *app, *image, *symbol;
	uint64_t vma;
	bool has_vma;
	const struct pp_place *place;
};

/* ---- fields -------------------------------------------------------------- */

static void csv_next_field(const struct csv *csv)
{
	fputc(',', csv->out);
	++*csv->nr_fields;
}

/*
 * A spreadsheet takes a field for a formula by its first character, quoted or
 * not, and whoever builds a program names its symbols and files. An apostrophe
 * makes it text. Spreadsheets of some languages separate fields by semicolons,
 * so that these need quotes, too, lest a formula begin after one.
 */
static void csv_write_text(const struct csv *csv, const char *text)
{
	const bool is_quoted = text && strpbrk(text, "\",;\t\n\r");

	csv_next_field(csv);
	if (!text || !*text)
		return;
	if (is_quoted)
		fputc('"', csv->out);
	if (strchr("=+-@\t\n\r", *text))
		fputc('\'', csv->out);
	if (!is_quoted) {
		fputs(text, csv->out);
		return;
	}
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', csv->out);
		fputc(*text, csv->out);
	}
	fputc('"', csv->out);
}

/* Spreadsheets know no infinity: an empty field. */
static void csv_write_double(const struct csv *csv, double value)
{
	csv_next_field(csv);
	if (isfinite(value))
		fprintf(csv->out, "%.9g", value);
}

static void csv_write_count(const struct csv *csv, uint64_t count)
{
	csv_next_field(csv);
	fprintf(csv->out, "%" PRIu64, count);
}

static void csv_write_head(const struct csv *csv)
{
	fputs("version,row,class,application,image,symbol,address,file,line,samples,percent",
	      csv->out);
	if (csv->report->intervals)
		fputs(",percent_low,percent_high", csv->out);
	if (csv->report->old.made)
		fputs(",old_samples,old_percent,change_percent", csv->out);
	if (csv->report->old.made && csv->report->intervals)
		fputs(",change_low,change_high,p,significant", csv->out);
	if (csv->report->calls.made)
		fputs(",cumulative,of_application,of_image,of_symbol,of_address",
		      csv->out);
	if (csv->report->stack_totals.made)
		fputs(",total,total_percent", csv->out);
	if (csv->report->stack_totals.made && csv->report->intervals)
		fputs(",total_percent_low,total_percent_high", csv->out);
	if (csv->report->lines.split)
		fputs(",source", csv->out);
	if (csv->report->summary.threads.made)
		fputs(",name,tgid,tid,threads,seconds", csv->out);
	if (csv->has_tasks)
		fputs(",process,thread,cgroup", csv->out);
	fputc('\n', csv->out);
}

static void csv_write_row(const struct csv *csv, const struct row *row)
{
	const struct pp_place *place = row->place;

	fputs(CSV_VERSION, csv->out);
	*csv->nr_fields = 1;
	csv_write_text(csv, row->kind);
	csv_write_text(csv, row->class ? row->class->name : NULL);
	csv_write_text(csv, row->app);
	csv_write_text(csv, row->image);
	csv_write_text(csv, row->symbol);
	csv_next_field(csv);
	if (row->has_vma)
		fprintf(csv->out, "0x%" PRIx64, row->vma);
	csv_write_text(csv, place ? place->file : NULL);
	csv_next_field(csv);
	if (place && place->file)
		fprintf(csv->out, "%u", place->line);
}

/* The end of @row: what tells tasks is in the last columns, whatever the kind
 * of the row has before. */
static void csv_end_row(const struct csv *csv, const struct row *row)
{
	const struct pp_class *class = row->class;

	if (csv->has_tasks && class) {
		while (*csv->nr_fields < csv->nr_columns)
			csv_next_field(csv);
		csv_write_text(csv, class->process);
		csv_write_text(csv, class->thread);
		csv_write_text(csv, class->cgroup);
	}
	fputc('\n', csv->out);
}

static void csv_write_share(const struct csv *csv, const struct pp_class *class,
			    uint64_t part, uint64_t whole)
{
	struct pp_interval interval =
		pp_scaled_share_interval(part, whole, pp_class_grain(class));

	csv_write_count(csv, part);
	csv_write_double(csv, pp_percent(part, whole));
	if (!csv->report->intervals)
		return;
	csv_write_double(csv, 100 * interval.low);
	csv_write_double(csv, 100 * interval.high);
}

static void csv_write_change(const struct csv *csv,
			     const struct pp_symbol_entry *entry, size_t c)
{
	const struct pp_change *change = &entry->changes[c];

	csv_write_count(csv, entry->old_counts[c]);
	csv_write_double(csv, pp_percent(entry->old_counts[c],
					 csv->report->old.symbol_totals[c]));
	csv_write_double(csv, change->percent);
	if (!csv->report->intervals)
		return;
	csv_write_double(csv, change->low);
	csv_write_double(csv, change->high);
	csv_write_double(csv, change->p);
	csv_write_count(csv, change->significant);
}

/* ---- rows ---------------------------------------------------------------- */

static void csv_write_image(const struct csv *csv,
			    const struct pp_summary_app *app,
			    const struct pp_summary_image *image)
{
	const struct pp_report *report = csv->report;

	for (size_t c = 0; c < report->classes.nr; c++) {
		struct row row = { .kind = "image",
				   .class = &report->classes.classes[c],
				   .app = app->name,
				   .image = image->name };

		if (!image->counts[c])
			continue;
		csv_write_row(csv, &row);
		csv_write_share(csv, row.class, image->counts[c],
				report->totals[c]);
		csv_end_row(csv, &row);
	}
}

static void csv_write_details(const struct csv *csv,
			      const struct pp_symbol_entry *entry,
			      struct row *row)
{
	const struct pp_report *report = csv->report;

	row->kind = "address";
	row->has_vma = true;
	for (size_t i = 0; i < entry->nr_details; i++) {
		const struct pp_detail *detail = &entry->details[i];

		row->vma = detail->vma;
		row->place = &detail->place;
		for (size_t c = 0; c < report->classes.nr; c++) {
			if (!detail->counts[c])
				continue;
			row->class = &report->classes.classes[c];
			csv_write_row(csv, row);
			csv_write_share(csv, row->class, detail->counts[c],
					report->symbols.totals[c]);
			csv_end_row(csv, row);
		}
	}
}

static struct row csv_row_of(const struct pp_symbol_entry *entry,
			     const char *kind)
{
	return (struct row){ .kind = kind,
			     .app = entry->app,
			     .image = entry->image->name,
			     .symbol = entry->name,
			     .vma = entry->vma,
			     .has_vma = entry->size != 0,
			     .place = &entry->place };
}

/* Callers or callees of @entry; its own samples have a row anyway. */
static void csv_write_arcs(const struct csv *csv, const char *kind,
			   const struct pp_symbol_entry *entry,
			   const struct pp_arc *arcs, size_t nr,
			   const uint64_t *totals)
{
	for (size_t i = 0; i < nr; i++) {
		struct row row = csv_row_of(arcs[i].other, kind);

		for (size_t c = 0; c < csv->report->classes.nr; c++) {
			if (arcs[i].self || !arcs[i].counts[c])
				continue;
			row.class = &csv->report->classes.classes[c];
			csv_write_row(csv, &row);
			csv_write_share(csv, row.class, arcs[i].counts[c],
					totals[c]);
			csv_next_field(csv); /* cumulative */
			csv_write_text(csv, entry->app);
			csv_write_text(csv, entry->image->name);
			csv_write_text(csv, entry->name);
			csv_next_field(csv);
			if (entry->size)
				fprintf(csv->out, "0x%" PRIx64, entry->vma);
			csv_end_row(csv, &row);
		}
	}
}

static void csv_write_symbol(const struct csv *csv,
			     const struct pp_symbol_entry *entry)
{
	const struct pp_report *report = csv->report;
	const struct pp_neighbours *n = entry->neighbours;
	struct row row =
		csv_row_of(entry, report->lines.split ? "line" : "symbol");

	for (size_t c = 0; c < report->classes.nr; c++) {
		if (!entry->counts[c] &&
		    !(entry->old_counts && entry->old_counts[c]) &&
		    !(entry->all_counts && entry->all_counts[c]) &&
		    !(n && (n->caller_totals[c] || n->callee_totals[c])))
			continue;
		row.class = &report->classes.classes[c];
		csv_write_row(csv, &row);
		csv_write_share(csv, row.class, entry->counts[c],
				report->symbols.totals[c]);
		if (report->old.made)
			csv_write_change(csv, entry, c);
		if (n) {
			csv_write_count(csv, n->cumulative[c]);
			for (int i = 0; i < 4; i++)
				csv_next_field(csv);
		}
		if (entry->all_counts)
			csv_write_share(csv, row.class, entry->all_counts[c],
					report->totals[c]);
		if (report->lines.split)
			csv_write_text(csv, entry->source);
		csv_end_row(csv, &row);
	}
	csv_write_details(csv, entry, &row);
	if (!n)
		return;
	csv_write_arcs(csv, "caller", entry, n->callers, n->nr_callers,
		       n->caller_totals);
	csv_write_arcs(csv, "callee", entry, n->callees, n->nr_callees,
		       n->callee_totals);
}

/* A value of a thread: its time of one kind, in which @ns is not 0, or samples
 * of the event @event. */
static void csv_write_thread_value(const struct csv *csv,
				   const struct pp_thread *thread,
				   const char *kind, const char *wait,
				   const struct pp_class *event, uint64_t value)
{
	const struct pp_class *class = thread->class;

	if (!value)
		return;
	csv_write_row(csv, &(struct row){ .kind = kind,
					  .class = event,
					  .symbol = wait });
	csv_next_field(csv);
	if (event)
		fprintf(csv->out, "%" PRIu64, value);
	csv_next_field(csv);
	csv_write_text(csv, thread->name);
	csv_write_count(csv, (uint64_t) class->tgid);
	csv_next_field(csv);
	if (thread->nr == 1 && class->tid != OP_MANGLE_ALL)
		fprintf(csv->out, "%" PRId64, class->tid);
	csv_write_count(csv, thread->nr);
	csv_next_field(csv);
	if (!event)
		fprintf(csv->out, "%.9f", (double)value / 1e9);
	fputc('\n', csv->out);
}

static void csv_write_thread(const struct csv *csv,
			     const struct pp_thread *thread)
{
	const struct pp_report *report = csv->report;

	csv_write_thread_value(csv, thread, "ran", NULL, NULL, thread->ran);
	csv_write_thread_value(csv, thread, "waited", NULL, NULL,
			       thread->waited);
	for (size_t i = 0; i < report->symbols.nr_waits; i++)
		csv_write_thread_value(csv, thread, "waited_for",
				       report->symbols.waits[i].name, NULL,
				       thread->waits[i]);
	for (size_t i = 0; i < report->summary.threads.nr_events; i++)
		csv_write_thread_value(csv, thread, "thread_samples", NULL,
				       report->summary.threads.events[i],
				       thread->counts[i]);
}

/* Rows without shares: what was taken, and what became of it. */
static void csv_write_account(const struct csv *csv,
			      const struct op_ledger *account)
{
	const struct {
		const char *kind;
		uint64_t nr;
	} parts[] = { { "taken", account->taken },
		      { "stored", account->stored },
		      { "pending", account->pending } };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		csv_write_row(csv, &(struct row){ .kind = parts[i].kind });
		fprintf(csv->out, ",%" PRIu64 "\n", parts[i].nr);
	}
	for (unsigned int i = 0; i < account->nr_causes; i++) {
		csv_write_row(csv, &(struct row){
					   .kind = "lost",
					   .symbol = account->causes[i].name });
		fprintf(csv->out, ",%" PRIu64 "\n", account->causes[i].nr);
	}
}

/* Write a row for each event that had a counter for a part of the time: all its
 * samples, and the part in percent. */
static void csv_write_scales(const struct csv *csv)
{
	const struct pp_report *report = csv->report;

	for (size_t c = 0; c < report->classes.nr; c++) {
		const struct pp_class *class = &report->classes.classes[c];
		struct pp_interval interval =
			pp_class_total_interval(class, report->totals[c]);

		if (!pp_is_scaled(class))
			continue;
		csv_write_row(csv, &(struct row){ .kind = "scaled",
						  .class = class });
		csv_write_count(csv, report->totals[c]);
		csv_write_double(csv, 100 / class->scale);
		fputc('\n', csv->out);
		csv_write_row(csv, &(struct row){ .kind = "scaled_low",
						  .class = class });
		csv_write_double(csv, interval.low);
		fputc('\n', csv->out);
		csv_write_row(csv, &(struct row){ .kind = "scaled_high",
						  .class = class });
		csv_write_double(csv, interval.high);
		fputc('\n', csv->out);
	}
}

/* How many columns there are before those of tasks. */
static size_t csv_nr_columns(const struct pp_report *report)
{
	bool intervals = report->intervals;

	return 11 + (intervals ? 2 : 0) + (report->old.made ? 3 : 0) +
	       (report->old.made && intervals ? 4 : 0) +
	       (report->calls.made ? 5 : 0) +
	       (report->stack_totals.made ? 2 : 0) +
	       (report->stack_totals.made && intervals ? 2 : 0) +
	       (report->lines.split ? 1 : 0);
}

static bool csv_has_tasks(const struct pp_classes *classes)
{
	for (size_t i = 0; i < classes->nr; i++)
		if (classes->classes[i].process || classes->classes[i].thread ||
		    classes->classes[i].cgroup)
			return true;
	return false;
}

int pp_format_csv(FILE *out, const struct pp_report *report,
		  const struct pp_format_options *options)
{
	size_t nr_fields = 0;
	const struct csv csv = { out,
				 report,
				 options,
				 !report->summary.threads.made &&
					 csv_has_tasks(&report->classes),
				 csv_nr_columns(report),
				 &nr_fields };

	if (!options->no_header)
		csv_write_head(&csv);
	for (size_t i = 0; i < report->symbols.nr; i++)
		csv_write_symbol(&csv, &report->symbols.list[i]);
	for (size_t i = 0; i < report->summary.threads.nr; i++)
		csv_write_thread(&csv, &report->summary.threads.list[i]);
	for (size_t i = 0;
	     i < report->summary.nr_apps && !report->symbols.made &&
	     !report->summary.threads.made;
	     i++)
		for (size_t j = 0; j < report->summary.apps[i].nr_images; j++)
			csv_write_image(&csv, &report->summary.apps[i],
					&report->summary.apps[i].images[j]);
	if (!options->no_header && report->messages.nr_unread) {
		csv_write_row(&csv, &(struct row){ .kind = "unread" });
		fprintf(out, ",%zu\n", report->messages.nr_unread);
	}
	if (!options->no_header)
		csv_write_scales(&csv);
	if (!options->no_header && report->account)
		csv_write_account(&csv, report->account);
	if (!options->no_header && report->history.dropped_end) {
		csv_write_row(&csv, &(struct row){ .kind = "dropped" });
		fprintf(csv.out, ",%" PRIu64 "\n",
			report->history.dropped_samples);
	}
	return 0;
}
