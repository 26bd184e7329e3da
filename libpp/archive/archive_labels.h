/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_ARCHIVE_ARCHIVE_LABELS_H
#define LIBPP_ARCHIVE_ARCHIVE_LABELS_H

/*
 * Labels (libop/session/op_labels.h) of the sessions in an archive.
 */

#include "libop/session/op_labels.h"
#include "libpp/messages.h"

/*
 * Add host, kernel and machine-id of this machine, as far as they are known.
 * That the system fails to read one becomes a message. Returns 0 or -ENOMEM.
 */
int pp_labels_of_machine(struct op_labels *labels,
			 struct pp_messages *messages);

#endif /* LIBPP_ARCHIVE_ARCHIVE_LABELS_H */
