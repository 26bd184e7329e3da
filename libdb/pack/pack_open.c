// SPDX-License-Identifier: GPL-2.0-or-later
/* Opening packs, and the content of their entries. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdb/table/db_file.h"
#include "libdb/pack/pack_column.h"
#include "libdb/pack/pack_content.h"
#include "libdb/pack/pack_index.h"
#include "libop/files/op_file.h"

uint32_t pack_crc(const void *bytes, size_t len)
{
	return (uint32_t)crc32_z(0, bytes, len);
}

static int check_pack_header(const struct pack_header *header,
			     uint64_t file_len)
{
	if (memcmp(header->magic, PACK_MAGIC, PACK_MAGIC_LEN))
		return -EBADMSG;
	if (header->byte_order == PACK_BYTE_ORDER_SWAPPED)
		return -EPROTO;
	if (header->byte_order != PACK_BYTE_ORDER)
		return -EBADMSG;
	if (header->version != PACK_VERSION &&
	    header->version != PACK_VERSION_WITHOUT_GROUPS)
		return -EPROTO;
	if (header->crc !=
		    pack_crc(header, offsetof(struct pack_header, crc)) ||
	    !odb_is_zero(header->reserved, sizeof(header->reserved)) ||
	    header->index_at < sizeof(*header) || header->index_at > file_len ||
	    header->index_len != file_len - header->index_at)
		return -EBADMSG;
	return 0;
}

static int read_pack_header(int fd, struct pack_header *header)
{
	struct stat st;
	int err = odb_file_stat(fd, &st)
			  ?: op_file_read_at(fd, header, sizeof(*header), 0);

	return err ?: check_pack_header(header, (uint64_t)st.st_size);
}

int pack_read_piece(int fd, uint64_t at, uint64_t len, uint32_t crc,
		    uint8_t **out)
{
	uint8_t *bytes = malloc(len + 1);
	int err = bytes ? op_file_read_at(fd, bytes, len, at) : -ENOMEM;

	if (!err && pack_crc(bytes, len) != crc)
		err = -EBADMSG;
	if (err)
		free(bytes);
	else
		*out = bytes;
	return err;
}

static int read_pack(struct pack *pack)
{
	struct pack_header header = { 0 };
	uint8_t *index = NULL;
	int err = read_pack_header(pack->fd, &header);

	if (!err)
		err = pack_read_piece(pack->fd, header.index_at,
				      header.index_len, header.index_crc,
				      &index);
	if (!err)
		err = pack_index_get(&pack->index, &header, index);
	pack->generation = header.generation;
	pack->version = header.version;
	free(index);
	return err;
}

int pack_open(struct pack **out, const char *path)
{
	struct pack *pack;
	int fd = odb_file_open(path, O_RDONLY);
	int err;

	if (fd < 0)
		return fd;
	pack = calloc(1, sizeof(*pack));
	if (!pack) {
		close(fd);
		return -ENOMEM;
	}
	pack->fd = fd;
	err = read_pack(pack);
	if (err)
		pack_close(pack);
	else
		*out = pack;
	return err;
}

void pack_close(struct pack *pack)
{
	if (!pack)
		return;
	close(pack->fd);
	pack_index_release(&pack->index);
	free(pack);
}

uint64_t pack_nr_missing(const struct pack *pack)
{
	return pack->nr_missing;
}

/* ---- entries ------------------------------------------------------------- */

bool pack_has_groups(const struct pack *pack)
{
	return pack_nr(pack) && pack->version != PACK_VERSION_WITHOUT_GROUPS;
}

uint64_t pack_generation(const struct pack *pack)
{
	return pack->generation;
}

size_t pack_nr(const struct pack *pack)
{
	return pack->index.nr;
}

const struct pack_entry *pack_entry(const struct pack *pack, size_t i)
{
	return &pack_index_items(&pack->index)[i].entry;
}

static int compare_name_to_entry(const void *name, const void *item)
{
	return strcmp(name, ((const struct pack_item *)item)->entry.name);
}

const struct pack_entry *pack_find(const struct pack *pack, const char *name)
{
	const struct pack_item *item;

	if (!pack->index.nr)
		return NULL;
	item = bsearch(name, pack_index_items(&pack->index), pack->index.nr,
		       sizeof(*item), compare_name_to_entry);
	return item ? &item->entry : NULL;
}

/* ---- content ------------------------------------------------------------- */

int pack_read(const struct pack *pack, const struct pack_entry *entry,
	      uint8_t **bytes)
{
	const struct pack_item *item = pack_item_of(entry);

	return pack_read_piece(pack->fd, item->at, item->len, item->crc, bytes);
}

int pack_table(const struct pack *pack, const struct pack_entry *entry,
	       struct odb **out)
{
	uint8_t *bytes = NULL;
	int err = entry->kind == PACK_TABLE ? 0 : -EINVAL;

	if (!err)
		err = pack_read(pack, entry, &bytes);
	if (!err)
		err = pack_table_get(out, bytes, pack_item_of(entry)->len,
				     entry);
	free(bytes);
	return err;
}

int pack_tree(const struct pack *pack, const struct pack_entry *entry,
	      struct ctree **out)
{
	uint8_t *bytes = NULL;
	int err = entry->kind == PACK_TREE ? 0 : -EINVAL;

	if (!err)
		err = pack_read(pack, entry, &bytes);
	if (!err)
		err = pack_tree_get(out, bytes, pack_item_of(entry)->len,
				    entry);
	free(bytes);
	return err;
}
