/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_STATUS_H
#define UTILS_OPCONTROL_OPCONTROL_STATUS_H

/*
 * The output of --status.
 */

struct opcontrol;

/* Returns 0, or -errno with the reason in oc->diag. */
int oc_status(struct opcontrol *oc);

#endif /* UTILS_OPCONTROL_OPCONTROL_STATUS_H */
