// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions that are worth reading, with the source lines where their
 * samples are. The unit is a section: what one function has in one source file.
 * That is all of the function, as inlined functions are functions of their own
 * here; only macros of headers and the like make further sections.
 *
 * Sections above the threshold are sorted by file, in the order of the
 * annotation, and by samples. Of a section those lines are shown that have at
 * least a hundredth of its samples, with CONTEXT lines before and behind, and
 * the line where the function is declared. What is between is a gap that tells
 * the samples it hides, so that the figures of a section add up.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_plural.h"
#include "libop/base/op_search.h"
#include "libpp/format/format.h"
#include "libpp/select/sample_list.h"
#include "libpp/images/source_file.h"
#include "libpp/images/source_lines.h"
#include "pp/opannotate/opannotate_files.h"
#include "pp/opannotate/opannotate_text.h"

#define CONTEXT 2
#define NO_LINE UINT64_MAX
#define MAX_SITES 3 /* where a function was inlined, by name */

struct section {
	const struct pp_symbol_entry *symbol;
	const struct pp_annotated_file *file;
	const struct pp_source_line *lines; /* all of one file */
	size_t nr_lines;
	const uint64_t *counts; /* of these lines */
	const uint64_t *totals; /* samples that pass the function; or NULL */
};

struct sections {
	const struct opannotate_text *text;
	const struct pp_annotation *annotation;
	struct op_arena arena;
	struct section *list;
	size_t nr;
	size_t nr_hidden; /* functions below the threshold */
	uint64_t *hidden; /* what they have */
};

/* ---- finding them -------------------------------------------------------- */

static const struct pp_annotated_file *
find_annotated_file(const struct pp_annotation *annotation, const char *name)
{
	for (size_t i = 0; i < annotation->nr_files; i++)
		if (!strcmp(annotation->files[i].name, name))
			return &annotation->files[i];
	return NULL;
}

static int add_section(struct sections *s, const struct section *section)
{
	if (op_array_reserve(&s->list, s->nr, 1))
		return -ENOMEM;
	s->list[s->nr++] = *section;
	return 0;
}

/* Lines without a file are told of as what has no lines. */
static int add_sections_of_symbol(struct sections *s,
				  const struct pp_symbol_entry *symbol)
{
	size_t nr_classes = s->text->report->classes.nr, nr;
	const struct pp_source_line *lines;
	bool is_hidden = false;
	int err = pp_source_lines(&s->arena, symbol, nr_classes, &lines, &nr);

	for (size_t i = 0, end; !err && i < nr; i = end) {
		uint64_t *counts =
			op_arena_alloc(&s->arena, nr_classes, sizeof(*counts));
		const char *file = lines[i].place.file;
		const struct pp_annotated_file *in;

		if (!counts)
			return -ENOMEM;
		for (end = i;
		     end < nr && (lines[end].place.file == file ||
				  (file && lines[end].place.file &&
				   !strcmp(lines[end].place.file, file)));
		     end++)
			pp_add_all_counts(counts, lines[end].counts,
					  nr_classes);
		in = file ? find_annotated_file(s->annotation, file) : NULL;
		if (!in)
			continue;
		if (opannotate_passes(s->text, counts) ||
		    opannotate_is_passed(s->text, symbol)) {
			err = add_section(
				s, &(struct section){ symbol, in, lines + i,
						      end - i, counts,
						      symbol->all_counts });
			continue;
		}
		pp_add_all_counts(s->hidden, counts, nr_classes);
		is_hidden |= opannotate_has_counts(s->text, counts);
	}
	s->nr_hidden += is_hidden;
	return err;
}

/* The files of an annotation are by samples. */
static int compare_sections(const void *pa, const void *pb)
{
	const struct section *a = pa, *b = pb;

	return op_compare((uintptr_t)a->file, (uintptr_t)b->file) ?:
	       op_compare(b->counts[0], a->counts[0]) ?:
	       op_compare(b->totals ? b->totals[0] : 0,
			  a->totals ? a->totals[0] : 0) ?:
	       strcmp(a->symbol->name, b->symbol->name) ?:
	       op_compare(a->symbol->vma, b->symbol->vma);
}

/* ---- where a function was inlined ---------------------------------------- */

struct site {
	struct pp_place place;
	uint64_t count; /* in the first column that has any */
};

static int compare_sites(const void *pa, const void *pb)
{
	const struct site *a = pa, *b = pb;

	return strcmp(a->place.file, b->place.file)
		       ?: op_compare(a->place.line, b->place.line);
}

static int compare_site_counts(const void *pa, const void *pb)
{
	const struct site *a = pa, *b = pb;

	return op_compare(b->count, a->count) ?: compare_sites(a, b);
}

/* Put the sites of @symbol into @sites, by samples; returns how many. */
static size_t gather_sites(const struct pp_symbol_entry *symbol,
			   size_t nr_classes, struct site *sites)
{
	size_t nr = 0, kept = 0;

	for (size_t i = 0; i < symbol->nr_details; i++) {
		const struct pp_detail *detail = &symbol->details[i];

		if (!detail->inlined_at.file)
			continue;
		sites[nr].place = detail->inlined_at;
		sites[nr].count = 0;
		for (size_t c = 0; c < nr_classes; c++)
			sites[nr].count = pp_add_counts(
				sites[nr].count,
				(detail->all_counts ?: detail->counts)[c]);
		nr++;
	}
	if (nr)
		qsort(sites, nr, sizeof(*sites), compare_sites);
	for (size_t i = 0; i < nr; i++)
		if (kept && !compare_sites(&sites[kept - 1], &sites[i]))
			sites[kept - 1].count = pp_add_counts(
				sites[kept - 1].count, sites[i].count);
		else
			sites[kept++] = sites[i];
	if (kept)
		qsort(sites, kept, sizeof(*sites), compare_site_counts);
	return kept;
}

/* ", inlined from a.c:3 (60), b.c:7 (2) and 4 more places" */
static int write_sites(FILE *out, const struct opannotate_text *t,
		       const struct pp_symbol_entry *symbol)
{
	struct site *sites = calloc(symbol->nr_details + 1, sizeof(*sites));
	size_t nr;

	if (!sites)
		return -ENOMEM;
	nr = gather_sites(symbol, t->report->classes.nr, sites);
	for (size_t i = 0; i < nr && i < MAX_SITES; i++) {
		fprintf(out, "%s%s:%u", i ? ", " : ", inlined from ",
			pp_base_name(sites[i].place.file), sites[i].place.line);
		if (nr > 1)
			fprintf(out, " (%" PRIu64 ")", sites[i].count);
	}
	if (nr > MAX_SITES)
		fprintf(out, " and %zu more place%s", nr - MAX_SITES,
			op_plural(nr - MAX_SITES));
	free(sites);
	return 0;
}

static int write_section_title(const struct opannotate_text *t,
			       const struct section *s)
{
	char *sites = NULL;
	size_t len;
	FILE *out = open_memstream(&sites, &len);
	int err = out ? write_sites(out, t, s->symbol) : -ENOMEM;

	if (out && fclose(out))
		err = -ENOMEM;
	err = err
		      ?: opannotate_title(t, s->symbol->name, sites, s->counts,
					  s->totals);
	free(sites);
	return err;
}

/* ---- the lines of a section ---------------------------------------------- */

static void write_numbered_line(const struct opannotate_text *t,
				const struct pp_source_text *source,
				uint64_t line,
				const struct pp_source_line *known)
{
	const char *text = pp_source_text_line(source, line) ?: "";

	opannotate_margin(t, known ? known->counts : NULL,
			  known ? known->all_counts : NULL);
	fprintf(t->out, "%6" PRIu64 "%s%s\n", line, *text ? "  " : "", text);
}

/* The first line from @from on that is shown: the declaration, or one within
 * the context of a line that is hot; NO_LINE if there is none. */
static uint64_t next_shown(const struct opannotate_text *t,
			   const struct section *s, uint64_t from)
{
	const struct pp_place *declared = &s->symbol->place;
	uint64_t start = NO_LINE;

	for (size_t i = 0; i < s->nr_lines && start == NO_LINE; i++) {
		uint64_t line = s->lines[i].place.line;

		if (!line || line + CONTEXT < from ||
		    (!opannotate_is_hot(t, s->lines[i].counts, s->counts) &&
		     !opannotate_is_hot(t, s->lines[i].all_counts, s->totals)))
			continue;
		start = line > CONTEXT ? line - CONTEXT : 1;
		start = start < from ? from : start;
	}
	if (declared->file && declared->line >= from &&
	    declared->line < start && !strcmp(declared->file, s->file->name))
		start = declared->line;
	return start;
}

static bool is_shown(const struct opannotate_text *t, const struct section *s,
		     uint64_t line)
{
	return next_shown(t, s, line) == line;
}

/* Samples of the lines of @s in [@from, @to). */
static bool count_hidden(const struct opannotate_text *t,
			 const struct section *s, uint64_t from, uint64_t to,
			 uint64_t *hidden)
{
	size_t nr_classes = t->report->classes.nr;

	memset(hidden, 0, nr_classes * sizeof(*hidden));
	for (size_t i = 0; i < s->nr_lines; i++)
		if (s->lines[i].place.line >= from &&
		    s->lines[i].place.line < to)
			pp_add_all_counts(hidden, s->lines[i].counts,
					  nr_classes);
	return opannotate_has_counts(t, hidden);
}

static const struct pp_source_line *find_section_line(const struct section *s,
						      uint64_t line)
{
	size_t at = OP_BISECT(i, s->nr_lines, s->lines[i].place.line < line);

	return at < s->nr_lines && s->lines[at].place.line == line
		       ? &s->lines[at]
		       : NULL;
}

/* Context is shown as far as the file is known. */
static bool is_known_line(const struct pp_source_text *source,
			  const struct section *s, uint64_t line)
{
	return pp_source_text_line(source, line) || find_section_line(s, line);
}

/* Line 0 is code of no line; it is told of like a gap. */
static void write_section_lines(const struct opannotate_text *t,
				const struct section *s,
				const struct pp_source_text *source,
				uint64_t *hidden)
{
	uint64_t at = 1, start;
	bool is_first = true;

	if (count_hidden(t, s, 0, 1, hidden)) {
		opannotate_margin(t, hidden, NULL);
		fputs("     -  (made by the compiler, of no line)\n", t->out);
	}
	while ((start = next_shown(t, s, at)) != NO_LINE) {
		bool lacks = count_hidden(t, s, at, start, hidden);

		/* A gap takes no less room than a line. */
		if (start == at + 1 && !is_first)
			start = at;
		if (start > at && (!is_first || lacks))
			opannotate_gap(t, hidden);
		for (at = start; at == start || is_shown(t, s, at); at++) {
			if (!is_known_line(source, s, at))
				continue;
			write_numbered_line(t, source, at,
					    find_section_line(s, at));
			is_first = false;
		}
	}
	if (count_hidden(t, s, at, NO_LINE, hidden))
		opannotate_gap(t, hidden);
}

/* ---- a file -------------------------------------------------------------- */

static int write_section(const struct opannotate_text *t,
			 const struct section *s,
			 const struct pp_source_text *source, uint64_t *hidden)
{
	int err = write_section_title(t, s);

	write_section_lines(t, s, source, hidden);
	return err;
}

/* The @nr sections of one file. */
static int write_sections_of_file(struct sections *all, const struct section *s,
				  size_t nr, uint64_t *hidden)
{
	const struct opannotate_text *t = all->text;
	char *path = opannotate_locate(t->options, s->file->name);
	struct pp_source_text source;
	struct op_arena arena;
	FILE *in;
	int err = 0;

	if (!path)
		return -ENOMEM;
	op_arena_init(&arena);
	in = opannotate_open_source(t, path, s->file->oldest);
	pp_source_read(&source, &arena, t->messages, path, in);
	fprintf(t->out, "\n%s%s%s\n", t->options->color ? "\033[4m" : "",
		opannotate_home_path(t->options, path),
		t->options->color ? "\033[m" : "");
	for (size_t i = 0; i < nr && !err; i++)
		err = write_section(t, &s[i], &source, hidden);
	if (in)
		fclose(in);
	op_arena_release(&arena);
	free(path);
	return err;
}

/* -ENOMEM, 0, or 1 if @name is asked for. */
static int is_wanted_file(const struct opannotate_text *t, const char *name)
{
	char *path = opannotate_locate(t->options, name);
	int wanted = path ? opannotate_wants_file(t->options, path) : -ENOMEM;

	free(path);
	return wanted;
}

static int write_all_sections(struct sections *s, uint64_t *hidden,
			      bool *is_empty)
{
	size_t nr_written = 0;
	int err = opannotate_header(s->text);

	if (s->nr)
		qsort(s->list, s->nr, sizeof(*s->list), compare_sections);
	for (size_t i = 0, end; i < s->nr && !err; i = end) {
		int wanted = is_wanted_file(s->text, s->list[i].file->name);

		for (end = i;
		     end < s->nr && s->list[end].file == s->list[i].file;)
			end++;
		if (wanted > 0)
			err = write_sections_of_file(s, &s->list[i], end - i,
						     hidden);
		nr_written += wanted > 0;
		err = wanted < 0 ? wanted : err;
	}
	*is_empty = !nr_written;
	return err;
}

int opannotate_write_functions(const struct opannotate_text *text,
			       const struct pp_annotation *annotation,
			       struct op_diag *diag)
{
	const struct pp_report *report = text->report;
	struct sections s = { .text = text, .annotation = annotation };
	bool is_empty = false;
	uint64_t *hidden;
	int err;

	op_arena_init(&s.arena);
	s.hidden =
		op_arena_alloc(&s.arena, report->classes.nr, sizeof(*s.hidden));
	hidden = op_arena_alloc(&s.arena, report->classes.nr, sizeof(*hidden));
	err = s.hidden && hidden ? 0 : -ENOMEM;
	for (size_t i = 0; i < report->symbols.nr && !err; i++)
		err = add_sections_of_symbol(&s, &report->symbols.list[i]);
	err = err ?: write_all_sections(&s, hidden, &is_empty);
	if (!err)
		opannotate_rest(text, s.nr_hidden, s.hidden);
	free(s.list);
	op_arena_release(&s.arena);
	if (!err && is_empty)
		err = opannotate_none_shown(annotation, diag);
	return err;
}
