/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_XML_H
#define LIBPP_FORMAT_XML_H

/*
 * Declarations that the files of the XML format share. In XML, classes are of
 * CPUs and events alone ("columns"); threads make elements "process" and
 * "thread".
 */

#include "libop/base/op_xml.h"
#include "libpp/format/format.h"

/* Symbols of one name and one image share what is written about them. */
struct pp_xml_symbol {
	size_t head; /* the first of those that share it */
	size_t next; /* the next that shares it; the symbol itself if none */
	size_t first_detail; /* where its addresses start among those */
	size_t nr_details; /* 0 unless the report shows it */
	size_t id; /* of a head: its number in XML; SIZE_MAX for none yet */
	bool is_written; /* of a head: it is in the table of symbols */
};

struct pp_xml {
	struct op_arena arena;
	FILE *out;
	const struct pp_report *report;
	const struct pp_format_options *options;
	int vma_digits;
	size_t *column; /* of each class: the first class that differs from it
			   in process and thread alone */
	uint64_t *sums; /* one per class, for pp_xml_sum_begin() and so on */
	bool one_column;

	struct pp_xml_symbol *symbols; /* by their numbers in the report */
	size_t *by_id; /* the heads, in the order in which they are written */
	size_t nr_ids;
};

/* The threads that counts are summed over. */
struct pp_xml_scope {
	const struct pp_class *thread; /* NULL: all */
	bool whole_process; /* of that thread */
};

/* ---- classes and counts -------------------------------------------------- */

const struct pp_class *pp_xml_class(const struct pp_xml *x, size_t i);

/* How many columns are before that of class @i. */
size_t pp_xml_column_nr(const struct pp_xml *x, size_t i);

/* Whether the original told CPUs apart here, be it only one. */
bool pp_xml_has_cpus(const struct pp_xml *x);

/* Fill x->column. */
void pp_xml_find_columns(struct pp_xml *x);

/* Whether class @i belongs to the thread, or to its process. */
bool pp_xml_in_thread(const struct pp_xml *x, size_t i,
		      const struct pp_class *thread, bool whole_process);
bool pp_xml_has_counts(const struct pp_xml *x, const uint64_t *counts,
		       const struct pp_xml_scope *scope);

/* Sum counts by column; pp_xml_sum_add() returns whether there were any.
 * @detail: an attribute is written even where it says nothing. */
void pp_xml_sum_begin(const struct pp_xml *x);
bool pp_xml_sum_add(const struct pp_xml *x, const uint64_t *counts,
		    const struct pp_xml_scope *scope);
void pp_xml_sum_write(const struct pp_xml *x, bool detail);

/* ---- elements ------------------------------------------------------------ */

/* Fill x->head and so on. Returns 0 or -ENOMEM. */
int pp_xml_find_heads(struct pp_xml *x);

/* @in_module: it is written in an element "module". */
void pp_xml_symbol(struct pp_xml *x, const struct pp_symbol_entry *entry,
		   const struct pp_xml_scope *scope, bool in_module);
/* Begin the element "symbol": all but '>'. */
void pp_xml_symbol_begin(struct pp_xml *x, const struct pp_symbol_entry *entry);
/* Callers and callees of @entry. */
void pp_xml_neighbours(struct pp_xml *x, const struct pp_symbol_entry *entry,
		       const struct pp_xml_scope *scope, bool in_module);
/* Whether there is anything to write about @entry. */
bool pp_xml_concerns(const struct pp_xml *x,
		     const struct pp_symbol_entry *entry,
		     const struct pp_xml_scope *scope);
void pp_xml_applications(struct pp_xml *x);
/* Write the tables with all that is known of the symbols that were written. */
void pp_xml_tables(struct pp_xml *x);

#endif /* LIBPP_FORMAT_XML_H */
