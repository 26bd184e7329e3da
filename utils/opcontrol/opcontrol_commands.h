/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_COMMANDS_H
#define UTILS_OPCONTROL_OPCONTROL_COMMANDS_H

/*
 * The table of what opcontrol can do. A new command is one line in it.
 */

#include "libop/op_diag.h"

struct opcontrol;

/* Flags of a command. */
#define OC_NEEDS_ROOT 1u
#define OC_NEEDS_DAEMON 2u
#define OC_TAKES_SETTINGS 4u
#define OC_NEEDS_NOTHING 8u /* neither settings nor the daemon */

struct oc_command {
	const char *option; /* without the dashes */
	char letter; /* the short option, 0 for none */
	const char *argument; /* its name in the help, NULL: takes none */
	const char *help;
	unsigned int flags;
	/* Whether the argument makes sense: 0 or -EINVAL with the reason. */
	int (*check)(const char *argument, struct op_diag *diag);
	/* 0, or -errno with the reason in oc->diag. */
	int (*run)(struct opcontrol *oc);
};

#define OC_NR_COMMANDS 11

extern const struct oc_command oc_commands[OC_NR_COMMANDS];

#endif /* UTILS_OPCONTROL_OPCONTROL_COMMANDS_H */
