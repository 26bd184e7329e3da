// SPDX-License-Identifier: GPL-2.0-or-later
/* The image summary as text. */

#include <inttypes.h>
#include <string.h>

#include "libpp/format/text.h"

#define TITLE_WIDTH 17 /* of a column */
#define INTERVAL_WIDTH 19 /* what --intervals adds to that */

static void text_write_column_heads(const struct pp_text *t, const char *indent)
{
	const struct pp_classes *classes = &t->report->classes;
	int width =
		TITLE_WIDTH + (t->report->has_intervals ? INTERVAL_WIDTH : 0);

	if (t->options->no_header)
		return;
	fputs(indent, t->out);
	for (size_t i = 0; i < classes->nr; i++) {
		const char *title = classes->classes[i].name;

		if (strlen(title) > (size_t)width)
			fprintf(t->out, "%.*s...|", width - 3, title);
		else
			fprintf(t->out, "%*s|", width, title);
	}
	fprintf(t->out, "\n%s", indent);
	for (size_t i = 0; i < classes->nr; i++)
		fputs(t->report->has_intervals
			      ? "  samples|      %|      95% interval|"
			      : "  samples|      %|",
		      t->out);
	fprintf(t->out, "\n%s", indent);
	for (size_t i = 0; i < classes->nr * ((size_t)width + 1); i++)
		fputc('-', t->out);
	fputc('\n', t->out);
}

static void text_write_counts(const struct pp_text *t, const uint64_t *counts,
			      const uint64_t *totals)
{
	char percent[PP_PERCENT_LEN], interval[PP_INTERVAL_LEN];

	for (size_t i = 0; i < t->report->classes.nr; i++) {
		fprintf(t->out, "%9" PRIu64 " %s ", counts[i],
			pp_text_percent(percent,
					pp_percent(counts[i], totals[i])));
		if (t->report->has_intervals)
			fprintf(t->out, "%*s ", INTERVAL_WIDTH - 1,
				pp_text_interval(interval, counts[i],
						 totals[i]));
	}
}

static void text_write_dependents(const struct pp_text *t,
				  const struct pp_summary_app *app)
{
	const uint64_t *totals =
		t->options->global_percent ? t->report->totals : app->counts;

	/* An application counts as one of its images even without own samples.
	 */
	if (app->nr_images == 1 && !strcmp(app->images[0].name, app->name))
		return;
	text_write_column_heads(t, "\t");
	for (size_t i = 0; i < app->nr_images; i++) {
		fputc('\t', t->out);
		text_write_counts(t, app->images[i].counts, totals);
		fprintf(t->out, "%s\n", pp_text_name(t, app->images[i].name));
	}
}

void pp_text_summary(const struct pp_text *t)
{
	const struct pp_report *report = t->report;

	text_write_column_heads(t, "");
	for (size_t i = 0; i < report->nr_apps; i++) {
		text_write_counts(t, report->apps[i].counts, report->totals);
		fprintf(t->out, "%s\n", pp_text_name(t, report->apps[i].name));
		text_write_dependents(t, &report->apps[i]);
	}
}
