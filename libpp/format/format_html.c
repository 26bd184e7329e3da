// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report as one page of HTML: what was profiled, the table of symbols, the
 * flame graph, and the code of the hottest functions. The page is
 * libpp/format/report.html, compiled in as a string; this file puts the data
 * into it, and its script does the rest.
 *
 * There may be 50,000 symbols and many classes, most of whose counts are 0. So
 * symbols are a structure of arrays, texts are numbers of a table of texts, and
 * counts are lists of class and count, each with its length before it. All
 * reports of a page are of the same profile: that of symbols has a class for
 * each thread that was kept apart, those of stacks and code one for each event.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/format/report.html.h" /* made from report.html */
#include "libpp/format/format.h"
#include "libpp/format/page.h"
#include "libpp/format/text/text.h"
#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"
#include "libop/base/op_json.h"
#include "libpp/images/code.h"

struct page_writer {
	struct op_json *json;
	const struct pp_report *report;
	const struct pp_format_options *options;
	const char **texts; /* each once */
	uint32_t nr_texts;
	struct op_hash index; /* of them */
	int err;
};

/* ---- texts --------------------------------------------------------------- */

/* The number of @text. What goes wrong is noted in the writer. */
static uint32_t number_of_text(struct page_writer *w, const char *text)
{
	int err = op_hash_reserve(&w->index, (size_t)w->nr_texts + 1);
	uint32_t number;
	uint64_t hash;

	if (!err)
		err = op_array_reserve(&w->texts, w->nr_texts, 1);
	if (err) {
		w->err = err;
		return 0;
	}
	hash = op_hash_text(w->index.seed, text);
	op_hash_each(&w->index, hash, number)
		if (!strcmp(w->texts[number - 1], text))
			return number - 1;
	w->texts[w->nr_texts++] = text;
	op_hash_add(&w->index, hash, w->nr_texts);
	return w->nr_texts - 1;
}

static void write_texts(struct page_writer *w)
{
	op_json_open(w->json, "texts", '[');
	for (uint32_t i = 0; i < w->nr_texts; i++)
		op_json_text(w->json, NULL, w->texts[i]);
	op_json_close(w->json, ']');
}

/* ---- long arrays: a number costs its digits and a comma ------------------ */

struct number_list {
	FILE *out;
	size_t nr;
};

static struct number_list open_numbers(struct page_writer *w, const char *key)
{
	op_json_open(w->json, key, '[');
	return (struct number_list){ .out = w->json->out };
}

static void close_numbers(struct page_writer *w)
{
	op_json_close(w->json, ']');
}

static void write_page_number(struct number_list *list, uint64_t number)
{
	fprintf(list->out, "%s%" PRIu64, list->nr++ ? "," : "", number);
}

/* A number that is not finite is written as null, as JSON has no word for it.
 */
static void write_page_real(struct number_list *list, double number)
{
	fputs(list->nr++ ? "," : "", list->out);
	if (isfinite(number))
		fprintf(list->out, "%.9g", number);
	else
		fputs("null", list->out);
}

/* How many of the @nr counts there are, and class and count of each. */
static void write_page_counts(struct number_list *list, const uint64_t *counts,
			      size_t nr)
{
	size_t used = 0;

	for (size_t c = 0; counts && c < nr; c++)
		used += counts[c] != 0;
	write_page_number(list, used);
	for (size_t c = 0; used && c < nr; c++)
		if (counts[c]) {
			write_page_number(list, c);
			write_page_number(list, counts[c]);
		}
}

/* ---- the summary --------------------------------------------------------- */

static void describe_page(FILE *out, void *arg)
{
	const struct page_writer *w = arg;

	fputs(w->report->old.made ? "Comparison" : "Profile", out);
	if (w->report->summary.nr_apps)
		fputs(": ", out);
	pp_describe_apps(out, w->report);
}

static void describe_change_of_page(FILE *out, void *arg)
{
	const struct page_writer *w = arg;

	pp_text_describe_change(out, w->report);
}

static void describe_counted(FILE *out, void *arg)
{
	const struct page_writer *w = arg;
	const struct pp_code *code = w->options->code;

	pp_text_describe(out, code ? code->report : w->report, w->options);
}

/* The classes that stand for events: those of a report that adds threads up. */
static const struct pp_classes *events_of_page(const struct page_writer *w)
{
	const struct pp_code *code = w->options->code;

	return code ? &code->report->classes : &w->report->classes;
}

/* The class of @classes that counts the event @of; its number, or -1. */
static int64_t find_event(const struct pp_classes *classes,
			  const struct pp_class *of)
{
	for (size_t i = 0; i < classes->nr; i++)
		if (pp_same_event(&classes->classes[i], of) &&
		    !pp_compare_sessions(&classes->classes[i], of))
			return (int64_t)i;
	return -1;
}

/* Events with their columns of the call tree, and the event of each class. */
static void write_page_events(struct page_writer *w)
{
	const struct pp_classes *events = events_of_page(w);
	const struct pp_report *stacks = w->options->stacks;
	const struct pp_classes *classes = &w->report->classes;

	op_json_open(w->json, "events", '[');
	for (size_t i = 0; i < events->nr; i++) {
		const struct pp_class *event = &events->classes[i];

		op_json_open(w->json, NULL, '{');
		op_json_text(w->json, "name", event->name);
		if (stacks && stacks->tree)
			op_json_i64(w->json, "column",
				    find_event(&stacks->classes, event));
		op_json_close(w->json, '}');
	}
	op_json_close(w->json, ']');
	op_json_open(w->json, "class_event", '[');
	for (size_t c = 0; c < classes->nr; c++)
		op_json_i64(w->json, NULL,
			    w->options->code
				    ? find_event(events, &classes->classes[c])
				    : (int64_t)c);
	op_json_close(w->json, ']');
}

/* Images of which several builds were added up, and how many. */
static void write_sums_of_builds(struct page_writer *w)
{
	const struct pp_report *report = w->report;

	op_json_open(w->json, "builds", '[');
	for (size_t i = 0; i < report->builds.nr_sums; i++) {
		op_json_text(w->json, NULL, report->builds.sums[i].name);
		op_json_u64(w->json, NULL, report->builds.sums[i].nr_builds);
	}
	op_json_close(w->json, ']');
}

static void write_warnings(struct page_writer *w, const char *key,
			   const struct pp_report *report)
{
	op_json_open(w->json, key, '[');
	for (size_t i = 0; report && i < report->messages.nr; i++)
		if (report->messages.list[i].kind == PP_WARNING)
			op_json_text(w->json, NULL,
				     report->messages.list[i].text);
	op_json_close(w->json, ']');
}

static void write_class_totals(struct page_writer *w, const char *key,
			       const uint64_t *totals)
{
	struct number_list list;

	if (!totals)
		return;
	list = open_numbers(w, key);
	for (size_t c = 0; c < w->report->classes.nr; c++)
		write_page_number(&list, totals[c]);
	close_numbers(w);
}

static void write_apps(struct page_writer *w)
{
	const struct pp_report *report = w->report;
	size_t nr = report->classes.nr;
	struct number_list list = open_numbers(w, "apps");

	for (size_t i = 0; i < report->summary.nr_apps; i++) {
		const struct pp_summary_app *app = &report->summary.apps[i];

		write_page_number(&list, number_of_text(w, app->name));
		write_page_counts(&list, app->counts, nr);
		write_page_number(&list, app->nr_images);
		for (size_t j = 0; j < app->nr_images; j++) {
			write_page_number(
				&list, number_of_text(w, app->images[j].name));
			write_page_counts(&list, app->images[j].counts, nr);
		}
	}
	close_numbers(w);
}

static void write_summary(struct page_writer *w)
{
	const struct pp_report *report = w->report;

	pp_json_description(w->json, "title", describe_page, w);
	pp_json_description(w->json, "counted", describe_counted, w);
	pp_json_description(w->json, "change", describe_change_of_page, w);
	op_json_text(w->json, "command", w->options->command);
	op_json_bool(w->json, "diff", report->old.made);
	op_json_bool(w->json, "has_totals", report->stack_totals.made);
	pp_json_profile(w->json, report);
	op_json_u64(w->json, "account_written", report->account_written);
	op_json_u64(w->json, "old_account_written",
		    report->old.account_written);
	write_page_events(w);
	write_sums_of_builds(w);
	write_class_totals(w, "totals", report->totals);
	write_class_totals(w, "symbol_totals", report->symbols.totals);
	write_class_totals(w, "old_totals", report->old.totals);
	write_class_totals(w, "old_symbol_totals", report->old.symbol_totals);
	write_warnings(w, "warnings", report);
	write_warnings(w, "code_warnings",
		       w->options->code ? w->options->code->report : NULL);
	write_apps(w);
}

/* ---- symbols ------------------------------------------------------------- */

static const char *text_of_app(const struct pp_symbol_entry *entry)
{
	return entry->app;
}

static const char *text_of_image(const struct pp_symbol_entry *entry)
{
	return entry->image->name;
}

static const char *text_of_name(const struct pp_symbol_entry *entry)
{
	return entry->name;
}

static void
write_symbol_texts(struct page_writer *w, const char *key,
		   const char *(*text_of)(const struct pp_symbol_entry *entry))
{
	struct number_list list = open_numbers(w, key);

	for (size_t i = 0; i < w->report->symbols.nr; i++)
		write_page_number(
			&list,
			number_of_text(w,
				       text_of(&w->report->symbols.list[i])));
	close_numbers(w);
}

/* Addresses do not fit into the numbers of a script; "inlined" has none. */
static void write_symbol_addresses(struct page_writer *w)
{
	char text[24];

	op_json_open(w->json, "vma", '[');
	for (size_t i = 0; i < w->report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry =
			&w->report->symbols.list[i];

		snprintf(text, sizeof(text), "%" PRIx64, entry->vma);
		op_json_text(w->json, NULL,
			     entry->is_inlined ? "inlined"
			     : entry->size     ? text
					       : "");
	}
	op_json_close(w->json, ']');
}

static void write_symbol_counts(struct page_writer *w)
{
	const struct pp_report *report = w->report;
	size_t nr = report->classes.nr;
	struct number_list list = open_numbers(w, "counts");

	for (size_t i = 0; i < report->symbols.nr; i++)
		write_page_counts(&list, report->symbols.list[i].counts, nr);
	close_numbers(w);
	if (report->stack_totals.made) {
		list = open_numbers(w, "all");
		for (size_t i = 0; i < report->symbols.nr; i++)
			write_page_counts(
				&list, report->symbols.list[i].all_counts, nr);
		close_numbers(w);
	}
	if (report->old.made) {
		list = open_numbers(w, "old");
		for (size_t i = 0; i < report->symbols.nr; i++)
			write_page_counts(
				&list, report->symbols.list[i].old_counts, nr);
		close_numbers(w);
	}
}

/* Samples more, both ends of the interval of that, and whether it is beyond
 * chance: 0 in classes whose counts cannot be compared. */
static void write_symbol_differences(struct page_writer *w)
{
	const struct pp_report *report = w->report;
	struct number_list list;
	bool any = false;

	for (size_t c = 0; c < report->classes.nr; c++)
		any |= report->old.measures[c].per_sample > 0;
	if (!any)
		return;
	list = open_numbers(w, "differences");
	for (size_t i = 0; i < report->symbols.nr; i++)
		for (size_t c = 0; c < report->classes.nr; c++) {
			const struct pp_change *change =
				&report->symbols.list[i].changes[c];

			write_page_real(&list, change->difference);
			write_page_real(&list, change->least);
			write_page_real(&list, change->most);
			write_page_number(&list, change->differs);
		}
	close_numbers(w);
}

/* Percent, both ends of its interval, chance, and whether it is significant. */
static void write_symbol_changes(struct page_writer *w)
{
	const struct pp_report *report = w->report;
	struct number_list list;

	if (!report->old.made)
		return;
	list = open_numbers(w, "presence");
	for (size_t i = 0; i < report->symbols.nr; i++)
		write_page_number(&list, report->symbols.list[i].presence);
	close_numbers(w);
	list = open_numbers(w, "changes");
	for (size_t i = 0; i < report->symbols.nr; i++)
		for (size_t c = 0; c < report->classes.nr; c++) {
			const struct pp_change *change =
				&report->symbols.list[i].changes[c];

			write_page_real(&list, change->percent);
			write_page_real(&list, change->low);
			write_page_real(&list, change->high);
			write_page_real(&list, change->p);
			write_page_number(&list, change->significant);
		}
	close_numbers(w);
	write_symbol_differences(w);
}

static void write_symbols(struct page_writer *w)
{
	op_json_open(w->json, "symbols", '{');
	write_symbol_texts(w, "name", text_of_name);
	write_symbol_texts(w, "image", text_of_image);
	write_symbol_texts(w, "app", text_of_app);
	write_symbol_addresses(w);
	write_symbol_counts(w);
	write_symbol_changes(w);
	op_json_close(w->json, '}');
}

/* ---- code ---------------------------------------------------------------- */

/* Runs of lines: the first one's number, then their texts. */
static void write_page_source(struct page_writer *w,
			      const struct pp_code_file *file)
{
	bool is_open = false;

	op_json_open(w->json, NULL, '[');
	op_json_text(w->json, NULL, file->name);
	op_json_bool(w->json, NULL, file->is_missing);
	for (unsigned int i = 0; i < file->nr_lines; i++) {
		if (!file->lines[i]) {
			if (is_open)
				op_json_close(w->json, ']');
			is_open = false;
			continue;
		}
		if (!is_open) {
			op_json_open(w->json, NULL, '[');
			op_json_u64(w->json, NULL, i + 1);
		}
		is_open = true;
		op_json_text(w->json, NULL, file->lines[i]);
	}
	if (is_open)
		op_json_close(w->json, ']');
	op_json_close(w->json, ']');
}

static void write_instructions(struct page_writer *w,
			       const struct pp_code_symbol *symbol)
{
	size_t nr = w->options->code->report->classes.nr;
	uint64_t before = symbol->nr_insns ? symbol->insns[0].vma : 0;
	struct number_list list;
	char text[24];

	snprintf(text, sizeof(text), "%" PRIx64, before);
	op_json_text(w->json, "start", text);
	list = open_numbers(w, "step");
	for (size_t i = 0; i < symbol->nr_insns; i++) {
		write_page_number(&list, symbol->insns[i].vma - before);
		before = symbol->insns[i].vma;
	}
	close_numbers(w);
	list = open_numbers(w, "text");
	for (size_t i = 0; i < symbol->nr_insns; i++)
		write_page_number(&list,
				  number_of_text(w, symbol->insns[i].text));
	close_numbers(w);
	list = open_numbers(w, "place");
	for (size_t i = 0; i < symbol->nr_insns; i++) {
		write_page_number(&list, symbol->insns[i].file);
		write_page_number(&list, symbol->insns[i].line);
	}
	close_numbers(w);
	list = open_numbers(w, "counts");
	for (size_t i = 0; i < symbol->nr_insns; i++)
		write_page_counts(&list, symbol->insns[i].counts, nr);
	close_numbers(w);
	if (!w->options->code->report->lines.totals)
		return;
	list = open_numbers(w, "totals");
	for (size_t i = 0; i < symbol->nr_insns; i++)
		write_page_counts(&list, symbol->insns[i].totals, nr);
	close_numbers(w);
	list = open_numbers(w, "lines");
	for (size_t i = 0; i < symbol->nr_lines; i++) {
		write_page_number(&list, symbol->lines[i].file);
		write_page_number(&list, symbol->lines[i].line);
	}
	close_numbers(w);
	list = open_numbers(w, "line_totals");
	for (size_t i = 0; i < symbol->nr_lines; i++)
		write_page_counts(&list, symbol->lines[i].totals, nr);
	close_numbers(w);
}

static void write_code_symbol(struct page_writer *w,
			      const struct pp_code_symbol *symbol)
{
	const struct pp_symbol_entry *entry = symbol->entry;
	char text[24];

	snprintf(text, sizeof(text), "%" PRIx64, entry->vma);
	op_json_open(w->json, NULL, '{');
	op_json_u64(w->json, "name", number_of_text(w, entry->name));
	op_json_u64(w->json, "image", number_of_text(w, entry->image->name));
	op_json_text(w->json, "vma", entry->is_inlined ? "inlined" : text);
	if (symbol->problem)
		op_json_text(w->json, "problem", symbol->problem);
	if (symbol->is_cut)
		op_json_bool(w->json, "cut", true);
	write_instructions(w, symbol);
	op_json_close(w->json, '}');
}

static void write_code(struct page_writer *w)
{
	const struct pp_code *code = w->options->code;
	struct number_list list;

	if (!code)
		return;
	op_json_open(w->json, "code", '{');
	op_json_double(w->json, "threshold", PP_CODE_THRESHOLD);
	op_json_u64(w->json, "max", PP_CODE_MAX_SYMBOLS);
	op_json_u64(w->json, "more", code->nr_more);
	if (code->report->lines.totals) {
		list = open_numbers(w, "all");
		write_page_counts(&list, code->report->totals,
				  code->report->classes.nr);
		close_numbers(w);
	}
	op_json_open(w->json, "files", '[');
	for (size_t i = 0; i < code->nr_files; i++)
		write_page_source(w, &code->files[i]);
	op_json_close(w->json, ']');
	op_json_open(w->json, "symbols", '[');
	for (size_t i = 0; i < code->nr_symbols; i++)
		write_code_symbol(w, &code->symbols[i]);
	op_json_close(w->json, ']');
	op_json_close(w->json, '}');
}

/* ---- the page ------------------------------------------------------------ */

static void write_page_data(struct op_json *json, void *arg)
{
	struct page_writer *w = arg;
	const struct pp_report *stacks = w->options->stacks;

	w->json = json;
	op_json_open(json, NULL, '{');
	write_summary(w);
	write_symbols(w);
	if (stacks && stacks->tree) {
		op_json_open(json, "tree", '{');
		w->err = w->err ?: pp_json_tree(json, stacks, w->options);
		op_json_close(json, '}');
	}
	write_code(w);
	w->err = w->err
			 ?: pp_json_whole_names(json, "whole_names",
						(const struct pp_report *[]){
							w->report, stacks },
						2);
	write_texts(w);
	op_json_close(json, '}');
}

int pp_format_html(FILE *out, const struct pp_report *report,
		   const struct pp_format_options *options)
{
	struct page_writer w = { .report = report, .options = options };
	int err = pp_page_write(out, report_page, write_page_data, &w);

	op_hash_release(&w.index);
	free(w.texts);
	return err ?: w.err;
}
