// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The views of a session, each a row of a table: what is not to be kept apart
 * in its report, and the function that makes rows of that. A report on
 * processes, threads or cgroups has a class for each of them and event, so its
 * rows are those of its classes that differ in more than the event.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libpp/images/annotation.h"
#include "libpp/select/sample_list.h"
#include "pp/optop/optop_rows.h"

#define MERGE_TASKS (PP_MERGE_SESSION | PP_MERGE_CPU)
#define MERGE_CGROUPS (MERGE_TASKS | PP_MERGE_TID | PP_MERGE_TGID)
#define MERGE_THREADS (MERGE_TASKS | PP_MERGE_CGROUP)
#define MERGE_PROCESSES (MERGE_THREADS | PP_MERGE_TID)
#define MERGE_SYMBOLS (MERGE_PROCESSES | PP_MERGE_TGID | PP_MERGE_LIB)

#define NOT_APART                                                              \
	"the session does not separate them; profile with --separate=thread (operf: --separate-thread)"
#define NO_CGROUPS                                                             \
	"the session does not separate cgroups; profile with --separate=cgroup"

struct optop_view {
	const char *name, *beside, *title; /* heads of the columns of text */
	enum optop_kind below;
	unsigned int merge; /* PP_MERGE_ */
	bool symbols, lines;
	int (*fill)(struct optop_reading *reading,
		    const struct optop_query *query);
};

static const struct optop_view views[OPTOP_NR_KINDS];

/* ---- targets ------------------------------------------------------------- */

static struct optop_target *new_target(struct optop_reading *reading)
{
	struct optop_target *target =
		op_arena_alloc(&reading->arena, 1, sizeof(*target));

	if (target)
		target->tgid = target->tid = OP_MANGLE_ALL;
	return target;
}

/* ---- images -------------------------------------------------------------- */

static int fill_images(struct optop_reading *reading,
		       const struct optop_query *query)
{
	const struct pp_report *report = reading->report;
	const size_t *event_of;
	int err = optop_make_rows(reading, report->summary.nr_apps, false,
				  &event_of);
	struct optop_counts *counts = reading->counts;

	(void)query;
	for (size_t i = 0; i < report->summary.nr_apps && !err; i++) {
		const struct pp_summary_app *app = &report->summary.apps[i];
		struct optop_target *target = new_target(reading);
		struct optop_row *row = &reading->rows[i];

		if (!target)
			return -ENOMEM;
		target->image = app->name;
		*row = (struct optop_row){ .name = app->name,
					   .beside = pp_base_name(app->name),
					   .opens = target };
		counts->keys[i] = optop_key(0, app->name);
		optop_add_counts(reading, event_of,
				 &counts->self[i * counts->nr_events],
				 app->counts);
	}
	if (!err)
		optop_add_counts(reading, event_of, counts->self_sums,
				 report->totals);
	return err;
}

/* ---- symbols ------------------------------------------------------------- */

/* Builds that were added up have no one address. */
static bool is_sum_of_builds(const struct pp_report *report,
			     const struct pp_image *image)
{
	for (size_t i = 0; i < report->builds.nr_sums; i++)
		if (!strcmp(report->builds.sums[i].name, image->base))
			return true;
	return false;
}

static uint64_t key_of_symbol(const struct pp_report *report,
			      const struct pp_symbol_entry *entry)
{
	uint64_t key = is_sum_of_builds(report, entry->image) ? 0 : entry->vma;

	key = optop_key(key, entry->image->name);
	return optop_key(key, entry->raw_name);
}

static int fill_symbol(struct optop_reading *reading, size_t nr,
		       const struct pp_symbol_entry *entry,
		       const size_t *event_of)
{
	struct optop_counts *counts = reading->counts;
	struct optop_target *target = new_target(reading);
	struct optop_row *row = &reading->rows[nr];

	if (!target)
		return -ENOMEM;
	target->image = entry->image->path;
	target->symbol = entry->raw_name;
	target->title = entry->name;
	target->vma = entry->vma;
	target->is_inlined = entry->is_inlined;
	*row = (struct optop_row){ .name = entry->name,
				   .beside = entry->image->base,
				   .opens = target };
	counts->keys[nr] = key_of_symbol(reading->report, entry);
	optop_add_counts(reading, event_of,
			 &counts->self[nr * counts->nr_events], entry->counts);
	if (counts->all)
		optop_add_counts(reading, event_of,
				 &counts->all[nr * counts->nr_events],
				 entry->all_counts);
	return 0;
}

/* Shares are of the whole, in which image the symbols may be. */
static int fill_symbols(struct optop_reading *reading,
			const struct optop_query *query)
{
	const struct pp_report *report = reading->report;
	const char *image = query->target.image;
	const size_t *event_of;
	size_t nr = 0;
	int err = optop_make_rows(reading, report->symbols.nr,
				  report->stack_totals.made, &event_of);
	struct optop_counts *counts = reading->counts;

	for (size_t i = 0; i < report->symbols.nr && !err; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];

		if (!image || !strcmp(image, entry->image->path))
			err = fill_symbol(reading, nr++, entry, event_of);
	}
	if (err)
		return err;
	counts->nr = nr;
	optop_add_counts(reading, event_of, counts->self_sums,
			 report->symbols.totals);
	optop_add_counts(reading, event_of, counts->all_sums, report->totals);
	return 0;
}

/* ---- lines --------------------------------------------------------------- */

static int fill_line(struct optop_reading *reading, size_t nr,
		     const struct pp_annotated_file *file,
		     const struct pp_annotated_line *line,
		     const size_t *event_of)
{
	struct optop_counts *counts = reading->counts;
	struct optop_target *target = new_target(reading);
	struct optop_row *row = &reading->rows[nr];

	if (!target)
		return -ENOMEM;
	target->file = file->name;
	target->line = line->line;
	row->beside = op_arena_printf(&reading->arena, "%s:%u",
				      pp_base_name(file->name), line->line);
	row->name = file->name;
	row->opens = target;
	counts->keys[nr] = optop_key(line->line, file->name);
	optop_add_counts(reading, event_of,
			 &counts->self[nr * counts->nr_events], line->counts);
	return row->beside ? 0 : -ENOMEM;
}

/* Samples without a line have a row for each image. */
static int fill_unplaced(struct optop_reading *reading, size_t nr,
			 const struct pp_unplaced *unplaced,
			 const size_t *event_of)
{
	struct optop_counts *counts = reading->counts;
	struct optop_row *row = &reading->rows[nr];

	row->beside = "no line";
	row->name = op_arena_printf(&reading->arena, "code of %s",
				    unplaced->image->name);
	counts->keys[nr] = optop_key(0, unplaced->image->name);
	optop_add_counts(reading, event_of,
			 &counts->self[nr * counts->nr_events],
			 unplaced->counts);
	return row->name ? 0 : -ENOMEM;
}

static int fill_lines(struct optop_reading *reading,
		      const struct optop_query *query)
{
	const struct pp_report *report = reading->report;
	const size_t *event_of;
	struct pp_annotation a;
	size_t nr = 0;
	int err = pp_annotate(&a, reading->report, NULL, NULL);

	(void)query;
	if (err)
		return err;
	for (size_t i = 0; i < a.nr_files; i++)
		nr += a.files[i].nr_lines;
	err = optop_make_rows(reading, nr + a.nr_unplaced, false, &event_of);
	nr = 0;
	for (size_t i = 0; i < a.nr_files && !err; i++)
		for (size_t j = 0; j < a.files[i].nr_lines && !err; j++)
			if (pp_has_counts(a.files[i].lines[j].counts,
					  report->classes.nr))
				err = fill_line(reading, nr++, &a.files[i],
						&a.files[i].lines[j], event_of);
	for (size_t i = 0; i < a.nr_unplaced && !err; i++)
		err = fill_unplaced(reading, nr++, &a.unplaced[i], event_of);
	if (err)
		return err;
	reading->counts->nr = nr;
	optop_add_counts(reading, event_of, reading->counts->self_sums,
			 report->symbols.totals);
	return 0;
}

/* ---- processes, threads and cgroups -------------------------------------- */

/* Fill @row, which @class is in, and @target, which the row opens. Returns 0 or
 * -ENOMEM. */
typedef int describe_task_fn(struct optop_reading *reading,
			     struct optop_row *row, struct optop_target *target,
			     const struct pp_class *class);

static int describe_process(struct optop_reading *reading,
			    struct optop_row *row, struct optop_target *target,
			    const struct pp_class *class)
{
	target->tgid = class->tgid;
	row->name = pp_task_name(&reading->arena, class);
	row->beside = op_arena_printf(&reading->arena, "%" PRId64, class->tgid);
	return row->name && row->beside ? 0 : -ENOMEM;
}

static int describe_thread(struct optop_reading *reading, struct optop_row *row,
			   struct optop_target *target,
			   const struct pp_class *class)
{
	target->tgid = class->tgid;
	target->tid = class->tid;
	row->name = pp_task_name(&reading->arena, class);
	row->beside = op_arena_printf(&reading->arena, "%" PRId64 "/%" PRId64,
				      class->tgid, class->tid);
	return row->name && row->beside ? 0 : -ENOMEM;
}

static int describe_cgroup(struct optop_reading *reading, struct optop_row *row,
			   struct optop_target *target,
			   const struct pp_class *class)
{
	(void)reading;
	target->cgroup = class->cgroup;
	row->name = *class->cgroup ? class->cgroup : class->cgroup_name;
	row->beside = class->cgroup_name;
	return 0;
}

static uint64_t key_of_task(const struct pp_class *class)
{
	uint64_t key = op_hash_mix(op_hash_mix(1, (uint64_t) class->tgid),
				   (uint64_t) class->tid);

	return optop_key(key, class->cgroup ?: "");
}

/*
 * Classes of one task, which differ in their event, come one after another. A
 * task without a name is called by its application (pp_task_name()), which may
 * be another for each event: that of most samples counts.
 */
static int fill_tasks(struct optop_reading *reading, const char *not_apart,
		      describe_task_fn *describe)
{
	const struct pp_classes *classes = &reading->report->classes;
	const uint64_t *totals = reading->report->totals;
	const size_t *event_of;
	uint64_t most = 0;
	size_t nr = 0;
	int err = optop_make_rows(reading, classes->nr, false, &event_of);
	struct optop_counts *counts = reading->counts;

	for (size_t c = 0; c < classes->nr && !err; c++) {
		const struct pp_class *class = &classes->classes[c];
		uint64_t key = key_of_task(class);
		uint64_t *sum = &counts->self_sums[event_of[c]];

		*sum = pp_add_counts(*sum, totals[c]);
		if (class->tgid == OP_MANGLE_ALL && !class->cgroup) {
			reading->note = not_apart;
			continue;
		}
		if (!nr || counts->keys[nr - 1] != key) {
			counts->keys[nr++] = key;
			most = 0;
		}
		if (totals[c] >= most) {
			struct optop_target *target = new_target(reading);
			struct optop_row *row = &reading->rows[nr - 1];

			row->opens = target;
			err = target ? describe(reading, row, target, class)
				     : -ENOMEM;
			most = totals[c];
		}
		counts->self[(nr - 1) * counts->nr_events + event_of[c]] =
			totals[c];
	}
	counts->nr = nr;
	return err;
}

static int fill_processes(struct optop_reading *reading,
			  const struct optop_query *query)
{
	(void)query;
	return fill_tasks(reading, NOT_APART, describe_process);
}

static int fill_threads(struct optop_reading *reading,
			const struct optop_query *query)
{
	(void)query;
	return fill_tasks(reading, NOT_APART, describe_thread);
}

static int fill_cgroups(struct optop_reading *reading,
			const struct optop_query *query)
{
	(void)query;
	return fill_tasks(reading, NO_CGROUPS, describe_cgroup);
}

/* ---- all of them --------------------------------------------------------- */

static const struct optop_view views[OPTOP_NR_KINDS] = {
	[OPTOP_IMAGES] = { .name = "image",
			   .beside = "image",
			   .title = "path",
			   .below = OPTOP_SYMBOLS,
			   .merge = MERGE_SYMBOLS,
			   .fill = fill_images },
	[OPTOP_SYMBOLS] = { .name = "symbol",
			    .beside = "image",
			    .title = "symbol",
			    .below = OPTOP_ASSEMBLY,
			    .merge = MERGE_SYMBOLS,
			    .symbols = true,
			    .fill = fill_symbols },
	[OPTOP_LINES] = { .name = "line",
			  .beside = "line",
			  .title = "path",
			  .below = OPTOP_SOURCE,
			  .merge = MERGE_SYMBOLS,
			  .symbols = true,
			  .lines = true,
			  .fill = fill_lines },
	[OPTOP_PROCESSES] = { .name = "process",
			      .beside = "pid",
			      .title = "process",
			      .below = OPTOP_SYMBOLS,
			      .merge = MERGE_PROCESSES,
			      .fill = fill_processes },
	[OPTOP_THREADS] = { .name = "thread",
			    .beside = "pid/tid",
			    .title = "process/thread",
			    .below = OPTOP_SYMBOLS,
			    .merge = MERGE_THREADS,
			    .fill = fill_threads },
	[OPTOP_CGROUPS] = { .name = "cgroup",
			    .beside = "cgroup",
			    .title = "path",
			    .below = OPTOP_SYMBOLS,
			    .merge = MERGE_CGROUPS,
			    .fill = fill_cgroups },
	[OPTOP_ASSEMBLY] = { .name = "assembly",
			     .beside = "source",
			     .title = "instruction",
			     .below = OPTOP_NR_KINDS },
	[OPTOP_SOURCE] = { .name = "source",
			   .beside = "line",
			   .title = "source",
			   .below = OPTOP_NR_KINDS },
	[OPTOP_CALLS] = { .name = "calls",
			  .beside = "image",
			  .title = "callers, the function, callees",
			  .below = OPTOP_ASSEMBLY },
};

int optop_fill_view(struct optop_reading *reading,
		    const struct optop_query *query,
		    const struct pp_request *base, struct op_diag *diag)
{
	const struct optop_view *view = &views[query->kind];
	struct pp_request request = *base;
	int err;

	request.select.merge |= view->merge;
	request.symbols.wanted = view->symbols;
	request.totals.wanted = view->symbols && !view->lines;
	request.names.inlines &= request.totals.wanted;
	request.symbols.details = request.lines.wanted = view->lines;
	if (view->lines)
		request.select.only_image = query->target.image;
	err = optop_make_report(reading, &request, &query->target, diag);
	return err ? err : view->fill(reading, query);
}

const char *optop_kind_name(enum optop_kind kind)
{
	return views[kind].name;
}

const char *optop_kind_beside(enum optop_kind kind)
{
	return views[kind].beside;
}

const char *optop_kind_title(enum optop_kind kind)
{
	return views[kind].title;
}

enum optop_kind optop_kind_below(enum optop_kind kind)
{
	return views[kind].below;
}

enum optop_kind optop_view_find(const char *name)
{
	enum optop_kind kind = 0;

	while (kind < OPTOP_NR_VIEWS && strcmp(views[kind].name, name) != 0)
		kind++;
	return kind;
}
