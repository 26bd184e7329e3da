// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Listings of instructions. The layout is that of objdump, which the original
 * ran once per symbol, or once for an image with many; so the title of the
 * file comes before each symbol, or once before all of them, which are then by
 * address. Code comes from op_disasm.h, in the words that objdump has for it;
 * counts come from the details of the report's symbols, which ascend as the
 * instructions do. What cannot be listed is said on standard error with its
 * samples, so that none gets lost in silence.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_terminal_safe.h"
#include "libop/base/op_plural.h"
#include "libop/base/op_search.h"
#include "libpp/images/image_symbols.h"
#include "libpp/images/symbol_match.h"
#include "libpp/select/sample_list.h"
#include "pp/opannotate/opannotate_excerpt.h"
#include "pp/opannotate/opannotate_files.h"
#include "pp/opannotate/opannotate_text.h"

#define MANY_SYMBOLS 50
#define CONTEXT 3 /* instructions around a hot one */
#define LONGEST_INSN 16 /* bytes, on any machine that we know */

/* An image at work. */
struct listing {
	const struct opannotate_text *text;
	const struct pp_image *image;
	struct op_bfd *bfd;
	struct op_disasm *disasm;
	struct opannotate_excerpts *excerpts;
	struct op_disasm_code code; /* of the current symbol */
	char section[64]; /* that was announced last */
	const char *file; /* of the line announced last */
	unsigned int line;
	uint64_t *counts; /* room for those of an instruction */
	uint64_t *totals; /* likewise, for samples that pass it */
	struct op_bfd_inlined inlined; /* that was announced last */
	bool is_titled; /* the name of the image was written */
	size_t *nr_listed; /* symbols of all images */
};

/* ---- titles -------------------------------------------------------------- */

static void write_blank(const struct listing *l)
{
	opannotate_margin(l->text, NULL, NULL);
	fputc('\n', l->text->out);
}

static void write_file_title(const struct listing *l)
{
	write_blank(l);
	opannotate_margin(l->text, NULL, NULL);
	fprintf(l->text->out, "%s:     file format %s\n",
		opannotate_home_path(l->text->options, l->image->binary),
		op_disasm_format(l->disasm));
	write_blank(l);
}

/* Hex digits of a whole address. */
static int nr_digits(const struct listing *l)
{
	return strncmp(op_disasm_format(l->disasm), "elf32", 5) ? 16 : 8;
}

static void write_symbol_title(const struct listing *l,
			       const struct pp_symbol_entry *symbol)
{
	const struct opannotate_listing *how = &l->text->options->listing;
	const char *name = op_disasm_name(l->disasm, l->code.start);
	FILE *out = l->text->out;

	if (!name)
		name = how->disasm.demangle ? symbol->name : symbol->raw_name;
	write_blank(l);
	if (!how->no_addresses)
		fprintf(out, "%0*" PRIx64 " ", nr_digits(l), l->code.shown);
	fprintf(out, "<%s>:", name);
	opannotate_symbols(l->text, &symbol, 1);
	fputc('\n', out);
}

/* ---- instructions -------------------------------------------------------- */

/* objdump leaves out zeros in groups of four that no address of the section
 * needs. */
static int address_width(const struct listing *l)
{
	int digits = nr_digits(l), width = digits;
	char end[24];
	const char *at = end;

	snprintf(end, sizeof(end), "%0*" PRIx64, digits, l->code.section_end);
	for (; width > 4 && !strncmp(at, "00000", 5); at += 4)
		width -= 4;
	return width;
}

/* Add up the details from *@next on, as long as they are at @start or behind
 * and before @end, in @l. Returns their counts; NULL if there are none. */
static const uint64_t *counts_between(struct listing *l,
				      const struct pp_symbol_entry *symbol,
				      size_t *next, uint64_t start,
				      uint64_t end)
{
	size_t nr_classes = l->text->report->classes.nr, first = *next;

	memset(l->counts, 0, nr_classes * sizeof(*l->counts));
	memset(l->totals, 0, nr_classes * sizeof(*l->totals));
	for (; *next < symbol->nr_details; ++*next) {
		const struct pp_detail *detail = &symbol->details[*next];
		uint64_t vma = detail->vma + l->image->binary_bias;

		if (vma < start || vma >= end)
			break;
		pp_add_all_counts(l->counts, detail->counts, nr_classes);
		if (detail->all_counts)
			pp_add_all_counts(l->totals, detail->all_counts,
					  nr_classes);
	}
	return *next > first ? l->counts : NULL;
}

static const uint64_t *counts_before(struct listing *l,
				     const struct pp_symbol_entry *symbol,
				     size_t *next, uint64_t end)
{
	return counts_between(l, symbol, next, 0, end);
}

static void write_insn_address(const struct listing *l, uint64_t at)
{
	FILE *out = l->text->out;

	if (!l->text->options->listing.no_addresses)
		fprintf(out, "%*" PRIx64 ":", address_width(l),
			at - l->code.start + l->code.shown);
	fputc('\t', out);
}

/* The bytes of an instruction that go into its line. Returns how many. */
static uint64_t write_insn_bytes(const struct listing *l, uint64_t at,
				 uint64_t len)
{
	const struct opannotate_listing *how = &l->text->options->listing;
	uint64_t row = op_disasm_row(l->disasm);
	uint64_t done = len > row && !how->wide ? row : len;

	if (!how->with_bytes)
		return len;
	fprintf(l->text->out, "%s\t",
		op_disasm_bytes(l->disasm, at, done, done < row ? row : done));
	return done;
}

static void list_more_bytes(const struct listing *l, uint64_t at, uint64_t len)
{
	uint64_t row = op_disasm_row(l->disasm);

	for (uint64_t done = 0; done < len; done += row) {
		uint64_t part = len - done < row ? len - done : row;

		opannotate_margin(l->text, NULL, NULL);
		write_insn_address(l, at + done);
		fprintf(l->text->out, "%s\n",
			op_disasm_bytes(l->disasm, at + done, part, part));
	}
}

static void list_instruction(const struct listing *l, uint64_t at, uint64_t len,
			     const char *text, const uint64_t *counts)
{
	uint64_t done;

	opannotate_margin(l->text, counts, counts ? l->totals : NULL);
	write_insn_address(l, at);
	done = write_insn_bytes(l, at, len);
	fprintf(l->text->out, "%s\n", text);
	list_more_bytes(l, at + done, len - done);
}

/* Print the function and line (-l) and the source text (-S) of the instruction
 * at @vma, when they change. */
static void list_source_line(struct listing *l, uint64_t vma)
{
	const struct opannotate_options *o = l->text->options;
	unsigned int line;
	const char *file;

	if (!o->args.source && !o->listing.with_lines)
		return;
	if (!op_bfd_line(l->bfd, vma, &file, &line))
		return;
	if (o->listing.with_lines && line &&
	    (file != l->file || line != l->line)) {
		l->file = file;
		l->line = line;
		opannotate_margin(l->text, NULL, NULL);
		fprintf(l->text->out, "%s:%u\n", file, line);
	}
	if (o->args.source)
		opannotate_excerpt(l->excerpts, file, line, l->image);
}

static void list_instructions(struct listing *l,
			      const struct pp_symbol_entry *symbol)
{
	uint64_t at = l->code.start, end = at + l->code.len;
	size_t next = 0;

	while (at < end) {
		const uint64_t *counts;
		const char *text;
		uint64_t len;

		list_source_line(l, at);
		len = op_disasm_insn(l->disasm, at, &text);
		/* A sample inside of an instruction is one of it. */
		counts = counts_before(l, symbol, &next, at + len);
		list_instruction(l, at, len, text, counts);
		at += len;
	}
}

/* ---- what is worth reading ----------------------------------------------- */

struct insn {
	uint64_t at, len;
	bool is_shown;
};

/* Whether the instruction at @vma is of a function that is asked for where it
 * is inlined. */
static bool is_in_inlined(struct listing *l, uint64_t vma)
{
	const struct pp_names_request *names = &l->text->options->inlined;
	struct op_bfd_inlined chain[OP_BFD_MAX_INLINED];
	size_t nr = op_bfd_inlined(l->bfd, vma, chain, OP_BFD_MAX_INLINED);
	struct op_arena arena;
	bool is_wanted = false;

	op_arena_init(&arena);
	for (size_t i = 0; i < nr && !is_wanted; i++)
		is_wanted = chain[i].name &&
			    pp_is_wanted(names, chain[i].name,
					 pp_demangle(&arena, chain[i].name,
						     names->demangle));
	op_arena_release(&arena);
	return is_wanted;
}

/* Divide the code of @symbol into instructions, and choose the hot ones with
 * CONTEXT around each, or those of functions that are asked for where they are
 * inlined; the caller frees *@out. */
static int choose_instructions(struct listing *l,
			       const struct pp_symbol_entry *symbol,
			       struct insn **out, size_t *nr)
{
	uint64_t at = l->code.start, end = at + l->code.len;
	size_t next = 0, after = 0;
	const char *text;

	*out = NULL;
	*nr = 0;
	while (at < end) {
		struct insn *insn;
		bool hot;

		if (op_array_reserve(out, *nr, 1))
			return -ENOMEM;
		insn = &(*out)[(*nr)++];
		*insn = (struct insn){ at, op_disasm_insn(l->disasm, at, &text),
				       false };
		at += insn->len;
		if (l->text->options->inlined.include) {
			insn->is_shown = is_in_inlined(l, insn->at);
			continue;
		}
		hot = opannotate_is_hot(l->text,
					counts_before(l, symbol, &next, at),
					symbol->counts) ||
		      opannotate_is_hot(l->text, l->totals, symbol->all_counts);
		if (hot)
			for (size_t i = 1; i <= CONTEXT && i < *nr; i++)
				insn[-(ptrdiff_t)i].is_shown = true;
		after = hot ? CONTEXT + 1 : after;
		insn->is_shown = after;
		after -= after > 0;
	}
	return 0;
}

/* Say which function the instruction at @vma is of, where that changes. */
static void list_inlined_function(struct listing *l, uint64_t vma,
				  const struct pp_symbol_entry *symbol)
{
	bool is_raw =
		l->text->options->request.names.demangle == PP_DEMANGLE_NONE;
	enum pp_demangle how = is_raw ? PP_DEMANGLE_NONE : PP_DEMANGLE_BRIEF;
	struct op_bfd_inlined in = { 0 };
	struct op_arena arena;

	op_bfd_inlined(l->bfd, vma, &in, 1);
	if (in.name == l->inlined.name &&
	    in.call_line == l->inlined.call_line &&
	    in.call_file == l->inlined.call_file)
		return;
	l->inlined = in;
	op_arena_init(&arena);
	opannotate_margin(l->text, NULL, NULL);
	if (in.name)
		fprintf(l->text->out, "%s inlined from %s:%u\n",
			pp_demangle(&arena, in.name, how),
			in.call_file ? pp_base_name(in.call_file) : "?",
			in.call_line);
	else
		fprintf(l->text->out, "%s\n",
			pp_demangle(&arena, symbol->raw_name, how));
	op_arena_release(&arena);
}

static int list_hot_instructions(struct listing *l,
				 const struct pp_symbol_entry *symbol)
{
	size_t nr_classes = l->text->report->classes.nr, nr, next = 0;
	uint64_t *hidden = calloc(nr_classes + 1, sizeof(*hidden));
	struct insn *insns = NULL;
	bool in_gap = false;
	int err =
		hidden ? choose_instructions(l, symbol, &insns, &nr) : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++) {
		const struct insn *insn = &insns[i];
		const uint64_t *counts =
			counts_before(l, symbol, &next, insn->at + insn->len);
		const char *text;

		if (!insn->is_shown) {
			if (counts)
				pp_add_all_counts(hidden, counts, nr_classes);
			in_gap = true;
			continue;
		}
		if (in_gap)
			opannotate_gap(l->text, hidden);
		memset(hidden, 0, nr_classes * sizeof(*hidden));
		in_gap = false;
		list_inlined_function(l, insn->at, symbol);
		list_source_line(l, insn->at);
		op_disasm_insn(l->disasm, insn->at, &text);
		list_instruction(l, insn->at, insn->len, text, counts);
	}
	if (in_gap)
		opannotate_gap(l->text, hidden);
	free(hidden);
	free(insns);
	return err;
}

static int write_hot_title(struct listing *l,
			   const struct pp_symbol_entry *symbol,
			   const uint64_t *counts, const uint64_t *totals)
{
	int err = 0;

	if (!*l->nr_listed)
		err = opannotate_header(l->text);
	if (!l->is_titled)
		fprintf(l->text->out, "\n%s\n",
			opannotate_home_path(l->text->options,
					     l->image->binary));
	l->is_titled = true;
	++*l->nr_listed;
	return err
		       ?: opannotate_title(l->text, symbol->name, "", counts,
					   totals);
}

/* Write the title of @symbol above its code, or for that of functions which are
 * inlined there and which are asked for. Returns 0, -ENOENT if it has none of
 * them, or -ENOMEM. */
static int open_listed_symbol(struct listing *l,
			      const struct pp_symbol_entry *symbol)
{
	size_t nr_classes = l->text->report->classes.nr, nr = 0, next = 0;
	const uint64_t *counts = symbol->counts, *totals = symbol->all_counts;
	uint64_t *sums = calloc(nr_classes + 1, sizeof(*sums));
	struct insn *insns = NULL;
	bool has_any = !l->text->options->inlined.include;
	int err = sums ? 0 : -ENOMEM;

	if (!err && !has_any) {
		counts = sums;
		totals = NULL;
		err = choose_instructions(l, symbol, &insns, &nr);
	}
	for (size_t i = 0; i < nr && !err; i++) {
		const uint64_t *here = counts_before(
			l, symbol, &next, insns[i].at + insns[i].len);

		has_any |= insns[i].is_shown;
		if (here && insns[i].is_shown)
			pp_add_all_counts(sums, here, nr_classes);
	}
	if (!err)
		err = has_any ? write_hot_title(l, symbol, counts, totals)
			      : -ENOENT;
	l->inlined = (struct op_bfd_inlined){ 0 };
	free(insns);
	free(sums);
	return err;
}

/* ---- symbols ------------------------------------------------------------- */

static void warn_not_listed(const struct listing *l,
			    const struct pp_symbol_entry *symbol,
			    const char *why)
{
	FILE *out;

	/* Samples that only pass are shown elsewhere, too. */
	if (!opannotate_has_counts(l->text, symbol->counts) ||
	    l->text->options->inlined.include)
		return;
	out = op_terminal_safe_open(stderr);
	if (!out)
		return;
	fprintf(out, "opannotate: warning: %s: not shown: ", l->image->name);
	for (size_t i = 0; i < l->text->report->classes.nr; i++)
		fprintf(out, "%s%" PRIu64 " sample%s", i ? " and " : "",
			symbol->counts[i], op_plural(symbol->counts[i]));
	fprintf(out, " in %s: %s\n", symbol->name, why);
	fclose(out);
}

/* Where no symbol is: the single instructions that have samples. */
static int list_loose_instructions(struct listing *l,
				   const struct pp_symbol_entry *symbol)
{
	size_t next = 0, nr_lost = 0;

	if (l->text->options->all) {
		write_blank(l);
		fprintf(l->text->out, "<%s>:", symbol->name);
		opannotate_symbols(l->text, &symbol, 1);
		fputc('\n', l->text->out);
	} else if (l->text->options->inlined.include) {
		return 0;
	} else if (write_hot_title(l, symbol, symbol->counts,
				   symbol->all_counts)) {
		return -ENOMEM;
	}
	while (next < symbol->nr_details) {
		uint64_t vma =
			symbol->details[next].vma + l->image->binary_bias;
		const uint64_t *counts;
		const char *text;
		uint64_t len;

		if (op_disasm_load(l->disasm, vma, LONGEST_INSN, &l->code)) {
			next++;
			nr_lost++;
			continue;
		}
		len = op_disasm_insn(l->disasm, vma, &text);
		/* Outside of all code, details are not by address. */
		counts = counts_between(l, symbol, &next, vma, vma + len);
		if (!l->text->options->all &&
		    !opannotate_is_hot(l->text, counts, symbol->counts))
			continue;
		list_source_line(l, vma);
		list_instruction(l, vma, len, text, counts);
	}
	if (nr_lost)
		pp_message(l->text->messages, PP_WARNING,
			   "%s: %zu address%s with samples %s not in its code",
			   l->image->name, nr_lost, nr_lost == 1 ? "" : "es",
			   nr_lost == 1 ? "is" : "are");
	return 0;
}

static int list_symbol(struct listing *l, const struct pp_symbol_entry *symbol,
		       bool is_one_of_many)
{
	uint64_t vma = symbol->vma + l->image->binary_bias;
	bool is_whole = l->text->options->all;
	int err;

	if (!is_one_of_many) {
		*l->section = '\0';
		opannotate_excerpts_restart(l->excerpts);
	}
	if (!symbol->size) {
		if (!is_one_of_many && is_whole)
			write_file_title(l);
		return list_loose_instructions(l, symbol);
	}
	err = op_disasm_load(l->disasm, vma, symbol->size, &l->code);
	if (err == -ENOMEM)
		return err;
	if (err) {
		warn_not_listed(l, symbol, "its code is not in the file");
		return 0;
	}
	if (!is_whole) {
		err = open_listed_symbol(l, symbol);
		return err == -ENOENT ? 0
				      : err ?: list_hot_instructions(l, symbol);
	}
	if (!is_one_of_many)
		write_file_title(l);
	if (strncmp(l->section, l->code.section, sizeof(l->section) - 1)) {
		snprintf(l->section, sizeof(l->section), "%s", l->code.section);
		write_blank(l);
		opannotate_margin(l->text, NULL, NULL);
		fprintf(l->text->out, "Disassembly of section %s:\n",
			l->section);
	}
	write_symbol_title(l, symbol);
	list_instructions(l, symbol);
	return 0;
}

/* ---- images -------------------------------------------------------------- */

static const char *open_listed_image(struct listing *l)
{
	int err;

	if (!l->image->binary)
		return "its binary is not available";
	err = op_bfd_open(&l->bfd, l->image->binary, &l->text->report->debug);
	if (!err)
		err = op_disasm_new(&l->disasm, l->bfd,
				    &l->text->options->listing.disasm);
	l->text->messages->nr_faults += pp_is_fault(err);
	if (err == -ENOTSUP)
		return "this libopcodes cannot disassemble code of its machine";
	return err ? strerror(-err) : NULL;
}

static int compare_symbol_vmas(const void *pa, const void *pb)
{
	const struct pp_symbol_entry *a = *(const void *const *)pa,
				     *b = *(const void *const *)pb;

	return op_compare(a->vma, b->vma);
}

/* By image; symbols of one keep their order, which is that of the report. */
static int compare_listed_symbols(const void *pa, const void *pb)
{
	const struct pp_symbol_entry *a = *(const void *const *)pa,
				     *b = *(const void *const *)pb;

	return strcmp(a->image->name, b->image->name) ?:
	       op_compare((uintptr_t)a->image, (uintptr_t)b->image) ?:
	       op_compare((uintptr_t)a, (uintptr_t)b);
}

/* Likewise, the image with most samples first. */
static int compare_hot_symbols(const void *pa, const void *pb)
{
	const struct pp_symbol_entry *a = *(const void *const *)pa,
				     *b = *(const void *const *)pb;

	return op_compare(b->image->samples, a->image->samples)
		       ?: compare_listed_symbols(pa, pb);
}

static int list_symbols_of_image(struct listing *l,
				 const struct pp_symbol_entry **symbols,
				 size_t nr)
{
	const char *why = open_listed_image(l);
	bool is_whole = l->text->options->all;
	bool is_many = is_whole && nr > MANY_SYMBOLS;
	int err = is_whole ? opannotate_header(l->text) : 0;

	for (size_t i = 0; why && i < nr; i++)
		warn_not_listed(l, symbols[i], why);
	if (why || err)
		return err;
	if (is_many) {
		qsort(symbols, nr, sizeof(*symbols), compare_symbol_vmas);
		write_file_title(l);
		opannotate_excerpts_restart(l->excerpts);
	}
	for (size_t i = 0; i < nr && !err; i++)
		err = list_symbol(l, symbols[i], is_many);
	return err;
}

static int list_all_images(const struct opannotate_text *text,
			   const struct pp_symbol_entry **symbols, size_t nr,
			   size_t *nr_listed)
{
	size_t nr_classes = text->report->classes.nr;
	uint64_t *counts = calloc(2 * nr_classes + 1, sizeof(*counts));
	struct listing l;
	struct opannotate_excerpts excerpts;
	int err = 0;

	if (!counts)
		return -ENOMEM;
	opannotate_excerpts_init(&excerpts, text);
	if (nr)
		qsort(symbols, nr, sizeof(*symbols),
		      text->options->all ? compare_listed_symbols
					 : compare_hot_symbols);
	for (size_t i = 0, end; i < nr && !err; i = end) {
		for (end = i;
		     end < nr && symbols[end]->image == symbols[i]->image;)
			end++;
		l = (struct listing){ .text = text,
				      .image = symbols[i]->image,
				      .excerpts = &excerpts,
				      .counts = counts,
				      .totals = counts + nr_classes,
				      .nr_listed = nr_listed };
		err = list_symbols_of_image(&l, symbols + i, end - i);
		op_disasm_free(l.disasm);
		pp_warn_of_fault(l.text->messages, l.bfd,
				 "instructions or names");
		op_bfd_close(l.bfd);
	}
	opannotate_excerpts_release(&excerpts);
	free(counts);
	return err;
}

/* Move those above the threshold to the front; *@nr_hidden others have samples,
 * @hidden in all. Returns how many are left. */
static size_t keep_hot_symbols(const struct opannotate_text *text,
			       const struct pp_symbol_entry **symbols,
			       size_t nr, size_t *nr_hidden, uint64_t *hidden)
{
	size_t kept = 0;

	*nr_hidden = 0;
	for (size_t i = 0; i < nr; i++)
		if (text->options->all || text->options->inlined.include ||
		    opannotate_passes(text, symbols[i]->counts) ||
		    opannotate_is_passed(text, symbols[i])) {
			symbols[kept++] = symbols[i];
		} else if (opannotate_has_counts(text, symbols[i]->counts)) {
			pp_add_all_counts(hidden, symbols[i]->counts,
					  text->report->classes.nr);
			++*nr_hidden;
		}
	return kept;
}

int opannotate_write_assembly(const struct opannotate_text *text,
			      struct op_diag *diag)
{
	const struct pp_report *report = text->report;
	const struct pp_symbol_entry **symbols;
	size_t nr = report->symbols.nr, nr_listed = 0, nr_hidden, kept;
	uint64_t *hidden;
	int err = -ENOMEM;

	if (!nr)
		return op_diag_set(diag, -ENOENT,
				   "none of the chosen symbols has samples");
	symbols = calloc(nr, sizeof(*symbols));
	hidden = calloc(report->classes.nr + 1, sizeof(*hidden));
	if (symbols && hidden) {
		for (size_t i = 0; i < nr; i++)
			symbols[i] = &report->symbols.list[i];
		kept = keep_hot_symbols(text, symbols, nr, &nr_hidden, hidden);
		err = list_all_images(text, symbols, kept, &nr_listed);
		if (!err && !nr_listed && text->options->inlined.include)
			err = op_diag_set(diag, -ENOENT,
					  "nothing of that name is inlined");
		else if (!err && !nr_listed && !text->options->all)
			err = opannotate_header(text);
		if (!err)
			opannotate_rest(text, nr_hidden, hidden);
	}
	free(hidden);
	free(symbols);
	return err;
}
