// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits are added up over all symbols by the class of the function of the
 * kernel in which each of them began (libop/events/op_wait_classes.h).
 * Without the file of classes, as on a machine where only the programs were
 * copied to, there is no such sum.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libop/events/op_cpu_type.h"
#include "libop/events/op_wait_classes.h"
#include "libpp/report/populate_symbols.h"
#include "libpp/report/report_times.h"

#define OTHER "other"

/* Whether some of @counts, one per class, are of waits. */
static bool has_waits(const struct pp_classes *classes, const uint64_t *counts)
{
	for (size_t i = 0; i < classes->nr; i++)
		if (counts[i] && pp_class_is_wait(&classes->classes[i]))
			return true;
	return false;
}

/* The class of waits that began in @entry, if some did; else NULL. */
static const char *class_of_entry(const struct op_wait_classes *classes,
				  const struct pp_symbol_entry *entry)
{
	return entry->image->recorded.space == OP_SPACE_KERN
		       ? op_wait_class_of(classes, entry->raw_name)
		       : NULL;
}

/* The sums being made. */
struct wait_sums {
	struct pp_population *p;
	struct pp_wait_sum *list; /* has room for all classes and for OTHER */
	size_t nr;
};

/* The sum of the class called @name; NULL when memory is short. */
static struct pp_wait_sum *find_wait_sum(struct wait_sums *sums,
					 const char *name)
{
	struct op_arena *arena = &sums->p->report->arena;
	struct pp_wait_sum *sum = sums->list;

	for (; sum < sums->list + sums->nr; sum++)
		if (!strcmp(sum->name, name))
			return sum;
	sum->name = op_arena_strdup(arena, name);
	sum->counts = pp_new_counts(sums->p, &sums->p->side);
	if (!sum->name || !sum->counts)
		return NULL;
	sums->nr++;
	return sum;
}

/* Add the samples of waits in @counts, one per class. */
static int add_wait_counts(struct wait_sums *sums, const char *name,
			   const uint64_t *counts)
{
	const struct pp_classes *classes = &sums->p->report->classes;
	struct pp_wait_sum *sum;

	if (!has_waits(classes, counts))
		return 0;
	sum = find_wait_sum(sums, name);
	if (!sum)
		return -ENOMEM;
	for (size_t i = 0; i < classes->nr; i++)
		if (pp_class_is_wait(&classes->classes[i]))
			sum->counts[i] =
				pp_add_counts(sum->counts[i], counts[i]);
	return 0;
}

/* Where only symbols of the kernel were looked for, all other waits have no
 * class. */
static int add_other_waits(struct wait_sums *sums)
{
	const struct pp_report *report = sums->p->report;
	uint64_t *rest = pp_new_counts(sums->p, &sums->p->side);

	if (!rest)
		return -ENOMEM;
	memcpy(rest, report->totals, report->classes.nr * sizeof(*rest));
	for (size_t i = 0; i < sums->nr; i++)
		for (size_t c = 0; c < report->classes.nr; c++)
			rest[c] -= sums->list[i].counts[c];
	return add_wait_counts(sums, OTHER, rest);
}

static int compare_waits(const void *a, const void *b)
{
	const struct pp_wait_sum *wa = a, *wb = b;

	return op_compare(wb->ns, wa->ns);
}

static int sum_waits(struct pp_population *p,
		     const struct op_wait_classes *classes)
{
	struct pp_report *report = p->report;
	struct wait_sums sums = {
		.p = p,
		.list = op_arena_alloc(&report->arena, classes->nr + 1,
				       sizeof(*sums.list)),
	};
	int err = sums.list ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->side.nr_symbols && !err; i++) {
		struct pp_symbol_entry *entry = &p->side.symbols[i];
		const char *class = class_of_entry(classes, entry);

		err = add_wait_counts(&sums, class ?: OTHER, entry->counts);
		if (!err && class && has_waits(&report->classes, entry->counts))
			entry->wait = find_wait_sum(&sums, class)->name;
	}
	if (!err && pp_seeks_waits_only(p->request) &&
	    !p->request->names.include && !p->request->names.exclude)
		err = add_other_waits(&sums);
	if (err)
		return err;
	for (size_t i = 0; i < sums.nr; i++)
		for (size_t c = 0; c < report->classes.nr; c++)
			sums.list[i].ns +=
				sums.list[i].counts[c] *
				pp_class_sample_ns(report,
						   &report->classes.classes[c]);
	if (sums.nr)
		qsort(sums.list, sums.nr, sizeof(*sums.list), compare_waits);
	report->symbols.waits = sums.list;
	report->symbols.nr_waits = sums.nr;
	return 0;
}

/* Whether a wait began in node @nr: in the innermost frame of some stack. */
static bool waits_in_node(const struct pp_report *report, uint32_t nr)
{
	const struct pp_tree *tree = report->tree;

	if (!tree->callers)
		return has_waits(&report->classes, pp_tree_self(tree, nr));
	return !tree->nodes[nr].parent &&
	       has_waits(&report->classes, pp_tree_all(tree, nr));
}

/* Mark the frames of the report's tree in which waits began. */
static void mark_frames(struct pp_report *report,
			const struct op_wait_classes *classes)
{
	const struct pp_tree *tree = report->tree;
	const struct pp_symbol_table *symbols = &report->symbols;

	for (uint32_t i = 1; i < tree->nr_nodes; i++) {
		struct pp_frame *frame = &tree->frames[tree->nodes[i].frame];
		const char *class;

		if (frame->wait || frame->kind != PP_FRAME_KERNEL ||
		    !frame->raw_name || !waits_in_node(report, i))
			continue;
		class = op_wait_class_of(classes, frame->raw_name);
		for (size_t k = 0; class && k < symbols->nr_waits; k++)
			if (!strcmp(symbols->waits[k].name, class))
				frame->wait = symbols->waits[k].name;
	}
}

int pp_populate_waits(struct pp_population *p)
{
	struct pp_report *report = p->report;
	struct op_wait_classes classes;
	struct op_diag why = { "" };
	char *dir;
	int err = 0;

	if (!has_waits(&report->classes, report->totals) ||
	    op_events_dir(&dir, &why))
		return 0;
	if (pp_seeks_waits_only(p->request))
		err = pp_side_find_symbols(p, &p->side);
	if (!err && !op_wait_classes_read(&classes, dir, &why)) {
		err = sum_waits(p, &classes);
		if (!err && report->tree)
			mark_frames(report, &classes);
	}
	op_wait_classes_release(&classes);
	free(dir);
	return err;
}
