// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Annotated sources and listings of instructions share these parts: the counts
 * in the margin before a line, comments with the counts of symbols, and the
 * header. A margin has a fixed width, whatever the counts, so that sources stay
 * aligned; its colour shows a line's share of all samples in the column where
 * that is largest.
 */

#include "pp/opannotate/opannotate_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_terminal_safe.h"
#include "libop/base/op_plural.h"
#include "libpp/select/sample_list.h"
#include "libpp/format/text/text.h"
#include "libpp/format/text/text_fit.h"

#define COUNT_WIDTH 6
#define PERCENT_WIDTH 7
#define HOT_PERCENT 1.0 /* of a function, of a line that is shown */

/* ---- counts -------------------------------------------------------------- */

static void write_margin_count(const struct opannotate_text *t, uint64_t count,
			       size_t class_nr)
{
	uint64_t total = t->report->symbols.totals[class_nr];
	char percent[PP_PERCENT_LEN];

	fprintf(t->out, "%*" PRIu64 " %s", COUNT_WIDTH, count,
		pp_text_percent(percent, pp_percent(count, total)));
}

void opannotate_counts(const struct opannotate_text *t, const uint64_t *counts)
{
	for (size_t i = 0; i < t->report->classes.nr; i++)
		write_margin_count(t, counts[i], i);
}

bool opannotate_has_counts(const struct opannotate_text *t,
			   const uint64_t *counts)
{
	return counts && pp_has_counts(counts, t->report->classes.nr);
}

/* The warmest column decides. */
static const char *color_of_counts(const struct opannotate_text *t,
				   const uint64_t *counts)
{
	double most = 0;

	for (size_t i = 0; i < t->report->classes.nr; i++)
		if (pp_percent(counts[i], t->report->symbols.totals[i]) > most)
			most = pp_percent(counts[i],
					  t->report->symbols.totals[i]);
	return most >= 5 ? "\033[1;31m" : most >= 1 ? "\033[33m" : "\033[32m";
}

static size_t margin_width(const struct opannotate_text *t)
{
	size_t nr = t->report->classes.nr;
	size_t total = t->report->lines.totals ? 1 + PERCENT_WIDTH : 0;

	return nr * (COUNT_WIDTH + 1 + PERCENT_WIDTH + total) + 2 * (nr - 1) +
	       2;
}

/* Blanks where the counts are NULL. */
static void write_margin_column(const struct opannotate_text *t,
				const uint64_t *counts, const uint64_t *totals,
				size_t class_nr)
{
	char percent[PP_PERCENT_LEN];
	uint64_t all = t->report->totals[class_nr];

	if (counts)
		write_margin_count(t, counts[class_nr], class_nr);
	else
		fprintf(t->out, "%*s", COUNT_WIDTH + 1 + PERCENT_WIDTH, "");
	if (t->report->lines.totals)
		fprintf(t->out, " %*s", PERCENT_WIDTH,
			totals ? pp_text_percent(percent,
						 pp_percent(totals[class_nr],
							    all))
			       : "");
}

void opannotate_margin(const struct opannotate_text *t, const uint64_t *counts,
		       const uint64_t *totals)
{
	int nr = (int)t->report->classes.nr;
	bool color;

	counts = opannotate_has_counts(t, counts) ? counts : NULL;
	totals = opannotate_has_counts(t, totals) ? totals : NULL;
	color = counts && t->options->color;
	if (color)
		fputs(color_of_counts(t, counts), t->out);
	for (int i = 0; i < nr; i++)
		write_margin_column(t, counts, totals, (size_t)i);
	if (color)
		fputs("\033[m", t->out);
	fprintf(t->out, "%*s :", 2 * (nr - 1), "");
}

static bool is_above(const struct opannotate_text *t, const uint64_t *counts,
		     const uint64_t *totals, double threshold)
{
	for (size_t i = 0; i < t->report->classes.nr; i++)
		if (pp_percent(counts[i], totals[i]) >= threshold && counts[i])
			return true;
	return false;
}

bool opannotate_passes(const struct opannotate_text *t, const uint64_t *counts)
{
	return is_above(t, counts, t->report->symbols.totals,
			t->options->threshold);
}

bool opannotate_is_passed(const struct opannotate_text *t,
			  const struct pp_symbol_entry *symbol)
{
	double times = t->options->request.names.include ? 1 : 10;

	return symbol->all_counts &&
	       is_above(t, symbol->all_counts, t->report->totals,
			times * t->options->threshold);
}

/* ---- functions ----------------------------------------------------------- */

bool opannotate_is_hot(const struct opannotate_text *t, const uint64_t *counts,
		       const uint64_t *whole)
{
	for (size_t i = 0; i < t->report->classes.nr; i++)
		if (counts && whole && counts[i] &&
		    pp_percent(counts[i], whole[i]) >= HOT_PERCENT)
			return true;
	return false;
}

int opannotate_title(const struct opannotate_text *t, const char *name,
		     const char *more, const uint64_t *counts,
		     const uint64_t *totals)
{
	bool color = t->options->color;
	size_t width = t->options->width, len = strlen(name);
	size_t used = strlen(more) + margin_width(t);
	char *shown = strdup(name);

	if (!shown)
		return -ENOMEM;
	op_terminal_safe(shown);
	if (width)
		len = pp_fit_line(shown, len, width > used ? width - used : 0);
	fputc('\n', t->out);
	opannotate_margin(t, counts, totals);
	fprintf(t->out, "%s%.*s%s%s\n", color ? "\033[1m" : "", (int)len, shown,
		color ? "\033[m" : "", more);
	free(shown);
	return 0;
}

static void write_sample_counts(const struct opannotate_text *t,
				const uint64_t *counts)
{
	for (size_t i = 0; i < t->report->classes.nr; i++)
		fprintf(t->out, "%s%" PRIu64, i ? " + " : "", counts[i]);
	fprintf(t->out, " sample%s",
		op_plural(t->report->classes.nr == 1 ? counts[0] : 2));
}

void opannotate_gap(const struct opannotate_text *t, const uint64_t *hidden)
{
	opannotate_margin(t, NULL, NULL);
	fputs("   ...", t->out);
	if (opannotate_has_counts(t, hidden)) {
		fputs("  (", t->out);
		write_sample_counts(t, hidden);
		fputc(')', t->out);
	}
	fputc('\n', t->out);
}

void opannotate_rest(const struct opannotate_text *t, size_t nr,
		     const uint64_t *hidden)
{
	if (!nr)
		return;
	fprintf(t->out, "\n%zu function%s below %g %%: ", nr, op_plural(nr),
		t->options->threshold);
	write_sample_counts(t, hidden);
	fputs(" (--threshold shows more, --all everything)\n", t->out);
}

/* ---- comments ------------------------------------------------------------ */

void opannotate_symbols(const struct opannotate_text *t,
			const struct pp_symbol_entry *const *symbols, size_t nr)
{
	fputs(" /* ", t->out);
	for (size_t i = 0; i < nr; i++) {
		fprintf(t->out, "%s ", symbols[i]->name);
		if (nr == 1)
			break;
		opannotate_counts(t, symbols[i]->counts);
		fputs(", ", t->out);
	}
	fputs("total: ", t->out);
	for (size_t i = 0; i < t->report->classes.nr; i++) {
		uint64_t count = 0;

		for (size_t j = 0; j < nr; j++)
			count = pp_add_counts(count, symbols[j]->counts[i]);
		write_margin_count(t, count, i);
	}
	fputs(" */", t->out);
}

static void write_interpretation(const struct opannotate_text *t)
{
	const struct opannotate_options *o = t->options;

	fputs(" * Interpretation of command line:\n", t->out);
	if (o->args.assembly) {
		fputs(" * Output annotated assembly listing with samples\n",
		      t->out);
		if (o->params && *o->params)
			fprintf(t->out,
				" * Passing the following additional arguments to objdump ; \"%s\"\n",
				o->params);
		return;
	}
	fputs(" * Output annotated source file with samples\n", t->out);
	if (o->threshold > 0)
		fprintf(t->out,
			" * Output files where samples count reach %g%% of the samples\n",
			o->threshold);
	else
		fputs(" * Output all files\n", t->out);
}

/* Write the description of the counted events, as opreport prints it. */
static void write_counted_to(FILE *out, const struct pp_report *report)
{
	const struct pp_format_options options = { 0 };

	pp_text_describe(out, report, &options);
}

/* The same, each line behind a " * ". */
static int write_counted(const struct opannotate_text *t)
{
	char *buf = NULL;
	size_t len;
	FILE *out = open_memstream(&buf, &len);

	if (!out)
		return -ENOMEM;
	write_counted_to(out, t->report);
	if (fclose(out)) {
		free(buf);
		return -ENOMEM;
	}
	for (char *line = buf, *next; *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		fprintf(t->out, " * %.*s", (int)(next - line), line);
	}
	free(buf);
	return 0;
}

int opannotate_header(const struct opannotate_text *t)
{
	int err;

	if (t->options->args.no_header)
		return 0;
	if (!t->options->all) {
		write_counted_to(t->out, t->report);
		for (size_t i = 0;
		     t->report->lines.totals && i < t->report->classes.nr; i++)
			fprintf(t->out, "%*s %-*s %-*s", COUNT_WIDTH, "self",
				PERCENT_WIDTH, "%", PERCENT_WIDTH, "total %");
		if (t->report->lines.totals)
			fputc('\n', t->out);
		return 0;
	}
	fprintf(t->out, "/* \n * Command line: %s\n * \n", t->options->command);
	write_interpretation(t);
	fputs(" * \n", t->out);
	err = write_counted(t);
	fputs(" */\n", t->out);
	return err;
}
