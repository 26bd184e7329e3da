// SPDX-License-Identifier: GPL-2.0-or-later
/* How many samples each application has, and each image in it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/report/population.h"

static int compare_app_and_image(const void *a, const void *b)
{
	const struct pp_sample_file *const *x = a, *const *y = b;

	return strcmp((*x)->app, (*y)->app)
		       ?: strcmp((*x)->image_name, (*y)->image_name);
}

/* The images of @nr files of one application, sorted by image. */
static int summarize_app(struct pp_population *p, const struct pp_side *side,
			 struct pp_summary_app *app,
			 struct pp_sample_file *const *files, size_t nr)
{
	struct pp_summary_image *images =
		op_arena_alloc(&p->report->arena, nr, sizeof(*images));
	uint64_t *app_counts = pp_new_counts(p, side), *counts = NULL;

	if (!images || !app_counts)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		unsigned int class_nr = files[i]->class_nr;

		if (!i ||
		    strcmp(files[i]->image_name, files[i - 1]->image_name)) {
			counts = pp_new_counts(p, side);
			if (!counts)
				return -ENOMEM;
			images[app->nr_images].name = files[i]->image_name;
			images[app->nr_images++].counts = counts;
		}
		counts[class_nr] =
			pp_add_counts(counts[class_nr], files[i]->total);
		app_counts[class_nr] =
			pp_add_counts(app_counts[class_nr], files[i]->total);
	}
	app->name = files[0]->app;
	app->counts = app_counts;
	app->images = images;
	return 0;
}

static struct pp_sample_file **files_by_app(struct pp_population *p,
					    const struct pp_side *side,
					    size_t *nr_files)
{
	size_t nr = side->list.nr;
	struct pp_sample_file **files = op_arena_alloc(
		&p->report->arena, nr, sizeof(struct pp_sample_file *));

	*nr_files = 0;
	for (size_t i = 0; files && i < nr; i++)
		if (!pp_is_call_graph(&side->list.files[i]))
			files[(*nr_files)++] = &side->list.files[i];
	if (files && *nr_files)
		qsort(files, *nr_files, sizeof(struct pp_sample_file *),
		      compare_app_and_image);
	return files;
}

int pp_side_summarize(struct pp_population *p, struct pp_side *side)
{
	size_t nr;
	struct pp_sample_file **files = files_by_app(p, side, &nr);
	struct pp_summary_app *apps =
		op_arena_alloc(&p->report->arena, side->list.nr, sizeof(*apps));
	uint64_t *totals = pp_new_counts(p, side);

	if (!files || !apps || !totals)
		return -ENOMEM;
	for (size_t i = 0, end; i < nr; i = end) {
		struct pp_summary_app *app = &apps[side->nr_apps];

		for (end = i;
		     end < nr && !strcmp(files[end]->app, files[i]->app);)
			end++;
		if (summarize_app(p, side, app, files + i, end - i))
			return -ENOMEM;
		pp_add_all_counts(totals, app->counts, side->classes.nr);
		side->nr_apps++;
	}
	side->apps = apps;
	side->totals = totals;
	return 0;
}

static int sort_rows(const struct pp_sort *sort, uint64_t a, uint64_t b,
		     const char *a_name, const char *b_name)
{
	int order = op_compare(b, a);

	return sort->reverse && order ? -order : order ?: strcmp(a_name, b_name);
}

static int by_app_count(const void *a, const void *b, void *arg)
{
	const struct pp_summary_app *x = a, *y = b;

	return sort_rows(arg, x->counts[0], y->counts[0], x->name, y->name);
}

static int by_image_count(const void *a, const void *b, void *arg)
{
	const struct pp_summary_image *x = a, *y = b;

	return sort_rows(arg, x->counts[0], y->counts[0], x->name, y->name);
}

int pp_populate_summary(struct pp_population *p)
{
	const struct pp_side *side = &p->side;
	void *order = (void *)&p->request->symbols.sort;
	struct pp_summary_app *apps =
		op_arena_alloc(&p->report->arena, side->nr_apps, sizeof(*apps));
	size_t kept = 0;

	if (!apps)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_apps; i++)
		if (pp_passes(p, side->apps[i].counts, side->totals))
			apps[kept++] = side->apps[i];
	qsort_r(apps, kept, sizeof(*apps), by_app_count, order);
	for (size_t i = 0; i < kept; i++)
		qsort_r((void *)apps[i].images, apps[i].nr_images,
			sizeof(*apps[i].images), by_image_count, order);
	p->report->summary.apps = apps;
	p->report->summary.nr_apps = kept;
	p->report->totals = side->totals;
	return 0;
}
