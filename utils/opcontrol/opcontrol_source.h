/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_SOURCE_H
#define UTILS_OPCONTROL_OPCONTROL_SOURCE_H

/*
 * The choice of the source: the kernel module, or perf_events with the daemon
 * alone. It is made from --source when a daemon is about to be started, and
 * stays for the daemon's life.
 */

#include "libop/base/op_diag.h"
#include "utils/opcontrol/opcontrol_events.h"
#include "utils/opcontrol/opcontrol_fs.h"
#include "utils/opcontrol/opcontrol_settings.h"

struct oc_choice {
	/* OC_SOURCE_AUTO: not made yet, or not to be known before */
	enum oc_source source;
	char reason[OP_DIAG_MAX]; /* why this one, in one line */
};

/*
 * Make the @choice, and the module ready if that is it. With --source=auto
 * perf_events are taken where the module cannot be had, which is said on
 * stderr; a folder that stands in for oprofilefs ($OPROFILE_FS) counts as the
 * module. @tools is the folder of opcontrol. Returns 0 or -errno with the
 * reason in @diag.
 */
int oc_source_set_up(struct oc_choice *choice,
		     const struct oc_settings *settings, const struct oc_fs *fs,
		     const char *tools, struct op_diag *diag);

/*
 * Hand numbers and events to the module. With perf_events the daemon gets them
 * by its options, and numbers without effect are told on stderr. Returns 0 or
 * -errno with the reason in @diag.
 */
int oc_source_write_settings(const struct oc_choice *choice,
			     const struct oc_settings *settings,
			     const struct oc_events *events,
			     struct op_diag *diag);

/* Make the @choice as far as can be said without changing anything. */
void oc_source_foresee(struct oc_choice *choice,
		       const struct oc_settings *settings,
		       const struct oc_fs *fs, const char *tools);

#endif /* UTILS_OPCONTROL_OPCONTROL_SOURCE_H */
