/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_TEXT_H
#define LIBPP_FORMAT_TEXT_H

/* The classic text layout of a finished report. */

#include <stdbool.h>
#include <stdio.h>

#include "libpp/report.h"

struct pp_text_options {
	bool no_header; /* rows alone */
	bool long_names; /* paths instead of their last component */
	bool show_address; /* the vma column */
	bool accumulated; /* cumulative columns */
	bool global_percent; /* of all samples, not of the enclosing row */
};

/* Write the symbol table if @report has one, else the image summary. Errors
 * of @out are left in its error flag. */
void pp_format_text(FILE *out, const struct pp_report *report,
		    const struct pp_text_options *options);

#endif /* LIBPP_FORMAT_TEXT_H */
