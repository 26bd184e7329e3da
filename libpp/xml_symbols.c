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

#include "libpp/xml.h"

#define NO_ID SIZE_MAX

/* ---- which share a number ------------------------------------------------ */

/* A symbol on its way to those of its name. */
struct named {
	const struct pp_symbol_entry *entry;
	size_t at; /* in the report */
};

static int compare_names(const struct named *a, const struct named *b)
{
	int order = strcmp(a->entry->image->name, b->entry->image->name);

	return order ? order : strcmp(a->entry->raw_name, b->entry->raw_name);
}

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = compare_names(x, y);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Chain @nr symbols of one name, in the order of the report. */
static void chain(struct pp_xml *x, const struct named *names, size_t nr)
{
	size_t nr_details = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t at = names[i].at;

		x->head[at] = names[0].at;
		x->id[at] = NO_ID;
		x->next[at] = names[i + 1 < nr ? i + 1 : i].at;
		x->first_detail[at] = nr_details;
		nr_details += names[i].entry->nr_details;
	}
}

int pp_xml_find_heads(struct pp_xml *x)
{
	size_t nr = x->report->nr_symbols;
	struct named *names = calloc(nr + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		names[i] = (struct named){ &x->report->symbols[i], i };
	qsort(names, nr, sizeof(*names), by_name);
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i;
		     end < nr && !compare_names(&names[end], &names[i]);)
			end++;
		chain(x, names + i, end - i);
	}
	free(names);
	return 0;
}

/* ---- samples ------------------------------------------------------------- */

static const struct pp_symbol_entry *entry_at(const struct pp_xml *x, size_t i)
{
	return &x->report->symbols[i];
}

static size_t id_of(struct pp_xml *x, size_t i)
{
	size_t *id = &x->id[x->head[i]];

	if (*id == NO_ID) {
		*id = x->nr_ids;
		x->by_id[x->nr_ids++] = x->head[i];
	}
	return *id;
}

void pp_xml_symbol(struct pp_xml *x, size_t i, const struct pp_xml_scope *scope)
{
	const struct pp_symbol_entry *entry = entry_at(x, i);

	if (!pp_xml_has_counts(x, entry->counts, scope))
		return;
	fputs("<symbol ", x->out);
	pp_xml_number(x, "idref", id_of(x, i));
	if (entry->nr_details) {
		pp_xml_number(x, "detaillo", x->first_detail[i]);
		pp_xml_number(x, "detailhi",
			      x->first_detail[i] + entry->nr_details - 1);
	}
	fputs(">\n", x->out);
	pp_xml_sum_begin(x);
	pp_xml_sum_add(x, entry->counts, scope);
	pp_xml_sum_write(x, false);
	fputs("</symbol>\n", x->out);
}

static void write_vma(const struct pp_xml *x, const char *name, uint64_t vma)
{
	fprintf(x->out, " %s=\"%0*" PRIx64 "\"", name, x->vma_digits, vma);
}

/* ---- tables -------------------------------------------------------------- */

static void write_place(const struct pp_xml *x, const struct pp_place *place)
{
	if (!place->file)
		return;
	pp_xml_attr(x, "file", place->file);
	pp_xml_number(x, "line", place->line);
}

static void write_symboltable(const struct pp_xml *x)
{
	fputs("<symboltable>\n", x->out);
	for (size_t id = 0; id < x->nr_ids; id++) {
		const struct pp_symbol_entry *entry = entry_at(x, x->by_id[id]);

		fprintf(x->out, "<symboldata  id=\"%zu\" ", id);
		pp_xml_attr(x, "name", entry->name);
		if (entry->place.file)
			fputc(' ', x->out);
		write_place(x, &entry->place);
		fputc(' ', x->out);
		write_vma(x, "startingaddr", entry->vma);
		fputs("/>\n", x->out);
	}
	fputs("</symboltable>\n", x->out);
}

static void write_detail(const struct pp_xml *x, size_t i,
			 const struct pp_detail *detail)
{
	const struct pp_xml_scope all = { NULL, false };

	fprintf(x->out, "<detaildata  id=\"%zu\" ", i);
	write_place(x, &detail->place);
	write_vma(x, "vmaoffset", detail->vma);
	fputs(">\n", x->out);
	pp_xml_sum_begin(x);
	pp_xml_sum_add(x, detail->counts, &all);
	pp_xml_sum_write(x, true);
	fputs("</detaildata>\n", x->out);
}

static void write_bytes(const struct pp_xml *x, size_t id)
{
	const struct pp_symbol_entry *entry = entry_at(x, x->by_id[id]);

	fprintf(x->out, "<bytes  id=\"%zu\">\n", id);
	for (uint64_t at = 0; entry->code && at < entry->size; at++)
		fprintf(x->out, "%02x", entry->code[at]);
	fputs("</bytes>\n", x->out);
}

/* The addresses of all symbols that share the number of @i. */
static void write_details(const struct pp_xml *x, size_t i)
{
	for (;; i = x->next[i]) {
		const struct pp_symbol_entry *entry = entry_at(x, i);

		for (size_t j = 0; j < entry->nr_details; j++)
			write_detail(x, x->first_detail[i] + j,
				     &entry->details[j]);
		if (x->next[i] == i)
			break;
	}
}

static void write_detailtable(const struct pp_xml *x)
{
	fputs("<detailtable>\n", x->out);
	for (size_t id = 0; id < x->nr_ids; id++) {
		fprintf(x->out, "<symboldetails  id=\"%zu\">\n", id);
		write_details(x, x->by_id[id]);
		fputs("</symboldetails>\n", x->out);
	}
	fputs("</detailtable>\n<bytestable>\n", x->out);
	for (size_t id = 0; id < x->nr_ids; id++)
		write_bytes(x, id);
	fputs("</bytestable>\n", x->out);
}

void pp_xml_tables(const struct pp_xml *x)
{
	write_symboltable(x);
	if (x->report->has_details)
		write_detailtable(x);
}
