// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where more events were sampled than there are hardware counters, each event
 * had a counter for a part of the time, and its sample files hold the samples
 * of that part. The account tells the times; here they become a factor for each
 * class, and all counts of the finished report are multiplied by it.
 *
 * Everything before works with samples as they were taken: symbols, totals and
 * trees are subtracted from each other there, and the significance of a change
 * depends on how many samples there really are. What is computed from scaled
 * counts later has to divide by the factor (pp_scaled_share_interval()).
 *
 * Sessions that are added up have one factor, of all their time. Where their
 * own ones differ that is wrong for what one session has more of than another,
 * and a warning says so.
 *
 * Counts stay whole numbers. Those of the parts of one whole, as of the nodes
 * of a tree, are rounded so that the parts still add up to the whole: each gets
 * what the rounded running sum grows by.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/report/population.h"

/* An event that had a counter all the time may be short of some nanoseconds,
 * since start and stop take time. */
#define SHORT_OF_WHOLE 10000

/* Factors of two sessions whose ratio is larger are not the same. */
#define SAME_SCALES 1.1

/* ---- from the account ---------------------------------------------------- */

/* Whether @class has samples of the event of @time. */
static bool counts_event(const struct pp_class *class,
			 const struct op_ledger_event *time)
{
	return class->count == time->count &&
	       (class->unit_masks_differ ||
		class->counted_unit_mask == time->unit_mask) &&
	       !strcmp(class->event, time->name);
}

double pp_scale_of_times(uint64_t enabled, uint64_t running)
{
	return !running || running >= enabled ||
			       enabled - running <= enabled / SHORT_OF_WHOLE
		       ? 1
		       : (double)enabled / (double)running;
}

/* Note the factor of one session alone. */
static void note_scale(struct pp_class *class, const char *session,
		       uint64_t enabled, uint64_t running)
{
	double scale = pp_scale_of_times(enabled, running);

	if (!running)
		return;
	if (!class->least_scale || scale < class->least_scale) {
		class->least_scale = scale;
		class->least_session = session;
	}
	if (scale > class->most_scale) {
		class->most_scale = scale;
		class->most_session = session;
	}
}

static void add_periods(struct pp_class *class,
			const struct op_ledger_event *event)
{
	class->periods = pp_add_counts(class->periods, event->periods);
	class->sum_of_periods =
		pp_add_counts(class->sum_of_periods, event->sum_of_periods);
	class->squares_of_periods = pp_add_counts(class->squares_of_periods,
						  event->squares_of_periods);
}

/* Kish's design effect, of what was counted for several. */
static double grain_of_class(const struct pp_class *class)
{
	double grain = class->stored ? 1 + (double)class->spread /
						       (double)class->stored
				     : 1;

	if (class->sum_of_periods)
		grain *= fmax(1, (double)class->squares_of_periods *
					 OP_LEDGER_SQUARE /
					 (double)class->sum_of_periods);
	return grain;
}

void pp_side_add_times(struct pp_side *side, const struct pp_session *session,
		       const struct op_ledger *account)
{
	for (size_t c = 0; c < side->classes.nr; c++) {
		struct pp_class *class = &side->classes.classes[c];
		uint64_t enabled = 0, running = 0;

		if (class->session && strcmp(class->session, session->name))
			continue;
		if (class->end && !session->is_sliced &&
		    (class->begin != session->column_begin ||
		     class->end != session->column_end))
			continue;
		class->stored = pp_add_counts(class->stored, account->stored);
		class->spread = pp_add_counts(class->spread,
					      account->costs[OP_COST_SPREAD]);
		for (unsigned int i = 0; i < account->nr_events; i++) {
			const struct op_ledger_event *time =
				&account->events[i];

			if (!counts_event(class, time))
				continue;
			enabled = pp_add_counts(enabled, time->enabled);
			running = pp_add_counts(running, time->running);
			class->taken =
				pp_add_counts(class->taken, time->samples);
			class->turns = pp_add_counts(class->turns, time->turns);
			add_periods(class, time);
		}
		class->grain = grain_of_class(class);
		class->enabled = pp_add_counts(class->enabled, enabled);
		class->running = pp_add_counts(class->running, running);
		note_scale(class, session->name, enabled, running);
	}
}

/* Whether factors of sessions that @class adds up are not the same. Spans of
 * the history are sessions of one name, which no column keeps apart. */
static bool has_other_scales(const struct pp_class *class)
{
	return class->most_scale > class->least_scale * SAME_SCALES &&
	       strcmp(class->least_session, class->most_session) != 0;
}

static void warn_of_one_scale(struct pp_messages *messages,
			      const struct pp_class *class)
{
	pp_message(
		messages, PP_WARNING,
		"%s: it was counted for %.3g %% of the time in session %s and for %.3g %% in %s, but the counts of both are multiplied by %.3g; show each session with opreport --by-session",
		class->event, 100 / class->least_scale, class->least_session,
		100 / class->most_scale, class->most_session, class->scale);
}

/* Whether some class has to be scaled. */
static bool find_scales(struct pp_classes *classes,
			struct pp_messages *messages)
{
	bool any = false, is_said = false;

	for (size_t c = 0; c < classes->nr; c++) {
		struct pp_class *class = &classes->classes[c];
		double scale =
			pp_scale_of_times(class->enabled, class->running);

		if (scale == 1)
			continue;
		class->scale = scale;
		any = true;
		/* Columns of many tasks say the same. */
		if (!is_said && has_other_scales(class)) {
			warn_of_one_scale(messages, class);
			is_said = true;
		}
	}
	return any;
}

/* ---- counts -------------------------------------------------------------- */

struct scaling {
	struct op_arena *arena;
	const struct pp_classes *classes;
	const struct pp_classes *old; /* of the old side */
};

static uint64_t scale_count(uint64_t count, double scale)
{
	double scaled = nearbyint((double)count * scale);

	return scale == 1		      ? count
	       : scaled >= (double)UINT64_MAX ? UINT64_MAX
					      : (uint64_t)scaled;
}

/* Put the scaled counts in the place of *@counts, one per class. */
static int scale_counts(const struct scaling *s,
			const struct pp_classes *classes,
			const uint64_t **counts)
{
	uint64_t *scaled;

	if (!*counts)
		return 0;
	scaled = op_arena_alloc(s->arena, classes->nr, sizeof(*scaled));
	if (!scaled)
		return -ENOMEM;
	for (size_t c = 0; c < classes->nr; c++)
		scaled[c] =
			scale_count((*counts)[c], classes->classes[c].scale);
	*counts = scaled;
	return 0;
}

static int scale_now(const struct scaling *s, const uint64_t **counts)
{
	return scale_counts(s, s->classes, counts);
}

/* Scale the counts of the next part of a whole. @sums are the counts of the
 * parts before it, one per class and not scaled; this part is added to them. */
static int scale_part(const struct scaling *s, const uint64_t **counts,
		      uint64_t *sums)
{
	const uint64_t *taken = *counts;
	uint64_t *scaled =
		op_arena_alloc(s->arena, s->classes->nr, sizeof(*scaled));

	if (!scaled)
		return -ENOMEM;
	for (size_t c = 0; c < s->classes->nr; c++) {
		double scale = s->classes->classes[c].scale;
		uint64_t before = scale_count(sums[c], scale);

		sums[c] = pp_add_counts(sums[c], taken[c]);
		scaled[c] = scale_count(sums[c], scale) - before;
	}
	*counts = scaled;
	return 0;
}

static uint64_t *new_sums(const struct scaling *s)
{
	return op_arena_alloc(s->arena, s->classes->nr, sizeof(uint64_t));
}

/* ---- rows ---------------------------------------------------------------- */

static int scale_app(const struct scaling *s, struct pp_summary_app *app)
{
	/* They were made for this report, which is not finished yet. */
	struct pp_summary_image *images =
		(struct pp_summary_image *)app->images;
	uint64_t *sums = new_sums(s);
	int err = sums ? scale_now(s, &app->counts) : -ENOMEM;

	for (size_t i = 0; i < app->nr_images && !err; i++)
		err = scale_part(s, &images[i].counts, sums);
	return err;
}

static int scale_arcs(const struct scaling *s, const struct pp_arc *list,
		      size_t nr)
{
	struct pp_arc *arcs = (struct pp_arc *)list;
	uint64_t *sums = new_sums(s);
	int err = sums ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++)
		err = scale_part(s, &arcs[i].counts, sums);
	return err;
}

static int scale_neighbours(const struct scaling *s,
			    struct pp_neighbours *neighbours)
{
	return scale_arcs(s, neighbours->callers, neighbours->nr_callers) ?:
	       scale_arcs(s, neighbours->callees, neighbours->nr_callees) ?:
	       scale_now(s, &neighbours->caller_totals) ?:
	       scale_now(s, &neighbours->callee_totals) ?:
	       scale_now(s, &neighbours->cumulative);
}

static int scale_stack_calls(const struct scaling *s,
			     const struct pp_stack_call *list, size_t nr)
{
	struct pp_stack_call *calls = (struct pp_stack_call *)list;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = scale_now(s, &calls[i].counts);
	return err;
}

static int scale_symbol(const struct scaling *s, struct pp_symbol_entry *entry)
{
	struct pp_detail *details = (struct pp_detail *)entry->details;
	struct pp_line_total *lines =
		(struct pp_line_total *)entry->line_totals;
	uint64_t *sums = new_sums(s);
	int err = sums ? 0 : -ENOMEM;

	for (size_t i = 0; i < entry->nr_details && !err; i++)
		err = scale_part(s, &details[i].counts, sums)
			      ?: scale_now(s, &details[i].all_counts);
	for (size_t i = 0; i < entry->nr_line_totals && !err; i++)
		err = scale_now(s, &lines[i].counts);
	if (!err && entry->neighbours)
		err = scale_neighbours(
			s, (struct pp_neighbours *)entry->neighbours);
	return err ?: scale_now(s, &entry->counts) ?:
		      scale_now(s, &entry->all_counts) ?:
		      scale_counts(s, s->old, &entry->old_counts) ?:
		      scale_stack_calls(s, entry->stack_calls,
					entry->nr_stack_calls);
}

/* Symbols that are shown may be copies of those that are known. */
static int scale_symbols(const struct scaling *s, struct pp_report *report)
{
	struct pp_symbol_entry *known =
		(struct pp_symbol_entry *)report->symbols.known;
	struct pp_symbol_entry *shown =
		(struct pp_symbol_entry *)report->symbols.list;
	int err = 0;

	for (size_t i = 0; i < report->symbols.nr_known && !err; i++)
		err = scale_symbol(s, &known[i]);
	for (size_t i = 0; i < report->symbols.nr && shown != known && !err;
	     i++) {
		const struct pp_symbol_entry *same = &known[shown[i].nr];

		shown[i].counts = same->counts;
		shown[i].all_counts = same->all_counts;
		shown[i].old_counts = same->old_counts;
	}
	return err;
}

/* ---- trees --------------------------------------------------------------- */

static double scale_of_column(const struct scaling *s, size_t column)
{
	size_t nr = s->classes->nr;

	return column < nr ? s->classes->classes[column].scale
			   : s->old->classes[column - nr].scale;
}

/* The samples in a node and below it are the sum of its own counts and of those
 * of its children, which come behind their parents. */
static void scale_column(struct pp_tree *tree, size_t column, double scale)
{
	size_t nr = tree->nr_columns;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < tree->nr_nodes; i++) {
		uint64_t *self = &tree->self[i * nr + column];
		uint64_t before = scale_count(sum, scale);

		sum = pp_add_counts(sum, *self);
		*self = scale_count(sum, scale) - before;
		tree->all[i * nr + column] = *self;
	}
	for (uint32_t i = tree->nr_nodes; i-- > 1;) {
		uint64_t *all = &tree->all[tree->nodes[i].parent * nr + column];

		*all = pp_add_counts(*all, tree->all[i * nr + column]);
	}
	tree->cut[column] = scale_count(tree->cut[column], scale);
	((uint64_t *)tree->broken)[column] =
		scale_count(tree->broken[column], scale);
}

static void scale_tree(const struct scaling *s, struct pp_tree *tree)
{
	for (size_t c = 0; c < tree->nr_columns; c++)
		if (scale_of_column(s, c) != 1)
			scale_column(tree, c, scale_of_column(s, c));
}

/* ---- all of it ----------------------------------------------------------- */

static int scale_report(const struct scaling *s, struct pp_report *report)
{
	struct pp_summary_app *apps =
		(struct pp_summary_app *)report->summary.apps;
	struct pp_address_call *calls =
		(struct pp_address_call *)report->calls.list;
	int err = scale_now(s, &report->totals) ?:
		  scale_now(s, &report->symbols.totals) ?:
		  scale_counts(s, s->old, &report->old.totals) ?:
		  scale_counts(s, s->old, &report->old.symbol_totals);

	for (size_t i = 0; i < report->summary.nr_apps && !err; i++)
		err = scale_app(s, &apps[i]);
	err = err ?: scale_symbols(s, report) ?:
		     scale_stack_calls(s, report->stack_totals.outer,
				       report->stack_totals.nr_outer);
	for (size_t i = 0; i < report->calls.nr && !err; i++)
		calls[i].count = scale_count(
			calls[i].count,
			s->classes->classes[calls[i].class_nr].scale);
	if (!err && report->tree)
		scale_tree(s, (struct pp_tree *)report->tree);
	return err;
}

int pp_scale_counts(struct pp_population *p)
{
	const struct scaling s = { .arena = &p->report->arena,
				   .classes = &p->side.classes,
				   .old = &p->old.classes };
	bool scaled, old_scaled;

	if (p->request->select.as_taken)
		return 0;
	scaled = find_scales(&p->side.classes, &p->report->messages);
	old_scaled = find_scales(&p->old.classes, &p->report->messages);
	return scaled || old_scaled ? scale_report(&s, p->report) : 0;
}
