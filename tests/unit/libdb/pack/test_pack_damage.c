// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packs that are damaged or lie, which is noticed, and writers that fail, which
 * leave what was there.
 */
#include <signal.h>
#include <sys/resource.h>

#include "libdb/tree/ctree_format.h"
#include "libdb/pack/pack_column.h"
#include "libdb/pack/pack_content.h"
#include "libdb/pack/pack_index.h"
#include "tests/unit/libdb/pack_fixture.h"

/* ---- damage ----------------------------------------------------------------
 */

/* Whether all of the pack can be found without its index. */
static bool has_all_groups(const char *path)
{
	struct pack *pack = NULL;
	bool has = !pack_recover(&pack, path) && !pack_nr_missing(pack);

	pack_close(pack);
	return has;
}

/* Whether all of the pack can be read, either way. */
static bool is_sound(const char *path)
{
	struct pack *pack = NULL;
	int err = pack_open(&pack, path) ?: has_all_groups(path) ? 0 : -EBADMSG;

	for (size_t i = 0; !err && i < pack_nr(pack); i++) {
		const struct pack_entry *entry = pack_entry(pack, i);
		struct ctree *tree = NULL;
		struct odb *odb = NULL;

		if (entry->kind == PACK_TREE)
			err = pack_tree(pack, entry, &tree);
		else
			err = pack_table(pack, entry, &odb);
		ctree_close(tree);
		odb_close(odb);
	}
	pack_close(pack);
	assert_true(!err || err == -EBADMSG || err == -EPROTO);
	return !err;
}

ODB_TEST(any_cut_is_noticed)
{
	struct fixture *f = *state;
	uint8_t *bytes;
	size_t len;

	make_example(f);
	assert_true(is_sound(f->path));
	bytes = read_file(f->path, &len);
	for (size_t cut = 0; cut < len; cut++) {
		write_file(f->path, bytes, cut);
		must_refuse_pack(f->path, -EBADMSG);
	}
	bytes[len] = 0;
	write_file(f->path, bytes, len + 1);
	must_refuse_pack(f->path, -EBADMSG);
	free(bytes);
}

/* A file that is cut while it is open is an error, no signal. */
ODB_TEST(a_cut_while_it_is_read_is_noticed)
{
	struct fixture *f = *state;
	struct odb *odb = NULL;
	struct pack *pack;

	make_example(f);
	pack = must_open_pack(f->path);
	assert_int_equal(truncate(f->path, 64), 0);
	assert_int_equal(pack_table(pack, pack_entry(pack, 0), &odb), -EBADMSG);
	pack_close(pack);
}

ODB_TEST(any_changed_byte_is_noticed)
{
	struct fixture *f = *state;
	uint8_t *bytes;
	size_t len;

	make_example(f);
	bytes = read_file(f->path, &len);
	for (size_t i = 0; i < 4 * len; i++) {
		uint8_t change = (uint8_t)(i & 3 ? scattered(i) | 1 : 0x80);

		bytes[i / 4] ^= change;
		write_file(f->path, bytes, len);
		assert_false(is_sound(f->path));
		bytes[i / 4] ^= change;
	}
	write_file(f->path, bytes, len);
	assert_true(is_sound(f->path));
	free(bytes);
}

ODB_TEST(others_are_told_from_damage)
{
	struct fixture *f = *state;
	struct pack_header header;
	uint8_t *bytes;
	size_t len;

	make_example(f);
	bytes = read_file(f->path, &len);
	memcpy(&header, bytes, sizeof(header));
	header.version++;
	memcpy(bytes, &header, sizeof(header));
	write_file(f->path, bytes, len);
	must_refuse_pack(f->path, -EPROTO);
	header.version--;
	header.byte_order = PACK_BYTE_ORDER_SWAPPED;
	memcpy(bytes, &header, sizeof(header));
	write_file(f->path, bytes, len);
	must_refuse_pack(f->path, -EPROTO);
	/* That of no machine, though the rest of the header is sound. */
	header.byte_order = 1;
	header.crc = pack_crc(&header, offsetof(struct pack_header, crc));
	memcpy(bytes, &header, sizeof(header));
	write_file(f->path, bytes, len);
	must_refuse_pack(f->path, -EBADMSG);
	must_refuse_pack(beside(f, "table"), -EBADMSG);
	must_refuse_pack(f->dir, -EISDIR);
	must_refuse_pack(beside(f, "missing"), -ENOENT);
	free(bytes);
}

/* ---- columns ---------------------------------------------------------------
 */

/* A column of @len zeros that claims to have @more than that. */
static void pack_zeros(struct pack_bytes *to, size_t len, uint64_t more)
{
	struct pack_bytes column = { 0 }, packed = { 0 };
	struct pack_column head;
	uint64_t packed_len;

	memset(pack_bytes_reserve(&column, len), 0, len);
	column.len = len;
	assert_int_equal(pack_columns_put(&packed, &column, 1), 0);
	head = (struct pack_column){ .at = packed.bytes,
				     .end = packed.bytes + packed.len };
	assert_int_equal(pack_column_number(&head, &packed_len), 0);
	assert_int_equal(packed_len, len);
	assert_int_equal(pack_column_number(&head, &packed_len), 0);
	pack_bytes_number(to, len + more);
	pack_bytes_number(to, packed_len);
	pack_bytes_put(to, head.at, packed_len);
	pack_bytes_release(&column);
	pack_bytes_release(&packed);
}

/* All of it, and no more, is to be read. */
TEST(columns_are_read_to_their_end)
{
	static const struct {
		size_t len, more, read;
		int err, end;
	} rows[] = {
		{ 1, 0, 1, 0, 0 },
		{ 1, 0, 0, 0, -EBADMSG },
		{ 1, 0, 2, -EBADMSG, 0 },
		{ 300000, 0, 300000, 0, 0 },
		{ 300000, 0, 299999, 0, -EBADMSG },
		{ 300000, 0, 1, 0, -EBADMSG },
		{ 300000, 0, 0, 0, -EBADMSG },
		{ 300000, 0, 300001, -EBADMSG, 0 },
		{ 300000, 1, 300000, 0, -EBADMSG },
		{ 300000, 1, 300001, -EBADMSG, -EBADMSG },
	};
	static uint8_t room[300001];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pack_bytes packed = { 0 };
		struct pack_column column;

		pack_zeros(&packed, rows[i].len, rows[i].more);
		assert_int_equal(pack_columns_open(&column, 1, packed.bytes,
						   packed.len),
				 0);
		assert_int_equal(pack_column_bytes(&column, room, rows[i].read),
				 rows[i].err);
		assert_int_equal(pack_columns_close(&column, 1), rows[i].end);
		pack_bytes_release(&packed);
	}
}

/* A pack that cannot take its name is gone, and the writer says so. */
ODB_TEST(a_folder_in_the_way)
{
	struct fixture *f = *state;
	struct pack_writer *writer = new_writer(f->path);

	assert_int_equal(mkdir(f->path, 0755), 0);
	assert_int_equal(pack_writer_finish(writer), -EISDIR);
	assert_int_equal(rmdir(f->path), 0);
	/* Nothing is left that a second writer would mind. */
	assert_int_equal(pack_writer_finish(new_writer(f->path)), 0);
}

/* ---- liars -----------------------------------------------------------------
 */

/* Columns of numbers: each list ends with LAST. */
#define LAST UINT64_C(0xdeadbeefdeadbeef)

static void pack_columns(struct pack_bytes *to, size_t nr,
			 const uint64_t columns[][16])
{
	struct pack_bytes bytes[PACK_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; columns[i][j] != LAST; j++)
			pack_bytes_number(&bytes[i], columns[i][j]);
	assert_int_equal(pack_columns_put(to, bytes, nr), 0);
	for (size_t i = 0; i < nr; i++)
		pack_bytes_release(&bytes[i]);
}

static const uint8_t no_user[ODB_USER_SIZE];

static int get_table(const uint64_t columns[PACK_TABLE_COLUMNS][16],
		     uint64_t nr, uint64_t total)
{
	struct pack_entry entry = { "t", PACK_TABLE, no_user, nr, total };
	struct pack_bytes bytes = { 0 };
	struct odb *odb = NULL;
	int err;

	pack_columns(&bytes, PACK_TABLE_COLUMNS, columns);
	err = pack_table_get(&odb, bytes.bytes, bytes.len, &entry);
	pack_bytes_release(&bytes);
	odb_close(odb);
	return err;
}

TEST(tables_that_cannot_be_are_refused)
{
	/* 2 groups: 1 key with half 5, 2 with half 6; counts 2, 3, 4 */
	const uint64_t sound[3][16] = { { 5, 0, 0, 1, LAST },
					{ 7, 1, UINT32_MAX - 2, LAST },
					{ 1, 2, 3, LAST } };
	/* A number of a column, and what the index says of the table. */
	static const struct {
		int column, at;
		uint64_t number, nr, total;
	} rows[] = {
		{ 0, 0, 5, 3, 8 },
		{ 0, 0, 5, 2, 5 },
		{ 0, 0, 5, 4, 9 },
		{ 0, 0, 5, UINT64_MAX, 9 },
		{ 1, 2, UINT32_MAX - 1, 3, 9 }, /* a key beyond its half */
		{ 0, 2, UINT32_MAX - 5, 3, 9 }, /* a group beyond the last */
		{ 0, 3, UINT64_MAX, 3, 9 }, /* more keys than there are */
		{ 2, 0, UINT64_MAX, 3, UINT64_MAX }, /* it counts one more */
		{ 2, 0, UINT64_MAX, 3, 7 }, /* as if it wrapped */
		/* one more number in a column */
		{ 0, 4, 0, 3, 9 },
		{ 1, 3, 0, 3, 9 },
		{ 2, 3, 0, 3, 9 },
	};
	uint64_t bad[3][16];

	assert_int_equal(get_table(sound, 3, 9), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t *number = &bad[rows[i].column][rows[i].at];

		memcpy(bad, sound, sizeof(bad));
		if (*number == LAST)
			number[1] = LAST;
		*number = rows[i].number;
		if (get_table(bad, rows[i].nr, rows[i].total) != -EBADMSG)
			fail_msg("row %zu", i);
	}
}

static int get_tree(const uint64_t columns[PACK_TREE_COLUMNS][16], uint64_t nr,
		    uint64_t total)
{
	struct pack_entry entry = { "t", PACK_TREE, no_user, nr, total };
	struct pack_bytes bytes = { 0 };
	struct ctree *tree = NULL;
	int err;

	pack_columns(&bytes, PACK_TREE_COLUMNS, columns);
	err = pack_tree_get(&tree, bytes.bytes, bytes.len, &entry);
	pack_bytes_release(&bytes);
	ctree_close(tree);
	return err;
}

/* What becomes of a sound tree with columns[column][at] = value. */
static int get_changed(const uint64_t sound[PACK_TREE_COLUMNS][16],
		       size_t column, size_t at, uint64_t value)
{
	uint64_t columns[PACK_TREE_COLUMNS][16];

	memcpy(columns, sound, sizeof(columns));
	columns[column][at] = value;
	return get_tree(columns, 4, 6);
}

TEST(trees_that_cannot_be_are_refused)
{
	/* f -> (g, h -> f) in images "a" and "bb" */
	const uint64_t sound[PACK_TREE_COLUMNS][16] = {
		{ 1, 'a', 2, 'b', 'b', LAST },
		{ 0, 0, 1, LAST },
		{ 10, 20, 10, LAST },
		{ 1, 2, 0, 1, 0, LAST },
		{ 0, 1, 2, 0, LAST },
		{ 1, 2, LAST },
		{ 3, 0, LAST },
	};
	static const struct {
		const char *what;
		size_t column, at;
		uint64_t value;
	} lies[] = {
		{ "an image without bytes", 0, 0, 0 },
		{ "an image longer than any", 0, 0, CTREE_IMAGE_MAX + 1 },
		{ "images not in order", 0, 1, 'c' },
		{ "half an image", 0, 4, LAST },
		{ "a function of no image", 1, 1, 2 },
		{ "the same function twice", 2, 1, 10 },
		{ "a function without offset", 2, 2, LAST },
		{ "more roots than nodes", 3, 0, 2 },
		{ "more roots than can be", 3, 0, UINT64_MAX },
		{ "no roots", 3, 0, 0 },
		{ "more children than nodes", 3, 4, 1 },
		{ "fewer children", 3, 1, 1 },
		{ "a node of no function", 4, 3, 3 },
		{ "siblings not in order", 4, 1, 2 },
		{ "a count too few", 6, 1, LAST },
		{ "another sum", 6, 1, 1 },
	};

	assert_int_equal(get_tree(sound, 4, 6), 0);
	assert_int_equal(get_tree(sound, 3, 6), -EBADMSG);
	assert_int_equal(get_tree(sound, 5, 6), -EBADMSG);
	assert_int_equal(get_tree(sound, UINT64_MAX, 6), -EBADMSG);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		if (get_changed(sound, lies[i].column, lies[i].at,
				lies[i].value) != -EBADMSG)
			fail_msg("taken: %s", lies[i].what);
}

/* Images ascend, and none is there twice. */
TEST(images_of_trees_ascend)
{
	static const struct {
		uint64_t images[8];
		int err;
	} rows[] = {
		{ { 1, 'a', 1, 'b', LAST }, 0 },
		{ { 1, 'a', 2, 'a', 'b', LAST }, 0 },
		{ { 1, 'a', 1, 'a', LAST }, -EBADMSG },
		{ { 2, 'a', 'b', 1, 'a', LAST }, -EBADMSG },
		{ { 2, 'a', 'b', 2, 'a', 'a', LAST }, -EBADMSG },
		{ { 1, 'b', 1, 'a', LAST }, -EBADMSG },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		/* A node in each of both. */
		/* clang-format off */
		uint64_t columns[PACK_TREE_COLUMNS][16] = {
			{ 0 },		   { 0, 1, LAST }, { 10, 10, LAST },
			{ 2, 0, 0, LAST }, { 0, 1, LAST }, { LAST },
			{ 1, 2, LAST },
		};
		/* clang-format on */

		memcpy(columns[0], rows[i].images, sizeof(rows[i].images));
		if (get_tree(columns, 2, 3) != rows[i].err)
			fail_msg("row %zu", i);
	}
}

/* ---- the index ------------------------------------------------------------
 */

TEST(indexes_that_cannot_be_are_refused)
{
	static const uint8_t zeros[3 * ODB_USER_SIZE];
#define USER ODB_USER_SIZE
#define AT sizeof(struct pack_header)
	/* clang-format off */
	/* A table of 6 bytes and a tree of 9. */
	static const struct {
		const char *what;
		const char *names;
		size_t names_len, users_len, crcs_len;
		uint64_t figures[12];
		uint64_t nr, index_at;
		int err;
	} rows[] = {
		{ "sound", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, 0 },
		{ "empty", "", 0, 0, 0, { LAST }, 0, AT, 0 },
		{ "empty, a gap", "", 0, 0, 0, { LAST }, 0, AT + 1, 0 },
		{ "a content too short", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 5, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 14, -EBADMSG },
		{ "a content in the index", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 10, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "a gap between", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 7, LAST }, 2, AT + 22, 0 },
		{ "a gap up to the index", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 9, LAST }, 2, AT + 15, -EBADMSG },
		{ "a gap that wraps", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, UINT64_MAX, LAST }, 2, AT + 15, -EBADMSG },
		{ "a content that wraps", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, UINT64_MAX, 0 - 2, PACK_TREE, 3, 4, 18, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "a gap before the index", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 16, 0 },
		{ "no kind", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, 77, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "one more entry", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 1, AT + 6, -EBADMSG },
		{ "one entry less", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 3, AT + 15, -EBADMSG },
		{ "one name more", "a\0b\0c", 6, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "a user byte more", "a\0b", 4, 2 * USER + 1, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "a user byte less", "a\0b", 4, 2 * USER - 1, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "a checksum byte more", "a\0b", 4, 2 * USER, 9, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "a checksum byte less", "a\0b", 4, 2 * USER, 7, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "a figure less", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, LAST }, 2, AT + 15, -EBADMSG },
		{ "a figure more", "a\0b", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, 1, LAST }, 2, AT + 15, -EBADMSG },
		{ "names not in order", "b\0a", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "a name twice", "a\0a", 4, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "a name without end", "a\0b", 3, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "no name", "\0b", 3, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
		{ "a name that leads out", "..\0b", 5, 2 * USER, 8, { PACK_TABLE, 1, 2, 6, 0, PACK_TREE, 3, 4, 9, 0, LAST }, 2, AT + 15, -EBADMSG },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pack_bytes columns[PACK_INDEX_COLUMNS] = { 0 };
		struct pack_header header = { .nr = rows[i].nr,
					      .index_at = rows[i].index_at };
		struct pack_index index = { 0 };
		struct pack_bytes bytes = { 0 };

		pack_bytes_put(&columns[PACK_NAMES], rows[i].names,
			       rows[i].names_len);
		pack_bytes_put(&columns[PACK_USERS], zeros, rows[i].users_len);
		pack_bytes_put(&columns[PACK_CHECKSUMS], "\1\2\3\4\5\6\7\10",
			       rows[i].crcs_len);
		for (size_t k = 0; k < 12 && rows[i].figures[k] != LAST; k++)
			pack_bytes_number(&columns[PACK_FIGURES],
					  rows[i].figures[k]);
		assert_int_equal(pack_columns_put(&bytes, columns,
						  PACK_INDEX_COLUMNS),
				 0);
		header.index_len = bytes.len;
		if (pack_index_get(&index, &header, bytes.bytes) != rows[i].err)
			fail_msg("%s", rows[i].what);
		if (!rows[i].err && index.nr) {
			const struct pack_item *item = pack_index_items(&index);

			assert_int_equal(item[0].at, AT);
			assert_int_equal(item[1].at,
					 AT + 6 + rows[i].figures[9]);
			assert_int_equal(item[1].len, 9);
			assert_int_equal(item[0].crc, 0x04030201);
			assert_int_equal(item[1].crc, 0x08070605);
			assert_string_equal(item[1].entry.name, "b");
			assert_int_equal(item[1].entry.kind, PACK_TREE);
			assert_int_equal(item[1].entry.nr, 3);
			assert_int_equal(item[1].entry.total, 4);
		}
		pack_index_release(&index);
		for (size_t k = 0; k < PACK_INDEX_COLUMNS; k++)
			pack_bytes_release(&columns[k]);
		pack_bytes_release(&bytes);
	}
}

TEST(names_have_a_length)
{
	for (size_t len = PACK_NAME_MAX - 1; len <= PACK_NAME_MAX + 1; len++) {
		struct pack_bytes columns[PACK_INDEX_COLUMNS] = { 0 };
		struct pack_header header = { .nr = 1, .index_at = AT + 6 };
		struct pack_index index = { 0 };
		struct pack_bytes bytes = { 0 };
		char name[PACK_NAME_MAX + 2];
		struct pack_item item = {
			.entry = { name, PACK_TABLE, no_user, 0, 0 },
			.len = 6,
		};

		memset(name, 'x', len);
		name[len] = '\0';
		pack_index_put(columns, &item, 0);
		assert_int_equal(pack_columns_put(&bytes, columns,
						  PACK_INDEX_COLUMNS),
				 0);
		header.index_len = bytes.len;
		assert_int_equal(pack_index_get(&index, &header, bytes.bytes),
				 len > PACK_NAME_MAX ? -EBADMSG : 0);
		pack_index_release(&index);
		for (size_t k = 0; k < PACK_INDEX_COLUMNS; k++)
			pack_bytes_release(&columns[k]);
		pack_bytes_release(&bytes);
	}
}

/* ---- numbers --------------------------------------------------------------
 */

TEST(numbers_are_written_one_way)
{
#define FF9 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
	static const struct {
		uint8_t bytes[12];
		size_t len;
		int err;
		uint64_t number;
		size_t read;
	} rows[] = {
		{ { 0 }, 1, 0, 0, 1 },
		{ { 0x7f, 1 }, 2, 0, 0x7f, 1 },
		{ { 0x80, 1 }, 2, 0, 0x80, 2 },
		{ { 0xff, 0x7f }, 2, 0, 0x3fff, 2 },
		{ { 0x81, 0x80, 1 }, 3, 0, 0x4001, 3 },
		{ { FF9, 1 }, 10, 0, UINT64_MAX, 10 },
		{ { 0x80, 0 }, 2, -EBADMSG, 0, 0 },
		{ { 0x81, 0x80, 0 }, 3, -EBADMSG, 0, 0 },
		{ { FF9, 2 }, 10, -EBADMSG, 0, 0 },
		{ { FF9, 0x81, 0 }, 11, -EBADMSG, 0, 0 },
		{ { FF9, 0x81, 1 }, 11, -EBADMSG, 0, 0 },
		{ { 0x80 }, 1, -EBADMSG, 0, 0 },
		{ { 0 }, 0, -EBADMSG, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pack_column column = {
			.at = rows[i].bytes, .end = rows[i].bytes + rows[i].len
		};
		uint64_t number = 77;

		if (pack_column_number(&column, &number) != rows[i].err)
			fail_msg("row %zu", i);
		if (rows[i].err)
			continue;
		assert_int_equal(number, rows[i].number);
		assert_int_equal(column.at - rows[i].bytes, rows[i].read);
	}
}

/* Lengths are claims: nothing is allocated for them. */
TEST(columns_that_lie_about_their_length_are_refused)
{
	const struct pack_entry entry = { "t", PACK_TABLE, no_user, 1u << 27,
					  0 };
	static const uint64_t packed[] = { 0, 1, 6, UINT32_MAX, UINT64_MAX };

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		struct pack_bytes bytes = { 0 };
		struct odb *odb = NULL;

		for (int column = 0; column < 3; column++) {
			pack_bytes_number(&bytes, UINT64_MAX - 1);
			pack_bytes_number(&bytes, packed[i]);
		}
		pack_bytes_put(&bytes, no_user, sizeof(no_user));
		assert_int_equal(pack_table_get(&odb, bytes.bytes, bytes.len,
						&entry),
				 -EBADMSG);
		pack_bytes_release(&bytes);
	}
}

/* ---- writers that fail -----------------------------------------------------
 */

static int write_limited(struct fixture *f, const struct odb *odb, size_t limit)
{
	struct rlimit was, now;
	struct pack_writer *writer = NULL;
	int err;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	now = was;
	now.rlim_cur = limit;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
	err = pack_writer_new(&writer, f->path, 8);
	if (!err)
		err = pack_writer_table(writer, "other", &odb, 1);
	if (!err)
		err = pack_writer_finish(writer);
	else
		pack_writer_cancel(writer);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	return err;
}

ODB_TEST(a_writer_that_fails_changes_nothing)
{
	struct fixture *f = *state;
	struct odb *odb;
	uint8_t *was;
	size_t len, limit = 0;

	make_example(f);
	was = read_file(f->path, &len);
	odb = must_open(beside(f, "table"), ODB_RDONLY);
	signal(SIGXFSZ, SIG_IGN);
	for (; write_limited(f, odb, limit) == -EFBIG; limit += 20) {
		must_hold(f->path, was, len);
		assert_int_not_equal(access(beside(f, ".db.grow"), F_OK), 0);
	}
	signal(SIGXFSZ, SIG_DFL);
	assert_true(limit > sizeof(struct pack_header) + 100);
	assert_true(is_sound(f->path));
	odb_close(odb);
	free(was);
}

ODB_TEST(a_cancelled_writer_leaves_nothing)
{
	struct fixture *f = *state;
	struct pack_writer *writer = new_writer(f->path);

	assert_int_equal(access(beside(f, ".db.grow"), F_OK), 0);
	pack_writer_cancel(writer);
	assert_int_not_equal(access(beside(f, ".db.grow"), F_OK), 0);
	assert_int_not_equal(access(f->path, F_OK), 0);
	pack_writer_cancel(NULL);
	assert_int_equal(pack_writer_new(&writer, beside(f, "no/pack"), 1),
			 -ENOENT);
}

/* ---- without the index ------------------------------------------------------
 */

#define NR_TABLES 200

/* Table number @i has one key, @i, that many times and one. */
static void make_many(struct fixture *f)
{
	struct pack_writer *writer = new_writer(f->path);
	char name[16];

	for (uint64_t i = 0; i < NR_TABLES; i++) {
		struct odb *odb;

		unlink(beside(f, "one"));
		odb = must_open(beside(f, "one"), ODB_RDWR);
		memset(odb_user(odb), 'u', ODB_USER_SIZE);
		assert_int_equal(odb_add(odb, i, i + 1), 0);
		snprintf(name, sizeof(name), "t%03d", (int)i);
		put_table(writer, name, odb, NULL);
		odb_close(odb);
	}
	assert_int_equal(pack_writer_finish(writer), 0);
}

/* The tables that are in @pack are right. Returns how many there are. */
static size_t must_be_right(const struct pack *pack)
{
	for (size_t i = 0; i < pack_nr(pack); i++) {
		const struct pack_entry *entry = pack_entry(pack, i);
		uint64_t number = strtoull(entry->name + 1, NULL, 10);
		struct odb *odb = must_have_table(pack, entry->name);

		assert_int_equal(odb_get(odb, number), number + 1);
		assert_int_equal(*(char *)odb_user(odb), 'u');
		odb_close(odb);
	}
	return pack_nr(pack);
}

/* What is found of the pack, of which @missing is said to be lost. */
static size_t recovered(const char *path, uint64_t missing)
{
	struct pack *pack = NULL;
	size_t nr;

	must_refuse_pack(path, -EBADMSG);
	assert_int_equal(pack_recover(&pack, path), 0);
	assert_int_equal(pack_generation(pack), GENERATION);
	assert_int_equal(pack_nr_missing(pack), missing);
	nr = must_be_right(pack);
	pack_close(pack);
	return nr;
}

/* Where group @nr begins. */
static size_t group_at(const uint8_t *bytes, size_t len, int nr)
{
	const uint8_t *at = bytes;

	for (;; at++) {
		at = memmem(at, len - (size_t)(at - bytes), PACK_GROUP_MAGIC,
			    PACK_MAGIC_LEN);
		assert_non_null(at);
		if (!nr--)
			return (size_t)(at - bytes);
	}
}

ODB_TEST(without_header_or_index_all_is_found)
{
	struct fixture *f = *state;
	struct pack_header header;
	uint8_t *bytes;
	size_t len;

	make_many(f);
	assert_true(has_all_groups(f->path));
	bytes = read_file(f->path, &len);
	memcpy(&header, bytes, sizeof(header));
	memset(bytes, 0, sizeof(header));
	write_file(f->path, bytes, len);
	assert_int_equal(recovered(f->path, 0), NR_TABLES);
	memcpy(bytes, &header, sizeof(header));
	memset(bytes + header.index_at, 0xff, header.index_len);
	write_file(f->path, bytes, len);
	assert_int_equal(recovered(f->path, 0), NR_TABLES);
	write_file(f->path, bytes, header.index_at);
	assert_int_equal(recovered(f->path, 0), NR_TABLES);
	free(bytes);
}

ODB_TEST(of_a_pack_that_was_cut_the_start_is_found)
{
	struct fixture *f = *state;
	uint8_t *bytes;
	size_t len;

	make_many(f);
	bytes = read_file(f->path, &len);
	for (int group = 1; group <= 3; group++) {
		size_t at = group_at(bytes, len, group);

		write_file(f->path, bytes, at);
		assert_int_equal(recovered(f->path, UINT64_MAX),
				 group * PACK_GROUP_NR);
		/* Half a group is none. */
		write_file(f->path, bytes, at + sizeof(struct pack_group));
		assert_int_equal(recovered(f->path, UINT64_MAX),
				 group * PACK_GROUP_NR);
	}
	write_file(f->path, bytes, group_at(bytes, len, 0));
	must_refuse_pack(f->path, -EBADMSG);
	assert_int_equal(pack_recover(&(struct pack *){ NULL }, f->path),
			 -EBADMSG);
	free(bytes);
}

ODB_TEST(a_damaged_group_costs_its_entries)
{
	struct fixture *f = *state;
	uint8_t *bytes;
	size_t len;

	make_many(f);
	bytes = read_file(f->path, &len);
	bytes[0] ^= 1;
	for (int group = 0; group < 3; group++) {
		size_t at = group_at(bytes, len, group);

		for (size_t i = 0; i < sizeof(struct pack_group) + 40; i += 3) {
			bytes[at + i] ^= 0x10;
			write_file(f->path, bytes, len);
			assert_int_equal(recovered(f->path, PACK_GROUP_NR),
					 NR_TABLES - PACK_GROUP_NR);
			bytes[at + i] ^= 0x10;
		}
	}
	free(bytes);
}

/* Content that looks like the end of a pack is content. */
ODB_TEST(a_pack_in_a_pack_is_not_taken)
{
	struct fixture *f = *state;
	uint8_t *bytes, *twice;
	size_t len, end;

	make_many(f);
	bytes = read_file(f->path, &len);
	end = group_at(bytes, len, 3) + sizeof(struct pack_group);
	twice = calloc(2, len);
	assert_non_null(twice);
	memcpy(twice, bytes, len);
	memcpy(twice + len, bytes + sizeof(struct pack_header), end);
	write_file(f->path, twice, len + end);
	assert_int_equal(recovered(f->path, 0), NR_TABLES);
	free(twice);
	free(bytes);
}

ODB_TEST(a_rebuilt_pack_is_as_it_was)
{
	struct fixture *f = *state;
	uint64_t nr_lost;
	uint8_t *bytes;
	size_t len;

	make_many(f);
	bytes = read_file(f->path, &len);
	bytes[9] ^= 1;
	write_file(f->path, bytes, len);
	assert_int_equal(pack_rebuild(f->path, &nr_lost), 0);
	assert_int_equal(nr_lost, 0);
	bytes[9] ^= 1;
	must_hold(f->path, bytes, len);
	/* The content of an entry, whose index is sound. */
	bytes[sizeof(struct pack_header) + 8] ^= 1;
	write_file(f->path, bytes, len);
	assert_int_equal(pack_rebuild(f->path, &nr_lost), 0);
	assert_int_equal(nr_lost, 1);
	assert_true(is_sound(f->path));
	write_file(f->path, bytes, 40);
	assert_int_equal(pack_rebuild(f->path, &nr_lost), -EBADMSG);
	must_hold(f->path, bytes, 40);
	free(bytes);
}

/* Packs of version 1, which had no groups. */
ODB_TEST(a_pack_without_groups_is_read)
{
	static const uint8_t user[ODB_USER_SIZE] = { 'u' };
	struct pack_bytes all = { 0 }, index = { 0 }, columns[4] = { 0 };
	struct pack_bytes content[PACK_TABLE_COLUMNS] = { 0 };
	struct pack_header header = {
		.byte_order = PACK_BYTE_ORDER,
		.version = PACK_VERSION_WITHOUT_GROUPS,
		.generation = GENERATION,
		.nr = 1,
	};
	struct fixture *f = *state;
	struct pack *pack;
	struct odb *odb;
	uint32_t crc;

	/* One group of the upper half 0 with the key 5, counted 8 times. */
	pack_bytes_number(&content[0], 0);
	pack_bytes_number(&content[0], 0);
	pack_bytes_number(&content[1], 5);
	pack_bytes_number(&content[2], 7);
	pack_bytes_add(&all, sizeof(header));
	assert_int_equal(pack_columns_put(&all, content, PACK_TABLE_COLUMNS),
			 0);
	header.index_at = all.len;
	crc = pack_crc(all.bytes + sizeof(header), all.len - sizeof(header));
	pack_bytes_put(&columns[PACK_NAMES], "t", 2);
	pack_bytes_put(&columns[PACK_USERS], user, sizeof(user));
	pack_bytes_number(&columns[PACK_FIGURES], PACK_TABLE);
	pack_bytes_number(&columns[PACK_FIGURES], 1);
	pack_bytes_number(&columns[PACK_FIGURES], 8);
	pack_bytes_number(&columns[PACK_FIGURES], all.len - sizeof(header));
	pack_bytes_put(&columns[PACK_CHECKSUMS], &crc, sizeof(crc));
	assert_int_equal(pack_columns_put(&index, columns, 4), 0);
	header.index_len = index.len;
	header.index_crc = pack_crc(index.bytes, index.len);
	memcpy(header.magic, PACK_MAGIC, PACK_MAGIC_LEN);
	header.crc = pack_crc(&header, offsetof(struct pack_header, crc));
	pack_bytes_put(&all, index.bytes, index.len);
	memcpy(all.bytes, &header, sizeof(header));
	write_file(f->path, all.bytes, all.len);
	pack = must_open_pack(f->path);
	odb = must_have_table(pack, "t");
	assert_int_equal(odb_get(odb, 5), 8);
	odb_close(odb);
	pack_close(pack);
	assert_int_equal(pack_recover(&pack, f->path), -EBADMSG);
	for (size_t i = 0; i < PACK_TABLE_COLUMNS; i++)
		pack_bytes_release(&content[i]);
	for (size_t i = 0; i < 4; i++)
		pack_bytes_release(&columns[i]);
	pack_bytes_release(&all);
	pack_bytes_release(&index);
}

ODB_TEST(trees_to_be_written_are_refused)
{
	struct fixture *f = *state;
	struct ctree *tree = must_open_tree(beside(f, "tree"), ODB_RDWR);
	struct ctree *sound = must_open_tree(beside(f, "tree"), ODB_RDONLY);
	const struct ctree *parts[] = { tree };
	const struct ctree *two[] = { sound, tree };
	struct pack_writer *writer = new_writer(f->path);

	assert_int_equal(pack_writer_tree(writer, "t", parts, 1), -EINVAL);
	assert_int_equal(pack_writer_tree(writer, "t", two, 2), -EINVAL);
	assert_int_equal(pack_writer_tree(writer, "t", two, 1), 0);
	pack_writer_cancel(writer);
	ctree_close(sound);
	ctree_close(tree);
}

/* The usual check value of CRC-32: other programs compute the same. */
TEST(checksums_are_those_of_others)
{
	assert_int_equal(pack_crc("123456789", 9), 0xcbf43926);
	assert_int_equal(pack_crc("", 0), 0);
}

/* A program without standard input gets its files as descriptor 0. */
ODB_TEST(any_descriptor_will_do)
{
	struct fixture *f = *state;
	int input = dup(STDIN_FILENO);
	struct ctree *tree;
	struct pack *pack;
	struct odb *odb;

	assert_true(input > 0);
	assert_int_equal(close(STDIN_FILENO), 0);
	errno = EBADF;
	odb = must_open(beside(f, "a"), ODB_RDWR);
	assert_int_equal(odb_add(odb, 1, 2), 0);
	odb_close(odb);
	errno = EBADF;
	odb = must_open(beside(f, "a"), ODB_RDWR);
	assert_int_equal(odb_get(odb, 1), 2);
	odb_close(odb);
	errno = EBADF;
	odb = must_open(beside(f, "a"), ODB_RDONLY);
	assert_int_equal(odb_get(odb, 1), 2);
	odb_close(odb);
	errno = EBADF;
	tree = must_open_tree(beside(f, "b"), ODB_RDWR);
	ctree_close(tree);
	errno = EBADF;
	tree = must_open_tree(beside(f, "b"), ODB_RDWR);
	ctree_close(tree);
	errno = EBADF;
	tree = must_open_tree(beside(f, "b"), ODB_RDONLY);
	ctree_close(tree);
	errno = EBADF;
	pack_writer_cancel(new_writer(f->path));
	assert_int_not_equal(access(beside(f, ".db.grow"), F_OK), 0);
	errno = EBADF;
	assert_int_equal(pack_writer_finish(new_writer(f->path)), 0);
	errno = EBADF;
	pack = must_open_pack(f->path);
	pack_close(pack);
	/* None of them has been left open. */
	assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
	close(input);
}
