// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only folders are looked at in which nobody but the daemon and its child makes
 * files: samples/current, the top of saved sessions (a child that packed one
 * may have been killed), and symbols. Settings and the store of symbols are
 * written by other programs, which may be at it just now.
 *
 * A name must be of the form that libdb and op_replace_open() make, and the
 * file a regular one.
 */

#include "daemon/store/opd_leftovers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "daemon/store/opd_store.h"
#include "libop/base/op_log.h"
#include "libop/session/op_session.h"
#include "libop/files/op_walk.h"

struct sweep {
	struct opd_store *store;
	const char *whole; /* the folder to be looked at with all below it */
	uint64_t nr;
	uint64_t bytes; /* on the disk */
};

static int sweep_entry(const struct op_walk_entry *entry, void *ctx)
{
	struct sweep *sweep = ctx;
	struct op_log *log = sweep->store->log;

	if (entry->kind == OP_WALK_FOLDER && entry->depth > 1 &&
	    strncmp(entry->path, sweep->whole, strlen(sweep->whole)) != 0)
		return OP_WALK_SKIP;
	if (entry->kind == OP_WALK_UNREAD)
		op_log(log, "%s: %s", entry->path, strerror(-entry->err));
	if (entry->kind != OP_WALK_FILE ||
	    !op_session_is_unfinished(entry->name))
		return 0;
	if (unlink(entry->path)) {
		op_log(log, "%s: cannot be removed: %s", entry->path,
		       strerror(errno));
		return 0;
	}
	sweep->nr++;
	sweep->bytes += (uint64_t)entry->st->st_blocks * 512;
	return 0;
}

void opd_leftovers_remove(struct opd_store *store)
{
	const struct op_session *session = store->session;
	struct sweep sweep = { .store = store, .whole = session->current };
	int err = op_walk(session->samples, sweep_entry, &sweep)
			  ?: op_walk(session->symbols, sweep_entry, &sweep);

	if (err)
		op_log(store->log, "%s: %s", session->samples, strerror(-err));
	if (sweep.nr)
		op_log(store->log,
		       "removed %" PRIu64 " unfinished files, %" PRIu64
		       " KiB, that a killed daemon left",
		       sweep.nr, sweep.bytes / 1024);
}
