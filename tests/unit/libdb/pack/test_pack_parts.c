// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parts of a pack by themselves: columns whose lengths cannot be, groups of
 * entries that are put to an index as a whole or not at all, and what a search
 * for groups passes over.
 */

#include "tests/unit/libdb/pack_fixture.h"

#include "libdb/pack/pack_column.h"
#include "libdb/pack/pack_content.h"
#include "libdb/pack/pack_index.h"

/* ---- columns ---------------------------------------------------------------
 */

/* Open one column of that length and packed length, with @nr bytes behind. */
static int open_one_column(uint64_t len, uint64_t packed_len, size_t nr)
{
	static const uint8_t bytes[16] = "0123456789abcde";
	struct pack_bytes packed = { 0 };
	struct pack_column column;
	uint8_t read[16];
	int err;

	pack_bytes_number(&packed, len);
	pack_bytes_number(&packed, packed_len);
	pack_bytes_put(&packed, bytes, nr);
	err = pack_columns_open(&column, 1, packed.bytes, packed.len);
	if (!err) {
		assert_int_equal(pack_column_bytes(&column, read, len), 0);
		assert_memory_equal(read, bytes, len);
		assert_int_equal(pack_columns_close(&column, 1), 0);
	} else {
		pack_columns_close(&column, 1);
	}
	pack_bytes_release(&packed);
	return err;
}

/* Who is packed is shorter, and all bytes are of some column. */
TEST(columns_do_not_grow_when_packed)
{
	assert_int_equal(open_one_column(4, 4, 4), 0);
	assert_int_equal(open_one_column(0, 0, 0), 0);
	assert_int_equal(open_one_column(4, 5, 5), -EBADMSG);
	assert_int_equal(open_one_column(0, 1, 1), -EBADMSG);
	assert_int_equal(open_one_column(4, 4, 3), -EBADMSG);
	assert_int_equal(open_one_column(4, 4, 5), -EBADMSG);
	assert_int_equal(open_one_column(0, 0, 1), -EBADMSG);
}

/* ---- groups ----------------------------------------------------------------
 */

static const uint8_t no_user[ODB_USER_SIZE];

/* The columns of entries called @names, up to NULL, each of 6 bytes, with
 * @gap bytes before the last one. */
static void put_entries(struct pack_bytes *to, const char *const *names,
			uint64_t gap)
{
	struct pack_bytes columns[PACK_INDEX_COLUMNS] = { 0 };

	for (; *names; names++) {
		const struct pack_item item = {
			.entry = { *names, PACK_TABLE, no_user, 1, 2 },
			.len = 6,
			.crc = 0x01020304,
		};

		pack_index_put(columns, &item, names[1] ? 0 : gap);
	}
	assert_int_equal(pack_columns_put(to, columns, PACK_INDEX_COLUMNS), 0);
	for (size_t i = 0; i < PACK_INDEX_COLUMNS; i++)
		pack_bytes_release(&columns[i]);
}

/* Add a group of @names, of contents from @contents_at to before @at. */
static int add_entries(struct pack_index *index, const char *const *names,
		       uint32_t nr, uint64_t contents_at, uint64_t at)
{
	struct pack_bytes bytes = { 0 };
	struct pack_group group = { .contents_at = contents_at,
				    .at = at,
				    .nr = nr };
	int err;

	put_entries(&bytes, names, 0);
	group.len = bytes.len;
	err = pack_index_add_group(index, &group, bytes.bytes);
	pack_bytes_release(&bytes);
	return err;
}

TEST(groups_are_added_as_a_whole)
{
	static const char *const one[] = { "a", "b", NULL };
	static const char *const two[] = { "c", "d", NULL };
	static const char *const bad[] = { "c", "..", NULL };
	const struct pack_item *item;
	struct pack_index index = { 0 };

	assert_int_equal(add_entries(&index, one, 2, 64, 76), 0);
	assert_int_equal(index.nr, 2);
	/* A name that cannot be, an entry too few and one too many, contents
	 * that end too early and too late. */
	assert_int_equal(add_entries(&index, bad, 2, 164, 176), -EBADMSG);
	assert_int_equal(add_entries(&index, two, 3, 164, 176), -EBADMSG);
	assert_int_equal(add_entries(&index, two, 1, 164, 176), -EBADMSG);
	assert_int_equal(add_entries(&index, two, 2, 164, 177), -EBADMSG);
	assert_int_equal(add_entries(&index, two, 2, 164, 175), -EBADMSG);
	assert_int_equal(index.nr, 2);
	assert_int_equal(add_entries(&index, two, 2, 164, 176), 0);
	assert_int_equal(index.nr, 4);
	assert_int_equal(pack_index_link(&index), 0);
	item = pack_index_items(&index);
	for (size_t i = 0; i < 4; i++) {
		const char name[] = { (char)('a' + i), '\0' };

		assert_string_equal(item[i].entry.name, name);
		assert_int_equal(item[i].at, (i < 2 ? 64 : 152) + 6 * i);
		assert_int_equal(item[i].len, 6);
		assert_int_equal(item[i].crc, 0x01020304);
		assert_ptr_equal(item[i].entry.user,
				 index.users.bytes + i * ODB_USER_SIZE);
	}
	pack_index_release(&index);
	assert_int_equal(index.nr, 0);
	assert_null(index.items.bytes);
}

/* Each group is sound, but not all of them together. */
TEST(names_ascend_over_groups)
{
	static const char *const one[] = { "b", NULL };
	static const char *const same[] = { "b", "c", NULL };
	struct pack_index index = { 0 };

	assert_int_equal(add_entries(&index, one, 1, 64, 70), 0);
	assert_int_equal(pack_index_link(&index), 0);
	assert_int_equal(add_entries(&index, same, 2, 70, 82), 0);
	assert_int_equal(pack_index_link(&index), -EBADMSG);
	pack_index_release(&index);
}

/* ---- recovery --------------------------------------------------------------
 */

ODB_TEST(what_only_looks_like_a_group_is_passed_over)
{
	static const uint8_t padding[sizeof(struct pack_group)];
	struct fixture *f = *state;
	struct pack *pack = NULL;
	size_t len, magic_len = PACK_MAGIC_LEN;
	uint8_t *bytes, *more;

	assert_int_equal(pack_recover(&pack, f->path), -ENOENT);
	write_file(f->path, PACK_GROUP_MAGIC, magic_len);
	assert_int_equal(pack_recover(&pack, f->path), -EBADMSG);
	assert_null(pack);
	make_example(f);
	bytes = read_file(f->path, &len);
	/* The start of a group, up to its last byte but one, at the end. */
	more = calloc(1, len + sizeof(padding));
	assert_non_null(more);
	memcpy(more, bytes, len);
	memcpy(more + len, PACK_GROUP_MAGIC, magic_len);
	for (size_t i = 0; i < sizeof(padding); i += 11) {
		size_t part = i < magic_len ? magic_len : i;

		write_file(f->path, more, len + part);
		assert_int_equal(pack_recover(&pack, f->path), 0);
		assert_int_equal(pack_nr(pack), 3);
		assert_int_equal(pack_nr_missing(pack), 0);
		assert_int_equal(pack_generation(pack), GENERATION);
		pack_close(pack);
	}
	free(more);
	free(bytes);
}
