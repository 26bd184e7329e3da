// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ophelp --check: whether the event files are sound. Reading a type checks
 * each line by itself; beyond that every event and every entry of its unit
 * mask is written as a user would write it, parsed, and given a counter. So a
 * file that passes has no event that cannot be chosen. A type with a mistake
 * is told, and the others are still checked.
 */

#include "utils/ophelp/ophelp_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/events/op_events.h"
#include "libop/events/op_parse_event.h"

struct counts {
	size_t types;
	size_t wrong;
	size_t events;
	size_t specs; /* event specifications tried */
};

/* A specification, as a user would write it. */
static int try_spec(const struct op_events *events, const char *spec,
		    struct counts *counts, struct op_diag *diag)
{
	struct op_parsed_event parsed;
	int counter, err;

	err = op_parse_event(&parsed, events, spec, NULL, diag);
	if (!err)
		err = op_check_events(&counter, events, &parsed, 1, diag);
	counts->specs++;
	return err;
}

static int try_um_entry(const struct op_events *events,
			const struct op_event *event,
			const struct op_unit_mask_entry *entry,
			struct counts *counts, struct op_diag *diag)
{
	char um[32], *spec;
	int err;

	snprintf(um, sizeof(um), "0x%" PRIx64, entry ? entry->value : 0);
	if (asprintf(&spec, "%s:%" PRIu64 ":%s:1:1", event->name,
		     event->min_count,
		     !entry	   ? ""
		     : entry->name ? entry->name
				   : um) < 0)
		return -ENOMEM;
	err = try_spec(events, spec, counts, diag);
	free(spec);
	return err;
}

static int try_event_specs(const struct op_events *events,
			   const struct op_event *event, struct counts *counts,
			   struct op_diag *diag)
{
	int err = try_um_entry(events, event, NULL, counts, diag);

	for (size_t i = 0; !err && i < event->um->nr; i++)
		err = try_um_entry(events, event, &event->um->entries[i],
				   counts, diag);
	counts->events++;
	return err;
}

static int check_cpu_type(const char *dir, const char *cpu,
			  struct counts *counts, struct op_diag *diag)
{
	struct op_events *events;
	int err = op_events_load(&events, dir, cpu, diag);

	counts->types++;
	if (err)
		return err;
	for (size_t i = 0; !err && i < events->nr; i++)
		err = try_event_specs(events, &events->event[i], counts, diag);
	if (!err)
		err = try_spec(events, "default", counts, diag);
	op_events_free(events);
	return err;
}

static void check_and_tell(const char *dir, const char *cpu,
			   struct counts *counts)
{
	struct op_diag why = { "" };

	if (!check_cpu_type(dir, cpu, counts, &why))
		return;
	counts->wrong++;
	fflush(stdout);
	if (strncmp(why.text, dir, strlen(dir)) != 0)
		fprintf(stderr, "ophelp: %s/%s: %s\n", dir, cpu, why.text);
	else
		fprintf(stderr, "ophelp: %s\n", why.text);
}

int ophelp_check(const char *dir, const char *cpu, struct op_diag *diag)
{
	struct counts counts = { 0 };
	char *names = NULL;
	int err = 0;

	if (cpu)
		check_and_tell(dir, cpu, &counts);
	else
		err = op_cpu_type_names(&names, dir, diag);
	if (err)
		return err;
	for (const char *name = names; name && *name; name += strlen(name) + 1)
		check_and_tell(dir, name, &counts);
	free(names);
	if (!counts.types)
		return op_diag_set(diag, -ENOENT, "%s: no CPU types", dir);
	printf("%zu CPU types, %zu events, %zu specifications: %zu wrong\n",
	       counts.types, counts.events, counts.specs, counts.wrong);
	return (int)counts.wrong;
}
