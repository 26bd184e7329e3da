// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts never fall in a session, but for totals, which are estimates where a
 * recursive function was inlined (libpp/report/populate_totals.c); so a
 * difference below 0 is 0. Rows of equal counts keep the order that the report
 * has them in, which does not depend on the order of files.
 */

#include "pp/optop/optop_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"

/* ---- differences --------------------------------------------------------- */

/* Counts to subtract from a reading, and the number of the event in both. */
struct subtraction {
	const struct optop_counts *now, *base;
	size_t event, base_event;
};

static uint64_t samples_above_base(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void find_events(struct subtraction *s,
			const struct optop_choice *choice)
{
	const char *event = choice->event;

	if (!event && s->now->nr_events)
		event = s->now->events[0];
	s->event = optop_counts_event(s->now, event);
	s->base_event =
		s->base ? optop_counts_event(s->base, event) : OPTOP_NONE;
}

/* The counts of row @nr of the reading. */
static void subtract_row(const struct subtraction *s, size_t nr,
			 struct optop_line *line)
{
	const struct optop_counts *now = s->now, *base = s->base;
	size_t at = nr * now->nr_events + s->event, before;

	*line = (struct optop_line){ .row = nr };
	if (s->event == OPTOP_NONE || !now->keys[nr])
		return;
	line->self = now->self[at];
	line->all = now->all ? now->all[at] : 0;
	if (s->base_event == OPTOP_NONE)
		return;
	before = optop_counts_row(base, now->keys[nr]);
	if (before == OPTOP_NONE)
		return;
	before = before * base->nr_events + s->base_event;
	line->self = samples_above_base(line->self, base->self[before]);
	if (base->all)
		line->all = samples_above_base(line->all, base->all[before]);
}

static void subtract_sums(const struct subtraction *s,
			  struct optop_shown *shown)
{
	if (s->event == OPTOP_NONE)
		return;
	shown->self_sum = s->now->self_sums[s->event];
	shown->all_sum = s->now->all_sums[s->event];
	if (s->base_event == OPTOP_NONE)
		return;
	shown->self_sum = samples_above_base(shown->self_sum,
					     s->base->self_sums[s->base_event]);
	shown->all_sum = samples_above_base(shown->all_sum,
					    s->base->all_sums[s->base_event]);
}

bool optop_is_reset(const struct optop_counts *now,
		    const struct optop_counts *before)
{
	for (size_t i = 0; i < before->nr_events; i++) {
		size_t event = optop_counts_event(now, before->events[i]);

		if (before->self_sums[i] &&
		    (event == OPTOP_NONE ||
		     now->self_sums[event] < before->self_sums[i]))
			return true;
	}
	return false;
}

/* ---- the filter ---------------------------------------------------------- */

static char small_letter(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool has_capitals(const char *text)
{
	for (; *text; text++)
		if (*text != small_letter(*text))
			return true;
	return false;
}

/* Letters beyond ASCII are what they are: names have few of them. */
static bool has_small(const char *text, const char *part)
{
	for (; *text; text++) {
		size_t i = 0;

		while (part[i] && small_letter(text[i]) == part[i])
			i++;
		if (!part[i])
			return true;
	}
	return !*part;
}

bool optop_text_has(const char *text, const char *part)
{
	return has_capitals(part) ? strstr(text, part) != NULL
				  : has_small(text, part);
}

static bool passes_filter(const struct optop_row *row, const char *filter)
{
	return !*filter || optop_text_has(row->name, filter) ||
	       (row->beside && optop_text_has(row->beside, filter));
}

/* ---- the order ----------------------------------------------------------- */

static int compare_optop_lines(const void *a, const void *b, void *arg)
{
	const struct optop_line *x = a, *y = b;
	const bool *by_total = arg;
	int order = *by_total ? op_compare(y->all, x->all) : 0;

	return order ?: op_compare(y->self, x->self)
			       ?: op_compare(x->row, y->row);
}

/* ---- all of it ----------------------------------------------------------- */

int optop_show(struct optop_shown *shown, const struct optop_reading *reading,
	       const struct optop_choice *choice)
{
	const struct optop_counts *counts = reading->counts;
	struct subtraction s = { .now = counts, .base = choice->base };
	struct optop_shown new = { .has_all = counts->all };
	bool by_total = choice->by_total && counts->all;

	new.lines = calloc(counts->nr + 1, sizeof(*new.lines));
	if (!new.lines)
		return -ENOMEM;
	find_events(&s, choice);
	subtract_sums(&s, &new);
	for (size_t i = 0; i < counts->nr; i++) {
		struct optop_line *line = &new.lines[new.nr];

		subtract_row(&s, i, line);
		if (reading->keeps_order ||
		    ((line->self || line->all) &&
		     passes_filter(&reading->rows[i], choice->filter)))
			new.nr++;
	}
	if (!reading->keeps_order)
		qsort_r(new.lines, new.nr, sizeof(*new.lines),
			compare_optop_lines, &by_total);
	optop_shown_release(shown);
	*shown = new;
	return 0;
}

void optop_shown_release(struct optop_shown *shown)
{
	free(shown->lines);
	memset(shown, 0, sizeof(*shown));
}
