// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing a pack: contents one behind another, now and then a group of them,
 * the index behind them, the header last. Until the rename it is a file with
 * another name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdb/table/db_file.h"
#include "libdb/pack/pack_column.h"
#include "libdb/pack/pack_content.h"
#include "libdb/pack/pack_index.h"
#include "libop/files/op_file.h"

struct pack_writer {
	int fd;
	char *path; /* absolute */
	char *tmp;
	struct pack_header header; /* of what is written so far */
	struct pack_bytes index[PACK_INDEX_COLUMNS];
	struct pack_group group; /* that comes next */
	struct pack_bytes group_index[PACK_INDEX_COLUMNS];
	uint64_t gap; /* bytes of the group behind the last content */
	size_t last_name; /* where in its column */
};

static void free_writer(struct pack_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	for (size_t i = 0; i < PACK_INDEX_COLUMNS; i++) {
		pack_bytes_release(&w->index[i]);
		pack_bytes_release(&w->group_index[i]);
	}
	free(w->path);
	free(w->tmp);
	free(w);
}

/* Make the file, with room for its header. */
static int create_pack_file(struct pack_writer *w)
{
	struct stat st;
	bool is_there = !stat(w->path, &st);

	w->tmp = odb_file_tmp_path(w->path);
	if (!w->tmp)
		return -ENOMEM;
	w->fd = odb_file_create(w->tmp, sizeof(w->header),
				is_there ? &st : NULL);
	if (w->fd < 0)
		return w->fd;
	w->header.index_at = sizeof(w->header);
	w->group.contents_at = w->header.index_at;
	return 0;
}

int pack_writer_new(struct pack_writer **out, const char *path,
		    uint64_t generation)
{
	struct pack_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = -1;
	w->header = (struct pack_header){
		.byte_order = PACK_BYTE_ORDER,
		.version = PACK_VERSION,
		.generation = generation,
	};
	memcpy(w->header.magic, PACK_MAGIC, PACK_MAGIC_LEN);
	err = odb_file_path(&w->path, path);
	if (!err)
		err = create_pack_file(w);
	if (err)
		pack_writer_cancel(w);
	else
		*out = w;
	return err;
}

void pack_writer_cancel(struct pack_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		unlink(w->tmp);
	free_writer(w);
}

/* ---- entries ------------------------------------------------------------- */

static int check_entry_name(const struct pack_writer *w, const char *name)
{
	const struct pack_bytes *names = &w->index[PACK_NAMES];

	if (strlen(name) > PACK_NAME_MAX)
		return -ENAMETOOLONG;
	if (!pack_name_is_sound(name))
		return -EINVAL;
	if (w->header.nr &&
	    strcmp(name, (const char *)names->bytes + w->last_name) <= 0)
		return -EINVAL;
	return 0;
}

/* Write the group of all contents since the group before. */
static int append_group(struct pack_writer *w, bool is_last)
{
	struct pack_group *group = &w->group;
	struct pack_bytes columns = { 0 };
	int err =
		pack_columns_put(&columns, w->group_index, PACK_INDEX_COLUMNS);

	memcpy(group->magic, PACK_GROUP_MAGIC, PACK_MAGIC_LEN);
	group->generation = w->header.generation;
	group->at = w->header.index_at;
	group->first = w->header.nr - group->nr;
	group->len = columns.len;
	group->is_last = is_last;
	group->columns_crc = pack_crc(columns.bytes, columns.len);
	group->crc = pack_crc(group, offsetof(struct pack_group, crc));
	err = err ?: op_file_write_at(w->fd, group, sizeof(*group), group->at)
		  ?: op_file_write_at(w->fd, columns.bytes, columns.len,
				      group->at + sizeof(*group));
	w->gap = sizeof(*group) + columns.len;
	w->header.index_at += w->gap;
	*group = (struct pack_group){ .contents_at = w->header.index_at };
	for (size_t i = 0; i < PACK_INDEX_COLUMNS; i++)
		pack_bytes_release(&w->group_index[i]);
	pack_bytes_release(&columns);
	return err;
}

/* Write the content of an entry, and add it to the index. */
static int append_content(struct pack_writer *w, struct pack_entry entry,
			  const uint8_t *bytes, size_t len)
{
	const struct pack_item item = {
		.entry = entry,
		.len = len,
		.crc = pack_crc(bytes, len),
	};
	int err = w->group.nr == PACK_GROUP_NR ? append_group(w, false) : 0;

	err = err ?: op_file_write_at(w->fd, bytes, len, w->header.index_at);
	if (err)
		return err;
	w->last_name = w->index[PACK_NAMES].len;
	pack_index_put(w->index, &item, w->gap);
	pack_index_put(w->group_index, &item, 0);
	for (size_t i = 0; !err && i < PACK_INDEX_COLUMNS; i++)
		err = w->index[i].err ?: w->group_index[i].err;
	w->gap = 0;
	w->group.nr++;
	w->header.nr++;
	w->header.index_at += len;
	return err;
}

int pack_writer_table(struct pack_writer *w, const char *name,
		      const struct odb *const *parts, size_t nr)
{
	struct pack_entry entry = { .name = name };
	struct pack_bytes content = { 0 };
	int err = check_entry_name(w, name);

	if (!err)
		err = pack_table_put(&content, parts, nr, &entry);
	if (!err)
		err = append_content(w, entry, content.bytes, content.len);
	pack_bytes_release(&content);
	return err;
}

int pack_writer_tree(struct pack_writer *w, const char *name,
		     const struct ctree *const *parts, size_t nr)
{
	struct pack_entry entry = { .name = name };
	struct pack_bytes content = { 0 };
	int err = check_entry_name(w, name);

	if (!err)
		err = pack_tree_put(&content, parts, nr, &entry);
	if (!err)
		err = append_content(w, entry, content.bytes, content.len);
	pack_bytes_release(&content);
	return err;
}

int pack_writer_copy(struct pack_writer *w, const struct pack *from,
		     const struct pack_entry *entry)
{
	uint8_t *bytes = NULL;
	int err = check_entry_name(w, entry->name);

	if (!err)
		err = pack_read(from, entry, &bytes);
	if (!err)
		err = append_content(w, *entry, bytes,
				     pack_item_of(entry)->len);
	free(bytes);
	return err;
}

/* ---- the end ------------------------------------------------------------- */

static int write_index_and_header(struct pack_writer *w)
{
	struct pack_bytes index = { 0 };
	struct pack_header *header = &w->header;
	int err = append_group(w, true) ?:
		  pack_columns_put(&index, w->index, PACK_INDEX_COLUMNS)
			  ?: op_file_write_at(w->fd, index.bytes, index.len,
					      header->index_at);

	header->index_len = index.len;
	header->index_crc = pack_crc(index.bytes, index.len);
	header->crc = pack_crc(header, offsetof(struct pack_header, crc));
	pack_bytes_release(&index);
	return err ?: op_file_write_at(w->fd, header, sizeof(*header), 0);
}

/* Let the rename be on the disk. Some file systems cannot be asked for that. */
static int sync_folder(const char *path)
{
	char *folder = strndup(path, (size_t)(strrchr(path, '/') - path) + 1);
	int fd, err = 0;

	if (!folder)
		return -ENOMEM;
	fd = open(folder, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (fsync(fd) && errno != EINVAL))
		err = -errno;
	if (fd >= 0)
		close(fd);
	free(folder);
	return err;
}

int pack_writer_finish(struct pack_writer *w)
{
	int err = write_index_and_header(w);

	if (!err && fsync(w->fd))
		err = -errno;
	if (!err && rename(w->tmp, w->path))
		err = -errno;
	if (err) {
		pack_writer_cancel(w);
		return err;
	}
	err = sync_folder(w->path);
	free_writer(w);
	return err;
}

int pack_writer_finish_early(struct pack_writer *w)
{
	int err = write_index_and_header(w);

	if (!err && rename(w->tmp, w->path))
		err = -errno;
	if (err)
		pack_writer_cancel(w);
	else
		free_writer(w);
	return err;
}
