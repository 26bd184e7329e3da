/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_OPTIONS_H
#define UTILS_OPCONTROL_OPCONTROL_OPTIONS_H

/*
 * What the command line asks for, checked for sense as a whole: at most one
 * command, and settings only beside those commands that take them.
 */

#include <stdbool.h>

#include "libop/op_diag.h"
#include "utils/opcontrol/opcontrol_settings.h"

struct oc_command;

struct oc_request {
	const struct oc_command *command; /* NULL: only settings are saved */
	char *argument; /* of the command, or NULL */
	char *values[OC_NR_SETTINGS]; /* as given, NULL where not given */
	bool has_settings; /* any of values is given */
	bool setup;
	bool verbose;
	char *daemon_verbose; /* words for the daemon's --verbose, or NULL */
	bool version;
};

/*
 * Parse the command line. Returns 0; -EINVAL with the reason in @diag;
 * -ENOMEM. --help and --usage print and exit here, by way of popt. In any case
 * oc_request_release() frees what is in *@request.
 */
int oc_request_parse(struct oc_request *request, int argc, const char **argv,
		     struct op_diag *diag);

/* Whether the setting @option was given. */
bool oc_request_has(const struct oc_request *request, const char *option);

void oc_request_release(struct oc_request *request);

#endif /* UTILS_OPCONTROL_OPCONTROL_OPTIONS_H */
