// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Between two looks at the folder, --max-disk is a single number, the room: a
 * file that is made takes its first block, its name and the folders that are
 * missing, and libdb takes what a file grows by (odb_share_room()). Estimates
 * are on the safe side; the next look puts them right.
 */

#include "daemon/store/opd_disk.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/opd_store.h"
#include "libdb/db_folder.h"
#include "libop/base/op_log.h"
#include "libop/base/op_search.h"
#include "libop/session/op_session.h"
#include "libop/session/op_span.h"
#include "libop/files/op_walk.h"

/* The size of a new folder, and the least size of a sample file. */
#define BLOCK 4096
/* A name in its folder: with what ext4 leaves free when it splits a block, and
 * once more for the time when it is .NAME.grow. */
#define NAME_FACTOR 4
#define NAME_OVERHEAD 32
/* For the ledger and the names of processes: an eighth, but no more. */
#define OTHERS_MAX ((uint64_t)256 << 10)
/* For the log and the one before it, what any user may fill: a sixteenth. */
#define LOGS_PART 16

void opd_disk_init(struct opd_store *store, unsigned int mib)
{
	const struct op_history *history = &store->history.limits;
	uint64_t limit = (uint64_t)mib << 20, others, logs = 0;

	if (limit) {
		logs = limit / LOGS_PART;
		if (logs > 2 * OP_LOG_MAX)
			logs = 2 * OP_LOG_MAX;
		store->log->max = logs / 2;
		limit -= logs;
	}
	if (history->bytes && (!limit || limit > op_history_part(history)))
		limit = op_history_part(history);
	others = limit / 8;
	limit -= others < OTHERS_MAX ? others : OTHERS_MAX;
	store->disk.limit =
		store->pack.limit && !history->bytes ? limit / 2 : limit;
	store->disk.is_short = store->disk.said = false;
	opd_disk_measure(store);
}

/* All but the pack that a child writes, which the other half is for, and the
 * spans of the history, which have a bound of their own. */
static int add_blocks(const struct op_walk_entry *entry, void *ctx)
{
	uint64_t *bytes = ctx;
	struct op_span span;

	if (entry->depth == 1 && op_span_parse(entry->name, &span))
		return OP_WALK_SKIP;
	if ((entry->kind == OP_WALK_FOLDER || entry->kind == OP_WALK_FILE) &&
	    strcmp(entry->name, "." DB_FOLDER_PACK ".grow"))
		*bytes += (uint64_t)entry->st->st_blocks * 512;
	return 0;
}

void opd_disk_measure(struct opd_store *store)
{
	struct opd_disk *disk = &store->disk;
	uint64_t used = 0;

	if (!disk->limit)
		return;
	/* An entry that cannot be looked at is too little to matter here. */
	(void)op_walk(store->session->current, add_blocks, &used);
	disk->room = disk->limit > used ? disk->limit - used : 0;
}

/* Whether there is the folder that the first @len bytes of @path name. */
static bool has_folder(const char *path, size_t len)
{
	char folder[PATH_MAX];

	memcpy(folder, path, len);
	folder[len] = '\0';
	return !access(folder, F_OK);
}

/*
 * Bytes that the missing folders of @path will take. A folder that is there has
 * all that it is in, so the first that is not is searched by halves: a path may
 * have a thousand.
 */
static uint64_t folders_len(const char *path)
{
	uint16_t ends[PATH_MAX]; /* of each folder */
	size_t nr = 0;

	for (size_t i = 1; i < PATH_MAX && path[i]; i++)
		if (path[i] == '/')
			ends[nr++] = (uint16_t)i;
	nr -= OP_BISECT(i, nr, has_folder(path, ends[i]));
	return nr * (uint64_t)BLOCK;
}

int opd_disk_take(struct opd_store *store, const char *path, uint64_t *taken)
{
	struct opd_disk *disk = &store->disk;
	const char *slash = strrchr(path, '/');
	uint64_t len;

	*taken = 0;
	if (!disk->limit || !access(path, F_OK))
		return 0;
	len = BLOCK +
	      NAME_FACTOR * (NAME_OVERHEAD + (slash ? strlen(slash) : 0));
	if (len <= disk->room)
		len += folders_len(path);
	if (len > disk->room)
		return -EDQUOT;
	disk->room -= len;
	*taken = len;
	return 0;
}

void opd_disk_give_back(struct opd_store *store, uint64_t taken)
{
	store->disk.room += taken;
}

uint64_t *opd_disk_room(struct opd_store *store)
{
	return store->disk.limit ? &store->disk.room : NULL;
}

void opd_disk_refused(struct opd_store *store, int err)
{
	struct opd_disk *disk = &store->disk;

	if (err != -EDQUOT || !disk->limit)
		return;
	disk->is_short = true;
	if (disk->said)
		return;
	disk->said = true;
	op_log(store->log,
	       "%s: has what %s allows; samples at new places are lost%s",
	       store->session->current,
	       store->history.limits.bytes ? "--history" : "--max-disk",
	       store->history.limits.bytes
		       ? " until the span ends, in some seconds"
	       : store->pack.limit ? " until packing has made room"
				   : "");
}

bool opd_disk_is_short(const struct opd_store *store)
{
	return store->disk.is_short;
}

void opd_disk_freed(struct opd_store *store)
{
	store->disk.is_short = false;
	opd_disk_measure(store);
}

bool opd_disk_seems_half_full(const struct opd_store *store)
{
	const struct opd_disk *disk = &store->disk;

	return disk->limit && disk->room < disk->limit / 2;
}

bool opd_disk_is_half_full(struct opd_store *store)
{
	if (!opd_disk_seems_half_full(store))
		return false;
	opd_disk_measure(store);
	return opd_disk_seems_half_full(store);
}

bool opd_disk_wants_pack(const struct opd_store *store, uint64_t loose)
{
	const struct opd_disk *disk = &store->disk;

	return disk->limit && loose >= disk->limit / (disk->is_short ? 8 : 2);
}
