/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OP_SESSION_FOLDER_H
#define LIBOP_OP_SESSION_FOLDER_H

/*
 * The folders of a session (op_session.h) as a whole: emptying them and giving
 * them other names, while no daemon works in them.
 */

#include "libop/op_diag.h"
#include "libop/op_session.h"

/*
 * Remove the samples of the current session and their ledger. Returns 0, also
 * when there are none, or -errno with the reason.
 */
int op_session_reset(const struct op_session *session, struct op_diag *diag);

/*
 * Make the current session the saved session @name, which is sound
 * (op_session_name_check()). Returns 0; -EEXIST, -ENOENT without a current
 * session, or another -errno, with the reason.
 */
int op_session_save(const struct op_session *session, const char *name,
		    struct op_diag *diag);

#endif /* LIBOP_OP_SESSION_FOLDER_H */
