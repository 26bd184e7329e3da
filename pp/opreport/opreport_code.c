// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The code of the hottest functions. A function is hot by its share of the
 * samples of some event, or by a tenth of the share that passes it; the same
 * one in several applications counts once, with the samples of all. Functions
 * are taken image by image, so that each binary is opened once. The samples of
 * an instruction are found among all details of its image rather than of the
 * function: those of inlined functions are in the code of others.
 *
 * An inlined function has no code of its own. Of it, and of a function that is
 * too large to be shown, the instructions around samples are taken.
 */

#include "pp/opreport/opreport_code.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libop/base/op_strings.h"
#include "libpp/images/image_symbols.h"
#include "libpp/select/sample_list.h"
#include "libpp/images/source_file.h"
#include "libpp/symbols/op_disasm.h"
#include "pp/opannotate/opannotate_files.h"

#define LONGEST_INSN 16 /* bytes, on any machine that we know */
#define INSNS_AROUND 30 /* on both sides of a sample in a large function */
#define LINES_AROUND 4 /* of a source, on both sides of a line with code */
#define LINES_BETWEEN 40 /* that are shown between two lines with code */
#define LINE_MAX_LEN 500 /* bytes of a source line that are kept */

/* A place with samples in the image at work. */
struct hit {
	uint64_t vma;
	const uint64_t *counts;
	const uint64_t *totals; /* or NULL */
};

/* A function of the image at work. */
struct function {
	uint64_t start, end;
	uint64_t last_end; /* of this one and of those before */
};

struct code_finder {
	struct pp_code *code;
	struct pp_report *report;
	struct opannotate_text text; /* for what opens sources */
	struct op_strings names; /* of files, then of instructions */
	const char *last_name; /* of bfd, and its number */
	size_t last_file;

	const struct pp_image *image; /* at work */
	struct op_bfd *bfd;
	struct op_disasm *disasm;
	struct hit *hits; /* by address */
	size_t nr_hits;
	struct function *functions; /* by address */
	size_t nr_functions;
};

static void *alloc_code(struct code_finder *f, size_t nr, size_t size)
{
	return op_arena_alloc(&f->report->arena, nr, size);
}

/* ---- which functions ----------------------------------------------------- */

/* A function that may be hot. */
struct candidate {
	const struct pp_symbol_entry *entry;
	double share; /* percent, of the event where it is largest */
};

/* The largest share that @counts, which may be NULL, have of @totals. */
static double largest_share(const struct pp_report *report,
			    const uint64_t *counts, const uint64_t *totals)
{
	double most = 0;

	for (size_t c = 0; counts && c < report->classes.nr; c++)
		if (totals[c] && counts[c])
			most = fmax(most, 100 * (double)counts[c] /
						  (double)totals[c]);
	return most;
}

static int compare_candidate_shares(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	return (a->share < b->share) - (a->share > b->share)
		       ?: op_compare(a->entry->nr, b->entry->nr);
}

/* Whether they are one function, in two applications. */
static bool is_same_code(const struct pp_symbol_entry *a,
			 const struct pp_symbol_entry *b)
{
	return a->image == b->image && a->vma == b->vma &&
	       a->is_inlined == b->is_inlined &&
	       !strcmp(a->raw_name, b->raw_name);
}

static bool is_candidate_known(const struct candidate *list, size_t nr,
			       const struct pp_symbol_entry *entry)
{
	for (size_t i = 0; i < nr; i++)
		if (is_same_code(list[i].entry, entry))
			return true;
	return false;
}

static int compare_candidate_images(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	return strcmp(a->entry->image->name, b->entry->image->name) ?:
	       op_compare((uintptr_t)a->entry->image,
			  (uintptr_t)b->entry->image) ?:
	       compare_candidate_shares(pa, pb);
}

/* The functions to show, by image. The caller frees *@out. */
static int choose_hot_functions(struct code_finder *f, struct candidate **out,
				size_t *nr)
{
	const struct pp_report *report = f->report;
	struct candidate *all = calloc(report->symbols.nr + 1, sizeof(*all));
	size_t nr_all = 0, kept = 0;

	*out = all;
	*nr = 0;
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];
		double share = fmax(largest_share(report, entry->counts,
						  report->symbols.totals),
				    largest_share(report, entry->all_counts,
						  report->totals) /
					    10);

		if (share >= PP_CODE_THRESHOLD &&
		    (entry->size || entry->is_inlined))
			all[nr_all++] = (struct candidate){ entry, share };
	}
	qsort(all, nr_all, sizeof(*all), compare_candidate_shares);
	for (size_t i = 0; i < nr_all; i++)
		if (!is_candidate_known(all, kept, all[i].entry))
			all[kept++] = all[i];
	*nr = kept < PP_CODE_MAX_SYMBOLS ? kept : PP_CODE_MAX_SYMBOLS;
	f->code->nr_more = kept - *nr;
	qsort(all, *nr, sizeof(*all), compare_candidate_images);
	return 0;
}

/* ---- samples ------------------------------------------------------------- */

static int compare_hits(const void *pa, const void *pb)
{
	const struct hit *a = pa, *b = pb;

	return op_compare(a->vma, b->vma);
}

/* All places with samples in the image. */
static int gather_hits(struct code_finder *f)
{
	const struct pp_report *report = f->report;
	size_t room = 0;

	free(f->hits);
	f->nr_hits = 0;
	for (size_t i = 0; i < report->symbols.nr; i++)
		if (report->symbols.list[i].image == f->image)
			room += report->symbols.list[i].nr_details;
	f->hits = calloc(room + 1, sizeof(*f->hits));
	if (!f->hits)
		return -ENOMEM;
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];

		for (size_t d = 0;
		     entry->image == f->image && d < entry->nr_details; d++)
			f->hits[f->nr_hits++] = (struct hit){
				entry->details[d].vma + f->image->binary_bias,
				entry->details[d].counts,
				entry->details[d].all_counts,
			};
	}
	qsort(f->hits, f->nr_hits, sizeof(*f->hits), compare_hits);
	return 0;
}

static int compare_function_starts(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;

	return op_compare(a->start, b->start) ?: op_compare(a->end, b->end);
}

/* All functions of the image that have code. */
static int gather_functions(struct code_finder *f)
{
	const struct pp_report *report = f->report;
	uint64_t last_end = 0;

	free(f->functions);
	f->nr_functions = 0;
	f->functions = calloc(report->symbols.nr + 1, sizeof(*f->functions));
	if (!f->functions)
		return -ENOMEM;
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];
		uint64_t start = entry->vma + f->image->binary_bias;

		if (entry->image == f->image && entry->size &&
		    entry->size <= UINT64_MAX - start)
			f->functions[f->nr_functions++] =
				(struct function){ .start = start,
						   .end = start + entry->size };
	}
	qsort(f->functions, f->nr_functions, sizeof(*f->functions),
	      compare_function_starts);
	for (size_t i = 0; i < f->nr_functions; i++) {
		if (last_end < f->functions[i].end)
			last_end = f->functions[i].end;
		f->functions[i].last_end = last_end;
	}
	return 0;
}

/* Add @counts, which may be NULL or zeros, to *@sum, which is NULL at first. */
static int add_hit(struct code_finder *f, const uint64_t *counts,
		   const uint64_t **sum)
{
	size_t nr = f->report->classes.nr;

	if (!counts || !pp_has_counts(counts, nr))
		return 0;
	if (!*sum)
		*sum = alloc_code(f, nr, sizeof(**sum));
	if (!*sum)
		return -ENOMEM;
	pp_add_all_counts((uint64_t *)*sum, counts, nr);
	return 0;
}

/* Add up the samples from @vma to @end. */
static int count_hits(struct code_finder *f, uint64_t vma, uint64_t end,
		      struct pp_code_insn *insn)
{
	size_t at = OP_BISECT(i, f->nr_hits, f->hits[i].vma < vma);
	int err = 0;

	for (; at < f->nr_hits && f->hits[at].vma < end && !err; at++)
		err = add_hit(f, f->hits[at].counts, &insn->counts)
			      ?: add_hit(f, f->hits[at].totals, &insn->totals);
	return err;
}

/* ---- instructions -------------------------------------------------------- */

/* The number of the source file @name, which bfd says. */
static int number_source_file(struct code_finder *f, const char *name,
			      size_t *number)
{
	struct pp_code *code = f->code;
	struct pp_code_file *files;
	const char *known;

	if (name == f->last_name) {
		*number = f->last_file;
		return 0;
	}
	known = op_strings_add(&f->names, name);
	if (!known)
		return -ENOMEM;
	for (*number = 0; *number < code->nr_files; ++*number)
		if (code->files[*number].name == known)
			break;
	if (*number == code->nr_files) {
		files = op_arena_grow(&f->report->arena, code->files,
				      code->nr_files, sizeof(*files));
		if (!files)
			return -ENOMEM;
		code->files = files;
		files[code->nr_files++] =
			(struct pp_code_file){ .name = known };
	}
	f->last_name = name;
	f->last_file = *number;
	return 0;
}

/* Add the instruction at @vma, whose code is loaded, to @symbol. */
static int add_code_insn(struct code_finder *f, struct pp_code_symbol *symbol,
			 const struct op_disasm_code *loaded, uint64_t vma,
			 uint64_t *len)
{
	struct pp_code_insn *insns =
		op_arena_grow(&f->report->arena, symbol->insns,
			      symbol->nr_insns, sizeof(*insns));
	struct pp_code_insn *insn;
	const char *text, *file;
	int err;

	if (!insns)
		return -ENOMEM;
	symbol->insns = insns;
	insn = &insns[symbol->nr_insns++];
	*insn = (struct pp_code_insn){ .vma = vma - loaded->start +
					      loaded->shown };
	*len = op_disasm_insn(f->disasm, vma, &text);
	insn->text = op_strings_add(&f->names, text);
	if (!insn->text)
		return -ENOMEM;
	if (op_bfd_line(f->bfd, vma, &file, &insn->line) && insn->line) {
		err = number_source_file(f, file, &insn->file);
		if (err)
			return err;
	} else {
		insn->line = 0;
	}
	return count_hits(f, vma, vma + *len, insn);
}

/* Leave out instructions that are far from samples. */
static void cut_large_function(struct pp_code_symbol *symbol)
{
	size_t nr = symbol->nr_insns, kept = 0, keep_to = 0, next = 0;

	for (size_t i = 0; i < nr; i++) {
		for (next = next < i ? i : next;
		     next < nr && next <= i + INSNS_AROUND; next++)
			if (symbol->insns[next].counts ||
			    symbol->insns[next].totals)
				keep_to = next + INSNS_AROUND + 1;
		if (i < keep_to)
			symbol->insns[kept++] = symbol->insns[i];
	}
	symbol->nr_insns = kept;
	symbol->is_cut = true;
}

static int list_whole_function(struct code_finder *f,
			       struct pp_code_symbol *symbol)
{
	const struct pp_symbol_entry *entry = symbol->entry;
	struct op_disasm_code loaded;
	uint64_t vma = entry->vma + f->image->binary_bias, len = 0;
	int err = op_disasm_load(f->disasm, vma, entry->size, &loaded);

	if (err && err != -ENOMEM) {
		symbol->problem = "its code is not in the file";
		return 0;
	}
	for (; !err && vma < loaded.start + loaded.len; vma += len)
		err = add_code_insn(f, symbol, &loaded, vma, &len);
	if (!err && symbol->nr_insns > PP_CODE_MAX_INSNS)
		cut_large_function(symbol);
	return err;
}

/* Where the instruction at @vma, which may be in the middle of it, begins:
 * found from @from on, or from the begin of the function that has it, whichever
 * is later. Its code is loaded. Returns 0, -ENOENT, or -ENOMEM. */
static int find_insn(struct code_finder *f, uint64_t vma, uint64_t from,
		     struct op_disasm_code *loaded, uint64_t *start)
{
	uint64_t at = vma;
	const char *text;
	int err;

	for (size_t i = OP_BISECT(n, f->nr_functions,
				  f->functions[n].start <= vma);
	     i && at == vma && f->functions[i - 1].last_end > vma; i--) {
		uint64_t begin = f->functions[i - 1].start;

		if (vma < f->functions[i - 1].end)
			at = from > begin && from <= vma ? from : begin;
	}
	err = op_disasm_load(f->disasm, at, vma - at + LONGEST_INSN, loaded);
	for (*start = at; !err && at <= vma;) {
		*start = at;
		at += op_disasm_insn(f->disasm, at, &text);
	}
	return err;
}

/* List the instructions of an inlined function that have samples, or call. */
static int list_inlining(struct code_finder *f, struct pp_code_symbol *symbol)
{
	const struct pp_symbol_entry *entry = symbol->entry;
	struct op_disasm_code loaded;
	uint64_t end = 0, len = 0;
	int err = 0;

	for (size_t i = 0; i < entry->nr_details && !err; i++) {
		uint64_t vma = entry->details[i].vma + f->image->binary_bias;

		if (vma < end || symbol->nr_insns == PP_CODE_MAX_INSNS)
			continue;
		err = find_insn(f, vma, end, &loaded, &vma);
		if (err == -ENOENT)
			err = 0;
		else if (!err)
			err = add_code_insn(f, symbol, &loaded, vma, &len);
		end = vma + len;
	}
	return err;
}

/* Add the totals of the lines of @entry to those of @symbol, which is the same
 * function. */
static int add_line_totals(struct code_finder *f, struct pp_code_symbol *symbol,
			   const struct pp_symbol_entry *entry)
{
	size_t nr = f->report->classes.nr;
	int err = 0;

	for (size_t i = 0; i < entry->nr_line_totals; i++) {
		const struct pp_line_total *line = &entry->line_totals[i];
		struct pp_code_line *lines;
		size_t file, at = 0;

		if (!line->place.line)
			continue;
		err = number_source_file(f, line->place.file, &file);
		while (!err && at < symbol->nr_lines &&
		       (symbol->lines[at].file != file ||
			symbol->lines[at].line != line->place.line))
			at++;
		if (err)
			break;
		if (at == symbol->nr_lines) {
			lines = op_arena_grow(&f->report->arena, symbol->lines,
					      at, sizeof(*lines));
			if (!lines)
				return -ENOMEM;
			symbol->lines = lines;
			lines[at] = (struct pp_code_line){
				file, line->place.line,
				alloc_code(f, nr, sizeof(uint64_t))
			};
			if (!lines[at].totals)
				return -ENOMEM;
			symbol->nr_lines++;
		}
		pp_add_all_counts(symbol->lines[at].totals, line->counts, nr);
	}
	return err;
}

static const char *open_hot_image(struct code_finder *f)
{
	const struct op_disasm_options options = { .demangle = true };
	int err;

	if (!f->image->binary)
		return "its binary is not available";
	err = op_bfd_open(&f->bfd, f->image->binary, &f->report->debug);
	if (!err)
		err = op_disasm_new(&f->disasm, f->bfd, &options);
	if (err == -ENOTSUP)
		return "this libopcodes cannot disassemble code of its machine";
	if (err)
		pp_message_of_error(
			&f->report->messages, err,
			"%s: cannot be read: %s; the page is without its code",
			f->image->binary, strerror(-err));
	return err ? "its binary cannot be read" : NULL;
}

static int list_hot_image(struct code_finder *f,
			  const struct candidate *candidates, size_t nr)
{
	const char *problem;
	int err = 0;

	f->image = candidates->entry->image;
	f->last_name = NULL;
	problem = open_hot_image(f);
	if (!problem)
		err = gather_hits(f) ?: gather_functions(f);
	for (size_t i = 0; i < nr && !err; i++) {
		struct pp_code_symbol *symbol =
			&f->code->symbols[f->code->nr_symbols++];

		symbol->entry = candidates[i].entry;
		symbol->problem = problem;
		if (problem)
			continue;
		err = symbol->entry->is_inlined
			      ? list_inlining(f, symbol)
			      : list_whole_function(f, symbol);
		for (size_t j = 0; j < f->report->symbols.nr && !err; j++)
			if (is_same_code(&f->report->symbols.list[j],
					 symbol->entry))
				err = add_line_totals(
					f, symbol, &f->report->symbols.list[j]);
	}
	pp_warn_of_fault(&f->report->messages, f->bfd,
			 "instructions on the page");
	op_disasm_free(f->disasm);
	op_bfd_close(f->bfd);
	f->disasm = NULL;
	f->bfd = NULL;
	return err;
}

/* ---- sources ------------------------------------------------------------- */

/* A line that some instruction is of, or that samples pass. */
struct wanted_line {
	size_t file;
	unsigned int line;
	const struct pp_image *image; /* that it is in */
};

static int compare_wanted_lines(const void *pa, const void *pb)
{
	const struct wanted_line *a = pa, *b = pb;

	return op_compare(a->file, b->file) ?: op_compare(a->line, b->line);
}

/* The *@nr lines with code that is shown, by file; the caller frees them. */
static struct wanted_line *gather_wanted_lines(const struct pp_code *code,
					       size_t *nr)
{
	struct wanted_line *lines;
	size_t room = 0;

	*nr = 0;
	for (size_t i = 0; i < code->nr_symbols; i++)
		room += code->symbols[i].nr_insns + code->symbols[i].nr_lines;
	lines = calloc(room + 1, sizeof(*lines));
	for (size_t i = 0; lines && i < code->nr_symbols; i++)
		for (size_t j = 0; j < code->symbols[i].nr_insns; j++) {
			const struct pp_code_insn *insn =
				&code->symbols[i].insns[j];

			if (insn->line)
				lines[(*nr)++] = (struct wanted_line){
					insn->file, insn->line,
					code->symbols[i].entry->image
				};
		}
	for (size_t i = 0; lines && i < code->nr_symbols; i++)
		for (size_t j = 0; j < code->symbols[i].nr_lines; j++)
			lines[(*nr)++] = (struct wanted_line){
				code->symbols[i].lines[j].file,
				code->symbols[i].lines[j].line,
				code->symbols[i].entry->image
			};
	if (lines)
		qsort(lines, *nr, sizeof(*lines), compare_wanted_lines);
	return lines;
}

/* Keep line @line of @file, which reads @text. */
static int keep_source_line(struct code_finder *f, struct pp_code_file *file,
			    unsigned int line, const char *text)
{
	while (file->nr_lines < line) {
		const char **lines =
			op_arena_grow(&f->report->arena, file->lines,
				      file->nr_lines, sizeof(*lines));

		if (!lines)
			return -ENOMEM;
		file->lines = lines;
		lines[file->nr_lines++] = NULL;
	}
	file->lines[line - 1] = op_arena_strdup(&f->report->arena, text);
	return file->lines[line - 1] ? 0 : -ENOMEM;
}

/* Whether line @at is near one of the @nr wanted ones, which ascend; *@next is
 * the first that is not before it. */
static bool is_line_near(const struct wanted_line *wanted, size_t nr,
			 size_t *next, unsigned int at)
{
	unsigned int before, behind;

	while (*next < nr && wanted[*next].line < at)
		++*next;
	behind = *next < nr ? wanted[*next].line - at : UINT32_MAX;
	before = *next ? at - wanted[*next - 1].line : UINT32_MAX;
	return behind <= LINES_AROUND || before <= LINES_AROUND ||
	       (behind < LINES_BETWEEN && before < LINES_BETWEEN);
}

static int read_source_lines(struct code_finder *f, struct pp_code_file *file,
			     const char *path, FILE *in,
			     const struct wanted_line *wanted, size_t nr)
{
	size_t room = 0, next = 0;
	char *buf = NULL;
	int err = 0;
	ssize_t len;

	for (unsigned int at = 1; !err && (len = getline(&buf, &room, in)) >= 0;
	     at++) {
		if (!is_line_near(wanted, nr, &next, at))
			continue;
		if (len && buf[len - 1] == '\n')
			buf[--len] = '\0';
		if (len > LINE_MAX_LEN)
			buf[LINE_MAX_LEN] = '\0';
		err = keep_source_line(f, file, at, buf);
	}
	pp_source_check(&f->report->messages, path, in);
	free(buf);
	return err;
}

static int read_sources(struct code_finder *f)
{
	struct pp_code *code = f->code;
	size_t nr;
	struct wanted_line *wanted = gather_wanted_lines(code, &nr);
	int err = wanted ? 0 : -ENOMEM;

	for (size_t i = 0, end; i < nr && !err; i = end) {
		struct pp_code_file *file = &code->files[wanted[i].file];
		char *path = opannotate_locate(f->text.options, file->name);
		FILE *in = path ? opannotate_open_source(&f->text, path,
							 wanted[i].image)
				: NULL;

		for (end = i; end < nr && wanted[end].file == wanted[i].file;)
			end++;
		file->is_missing = !in;
		if (in) {
			err = read_source_lines(f, file, path, in, wanted + i,
						end - i);
			fclose(in);
		}
		free(path);
	}
	free(wanted);
	return err;
}

/* ---- all of it ----------------------------------------------------------- */

int opreport_find_code(struct pp_code *code, struct pp_report *report,
		       const struct opannotate_options *places)
{
	struct code_finder f = { .code = code,
				 .report = report,
				 .text = { .report = report,
					   .options = places,
					   .messages = &report->messages } };
	struct candidate *hot;
	size_t nr;
	int err;

	*code = (struct pp_code){ .report = report };
	op_strings_init(&f.names, &report->arena);
	err = choose_hot_functions(&f, &hot, &nr);
	if (!err) {
		code->symbols = alloc_code(&f, nr, sizeof(*code->symbols));
		err = code->symbols ? 0 : -ENOMEM;
	}
	for (size_t i = 0, end; i < nr && !err; i = end) {
		for (end = i;
		     end < nr && hot[end].entry->image == hot[i].entry->image;)
			end++;
		err = list_hot_image(&f, hot + i, end - i);
	}
	err = err ?: read_sources(&f);
	free(hot);
	free(f.hits);
	free(f.functions);
	op_strings_release(&f.names);
	return err;
}
