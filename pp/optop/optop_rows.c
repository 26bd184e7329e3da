// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report and the counts that rows are made of. The classes of a report may
 * differ in their process, thread or cgroup as well as in their event; those
 * that differ in other things than the event are different rows, or are added
 * up in one.
 */

#include "pp/optop/optop_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "libpp/select/sample_list.h"

/* ---- the report ---------------------------------------------------------- */

/* A pattern that matches @text alone. NULL when memory is short. */
static const char *pattern_of_text(struct op_arena *arena, const char *text)
{
	char *pattern = op_arena_alloc(arena, 2 * strlen(text) + 1, 1);
	size_t len = 0;

	for (; pattern && *text; text++) {
		if (strchr("\\*?[", *text))
			pattern[len++] = '\\';
		pattern[len++] = *text;
	}
	return pattern;
}

int optop_make_report(struct optop_reading *reading,
		      const struct pp_request *request,
		      const struct optop_target *target, struct op_diag *diag)
{
	const int64_t ids[] = { target->tgid, target->tid };
	const enum pp_spec_tag tags[] = { PP_SPEC_TGID, PP_SPEC_TID };
	struct pp_request narrow = *request;
	struct pp_spec spec = *request->select.spec;
	struct pp_spec_item items[2], cgroup = { .text = "" };

	for (size_t i = 0; i < 2; i++) {
		if (ids[i] == OP_MANGLE_ALL)
			continue;
		items[i] = (struct pp_spec_item){ .text = "",
						  .number = (uint64_t)ids[i] };
		spec.lists[tags[i]] =
			(struct pp_spec_list){ .items = &items[i], .nr = 1 };
	}
	if (target->cgroup) {
		cgroup.pattern = *target->cgroup
					 ? pattern_of_text(&reading->arena,
							   target->cgroup)
					 : "unknown";
		if (!cgroup.pattern)
			return -ENOMEM;
		spec.lists[PP_SPEC_CGROUP] =
			(struct pp_spec_list){ .items = &cgroup, .nr = 1 };
	}
	narrow.select.spec = &spec;
	narrow.select.any_axes = true;
	return pp_report_new(&reading->report, &narrow, diag);
}

const struct pp_symbol_entry *
optop_find_function(const struct pp_report *report,
		    const struct optop_target *target)
{
	const struct pp_symbol_entry *found = NULL;

	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];

		if (strcmp(entry->raw_name, target->symbol) != 0 ||
		    strcmp(entry->image->path, target->image) != 0)
			continue;
		if (!found || entry->vma == target->vma)
			found = entry;
	}
	return found;
}

/* ---- events -------------------------------------------------------------- */

/* Whether another class than @class counts its event with another unit mask. */
static bool has_twin(const struct pp_classes *classes,
		     const struct pp_class *class)
{
	for (size_t i = 0; i < classes->nr; i++) {
		const struct pp_class *other = &classes->classes[i];

		if (!strcmp(other->event, class->event) &&
		    other->count == class->count &&
		    other->unit_mask != class->unit_mask)
			return true;
	}
	return false;
}

static char *name_event(const struct pp_classes *classes,
			const struct pp_class *class)
{
	char *name = NULL;
	int len;

	if (pp_class_is_timer(class))
		return strdup("timer");
	if (has_twin(classes, class))
		len = asprintf(&name, "%s:%" PRIu64 ":0x%" PRIx64, class->event,
			       class->count, class->unit_mask);
	else
		len = asprintf(&name, "%s:%" PRIu64, class->event,
			       class->count);
	return len < 0 ? NULL : name;
}

/* The first class with the event of class @nr. */
static size_t first_class_of_event(const struct pp_classes *classes, size_t nr)
{
	size_t first = 0;

	while (!pp_same_event(&classes->classes[first], &classes->classes[nr]))
		first++;
	return first;
}

int optop_make_rows(struct optop_reading *reading, size_t nr, bool has_all,
		    const size_t **event_of)
{
	const struct pp_classes *classes = &reading->report->classes;
	size_t *events =
		op_arena_alloc(&reading->arena, classes->nr, sizeof(*events));
	struct optop_counts *counts;

	reading->counts = counts = optop_counts_new(nr, classes->nr, has_all);
	reading->rows =
		op_arena_alloc(&reading->arena, nr, sizeof(*reading->rows));
	if (!events || !counts || !reading->rows)
		return -ENOMEM;
	counts->when = time(NULL);
	counts->nr_events = 0;
	for (size_t c = 0; c < classes->nr; c++) {
		size_t first = first_class_of_event(classes, c);
		size_t event = first < c ? events[first] : counts->nr_events;

		events[c] = event;
		if (first == c) {
			counts->events[event] =
				name_event(classes, &classes->classes[c]);
			if (!counts->events[event])
				return -ENOMEM;
			counts->nr_events++;
		}
	}
	*event_of = events;
	return 0;
}

void optop_add_counts(const struct optop_reading *reading,
		      const size_t *event_of, uint64_t *to,
		      const uint64_t *from)
{
	for (size_t c = 0; c < reading->report->classes.nr; c++)
		to[event_of[c]] = pp_add_counts(to[event_of[c]], from[c]);
}
