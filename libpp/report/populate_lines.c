// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of source lines. A symbol with details becomes a symbol for each of
 * its lines, before sides are compared and when totals are known, so that all
 * that works on symbols works on lines. Samples of which no line is known stay
 * together, as a line without a file; it has the total of a symbol that has no
 * other lines.
 *
 * The texts of lines are read when it is known which are shown: the lines are
 * sorted by file, so each file is read once.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/archive/archive.h"
#include "libpp/report/population.h"
#include "libpp/images/source_file.h"
#include "libpp/images/source_lines.h"

/* ---- lines --------------------------------------------------------------- */

static int add_lines_of_symbol(struct pp_population *p, struct pp_side *side,
			       const struct pp_symbol_entry *symbol,
			       struct pp_symbol_entry **all, size_t *nr_all)
{
	struct op_arena *arena = &p->report->arena;
	const struct pp_source_line *lines;
	size_t nr;
	const struct pp_source_line no_line = { .counts = symbol->counts };
	int err = pp_source_lines(arena, symbol, side->classes.nr, &lines, &nr);

	if (!nr && symbol->all_counts) {
		lines = &no_line;
		nr = 1;
	}
	for (size_t i = 0; i < nr && !err; i++) {
		struct pp_symbol_entry *grown =
			op_arena_grow(arena, *all, *nr_all, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		*all = grown;
		grown[*nr_all] = *symbol;
		grown[*nr_all].is_line = true;
		grown[*nr_all].place = lines[i].place;
		grown[*nr_all].counts = lines[i].counts;
		if (lines[i].all_counts)
			grown[*nr_all].all_counts = lines[i].all_counts;
		else if (symbol->all_counts && nr > 1)
			grown[*nr_all].all_counts = lines[i].counts;
		grown[*nr_all].line_totals = NULL;
		grown[*nr_all].nr_line_totals = 0;
		grown[*nr_all].details = NULL;
		grown[*nr_all].nr_details = 0;
		grown[*nr_all].nr = *nr_all;
		++*nr_all;
	}
	return err;
}

int pp_side_split_lines(struct pp_population *p, struct pp_side *side)
{
	struct pp_symbol_entry *all = NULL;
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < side->nr_symbols && !err; i++)
		err = add_lines_of_symbol(p, side, &side->symbols[i], &all,
					  &nr);
	side->symbols = all;
	side->nr_symbols = nr;
	return err;
}

/* ---- their texts --------------------------------------------------------- */

static int compare_files(const void *pa, const void *pb)
{
	const struct pp_symbol_entry *a = *(void *const *)pa,
				     *b = *(void *const *)pb;

	return strcmp(a->place.file, b->place.file);
}

/* @text without blanks at its ends, and with one for several in it. */
static const char *squeeze_blanks(struct op_arena *arena, const char *text)
{
	char *copy = op_arena_strdup(arena, text), *to = copy;

	for (const char *from = copy; from && *from; from++) {
		bool is_blank = (unsigned char)*from <= ' ' || *from == 0x7f;

		if (!is_blank)
			*to++ = *from;
		else if (to > copy && to[-1] != ' ')
			*to++ = ' ';
	}
	if (copy)
		to[-(to > copy && to[-1] == ' ')] = '\0';
	return copy;
}

/* The @nr lines of one file. */
static int read_texts(struct pp_population *p, struct pp_symbol_entry **lines,
		      size_t nr)
{
	struct pp_report *report = p->report;
	char *path =
		pp_source_locate(&p->request->lines.source_dirs,
				 report->archive ? report->archive->root : NULL,
				 lines[0]->place.file);
	struct pp_source_text text;
	struct op_arena arena;
	FILE *in;

	if (!path)
		return -ENOMEM;
	op_arena_init(&arena);
	in = pp_source_open(report->archive, &report->messages, path,
			    lines[0]->image);
	pp_source_read(&text, &arena, &report->messages, path, in);
	for (size_t i = 0; i < nr; i++) {
		const char *line =
			pp_source_text_line(&text, lines[i]->place.line);

		if (line)
			lines[i]->source = squeeze_blanks(&report->arena, line);
	}
	if (in)
		fclose(in);
	op_arena_release(&arena);
	free(path);
	return 0;
}

int pp_populate_sources(struct pp_population *p)
{
	const struct pp_request *request = p->request;
	struct pp_report *report = p->report;
	struct pp_symbol_entry *symbols = (void *)report->symbols.list;
	struct pp_symbol_entry **lines =
		calloc(report->symbols.nr + 1, sizeof(*lines));
	size_t nr = 0;
	int err = lines ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < report->symbols.nr; i++) {
		enum pp_demangle how =
			request->names.demangle == PP_DEMANGLE_NONE
				? PP_DEMANGLE_NONE
				: PP_DEMANGLE_BRIEF;

		symbols[i].brief =
			pp_demangle(&report->arena, symbols[i].raw_name, how);
		if (symbols[i].place.file && symbols[i].place.line)
			lines[nr++] = &symbols[i];
	}
	if (nr)
		qsort(lines, nr, sizeof(*lines), compare_files);
	for (size_t i = 0, end; !err && i < nr; i = end) {
		for (end = i + 1;
		     end < nr && !compare_files(&lines[end], &lines[i]);)
			end++;
		err = read_texts(p, lines + i, end - i);
	}
	free(lines);
	return err;
}
