/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_LEFTOVERS_H
#define DAEMON_STORE_OPD_LEFTOVERS_H

/*
 * Files that a daemon was making when it was killed: .NAME.grow of sample files
 * and packs, .tmp-XXXXXX of ledgers and symbols. Nothing ever looks at them
 * again, but they take room.
 */

struct opd_store;

/*
 * Remove them. The caller has the session's lock and makes no file yet, so none
 * of them is anybody's. The log says how many there were, and what could not be
 * removed, which does no harm.
 */
void opd_leftovers_remove(struct opd_store *store);

#endif /* DAEMON_STORE_OPD_LEFTOVERS_H */
