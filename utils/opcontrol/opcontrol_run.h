/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_RUN_H
#define UTILS_OPCONTROL_OPCONTROL_RUN_H

/*
 * The parts of one run of opcontrol. main fills them in the order of the
 * members. Only main, the commands and --status, which put the parts together,
 * take all of this; a part takes what it uses.
 */

#include "libop/base/op_diag.h"
#include "libop/session/op_session.h"
#include "utils/daemon.h"
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
	struct daemon daemon;
	struct oc_choice choice;
	struct oc_events events;
	struct op_diag diag; /* the reason of a failure, which main prints */
};

#endif /* UTILS_OPCONTROL_OPCONTROL_RUN_H */
