/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_MINE_H
#define UTILS_OPCONTROL_OPCONTROL_MINE_H

/*
 * The command --mine=DIR: get the samples of the caller's own processes from a
 * daemon that profiles the machine (daemon/user_samples/opd_user_samples.h),
 * and make a session of them in the folder DIR.
 */

#include "libop/base/op_diag.h"

struct opcontrol;

/* Whether DIR can be a folder: 0 or -EINVAL with the reason. */
int oc_mine_check(const char *folder, struct op_diag *diag);

/* 0, or -errno with the reason in oc->diag. */
int oc_mine(struct opcontrol *oc);

#endif /* UTILS_OPCONTROL_OPCONTROL_MINE_H */
