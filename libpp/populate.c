// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From sample files to the report model. Each image is opened once; its
 * sorted samples and its sorted symbols are walked side by side.
 */

#include "libpp/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/image_symbols.h"
#include "libpp/sample_list.h"

#define NO_SYMBOLS "(no symbols)"

/* All that the functions of this file hand on to each other. */
struct population {
	struct pp_report *report;
	const struct pp_request *request;
	struct pp_sample_list list;
	struct pp_locator locator;
	struct pp_symbol_entry *symbols;
	size_t nr_symbols;
};

/* One count of one sample file, with the column it belongs to. */
struct point {
	uint64_t key;
	uint64_t count;
	unsigned int class_nr;
};

/* ---- counts -------------------------------------------------------------- */

static uint64_t *new_counts(struct population *p)
{
	return pp_arena_alloc(&p->report->arena, p->report->classes.nr,
			      sizeof(uint64_t));
}

static void add_counts(uint64_t *to, const uint64_t *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		to[i] = pp_add_counts(to[i], from[i]);
}

/* Whether some column is at least the asked percentage of its total. */
static bool passes(const struct population *p, const uint64_t *counts,
		   const uint64_t *totals)
{
	for (size_t i = 0; i < p->report->classes.nr; i++)
		if (counts[i] &&
		    100.0 * (double)counts[i] >=
			    p->request->threshold * (double)totals[i])
			return true;
	return false;
}

/* ---- images -------------------------------------------------------------- */

static bool same_build(const struct op_sample_header *a,
		       const struct op_sample_header *b)
{
	if (a->build_id_len || b->build_id_len)
		return a->build_id_len == b->build_id_len &&
		       !memcmp(a->build_id, b->build_id, a->build_id_len);
	return a->mtime == b->mtime;
}

static int compare_builds(const struct op_sample_header *a,
			  const struct op_sample_header *b)
{
	int order = memcmp(a->build_id, b->build_id, sizeof(a->build_id));

	return order ? order : (a->mtime > b->mtime) - (a->mtime < b->mtime);
}

static int by_image(const void *a, const void *b)
{
	const struct pp_sample_file *x = a, *y = b;
	int order = strcmp(x->image_name, y->image_name);

	if (!order && !same_build(&x->header, &y->header))
		order = compare_builds(&x->header, &y->header);
	if (!order)
		order = strcmp(x->app, y->app);
	return order ? order : strcmp(x->path, y->path);
}

static struct pp_image *new_image(struct pp_arena *arena,
				  const struct pp_sample_file *file)
{
	struct pp_image *image = pp_arena_alloc(arena, 1, sizeof(*image));

	if (!image)
		return NULL;
	image->name = file->image_name;
	image->base = pp_base_name(file->image_name);
	image->recorded = file->name.dep;
	image->kind = file->header.kind;
	image->mtime = file->header.mtime;
	image->anon_start = file->header.anon_start;
	image->build_id_len = file->header.build_id_len;
	memcpy(image->build_id, file->header.build_id, sizeof(image->build_id));
	return image;
}

/* Sort the files by image and application and give each its image. */
static int set_images(struct population *p)
{
	struct pp_sample_file *files = p->list.files;

	qsort(files, p->list.nr, sizeof(*files), by_image);
	for (size_t i = 0; i < p->list.nr; i++) {
		if (i &&
		    !strcmp(files[i].image_name, files[i - 1].image_name) &&
		    same_build(&files[i].header, &files[i - 1].header))
			files[i].image = files[i - 1].image;
		else
			files[i].image =
				new_image(&p->report->arena, &files[i]);
		if (!files[i].image)
			return -ENOMEM;
	}
	return 0;
}

/* ---- the summary --------------------------------------------------------- */

static int by_app(const void *a, const void *b)
{
	const struct pp_sample_file *const *x = a, *const *y = b;
	int order = strcmp((*x)->app, (*y)->app);

	return order ? order : strcmp((*x)->image_name, (*y)->image_name);
}

static int sort_rows(const struct population *p, uint64_t a, uint64_t b,
		     const char *a_name, const char *b_name)
{
	int order = (a < b) - (a > b);

	if (!order)
		order = strcmp(a_name, b_name);
	return p->request->sort.reverse ? -order : order;
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

/* The images of @nr files of one application, sorted by image. */
static int fill_app(struct population *p, struct pp_summary_app *app,
		    struct pp_sample_file *const *files, size_t nr)
{
	struct pp_summary_image *images =
		pp_arena_alloc(&p->report->arena, nr, sizeof(*images));
	uint64_t *app_counts = new_counts(p), *counts = NULL;

	if (!images || !app_counts)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (!i ||
		    strcmp(files[i]->image_name, files[i - 1]->image_name)) {
			counts = new_counts(p);
			if (!counts)
				return -ENOMEM;
			images[app->nr_images].name = files[i]->image_name;
			images[app->nr_images++].counts = counts;
		}
		counts[files[i]->class_nr] = pp_add_counts(
			counts[files[i]->class_nr], files[i]->total);
		app_counts[files[i]->class_nr] = pp_add_counts(
			app_counts[files[i]->class_nr], files[i]->total);
	}
	qsort_r(images, app->nr_images, sizeof(*images), by_image_count, p);
	app->name = files[0]->app;
	app->counts = app_counts;
	app->images = images;
	return 0;
}

static struct pp_sample_file **files_by_app(struct population *p)
{
	struct pp_sample_file **files = pp_arena_alloc(
		&p->report->arena, p->list.nr, sizeof(struct pp_sample_file *));

	for (size_t i = 0; files && i < p->list.nr; i++)
		files[i] = &p->list.files[i];
	if (files)
		qsort(files, p->list.nr, sizeof(struct pp_sample_file *),
		      by_app);
	return files;
}

static int make_summary(struct population *p)
{
	struct pp_sample_file **files = files_by_app(p);
	struct pp_summary_app *apps =
		pp_arena_alloc(&p->report->arena, p->list.nr, sizeof(*apps));
	uint64_t *totals = new_counts(p);
	size_t nr_apps = 0, kept = 0;

	if (!files || !apps || !totals)
		return -ENOMEM;
	for (size_t i = 0, end; i < p->list.nr; i = end) {
		for (end = i; end < p->list.nr &&
			      !strcmp(files[end]->app, files[i]->app);)
			end++;
		if (fill_app(p, &apps[nr_apps], files + i, end - i))
			return -ENOMEM;
		add_counts(totals, apps[nr_apps++].counts,
			   p->report->classes.nr);
	}
	for (size_t i = 0; i < nr_apps; i++)
		if (passes(p, apps[i].counts, totals))
			apps[kept++] = apps[i];
	qsort_r(apps, kept, sizeof(*apps), by_app_count, p);
	p->report->apps = apps;
	p->report->nr_apps = kept;
	p->report->totals = totals;
	return 0;
}

/* ---- symbols ------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* All counts of @nr files by key; the caller frees them. */
static struct point *gather(const struct pp_sample_file *files, size_t nr,
			    size_t *nr_points)
{
	struct point *points;
	size_t room = 0;

	*nr_points = 0;
	for (size_t i = 0; i < nr; i++)
		room += files[i].nr_samples;
	points = calloc(room + 1, sizeof(*points));
	if (!points)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < files[i].nr_samples; j++)
			points[(*nr_points)++] = (struct point){
				.key = files[i].samples[j].key,
				.count = files[i].samples[j].count,
				.class_nr = files[i].class_nr,
			};
	qsort(points, *nr_points, sizeof(*points), by_key);
	return points;
}

static bool in_list(const char *const *list,
		    const struct pp_symbol_entry *entry)
{
	for (; *list; list++)
		if (!strcmp(*list, entry->raw_name) ||
		    !strcmp(*list, entry->name))
			return true;
	return false;
}

static bool is_wanted(const struct pp_request *request,
		      const struct pp_symbol_entry *entry)
{
	if (request->include_symbols &&
	    !in_list(request->include_symbols, entry))
		return false;
	return !request->exclude_symbols ||
	       !in_list(request->exclude_symbols, entry);
}

static struct pp_detail *new_detail(struct population *p,
				    struct pp_symbol_entry *entry,
				    struct pp_detail *details)
{
	details = pp_arena_grow(&p->report->arena, details, entry->nr_details,
				sizeof(*details));
	if (!details)
		return NULL;
	details[entry->nr_details].counts = new_counts(p);
	return details[entry->nr_details].counts ? details : NULL;
}

/* The addresses of an entry, from its points. */
static int add_details(struct population *p, struct pp_symbol_entry *entry,
		       const struct pp_image_symbols *symbols,
		       const struct point *points, size_t nr)
{
	struct pp_detail *details = NULL;
	uint64_t *counts = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (!i || points[i].key != points[i - 1].key) {
			details = new_detail(p, entry, details);
			if (!details)
				return -ENOMEM;
			details[entry->nr_details].vma = pp_image_symbols_vma(
				symbols, entry->image, points[i].key);
			counts =
				(uint64_t *)details[entry->nr_details++].counts;
		}
		counts[points[i].class_nr] = pp_add_counts(
			counts[points[i].class_nr], points[i].count);
	}
	entry->details = details;
	return 0;
}

/* Add the entry for @nr points that are in @symbol, or in none (NULL). */
static int add_entry(struct population *p, const char *app,
		     const struct pp_image *image,
		     const struct pp_image_symbols *symbols,
		     const struct pp_symbol *symbol, const struct point *points,
		     size_t nr)
{
	const char *raw = symbol	   ? symbol->name
			  : symbols->whole ? symbols->whole
					   : NO_SYMBOLS;
	struct pp_symbol_entry entry = { .app = app, .image = image };
	uint64_t *counts = new_counts(p);
	struct pp_symbol_entry *array;

	entry.raw_name = pp_arena_strdup(&p->report->arena, raw);
	if (!counts || !entry.raw_name)
		return -ENOMEM;
	entry.name = pp_demangle(&p->report->arena, entry.raw_name,
				 p->request->demangle);
	if (!is_wanted(p->request, &entry))
		return 0;
	if (symbol) {
		entry.vma = symbol->vma;
		entry.size = symbol->end - symbol->key;
	}
	for (size_t i = 0; i < nr; i++)
		counts[points[i].class_nr] = pp_add_counts(
			counts[points[i].class_nr], points[i].count);
	entry.counts = counts;
	if (p->request->details && add_details(p, &entry, symbols, points, nr))
		return -ENOMEM;
	array = pp_arena_grow(&p->report->arena, p->symbols, p->nr_symbols,
			      sizeof(entry));
	if (!array)
		return -ENOMEM;
	p->symbols = array;
	p->symbols[p->nr_symbols++] = entry;
	return 0;
}

/* The points without a symbol, moved together, make one entry. */
static int add_loose(struct population *p, const char *app,
		     const struct pp_image *image,
		     const struct pp_image_symbols *symbols,
		     const struct point *loose, size_t nr)
{
	return nr ? add_entry(p, app, image, symbols, NULL, loose, nr) : 0;
}

/* One application's samples of an image. */
static int add_symbols(struct population *p, const struct pp_sample_file *files,
		       size_t nr_files, const struct pp_image_symbols *symbols)
{
	size_t nr, nr_loose = 0, at = 0, next = 0;
	struct point *points = gather(files, nr_files, &nr);
	int err = points ? 0 : -ENOMEM;

	while (!err && at < nr) {
		const struct pp_symbol *symbol = NULL;
		size_t end = at + 1;

		while (next < symbols->nr &&
		       symbols->table[next].end <= points[at].key)
			next++;
		if (next < symbols->nr &&
		    symbols->table[next].key <= points[at].key)
			symbol = &symbols->table[next];
		if (symbol) {
			while (end < nr && points[end].key < symbol->end)
				end++;
			err = add_entry(p, files->app, files->image, symbols,
					symbol, points + at, end - at);
		} else {
			points[nr_loose++] = points[at];
		}
		at = end;
	}
	if (!err)
		err = add_loose(p, files->app, files->image, symbols, points,
				nr_loose);
	free(points);
	return err;
}

/* All applications that used an image; the files are sorted by them. */
static int add_image(struct population *p, const struct pp_sample_file *files,
		     size_t nr)
{
	struct pp_image_symbols symbols;
	int err;

	err = pp_image_symbols_open(&symbols, files->image, p->request->session,
				    &p->locator, &p->report->messages);
	for (size_t i = 0, end; i < nr && !err; i = end) {
		for (end = i;
		     end < nr && !strcmp(files[end].app, files[i].app);)
			end++;
		err = add_symbols(p, files + i, end - i, &symbols);
	}
	pp_image_symbols_release(&symbols);
	return err;
}

static int total_symbols(struct population *p)
{
	uint64_t *totals = new_counts(p);
	size_t kept = 0;

	if (!totals)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_symbols; i++)
		add_counts(totals, p->symbols[i].counts, p->report->classes.nr);
	for (size_t i = 0; i < p->nr_symbols; i++)
		if (passes(p, p->symbols[i].counts, totals))
			p->symbols[kept++] = p->symbols[i];
	p->report->symbol_totals = totals;
	p->report->symbols = p->symbols;
	p->report->nr_symbols = kept;
	return 0;
}

static int make_symbols(struct population *p)
{
	const struct pp_sample_file *files = p->list.files;
	int err = 0;

	for (size_t i = 0, end; i < p->list.nr && !err; i = end) {
		for (end = i;
		     end < p->list.nr && files[end].image == files[i].image;)
			end++;
		err = add_image(p, files + i, end - i);
	}
	if (!err)
		err = total_symbols(p);
	if (!err)
		pp_sort_symbols(&p->request->sort, p->symbols,
				p->report->nr_symbols);
	p->report->has_symbols = true;
	return err;
}

/* ---- all of it ----------------------------------------------------------- */

static void drop_dependent(struct population *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->list.nr; i++)
		if (!strcmp(p->list.files[i].app, p->list.files[i].image_name))
			p->list.files[kept++] = p->list.files[i];
	p->list.nr = kept;
}

static void merge_libs(struct population *p)
{
	for (size_t i = 0; i < p->list.nr; i++)
		p->list.files[i].app = p->list.files[i].image_name;
}

static void take_machine(struct pp_report *report,
			 const struct op_sample_header *header)
{
	memcpy(report->cpu_type, header->cpu_type, sizeof(report->cpu_type));
	report->cpu_khz = header->cpu_khz;
	report->timer_hz = header->timer_hz;
}

static int find_files(struct population *p, struct op_diag *diag)
{
	const struct pp_request *request = p->request;
	struct pp_messages *messages = &p->report->messages;
	int err;

	err = pp_sample_list_find(&p->list, request->session, request->spec,
				  messages, diag);
	if (err)
		return err;
	if (request->exclude_dependent)
		drop_dependent(p);
	if (!p->list.nr)
		return op_diag_set(
			diag, -ENOENT,
			"no samples in the applications themselves; leave out --exclude-dependent");
	err = pp_sample_list_read(&p->list, request->symbols, messages, diag);
	if (!err && request->merge & PP_MERGE_LIB)
		merge_libs(p);
	return err;
}

static int populate(struct population *p, struct op_diag *diag)
{
	const struct pp_request *request = p->request;
	int err;

	err = pp_locator_init(&p->locator, &p->report->arena, request->root,
			      request->image_path, diag);
	if (!err)
		err = find_files(p, diag);
	if (!err)
		err = pp_arrange(&p->report->classes, &p->list, request->merge,
				 diag);
	if (err)
		return err;
	take_machine(p->report, &p->list.files[0].header);
	err = set_images(p);
	if (!err)
		err = make_summary(p);
	if (!err && request->symbols)
		err = make_symbols(p);
	return err;
}

int pp_report_new(struct pp_report **out, const struct pp_request *request,
		  struct op_diag *diag)
{
	struct pp_report *report = calloc(1, sizeof(*report));
	struct population p = { .report = report, .request = request };
	int err;

	*out = report;
	if (!report)
		return op_diag_set(diag, -ENOMEM, "out of memory");
	pp_arena_init(&report->arena);
	report->messages.arena = &report->arena;
	p.list.arena = &report->arena;
	err = populate(&p, diag);
	return err ? op_diag_set(diag, err, "%s", strerror(-err)) : 0;
}

void pp_report_free(struct pp_report *report)
{
	if (!report)
		return;
	pp_arena_release(&report->arena);
	free(report);
}
