/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_IBS_H
#define UTILS_OPCONTROL_OPCONTROL_IBS_H

/*
 * Events of AMD IBS in opcontrol: whether they can be sampled, and the folders
 * ibs_fetch and ibs_op of oprofilefs, which are there where the hardware is.
 */

#include "utils/event_list.h"
#include "utils/event_machine.h"
#include "utils/opcontrol/opcontrol_fs.h"
#include "utils/opcontrol/opcontrol_settings.h"

/* Whether @source can sample those of @list that are of IBS, if any is. 0 or
 * -errno with the reason in @diag, like below. */
int oc_ibs_check_source(const struct oc_fs *fs, const struct event_list *list,
			enum oc_source source, struct op_diag *diag);

/* Write what the events of @list want, and turn off a kind without any. */
int oc_ibs_write(const struct oc_fs *fs, const struct event_machine *machine,
		 const struct event_list *list, struct op_diag *diag);

#endif /* UTILS_OPCONTROL_OPCONTROL_IBS_H */
