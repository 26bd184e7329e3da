/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_MODULE_H
#define UTILS_OPCONTROL_OPCONTROL_MODULE_H

/*
 * Loading and unloading the kernel module oprofile, and saying in words why
 * the kernel would not have it.
 */

#include <stdbool.h>

#include "libop/base/op_diag.h"

/* Whether the running kernel has oprofilefs, as a module or built in. What it
 * says of itself is read below the folder @root, "" for the machine's own. */
bool oc_module_is_present(const char *root);

/* Why that kernel takes no module at all, and what to do; NULL if it may. */
const char *oc_module_is_refused(const char *root);

/*
 * Load the module: the file named by $OPROFILE_MODULE; else what modprobe
 * finds; else the one in the build tree that @tools, the folder of opcontrol,
 * lies in. Returns 0 or -errno with the reason in @diag.
 */
int oc_module_load(const char *tools, bool verbose, struct op_diag *diag);

/*
 * The same without loading it. Returns 0 where it might load, for only the
 * kernel knows.
 */
int oc_module_find(const char *tools, struct op_diag *diag);

/* Unload the module; one that is built in or absent is left alone. Returns 0
 * or -errno with the reason in @diag. */
int oc_module_unload(bool verbose, struct op_diag *diag);

/*
 * The reason why @what could not be loaded, for the errno value @err of
 * finit_module(2) (manual page, ERRORS), in @diag. Returns -@err.
 */
int oc_module_explain(const char *what, int err, struct op_diag *diag);

#endif /* UTILS_OPCONTROL_OPCONTROL_MODULE_H */
