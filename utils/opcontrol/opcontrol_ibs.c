// SPDX-License-Identifier: GPL-2.0-or-later

#include "utils/opcontrol/opcontrol_ibs.h"

#include <errno.h>
#include <stdio.h>

#include "libop/op_ibs.h"
#include "utils/opcontrol/opcontrol.h"

/* Bits of the unit mask, see the event files. */
#define UM_OP_COUNT 1u
#define UM_BRANCH_TARGET 4u

static int check_kind(struct opcontrol *oc, const char *event, const char *kind,
		      enum oc_source source)
{
	if (source == OC_SOURCE_PERF)
		return op_diag_set(&oc->diag, -EINVAL,
				   "%s: of %s, which only the module samples; "
				   "choose --source=module or another event",
				   event, kind);
	/* Before the module is loaded nobody knows. */
	if (oc_fs_is_mounted(&oc->fs) && !oc_fs_has(&oc->fs, kind))
		return op_diag_set(&oc->diag, -ENODEV,
				   "%s: no %s here; AMD CPUs from family 10h "
				   "on have it, most virtual machines do not; "
				   "choose another event",
				   event, kind);
	return 0;
}

int oc_ibs_check_source(struct opcontrol *oc, const struct event_list *list,
			enum oc_source source)
{
	int err = 0;

	for (int i = 0; i < OP_IBS_NR_KINDS && !err; i++) {
		const struct op_parsed_event *first = op_ibs_first(
			list->event, list->nr, (enum op_ibs_kind)i);

		if (first)
			err = check_kind(oc, first->event->name,
					 op_ibs_kind_name((enum op_ibs_kind)i),
					 source);
	}
	return err;
}

/* ---- oprofilefs ---------------------------------------------------------- */

static int set_file(struct opcontrol *oc, const char *kind, const char *name,
		    uint64_t value)
{
	char file[64];

	snprintf(file, sizeof(file), "%s/%s", kind, name);
	return oc_fs_write(oc, file, value);
}

/* What only some CPUs have is a file where they have it. */
static int write_option(struct opcontrol *oc, const char *kind,
			const char *name, bool on, const char *what)
{
	char file[64];

	snprintf(file, sizeof(file), "%s/%s", kind, name);
	if (oc_fs_has(&oc->fs, file))
		return oc_fs_write(oc, file, on);
	if (!on)
		return 0;
	return op_diag_set(&oc->diag, -ENODEV,
			   "%s: this CPU cannot %s; choose another unit mask",
			   kind, what);
}

static int write_options(struct opcontrol *oc, enum op_ibs_kind kind,
			 const struct op_parsed_event *event)
{
	const char *name = op_ibs_kind_name(kind);
	int err;

	if (kind == OP_IBS_KIND_FETCH)
		return set_file(oc, name, "rand_enable", 1);
	err = write_option(oc, name, "dispatched_ops", event->um & UM_OP_COUNT,
			   "count dispatched ops");
	return err ? err
		   : write_option(oc, name, "branch_target",
				  event->um & UM_BRANCH_TARGET,
				  "tell the targets of branches");
}

/* The kernel numbers the PMUs as it finds them, and tells user space alone. */
static int write_type(struct opcontrol *oc, const char *kind)
{
	uint64_t type;
	int err = event_machine_pmu_type(&oc->events.machine, kind, &type);

	if (err)
		return op_diag_set(&oc->diag, err,
				   "/sys/bus/event_source/devices/%s/type: the "
				   "kernel has no such PMU; choose another "
				   "event",
				   kind);
	return set_file(oc, kind, "type", type);
}

static int write_kind(struct opcontrol *oc, enum op_ibs_kind kind,
		      const struct op_parsed_event *event)
{
	const char *name = op_ibs_kind_name(kind);
	int err = write_type(oc, name);

	if (!err)
		err = set_file(oc, name, "max_count", event->count);
	if (!err)
		err = set_file(oc, name, "kernel", event->kernel);
	if (!err)
		err = set_file(oc, name, "user", event->user);
	if (!err)
		err = write_options(oc, kind, event);
	return err ? err : set_file(oc, name, "enable", 1);
}

int oc_ibs_write(struct opcontrol *oc)
{
	const struct event_list *list = &oc->events.list;
	int err = 0;

	for (int i = 0; i < OP_IBS_NR_KINDS && !err; i++) {
		enum op_ibs_kind kind = (enum op_ibs_kind)i;
		const struct op_parsed_event *first =
			op_ibs_first(list->event, list->nr, kind);

		if (first)
			err = write_kind(oc, kind, first);
		else if (oc_fs_has(&oc->fs, op_ibs_kind_name(kind)))
			err = set_file(oc, op_ibs_kind_name(kind), "enable", 0);
	}
	return err;
}
