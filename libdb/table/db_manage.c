// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening and closing. A writer maps the file; a reader copies it, so that
 * nothing that happens to the file later can hurt it (the map of a file that
 * is cut short raises SIGBUS).
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
#include "libop/files/op_file.h"

static int check_header_of(int fd, off_t len)
{
	struct odb_header header;
	int err;

	if ((uint64_t)len < sizeof(header))
		return -EBADMSG;
	err = op_file_read_at(fd, &header, sizeof(header), 0);
	return err ? err : odb_check_header(&header, (uint64_t)len);
}

/* ---- readers ------------------------------------------------------------ */

/*
 * Copy the file twice. A writer at work takes slots while they are copied, so
 * that one copy may hold a key after the gap that the key had skipped, or a
 * count without its key. Taken slots stay taken: what the first copy has is
 * complete in the second, and so is all that was there before it.
 */
static int copy_twice(struct odb *odb, int fd, void *first, void *second,
		      size_t len)
{
	const struct odb_slot *before =
		(struct odb_slot *)((struct odb_header *)first + 1);
	int err = op_file_read_at(fd, first, len, 0) ?:
		  op_file_read_at(fd, second, len, 0) ?:
		  odb_check_header(second, len);

	if (err)
		return err;
	odb_attach(odb, second);
	odb->in_heap = true;
	err = odb_check_slots(odb, before, &odb->torn);
	odb->gaps = odb->torn;
	for (size_t i = 0; !err && i < odb->nr_slots; i++) {
		if (before[i].count || !odb->slots[i].count)
			continue;
		odb->slots[i].count = 0;
		odb->gaps = true;
	}
	return err;
}

static int copy_table_file(struct odb *odb, int fd)
{
	void *first, *second;
	struct stat st;
	size_t len;
	int err = odb_file_stat(fd, &st);

	if (!err)
		err = check_header_of(fd, st.st_size);
	if (err)
		return err;
	len = (size_t)st.st_size;
	first = calloc(1, len);
	second = calloc(1, len);
	err = -ENOMEM;
	if (first && second)
		err = copy_twice(odb, fd, first, second, len);
	free(first);
	if (!odb->header)
		free(second);
	return err;
}

static int open_table_reader(struct odb *odb, const char *path)
{
	int fd = odb_file_open(path, O_RDONLY);
	int err;

	if (fd < 0)
		return fd;
	err = copy_table_file(odb, fd);
	close(fd);
	return err;
}

/* ---- writers ------------------------------------------------------------ */

/*
 * After a kill the number of used slots may be behind, and one free slot may
 * have a key: odb_place() relies on there being none.
 */
static void tidy(struct odb *odb)
{
	for (size_t i = 0; i < odb->nr_slots; i++) {
		if (odb->slots[i].count)
			odb->nr_used++;
		else if (odb->slots[i].key)
			odb->slots[i].key = 0;
	}
	odb->header->nr_used = odb->nr_used;
}

/* odb_add() stops at a free slot, so no key may lie behind a gap: rehash every
 * key. */
static int close_gaps(struct odb *odb, const struct stat *st)
{
	int err = odb_rewrite(odb, odb->nr_slots, odb->seed, st);

	if (err == -EOVERFLOW)
		err = odb_grow(odb);
	odb->torn = true;
	return err;
}

static int map_table_file(struct odb *odb, int fd, const struct stat *st)
{
	void *map;
	int err = check_header_of(fd, st->st_size);

	if (!err)
		err = odb_file_fill(fd, st);
	if (err)
		return err;
	map = odb_file_map(fd, (size_t)st->st_size, 0);
	if (map == MAP_FAILED)
		return -errno;
	odb_attach(odb, map);
	odb->dev = st->st_dev;
	odb->ino = st->st_ino;
	err = odb_check_slots(odb, odb->slots, &odb->torn);
	if (err)
		return err;
	tidy(odb);
	odb->is_durable = true;
	return odb->torn ? close_gaps(odb, st) : 0;
}

static int open_table_writer(struct odb *odb, const char *path)
{
	struct stat st;
	int err = odb_file_path(&odb->path, path);
	int fd;

	if (err)
		return err;
	odb->writable = true;
	fd = odb_file_open(odb->path, O_RDWR);
	if (fd == -ENOENT)
		return odb_rewrite(odb, ODB_SLOTS_MIN, op_hash_new_seed(),
				   NULL);
	if (fd < 0)
		return fd;
	err = odb_file_stat(fd, &st);
	if (!err && st.st_size == 0)
		err = odb_rewrite(odb, ODB_SLOTS_MIN, op_hash_new_seed(), &st);
	else if (!err)
		err = map_table_file(odb, fd, &st);
	close(fd);
	return err;
}

/* ---- what the world sees ------------------------------------------------- */

int odb_open(struct odb **out, const char *path, enum odb_mode mode)
{
	struct odb *odb = calloc(1, sizeof(*odb));
	int err;

	if (!odb)
		return -ENOMEM;
	if (mode == ODB_RDWR)
		err = open_table_writer(odb, path);
	else
		err = open_table_reader(odb, path);
	if (err)
		odb_close(odb);
	else
		*out = odb;
	return err;
}

void odb_close(struct odb *odb)
{
	if (!odb)
		return;
	odb_detach(odb);
	free(odb->path);
	free(odb);
}

void *odb_user(struct odb *odb)
{
	return odb->header->user;
}

void odb_share_room(struct odb *odb, uint64_t *room)
{
	odb->room = room;
}

bool odb_is_torn(const struct odb *odb)
{
	return odb->torn;
}

int odb_sync(struct odb *odb)
{
	if (!odb->writable)
		return 0;
	if (msync(odb->header, odb_file_len(odb->nr_slots), MS_ASYNC))
		return -errno;
	/* From now on somebody may rely on what is in it. */
	odb->is_durable = true;
	return 0;
}
