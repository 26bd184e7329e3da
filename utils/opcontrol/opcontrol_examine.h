/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_EXAMINE_H
#define UTILS_OPCONTROL_OPCONTROL_EXAMINE_H

/*
 * The checks of --doctor: what the machine has and lacks for each feature.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>

#include "utils/opcontrol/opcontrol_machine.h"

/* The event that the caller tries, for this process or all. */
struct perf_event_attr oc_examine_clock(bool with_kernel);

/* Run all checks and print to @out. Returns whether anything can be
 * profiled. */
bool oc_examine(struct oc_machine *machine, FILE *out);

/* The checks, by file. */
void oc_examine_module(struct oc_machine *machine);
void oc_examine_rights(struct oc_machine *machine);
void oc_examine_perf(struct oc_machine *machine);
void oc_examine_counters(struct oc_machine *machine);
void oc_examine_names(struct oc_machine *machine);
void oc_examine_session(struct oc_machine *machine);
void oc_examine_limits(struct oc_machine *machine);

#endif /* UTILS_OPCONTROL_OPCONTROL_EXAMINE_H */
