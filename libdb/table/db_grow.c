// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A database gets another size by becoming another file: the new one is made
 * complete beside the old one under a name with a dot, then renamed over it.
 *
 *	NAME (old, mapped)	.NAME.grow (new, mapped)
 *	    | all pairs --------> |
 *	    <------ rename() ---- |
 *
 * A NAME that may have been brought to the disk is replaced by what is on the
 * disk, so that a power cut leaves one of both. Of a new one nothing is
 * promised yet, and thousands may come in a minute.
 *
 * Whenever the writer is killed, NAME is a whole database with all counts. A
 * .NAME.grow that a killed writer left is replaced by the next one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/table/db_file.h"
#include "libdb/table/db_table.h"
#include "libop/base/op_hash.h"

/* Map the new file @fd. */
static int map_new(struct odb *next, int fd)
{
	size_t len = odb_file_len(next->nr_slots);
	struct stat st;
	void *map;

	if (fstat(fd, &st))
		return -errno;
	map = odb_file_map(fd, len, MAP_POPULATE);
	if (map == MAP_FAILED)
		return -errno;
	next->header = map;
	next->dev = st.st_dev;
	next->ino = st.st_ino;
	return 0;
}

static int copy_content(struct odb *next, const struct odb *odb)
{
	uint64_t key, count;

	if (!odb->header)
		return 0;
	memcpy(next->header->user, odb->header->user, ODB_USER_SIZE);
	for (size_t at = 0; odb_next(odb, &at, &key, &count);) {
		struct odb_slot *slot = odb_place(next, key);

		if (!slot)
			return -EOVERFLOW;
		odb_slot_take(next, slot, key, count);
	}
	return 0;
}

/* Make the file @tmp, complete, and map it in @next. */
static int build_next_file(struct odb *next, const char *tmp, uint64_t seed,
			   const struct odb *odb, const struct stat *like)
{
	int fd = odb_file_create(tmp, odb_file_len(next->nr_slots), like);
	int err;

	if (fd < 0)
		return fd;
	err = map_new(next, fd);
	if (!err) {
		odb_init_header(next->header, next->nr_slots, seed);
		odb_attach(next, next->header);
		err = copy_content(next, odb);
	}
	/* The bytes of the map are in the page cache of the file. */
	if (!err && odb->is_durable && fsync(fd))
		err = -errno;
	close(fd);
	if (err) {
		odb_detach(next);
		unlink(tmp);
	}
	return err;
}

int odb_rewrite(struct odb *odb, uint64_t nr_slots, uint64_t seed,
		const struct stat *like)
{
	struct odb next = { .nr_slots = nr_slots, .writable = true };
	char *tmp = odb_file_tmp_path(odb->path);
	int err;

	if (!tmp)
		return -ENOMEM;
	err = build_next_file(&next, tmp, seed, odb, like);
	if (!err && rename(tmp, odb->path)) {
		err = -errno;
		unlink(tmp);
		odb_detach(&next);
	}
	free(tmp);
	if (err)
		return err;
	next.path = odb->path;
	next.is_durable = odb->is_durable;
	next.room = odb->room;
	odb_detach(odb);
	*odb = next;
	return 0;
}

/*
 * Returns the slots of a file some 1.3 times as long, so that each key takes
 * 21 to 28 bytes; 0 when that is too long.
 */
static uint64_t next_size(uint64_t nr_slots)
{
	uint64_t len = odb_file_len(nr_slots);
	uint64_t pages = (len / 10 * 13 + ODB_PAGE - 1) / ODB_PAGE;
	uint64_t next = (pages * ODB_PAGE - sizeof(struct odb_header)) /
			sizeof(struct odb_slot);

	return next > ODB_SLOTS_MAX ? 0 : next;
}

/* Whether a file of so many slots may lie beside the old one. */
static bool has_room(const struct odb *odb, uint64_t nr_slots)
{
	return !odb->room || odb_file_len(nr_slots) <= *odb->room;
}

int odb_grow(struct odb *odb)
{
	uint64_t nr_slots = odb->nr_slots;
	uint64_t seed = odb->seed;
	uint64_t old_len = odb_file_len(nr_slots);
	struct stat st;
	int err;

	/* First, as a table without room asks for each new key. */
	if (!has_room(odb, next_size(nr_slots)))
		return -EDQUOT;
	if (lstat(odb->path, &st))
		return -errno;
	if (st.st_dev != odb->dev || st.st_ino != odb->ino)
		return -ESTALE;
	/* A full row in a half-empty table: the keys suit the seed badly. */
	if (odb->nr_used < odb->used_max / 2)
		seed = op_hash_new_seed();
	do {
		nr_slots = next_size(nr_slots);
		if (!nr_slots)
			return -EFBIG;
		if (!has_room(odb, nr_slots))
			return -EDQUOT;
		err = odb_rewrite(odb, nr_slots, seed, &st);
		seed = op_hash_new_seed();
	} while (err == -EOVERFLOW);
	if (!err && odb->room)
		*odb->room -= odb_file_len(nr_slots) - old_len;
	return err;
}
