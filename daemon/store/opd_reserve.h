/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_RESERVE_H
#define DAEMON_STORE_OPD_RESERVE_H

/*
 * A little of the disk, in a file of the session folder, that is given back
 * when there is no room for the ledger: what samples do to a disk that is full
 * must not be lost with them. A daemon that was killed leaves it to the next.
 */

#include <stdbool.h>

struct op_session;

/* Have it, if that much is free. */
void opd_reserve_make(const struct op_session *session);

/* Give it back. Returns whether there was any. */
bool opd_reserve_use(const struct op_session *session);

#endif /* DAEMON_STORE_OPD_RESERVE_H */
