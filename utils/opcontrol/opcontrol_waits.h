/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_WAITS_H
#define UTILS_OPCONTROL_OPCONTROL_WAITS_H

/*
 * Events of threads that wait (libop/events/op_wait_event.h), as the folders
 * wait/0 to wait/3 of oprofilefs.
 */

#include "libop/base/op_diag.h"
#include "utils/event_list.h"
#include "utils/opcontrol/opcontrol_fs.h"
#include "utils/opcontrol/opcontrol_settings.h"

/*
 * Whether @source can count the events of @list that are of threads that wait.
 * Returns 0, -EINVAL or -ENODEV with the reason in @diag.
 */
int oc_waits_check_source(const struct oc_fs *fs, const struct event_list *list,
			  enum oc_source source, struct op_diag *diag);

/*
 * Write those of @list, and turn the others off. A wait's counter is its place
 * in event_list_daemon_text(). Returns 0 or -errno with the reason in @diag.
 */
int oc_waits_write(const struct oc_fs *fs, const struct event_list *list,
		   struct op_diag *diag);

#endif /* UTILS_OPCONTROL_OPCONTROL_WAITS_H */
