// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares a sample file that is about to be made with the pack of
 * samples/current, and with the folders on their way into it. All that is
 * counted under one name is added up in the end, so it must mean the same. The
 * pack stays open between two looks, until a packer has put another one in its
 * place.
 */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/opd_packer.h"
#include "daemon/store/opd_sample_file.h"
#include "daemon/store/opd_store.h"
#include "libdb/db_folder.h"
#include "libdb/odb.h"
#include "libdb/pack.h"
#include "libop/base/op_log.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_session.h"

/* A sample file that is to be made. */
struct newcomer {
	const char *name;
	const struct op_sample_header *header;
	bool (*agree)(const struct op_sample_header *there,
		      const struct op_sample_header *header);
};

/* ---- the pack ---------------------------------------------------------------
 */

static void close_pack(struct opd_pack *pack)
{
	pack_close(pack->pack);
	pack->pack = NULL;
}

static void say_rebuilt(struct opd_store *store, const char *path,
			uint64_t nr_lost)
{
	char lost[64] = "some";

	if (!nr_lost) {
		op_log(store->log,
		       "%s: its index was damaged and has been rebuilt; nothing is lost",
		       path);
		return;
	}
	if (nr_lost != UINT64_MAX)
		snprintf(lost, sizeof(lost), "%" PRIu64, nr_lost);
	op_log(store->log,
	       "%s: it was damaged and has been rebuilt; %s of its sample files are lost, and the damaged one is kept as .bad",
	       path, lost);
}

/*
 * Put a sound pack in place of the damaged one @path; one that had more stays
 * beside it. Not while a child writes the next one, which has the same name
 * until it is complete, and which will be sound.
 */
static int rebuild_pack(struct opd_store *store, const char *path)
{
	char bad[PATH_MAX + 16];
	uint64_t nr_lost;
	bool is_kept;
	int lock, err;

	if (store->pack.child)
		return -EBUSY;
	lock = opd_packer_lock(store->session->current, OPD_PACKER_LONG_WAIT);
	if (lock < 0)
		return lock;
	snprintf(bad, sizeof(bad), "%s.bad", path);
	is_kept = !link(path, bad);
	err = pack_rebuild(path, &nr_lost);
	close(lock);
	if (is_kept && (err || !nr_lost))
		unlink(bad);
	if (err)
		return err;
	store->recount |= nr_lost != 0;
	say_rebuilt(store, path, nr_lost);
	return 0;
}

/* Returns 0, also when there is nothing in it that can be read. */
static int open_damaged_pack(struct opd_store *store, const char *path,
			     struct stat *st)
{
	struct opd_pack *pack = &store->pack;
	int err = rebuild_pack(store, path);

	if (!err)
		err = pack_open(&pack->pack, path);
	else if (err != -EBADMSG)
		err = pack_recover(&pack->pack, path);
	if (!err)
		return stat(path, st) ? -errno : 0;
	pack->pack = NULL;
	if (err != -EBADMSG)
		return err;
	opd_store_rename_damaged(store, path);
	return 0;
}

static int open_current_pack(struct opd_store *store, const char *path,
			     struct stat *st)
{
	struct opd_pack *pack = &store->pack;
	int err;

	close_pack(pack);
	err = pack_open(&pack->pack, path);
	if (err)
		pack->pack = NULL;
	if (err == -EBADMSG || err == -EPROTO)
		err = open_damaged_pack(store, path, st);
	if (err || !pack->pack)
		return err;
	pack->dev = st->st_dev;
	pack->ino = st->st_ino;
	return 0;
}

void opd_pack_moved(struct opd_store *store)
{
	close_pack(&store->pack);
}

/* Have store->pack.pack be the pack that is there now; a child may replace it.
 */
static int look_at_pack(struct opd_store *store)
{
	struct opd_pack *pack = &store->pack;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%.4080s/" DB_FOLDER_PACK,
		 store->session->current);
	if (stat(path, &st)) {
		close_pack(pack);
		return errno == ENOENT ? 0 : -errno;
	}
	if (pack->pack && st.st_dev == pack->dev && st.st_ino == pack->ino)
		return 0;
	return open_current_pack(store, path, &st);
}

void opd_pack_init(struct opd_store *store, unsigned int limit)
{
	const char *dir = store->session->current;
	struct opd_packer_size size = { .left = false };
	struct op_diag diag = { "" };
	int err;

	memset(&store->pack, 0, sizeof(store->pack));
	store->pack.limit = limit;
	err = look_at_pack(store);
	if (!err)
		err = opd_packer_tidy(dir, &diag);
	if (!err)
		err = opd_packer_size(dir, &size);
	store->pack.left = size.left;
	if (err)
		op_log(store->log, "%s",
		       diag.text[0] ? diag.text : strerror(-err));
}

/* ---- what it says -----------------------------------------------------------
 */

static bool header_agrees(const struct newcomer *file,
			  const struct op_sample_header *there)
{
	return op_sample_header_check(there, file->name, NULL) ||
	       file->agree(there, file->header);
}

static bool pack_agrees(struct opd_store *store, const struct newcomer *file)
{
	const struct pack_entry *entry = NULL;
	struct op_sample_header there;

	if (store->pack.pack)
		entry = pack_find(store->pack.pack, file->name);
	if (!entry)
		return true;
	memcpy(&there, entry->user, sizeof(there));
	return header_agrees(file, &there);
}

static bool loose_file_agrees(const struct newcomer *file, const char *path)
{
	struct op_sample_header there;

	return odb_peek(path, &there) || header_agrees(file, &there);
}

/* The one where its name says. */
static bool named_file_agrees(const struct newcomer *file, const char *dir)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%s", dir, file->name);

	return len < 0 || (size_t)len >= sizeof(path) ||
	       loose_file_agrees(file, path);
}

/* The loose files of its name in .packing-@nr. */
static bool folder_agrees(struct opd_store *store, const struct newcomer *file,
			  uint64_t nr)
{
	char dir[PATH_MAX], path[PATH_MAX];
	int len = snprintf(dir, sizeof(dir), "%s/" DB_FOLDER_PACKING "%" PRIu64,
			   store->session->current, nr);

	if (len < 0 || (size_t)len >= sizeof(dir))
		return true;
	return (db_folder_loose(dir, file->name, path, sizeof(path)) ||
		loose_file_agrees(file, path)) &&
	       named_file_agrees(file, dir);
}

static int check_folders(struct opd_store *store, const struct newcomer *file)
{
	const char *dir = store->session->current;
	uint64_t *folders;
	size_t nr;
	int err = opd_packer_folders(dir, &folders, &nr);

	if (err)
		return err;
	/* The sample file that is open may be the one that is being made. */
	if (!named_file_agrees(file, dir))
		err = -EEXIST;
	for (size_t i = 0; i < nr && !err; i++)
		if (!folder_agrees(store, file, folders[i]))
			err = -EEXIST;
	free(folders);
	return err;
}

/*
 * Folders first: what a child brings from there into the pack meanwhile is
 * found in the pack.
 */
int opd_pack_check_header(struct opd_store *store, const char *name,
			  const struct op_sample_header *header,
			  bool (*agree)(const struct op_sample_header *there,
					const struct op_sample_header *header))
{
	const struct newcomer file = { name, header, agree };
	int err = check_folders(store, &file);

	if (!err)
		err = look_at_pack(store);
	if (err)
		return err;
	return pack_agrees(store, &file) ? 0 : -EEXIST;
}
