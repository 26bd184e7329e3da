/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_SESSION_READERS_H
#define LIBOP_SESSION_OP_SESSION_READERS_H

/*
 * The readers of a session. A session has the names of files in folders
 * that are closed to others, addresses of the kernel and copies of binaries, so
 * what root profiles is for root, and for a group that root names. Other users'
 * sessions are as open as their umask(2) makes a folder.
 *
 * The folder samples/ of a session says who they are: whoever makes another
 * folder of the session beside it makes it as open as that.
 */

#include <sys/types.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_session.h"

/*
 * The group that is called @name or has that number. Returns 0, or -EINVAL
 * with the reason in @diag.
 */
int op_session_group(gid_t *group, const char *name, struct op_diag *diag);

/*
 * Make samples/ and the folders that the session folder is in, as far as they
 * are missing. With @group, which may be NULL, its members may read samples/
 * and the folders beside it, also if they were there. Returns 0, or -errno
 * with the reason in @diag.
 */
int op_session_make_samples(const struct op_session *session,
			    const gid_t *group, struct op_diag *diag);

/*
 * Make @path, a folder beside a session's samples/, as open as that is; for its
 * owner alone where there are no samples. Returns 0, also if it is there, or
 * -errno.
 */
int op_session_make_folder(const char *path);

#endif /* LIBOP_SESSION_OP_SESSION_READERS_H */
