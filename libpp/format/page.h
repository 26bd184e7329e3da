/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_PAGE_H
#define LIBPP_FORMAT_PAGE_H

/*
 * Pages for a browser: one file of HTML that needs nothing else. Its text is in
 * the program, with the word @DATA@ where the data belongs, which is JSON in a
 * script element; and what pages and JSON have in common.
 */

#include <stdio.h>

#include "libop/base/op_json.h"
#include "libpp/format/format.h"

/*
 * Write @page with what @write makes as its data. Whatever strings are in it,
 * they do not end the element. Returns 0 or -ENOMEM; errors of @out are left in
 * its flag.
 */
int pp_page_write(FILE *out, const char *page,
		  void (*write)(struct op_json *json, void *arg), void *arg);

/* Members of an object: the CPU, the classes and the accounts of @report. */
void pp_json_profile(struct op_json *json, const struct pp_report *report);

/*
 * Members of an object: title, words and notes about @report, and its call
 * tree, as the script of a flame graph reads it. Returns 0 or -ENOMEM.
 */
int pp_json_tree(struct op_json *json, const struct pp_report *report,
		 const struct pp_format_options *options);

/*
 * The whole names of what a page shows by short ones, as member @key of an
 * object: an array that has for each symbol and frame of the @nr @reports (NULL
 * is none) whose name is short that and then the whole one, each pair once. No
 * member if there are none. Returns 0 or -ENOMEM.
 */
int pp_json_whole_names(struct op_json *json, const char *key,
			const struct pp_report *const *reports, size_t nr);

/* How the profile was taken, and by which command the page was made. */
void pp_describe_profile(FILE *out, const struct pp_report *report,
			 const struct pp_format_options *options);

/* "prog, bash and 4 more": the applications, which are sorted by samples. */
void pp_describe_apps(FILE *out, const struct pp_report *report);

/* The text that @write makes as member @key; none if it is empty. */
void pp_json_description(struct op_json *json, const char *key,
			 void (*write)(FILE *out, void *arg), void *arg);

#endif /* LIBPP_FORMAT_PAGE_H */
