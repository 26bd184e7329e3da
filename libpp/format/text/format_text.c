// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text layout of the original profiler, for people: a header that says
 * what was counted and what was lost, then the image summary (text_summary.c),
 * the table of symbols (text_symbols.c), the call graph (text_callgraph.c) or
 * the call tree (text_tree.c).
 * Scripts cut these columns, so widths and the order of columns stay; what the
 * original did not have comes as a further column that has to be asked for.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_terminal_safe.h"
#include "libop/base/op_plural.h"
#include "libop/base/op_strings.h"
#include "libpp/report/interval.h"
#include "libpp/report/report_times.h"
#include "libpp/select/sample_list.h"
#include "libpp/format/text/text.h"
#include "libpp/format/text/text_fit.h"

#define MAX_COMMAND 100 /* bytes of a command line in the head */
#define MIN_COMMAND 20 /* the same on a narrow terminal */
#define MAX_SUMS 5 /* images of which builds were added up, by name */

/* ---- what was counted ---------------------------------------------------- */

/* Whether what is said of the event of class @nr is of several unit masks:
 * beside another axis than the event it is said of all classes. */
static bool unit_masks_differ(const struct pp_text *t, size_t nr)
{
	const struct pp_classes *classes = &t->report->classes;
	const struct pp_class *class = &classes->classes[nr];
	bool differ = class->unit_masks_differ;

	if (classes->axis == PP_AXIS_EVENT)
		return differ;
	for (size_t i = 0; i < classes->nr && !differ; i++)
		differ = classes->classes[i].unit_masks_differ ||
			 classes->classes[i].counted_unit_mask !=
				 class->counted_unit_mask;
	return differ;
}

/* With all samples of the event, where the column of @class_nr has these. */
static void text_write_scale(const struct pp_text *t,
			     const struct pp_class *class, uint64_t total)
{
	struct pp_interval interval = pp_class_total_interval(class, total);

	if (!pp_is_scaled(class))
		return;
	pp_write_scale(t->out, class);
	if (t->report->classes.axis == PP_AXIS_EVENT)
		fprintf(t->out,
			"; %" PRIu64
			" samples in all, 95 %% interval %.0f to %.0f",
			total, interval.low, interval.high);
	fputc('\n', t->out);
}

static void text_write_event(const struct pp_text *t, size_t class_nr)
{
	const struct pp_class *class = &t->report->classes.classes[class_nr];
	const struct pp_event_text *text =
		&t->report->cpu.event_texts[class_nr];
	uint64_t hz = class->count ? class->count : t->report->cpu.timer_hz;

	if (pp_class_is_timer(class)) {
		fputs("Profiling through timer interrupt", t->out);
		if (hz)
			fprintf(t->out,
				", %" PRIu64 " sample%s per second and CPU", hz,
				op_plural(hz));
		fputc('\n', t->out);
		return;
	}
	fprintf(t->out, "Counted %s events", class->event);
	if (text->event)
		fprintf(t->out, " (%s)", text->event);
	if (unit_masks_differ(t, class_nr)) {
		fputs(" with different unit masks", t->out);
	} else {
		fprintf(t->out, " with a unit mask of 0x%02" PRIx64,
			class->counted_unit_mask);
		if (text->unit_mask)
			fprintf(t->out, " (%s)", text->unit_mask);
	}
	fprintf(t->out, " count %" PRIu64 "\n", class->count);
	if (class->periods) {
		op_ledger_print_periods(t->out, class->event, class->periods,
					class->sum_of_periods);
		fputc('\n', t->out);
	}
	text_write_scale(t, class, t->report->totals[class_nr]);
	if (t->report->old.made &&
	    pp_is_scaled(&t->report->old.classes.classes[class_nr])) {
		fputs("In the old profile ", t->out);
		text_write_scale(t, &t->report->old.classes.classes[class_nr],
				 t->report->old.totals[class_nr]);
	}
}

/* Sessions of which some are not separated have "all" beside numbers. */
static void text_write_id(const struct pp_text *t, const char *what, int64_t id,
			  const char *name)
{
	if (id == OP_MANGLE_ALL)
		fprintf(t->out, "%s all\n", what);
	else if (name && *name)
		fprintf(t->out, "%s %" PRId64 " (%s)\n", what, id, name);
	else
		fprintf(t->out, "%s %" PRId64 "\n", what, id);
}

/* Write the process, thread, CPU, cgroup or session that a column is of, with
 * names where the session knows them. */
static void text_write_column(const struct pp_text *t,
			      const struct pp_class *class)
{
	enum pp_axis axis = t->report->classes.axis;
	struct op_arena arena;
	const char *name = NULL;

	op_arena_init(&arena);
	if (class->process)
		name = pp_task_name(&arena, class);
	if (axis == PP_AXIS_CPU)
		text_write_id(t, "Samples on CPU", class->cpu, NULL);
	else if (axis == PP_AXIS_TGID)
		text_write_id(t, "Processes with a thread group ID of",
			      class->tgid, name);
	else if (axis == PP_AXIS_TID)
		text_write_id(t, "Thread", class->tid, name);
	else if (axis == PP_AXIS_CGROUP)
		fprintf(t->out, "Processes in cgroup %s\n",
			class->cgroup
				? *class->cgroup ? class->cgroup : "unknown"
				: "all");
	else if (axis == PP_AXIS_SESSION)
		fprintf(t->out, "Samples of %s %s\n",
			pp_session_axis(&t->report->classes), class->session);
	op_arena_release(&arena);
}

/* The line about the run, with @most bytes of the command; NULL when memory is
 * short. The caller frees it. */
static char *line_of_run(const struct op_ledger *l, const char *of, size_t most)
{
	char *line = NULL;
	size_t len;
	FILE *out = open_memstream(&line, &len);

	if (!out)
		return NULL;
	fprintf(out, "Run%s: ", of);
	pp_write_run(out, l, most);
	if (!fclose(out))
		return line;
	free(line);
	return NULL;
}

/*
 * On a terminal the line takes one row: first the command is cut, then what is
 * behind it. Texts of other machines are safe there (libop/session/op_run.h).
 */
static void text_write_run(const struct pp_text *t, const struct op_ledger *l,
			   const char *of)
{
	size_t width = t->options->width, beyond = 0;
	char *line, *cut = NULL;

	if (!l || !pp_has_run(l))
		return;
	line = line_of_run(l, of, MAX_COMMAND);
	if (line && width && strlen(line) > width)
		beyond = strlen(line) - width;
	if (beyond) {
		size_t len = strlen(l->run.command);
		size_t most = len < MAX_COMMAND ? len : MAX_COMMAND;

		most = most > beyond + MIN_COMMAND ? most - beyond
						   : MIN_COMMAND;
		free(line);
		line = line_of_run(l, of, most);
		cut = op_arena_alloc(t->arena, width + 1, 1);
	}
	if (line && cut)
		op_run_set_text(cut, width + 1, line);
	if (line)
		fprintf(t->out, "%s\n", cut ? cut : line);
	free(line);
}

static void text_write_account(const struct pp_text *t,
			       const struct op_ledger *l, const char *of)
{
	if (!l)
		return;
	fprintf(t->out, "Samples%s: ", of);
	pp_write_samples(t->out, l);
	fputc('\n', t->out);
	if (pp_rate_was_lowered(l)) {
		fprintf(t->out, "Rate%s lowered ", of);
		pp_write_lowered(t->out, l);
		fputc('\n', t->out);
	}
	if (!pp_has_stacks(l))
		return;
	fprintf(t->out, "Stacks%s: ", of);
	pp_write_stacks(t->out, l);
	if (l == t->report->account)
		pp_write_stack_end(t->out, t->report);
	fputc('\n', t->out);
}

static void text_write_history(const struct pp_text *t,
			       const struct pp_history *history, const char *of)
{
	if (!history->end)
		return;
	fprintf(t->out, "Time%s: ", of);
	pp_write_history(t->out, history);
	fputc('\n', t->out);
}

/* Several builds of one path in one row are nothing to be silent about. */
static void text_write_sums_of_builds(const struct pp_text *t)
{
	const struct pp_report *report = t->report;
	size_t shown = 0;

	if (!report->builds.nr_sums)
		return;
	fputs("Builds added up: ", t->out);
	for (; shown < report->builds.nr_sums && shown < MAX_SUMS; shown++) {
		const struct pp_sum_of_builds *sum =
			&report->builds.sums[shown];

		fprintf(t->out, "%s%zu of %s", shown ? ", " : "",
			sum->nr_builds, pp_text_name(t, sum->name));
	}
	if (shown < report->builds.nr_sums)
		fprintf(t->out, ", and those of %zu more image%s",
			report->builds.nr_sums - shown,
			op_plural(report->builds.nr_sums - shown));
	fputs(" (--by-build separates them)\n", t->out);
}

static void text_write_folded(const struct pp_text *t)
{
	for (size_t i = 0; i < t->report->missing.nr_folded; i++) {
		pp_write_folded(t->out, t->report->missing.folded[i]);
		fputc('\n', t->out);
	}
}

/* Where both are CPU time, the two profiles of a comparison may have counted
 * different events. */
static void text_write_old_event(const struct pp_text *t, size_t class_nr)
{
	const struct pp_class *old = &t->report->old.classes.classes[class_nr];

	if (!pp_same_event(old, &t->report->classes.classes[class_nr]))
		fprintf(t->out,
			"The old profile counted %s, which is CPU time, too\n",
			old->name);
}

void pp_text_header(const struct pp_text *t)
{
	const struct pp_report *report = t->report;
	const struct pp_classes *classes = &report->classes;
	size_t nr_events = classes->axis == PP_AXIS_EVENT ? t->nr_columns : 1;

	fprintf(t->out, "CPU: %s", report->cpu.title);
	if (report->cpu.khz)
		fprintf(t->out, ", speed %g MHz (estimated)",
			report->cpu.khz / 1000.0);
	fputc('\n', t->out);
	for (size_t i = 0; i < nr_events; i++) {
		size_t class_nr =
			(size_t)(pp_text_column(t, i) - classes->classes);

		text_write_event(t, class_nr);
		if (report->old.made)
			text_write_old_event(t, class_nr);
	}
	for (size_t i = 0; i < t->nr_columns; i++)
		text_write_column(t, pp_text_column(t, i));
	if (pp_has_times(report)) {
		pp_write_times(t->out, report);
		fputc('\n', t->out);
	}
	if (pp_has_times(report) && pp_has_waits(report)) {
		pp_write_waits(t->out, report);
		fputc('\n', t->out);
	}
	if (report->old.made)
		text_write_run(t, report->old.account, " of the old profile");
	text_write_run(t, report->account, "");
	if (report->old.made)
		text_write_history(t, &report->old.history,
				   " of the old profile");
	text_write_history(t, &report->history, "");
	if (report->old.made)
		text_write_account(t, report->old.account,
				   " of the old profile");
	text_write_account(t, report->account, "");
	if (report->missing.hidden_own)
		fprintf(t->out, "Hidden: %" PRIu64 " sample%s of %s\n",
			report->missing.hidden_own,
			op_plural(report->missing.hidden_own), OP_SELF_NAME);
	if (report->messages.nr_unread)
		fprintf(t->out,
			"Not shown: %zu sample file%s could not be read\n",
			report->messages.nr_unread,
			op_plural(report->messages.nr_unread));
	text_write_sums_of_builds(t);
	text_write_folded(t);
}

void pp_text_describe_change(FILE *out, const struct pp_report *report)
{
	struct pp_text t = { .out = out, .report = report };

	for (size_t c = 0; c < report->classes.nr; c++)
		if (pp_text_has_measure(&t, c))
			pp_text_compared(&t, c);
}

void pp_text_describe(FILE *out, const struct pp_report *report,
		      const struct pp_format_options *options)
{
	struct op_arena arena;

	op_arena_init(&arena);
	pp_text_header(&(struct pp_text){ .out = out,
					  .report = report,
					  .options = options,
					  .nr_columns = report->classes.nr,
					  .arena = &arena });
	op_arena_release(&arena);
}

static int text_write_body(struct pp_text *t)
{
	if (t->report->tree)
		return pp_text_tree(t);
	if (t->report->calls.made)
		return pp_text_call_graph(t);
	if (t->options->over_time)
		return pp_text_over_time(t);
	if (t->report->summary.threads.made)
		return pp_text_threads(t);
	if (t->report->symbols.made)
		return pp_text_symbols(t);
	return pp_text_summary(t);
}

static int text_write_report(struct pp_text *t, FILE *out)
{
	int err;

	if (!t->options->no_header) {
		pp_text_describe_change(t->out, t->report);
		pp_text_header(t);
	}
	if (t->options->width && !t->report->lines.split) {
		t->out = pp_fit_open(out, t->options->width);
		if (!t->out)
			return -errno;
	}
	err = text_write_body(t);
	if (t->out != out && fclose(t->out) && !err)
		err = -errno;
	return err;
}

/* Images and applications that the text names. */
static int collect_paths(const struct pp_report *report,
			 struct op_strings *paths)
{
	const struct pp_symbol_table *symbols = &report->symbols;
	const struct pp_tree *tree = report->tree;
	size_t nr_frames = tree ? tree->nr_frames : 0;
	size_t nr_known = report->calls.made ? symbols->nr_known : 0;
	size_t nr_apps = tree || symbols->made ? 0 : report->summary.nr_apps;
	uint32_t number;
	int err = 0;

	for (size_t i = 0; i < nr_frames && !err; i++)
		if (tree->frames[i].image)
			err = op_strings_number(paths, tree->frames[i].image,
						&number);
	for (size_t i = 0; i < symbols->nr && !err; i++)
		err = op_strings_number(paths, symbols->list[i].app, &number)
			      ?: op_strings_number(paths,
						   symbols->list[i].image->name,
						   &number);
	for (size_t i = 0; i < nr_known && !err; i++)
		if (symbols->known[i].image)
			err = op_strings_number(
				paths, symbols->known[i].image->name, &number);
	for (size_t i = 0; i < nr_apps && !err; i++) {
		const struct pp_summary_app *app = &report->summary.apps[i];

		err = op_strings_number(paths, app->name, &number);
		for (size_t k = 0; k < app->nr_images && !err; k++)
			err = op_strings_number(paths, app->images[k].name,
						&number);
	}
	return err;
}

static int shorten_paths(struct pp_text *t)
{
	struct op_strings paths;
	int err;

	if (t->options->long_names)
		return 0;
	op_strings_init(&paths, t->arena);
	err = collect_paths(t->report, &paths)
		      ?: pp_short_paths_init(&t->shorts, t->arena, paths.list,
					     paths.nr);
	op_strings_release(&paths);
	return err;
}

int pp_format_text(FILE *out, const struct pp_report *report,
		   const struct pp_format_options *options)
{
	struct op_arena arena;
	struct pp_text t = { .out = out,
			     .report = report,
			     .options = options,
			     .nr_columns = report->classes.nr,
			     .has_times = pp_counts_are_seconds(report),
			     .totals = report->totals,
			     .arena = &arena };
	struct pp_task_rows rows = { .nr = 0 };
	int err = 0;

	op_arena_init(&arena);
	if (report->classes.in_rows) {
		err = pp_task_rows_init(&rows, report);
		t.rows = &rows;
		t.nr_columns = rows.nr_columns;
		t.totals = rows.totals;
	}
	err = err ?: shorten_paths(&t);
	if (!err)
		err = text_write_report(&t, out);
	if (report->classes.in_rows)
		pp_task_rows_release(&rows);
	op_arena_release(&arena);
	return err;
}
