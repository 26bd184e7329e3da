/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_OPTIONS_H
#define UTILS_OPCONTROL_OPCONTROL_OPTIONS_H

/*
 * The request on the command line, checked as a whole: at most one command, and
 * settings only with the commands that accept them.
 */

#include <stdbool.h>

#include "libop/base/op_diag.h"
#include "utils/opcontrol/opcontrol_settings.h"

struct opcontrol;

/* Flags of a command. */
#define OC_NEEDS_ROOT 1u
#define OC_NEEDS_DAEMON 2u
#define OC_TAKES_SETTINGS 4u
#define OC_NEEDS_NOTHING 8u /* neither settings nor the daemon */
#define OC_NAMES_SESSION 16u /* --session-dir is for this time */
#define OC_ASKS_NO_DAEMON 32u /* reads the saved settings alone */

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

#define OC_MAX_COMMANDS 16

struct oc_request {
	const struct oc_command *command; /* NULL: only settings are saved */
	char *argument; /* of the command, or NULL */
	char *values[OC_NR_SETTINGS]; /* by row, NULL where not given */
	bool has_settings; /* any of values is given, or what is ignored */
	bool setup;
	bool verbose;
	char *daemon_verbose; /* words for the daemon's --verbose, or NULL */
	bool version;
};

/*
 * Parse the command line, with the @nr commands of @commands. Returns 0;
 * -EINVAL with the reason in @diag; -ENOMEM. --help and --usage print and exit
 * here, by way of popt. In any case oc_request_release() frees what is in
 * *@request.
 */
int oc_request_parse(struct oc_request *request,
		     const struct oc_command *commands, int nr, int argc,
		     const char **argv, struct op_diag *diag);

void oc_request_release(struct oc_request *request);

#endif /* UTILS_OPCONTROL_OPCONTROL_OPTIONS_H */
