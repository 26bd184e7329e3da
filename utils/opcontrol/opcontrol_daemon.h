/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_DAEMON_H
#define UTILS_OPCONTROL_OPCONTROL_DAEMON_H

/*
 * The daemon as opcontrol starts, asks and ends it (utils/daemon.h).
 */

#include "libop/base/op_diag.h"
#include "utils/daemon.h"
#include "utils/opcontrol/opcontrol_events.h"
#include "utils/opcontrol/opcontrol_settings.h"
#include "utils/opcontrol/opcontrol_source.h"

/* Sources of oprofiled's options. */
struct oc_daemon_options {
	const struct oc_settings *settings;
	const struct oc_choice *choice;
	const struct oc_events *events;
	const char *verbose; /* words for its log, or NULL */
};

/*
 * Start the daemon program, which is in the folder @tools or on $PATH, and wait
 * until it is ready. Returns 0 or -errno; where the daemon has told the reason
 * itself, @diag stays empty.
 */
int oc_daemon_start(struct daemon *daemon, const char *tools,
		    const struct oc_daemon_options *options,
		    struct op_diag *diag);

/* Send @request and wait until it is done. Returns 0 or -errno with the
 * reason in @diag. */
int oc_daemon_call(const struct daemon *daemon, const char *request,
		   struct op_diag *diag);

/* Ask the daemon to end, wait for it, and end it by signals if it does not.
 * Returns 0 or -errno with the reason in @diag. */
int oc_daemon_shutdown(const struct daemon *daemon, struct op_diag *diag);

#endif /* UTILS_OPCONTROL_OPCONTROL_DAEMON_H */
