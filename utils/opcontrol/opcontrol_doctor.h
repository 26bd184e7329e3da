/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_DOCTOR_H
#define UTILS_OPCONTROL_OPCONTROL_DOCTOR_H

/*
 * The output of --doctor.
 */

struct opcontrol;

/* Returns 0 where something can be profiled, -ENODEV where nothing can, or
 * another -errno with the reason in oc->diag. */
int oc_doctor(struct opcontrol *oc);

#endif /* UTILS_OPCONTROL_OPCONTROL_DOCTOR_H */
