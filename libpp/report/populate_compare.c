// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Differential reports: which symbols of the two sides are the same, and how
 * their shares differ. Symbols are the same when application, image and name
 * are; several of one name in one image (static functions) are told apart by
 * their address or, where they were inlined, by their declaration, and where a
 * new build moved them, by their order. Both sides are sorted by these and
 * walked side by side, a group of one name at a time.
 * What is then left of applications that only one side has is compared without
 * them: the same library in another program is still the same library.
 *
 * The outcome is in the later side, which the report then shows as its own:
 * symbols that are gone are added to it with counts of 0. Shares are compared,
 * since the two profiles need not have been equally long; and where a sample
 * stands for the same in both, counts, too: they say which was faster.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/report/interval.h"
#include "libpp/report/population.h"

#define LEVEL 0.05 /* of all comparisons together */

/* ---- columns ------------------------------------------------------------- */

static int refuse_other_events(const struct pp_class *now,
			       const struct pp_class *old, struct op_diag *diag)
{
	if (strcmp(now->event, old->event) || now->count != old->count)
		return op_diag_set(
			diag, -EINVAL,
			"the two profiles counted different events: %s and %s; profile both with the same event and count, or choose one that both have with event: and count:",
			old->name, now->name);
	return op_diag_set(
		diag, -EINVAL,
		"the two profiles counted %s with different unit masks: 0x%02llx and 0x%02llx; choose with unit-mask: or merge with --merge=unitmask",
		now->event, (unsigned long long)old->unit_mask,
		(unsigned long long)now->unit_mask);
}

/* Whether it tells classes of a side from each other. */
static bool tells_classes_apart(const struct pp_classes *classes,
				enum pp_axis axis)
{
	return classes->differing[axis] || classes->row_axes[axis];
}

/* Only an axis that separates classes of a side matters: CPUs 0 and 1 may be
 * compared, each chosen for its profile, but not the columns of CPUs 0 and 1
 * with those of CPUs 0 and 2. */
static int check_column_pair(const struct pp_population *p, size_t nr,
			     struct op_diag *diag)
{
	const struct pp_classes *now = &p->side.classes;
	const struct pp_classes *old = &p->old.classes;
	const struct pp_class *a = &now->classes[nr], *b = &old->classes[nr];
	struct op_arena *arena = &p->report->arena;

	/* Shares of CPU time are what they are at any rate. */
	if (!pp_same_event(a, b) &&
	    !(pp_class_is_cpu_time(a) && pp_class_is_cpu_time(b)))
		return refuse_other_events(a, b, diag);
	for (int axis = 0; axis < PP_NR_AXES; axis++)
		if ((tells_classes_apart(now, axis) ||
		     tells_classes_apart(old, axis)) &&
		    pp_classes_differ(a, b, axis))
			return op_diag_set(
				diag, -EINVAL,
				"the two profiles have different columns (%s and %s); choose the same for both or %s",
				pp_class_value(arena, old, b, axis) ?: "?",
				pp_class_value(arena, now, a, axis) ?: "?",
				axis != PP_AXIS_SESSION ? "merge with --merge"
				: now->by_label		? "leave out --by-label"
						: "leave out --by-session");
	return 0;
}

int pp_check_columns(const struct pp_population *p, struct op_diag *diag)
{
	const struct pp_classes *now = &p->side.classes;
	const struct pp_classes *old = &p->old.classes;
	int err = 0;

	if (now->nr != old->nr || now->axis != old->axis)
		return op_diag_set(
			diag, -EINVAL,
			"the two profiles have different columns (%s and others: %zu; %s and others: %zu); choose with event: or merge with --merge",
			old->classes[0].name, old->nr, now->classes[0].name,
			now->nr);
	for (size_t i = 0; i < now->nr && !err; i++)
		err = check_column_pair(p, i, diag);
	return err;
}

/* ---- which symbols are the same ------------------------------------------ */

/* Lines of one symbol are different things. */
static int compare_lines(const struct pp_symbol_entry *a,
			 const struct pp_symbol_entry *b)
{
	if (!a->is_line || !b->is_line)
		return op_compare(a->is_line, b->is_line);
	return strcmp(a->place.file ?: "", b->place.file ?: "")
		       ?: op_compare(a->place.line, b->place.line);
}

int pp_compare_entry_names(const struct pp_symbol_entry *a,
			   const struct pp_symbol_entry *b)
{
	return strcmp(a->app, b->app) ?:
	       strcmp(a->image->name, b->image->name) ?:
	       strcmp(a->raw_name, b->raw_name) ?: compare_lines(a, b);
}

/* The order of entries of one name: by address or, where they have none because
 * they were inlined, by the place of their declaration. */
static int compare_entry_places(const struct pp_symbol_entry *a,
				const struct pp_symbol_entry *b)
{
	return op_compare(a->vma, b->vma)
		       ?: strcmp(a->declared.file ?: "", b->declared.file ?: "")
		       ?: op_compare(a->declared.line, b->declared.line);
}

static int compare_entries(const void *a, const void *b)
{
	return pp_compare_entry_names(a, b) ?: compare_entry_places(a, b);
}

/* The entries of one name on both sides. */
struct group {
	struct pp_symbol_entry *now, *old;
	size_t nr_now, nr_old;
};

static void pair_entries(struct pp_symbol_entry *now,
			 struct pp_symbol_entry *old)
{
	now->presence = PP_BOTH;
	now->old_counts = old->counts;
	old->presence = PP_BOTH;
}

/* The old entry at the place of @entry that has no partner yet; NULL if there
 * is none. */
static struct pp_symbol_entry *
old_at_same_place(const struct group *g, const struct pp_symbol_entry *entry)
{
	for (size_t i = 0; i < g->nr_old; i++)
		if (g->old[i].presence != PP_BOTH &&
		    !compare_entry_places(entry, &g->old[i]))
			return &g->old[i];
	return NULL;
}

static void pair_group(const struct group *g)
{
	size_t at = 0;

	for (size_t i = 0; i < g->nr_now; i++) {
		struct pp_symbol_entry *old = old_at_same_place(g, &g->now[i]);

		if (old)
			pair_entries(&g->now[i], old);
	}
	for (size_t i = 0; i < g->nr_now; i++) {
		while (at < g->nr_old && g->old[at].presence == PP_BOTH)
			at++;
		if (at < g->nr_old && g->now[i].presence != PP_BOTH)
			pair_entries(&g->now[i], &g->old[at]);
	}
}

static void sort_and_mark(struct pp_side *side, enum pp_presence presence)
{
	if (side->nr_symbols)
		qsort(side->symbols, side->nr_symbols, sizeof(*side->symbols),
		      compare_entries);
	for (size_t i = 0; i < side->nr_symbols; i++)
		side->symbols[i].presence = presence;
}

/* How many entries from @at on have one name. */
static size_t group_at(const struct pp_side *side, size_t at)
{
	size_t end = at;

	while (end < side->nr_symbols &&
	       !pp_compare_entry_names(&side->symbols[end], &side->symbols[at]))
		end++;
	return end - at;
}

static void pair_sides(struct pp_side *now, struct pp_side *old)
{
	size_t i = 0, j = 0;

	while (i < now->nr_symbols && j < old->nr_symbols) {
		struct group g = { &now->symbols[i], &old->symbols[j],
				   group_at(now, i), group_at(old, j) };
		int order = pp_compare_entry_names(g.now, g.old);

		if (!order)
			pair_group(&g);
		i += order <= 0 ? g.nr_now : 0;
		j += order >= 0 ? g.nr_old : 0;
	}
}

/* ---- the same image in applications of one side alone ---------------------
 */

static int compare_entry_with_app(const void *app, const void *entry)
{
	return strcmp(app, ((const struct pp_symbol_entry *)entry)->app);
}

static int compare_without_app(const void *a, const void *b)
{
	const struct pp_symbol_entry *x = *(struct pp_symbol_entry *const *)a;
	const struct pp_symbol_entry *y = *(struct pp_symbol_entry *const *)b;

	return strcmp(x->image->name, y->image->name) ?:
	       strcmp(x->raw_name, y->raw_name) ?: compare_lines(x, y);
}

/* Entries of @side, sorted, that have no partner on @other, which lacks their
 * application; sorted without it. *@nr many; NULL when memory is short. */
static struct pp_symbol_entry **
leftovers(const struct pp_side *side, const struct pp_side *other, size_t *nr)
{
	struct pp_symbol_entry **list =
		calloc(side->nr_symbols + 1, sizeof(*list));

	*nr = 0;
	for (size_t i = 0; list && i < side->nr_symbols; i++) {
		struct pp_symbol_entry *entry = &side->symbols[i];

		if (entry->presence == PP_BOTH ||
		    (other->nr_symbols &&
		     bsearch(entry->app, other->symbols, other->nr_symbols,
			     sizeof(*other->symbols), compare_entry_with_app)))
			continue;
		list[(*nr)++] = entry;
	}
	if (list)
		qsort(list, *nr, sizeof(*list), compare_without_app);
	return list;
}

/* Whether no other of @nr entries from @at on is the same. */
static bool is_alone(struct pp_symbol_entry *const *at, size_t nr)
{
	return nr < 2 || compare_without_app(&at[0], &at[1]);
}

static size_t skip_same(struct pp_symbol_entry *const *list, size_t nr,
			size_t at)
{
	do
		at++;
	while (at < nr && !compare_without_app(&list[at - 1], &list[at]));
	return at;
}

/* Pair entries that are the only ones of their image and name on both sides.
 * Where a side has several, because several applications have them, no pair is
 * better than another. */
static int pair_leftovers(struct pp_side *now, struct pp_side *old)
{
	size_t nr_now, nr_old, i = 0, j = 0;
	struct pp_symbol_entry **a = leftovers(now, old, &nr_now);
	struct pp_symbol_entry **b = leftovers(old, now, &nr_old);
	int err = a && b ? 0 : -ENOMEM;

	while (!err && i < nr_now && j < nr_old) {
		int order = compare_without_app(&a[i], &b[j]);

		if (!order && is_alone(&a[i], nr_now - i) &&
		    is_alone(&b[j], nr_old - j))
			pair_entries(a[i], b[j]);
		if (order >= 0)
			j = skip_same(b, nr_old, j);
		if (order <= 0)
			i = skip_same(a, nr_now, i);
	}
	free(a);
	free(b);
	return err;
}

/* ---- the outcome -----------------------------------------------------------
 */

/* Symbols that are gone join the later side, with counts of zero. */
static int add_gone(struct pp_population *p, const uint64_t *zeros)
{
	struct pp_side *now = &p->side;
	size_t nr = now->nr_symbols + p->old.nr_symbols, at = 0;
	struct pp_symbol_entry *all =
		op_arena_alloc(&p->report->arena, nr, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < now->nr_symbols; i++) {
		all[at] = now->symbols[i];
		if (all[at].presence == PP_NEW)
			all[at].old_counts = zeros;
		at++;
	}
	for (size_t i = 0; i < p->old.nr_symbols; i++) {
		if (p->old.symbols[i].presence != PP_GONE)
			continue;
		all[at] = p->old.symbols[i];
		all[at].old_counts = all[at].counts;
		all[at++].counts = zeros;
	}
	now->symbols = all;
	now->nr_symbols = at;
	return 0;
}

/* ---- how they differ ----------------------------------------------------- */

/* By how much the share @now of @total is larger than @old of @old_total, in
 * percent of the latter: exact where that is a whole number. */
static double change_percent(uint64_t now, uint64_t total, uint64_t old,
			     uint64_t old_total)
{
	double part = (double)now * (double)old_total;
	double old_part = (double)old * (double)total;

	if (!old)
		return now ? INFINITY : 0;
	return total ? 100 * (part - old_part) / old_part : -100;
}

/* The number of independent samples that say as much as @count samples of class
 * @class_nr, which come in grains. */
static uint64_t without_grain(uint64_t count, const struct pp_side *side,
			      size_t class_nr)
{
	double grain = side->classes.classes[class_nr].grain;

	return grain == 1 ? count : (uint64_t)((double)count / grain + 0.5);
}

static void compare_shares(const struct pp_population *p,
			   const struct pp_symbol_entry *entry, size_t class_nr,
			   struct pp_change *change)
{
	uint64_t now = entry->counts[class_nr];
	uint64_t old = entry->old_counts[class_nr];
	uint64_t total = p->side.symbol_totals[class_nr];
	uint64_t old_total = p->old.symbol_totals[class_nr];
	struct pp_interval ratio;

	change->percent = change_percent(now, total, old, old_total);
	change->p = 1;
	if (!p->request->intervals)
		return;
	now = without_grain(now, &p->side, class_nr);
	total = without_grain(total, &p->side, class_nr);
	old = without_grain(old, &p->old, class_nr);
	old_total = without_grain(old_total, &p->old, class_nr);
	ratio = pp_ratio_interval(now, total, old, old_total);
	change->low = 100 * (ratio.low - 1);
	change->high = 100 * (ratio.high - 1);
	change->p = pp_difference_p(now, total, old, old_total);
}

/* ---- by how much they differ --------------------------------------------- */

/* Whether @account is that of a profile whose counts are all known. Those of
 * the original profiler are compared by shares, as they always were. */
static bool has_whole_account(const struct op_ledger *account)
{
	return account && strcmp(account->source, OP_LEDGER_IMPORTED) != 0;
}

/* The measure that both classes have in common. */
static struct pp_measure find_measure(const struct pp_population *p,
				      size_t class_nr)
{
	const struct pp_class *now = &p->side.classes.classes[class_nr];
	const struct pp_class *old = &p->old.classes.classes[class_nr];
	double per_sample = (double)now->count;
	bool is_time = pp_class_is_cpu_time(now);

	if (!has_whole_account(p->report->account) ||
	    !has_whole_account(p->report->old.account) || !now->count ||
	    !pp_same_event(now, old) || now->periods || old->periods ||
	    pp_scale_of_times(now->enabled, now->running) != 1 ||
	    pp_scale_of_times(old->enabled, old->running) != 1)
		return (struct pp_measure){ 0, false };
	if (pp_class_is_timer(now))
		per_sample = 1 / per_sample;
	else if (is_time)
		per_sample /= 1e9;
	return (struct pp_measure){ per_sample, is_time };
}

static struct pp_timed_count timed_count(const struct pp_side *side,
					 size_t class_nr, uint64_t count)
{
	return (struct pp_timed_count){ (double)count,
					side->classes.classes[class_nr].grain };
}

static void compare_counts(const struct pp_population *p,
			   const struct pp_symbol_entry *entry, size_t class_nr,
			   struct pp_change *change)
{
	struct pp_timed_count now =
		timed_count(&p->side, class_nr, entry->counts[class_nr]);
	struct pp_timed_count old =
		timed_count(&p->old, class_nr, entry->old_counts[class_nr]);
	struct pp_interval interval = pp_count_difference(now, old);

	change->difference = now.count - old.count;
	change->least = interval.low;
	change->most = interval.high;
}

/* The number of all samples, as a change in percent of the old one. */
static void compare_totals(const struct pp_population *p, size_t class_nr,
			   struct pp_change *change)
{
	struct pp_timed_count now =
		timed_count(&p->side, class_nr, p->side.totals[class_nr]);
	struct pp_timed_count old =
		timed_count(&p->old, class_nr, p->old.totals[class_nr]);
	struct pp_interval ratio = pp_count_ratio(now, old);
	struct pp_interval interval = pp_count_difference(now, old);

	change->percent =
		old.count > 0 ? 100 * (now.count / old.count - 1) : INFINITY;
	change->low = 100 * (ratio.low - 1);
	change->high = 100 * (ratio.high - 1);
	change->difference = now.count - old.count;
	change->least = interval.low;
	change->most = interval.high;
	change->p = pp_count_change_p(now, old);
	change->differs = change->p <= LEVEL;
}

int pp_find_measures(struct pp_population *p)
{
	struct op_arena *arena = &p->report->arena;
	size_t nr = p->side.classes.nr;
	struct pp_measure *measures =
		op_arena_alloc(arena, nr, sizeof(*measures));
	struct pp_change *changes = op_arena_alloc(arena, nr, sizeof(*changes));

	if (!measures || !changes)
		return -ENOMEM;
	for (size_t c = 0; c < nr; c++) {
		measures[c] = find_measure(p, c);
		if (measures[c].per_sample > 0)
			compare_totals(p, c, &changes[c]);
	}
	p->report->old.measures = measures;
	p->report->old.total_changes = changes;
	return 0;
}

/* A change with the chance that it is none. */
struct chance {
	struct pp_change *change;
	double p;
};

static int compare_chances(const void *a, const void *b)
{
	const struct chance *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

/* The number of chances, which become sorted, that are significant, or -ENOMEM:
 * all changes of the report are one family of comparisons. */
static ssize_t find_significant(struct chance *chances, size_t nr)
{
	double *p = calloc(nr + 1, sizeof(*p));
	size_t found = 0;

	if (!p)
		return -ENOMEM;
	qsort(chances, nr, sizeof(*chances), compare_chances);
	for (size_t i = 0; i < nr; i++)
		p[i] = chances[i].p;
	found = pp_holm(p, nr, LEVEL);
	free(p);
	return (ssize_t)found;
}

static int mark_shares(struct pp_change *changes, size_t nr)
{
	struct chance *chances = calloc(nr + 1, sizeof(*chances));
	ssize_t found;

	if (!chances)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		chances[i] = (struct chance){ &changes[i], changes[i].p };
	found = find_significant(chances, nr);
	for (ssize_t i = 0; i < found; i++)
		chances[i].change->significant = true;
	free(chances);
	return found < 0 ? (int)found : 0;
}

/* The differences of all symbols in classes whose counts can be compared. */
static int mark_differences(const struct pp_population *p)
{
	const struct pp_side *side = &p->side;
	size_t nr_classes = side->classes.nr, nr = 0;
	struct chance *chances =
		calloc(side->nr_symbols * nr_classes + 1, sizeof(*chances));
	ssize_t found;

	if (!chances)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_symbols; i++) {
		const struct pp_symbol_entry *entry = &side->symbols[i];

		for (size_t c = 0; c < nr_classes; c++) {
			if (!p->report->old.measures[c].per_sample)
				continue;
			chances[nr++] = (struct chance){
				(struct pp_change *)&entry->changes[c],
				pp_count_change_p(
					timed_count(side, c, entry->counts[c]),
					timed_count(&p->old, c,
						    entry->old_counts[c])),
			};
		}
	}
	found = find_significant(chances, nr);
	for (ssize_t i = 0; i < found; i++)
		chances[i].change->differs = true;
	free(chances);
	return found < 0 ? (int)found : 0;
}

static int compare_all_shares(struct pp_population *p)
{
	struct pp_side *side = &p->side;
	size_t nr_classes = side->classes.nr;
	size_t nr = side->nr_symbols * nr_classes;
	struct pp_change *changes =
		op_arena_alloc(&p->report->arena, nr, sizeof(*changes));

	if (!changes)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_symbols; i++) {
		struct pp_symbol_entry *entry = &side->symbols[i];

		entry->changes = &changes[i * nr_classes];
		for (size_t c = 0; c < nr_classes; c++) {
			struct pp_change *change = &changes[i * nr_classes + c];

			compare_shares(p, entry, c, change);
			if (p->report->old.measures[c].per_sample)
				compare_counts(p, entry, c, change);
		}
	}
	return (p->request->intervals ? mark_shares(changes, nr) : 0)
		       ?: mark_differences(p);
}

/* Symbols that changed by less than the threshold are left out. */
int pp_compare_sides(struct pp_population *p)
{
	struct pp_side *side = &p->side;
	uint64_t *zeros = pp_new_counts(p, side);
	size_t kept = 0;
	int err;

	if (!zeros)
		return -ENOMEM;
	sort_and_mark(side, PP_NEW);
	sort_and_mark(&p->old, PP_GONE);
	pair_sides(side, &p->old);
	err = pair_leftovers(side, &p->old)
		      ?: add_gone(p, zeros)
		      ?: compare_all_shares(p);
	if (err)
		return err;
	for (size_t i = 0; i < side->nr_symbols; i++) {
		const struct pp_symbol_entry *entry = &side->symbols[i];
		bool is_large = entry->presence != PP_BOTH;

		for (size_t c = 0; c < side->classes.nr; c++)
			is_large |= fabs(entry->changes[c].percent) >=
				    p->request->threshold;
		if (is_large)
			side->symbols[kept++] = *entry;
	}
	side->nr_symbols = kept;
	p->report->old.symbol_totals = p->old.symbol_totals;
	return 0;
}
