// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The call graph as text: a block for each symbol, with its callers above and
 * its callees below the line of its own samples.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/format/text/text.h"

#define INDENT "  "
#define RULE_WIDTH 79

static void text_write_rule(const struct pp_text *t)
{
	for (int i = 0; i < RULE_WIDTH; i++)
		fputc('-', t->out);
	fputc('\n', t->out);
}

/* Shares are of @totals, running sums (if @running) of these lines alone. */
static void text_write_arcs(struct pp_text *t, const struct pp_arc *arcs,
			    size_t nr, const uint64_t *totals,
			    uint64_t *running)
{
	size_t nr_classes = t->report->classes.nr;

	if (t->options->global_percent)
		totals = t->report->symbols.totals;
	if (running)
		memset(running, 0, nr_classes * sizeof(*running));
	for (size_t i = 0; i < nr; i++) {
		fputs(INDENT, t->out);
		pp_text_row(t,
			    &(struct pp_text_row){
				    .entry = arcs[i].other,
				    .counts = arcs[i].counts,
				    .totals = totals,
				    .running = running,
				    .mark = arcs[i].self	? " [self]"
					    : arcs[i].recursive ? " [recursive]"
								: NULL });
	}
}

/* @running: of the symbols, and behind that of a block's lines; or NULL. */
static void text_write_block(struct pp_text *t,
			     const struct pp_symbol_entry *entry,
			     uint64_t *running)
{
	const struct pp_neighbours *n = entry->neighbours;
	uint64_t *inner = running ? running + t->report->classes.nr : NULL;

	text_write_arcs(t, n->callers, n->nr_callers, n->caller_totals, inner);
	pp_text_row(t,
		    &(struct pp_text_row){ .entry = entry,
					   .counts = entry->counts,
					   .totals = t->report->symbols.totals,
					   .running = running });
	text_write_arcs(t, n->callees, n->nr_callees, n->callee_totals, inner);
	text_write_rule(t);
}

int pp_text_call_graph(struct pp_text *t)
{
	const struct pp_report *report = t->report;
	uint64_t *running = NULL;

	if (t->options->accumulated) {
		running = calloc(2 * report->classes.nr, sizeof(*running));
		if (!running)
			return -ENOMEM;
	}
	pp_text_table_begin(t);
	text_write_rule(t);
	for (size_t i = 0; i < report->symbols.nr; i++)
		text_write_block(t, &report->symbols.list[i], running);
	free(running);
	return 0;
}
