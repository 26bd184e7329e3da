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
#include "libpp/report/population.h"
#include "libpp/report/report_times.h"

#define OTHER "other"

static bool has_waits(const struct pp_classes *classes)
{
	for (size_t i = 0; i < classes->nr; i++)
		if (pp_class_is_wait(&classes->classes[i]))
			return true;
	return false;
}

static const char *class_of_entry(const struct op_wait_classes *classes,
				  const struct pp_symbol_entry *entry)
{
	if (entry->image->recorded.space != OP_SPACE_KERN)
		return OTHER;
	return op_wait_class_of(classes, entry->raw_name) ?: OTHER;
}

/* The sums being made. */
struct wait_sums {
	struct pp_population *p;
	struct pp_wait_sum *list; /* has room for all classes and for OTHER */
	size_t nr;
};

/* The counts of the class called @name; NULL when memory is short. */
static uint64_t *find_wait_sum(struct wait_sums *sums, const char *name)
{
	struct op_arena *arena = &sums->p->report->arena;
	struct pp_wait_sum *sum = sums->list;

	for (; sum < sums->list + sums->nr; sum++)
		if (!strcmp(sum->name, name))
			return sum->counts;
	sum->name = op_arena_strdup(arena, name);
	sum->counts = pp_new_counts(sums->p, &sums->p->side);
	sums->nr += sum->name && sum->counts;
	return sum->name ? sum->counts : NULL;
}

/* Add the samples of waits in @counts, which are those of one symbol, or all.
 */
static int add_wait_counts(struct wait_sums *sums, const char *name,
			   const uint64_t *counts)
{
	const struct pp_classes *classes = &sums->p->report->classes;
	uint64_t *sum = NULL;

	for (size_t i = 0; i < classes->nr; i++) {
		if (!counts[i] || !pp_class_is_wait(&classes->classes[i]))
			continue;
		sum = sum ?: find_wait_sum(sums, name);
		if (!sum)
			return -ENOMEM;
		sum[i] = pp_add_counts(sum[i], counts[i]);
	}
	return 0;
}

/* A report of threads has looked for the symbols in which waits begin, and for
 * no others: all other waits have no class. */
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
		const struct pp_symbol_entry *entry = &p->side.symbols[i];

		err = add_wait_counts(&sums, class_of_entry(classes, entry),
				      entry->counts);
	}
	if (!err && p->request->select.threads)
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

int pp_populate_waits(struct pp_population *p)
{
	struct op_wait_classes classes;
	struct op_diag why = { "" };
	char *dir;
	int err = 0;

	if (!has_waits(&p->report->classes) || op_events_dir(&dir, &why))
		return 0;
	if (!op_wait_classes_read(&classes, dir, &why))
		err = sum_waits(p, &classes);
	op_wait_classes_release(&classes);
	free(dir);
	return err;
}
