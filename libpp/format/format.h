/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_FORMAT_H
#define LIBPP_FORMAT_FORMAT_H

/*
 * Output formats. Each is one row of a table and sees a finished report,
 * which it does not change. doc/reports.md describes what they write.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "libpp/report.h"

struct pp_format_options {
	bool no_header; /* rows alone */
	bool long_names; /* paths instead of their last component */
	bool show_address; /* the vma column */
	bool accumulated; /* cumulative columns */
	bool global_percent; /* of all samples, not of the enclosing row */

	/* What was asked for, to be repeated; each may be NULL. */
	const char *command; /* the command line */
	const char *words; /* the specification, joined by commas */
	const char *exclude_symbols, *include_symbols;
	const char *image_path, *merge;
	bool exclude_dependent;
};

struct pp_format {
	const char *name;
	/* Whether it shows classes that differ in several ways. */
	bool any_axes;
	/* Whether it needs symbols, in the order of its own choice. */
	bool by_image;
	/* Whether it shows the call tree instead of tables, takes functions of
	 * one name for one there, has room for one class only. */
	bool tree, tree_by_name, one_class;
	uint32_t tree_max_nodes; /* of that; 0: any number */
	/* Whether it does not say what was lost. */
	bool no_account;
	/* Whether nobody wants to see it on a terminal. */
	bool is_page;
	/* Returns 0 or -ENOMEM; errors of @out are left in its error flag. */
	int (*write)(FILE *out, const struct pp_report *report,
		     const struct pp_format_options *options);
};

/* The format called @name; NULL for others than PP_FORMAT_NAMES. */
const struct pp_format *pp_format_find(const char *name);
#define PP_FORMAT_NAMES "text, xml, json, csv, folded or flamegraph"

int pp_format_text(FILE *out, const struct pp_report *report,
		   const struct pp_format_options *options);
int pp_format_xml(FILE *out, const struct pp_report *report,
		  const struct pp_format_options *options);
int pp_format_json(FILE *out, const struct pp_report *report,
		   const struct pp_format_options *options);
int pp_format_csv(FILE *out, const struct pp_report *report,
		  const struct pp_format_options *options);
int pp_format_folded(FILE *out, const struct pp_report *report,
		     const struct pp_format_options *options);
int pp_format_flamegraph(FILE *out, const struct pp_report *report,
			 const struct pp_format_options *options);

/* The account of a session in words, "108 taken = 100 stored + 8 lost". */
void pp_write_account(FILE *out, const struct op_ledger *account);

/* Whether an account tells of stacks, and what became of them in words, "108
 * stored = 100 whole + 8 truncated". */
bool pp_has_stacks(const struct op_ledger *account);
void pp_write_stacks(FILE *out, const struct op_ledger *account);

/* @part in percent of @whole; 0 if that is 0. */
double pp_percent(uint64_t part, uint64_t whole);

/* Hex digits that all addresses of the report fit in: 8 or 16. */
int pp_vma_digits(const struct pp_report *report);

#endif /* LIBPP_FORMAT_FORMAT_H */
