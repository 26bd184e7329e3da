// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module leaves out the frames of the scheduler, in which every wait ends.
 * Only user space can find out where the scheduler's code is.
 */

#include "utils/opcontrol/opcontrol_waits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libop/events/op_ibs.h"
#include "libop/events/op_wait_event.h"
#include "libop/kernel/op_sched_text.h"

static size_t nr_waits(const struct event_list *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr += op_event_is_wait(list->event[i].event);
	return nr;
}

int oc_waits_check_source(const struct oc_fs *fs, const struct event_list *list,
			  enum oc_source source, struct op_diag *diag)
{
	const char *name = op_wait_event()->name;
	size_t nr = nr_waits(list);

	if (!nr)
		return 0;
	if (source == OC_SOURCE_PERF)
		return op_diag_set(
			diag, -EINVAL,
			"%s: opcontrol counts it by the module only; "
			"choose --source=module or another event, or "
			"use operf",
			name);
	if (nr > OP_WAIT_MAX_EVENTS)
		return op_diag_set(diag, -EINVAL,
				   "%s: at most %d can be counted together; "
				   "choose fewer",
				   name, OP_WAIT_MAX_EVENTS);
	/* What the module can do is known once it is loaded. */
	if (oc_fs_is_mounted(fs) && !oc_fs_has(fs, "wait"))
		return op_diag_set(diag, -ENODEV,
				   "%s: this kernel has no tracepoints of its "
				   "scheduler (CONFIG_TRACEPOINTS); choose "
				   "another event",
				   name);
	return 0;
}

static int write_wait_file(const struct oc_fs *fs, size_t nr, const char *name,
			   uint64_t value, struct op_diag *diag)
{
	char file[64];

	snprintf(file, sizeof(file), "wait/%zu/%s", nr, name);
	return oc_fs_write(fs, file, value, diag);
}

int oc_waits_write(const struct oc_fs *fs, const struct event_list *list,
		   struct op_diag *diag)
{
	size_t nr = 0, counter = list->has_timer && list->nr;
	uint64_t start, end;
	int err = 0;

	if (!oc_fs_has(fs, "wait"))
		return 0;
	for (size_t i = 0; i < list->nr && !err; i++) {
		const struct op_parsed_event *event = &list->event[i];

		if (op_event_is_wait(event->event)) {
			err = write_wait_file(fs, nr, "counter", counter, diag);
			if (!err)
				err = write_wait_file(fs, nr, "unit_mask",
						      event->um, diag);
			if (!err)
				err = write_wait_file(fs, nr, "interval",
						      event->count, diag);
			nr++;
		}
		counter += !op_event_is_ibs(event->event, NULL);
	}
	for (size_t i = nr; i < OP_WAIT_MAX_EVENTS && !err; i++)
		err = write_wait_file(fs, i, "interval", 0, diag);
	if (err || !nr)
		return err;
	op_sched_text(&start, &end);
	err = oc_fs_write(fs, "wait/scheduler_start", start, diag);
	return err ?: oc_fs_write(fs, "wait/scheduler_end", end, diag);
}
