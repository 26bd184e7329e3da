/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_COMMANDS_H
#define UTILS_OPCONTROL_OPCONTROL_COMMANDS_H

/*
 * The table of what opcontrol can do. A new command is a new row.
 */

#include "utils/opcontrol/opcontrol_options.h"

#define OC_NR_COMMANDS 13

extern const struct oc_command oc_commands[OC_NR_COMMANDS];

#endif /* UTILS_OPCONTROL_OPCONTROL_COMMANDS_H */
