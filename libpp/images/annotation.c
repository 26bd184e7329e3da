// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which samples belong to which source line. Everything that the symbols of a
 * report say about a line (samples at an address of that line; a symbol that
 * starts there) becomes a note. The notes are sorted by file and line, starts
 * of symbols first, and then read off in one pass: a run of notes of one file
 * is a file, a run of one line in it is a line.
 *
 * Names of files are made unique first, so that equal names are equal pointers
 * and comparing notes compares no strings. A file that is reached by several
 * names, as by links to its folder, gets one of them in all its notes. Samples
 * without a line are summed up by image instead, for the warning that they are
 * missing.
 */

#include "libpp/images/annotation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/select/sample_list.h"
#include "libop/base/op_strings.h"

/* A note that a line has samples, or that a symbol starts there. */
struct note {
	const char *file; /* of one file always the same pointer */
	unsigned int line;
	const struct pp_symbol_entry *symbol;
	bool is_start;
	const uint64_t *counts; /* of samples */
	uint64_t vma;
};

struct notebook {
	struct pp_report *report;
	size_t nr_classes;
	struct op_strings names;
	const char *last_name, *last_known; /* a name and its one pointer */
	struct note *notes;
	size_t nr;
	struct pp_unplaced *unplaced; /* one per symbol at first */
	size_t nr_unplaced;
};

static void *alloc(struct notebook *b, size_t nr, size_t size)
{
	return op_arena_alloc(&b->report->arena, nr, size);
}

static uint64_t *new_counts(struct notebook *b)
{
	return alloc(b, b->nr_classes, sizeof(uint64_t));
}

/* ---- taking notes -------------------------------------------------------- */

static int note_line(struct notebook *b, const struct pp_symbol_entry *symbol,
		     const struct pp_detail *detail)
{
	const struct pp_place *place = detail ? &detail->place : &symbol->place;

	if (place->file != b->last_name)
		b->last_known = op_strings_add(&b->names, place->file);
	b->last_name = b->last_known ? place->file : NULL;
	b->notes[b->nr++] = (struct note){
		.file = b->last_known,
		.line = place->line,
		.symbol = symbol,
		.is_start = !detail,
		.counts = detail ? detail->counts : NULL,
		.vma = detail ? detail->vma : symbol->vma,
	};
	return b->last_known ? 0 : -ENOMEM;
}

/* Note that a detail of @symbol has no line; *@unplaced is what it has so far
 * or NULL. */
static int note_unplaced(struct notebook *b, struct pp_unplaced **unplaced,
			 const struct pp_symbol_entry *symbol,
			 const uint64_t *counts)
{
	struct pp_unplaced *u = *unplaced;

	if (!u) {
		u = *unplaced = &b->unplaced[b->nr_unplaced++];
		u->image = symbol->image;
		u->counts = new_counts(b);
		u->symbols = alloc(b, 1, sizeof(struct pp_symbol_entry *));
		if (!u->counts || !u->symbols)
			return -ENOMEM;
		u->symbols[u->nr_symbols++] = symbol;
	}
	pp_add_all_counts((uint64_t *)u->counts, counts, b->nr_classes);
	return 0;
}

static int note_lines_of_symbol(struct notebook *b,
				const struct pp_symbol_entry *symbol)
{
	struct pp_unplaced *unplaced = NULL;
	int err = symbol->place.file ? note_line(b, symbol, NULL) : 0;

	for (size_t i = 0; i < symbol->nr_details && !err; i++) {
		const struct pp_detail *detail = &symbol->details[i];

		if (detail->place.file)
			err = note_line(b, symbol, detail);
		else if (pp_has_counts(detail->counts, b->nr_classes))
			err = note_unplaced(b, &unplaced, symbol,
					    detail->counts);
	}
	return err;
}

static int note_lines_of_symbols(struct notebook *b)
{
	const struct pp_report *report = b->report;
	size_t room = report->symbols.nr;
	int err = 0;

	for (size_t i = 0; i < report->symbols.nr; i++)
		room += report->symbols.list[i].nr_details;
	b->notes = calloc(room + 1, sizeof(*b->notes));
	b->unplaced = alloc(b, report->symbols.nr, sizeof(*b->unplaced));
	if (!b->notes || !b->unplaced)
		return -ENOMEM;
	for (size_t i = 0; i < report->symbols.nr && !err; i++)
		err = note_lines_of_symbol(b, &report->symbols.list[i]);
	return err;
}

/* ---- several names of one file -------------------------------------------
 */

struct located {
	const char *name;
	char *path; /* where it lies */
	const char *first; /* of the names of that place */
};

static int compare_paths(const void *pa, const void *pb)
{
	const struct located *a = pa, *b = pb;

	return strcmp(a->path, b->path) ?: strcmp(a->name, b->name);
}

static int compare_names(const void *pa, const void *pb)
{
	const struct located *a = pa, *b = pb;

	return op_compare((uintptr_t)a->name, (uintptr_t)b->name);
}

/* Put the same name in the notes of all names of a file. */
static void unite_names(struct notebook *b, struct located *files, size_t nr)
{
	qsort(files, nr, sizeof(*files), compare_paths);
	for (size_t i = 0; i < nr; i++)
		files[i].first = i && !strcmp(files[i - 1].path, files[i].path)
					 ? files[i - 1].first
					 : files[i].name;
	qsort(files, nr, sizeof(*files), compare_names);
	for (size_t i = 0; i < b->nr; i++) {
		const struct located key = { .name = b->notes[i].file };
		const struct located *file =
			bsearch(&key, files, nr, sizeof(*files), compare_names);

		b->notes[i].file = file->first;
	}
}

static int unite_files(struct notebook *b, pp_locate_fn *locate,
		       const void *ctx)
{
	size_t nr = b->names.nr;
	struct located *files = calloc(nr + 1, sizeof(*files));
	int err = files ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		files[i].name = b->names.list[i];
		files[i].path = locate(ctx, files[i].name);
		err = files[i].path ? 0 : -ENOMEM;
	}
	if (!err)
		unite_names(b, files, nr);
	for (size_t i = 0; files && i < nr; i++)
		free(files[i].path);
	free(files);
	return err;
}

/* ---- reading them off ---------------------------------------------------- */

static int compare_note_symbols(const struct note *a, const struct note *b)
{
	return strcmp(a->symbol->image->name, b->symbol->image->name)
		       ?: op_compare(a->vma, b->vma);
}

static int compare_notes(const void *pa, const void *pb)
{
	const struct note *a = pa, *b = pb;
	int order = op_compare((uintptr_t)a->file, (uintptr_t)b->file) ?:
		    op_compare(a->line, b->line) ?:
		    op_compare(b->is_start, a->is_start);

	return order || !a->is_start ? order : compare_note_symbols(a, b);
}

static int fill_annotated_line(struct notebook *b,
			       struct pp_annotated_line *line,
			       const struct note *notes, size_t nr)
{
	uint64_t *counts = new_counts(b);

	line->line = notes->line;
	line->counts = counts;
	while (line->nr_symbols < nr && notes[line->nr_symbols].is_start)
		line->nr_symbols++;
	line->symbols = alloc(b, line->nr_symbols, sizeof(*line->symbols));
	if (!counts || !line->symbols)
		return -ENOMEM;
	for (size_t i = 0; i < line->nr_symbols; i++)
		line->symbols[i] = notes[i].symbol;
	for (size_t i = line->nr_symbols; i < nr; i++)
		pp_add_all_counts(counts, notes[i].counts, b->nr_classes);
	return 0;
}

static size_t count_noted_lines(const struct note *notes, size_t nr)
{
	size_t lines = 0;

	for (size_t i = 0; i < nr; i++)
		lines += !i || notes[i].line != notes[i - 1].line;
	return lines;
}

static void take_older(struct pp_annotated_file *file,
		       const struct pp_image *image)
{
	if (image->mtime &&
	    (!file->oldest || image->mtime < file->oldest->mtime))
		file->oldest = image;
}

static int fill_annotated_file(struct notebook *b,
			       struct pp_annotated_file *file,
			       const struct note *notes, size_t nr)
{
	struct pp_annotated_line *lines =
		alloc(b, count_noted_lines(notes, nr), sizeof(*lines));
	uint64_t *counts = new_counts(b);

	file->name = notes->file;
	file->counts = counts;
	file->lines = lines;
	if (!lines || !counts)
		return -ENOMEM;
	for (size_t i = 0, end; i < nr; i = end) {
		struct pp_annotated_line *line = &lines[file->nr_lines++];

		for (end = i; end < nr && notes[end].line == notes[i].line;
		     end++)
			take_older(file, notes[end].symbol->image);
		if (fill_annotated_line(b, line, notes + i, end - i))
			return -ENOMEM;
		pp_add_all_counts(counts, line->counts, b->nr_classes);
	}
	return 0;
}

static size_t count_noted_files(const struct note *notes, size_t nr)
{
	size_t files = 0;

	for (size_t i = 0; i < nr; i++)
		files += !i || notes[i].file != notes[i - 1].file;
	return files;
}

/* A file on its way into the order of files. */
struct placed {
	struct pp_annotated_file file;
	const struct note *first; /* by image and address */
};

/* Files are in the order of their counts; with the same count, the file whose
 * code comes first is first. */
static int compare_placed_files(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	return op_compare(b->file.counts[0], a->file.counts[0]) ?:
	       compare_note_symbols(a->first, b->first) ?:
	       strcmp(a->file.name, b->file.name);
}

/* Fill @placed, which has room, and keep the files that have samples. */
static int fill_annotated_files(struct notebook *b, struct placed *placed,
				size_t *nr)
{
	const struct note *notes = b->notes;

	*nr = 0;
	for (size_t i = 0, end; i < b->nr; i = end) {
		struct placed *file = &placed[*nr];
		bool is_passed = false;

		*file = (struct placed){ .first = &notes[i] };
		for (end = i; end < b->nr && notes[end].file == notes[i].file;
		     end++) {
			is_passed |= notes[end].symbol->nr_line_totals > 0;
			if (compare_note_symbols(&notes[end], file->first) < 0)
				file->first = &notes[end];
		}
		if (fill_annotated_file(b, &file->file, notes + i, end - i))
			return -ENOMEM;
		*nr += is_passed ||
		       pp_has_counts(file->file.counts, b->nr_classes);
	}
	return 0;
}

static int annotate_files(struct notebook *b, struct pp_annotation *annotation)
{
	size_t room, nr;
	struct pp_annotated_file *files;
	struct placed *placed;
	int err = -ENOMEM;

	qsort(b->notes, b->nr, sizeof(*b->notes), compare_notes);
	room = count_noted_files(b->notes, b->nr);
	files = alloc(b, room, sizeof(*files));
	placed = calloc(room + 1, sizeof(*placed));
	if (files && placed)
		err = fill_annotated_files(b, placed, &nr);
	if (!err) {
		qsort(placed, nr, sizeof(*placed), compare_placed_files);
		for (size_t i = 0; i < nr; i++)
			files[i] = placed[i].file;
		annotation->files = files;
		annotation->nr_files = nr;
	}
	free(placed);
	return err;
}

/* ---- what has no line ---------------------------------------------------- */

static int compare_unplaced(const void *pa, const void *pb)
{
	const struct pp_unplaced *a = pa, *b = pb;

	return strcmp(a->image->name, b->image->name) ?:
	       op_compare((uintptr_t)a->image, (uintptr_t)b->image) ?:
	       op_compare(b->counts[0], a->counts[0]);
}

/* Put the symbols of one image together in the first. */
static int merge_unplaced(struct notebook *b, struct pp_unplaced *list,
			  size_t nr)
{
	const struct pp_symbol_entry **symbols = alloc(b, nr, sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		symbols[i] = list[i].symbols[0];
		if (i)
			pp_add_all_counts((uint64_t *)list->counts,
					  list[i].counts, b->nr_classes);
	}
	list->symbols = symbols;
	list->nr_symbols = nr;
	return 0;
}

static int take_unplaced(struct notebook *b, struct pp_annotation *annotation)
{
	struct pp_unplaced *list = b->unplaced;
	size_t kept = 0;

	if (b->nr_unplaced)
		qsort(list, b->nr_unplaced, sizeof(*list), compare_unplaced);
	for (size_t i = 0, end; i < b->nr_unplaced; i = end) {
		for (end = i;
		     end < b->nr_unplaced && list[end].image == list[i].image;)
			end++;
		if (merge_unplaced(b, &list[i], end - i))
			return -ENOMEM;
		list[kept++] = list[i];
	}
	annotation->unplaced = list;
	annotation->nr_unplaced = kept;
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

int pp_annotate(struct pp_annotation *annotation, struct pp_report *report,
		pp_locate_fn *locate, const void *ctx)
{
	struct notebook b = { .report = report,
			      .nr_classes = report->classes.nr };
	int err;

	*annotation = (struct pp_annotation){ 0 };
	op_strings_init(&b.names, &report->arena);
	err = note_lines_of_symbols(&b);
	if (!err && locate)
		err = unite_files(&b, locate, ctx);
	err = err ?: annotate_files(&b, annotation)
		      ?: take_unplaced(&b, annotation);
	op_strings_release(&b.names);
	free(b.notes);
	return err;
}

const struct pp_annotated_line *
pp_annotated_line_find(const struct pp_annotated_file *file, unsigned int line)
{
	size_t at = OP_BISECT(i, file->nr_lines, file->lines[i].line < line);

	return at < file->nr_lines && file->lines[at].line == line
		       ? &file->lines[at]
		       : NULL;
}
