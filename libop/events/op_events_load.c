// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads the events of one CPU type from the files of its folder.
 *
 * Unit masks are read first, as events refer to them by name, and each is
 * checked as a whole once its entries are known. Both files may include those
 * of another type, up to a depth. All names are parts of the files' texts,
 * which live as long as the events; paths are kept for messages about a line.
 */

#include "libop/events/op_events.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/events/op_events_read.h"

static int read_cpu_events(struct op_events *events, const char *dir,
			   struct op_diag *diag)
{
	struct op_events_reader r = { .events = events,
				      .dir = dir,
				      .diag = diag };
	const char *cpu = events->cpu->name;
	int err = op_events_read_unit_masks(&r, cpu);

	for (size_t i = 0; !err && i < events->nr_ums; i++)
		err = op_unit_mask_check(events->um[i], diag);
	err = err ?: op_events_read_events(&r, cpu);
	if (err)
		return err;
	if (!events->nr)
		return op_diag_set(diag, -EINVAL, "%s/%s/events: no events",
				   dir, cpu);
	for (size_t i = 0; i < events->nr_ums; i++) {
		const struct op_unit_mask *um = events->um[i];

		if (um->own && !um->used)
			return op_unit_mask_error(um, diag, "no event uses it");
	}
	return op_events_read_original(&r, cpu);
}

int op_events_load(struct op_events **out, const char *dir, const char *cpu,
		   struct op_diag *diag)
{
	struct op_events *events = calloc(1, sizeof(*events));
	int err;

	if (!events)
		return op_out_of_memory(diag);
	err = op_cpu_type_read(&events->cpu, dir, cpu, diag);
	if (!err)
		err = read_cpu_events(events, dir, diag);
	if (err) {
		op_events_free(events);
		return err;
	}
	*out = events;
	return 0;
}

void op_events_free(struct op_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->nr_ums; i++) {
		free(events->um[i]->entries);
		free(events->um[i]);
	}
	for (size_t i = 0; i < events->nr_texts; i++)
		free(events->texts[i]);
	op_cpu_type_free(events->cpu);
	free(events->um);
	free(events->texts);
	free(events->paths);
	free(events->event);
	free(events->original);
	free(events);
}
