/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_SOURCE_H
#define UTILS_OPCONTROL_OPCONTROL_SOURCE_H

/*
 * Who takes the samples: the kernel module, or perf_events by way of the
 * daemon alone. What --source says is made a choice when a daemon is about to
 * be started; it stays that daemon's for its life.
 */

#include "libop/op_diag.h"
#include "utils/opcontrol/opcontrol_settings.h"

struct opcontrol;

struct oc_choice {
	/* OC_SOURCE_AUTO: not made yet, or not to be known before */
	enum oc_source source;
	char reason[OP_DIAG_MAX]; /* why this one, in one line */
};

/*
 * Make oc->choice, and the module ready if that is it. With --source=auto
 * perf_events are taken where the module cannot be had, which is said on
 * stderr; a folder that stands in for oprofilefs ($OPROFILE_FS) counts as the
 * module. Returns 0 or -errno with the reason in oc->diag.
 */
int oc_source_set_up(struct opcontrol *oc);

/*
 * Hand the numbers that are set to the module. With perf_events the daemon
 * gets them by its options, and those without effect are told on stderr.
 * Returns 0 or -errno with the reason in oc->diag.
 */
int oc_source_write_settings(struct opcontrol *oc);

/* Make oc->choice as far as can be said without changing anything. */
void oc_source_foresee(struct opcontrol *oc);

#endif /* UTILS_OPCONTROL_OPCONTROL_SOURCE_H */
