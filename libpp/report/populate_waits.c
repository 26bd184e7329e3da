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

static uint64_t waited_in(const struct pp_report *report,
			  const struct pp_symbol_entry *entry)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < report->classes.nr; i++) {
		const struct pp_class *class = &report->classes.classes[i];

		if (pp_class_is_wait(class))
			ns += entry->counts[i] *
			      pp_class_sample_ns(report, class);
	}
	return ns;
}

static const char *class_of_entry(const struct op_wait_classes *classes,
				  const struct pp_symbol_entry *entry)
{
	if (entry->image->recorded.space != OP_SPACE_KERN)
		return OTHER;
	return op_wait_class_of(classes, entry->raw_name) ?: OTHER;
}

/* Add @ns to the wait called @name of @list, which has room for it. */
static void add_to_wait(struct pp_wait_sum *list, size_t *nr, const char *name,
			uint64_t ns)
{
	size_t i = 0;

	while (i < *nr && strcmp(list[i].name, name) != 0)
		i++;
	if (i == *nr)
		list[(*nr)++] = (struct pp_wait_sum){ name, 0 };
	list[i].ns += ns;
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
	struct pp_wait_sum *list =
		op_arena_alloc(&report->arena, classes->nr + 1, sizeof(*list));
	size_t nr = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < p->side.nr_symbols; i++) {
		const struct pp_symbol_entry *entry = &p->side.symbols[i];
		uint64_t ns = waited_in(report, entry);

		if (ns)
			add_to_wait(list, &nr, class_of_entry(classes, entry),
				    ns);
	}
	for (size_t i = 0; i < nr; i++) {
		list[i].name = op_arena_strdup(&report->arena, list[i].name);
		if (!list[i].name)
			return -ENOMEM;
	}
	if (nr)
		qsort(list, nr, sizeof(*list), compare_waits);
	report->symbols.waits = list;
	report->symbols.nr_waits = nr;
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
