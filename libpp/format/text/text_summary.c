// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The image summary as text: applications and the images in them, or, where
 * tasks are in rows, tasks and the images in them.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/format/text/text.h"

#define TITLE_WIDTH 17 /* of a column */
#define INTERVAL_WIDTH 19 /* what --intervals adds to that */

static void text_write_column_heads(const struct pp_text *t, const char *indent)
{
	int width = TITLE_WIDTH + (t->report->intervals ? INTERVAL_WIDTH : 0);

	if (t->options->no_header)
		return;
	fputs(indent, t->out);
	for (size_t i = 0; i < t->nr_columns; i++) {
		const char *title = pp_text_column(t, i)->name;

		if (strlen(title) > (size_t)width)
			fprintf(t->out, "%.*s...|", width - 3, title);
		else
			fprintf(t->out, "%*s|", width, title);
	}
	fprintf(t->out, "\n%s", indent);
	for (size_t i = 0; i < t->nr_columns; i++)
		fputs(t->report->intervals
			      ? "  samples|      %|      95% interval|"
			      : "  samples|      %|",
		      t->out);
	fprintf(t->out, "\n%s", indent);
	for (size_t i = 0; i < t->nr_columns * ((size_t)width + 1); i++)
		fputc('-', t->out);
	fputc('\n', t->out);
}

static void text_write_counts(const struct pp_text *t, const uint64_t *counts,
			      const uint64_t *totals)
{
	char percent[PP_PERCENT_LEN], interval[PP_INTERVAL_LEN];

	for (size_t i = 0; i < t->nr_columns; i++) {
		fprintf(t->out, "%9" PRIu64 " %s ", counts[i],
			pp_text_percent(percent,
					pp_percent(counts[i], totals[i])));
		if (t->report->intervals)
			fprintf(t->out, "%*s ", INTERVAL_WIDTH - 1,
				pp_text_interval(
					interval, counts[i], totals[i],
					pp_class_grain(pp_text_column(t, i))));
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

/* ---- tasks in rows ------------------------------------------------------- */

static void text_write_task(const struct pp_text *t,
			    const struct pp_task_row *row)
{
	const struct pp_task_rows *rows = t->rows;

	/* What stands last has no blanks behind it. */
	if (rows->ids_width)
		fprintf(t->out, "%-*s", (int)rows->ids_width, row->ids);
	if (rows->name_width && rows->cgroup_width)
		fprintf(t->out, "%-*s", (int)rows->name_width, row->name);
	else
		fputs(row->name, t->out);
	fprintf(t->out, "%s\n", row->cgroup);
}

/* An image in an application, and what a task has in it. */
struct image_of_task {
	const struct pp_summary_app *app;
	const struct pp_summary_image *image;
	uint64_t count; /* in the first column */
};

static int compare_images_of_task(const void *a, const void *b)
{
	const struct image_of_task *x = a, *y = b;

	return op_compare(y->count, x->count) ?:
	       strcmp(x->image->name, y->image->name) ?:
	       strcmp(x->app->name, y->app->name);
}

/* Find the images that task @task has samples in, by samples. Returns how many
 * these are; @counts is for one row. */
static size_t find_images_of_task(const struct pp_text *t, size_t task,
				  struct image_of_task *all, uint64_t *counts)
{
	const struct pp_report *report = t->report;
	size_t nr = 0;

	for (size_t i = 0; i < report->summary.nr_apps; i++) {
		const struct pp_summary_app *app = &report->summary.apps[i];

		for (size_t j = 0; j < app->nr_images; j++)
			if (pp_task_row_counts(t->rows, task,
					       app->images[j].counts, counts))
				all[nr++] = (struct image_of_task){
					app, &app->images[j], counts[0]
				};
	}
	qsort(all, nr, sizeof(*all), compare_images_of_task);
	return nr;
}

static void text_write_images_of_task(const struct pp_text *t, size_t task,
				      struct image_of_task *all,
				      uint64_t *counts)
{
	const uint64_t *totals = t->options->global_percent
					 ? t->totals
					 : t->rows->rows[task].counts;
	size_t nr = find_images_of_task(t, task, all, counts);
	bool many_apps = false;

	for (size_t i = 1; i < nr; i++)
		many_apps |= all[i].app != all[0].app;
	for (size_t i = 0; i < nr; i++) {
		const char *image = all[i].image->name, *app = all[i].app->name;

		pp_task_row_counts(t->rows, task, all[i].image->counts, counts);
		fputc('\t', t->out);
		text_write_counts(t, counts, totals);
		fputs(pp_text_name(t, image), t->out);
		if (many_apps && strcmp(image, app) != 0)
			fprintf(t->out, " of %s", pp_text_name(t, app));
		fputc('\n', t->out);
	}
}

static int text_write_tasks(const struct pp_text *t)
{
	uint64_t *counts = calloc(t->nr_columns, sizeof(*counts));
	struct image_of_task *images;
	size_t nr_images = 1;
	int err = -ENOMEM;

	for (size_t i = 0; i < t->report->summary.nr_apps; i++)
		nr_images += t->report->summary.apps[i].nr_images;
	images = calloc(nr_images, sizeof(*images));
	if (counts && images) {
		text_write_column_heads(t, "");
		for (size_t i = 0; i < t->rows->nr; i++) {
			text_write_counts(t, t->rows->rows[i].counts,
					  t->totals);
			text_write_task(t, &t->rows->rows[i]);
			text_write_images_of_task(t, i, images, counts);
		}
		err = 0;
	}
	free(images);
	free(counts);
	return err;
}

int pp_text_summary(const struct pp_text *t)
{
	const struct pp_report *report = t->report;

	if (t->rows)
		return text_write_tasks(t);
	text_write_column_heads(t, "");
	for (size_t i = 0; i < report->summary.nr_apps; i++) {
		text_write_counts(t, report->summary.apps[i].counts,
				  report->totals);
		fprintf(t->out, "%s\n",
			pp_text_name(t, report->summary.apps[i].name));
		text_write_dependents(t, &report->summary.apps[i]);
	}
	return 0;
}
