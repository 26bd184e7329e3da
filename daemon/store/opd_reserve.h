/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_RESERVE_H
#define DAEMON_STORE_OPD_RESERVE_H

/*
 * A little of the disk, in a file of the session folder, that becomes the
 * ledger when there is no room for a new one: what samples do to a disk that is
 * full must not be lost with them. The old ledger is the reserve then: room
 * that was free for a moment could be taken by whoever fills the disk. A daemon
 * that was killed leaves the reserve to the next.
 */

struct op_ledger;
struct op_session;

/* Have it, if that much is free. */
void opd_reserve_make(const struct op_session *session);

/* Replace @path by @ledger. Returns 0 or -errno, -ENOENT without a reserve. */
int opd_reserve_write(const struct op_session *session,
		      const struct op_ledger *ledger, const char *path);

/* Give it back. */
void opd_reserve_free(const struct op_session *session);

#endif /* DAEMON_STORE_OPD_RESERVE_H */
