// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The code of a function, as instructions or as source, with the samples of
 * each line. Both start from a report on one image with all addresses of the
 * function, in which inlined functions count for the one that they are in: what
 * is listed is code, whoever wrote it. Rows are in the order of the code. Where
 * there is no binary, the addresses that have samples are the rows; where a
 * source file cannot be read, the lines that have some.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/images/annotation.h"
#include "libpp/archive/archive.h"
#include "libpp/select/sample_list.h"
#include "libpp/images/source_file.h"
#include "libpp/symbols/op_disasm.h"
#include "pp/optop/optop_rows.h"

#define LONGEST_INSN 16 /* bytes, on any machine that we know */
#define LINES_BEFORE 2
#define LINES_BEHIND 8
#define TAB 8

struct code_listing {
	struct optop_reading *reading;
	const struct pp_symbol_entry *symbol;
	const size_t *event_of;
	struct op_bfd *bfd;
	struct op_disasm *disasm;
	size_t nr; /* rows so far */
	size_t room;
	const char *file; /* of the line that was told last */
	unsigned int line;
};

/* ---- the report ---------------------------------------------------------- */

/* Make the report on the function or source file that the query is about. Names
 * in a request are patterns, so other functions are removed. */
static int report_on_function(struct optop_reading *reading,
			      const struct optop_query *query,
			      const struct pp_request *base,
			      struct op_diag *diag)
{
	const struct optop_target *target = &query->target;
	const char *const names[] = { target->symbol, NULL };
	const struct pp_symbol_entry *found = NULL;
	struct pp_request request = *base;
	struct pp_report *report;
	struct op_diag why = { 0 };
	int err;

	request.names.inlines = target->is_inlined;
	request.select.merge |= PP_MERGE_ALL & ~PP_MERGE_UNIT_MASK;
	request.symbols.wanted = request.symbols.details =
		request.lines.wanted = true;
	request.select.only_image = target->image;
	if (target->symbol)
		request.names.include = names;
	err = optop_make_report(reading, &request, target, &why);
	report = reading->report;
	if (!err && target->symbol)
		found = optop_find_function(report, target);
	/* There may be samples, but none in that function. */
	if ((err == -ENOENT && report->totals) ||
	    (!err && target->symbol && !found))
		return op_diag_set(diag, -ENOENT, "%s: it has no samples",
				   target->title);
	if (err)
		return op_diag_set(diag, err, "%s", op_diag_text(&why, err));
	if (found) {
		report->symbols.list = found;
		report->symbols.nr = 1;
		report->symbols.totals = found->counts;
	}
	return 0;
}

/* Finish a listing of @nr rows. It opens at the row with most samples, unless
 * the query names a line. */
static void end_listing(struct optop_reading *reading, size_t nr,
			const size_t *event_of)
{
	struct optop_counts *counts = reading->counts;
	uint64_t most = 0;

	counts->nr = nr;
	reading->keeps_order = true;
	optop_add_counts(reading, event_of, counts->self_sums,
			 reading->report->symbols.totals);
	for (size_t i = 0; i < nr && !reading->first; i++)
		if (counts->self[i * counts->nr_events] > most)
			most = counts->self[i * counts->nr_events];
	for (size_t i = 0; i < nr && most && !reading->first; i++)
		if (counts->self[i * counts->nr_events] == most)
			reading->first = i;
}

/* ---- rows ---------------------------------------------------------------- */

/* A row at the end, for which there is room; NULL when memory is short. */
static struct optop_row *add_listed_row(struct code_listing *l, uint64_t key,
					const char *name)
{
	struct optop_row *row;

	if (l->nr == l->room || !name)
		return NULL;
	row = &l->reading->rows[l->nr];
	row->name = name;
	row->is_title = !key;
	l->reading->counts->keys[l->nr++] = key;
	return row;
}

static uint64_t *counts_of_last_row(const struct code_listing *l)
{
	struct optop_counts *counts = l->reading->counts;

	return &counts->self[(l->nr - 1) * counts->nr_events];
}

/* ---- instructions -------------------------------------------------------- */

/* The source line of the code at @vma; NULL if it is that of the row before. */
static const char *source_of_instruction(struct code_listing *l, uint64_t vma)
{
	unsigned int line;
	const char *file;

	if (!op_bfd_line(l->bfd, vma, &file, &line) || !line ||
	    (file == l->file && line == l->line))
		return NULL;
	l->file = file;
	l->line = line;
	return op_arena_printf(&l->reading->arena, "%s:%u", pp_base_name(file),
			       line);
}

/* Add the instruction at @vma with the samples from detail *@next on that are
 * in it. Returns its length, or -ENOMEM. */
static int64_t list_one_instruction(struct code_listing *l, uint64_t vma,
				    uint64_t shown, size_t *next)
{
	const struct pp_symbol_entry *symbol = l->symbol;
	uint64_t bias = symbol->image->binary_bias;
	const char *text;
	uint64_t len = op_disasm_insn(l->disasm, vma, &text);
	char *name = op_arena_printf(&l->reading->arena, "%8" PRIx64 "  %s",
				     shown, text);
	struct optop_row *row;

	for (char *at = name; at && *at; at++)
		if (*at == '\t')
			*at = ' ';
	row = add_listed_row(l, vma + 1, name);
	if (!row)
		return -ENOMEM;
	row->beside = source_of_instruction(l, vma);
	l->reading->has_beside |= row->beside != NULL;
	/* Outside of all code, details are not by address. */
	for (; *next < symbol->nr_details &&
	       symbol->details[*next].vma + bias - vma < len;
	     ++*next)
		optop_add_counts(l->reading, l->event_of, counts_of_last_row(l),
				 symbol->details[*next].counts);
	return (int64_t)len;
}

static int list_function(struct code_listing *l)
{
	const struct pp_symbol_entry *symbol = l->symbol;
	uint64_t at = symbol->vma + symbol->image->binary_bias, end;
	struct op_disasm_code code;
	size_t next = 0;
	int64_t len;
	int err = op_disasm_load(l->disasm, at, symbol->size, &code);

	if (err)
		return err;
	for (end = at + code.len; at < end; at += (uint64_t)len) {
		len = list_one_instruction(l, at, at - code.start + code.shown,
					   &next);
		if (len < 0)
			return (int)len;
	}
	return 0;
}

/* List the single instructions that have samples, in code without a symbol. */
static int list_places(struct code_listing *l)
{
	const struct pp_symbol_entry *symbol = l->symbol;
	struct op_disasm_code code;

	for (size_t next = 0; next < symbol->nr_details;) {
		const struct pp_detail *detail = &symbol->details[next];
		uint64_t vma = detail->vma + symbol->image->binary_bias;
		int64_t len;

		if (l->disasm &&
		    !op_disasm_load(l->disasm, vma, LONGEST_INSN, &code)) {
			len = list_one_instruction(l, vma, detail->vma, &next);
			if (len < 0)
				return (int)len;
			continue;
		}
		if (!add_listed_row(l, vma + 1,
				    op_arena_printf(&l->reading->arena,
						    "%8" PRIx64, detail->vma)))
			return -ENOMEM;
		optop_add_counts(l->reading, l->event_of, counts_of_last_row(l),
				 detail->counts);
		next++;
	}
	return 0;
}

static const char *open_code(struct code_listing *l)
{
	const struct op_disasm_options options = { .demangle = true };
	const char *binary = l->symbol->image->binary;
	int err;

	if (!binary)
		return "its binary is not available: only addresses with samples are shown";
	err = op_bfd_open(&l->bfd, binary, &l->reading->report->debug)
		      ?: op_disasm_new(&l->disasm, l->bfd, &options);
	if (err == -ENOTSUP)
		return "this libopcodes cannot disassemble code of its machine: only addresses with samples are shown";
	return err ? strerror(-err) : NULL;
}

int optop_fill_assembly(struct optop_reading *reading,
			const struct optop_query *query,
			const struct pp_request *base, struct op_diag *diag)
{
	struct code_listing l = { .reading = reading };
	int err;

	if (!query->target.symbol)
		return op_diag_set(
			diag, -ENOENT,
			"a source file has no instructions of its own; open one of its functions");
	if (query->target.is_inlined)
		return op_diag_set(
			diag, -ENOENT,
			"%s: it was inlined and has no code of its own; see its source, or the functions that it is in",
			query->target.title);
	err = report_on_function(reading, query, base, diag);
	if (err)
		return err;
	l.symbol = reading->report->symbols.list;
	/* A row for each byte at most, as no instruction is shorter. */
	l.room = l.symbol->size + l.symbol->nr_details;
	err = optop_make_rows(reading, l.room, false, &l.event_of);
	if (!err) {
		reading->note = open_code(&l);
		err = !reading->note && l.symbol->size ? list_function(&l)
						       : -ENOENT;
		if (err == -ENOENT)
			err = list_places(&l);
		end_listing(reading, l.nr, l.event_of);
	}
	op_disasm_free(l.disasm);
	op_bfd_close(l.bfd);
	return err;
}

/* ---- source -------------------------------------------------------------- */

/* Copy @text, with blanks in place of tabs. */
static char *copy_source_line(struct op_arena *arena, const char *text)
{
	char *copy = op_arena_alloc(arena, strlen(text) * TAB + 1, 1);
	size_t to = 0;

	for (; copy && *text; text++) {
		if (*text == '\t')
			do
				copy[to++] = ' ';
			while (to % TAB);
		else
			copy[to++] = *text;
	}
	return copy;
}

/* Read @file into @text. A message, that it cannot be read or was changed,
 * becomes the note. */
static int read_listed_source(struct optop_reading *reading,
			      const struct pp_source_dirs *dirs,
			      const struct pp_annotated_file *file,
			      struct pp_source_text *text)
{
	struct pp_report *report = reading->report;
	const struct pp_archive *archive = report->archive;
	struct pp_messages *messages = &report->messages;
	size_t nr_messages = messages->nr;
	char *path = pp_source_locate(dirs, archive ? archive->root : NULL,
				      file->name);
	FILE *in;

	if (!path)
		return -ENOMEM;
	in = pp_source_open(archive, messages, path, file->oldest);
	if (in) {
		pp_source_read(text, &reading->arena, messages, path, in);
		fclose(in);
	}
	if (messages->nr > nr_messages)
		reading->note = messages->list[messages->nr - 1].text;
	free(path);
	return 0;
}

/* The lines of @file to show, when only those around samples are wanted. */
static void choose_lines(const struct pp_annotated_file *file, bool whole,
			 unsigned int *first, unsigned int *last)
{
	*first = UINT32_MAX;
	*last = 0;
	for (size_t i = 0; i < file->nr_lines; i++) {
		unsigned int line = file->lines[i].line;

		if (line && line < *first)
			*first = line;
		if (line > *last)
			*last = line;
	}
	*first = whole || *first <= LINES_BEFORE ? 1 : *first - LINES_BEFORE;
	*last = whole ? UINT32_MAX - 1 : *last + LINES_BEHIND;
}

static int list_one_line(struct code_listing *l,
			 const struct pp_annotated_file *file,
			 unsigned int line, const char *name)
{
	const struct pp_annotated_line *known =
		pp_annotated_line_find(file, line);
	struct optop_row *row =
		add_listed_row(l, optop_key(line, file->name), name);

	if (!row)
		return -ENOMEM;
	row->beside = op_arena_printf(&l->reading->arena, "%u", line);
	if (known)
		optop_add_counts(l->reading, l->event_of, counts_of_last_row(l),
				 known->counts);
	return row->beside ? 0 : -ENOMEM;
}

/* The lines from @first to @last as they are in @text, which may have fewer. */
static int list_lines(struct code_listing *l,
		      const struct pp_annotated_file *file,
		      const struct pp_source_text *text, unsigned int first,
		      unsigned int last)
{
	struct op_arena *arena = &l->reading->arena;
	size_t next = 0;
	int err = 0;

	for (unsigned int at = first; at <= last && at <= text->nr && !err;
	     at++) {
		const char *line = pp_source_text_line(text, at);

		err = list_one_line(l, file, at, copy_source_line(arena, line));
		while (next < file->nr_lines && file->lines[next].line <= at)
			next++;
	}
	for (; next < file->nr_lines && !err; next++)
		if (pp_has_counts(file->lines[next].counts,
				  l->reading->report->classes.nr))
			err = list_one_line(l, file, file->lines[next].line,
					    "(not in the file)");
	return err;
}

static bool is_listed_file(const struct pp_annotated_file *file,
			   const struct optop_target *target)
{
	return !target->file || !strcmp(file->name, target->file);
}

static int list_source_file(struct code_listing *l,
			    const struct pp_annotated_file *file,
			    const struct pp_source_text *text,
			    const struct optop_target *target)
{
	unsigned int first, last;
	int err;

	if (!add_listed_row(l, 0, file->name))
		return -ENOMEM;
	choose_lines(file, target->file, &first, &last);
	err = list_lines(l, file, text, first, last);
	for (size_t i = 0; target->file && i < l->nr; i++)
		if (l->reading->counts->keys[i] ==
		    optop_key(target->line, file->name))
			l->reading->first = i;
	return err;
}

/* List the files in the order of their samples. */
int optop_fill_source(struct optop_reading *reading,
		      const struct optop_query *query,
		      const struct pp_request *base, struct op_diag *diag)
{
	const struct optop_target *target = &query->target;
	struct code_listing l = { .reading = reading };
	struct pp_annotation a = { .nr_files = 0 };
	struct pp_source_text *texts = NULL;
	int err = report_on_function(reading, query, base, diag)
			  ?: pp_annotate(&a, reading->report, NULL, NULL);

	if (!err) {
		texts = calloc(a.nr_files + 1, sizeof(*texts));
		err = texts ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < a.nr_files && !err; i++)
		if (is_listed_file(&a.files[i], target))
			err = read_listed_source(reading,
						 &base->lines.source_dirs,
						 &a.files[i], &texts[i]);
	if (!err && !a.nr_files)
		reading->note =
			"there are no source lines; compile with -g or install the debug symbols";
	for (size_t i = 0; i < a.nr_files && !err; i++)
		l.room += texts[i].nr + a.files[i].nr_lines + 1;
	err = err ?: optop_make_rows(reading, l.room, false, &l.event_of);
	for (size_t i = 0; i < a.nr_files && !err; i++)
		if (is_listed_file(&a.files[i], target))
			err = list_source_file(&l, &a.files[i], &texts[i],
					       target);
	free(texts);
	if (!err)
		end_listing(reading, l.nr, l.event_of);
	return err;
}
