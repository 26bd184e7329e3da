/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPREPORT_OPREPORT_PAGE_H
#define PP_OPREPORT_OPREPORT_PAGE_H

/* Data that a format which shows all of a profile needs beside the table of
 * symbols: the stacks, and the code of the hottest functions. */

#include "libpp/images/code.h"
#include "pp/opreport/opreport_options.h"

struct opreport_page {
	struct pp_report *stacks; /* NULL if there are none */
	struct pp_report *details; /* that the code is of */
	struct pp_code code;
};

/*
 * Let @o add up CPUs, then threads, then processes, as far as there are more
 * columns than a page has room for; that is told on standard error. To be
 * called before any report is made.
 */
#define OPREPORT_PAGE_MAX_CLASSES 250
void opreport_page_limit(struct opreport_options *o);

/*
 * Make the rest of the page that @o asks for and let o->format_options know.
 * Returns 0; -ENOMEM; -errno with the reason in @diag. To be released either
 * way.
 */
int opreport_page_init(struct opreport_page *page, struct opreport_options *o,
		       struct op_diag *diag);

/*
 * Leave out symbols of @report and frames of stacks, those with the fewest
 * samples, until the page is smaller than 20 MB, unless the command line has a
 * threshold; and say so in the page and on standard error. Returns as
 * opreport_page_init().
 */
int opreport_page_fit(struct opreport_page *page, struct opreport_options *o,
		      struct pp_report *report, struct op_diag *diag);

/* Make the stacks again, with @part of their frames at most, from 0 to 1.
 * Returns as opreport_page_init(). */
int opreport_page_cut_stacks(struct opreport_page *page,
			     struct opreport_options *o, double part,
			     struct op_diag *diag);

void opreport_page_release(struct opreport_page *page);

#endif /* PP_OPREPORT_OPREPORT_PAGE_H */
