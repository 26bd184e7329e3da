// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a pack: opening says that they are none, or each entry is
 * refused or is a table or a tree that holds what its kind promises, and that
 * packs to bytes that unpack to the same.
 *
 * The first byte says what the rest is:
 *	'f'	a file; the checksums of header and index are made right
 *	'c'	changes to a sound file, likewise: two bytes of offset, one to
 *		exclusive-or
 *	't' 's'	the content of a table, of a tree: two bytes of how many keys or
 *		nodes, then columns, each behind two bytes of its length, that
 *		are packed first
 *	'T' 'S'	the same, packed already
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdb/pack/pack_column.h"
#include "libdb/pack/pack_content.h"
#include "libdb/pack/pack_index.h"

#define ROOM 65536 /* bytes; more than the sound file has */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64]; /* set by make_sound() */
static const uint8_t blank[ODB_USER_SIZE];

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* ---- what has been taken --------------------------------------------------
 */

static void walk_tree(const struct ctree *tree, const struct pack_entry *entry)
{
	uint64_t total = 0;

	check(ctree_nr_nodes(tree) == entry->nr);
	for (uint32_t i = 1; i <= ctree_nr_images(tree); i++) {
		size_t len;

		check(ctree_image_bytes(tree, i, &len) != NULL);
		check(len && len <= CTREE_IMAGE_MAX);
	}
	for (uint32_t i = 1; i <= entry->nr; i++) {
		struct ctree_node node;

		ctree_node(tree, i, &node);
		check(node.parent < i);
		check(node.image && node.image <= ctree_nr_images(tree));
		total = pack_sum(total, node.count);
	}
	check(total == entry->total);
}

static void walk_table(const struct odb *odb, const struct pack_entry *entry)
{
	uint64_t key, count, total = 0, nr = 0;

	for (size_t at = 0; odb_next(odb, &at, &key, &count); nr++) {
		check(odb_get(odb, key) == count);
		total = pack_sum(total, count);
	}
	check(nr == entry->nr && total == entry->total);
}

/* Packing it twice, the second time what the first became, makes one pack. */
static void tree_again(const struct ctree *tree, const struct pack_entry *entry)
{
	const struct ctree *parts[] = { tree };
	struct pack_bytes one = { 0 }, two = { 0 };
	struct ctree *next = NULL;
	struct pack_entry is = { 0 };

	walk_tree(tree, entry);
	check(!pack_tree_put(&one, parts, 1, &is));
	check(is.nr == entry->nr && is.total == entry->total);
	check(!pack_tree_get(&next, one.bytes, one.len, &is));
	walk_tree(next, &is);
	parts[0] = next;
	check(!pack_tree_put(&two, parts, 1, &is));
	check(one.len == two.len && !memcmp(one.bytes, two.bytes, one.len));
	ctree_close(next);
	pack_bytes_release(&one);
	pack_bytes_release(&two);
}

static void table_again(const struct odb *odb, const struct pack_entry *entry)
{
	const struct odb *parts[] = { odb };
	struct pack_bytes one = { 0 }, two = { 0 };
	struct odb *next = NULL;
	struct pack_entry is = { 0 };

	walk_table(odb, entry);
	check(!pack_table_put(&one, parts, 1, &is));
	check(is.nr == entry->nr && is.total == entry->total);
	check(!pack_table_get(&next, one.bytes, one.len, &is));
	walk_table(next, &is);
	parts[0] = next;
	check(!pack_table_put(&two, parts, 1, &is));
	check(one.len == two.len && !memcmp(one.bytes, two.bytes, one.len));
	odb_close(next);
	pack_bytes_release(&one);
	pack_bytes_release(&two);
}

/* ---- contents -------------------------------------------------------------
 */

/* What the numbers of a column add up to, with @more for each. */
static uint64_t sum_of(struct pack_column *column, uint64_t more)
{
	uint64_t sum = 0, number;

	while (!pack_column_number(column, &number))
		sum = pack_sum(sum, pack_sum(number, more));
	return sum;
}

/* The sum of its counts, in the columns from @first on. */
static uint64_t total_of(const uint8_t *bytes, size_t len, size_t nr,
			 size_t first, uint64_t more)
{
	struct pack_column columns[PACK_COLUMNS_MAX];
	uint64_t sum = 0;

	if (!pack_columns_open(columns, nr, bytes, len))
		for (size_t i = first; i < nr; i++)
			sum = pack_sum(sum, sum_of(&columns[i], more));
	pack_columns_close(columns, nr);
	return sum;
}

static void try_table(const uint8_t *bytes, size_t len, uint64_t nr)
{
	struct pack_entry entry = { "t", PACK_TABLE, blank, nr, 0 };
	struct odb *odb = NULL;

	entry.total = total_of(bytes, len, PACK_TABLE_COLUMNS, 2, 1);
	if (pack_table_get(&odb, bytes, len, &entry))
		return;
	table_again(odb, &entry);
	odb_close(odb);
}

static void try_tree(const uint8_t *bytes, size_t len, uint64_t nr)
{
	struct pack_entry entry = { "t", PACK_TREE, blank, nr, 0 };
	struct ctree *tree = NULL;

	entry.total = total_of(bytes, len, PACK_TREE_COLUMNS, 5, 0);
	if (pack_tree_get(&tree, bytes, len, &entry))
		return;
	tree_again(tree, &entry);
	ctree_close(tree);
}

static size_t take_two(const uint8_t **data, size_t *size)
{
	size_t number = 0;

	for (int i = 0; i < 2 && *size; i++, (*size)--)
		number = number << 8 | *(*data)++;
	return number;
}

static void pack_columns(struct pack_bytes *to, size_t nr, const uint8_t *data,
			 size_t size)
{
	struct pack_bytes columns[PACK_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		size_t len = take_two(&data, &size);

		if (len > size)
			len = size;
		pack_bytes_put(&columns[i], data, len);
		data += len;
		size -= len;
	}
	check(!pack_columns_put(to, columns, nr));
	for (size_t i = 0; i < nr; i++)
		pack_bytes_release(&columns[i]);
}

static void try_content(char what, const uint8_t *data, size_t size)
{
	uint64_t nr = take_two(&data, &size);
	struct pack_bytes packed = { 0 };

	if (what == 't' || what == 's')
		pack_columns(&packed,
			     what == 't' ? PACK_TABLE_COLUMNS
					 : PACK_TREE_COLUMNS,
			     data, size);
	else
		pack_bytes_put(&packed, data, size);
	if (what == 't' || what == 'T')
		try_table(packed.bytes, packed.len, nr);
	else
		try_tree(packed.bytes, packed.len, nr);
	pack_bytes_release(&packed);
}

/* ---- files ----------------------------------------------------------------
 */

static void try_entry(const struct pack *pack, const struct pack_entry *entry)
{
	struct ctree *tree = NULL;
	struct odb *odb = NULL;

	check(pack_find(pack, entry->name) == entry);
	if (entry->kind == PACK_TREE) {
		if (!pack_tree(pack, entry, &tree))
			tree_again(tree, entry);
	} else if (!pack_table(pack, entry, &odb)) {
		table_again(odb, entry);
	}
	ctree_close(tree);
	odb_close(odb);
}

/* Make the checksums right that can be found. */
static void fix_checksums(uint8_t *bytes, size_t len)
{
	struct pack_header header;

	if (len < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	if (header.index_at <= len && header.index_len <= len - header.index_at)
		header.index_crc =
			pack_crc(bytes + header.index_at, header.index_len);
	header.crc = pack_crc(&header, offsetof(struct pack_header, crc));
	memcpy(bytes, &header, sizeof(header));
}

static void try_file(uint8_t *bytes, size_t len)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct pack *pack;

	fix_checksums(bytes, len);
	check(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
	if (!pack_open(&pack, path)) {
		for (size_t i = 0; i < pack_nr(pack); i++)
			try_entry(pack, pack_entry(pack, i));
		pack_close(pack);
	}
	unlink(path);
}

/* ---- a sound file ---------------------------------------------------------
 */

static void add_some(struct pack_writer *writer)
{
	char name[80];
	struct ctree *tree = NULL;
	struct odb *odb = NULL;
	uint32_t image, node = CTREE_ROOT;

	snprintf(name, sizeof(name), "%s.tree", path);
	check(!ctree_open(&tree, name, ODB_RDWR));
	check(!ctree_image(tree, "fuzzed", 6, &image));
	for (uint64_t i = 0; i < 60; i++) {
		check(!ctree_child(tree, i % 7 ? node : CTREE_ROOT, image,
				   i % 5 * 300, &node));
		check(!ctree_add(tree, node, i));
	}
	ctree_close(tree);
	check(!ctree_open(&tree, name, ODB_RDONLY));
	unlink(name);
	check(!odb_open(&odb, name, ODB_RDWR));
	for (uint64_t i = 0; i < 60; i++)
		check(!odb_add(odb, i % 6 << 32 | i * i * i, i + 1));
	check(!pack_writer_table(writer, "{root}/a",
				 (const struct odb *[]){ odb }, 1));
	check(!pack_writer_tree(writer, "{root}/b/{tree}",
				(const struct ctree *[]){ tree }, 1));
	odb_close(odb);
	ctree_close(tree);
	unlink(name);
}

/* Its length in bytes. */
static size_t make_sound(uint8_t *sound)
{
	struct pack_writer *writer;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/fuzz_pack.%d", (int)getpid());
	check(!pack_writer_new(&writer, path, 3));
	add_some(writer);
	check(!pack_writer_finish(writer));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, sound, ROOM);
	check(len > 0);
	close(fd);
	unlink(path);
	return (size_t)len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t sound[ROOM], changed[ROOM];
	static size_t sound_len;
	char what = size ? (char)*data++ : 'f';
	size_t len = size ? size - 1 : 0;

	if (!sound_len)
		sound_len = make_sound(sound);
	if (what == 'c') {
		memcpy(changed, sound, sound_len);
		for (; len >= 3; data += 3, len -= 3)
			changed[(data[0] << 8 | data[1]) % sound_len] ^=
				data[2];
		try_file(changed, sound_len);
	} else if (what == 'f') {
		len = len < ROOM ? len : ROOM;
		memcpy(changed, data, len);
		try_file(changed, len);
	} else if (strchr("tsTS", what) && what) {
		try_content(what, data, len);
	}
	return 0;
}
