// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols over time as text: a row for each, with its share of the samples of
 * each column drawn as one character. Columns are times of the history. Time
 * runs evenly from left to right, so a column that is longer than others, where
 * the history is coarser, takes several characters, and where nothing was
 * profiled is a blank. Heights are of the row's own peak, which stands beside
 * them: what changes is to be seen in rows of all sizes.
 *
 * The first row is how many samples there were each second, all together: how
 * busy the machine was.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_decimal.h"
#include "libpp/format/text/text.h"
#include "libpp/select/sample_list.h"

/* Characters of a drawing: a part of the terminal, within these. */
#define DRAWING_MIN 16
#define DRAWING_MAX 72
#define DRAWING_OF_FILES 48 /* where there is no terminal */
#define NR_HEIGHTS 8
#define SECONDS_MATTER (600 * PP_TIME_NS) /* below so many, in the head */

static const char *const unicode_heights[NR_HEIGHTS] = { "\u2581", "\u2582",
							 "\u2583", "\u2584",
							 "\u2585", "\u2586",
							 "\u2587", "\u2588" };
static const char *const ascii_heights[NR_HEIGHTS] = { ".", ":", "-", "=",
						       "+", "*", "#", "@" };

struct drawing {
	struct pp_text *t;
	uint64_t begin, end; /* ns since the epoch */
	size_t len; /* characters */
	size_t *columns; /* that each is of; SIZE_MAX: of none */
	double *values; /* of each column, for the row that is drawn */
	size_t image_width, app_width;
};

size_t pp_text_drawing_len(size_t width)
{
	size_t len = width * 2 / 5;

	if (!width)
		return DRAWING_OF_FILES;
	return len < DRAWING_MIN   ? DRAWING_MIN
	       : len > DRAWING_MAX ? DRAWING_MAX
				   : len;
}

/* The column at @at; of several the last that begins no later. */
static size_t column_at(const struct pp_classes *classes, uint64_t at)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < classes->nr; i++)
		if (classes->classes[i].begin <= at &&
		    classes->classes[i].end > at)
			found = i;
	return found;
}

/* A short column may be at no character's middle: it gets the nearest. */
static void place_short_columns(struct drawing *d,
				const struct pp_classes *classes)
{
	double per_ns = (double)d->len / (double)(d->end - d->begin);

	for (size_t i = 0; i < classes->nr; i++) {
		const struct pp_class *class = &classes->classes[i];
		double middle = ((double)class->begin + (double)class->end) / 2;
		double at = (middle - (double)d->begin) * per_ns;

		if (at >= 0 && at < (double)d->len &&
		    d->columns[(size_t)at] == SIZE_MAX)
			d->columns[(size_t)at] = i;
	}
}

static int drawing_init(struct drawing *d, struct pp_text *t)
{
	const struct pp_classes *classes = &t->report->classes;

	*d = (struct drawing){ .t = t,
			       .begin = t->report->history.begin,
			       .end = t->report->history.end,
			       .len = pp_text_drawing_len(t->options->width) };
	if (d->end <= d->begin)
		d->end = d->begin + 1;
	d->columns = calloc(d->len, sizeof(*d->columns));
	d->values = calloc(classes->nr, sizeof(*d->values));
	if (!d->columns || !d->values)
		return -ENOMEM;
	for (size_t i = 0; i < d->len; i++)
		d->columns[i] = column_at(
			classes,
			d->begin +
				(uint64_t)((double)(d->end - d->begin) *
					   ((double)i + 0.5) / (double)d->len));
	place_short_columns(d, classes);
	return 0;
}

static void drawing_release(struct drawing *d)
{
	free(d->columns);
	free(d->values);
}

/* Draw d->values, and two blanks. */
static void draw_values(const struct drawing *d, double peak)
{
	const char *const *heights =
		d->t->options->unicode ? unicode_heights : ascii_heights;

	for (size_t i = 0; i < d->len; i++) {
		double value = d->columns[i] == SIZE_MAX
				       ? 0
				       : d->values[d->columns[i]];
		size_t height;

		if (value <= 0 || peak <= 0) {
			fputc(' ', d->t->out);
			continue;
		}
		height = (size_t)(value / peak * NR_HEIGHTS);
		fputs(heights[height < NR_HEIGHTS ? height : NR_HEIGHTS - 1],
		      d->t->out);
	}
	fputs("  ", d->t->out);
}

static double peak_of_values(const struct drawing *d)
{
	double peak = 0;

	for (size_t i = 0; i < d->t->report->classes.nr; i++)
		if (d->values[i] > peak)
			peak = d->values[i];
	return peak;
}

/* Samples per second of all. */
static void draw_rate(const struct drawing *d)
{
	const struct pp_report *report = d->t->report;
	uint64_t total =
		pp_sum_counts(report->symbols.totals, report->classes.nr);
	double peak;

	for (size_t i = 0; i < report->classes.nr; i++) {
		const struct pp_class *class = &report->classes.classes[i];

		d->values[i] =
			class->end > class->begin
				? (double)report->symbols.totals[i] /
					  (double)(class->end - class->begin) *
					  (double)PP_TIME_NS
				: 0;
	}
	peak = peak_of_values(d);
	fprintf(d->t->out, "%-9" PRIu64 "%-9s", total, "100.000");
	draw_values(d, peak);
	fprintf(d->t->out, "%-8.1f  all samples; peak: per second\n", peak);
}

static void draw_symbol(const struct drawing *d,
			const struct pp_symbol_entry *entry)
{
	const struct pp_report *report = d->t->report;
	size_t nr = report->classes.nr;
	uint64_t total = pp_sum_counts(report->symbols.totals, nr);
	uint64_t sum = pp_sum_counts(entry->counts, nr);
	char percent[PP_PERCENT_LEN], peak_text[PP_PERCENT_LEN];
	double peak;

	for (size_t i = 0; i < nr; i++)
		d->values[i] =
			pp_percent(entry->counts[i], report->symbols.totals[i]);
	peak = peak_of_values(d);
	fprintf(d->t->out, "%-8" PRIu64 " %-8s ", sum,
		pp_text_percent(percent, pp_percent(sum, total)));
	draw_values(d, peak);
	fprintf(d->t->out, "%-8s  ", pp_text_percent(peak_text, peak));
	if (d->t->show_image)
		fprintf(d->t->out, "%-*s  ", (int)d->image_width,
			pp_text_name(d->t, entry->image->name));
	if (d->t->show_app)
		fprintf(d->t->out, "%-*s  ", (int)d->app_width,
			pp_text_name(d->t, entry->app));
	fprintf(d->t->out, "%s\n", pp_text_plain(d->t, entry->name));
}

/* Names of images take what they need, up to a limit. */
static void find_widths(struct drawing *d)
{
	const struct pp_report *report = d->t->report;
	size_t most = d->t->options->width ? d->t->options->width / 8 : 25;

	d->image_width = strlen("image name");
	d->app_width = strlen("app name");
	d->t->show_app = report->symbols.many_apps;
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];
		size_t image = strlen(pp_text_name(d->t, entry->image->name));
		size_t app = strlen(pp_text_name(d->t, entry->app));

		d->t->show_image |= strcmp(entry->image->name, entry->app) != 0;
		if (image > d->image_width && image <= most)
			d->image_width = image;
		if (app > d->app_width && app <= most)
			d->app_width = app;
	}
}

static void write_heads(const struct drawing *d)
{
	uint64_t origin = pp_history_origin(&d->t->report->history);
	char begin[PP_TIME_TEXT_LEN], end[PP_TIME_TEXT_LEN];
	/* Without the day and the seconds, as far as they say nothing. */
	bool one_day = d->end - d->begin < 24 * 3600 * PP_TIME_NS;
	const char *from = pp_time_text(begin, (time_t)(d->begin / PP_TIME_NS));
	const char *to = pp_time_text(end, (time_t)(d->end / PP_TIME_NS));
	size_t skipped = one_day ? strlen("YYYY-MM-DD ") : strlen("YYYY-");
	int gap;

	if (origin &&
	    (d->end - d->begin < SECONDS_MATTER || origin < PP_FIRST_DATE)) {
		pp_time_since(begin, d->begin - origin);
		pp_time_since(end, d->end - origin);
		skipped = 0;
	} else if (d->end - d->begin >= SECONDS_MATTER) {
		begin[strlen("YYYY-MM-DD HH:MM")] = '\0';
		end[strlen("YYYY-MM-DD HH:MM")] = '\0';
	}
	/* "MM-DD" or "HH:MM" where there is no room for more. */
	if (skipped && d->len <= 2 * strlen(from + skipped))
		begin[skipped + 5] = end[skipped + 5] = '\0';
	from += skipped;
	to += skipped;
	gap = (int)d->len - (int)strlen(from) - (int)strlen(to);
	fprintf(d->t->out, "%-9s%-9s%s%*s%s  %-8s  ", "samples", "%", from, gap,
		"", to, "peak %");
	if (d->t->show_image)
		fprintf(d->t->out, "%-*s  ", (int)d->image_width, "image name");
	if (d->t->show_app)
		fprintf(d->t->out, "%-*s  ", (int)d->app_width, "app name");
	fputs("symbol name\n", d->t->out);
}

int pp_text_over_time(struct pp_text *t)
{
	struct drawing d;
	int err = drawing_init(&d, t);

	if (!err) {
		find_widths(&d);
		if (!t->options->no_header)
			write_heads(&d);
		draw_rate(&d);
		for (size_t i = 0; i < t->report->symbols.nr; i++)
			draw_symbol(&d, &t->report->symbols.list[i]);
	}
	drawing_release(&d);
	return err;
}
