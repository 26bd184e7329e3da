// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The format of valgrind's callgrind, version 1, for callgrind_annotate and
 * KCachegrind; its specification is in valgrind's manual. A record is one
 * function: its file, its own samples line by line (with instructions where
 * addresses are asked for), and its calls with the samples below them.
 *
 * A name is written once, with a number that stands for it from then on.
 * Readers take what is below a function from the calls of it, so each function
 * needs a caller: the record of an application, which has no samples of its
 * own, calls those where stacks begin. The number of calls was not counted; it
 * is that of the samples below, because a call with number 0 would be none.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "libop/base/op_strings.h"
#include "libpp/format/format.h"
#include "libpp/select/sample_list.h"
#include "libpp/images/source_lines.h"

#define NO_FILE "???"

/* Names that are numbered in the order in which they are written. */
struct numbered_names {
	struct op_strings strings;
	uint32_t nr_written;
};

struct callgrind_writer {
	FILE *out;
	const struct pp_report *report;
	bool has_instr; /* positions are addresses, too */
	struct op_arena arena; /* of the names */
	struct numbered_names objects, files;
	bool *is_written; /* for each known symbol: its name */
	uint32_t nr_roots; /* applications with a record */
	const char *object; /* of the record at work */
	const char *file; /* that lines are of at present */
	int err;
};

/* ---- names --------------------------------------------------------------- */

/* A name is the rest of a line. */
static void write_callgrind_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name < 0x20 || *name == 0x7f ? '?'
								   : *name,
		      out);
}

static void write_numbered_name(struct callgrind_writer *w, const char *key,
				struct numbered_names *names, const char *name)
{
	uint32_t number = 0;

	w->err = w->err ?: op_strings_number(&names->strings, name, &number);
	fprintf(w->out, "%s=(%" PRIu32 ")", key, number + 1);
	if (number == names->nr_written) {
		names->nr_written++;
		fputc(' ', w->out);
		write_callgrind_name(w->out, name);
	}
	fputc('\n', w->out);
}

static void write_function_name(struct callgrind_writer *w, const char *key,
				const struct pp_symbol_entry *entry)
{
	fprintf(w->out, "%s=(%zu)", key, entry->nr + 1);
	if (!w->is_written[entry->nr]) {
		w->is_written[entry->nr] = true;
		fputc(' ', w->out);
		write_callgrind_name(w->out, entry->name);
	}
	fputc('\n', w->out);
}

/* The file of a function is that of its declaration. */
static const char *file_of_function(const struct pp_symbol_entry *entry)
{
	if (entry->place.file)
		return entry->place.file;
	for (size_t i = 0; i < entry->nr_details; i++)
		if (entry->details[i].place.file)
			return entry->details[i].place.file;
	return NO_FILE;
}

/* Lines of @file come next; of one that is not known, those of the function. */
static void change_file(struct callgrind_writer *w, const char *own,
			const char *file)
{
	file = file ?: own;
	if (!strcmp(w->file, file))
		return;
	w->file = file;
	write_numbered_name(w, strcmp(file, own) ? "fi" : "fe", &w->files,
			    file);
}

/* ---- costs --------------------------------------------------------------- */

static void callgrind_write_position(const struct callgrind_writer *w,
				     uint64_t vma, unsigned int line)
{
	if (w->has_instr)
		fprintf(w->out, "0x%" PRIx64 " ", vma);
	fprintf(w->out, "%u", line);
}

static void callgrind_write_costs(const struct callgrind_writer *w,
				  const uint64_t *counts)
{
	for (size_t c = 0; c < w->report->classes.nr; c++)
		fprintf(w->out, " %" PRIu64, counts[c]);
	fputc('\n', w->out);
}

static void write_own_addresses(struct callgrind_writer *w,
				const struct pp_symbol_entry *entry,
				const char *own)
{
	for (size_t i = 0; i < entry->nr_details; i++) {
		const struct pp_detail *detail = &entry->details[i];

		if (!pp_has_counts(detail->counts, w->report->classes.nr))
			continue;
		change_file(w, own, detail->place.file);
		callgrind_write_position(w, detail->vma, detail->place.line);
		callgrind_write_costs(w, detail->counts);
	}
}

static void write_own_lines(struct callgrind_writer *w,
			    const struct pp_symbol_entry *entry,
			    const char *own)
{
	const struct pp_source_line *lines;
	struct op_arena arena;
	size_t nr;

	op_arena_init(&arena);
	w->err = w->err
			 ?: pp_source_lines(&arena, entry,
					    w->report->classes.nr, &lines, &nr);
	for (size_t i = 0; !w->err && i < nr; i++) {
		if (!pp_has_counts(lines[i].counts, w->report->classes.nr))
			continue;
		change_file(w, own, lines[i].place.file);
		callgrind_write_position(w, 0, lines[i].place.line);
		callgrind_write_costs(w, lines[i].counts);
	}
	op_arena_release(&arena);
}

static void write_stack_call(struct callgrind_writer *w,
			     const struct pp_stack_call *call)
{
	const struct pp_symbol_entry *callee = call->callee;
	uint64_t sum = 0;

	for (size_t c = 0; c < w->report->classes.nr; c++)
		sum = pp_add_counts(sum, call->counts[c]);
	if (strcmp(callee->image->name, w->object) != 0)
		write_numbered_name(w, "cob", &w->objects, callee->image->name);
	write_numbered_name(w, "cfi", &w->files, file_of_function(callee));
	write_function_name(w, "cfn", callee);
	fprintf(w->out, "calls=%" PRIu64 " ", sum);
	callgrind_write_position(w, callee->vma, callee->place.line);
	fputc('\n', w->out);
	callgrind_write_position(w, call->vma, call->place.line);
	callgrind_write_costs(w, call->counts);
}

/* ---- records ------------------------------------------------------------- */

static void begin_record(struct callgrind_writer *w, const char *object,
			 const char *file)
{
	fputc('\n', w->out);
	w->object = object;
	w->file = file;
	write_numbered_name(w, "ob", &w->objects, object);
	write_numbered_name(w, "fl", &w->files, file);
}

static void callgrind_write_function(struct callgrind_writer *w,
				     const struct pp_symbol_entry *entry)
{
	const char *own = file_of_function(entry);

	begin_record(w, entry->image->name, own);
	write_function_name(w, "fn", entry);
	if (w->has_instr)
		write_own_addresses(w, entry, own);
	else
		write_own_lines(w, entry, own);
	for (size_t i = 0; i < entry->nr_stack_calls; i++) {
		change_file(w, own, entry->stack_calls[i].place.file);
		write_stack_call(w, &entry->stack_calls[i]);
	}
}

/* The applications, from which stacks begin. */
static void callgrind_write_roots(struct callgrind_writer *w)
{
	const struct pp_report *report = w->report;
	const char *app = NULL;

	for (size_t i = 0; i < report->stack_totals.nr_outer; i++) {
		const struct pp_stack_call *call =
			&report->stack_totals.outer[i];

		if (!app || strcmp(app, call->callee->app) != 0) {
			app = call->callee->app;
			begin_record(w, app, NO_FILE);
			fprintf(w->out, "fn=(%zu) ",
				report->symbols.nr_known + ++w->nr_roots);
			write_callgrind_name(w->out, pp_base_name(app));
			fputc('\n', w->out);
		}
		write_stack_call(w, call);
	}
}

/* ---- the head ------------------------------------------------------------ */

/* Names of events are words; those that are not are made so, and different. */
static void callgrind_write_event_name(const struct callgrind_writer *w,
				       size_t nr)
{
	const struct pp_classes *classes = &w->report->classes;
	const char *name = classes->nr == 1 ? classes->classes[0].event
					    : classes->classes[nr].name;

	for (; *name; name++)
		fputc(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_",
			     *name)
			      ? *name
			      : '_',
		      w->out);
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(classes->classes[i].name,
			    classes->classes[nr].name)) {
			fprintf(w->out, "_%zu", nr + 1);
			break;
		}
}

static void callgrind_write_head(struct callgrind_writer *w)
{
	const struct pp_report *report = w->report;
	FILE *out = w->out;

	fputs("# callgrind format\nversion: 1\ncreator: oprofile " PACKAGE_VERSION
	      "\ncmd: ",
	      out);
	if (report->summary.nr_apps == 1)
		write_callgrind_name(out, report->summary.apps[0].name);
	else
		fprintf(out, "%zu applications", report->summary.nr_apps);
	fputs("\ndesc: CPU: ", out);
	write_callgrind_name(out, report->cpu.title);
	if (report->account) {
		fputs("\ndesc: Samples: ", out);
		pp_write_account(out, report->account);
	}
	fprintf(out, "\npositions:%s line\n", w->has_instr ? " instr" : "");
	for (size_t c = 0; c < report->classes.nr; c++) {
		const char *text = report->cpu.event_texts[c].event;

		fputs("event: ", out);
		callgrind_write_event_name(w, c);
		fputs(" : ", out);
		write_callgrind_name(out, report->classes.classes[c].name);
		if (text) {
			fputs(", ", out);
			write_callgrind_name(out, text);
		}
		fputc('\n', out);
	}
	fputs("events:", out);
	for (size_t c = 0; c < report->classes.nr; c++) {
		fputc(' ', out);
		callgrind_write_event_name(w, c);
	}
	fputs("\nsummary:", out);
	callgrind_write_costs(w, report->symbols.totals);
}

int pp_format_callgrind(FILE *out, const struct pp_report *report,
			const struct pp_format_options *options)
{
	struct callgrind_writer w = {
		.out = out,
		.report = report,
		.has_instr = options->show_address,
		.is_written =
			calloc(report->symbols.nr_known + 1, sizeof(bool)),
	};

	if (!w.is_written)
		return -ENOMEM;
	op_arena_init(&w.arena);
	op_strings_init(&w.objects.strings, &w.arena);
	op_strings_init(&w.files.strings, &w.arena);
	callgrind_write_head(&w);
	callgrind_write_roots(&w);
	for (size_t i = 0; i < report->symbols.nr && !w.err; i++)
		callgrind_write_function(&w, &report->symbols.list[i]);
	fputs("\ntotals:", out);
	callgrind_write_costs(&w, report->symbols.totals);
	op_strings_release(&w.files.strings);
	op_strings_release(&w.objects.strings);
	op_arena_release(&w.arena);
	free(w.is_written);
	return w.err;
}
