/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_TEXT_H
#define LIBPP_TEXT_H

/* What the files of the text format share. */

#include "libpp/format.h"

#define PP_PERCENT_LEN 32
#define PP_INTERVAL_LEN 80

/* A report on its way out. */
struct pp_text {
	FILE *out;
	const struct pp_report *report;
	const struct pp_format_options *options;
	bool show_image, show_app;
	int vma_digits;
	size_t pending; /* blanks owed before the next field */
	uint64_t *running; /* cumulative counts, one per class; may be NULL */
};

/* @name or its last component, as asked for. */
const char *pp_text_name(const struct pp_text *t, const char *name);

/* Seven characters for every ordinary value. @buf has PP_PERCENT_LEN bytes. */
const char *pp_text_percent(char *buf, double percent);

/* "LOW-HIGH" in percent. @buf has PP_INTERVAL_LEN bytes. */
const char *pp_text_interval(char *buf, uint64_t part, uint64_t whole);

void pp_text_header(const struct pp_text *t);
void pp_text_summary(const struct pp_text *t);
/* Returns 0 or -ENOMEM. */
int pp_text_symbols(struct pp_text *t);

#endif /* LIBPP_TEXT_H */
