// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols in XML. What is known of a symbol is written once, under a number,
 * and its samples, in whatever application, refer to it. Two functions of one
 * name in one file (static ones) have one number, as ever.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/format/xml.h"

#define NO_ID SIZE_MAX

/* ---- which share a number ------------------------------------------------ */

/* A symbol on its way to those of its name. */
struct named {
	const struct pp_symbol_entry *entry;
	size_t rank; /* in the report; behind all for others */
};

static int compare_raw_names(const struct named *a, const struct named *b)
{
	int order = strcmp(a->entry->image->name, b->entry->image->name);

	return order ? order : strcmp(a->entry->raw_name, b->entry->raw_name);
}

static int compare_named_symbols(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = compare_raw_names(x, y);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Chain @nr symbols of one name, in the order of the report. */
static void chain_symbols(struct pp_xml *x, const struct named *names,
			  size_t nr)
{
	size_t nr_details = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t at = names[i].entry->nr;

		x->head[at] = names[0].entry->nr;
		x->id[at] = NO_ID;
		x->next[at] = names[i + 1 < nr ? i + 1 : i].entry->nr;
		x->first_detail[at] = nr_details;
		nr_details += names[i].entry->nr_details;
	}
}

int pp_xml_find_heads(struct pp_xml *x)
{
	const struct pp_report *report = x->report;
	size_t nr = report->nr_known;
	struct named *names = calloc(nr + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		names[i] = (struct named){ &report->known[i], nr + i };
	for (size_t i = 0; i < report->nr_symbols; i++)
		names[report->symbols[i].nr].rank = i;
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

static size_t xml_symbol_id(struct pp_xml *x,
			    const struct pp_symbol_entry *entry)
{
	size_t *id = &x->id[x->head[entry->nr]];

	if (*id == NO_ID) {
		*id = x->nr_ids;
		x->by_id[x->nr_ids++] = x->head[entry->nr];
	}
	return *id;
}

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
	fputs("<symbol ", x->out);
	pp_xml_number(x, "idref", xml_symbol_id(x, entry));
}

void pp_xml_symbol(struct pp_xml *x, const struct pp_symbol_entry *entry,
		   const struct pp_xml_scope *scope, bool in_module)
{
	if (!pp_xml_concerns(x, entry, scope))
		return;
	pp_xml_symbol_begin(x, entry);
	if (entry->nr_details) {
		size_t first = x->first_detail[entry->nr];

		pp_xml_number(x, "detaillo", first);
		pp_xml_number(x, "detailhi", first + entry->nr_details - 1);
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
	fprintf(x->out, " %s=\"%0*" PRIx64 "\"", name, x->vma_digits, vma);
}

/* ---- tables -------------------------------------------------------------- */

static void xml_write_place(const struct pp_xml *x,
			    const struct pp_place *place)
{
	if (!place->file)
		return;
	pp_xml_attr(x, "file", place->file);
	pp_xml_number(x, "line", place->line);
}

/* Write what is known of @entry, unless it is written or has no number. */
static void xml_write_symboldata(struct pp_xml *x,
				 const struct pp_symbol_entry *entry)
{
	size_t head = x->head[entry->nr];

	if (x->told[head] || x->id[head] == NO_ID)
		return;
	x->told[head] = true;
	fprintf(x->out, "<symboldata  id=\"%zu\" ", x->id[head]);
	pp_xml_attr(x, "name", entry->name);
	if (entry->place.file)
		fputc(' ', x->out);
	xml_write_place(x, &entry->place);
	fputc(' ', x->out);
	xml_write_vma(x, "startingaddr", entry->vma);
	fputs("/>\n", x->out);
}

/* In the order of the report, each symbol with its neighbours. */
static void xml_write_symboltable(struct pp_xml *x)
{
	fputs("<symboltable>\n", x->out);
	for (size_t i = 0; i < x->report->nr_symbols; i++) {
		const struct pp_symbol_entry *entry = &x->report->symbols[i];
		const struct pp_neighbours *n = entry->neighbours;

		xml_write_symboldata(x, entry);
		for (size_t j = 0; n && j < n->nr_callers; j++)
			xml_write_symboldata(x, n->callers[j].other);
		for (size_t j = 0; n && j < n->nr_callees; j++)
			xml_write_symboldata(x, n->callees[j].other);
	}
	fputs("</symboltable>\n", x->out);
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

static void xml_write_bytes(const struct pp_xml *x, size_t id)
{
	const struct pp_symbol_entry *entry = &x->report->known[x->by_id[id]];

	fprintf(x->out, "<bytes  id=\"%zu\">\n", id);
	for (uint64_t at = 0; entry->code && at < entry->size; at++)
		fprintf(x->out, "%02x", entry->code[at]);
	fputs("</bytes>\n", x->out);
}

/* The addresses of all symbols that share the number of @i. */
static void xml_write_details(const struct pp_xml *x, size_t i)
{
	for (;; i = x->next[i]) {
		const struct pp_symbol_entry *entry = &x->report->known[i];

		for (size_t j = 0; j < entry->nr_details; j++)
			xml_write_detail(x, x->first_detail[i] + j,
					 &entry->details[j]);
		if (x->next[i] == i)
			break;
	}
}

static void xml_write_detailtable(const struct pp_xml *x)
{
	fputs("<detailtable>\n", x->out);
	for (size_t id = 0; id < x->nr_ids; id++) {
		fprintf(x->out, "<symboldetails  id=\"%zu\">\n", id);
		xml_write_details(x, x->by_id[id]);
		fputs("</symboldetails>\n", x->out);
	}
	fputs("</detailtable>\n<bytestable>\n", x->out);
	for (size_t id = 0; id < x->nr_ids; id++)
		xml_write_bytes(x, id);
	fputs("</bytestable>\n", x->out);
}

void pp_xml_tables(struct pp_xml *x)
{
	xml_write_symboltable(x);
	if (x->report->has_details)
		xml_write_detailtable(x);
}
