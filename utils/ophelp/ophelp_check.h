/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPHELP_OPHELP_CHECK_H
#define UTILS_OPHELP_OPHELP_CHECK_H

/*
 * ophelp --check: read the folder of one CPU type of @dir, or of all where
 * @cpu is NULL, and try what a user could ask for: every event with every
 * entry of its unit mask, the default event, a counter for each. Says how
 * much was right on standard output and what was wrong on standard error.
 * Returns how many folders are wrong, or -errno with the reason in @diag.
 */

#include "libop/base/op_diag.h"

int ophelp_check(const char *dir, const char *cpu, struct op_diag *diag);

#endif /* UTILS_OPHELP_OPHELP_CHECK_H */
