/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_SAMPLES_H
#define UTILS_OPCONTROL_OPCONTROL_SAMPLES_H

/*
 * The sample files of a session while no daemon has them.
 */

struct opcontrol;

/* Remove the samples of the current session. Returns 0, also when there are
 * none, or -errno with the reason in oc->diag. */
int oc_samples_reset(struct opcontrol *oc);

/* Make the current session the saved session @name, which has been checked.
 * Returns 0 or -errno with the reason in oc->diag. */
int oc_samples_save(struct opcontrol *oc, const char *name);

#endif /* UTILS_OPCONTROL_OPCONTROL_SAMPLES_H */
