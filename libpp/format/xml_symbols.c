// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols in XML. What is known of a symbol is written once, in a table at the
 * end, under a number that is given when its samples are first written;
 * samples, in whatever application, refer to that number. Two functions of one
 * name in one file (static ones) share one number, as they did in the
 * original: they are chained through pp_xml_symbol.next, and their addresses
 * are numbered through.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_decimal.h"
#include "libop/base/op_search.h"
#include "libpp/format/xml.h"

/* ---- which share a number ------------------------------------------------ */

/* A symbol on its way to those of its name. */
struct named {
	const struct pp_symbol_entry *entry;
	size_t rank; /* in the report; behind all for others */
};

/* Lines of one symbol are different things. */
static int compare_xml_lines(const struct pp_symbol_entry *a,
			     const struct pp_symbol_entry *b)
{
	if (!a->is_line || !b->is_line)
		return 0;
	return strcmp(a->place.file ?: "", b->place.file ?: "")
		       ?: op_compare(a->place.line, b->place.line);
}

static int compare_raw_names(const struct named *a, const struct named *b)
{
	return strcmp(a->entry->image->name, b->entry->image->name) ?:
	       strcmp(a->entry->raw_name, b->entry->raw_name) ?:
	       compare_xml_lines(a->entry, b->entry);
}

static int compare_named_symbols(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return compare_raw_names(x, y) ?: op_compare(x->rank, y->rank);
}

/* Chain @nr symbols of one name, in the order of the report. */
static void chain_symbols(struct pp_xml *x, const struct named *names,
			  size_t nr)
{
	size_t nr_details = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct pp_symbol_entry *entry = names[i].entry;
		bool is_shown = names[i].rank < x->report->symbols.nr;

		x->symbols[entry->nr] = (struct pp_xml_symbol){
			.head = names[0].entry->nr,
			.next = names[i + 1 < nr ? i + 1 : i].entry->nr,
			.first_detail = nr_details,
			.nr_details = is_shown ? entry->nr_details : 0,
			.id = SIZE_MAX,
		};
		nr_details += x->symbols[entry->nr].nr_details;
	}
}

int pp_xml_find_heads(struct pp_xml *x)
{
	const struct pp_report *report = x->report;
	size_t nr = report->symbols.nr_known;
	struct named *names = calloc(nr + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		names[i] = (struct named){ &report->symbols.known[i], nr + i };
	for (size_t i = 0; i < report->symbols.nr; i++)
		names[report->symbols.list[i].nr].rank = i;
	if (nr)
		qsort(names, nr, sizeof(*names), compare_named_symbols);
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i;
		     end < nr && !compare_raw_names(&names[end], &names[i]);)
			end++;
		chain_symbols(x, names + i, end - i);
	}
	free(names);
	return 0;
}

/* ---- samples ------------------------------------------------------------- */

bool pp_xml_concerns(const struct pp_xml *x,
		     const struct pp_symbol_entry *entry,
		     const struct pp_xml_scope *scope)
{
	const struct pp_neighbours *n = entry->neighbours;

	return pp_xml_has_counts(x, entry->counts, scope) ||
	       (n && (pp_xml_has_counts(x, n->caller_totals, scope) ||
		      pp_xml_has_counts(x, n->callee_totals, scope)));
}

void pp_xml_symbol_begin(struct pp_xml *x, const struct pp_symbol_entry *entry)
{
	size_t head = x->symbols[entry->nr].head;

	if (x->symbols[head].id == SIZE_MAX) {
		x->symbols[head].id = x->nr_ids;
		x->by_id[x->nr_ids++] = head;
	}
	fputs("<symbol ", x->out);
	op_xml_number(x->out, "idref", x->symbols[head].id);
}

void pp_xml_symbol(struct pp_xml *x, const struct pp_symbol_entry *entry,
		   const struct pp_xml_scope *scope, bool in_module)
{
	const struct pp_xml_symbol *symbol = &x->symbols[entry->nr];

	if (!pp_xml_concerns(x, entry, scope))
		return;
	pp_xml_symbol_begin(x, entry);
	if (symbol->nr_details) {
		op_xml_number(x->out, "detaillo", symbol->first_detail);
		op_xml_number(x->out, "detailhi",
			      symbol->first_detail + symbol->nr_details - 1);
	}
	fputs(">\n", x->out);
	if (entry->neighbours)
		pp_xml_neighbours(x, entry, scope, in_module);
	pp_xml_sum_begin(x);
	pp_xml_sum_add(x, entry->counts, scope);
	pp_xml_sum_write(x, false);
	fputs("</symbol>\n", x->out);
}

static void xml_write_vma(const struct pp_xml *x, const char *name,
			  uint64_t vma)
{
	char digits[OP_DECIMAL_LEN];

	op_decimal_hex(digits, vma, x->vma_digits);
	op_xml_attr(x->out, name, digits);
}

/* ---- tables -------------------------------------------------------------- */

static void xml_write_place(const struct pp_xml *x,
			    const struct pp_place *place)
{
	if (!place->file)
		return;
	op_xml_attr(x->out, "file", place->file);
	op_xml_number(x->out, "line", place->line);
}

/* Write what is known of @entry, unless it is written or has no number. */
static void xml_write_symboldata(struct pp_xml *x,
				 const struct pp_symbol_entry *entry)
{
	struct pp_xml_symbol *head = &x->symbols[x->symbols[entry->nr].head];

	if (head->is_written || head->id == SIZE_MAX)
		return;
	head->is_written = true;
	fprintf(x->out, "<symboldata  id=\"%zu\" ", head->id);
	op_xml_attr(x->out, "name", entry->name);
	if (entry->place.file)
		fputc(' ', x->out);
	xml_write_place(x, &entry->place);
	fputc(' ', x->out);
	xml_write_vma(x, "startingaddr", entry->vma);
	if (!x->options->xml_classic)
		op_xml_attr(x->out, "source", entry->source);
	fputs("/>\n", x->out);
}

static void xml_write_detail(const struct pp_xml *x, size_t i,
			     const struct pp_detail *detail)
{
	const struct pp_xml_scope all = { NULL, false };

	fprintf(x->out, "<detaildata  id=\"%zu\" ", i);
	xml_write_place(x, &detail->place);
	xml_write_vma(x, "vmaoffset", detail->vma);
	fputs(">\n", x->out);
	pp_xml_sum_begin(x);
	pp_xml_sum_add(x, detail->counts, &all);
	pp_xml_sum_write(x, true);
	fputs("</detaildata>\n", x->out);
}

/* The addresses of all symbols that share number @id. */
static void xml_write_symboldetails(const struct pp_xml *x, size_t id)
{
	size_t i = x->by_id[id], last;

	fprintf(x->out, "<symboldetails  id=\"%zu\">\n", id);
	do {
		const struct pp_symbol_entry *entry =
			&x->report->symbols.known[i];
		const struct pp_xml_symbol *symbol = &x->symbols[i];

		for (size_t j = 0; j < symbol->nr_details; j++)
			xml_write_detail(x, symbol->first_detail + j,
					 &entry->details[j]);
		last = i;
		i = symbol->next;
	} while (i != last);
	fputs("</symboldetails>\n", x->out);
}

static void xml_write_detailtable(const struct pp_xml *x)
{
	const char *digits = x->options->xml_classic ? "0123456789ABCDEF"
						     : "0123456789abcdef";

	fputs("<detailtable>\n", x->out);
	for (size_t id = 0; id < x->nr_ids; id++)
		xml_write_symboldetails(x, id);
	fputs("</detailtable>\n<bytestable>\n", x->out);
	for (size_t id = 0; id < x->nr_ids; id++) {
		const struct pp_symbol_entry *entry =
			&x->report->symbols.known[x->by_id[id]];

		fprintf(x->out, "<bytes  id=\"%zu\">\n", id);
		for (uint64_t at = 0; entry->code && at < entry->size; at++)
			fprintf(x->out, "%c%c", digits[entry->code[at] >> 4],
				digits[entry->code[at] & 15]);
		fputs("</bytes>\n", x->out);
	}
	fputs("</bytestable>\n", x->out);
}

/* Symbols are in the order of the report, each with its neighbours. */
void pp_xml_tables(struct pp_xml *x)
{
	fputs("<symboltable>\n", x->out);
	for (size_t i = 0; i < x->report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry =
			&x->report->symbols.list[i];
		const struct pp_neighbours *n = entry->neighbours;

		xml_write_symboldata(x, entry);
		for (size_t j = 0; n && j < n->nr_callers; j++)
			xml_write_symboldata(x, n->callers[j].other);
		for (size_t j = 0; n && j < n->nr_callees; j++)
			xml_write_symboldata(x, n->callees[j].other);
	}
	fputs("</symboltable>\n", x->out);
	if (x->report->symbols.has_details)
		xml_write_detailtable(x);
}

static void xml_write_arc(struct pp_xml *x, const struct pp_arc *arc,
			  const struct pp_xml_scope *scope, bool in_module)
{
	if (!arc->self && !pp_xml_has_counts(x, arc->counts, scope))
		return;
	if (in_module) {
		fputs("<module ", x->out);
		op_xml_attr(x->out, "name", arc->other->image->name);
		fputs(">\n", x->out);
	}
	pp_xml_symbol_begin(x, arc->other);
	if (arc->self)
		op_xml_attr(x->out, "self", "true");
	fputs(">\n", x->out);
	pp_xml_sum_begin(x);
	pp_xml_sum_add(x, arc->counts, scope);
	pp_xml_sum_write(x, false);
	fputs("</symbol>\n", x->out);
	if (in_module)
		fputs("</module>\n", x->out);
}

void pp_xml_neighbours(struct pp_xml *x, const struct pp_symbol_entry *entry,
		       const struct pp_xml_scope *scope, bool in_module)
{
	const struct pp_neighbours *n = entry->neighbours;

	fputs("<callers>\n", x->out);
	for (size_t i = 0; i < n->nr_callers; i++)
		xml_write_arc(x, &n->callers[i], scope, in_module);
	fputs("</callers>\n<callees>\n", x->out);
	for (size_t i = 0; i < n->nr_callees; i++)
		xml_write_arc(x, &n->callees[i], scope, in_module);
	fputs("</callees>\n", x->out);
}
