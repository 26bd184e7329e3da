// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading a pack whose header or index is damaged, or that was cut short, by
 * its groups. A group says by itself where it is, and of which entries it is
 * one, so that it is found by looking at all bytes for its magic:
 *
 *	... contents 64..127 | group: 64 entries from 64 on | contents 128 ...
 *
 * A head counts if its checksums are right and it is where it says. Content may
 * have the magic by chance, or hold another pack, on purpose: then no byte of
 * it is where it was written. Groups are met in the order of the file, so the
 * number of the first entry of each tells how many were lost before; the last
 * one says that it is the last.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdb/table/db_file.h"
#include "libdb/pack/pack_index.h"
#include "libop/files/op_file.h"

#define PIECE (1 << 20) /* bytes that are searched at a time */

struct recovery {
	struct pack *pack;
	uint64_t file_len;
	uint64_t behind; /* where the next contents may begin */
	uint64_t next; /* the number of the next entry */
	bool has_end;
	bool any;
};

static bool is_sound_group(const struct recovery *r,
			   const struct pack_group *group, uint64_t at)
{
	return group->crc ==
		       pack_crc(group, offsetof(struct pack_group, crc)) &&
	       group->at == at && group->contents_at >= r->behind &&
	       group->contents_at <= at && group->first >= r->next &&
	       group->first <= UINT64_MAX - group->nr &&
	       group->nr <= PACK_GROUP_NR && group->is_last <= 1 &&
	       group->len <= r->file_len - at - sizeof(*group) &&
	       (!r->any || group->generation == r->pack->generation);
}

/* Take the group at @at, if there is one. Returns 0, -ENOMEM or another -errno
 * of reading. */
static int take_group(struct recovery *r, uint64_t at)
{
	struct pack_group group;
	uint8_t *columns = NULL;
	int err;

	if (r->file_len - at < sizeof(group))
		return 0;
	err = op_file_read_at(r->pack->fd, &group, sizeof(group), at);
	if (err || !is_sound_group(r, &group, at))
		return err;
	err = pack_read_piece(r->pack->fd, at + sizeof(group), group.len,
			      group.columns_crc, &columns);
	if (!err)
		err = pack_index_add_group(&r->pack->index, &group, columns);
	free(columns);
	if (err)
		return err == -EBADMSG ? 0 : err;
	r->pack->nr_missing += group.first - r->next;
	r->pack->generation = group.generation;
	r->behind = at + sizeof(group) + group.len;
	r->next = group.first + group.nr;
	r->has_end = group.is_last;
	r->any = true;
	return 0;
}

/* Take all groups that begin among the @len bytes @bytes, which are at @at. */
static int take_groups(struct recovery *r, const uint8_t *bytes, size_t len,
		       uint64_t at)
{
	const uint8_t *end = bytes + len, *next = bytes;
	int err = 0;

	while (!err && (next = memmem(next, (size_t)(end - next),
				      PACK_GROUP_MAGIC, PACK_MAGIC_LEN))) {
		err = take_group(r, at + (uint64_t)(next - bytes));
		next++;
	}
	return err;
}

static int search_groups(struct recovery *r)
{
	const size_t overlap = PACK_MAGIC_LEN - 1;
	uint8_t *bytes = malloc(PIECE);
	int err = bytes ? 0 : -ENOMEM;

	for (uint64_t at = 0; !err && at < r->file_len; at += PIECE - overlap) {
		uint64_t left = r->file_len - at;
		size_t len = left < PIECE ? (size_t)left : PIECE;

		err = op_file_read_at(r->pack->fd, bytes, len, at);
		if (!err)
			err = take_groups(r, bytes, len, at);
		if (left <= PIECE)
			break;
	}
	free(bytes);
	return err;
}

static int recover_entries(struct pack *pack)
{
	struct recovery r = { .pack = pack,
			      .behind = sizeof(struct pack_header) };
	struct stat st;
	int err = odb_file_stat(pack->fd, &st);

	if (err)
		return err;
	r.file_len = (uint64_t)st.st_size;
	err = search_groups(&r);
	if (!err && !r.any)
		err = -EBADMSG;
	if (!err)
		err = pack_index_link(&pack->index);
	if (!r.has_end)
		pack->nr_missing = UINT64_MAX;
	return err;
}

int pack_recover(struct pack **out, const char *path)
{
	int err, fd = odb_file_open(path, O_RDONLY);
	struct pack *pack;

	if (fd < 0)
		return fd;
	pack = calloc(1, sizeof(*pack));
	if (!pack) {
		close(fd);
		return -ENOMEM;
	}
	pack->fd = fd;
	err = recover_entries(pack);
	if (err)
		pack_close(pack);
	else
		*out = pack;
	return err;
}

/* Copy what can be read. */
static int copy_entries(struct pack_writer *writer, const struct pack *pack,
			uint64_t *nr_lost)
{
	int err = 0;

	for (size_t i = 0; !err && i < pack_nr(pack); i++) {
		err = pack_writer_copy(writer, pack, pack_entry(pack, i));
		if (err == -EBADMSG) {
			*nr_lost += *nr_lost != UINT64_MAX;
			err = 0;
		}
	}
	return err;
}

int pack_rebuild(const char *path, uint64_t *nr_lost)
{
	struct pack_writer *writer;
	struct pack *pack;
	/* Where only entries are damaged, the index knows all others. */
	int err = pack_open(&pack, path);

	if (err == -EBADMSG || err == -EPROTO)
		err = pack_recover(&pack, path);
	if (err)
		return err;
	*nr_lost = pack_nr_missing(pack);
	err = pack_writer_new(&writer, path, pack_generation(pack));
	if (!err) {
		err = copy_entries(writer, pack, nr_lost);
		if (err)
			pack_writer_cancel(writer);
		else
			err = pack_writer_finish(writer);
	}
	pack_close(pack);
	return err;
}
