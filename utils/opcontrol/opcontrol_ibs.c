// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of AMD IBS. Each kind, fetch and op, is a PMU of its own and counts
 * one event at a time, so the folder of the kind gets what its first event
 * wants. What only some CPUs can do is a file where they can.
 */

#include "utils/opcontrol/opcontrol_ibs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libop/events/op_ibs.h"

/* Bits of the unit mask, see the event files. */
#define UM_OP_COUNT 1u
#define UM_BRANCH_TARGET 4u

static int check_ibs_kind(const struct oc_fs *fs, const char *event,
			  const char *kind, enum oc_source source,
			  struct op_diag *diag)
{
	if (source == OC_SOURCE_PERF)
		return op_diag_set(diag, -EINVAL,
				   "%s: of %s, which only the module samples; "
				   "choose --source=module or another event",
				   event, kind);
	/* Before the module is loaded nobody knows. */
	if (oc_fs_is_mounted(fs) && !oc_fs_has(fs, kind))
		return op_diag_set(diag, -ENODEV,
				   "%s: no %s here; AMD CPUs from family 10h "
				   "on have it, most virtual machines do not; "
				   "choose another event",
				   event, kind);
	return 0;
}

int oc_ibs_check_source(const struct oc_fs *fs, const struct event_list *list,
			enum oc_source source, struct op_diag *diag)
{
	int err = 0;

	for (int i = 0; i < OP_IBS_NR_KINDS && !err; i++) {
		const struct op_parsed_event *first = op_ibs_first(
			list->event, list->nr, (enum op_ibs_kind)i);

		if (first)
			err = check_ibs_kind(
				fs, first->event->name,
				op_ibs_kind_name((enum op_ibs_kind)i), source,
				diag);
	}
	return err;
}

/* ---- oprofilefs ---------------------------------------------------------- */

/* A folder of oprofilefs; after the first error nothing more is written. */
struct ibs_folder {
	const struct oc_fs *fs;
	const char *kind; /* its name */
	struct op_diag *diag;
	int err;
};

static void write_ibs_file(struct ibs_folder *folder, const char *name,
			   uint64_t value)
{
	char file[64];

	snprintf(file, sizeof(file), "%s/%s", folder->kind, name);
	if (!folder->err)
		folder->err =
			oc_fs_write(folder->fs, file, value, folder->diag);
}

/* Write a file that only some CPUs have; the others cannot do @what. */
static void write_ibs_option(struct ibs_folder *folder, const char *name,
			     bool on, const char *what)
{
	char file[64];

	snprintf(file, sizeof(file), "%s/%s", folder->kind, name);
	if (oc_fs_has(folder->fs, file))
		write_ibs_file(folder, name, on);
	else if (on && !folder->err)
		folder->err = op_diag_set(
			folder->diag, -ENODEV,
			"%s: this CPU cannot %s; choose another unit mask",
			folder->kind, what);
}

static void write_ibs_event(struct ibs_folder *folder,
			    const struct event_machine *machine,
			    const struct op_parsed_event *event)
{
	/* The kernel numbers the PMUs as it finds them, and tells user space
	 * alone. */
	uint64_t type = 0;
	int err = event_machine_pmu_type(machine, folder->kind, &type);

	if (err)
		folder->err = op_diag_set(
			folder->diag, err,
			"/sys/bus/event_source/devices/%s/type: the kernel has "
			"no such PMU; choose another event",
			folder->kind);
	write_ibs_file(folder, "type", type);
	write_ibs_file(folder, "max_count", event->count);
	write_ibs_file(folder, "kernel", event->kernel);
	write_ibs_file(folder, "user", event->user);
	if (!strcmp(folder->kind, op_ibs_kind_name(OP_IBS_KIND_FETCH))) {
		write_ibs_file(folder, "rand_enable", 1);
	} else {
		write_ibs_option(folder, "dispatched_ops",
				 event->um & UM_OP_COUNT,
				 "count dispatched ops");
		write_ibs_option(folder, "branch_target",
				 event->um & UM_BRANCH_TARGET,
				 "show the targets of branches");
	}
	write_ibs_file(folder, "enable", 1);
}

int oc_ibs_write(const struct oc_fs *fs, const struct event_machine *machine,
		 const struct event_list *list, struct op_diag *diag)
{
	int err = 0;

	for (int i = 0; i < OP_IBS_NR_KINDS && !err; i++) {
		enum op_ibs_kind kind = (enum op_ibs_kind)i;
		struct ibs_folder folder = {
			.fs = fs,
			.kind = op_ibs_kind_name(kind),
			.diag = diag,
		};
		const struct op_parsed_event *first =
			op_ibs_first(list->event, list->nr, kind);

		if (first)
			write_ibs_event(&folder, machine, first);
		else if (oc_fs_has(fs, folder.kind))
			write_ibs_file(&folder, "enable", 0);
		err = folder.err;
	}
	return err;
}
