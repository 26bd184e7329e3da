// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of symbols as text, and its rows for the call graph. A row is a
 * list of fields; each has a least width, and the blanks behind a field are
 * written only when another field follows, so that no line ends in blanks. The
 * image column is there only where some image is not the application itself.
 * What is gone in a comparison shows its old count, and no shares, which would
 * be of another whole.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"
#include "libpp/select/sample_list.h"
#include "libpp/format/text/text.h"
#include "libpp/format/text/text_fit.h"

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
	WIDTH_CHANGE = 10,
	WIDTH_CHANGE_INTERVAL = 20,
	WIDTH_LINE = 28,
	WIDTH_IMAGE = 25,
	WIDTH_APP = 25,
	WIDTH_NAME = 24, /* before a source line */
};

#define NO_VALUE "---"
#define NO_PLACE "(no location information)"
#define NO_LINE "(no line)"
#define NARROW 100 /* columns; less is no terminal for images of lines */

/* ---- fields -------------------------------------------------------------- */

/* The blanks that the field before owes. */
static void text_write_pending(struct pp_text *t)
{
	for (size_t i = 0; i < t->pending; i++)
		putc_unlocked(' ', t->out);
	t->column += t->pending;
	t->pending = 0;
}

/* A field of at least @width characters, a blank behind it included, which
 * are written only when another field follows. */
static void text_write_field(struct pp_text *t, size_t width, const char *text)
{
	size_t len = strlen(text);

	text_write_pending(t);
	fwrite_unlocked(text, 1, len, t->out);
	t->column += len;
	t->pending = len < width ? width - len : 1;
}

static void text_end_row(struct pp_text *t)
{
	fputc('\n', t->out);
	t->pending = 0;
	t->column = 0;
}

static void text_write_number(struct pp_text *t, size_t width, uint64_t number)
{
	char buf[OP_DECIMAL_LEN];

	op_decimal_u64(buf, number);
	text_write_field(t, width, buf);
}

static void text_write_count(struct pp_text *t, size_t width, size_t column,
			     uint64_t count)
{
	char buf[OP_DECIMAL_LEN];

	text_write_field(t, width, pp_text_count(buf, t, column, count));
}

static void text_write_percent(struct pp_text *t, size_t width, uint64_t part,
			       uint64_t whole)
{
	char buf[PP_PERCENT_LEN];

	text_write_field(t, width,
			 pp_text_percent(buf, pp_percent(part, whole)));
}

static void text_write_vma(struct pp_text *t, uint64_t vma, bool is_inlined)
{
	char buf[OP_DECIMAL_LEN];

	if (!t->options->show_address)
		return;
	if (is_inlined)
		snprintf(buf, sizeof(buf), "%-*s", t->vma_digits, "inlined");
	else
		op_decimal_hex(buf, vma, t->vma_digits);
	text_write_field(t, WIDTH_VMA, buf);
}

/* The text in place of a line that is not known; on a terminal it is short. */
static const char *text_no_place(const struct pp_text *t)
{
	return t->report->lines.split || t->options->width ? NO_LINE : NO_PLACE;
}

static void text_write_place(struct pp_text *t, const struct pp_place *place)
{
	char line[16];
	const char *name;

	if (!t->report->lines.made)
		return;
	if (!place->file) {
		text_write_field(t, t->place_width, text_no_place(t));
		return;
	}
	name = strrchr(place->file, '/');
	name = pp_text_plain(t, name && !t->options->long_names ? name + 1
								: place->file);
	snprintf(line, sizeof(line), ":%u", place->line);
	text_write_pending(t);
	fputs_unlocked(name, t->out);
	t->column += strlen(name);
	text_write_field(t,
			 strlen(name) < t->place_width
				 ? t->place_width - strlen(name)
				 : 0,
			 line);
}

/* On a terminal a name need only be recognized. */
static const char *text_name_of_line(const struct pp_text *t,
				     const struct pp_symbol_entry *entry)
{
	return pp_text_plain(t, t->options->width && entry->brief
					? entry->brief
					: entry->name);
}

/* A name in a column: on a terminal one that is too long is folded. */
static void text_write_fitted(struct pp_text *t, size_t width, const char *name)
{
	bool fits = !t->options->width || strlen(name) + 2 <= width;
	char *cut = fits ? NULL : strdup(name);

	if (cut)
		cut[pp_fit_line(cut, strlen(cut), width - 2)] = '\0';
	text_write_field(t, width, cut ?: name);
	free(cut);
}

/* The function of a line, and its text: both are cut where the terminal has no
 * room, as a line of code is no name that could be folded. */
static void text_write_source(struct pp_text *t,
			      const struct pp_symbol_entry *entry)
{
	size_t width = t->options->width, len, left;

	text_write_fitted(t, t->name_width, text_name_of_line(t, entry));
	if (!entry->source)
		return;
	left = t->column + t->pending;
	left = width > left ? width - left : 0;
	len = strlen(entry->source);
	if (width && len > left)
		len = pp_fit_text(entry->source, left);
	while (len && entry->source[len - 1] == ' ')
		len--;
	if (!len)
		return;
	text_write_pending(t);
	fwrite_unlocked(entry->source, 1, len, t->out);
}

/* ---- changes ------------------------------------------------------------- */

/* A change has no whole to be all of, so unlike a share 100 is written as 99
 * is; and it has a sign. */
static void text_write_change_percent(struct pp_text *t, double percent)
{
	char buf[PP_PERCENT_LEN];

	if (isinf(percent))
		strcpy(buf, "+++");
	else if (percent == 0)
		pp_text_percent(buf, percent);
	else
		snprintf(buf, sizeof(buf),
			 fabs(percent) > 0.001 ? "%+7.4f" : "%+7.1e", percent);
	text_write_field(t, WIDTH_DIFF, buf);
}

static void text_write_change_interval(struct pp_text *t,
				       const struct pp_change *change)
{
	char buf[PP_INTERVAL_LEN];
	int len = snprintf(buf, sizeof(buf), "%+.4f..", change->low);

	if (isinf(change->high))
		strcpy(buf + len, "+++");
	else
		snprintf(buf + len, sizeof(buf) - (size_t)len, "%+.4f",
			 change->high);
	text_write_field(t, WIDTH_DIFF_INTERVAL, buf);
	text_write_field(t, WIDTH_MARK, change->significant ? "*" : "");
}

static void text_write_change(struct pp_text *t,
			      const struct pp_symbol_entry *entry,
			      size_t class_nr)
{
	const struct pp_change *change;

	if (!t->report->old.made)
		return;
	change = &entry->changes[class_nr];
	if (entry->presence == PP_BOTH)
		text_write_change_percent(t, change->percent);
	else
		text_write_field(t, WIDTH_DIFF,
				 entry->presence == PP_NEW ? "+++" : NO_VALUE);
	if (t->report->intervals)
		text_write_change_interval(t, change);
}

/* By how much time or events a symbol has changed; and both counts, as a reader
 * wants to see what the change is of. */
static void text_write_difference(struct pp_text *t,
				  const struct pp_symbol_entry *entry,
				  size_t class_nr)
{
	const struct pp_change *change = &entry->changes[class_nr];
	struct pp_text_unit unit = pp_text_unit(t, class_nr);
	char buf[PP_INTERVAL_LEN];

	pp_text_difference(buf, &unit, change);
	text_write_field(t, WIDTH_CHANGE, buf);
	pp_text_difference_interval(buf, &unit, change);
	text_write_field(t, WIDTH_CHANGE_INTERVAL, buf);
	text_write_field(t, WIDTH_MARK, change->differs ? "*" : "");
	text_write_number(t, WIDTH_SAMPLES, entry->old_counts[class_nr]);
}

/* ---- tasks in rows ------------------------------------------------------- */

#define HEAD_IDS "tgid/tid"
#define HEAD_NAME "process/thread"
#define HEAD_CGROUP "cgroup"

static size_t at_least(size_t width, const char *head)
{
	return width > strlen(head) + 2 ? width : strlen(head) + 2;
}

static size_t ids_width(const struct pp_task_rows *rows)
{
	return at_least(rows->ids_width, HEAD_IDS);
}

static size_t name_width(const struct pp_task_rows *rows)
{
	return at_least(rows->name_width, HEAD_NAME);
}

static size_t cgroup_width(const struct pp_task_rows *rows)
{
	return at_least(rows->cgroup_width, HEAD_CGROUP);
}

/* ---- rows ---------------------------------------------------------------- */

static void text_write_difference_heads(struct pp_text *t, size_t class_nr)
{
	struct pp_text_unit unit = pp_text_unit(t, class_nr);
	char buf[PP_INTERVAL_LEN];

	snprintf(buf, sizeof(buf), "change%s%s", *unit.name ? " " : "",
		 unit.name);
	text_write_field(t, WIDTH_CHANGE, buf);
	text_write_field(t, WIDTH_CHANGE_INTERVAL, "95% interval");
	text_write_field(t, WIDTH_MARK, "sig.");
	text_write_field(t, WIDTH_SAMPLES, "before");
}

static void text_write_table_heads(struct pp_text *t)
{
	const struct pp_report *report = t->report;
	bool sums = t->options->accumulated, intervals = report->intervals;
	const struct {
		bool wanted;
		size_t width;
		const char *text;
	} heads[] = {
		{ sums, WIDTH_CUM_SAMPLES,
		  t->has_times ? "cum. s" : "cum. samples" },
		{ true, WIDTH_PERCENT, "%" },
		{ intervals, WIDTH_INTERVAL, "95% interval" },
		{ sums, WIDTH_CUM_PERCENT, "cum. %" },
		{ report->stack_totals.made, WIDTH_PERCENT, "total %" },
		{ report->stack_totals.made && intervals, WIDTH_INTERVAL,
		  "95% interval" },
		{ report->old.made, WIDTH_DIFF, "diff %" },
		{ report->old.made && intervals, WIDTH_DIFF_INTERVAL,
		  "95% interval" },
		{ report->old.made && intervals, WIDTH_MARK, "sig." },
	};

	if (t->options->show_address)
		text_write_field(t, WIDTH_VMA, "vma");
	for (size_t c = 0; c < t->nr_columns; c++) {
		if (pp_text_has_measure(t, c))
			text_write_difference_heads(t, c);
		text_write_field(t, WIDTH_SAMPLES, pp_text_count_head(t, c));
		for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
			if (heads[i].wanted)
				text_write_field(t, heads[i].width,
						 heads[i].text);
	}
	if (t->rows && t->rows->ids_width)
		text_write_field(t, ids_width(t->rows), HEAD_IDS);
	if (t->rows && t->rows->name_width)
		text_write_field(t, name_width(t->rows), HEAD_NAME);
	if (t->rows && t->rows->cgroup_width)
		text_write_field(t, cgroup_width(t->rows), HEAD_CGROUP);
	if (report->lines.made)
		text_write_field(t, t->place_width, "linenr info");
	if (t->show_image)
		text_write_field(t, t->image_width, "image name");
	if (t->show_app)
		text_write_field(t, t->app_width, "app name");
	text_write_field(t, report->lines.split ? t->name_width : 0,
			 "symbol name");
	if (report->lines.split)
		text_write_field(t, 0, "source");
	text_end_row(t);
}

static void text_write_share(struct pp_text *t, size_t column, uint64_t part,
			     uint64_t whole)
{
	char buf[PP_INTERVAL_LEN];

	text_write_percent(t, WIDTH_PERCENT, part, whole);
	if (t->report->intervals)
		text_write_field(t, WIDTH_INTERVAL,
				 pp_text_interval(buf, part, whole,
						  pp_class_grain(pp_text_column(
							  t, column))));
}

/* A symbol that is gone has a count, which is of the old profile, and no
 * shares. */
static void text_write_gone(struct pp_text *t,
			    const struct pp_symbol_entry *entry,
			    size_t class_nr)
{
	text_write_number(t, WIDTH_SAMPLES,
			  pp_text_has_measure(t, class_nr)
				  ? 0
				  : entry->old_counts[class_nr]);
	if (t->options->accumulated)
		text_write_field(t, WIDTH_CUM_SAMPLES, NO_VALUE);
	text_write_field(t, WIDTH_PERCENT, NO_VALUE);
	if (t->report->intervals)
		text_write_field(t, WIDTH_INTERVAL, NO_VALUE);
	if (t->options->accumulated)
		text_write_field(t, WIDTH_CUM_PERCENT, NO_VALUE);
	text_write_change(t, entry, class_nr);
}

/* Class @i in column @column; PP_NO_CLASS: the task has nothing there. */
static void text_write_class(struct pp_text *t, const struct pp_text_row *row,
			     size_t i, size_t column)
{
	uint64_t *running = row->running;
	uint64_t count = i == PP_NO_CLASS ? 0 : row->counts[i];

	if (i != PP_NO_CLASS && pp_text_has_measure(t, i))
		text_write_difference(t, row->entry, i);
	if (row->entry->presence == PP_GONE) {
		text_write_gone(t, row->entry, i);
		return;
	}
	text_write_count(t, WIDTH_SAMPLES, column, count);
	if (running) {
		running[column] = pp_add_counts(running[column], count);
		text_write_count(t, WIDTH_CUM_SAMPLES, column, running[column]);
	}
	text_write_share(t, column, count, row->totals[column]);
	if (running)
		text_write_percent(t, WIDTH_CUM_PERCENT, running[column],
				   row->totals[column]);
	if (t->report->stack_totals.made)
		text_write_share(t, column,
				 i == PP_NO_CLASS ? 0
						  : row->entry->all_counts[i],
				 t->totals[column]);
	text_write_change(t, row->entry, i);
}

static size_t class_at(const struct pp_text *t, size_t task, size_t column)
{
	return t->rows ? t->rows->classes[task * t->nr_columns + column]
		       : column;
}

static void text_write_task_fields(struct pp_text *t, size_t task)
{
	const struct pp_task_rows *rows = t->rows;

	if (!rows)
		return;
	if (rows->ids_width)
		text_write_field(t, ids_width(rows), rows->rows[task].ids);
	if (rows->name_width)
		text_write_field(t, name_width(rows), rows->rows[task].name);
	if (rows->cgroup_width)
		text_write_field(t, cgroup_width(rows),
				 rows->rows[task].cgroup);
}

void pp_text_row(struct pp_text *t, const struct pp_text_row *row)
{
	const struct pp_symbol_entry *entry = row->entry;

	text_write_vma(t, entry->vma, entry->is_inlined);
	for (size_t i = 0; i < t->nr_columns; i++)
		text_write_class(t, row, class_at(t, row->task, i), i);
	text_write_task_fields(t, row->task);
	text_write_place(t, &entry->place);
	if (t->show_image)
		text_write_fitted(t, t->image_width,
				  pp_text_name(t, entry->image->name));
	if (t->show_app)
		text_write_fitted(t, t->app_width, pp_text_name(t, entry->app));
	if (t->report->lines.split)
		text_write_source(t, entry);
	else
		text_write_field(t, 0, pp_text_plain(t, entry->name));
	if (entry->wait)
		fprintf(t->out, " [waits: %s]", entry->wait);
	if (row->mark)
		fputs(row->mark, t->out);
	text_end_row(t);
}

/* Shares and running sums (if @running) are of the symbol. */
static void text_write_details(struct pp_text *t,
			       const struct pp_symbol_entry *entry,
			       uint64_t *running)
{
	size_t nr_classes = t->report->classes.nr;
	struct pp_text_row row = {
		.entry = entry,
		.totals = t->options->global_percent ? t->report->symbols.totals
						     : entry->counts,
		.running = running,
	};

	if (running)
		memset(running, 0, nr_classes * sizeof(*running));
	for (size_t i = 0; i < entry->nr_details; i++) {
		const struct pp_detail *detail = &entry->details[i];

		fputs("  ", t->out);
		text_write_vma(t, detail->vma, false);
		row.counts = detail->counts;
		for (size_t j = 0; j < nr_classes; j++)
			text_write_class(t, &row, j, j);
		text_write_place(t, &detail->place);
		text_end_row(t);
	}
}

/* @len and two blanks, but no more than @most, and on a terminal @share. */
static size_t pad_up_to(size_t len, size_t share, size_t most)
{
	most = share && share < most ? share : most;
	return (len < most ? len : most) + 2;
}

/*
 * On a terminal columns take what the longest of their names need, and up to a
 * quarter of its width, so that the names of symbols have room. Places and
 * names of lines do so everywhere, up to lower limits: behind them is the text,
 * which is what people look at.
 */
static void text_find_widths(struct pp_text *t)
{
	const struct pp_report *report = t->report;
	size_t place = strlen("linenr info"), image = strlen("image name");
	size_t app = strlen("app name"), name = strlen("symbol name");
	size_t width = t->options->width;

	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];
		const char *file = entry->place.file;
		size_t len =
			strlen(file ? pp_text_name(t, file) : text_no_place(t));

		if (file)
			len += (size_t)snprintf(NULL, 0, ":%u",
						entry->place.line);
		place = len > place ? len : place;
		len = strlen(pp_text_name(t, entry->image->name));
		image = len > image ? len : image;
		len = strlen(pp_text_name(t, entry->app));
		app = len > app ? len : app;
		len = strlen(text_name_of_line(t, entry));
		name = len > name ? len : name;
	}
	if (!report->lines.split) {
		size_t most = width / 4;

		most = most < PP_FIT_NAME_MIN ? PP_FIT_NAME_MIN : most;
		t->place_width = pad_up_to(place, 0, most);
		t->image_width = pad_up_to(image, 0, most);
		t->app_width = pad_up_to(app, 0, most);
		return;
	}
	t->place_width = pad_up_to(place, width / 4, WIDTH_LINE);
	t->image_width = pad_up_to(image, width / 8, WIDTH_IMAGE);
	t->app_width = pad_up_to(app, width / 8, WIDTH_APP);
	t->name_width = pad_up_to(name, width / 4, WIDTH_NAME);
	/* The file of a line says nearly as much. */
	t->show_image &= !width || width >= NARROW;
	t->show_app &= !width || width >= NARROW;
}

void pp_text_table_begin(struct pp_text *t)
{
	const struct pp_report *report = t->report;

	t->vma_digits = pp_vma_digits(report);
	t->show_app = report->symbols.many_apps;
	t->place_width = WIDTH_LINE;
	t->image_width = WIDTH_IMAGE;
	t->app_width = WIDTH_APP;
	for (size_t i = 0; i < report->symbols.nr; i++)
		t->show_image |= strcmp(report->symbols.list[i].image->name,
					report->symbols.list[i].app) != 0;
	if (report->lines.split || t->options->width)
		text_find_widths(t);
	if (!t->options->no_header)
		text_write_table_heads(t);
}

/* A symbol in a task. */
struct symbol_of_task {
	size_t symbol, task;
	uint64_t count; /* in the first column */
};

static int compare_symbols_of_tasks(const void *a, const void *b)
{
	const struct symbol_of_task *x = a, *y = b;

	return op_compare(y->count, x->count) ?:
	       op_compare(x->symbol, y->symbol) ?: op_compare(x->task, y->task);
}

static int compare_in_order(const void *a, const void *b)
{
	const struct symbol_of_task *x = a, *y = b;

	return op_compare(x->symbol, y->symbol) ?: op_compare(x->task, y->task);
}

/* Where symbols are sorted by samples so are those of all tasks together; else
 * each symbol's are by samples. */
static void sort_symbols_of_tasks(const struct pp_text *t,
				  struct symbol_of_task *all, size_t nr)
{
	if (!nr)
		return;
	qsort(all, nr, sizeof(*all),
	      t->report->symbols.by_samples ? compare_symbols_of_tasks
					    : compare_in_order);
}

/* Add what task @task has of symbol @symbol. */
static int add_symbol_of_task(const struct pp_text *t, size_t symbol,
			      size_t task, uint64_t *counts,
			      struct symbol_of_task **all, size_t *nr)
{
	const struct pp_symbol_entry *entry = &t->report->symbols.list[symbol];
	bool any = entry->all_counts &&
		   pp_task_row_counts(t->rows, task, entry->all_counts, counts);

	any |= pp_task_row_counts(t->rows, task, entry->counts, counts);
	if (!any)
		return 0;
	if (op_array_reserve(all, *nr, 1))
		return -ENOMEM;
	(*all)[(*nr)++] = (struct symbol_of_task){ symbol, task, counts[0] };
	return 0;
}

static int text_write_symbols_of_tasks(struct pp_text *t, uint64_t *running)
{
	const struct pp_report *report = t->report;
	struct symbol_of_task *all = NULL;
	uint64_t *counts = calloc(t->nr_columns, sizeof(*counts));
	size_t nr = 0;
	int err = counts ? 0 : -ENOMEM;

	for (size_t i = 0; i < report->symbols.nr && !err; i++)
		for (size_t j = 0; j < t->rows->nr && !err; j++)
			err = add_symbol_of_task(t, i, j, counts, &all, &nr);
	if (!err)
		sort_symbols_of_tasks(t, all, nr);
	for (size_t i = 0; i < nr && !err; i++) {
		const struct pp_symbol_entry *entry =
			&report->symbols.list[all[i].symbol];

		pp_text_row(t, &(struct pp_text_row){
				       .entry = entry,
				       .counts = entry->counts,
				       .totals = t->rows->symbol_totals,
				       .running = running,
				       .task = all[i].task });
	}
	free(counts);
	free(all);
	return err;
}

int pp_text_symbols(struct pp_text *t)
{
	const struct pp_report *report = t->report;
	uint64_t *running = NULL, *inner = NULL;
	int err = 0;

	if (t->options->accumulated) {
		running = calloc(2 * report->classes.nr, sizeof(*running));
		if (!running)
			return -ENOMEM;
		inner = running + report->classes.nr;
	}
	pp_text_table_begin(t);
	if (t->rows)
		err = text_write_symbols_of_tasks(t, running);
	for (size_t i = 0; i < report->symbols.nr && !t->rows; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];

		pp_text_row(t, &(struct pp_text_row){
				       .entry = entry,
				       .counts = entry->counts,
				       .totals = report->symbols.totals,
				       .running = running });
		text_write_details(t, entry, inner);
	}
	free(running);
	return err;
}
