// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A page of hundreds of thousands of symbols does not load in a browser. The
 * page is measured by writing it to nowhere; while it is too large, its table
 * and its call tree are both cut to the part that should fit, the symbols and
 * the frames with most samples.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "libop/base/op_plural.h"
#include "libpp/format/format.h"
#include "libpp/tree/tree.h"
#include "pp/opreport/opreport_page.h"

#define PAGE_MAX_LEN 20000000 /* bytes */
#define NOTE_LEN 1000 /* bytes: what the page says about symbols left out */

static ssize_t count_bytes(void *len, const char *text, size_t nr)
{
	(void)text;
	*(size_t *)len += nr;
	return (ssize_t)nr;
}

/* Set *@len to the bytes that the page of @report would have. */
static int measure_page(const struct opreport_options *o,
			const struct pp_report *report, size_t *len)
{
	static const cookie_io_functions_t functions = { .write = count_bytes };
	FILE *out = fopencookie(len, "w", functions);
	int err;

	*len = NOTE_LEN;
	if (!out)
		return -ENOMEM;
	err = o->format->write(out, report, &o->format_options);
	fclose(out);
	return err;
}

/* The bytes of a page without its table and its call tree. */
static int measure_rest(const struct opreport_options *o,
			const struct pp_report *report, size_t *len)
{
	struct opreport_options without = *o;
	struct pp_report empty = *report;

	empty.symbols.nr = 0;
	without.format_options.stacks = NULL;
	return measure_page(&without, &empty, len);
}

static double largest_part(const uint64_t *counts, const uint64_t *totals,
			   size_t nr)
{
	double most = 0;

	for (size_t c = 0; counts && totals && c < nr; c++)
		most = fmax(most, pp_percent(counts[c], totals[c]));
	return most;
}

/* The largest share that the symbol has of samples, itself or with what it
 * called, in percent. */
static double share_of_symbol(const struct pp_report *report,
			      const struct pp_symbol_entry *entry)
{
	size_t nr = report->classes.nr;
	double share =
		fmax(largest_part(entry->counts, report->symbols.totals, nr),
		     largest_part(entry->all_counts, report->totals, nr));

	return report->old.made
		       ? fmax(share,
			      largest_part(entry->old_counts,
					   report->old.symbol_totals, nr))
		       : share;
}

static int compare_falling_shares(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a < *b) - (*a > *b);
}

/* Keep the @max symbols with the largest shares, in their order. *@bound is the
 * largest share of those that are left out, if there are any. */
static int cut_symbols(struct pp_report *report, size_t max, double *bound)
{
	struct pp_symbol_table *table = &report->symbols;
	struct pp_symbol_entry *list;
	size_t nr_alike, kept = 0;
	double *shares;

	if (max >= table->nr)
		return 0;
	list = op_arena_alloc(&report->arena, max + 1, sizeof(*list));
	shares = malloc(table->nr * sizeof(*shares));
	if (!list || !shares) {
		free(shares);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->nr; i++)
		shares[i] = share_of_symbol(report, &table->list[i]);
	qsort(shares, table->nr, sizeof(*shares), compare_falling_shares);
	*bound = shares[max];
	/* Of symbols with just that share there is room for some. */
	for (nr_alike = 0; nr_alike < max; nr_alike++)
		if (shares[max - nr_alike - 1] > *bound)
			break;
	free(shares);
	for (size_t i = 0; i < table->nr && kept < max; i++) {
		double share = share_of_symbol(report, &table->list[i]);

		if (share > *bound || (share >= *bound && nr_alike)) {
			nr_alike -= share <= *bound;
			list[kept++] = table->list[i];
		}
	}
	table->list = list;
	table->nr = kept;
	return 0;
}

/* Say in the page and on standard error what was left out. */
static void say_what_is_left_out(struct pp_report *report, size_t nr,
				 double bound, uint32_t nr_frames)
{
	size_t at = report->messages.nr;
	char frames[64] = "";

	if (nr_frames)
		snprintf(frames, sizeof(frames),
			 " and %" PRIu32 " frame%s of the flame graph",
			 nr_frames, op_plural(nr_frames));
	pp_message(
		&report->messages, PP_WARNING,
		"%zu symbol%s with at most %.2g %% of the samples each%s are left out, so that the page stays below %d MB; --threshold=0 writes all",
		nr, op_plural(nr), bound, frames, PAGE_MAX_LEN / 1000000);
	if (report->messages.nr > at)
		fprintf(stderr, "opreport: warning: %s\n",
			report->messages.list[at].text);
}

int opreport_page_fit(struct opreport_page *page, struct opreport_options *o,
		      struct pp_report *report, struct op_diag *diag)
{
	size_t nr = report->symbols.nr, rest = 0, len = 0;
	double bound = 0;
	int err = o->args.threshold ? 0 : measure_page(o, report, &len);

	if (!err && len > PAGE_MAX_LEN)
		err = measure_rest(o, report, &rest);
	while (!err && len > PAGE_MAX_LEN && rest < PAGE_MAX_LEN &&
	       report->symbols.nr) {
		double part = 0.95 * (double)(PAGE_MAX_LEN - rest) /
			      (double)(len - rest);

		err = cut_symbols(report,
				  (size_t)(part * (double)report->symbols.nr),
				  &bound);
		if (!err && page->stacks)
			err = opreport_page_cut_stacks(page, o, part, diag);
		err = err ?: measure_page(o, report, &len);
	}
	if (!err && report->symbols.nr < nr)
		say_what_is_left_out(report, nr - report->symbols.nr, bound,
				     page->stacks ? page->stacks->tree->nr_cut
						  : 0);
	return err;
}
