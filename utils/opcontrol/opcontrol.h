/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_H
#define UTILS_OPCONTROL_OPCONTROL_H

/*
 * All that one run of opcontrol knows. main fills it in the order of its
 * members; every step takes it as a whole, returns 0 or -errno and leaves the
 * reason in diag, which main prints once.
 */

#include <stdbool.h>

#include "libop/op_diag.h"
#include "libop/op_session.h"
#include "utils/opcontrol/opcontrol_daemon.h"
#include "utils/opcontrol/opcontrol_events.h"
#include "utils/opcontrol/opcontrol_fs.h"
#include "utils/opcontrol/opcontrol_options.h"
#include "utils/opcontrol/opcontrol_settings.h"
#include "utils/opcontrol/opcontrol_source.h"

struct opcontrol {
	struct oc_request request;
	struct oc_fs fs;
	char tools[OC_PATH_MAX]; /* the folder that opcontrol lies in */
	struct oc_settings settings; /* those that the daemon runs with */
	struct op_session session;
	struct oc_daemon daemon;
	struct oc_choice choice;
	struct oc_events events;
	struct op_diag diag;
};

/* With --verbose: one line on stderr on what is done now, "+ TEXT". */
void oc_say(const struct opcontrol *oc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * *@value = the environment variable @name, NULL if it is not set or empty.
 * Returns 0, or -EPERM with the reason in @diag where the program has more
 * rights than the one who called it.
 */
int oc_environment(const char **value, const char *name, struct op_diag *diag);

#endif /* UTILS_OPCONTROL_OPCONTROL_H */
