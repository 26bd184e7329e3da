/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_SESSION_H
#define DAEMON_STORE_OPD_SESSION_H

/*
 * The session's folders, its lock, and what can be done with its samples as a
 * whole.
 */

#include <stdint.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"

struct op_session;
struct opd_store;

/*
 * Make the folders that are not there, for @group to read, too, unless that is
 * NULL (op_session_readers.h). Returns 0 or -errno with the reason.
 */
int opd_session_make(const struct op_session *session, const gid_t *group,
		     struct op_diag *diag);

/*
 * Take the session's lock, which the kernel gives back when this process
 * ends, however it ends; the lock file says its pid meanwhile. Returns 0;
 * -EBUSY with the reason when another daemon has it, -errno.
 */
int opd_session_lock(struct opd_store *store, struct op_diag *diag);
void opd_session_unlock(struct opd_store *store);

/*
 * *@nr is the number of samples in the flat sample files of samples/current,
 * packed or not (libdb/db_folder.h); what its call trees hold is added to
 * @stacks (op_ledger.h), unless that is NULL. Files that are damaged are
 * renamed (opd_sample_file.h), and so is a pack. Returns 0 or -errno, when
 * nobody knows how many there are; the log has why.
 */
int opd_session_count(struct opd_store *store, uint64_t *nr, uint64_t *stacks);

/* Delete samples/current, and make it anew. Returns 0 or -errno with the
 * reason. */
int opd_session_reset(struct opd_store *store, struct op_diag *diag);

/*
 * Give samples/current the name @name, which op_session_name_check() found
 * sound, and start a new one. Returns 0, -EEXIST or -errno with the reason.
 */
int opd_session_rename(struct opd_store *store, const char *name,
		       struct op_diag *diag);

#endif /* DAEMON_STORE_OPD_SESSION_H */
