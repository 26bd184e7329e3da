// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbol table as text, and its rows for other tables. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/sample_list.h"
#include "libpp/format/text.h"

/* Fewest characters of the fields of a table row. */
enum {
	WIDTH_VMA = 9,
	WIDTH_SAMPLES = 9,
	WIDTH_CUM_SAMPLES = 14,
	WIDTH_PERCENT = 9,
	WIDTH_INTERVAL = 18,
	WIDTH_CUM_PERCENT = 11,
	WIDTH_DIFF = 10,
	WIDTH_DIFF_INTERVAL = 22,
	WIDTH_MARK = 5,
	WIDTH_LINE = 28,
	WIDTH_IMAGE = 25,
	WIDTH_APP = 25,
};

#define NO_VALUE "---"
#define NO_PLACE "(no location information)"

/* ---- fields -------------------------------------------------------------- */

/* A field of at least @width characters, a blank behind it included, which
 * are written only when another field follows. */
static void write_field(struct pp_text *t, size_t width, const char *text)
{
	size_t len = strlen(text);

	fprintf(t->out, "%*s%s", (int)t->pending, "", text);
	t->pending = len < width ? width - len : 1;
}

static void end_row(struct pp_text *t)
{
	fputc('\n', t->out);
	t->pending = 0;
}

static void write_number(struct pp_text *t, size_t width, uint64_t number)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRIu64, number);
	write_field(t, width, buf);
}

static void write_percent(struct pp_text *t, size_t width, uint64_t part,
			  uint64_t whole)
{
	char buf[PP_PERCENT_LEN];

	write_field(t, width, pp_text_percent(buf, pp_percent(part, whole)));
}

static void write_vma(struct pp_text *t, uint64_t vma)
{
	char buf[24];

	if (!t->options->show_address)
		return;
	snprintf(buf, sizeof(buf), "%0*" PRIx64, t->vma_digits, vma);
	write_field(t, WIDTH_VMA, buf);
}

static void write_place(struct pp_text *t, const struct pp_place *place)
{
	char line[16];
	const char *name;

	if (!t->report->has_lines)
		return;
	if (!place->file) {
		write_field(t, WIDTH_LINE, NO_PLACE);
		return;
	}
	name = strrchr(place->file, '/');
	name = name && !t->options->long_names ? name + 1 : place->file;
	snprintf(line, sizeof(line), ":%u", place->line);
	fprintf(t->out, "%*s%s", (int)t->pending, "", name);
	t->pending = 0;
	write_field(t,
		    strlen(name) < WIDTH_LINE ? WIDTH_LINE - strlen(name) : 0,
		    line);
}

/* ---- changes ------------------------------------------------------------- */

/* A percentage with its sign, or where it would be infinite. It has no whole
 * to be all of, so unlike shares 100 is written as 99 is. */
static const char *change_text(char *buf, double percent)
{
	if (isinf(percent))
		return strcpy(buf, "+++");
	if (percent == 0)
		return pp_text_percent(buf, percent);
	snprintf(buf, PP_PERCENT_LEN,
		 fabs(percent) > 0.001 ? "%+7.4f" : "%+7.1e", percent);
	return buf;
}

static void write_change_interval(struct pp_text *t,
				  const struct pp_change *change)
{
	char buf[PP_INTERVAL_LEN];
	int len = snprintf(buf, sizeof(buf), "%+.4f..", change->low);

	if (isinf(change->high))
		strcpy(buf + len, "+++");
	else
		snprintf(buf + len, sizeof(buf) - (size_t)len, "%+.4f",
			 change->high);
	write_field(t, WIDTH_DIFF_INTERVAL, buf);
	write_field(t, WIDTH_MARK, change->significant ? "*" : "");
}

static void write_change(struct pp_text *t, const struct pp_symbol_entry *entry,
			 size_t class_nr)
{
	char buf[PP_PERCENT_LEN];

	if (!t->report->is_diff)
		return;
	switch (entry->presence) {
	case PP_NEW:
		write_field(t, WIDTH_DIFF, "+++");
		break;
	case PP_GONE:
		write_field(t, WIDTH_DIFF, NO_VALUE);
		break;
	default:
		write_field(t, WIDTH_DIFF,
			    change_text(buf, entry->changes[class_nr].percent));
	}
	if (t->report->has_intervals)
		write_change_interval(t, &entry->changes[class_nr]);
}

/* ---- rows ---------------------------------------------------------------- */

static void write_class_heads(struct pp_text *t)
{
	write_field(t, WIDTH_SAMPLES, "samples");
	if (t->options->accumulated)
		write_field(t, WIDTH_CUM_SAMPLES, "cum. samples");
	write_field(t, WIDTH_PERCENT, "%");
	if (t->report->has_intervals)
		write_field(t, WIDTH_INTERVAL, "95% interval");
	if (t->options->accumulated)
		write_field(t, WIDTH_CUM_PERCENT, "cum. %");
	if (!t->report->is_diff)
		return;
	write_field(t, WIDTH_DIFF, "diff %");
	if (!t->report->has_intervals)
		return;
	write_field(t, WIDTH_DIFF_INTERVAL, "95% interval");
	write_field(t, WIDTH_MARK, "sig.");
}

static void write_table_heads(struct pp_text *t)
{
	if (t->options->show_address)
		write_field(t, WIDTH_VMA, "vma");
	for (size_t i = 0; i < t->report->classes.nr; i++)
		write_class_heads(t);
	if (t->report->has_lines)
		write_field(t, WIDTH_LINE, "linenr info");
	if (t->show_image)
		write_field(t, WIDTH_IMAGE, "image name");
	if (t->show_app)
		write_field(t, WIDTH_APP, "app name");
	write_field(t, 0, "symbol name");
	end_row(t);
}

static void write_share(struct pp_text *t, uint64_t part, uint64_t whole)
{
	char buf[PP_INTERVAL_LEN];

	write_percent(t, WIDTH_PERCENT, part, whole);
	if (t->report->has_intervals)
		write_field(t, WIDTH_INTERVAL,
			    pp_text_interval(buf, part, whole));
}

/* What is gone has a count, which is of the old profile, and no shares. */
static void write_gone(struct pp_text *t, const struct pp_symbol_entry *entry,
		       size_t class_nr)
{
	write_number(t, WIDTH_SAMPLES, entry->old_counts[class_nr]);
	if (t->options->accumulated)
		write_field(t, WIDTH_CUM_SAMPLES, NO_VALUE);
	write_field(t, WIDTH_PERCENT, NO_VALUE);
	if (t->report->has_intervals)
		write_field(t, WIDTH_INTERVAL, NO_VALUE);
	if (t->options->accumulated)
		write_field(t, WIDTH_CUM_PERCENT, NO_VALUE);
	write_change(t, entry, class_nr);
}

static void write_class(struct pp_text *t, const struct pp_text_row *row,
			size_t i)
{
	uint64_t *running = row->running;

	if (row->entry->presence == PP_GONE) {
		write_gone(t, row->entry, i);
		return;
	}
	write_number(t, WIDTH_SAMPLES, row->counts[i]);
	if (running) {
		running[i] = pp_add_counts(running[i], row->counts[i]);
		write_number(t, WIDTH_CUM_SAMPLES, running[i]);
	}
	write_share(t, row->counts[i], row->totals[i]);
	if (running)
		write_percent(t, WIDTH_CUM_PERCENT, running[i], row->totals[i]);
	write_change(t, row->entry, i);
}

void pp_text_row(struct pp_text *t, const struct pp_text_row *row)
{
	const struct pp_symbol_entry *entry = row->entry;

	write_vma(t, entry->vma);
	for (size_t i = 0; i < t->report->classes.nr; i++)
		write_class(t, row, i);
	write_place(t, &entry->place);
	if (t->show_image)
		write_field(t, WIDTH_IMAGE,
			    pp_text_name(t, entry->image->name));
	if (t->show_app)
		write_field(t, WIDTH_APP, pp_text_name(t, entry->app));
	write_field(t, 0, entry->name);
	if (row->mark)
		fputs(row->mark, t->out);
	end_row(t);
}

/* Shares and running sums (if @running) are of the symbol. */
static void write_details(struct pp_text *t,
			  const struct pp_symbol_entry *entry,
			  uint64_t *running)
{
	size_t nr_classes = t->report->classes.nr;
	struct pp_text_row row = {
		.entry = entry,
		.totals = t->options->global_percent ? t->report->symbol_totals
						     : entry->counts,
		.running = running,
	};

	if (running)
		memset(running, 0, nr_classes * sizeof(*running));
	for (size_t i = 0; i < entry->nr_details; i++) {
		const struct pp_detail *detail = &entry->details[i];

		fputs("  ", t->out);
		write_vma(t, detail->vma);
		row.counts = detail->counts;
		for (size_t j = 0; j < nr_classes; j++)
			write_class(t, &row, j);
		write_place(t, &detail->place);
		end_row(t);
	}
}

/* Whether there is need to tell images beside applications. */
static bool has_other_images(const struct pp_report *report)
{
	for (size_t i = 0; i < report->nr_symbols; i++)
		if (strcmp(report->symbols[i].image->name,
			   report->symbols[i].app))
			return true;
	return false;
}

void pp_text_table_begin(struct pp_text *t)
{
	t->vma_digits = pp_vma_digits(t->report);
	t->show_image = has_other_images(t->report);
	t->show_app = t->report->many_apps;
	if (!t->options->no_header)
		write_table_heads(t);
}

int pp_text_symbols(struct pp_text *t)
{
	const struct pp_report *report = t->report;
	uint64_t *running = NULL, *inner = NULL;

	if (t->options->accumulated) {
		running = calloc(2 * report->classes.nr, sizeof(*running));
		if (!running)
			return -ENOMEM;
		inner = running + report->classes.nr;
	}
	pp_text_table_begin(t);
	for (size_t i = 0; i < report->nr_symbols; i++) {
		const struct pp_symbol_entry *entry = &report->symbols[i];

		pp_text_row(t, &(struct pp_text_row){
				       .entry = entry,
				       .counts = entry->counts,
				       .totals = report->symbol_totals,
				       .running = running });
		write_details(t, entry, inner);
	}
	free(running);
	return 0;
}
