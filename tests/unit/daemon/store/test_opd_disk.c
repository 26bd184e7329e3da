// SPDX-License-Identifier: GPL-2.0-or-later
/* What samples/current may take of the disk: how much, and who gets it. */

#include "daemon/store/opd_disk.h"
#include "daemon/store/opd_history.h"
#include "libop/files/op_folder.h"
#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"

#define MIB ((uint64_t)1 << 20)
#define BLOCK 4096
#define EDQUOT_TEXT "allows; samples at new places are lost"

static int set_up(void **state)
{
	*state = new_replay();
	return 0;
}

static int tear_down(void **state)
{
	free_fixture(*state);
	return 0;
}

#define DISK_TEST(name) TEST_WITH(name, set_up, tear_down)

static void set_history(struct opd_store *store, const char *text)
{
	struct op_history limits;
	struct op_diag diag = { "" };

	if (op_history_parse(&limits, text, &diag))
		fail_msg("%s", diag.text);
	opd_history_init(store, &limits);
}

static void path_of(const struct fixture *f, const char *name, char *path,
		    size_t len)
{
	snprintf(path, len, "%s/%s", f->opd.session.current, name);
}

/* Write a file, with the folders that it needs, and return what it takes. */
static uint64_t write_file(const struct fixture *f, const char *name)
{
	static const char bytes[10000];
	char path[8192];
	struct stat st;
	FILE *file;

	path_of(f, name, path, sizeof(path));
	assert_int_equal(op_make_parents(path, 0755), 0);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, sizeof(bytes), 1, file), 1);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_blocks > 0);
	return (uint64_t)st.st_blocks * 512;
}

/* What folder @name takes. */
static uint64_t folder_len(const struct fixture *f, const char *name)
{
	char path[8192];
	struct stat st;

	path_of(f, name, path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* How many lines of the log have @text. */
static unsigned int nr_logged(struct fixture *f, const char *text)
{
	FILE *file = fopen(f->opd.session.log, "r");
	unsigned int nr = 0;
	char line[1024];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		nr += strstr(line, text) != NULL;
	fclose(file);
	return nr;
}

/* ---- the bound --------------------------------------------------------------
 */

/* A sixteenth, but no more than 16 MiB, is for the log; an eighth of the rest,
 * but no more than 256 KiB, for the ledger and names. Half of what is left is
 * for a new pack beside the old one. */
DISK_TEST(test_limit)
{
	static const struct {
		unsigned int mib;
		bool packs;
		const char *history;
		uint64_t limit;
	} rows[] = {
		{ 0, false, "none", 0 },
		{ 0, true, "none", 0 },
		{ 1, false, "none", MIB * 15 / 16 * 7 / 8 },
		{ 2, false, "none", MIB * 15 / 8 * 7 / 8 },
		{ 16, false, "none", 15 * MIB - MIB / 4 },
		{ 1, true, "none", MIB * 15 / 16 * 7 / 16 },
		{ 16, true, "none", (15 * MIB - MIB / 4) / 2 },
		{ 4000, false, "none", 3984 * MIB - MIB / 4 },
		/* One part of a history, which no pack is made in. */
		{ 0, false, "160M", 10 * MIB - MIB / 4 },
		{ 0, true, "160M", 10 * MIB - MIB / 4 },
		{ 11, true, "160M", 10 * MIB - MIB / 4 },
		{ 9, true, "160M", MIB * 135 / 16 - MIB / 4 },
	};
	struct fixture *f = *state;
	struct opd_store *store = &f->opd.store;
	uint64_t used = folder_len(f, "");

	for (size_t i = 0; i < NR(rows); i++) {
		const uint64_t *room;

		set_history(store, rows[i].history);
		store->pack.limit = rows[i].packs ? MIB : 0;
		opd_disk_init(store, rows[i].mib);
		if (rows[i].mib)
			assert_int_equal(store->log->max,
					 rows[i].mib < 256
						 ? rows[i].mib * MIB / 32
						 : OP_LOG_MAX);
		if (store->disk.limit != rows[i].limit)
			fail_msg("row %zu: %lu", i, store->disk.limit);
		room = opd_disk_room(store);
		assert_int_equal(room != NULL, rows[i].limit != 0);
		if (room)
			assert_int_equal(*room, rows[i].limit - used);
	}
}

/* Files and folders, but for a pack that is being written, which has the other
 * half, and for spans of a history. */
DISK_TEST(test_measure)
{
	struct fixture *f = *state;
	struct opd_store *store = &f->opd.store;
	const uint64_t limit = MIB * 15 / 16 * 7 / 8;
	uint64_t used;

	used = write_file(f, "{root}/bin/sh") + write_file(f, "packed") +
	       write_file(f, "{root}/.packed.grow2") +
	       write_file(f, "{root}/.span-60-120/file") +
	       write_file(f, "{root}/.span-60-120/packed");
	write_file(f, ".packed.grow");
	write_file(f, ".span-60-120/packed");
	used += folder_len(f, "") + folder_len(f, "{root}") +
		folder_len(f, "{root}/bin") +
		folder_len(f, "{root}/.span-60-120");
	opd_disk_init(store, 1);
	assert_int_equal(*opd_disk_room(store), limit - used);
	/* More may be there than there should. */
	store->disk.limit = used;
	opd_disk_measure(store);
	assert_int_equal(*opd_disk_room(store), 0);
	store->disk.limit = used - 1;
	opd_disk_measure(store);
	assert_int_equal(*opd_disk_room(store), 0);
	/* Without a bound nobody looks. */
	store->disk.limit = 0;
	store->disk.room = 5;
	opd_disk_measure(store);
	assert_int_equal(store->disk.room, 5);
}

/* ---- who gets it ------------------------------------------------------------
 */

/* A block, four times the name and what a folder keeps with it, and a block for
 * each folder that is missing. */
DISK_TEST(test_take)
{
	static const struct {
		const char *name;
		uint64_t takes;
	} rows[] = {
		{ "there/file", 0 },
		{ "there/fil", BLOCK + 4 * (32 + 4) },
		{ "file", BLOCK + 4 * (32 + 5) },
		{ "there/deep/file", BLOCK + 4 * (32 + 5) },
		{ "a/file", 2 * BLOCK + 4 * (32 + 5) },
		{ "there/a/file", 2 * BLOCK + 4 * (32 + 5) },
		{ "there/deep/a/b/c/file", 4 * BLOCK + 4 * (32 + 5) },
		{ "a/b/c/d/e/f/g/f", 8 * BLOCK + 4 * (32 + 2) },
	};
	struct fixture *f = *state;
	struct opd_store *store = &f->opd.store;
	char path[8192];
	uint64_t taken, room;

	write_file(f, "there/file");
	write_file(f, "there/deep/other");
	opd_disk_init(store, 1);
	room = *opd_disk_room(store);
	for (size_t i = 0; i < NR(rows); i++) {
		path_of(f, rows[i].name, path, sizeof(path));
		assert_int_equal(opd_disk_take(store, path, &taken), 0);
		if (taken != rows[i].takes)
			fail_msg("%s: %lu", rows[i].name, taken);
		assert_int_equal(*opd_disk_room(store), room - taken);
		opd_disk_give_back(store, taken);
		assert_int_equal(*opd_disk_room(store), room);
		/* There may be just as much. */
		store->disk.room = rows[i].takes;
		assert_int_equal(opd_disk_take(store, path, &taken), 0);
		assert_int_equal(taken, rows[i].takes);
		assert_int_equal(*opd_disk_room(store), 0);
		if (taken) {
			store->disk.room = rows[i].takes - 1;
			assert_int_equal(opd_disk_take(store, path, &taken),
					 -EDQUOT);
			assert_int_equal(taken, 0);
			assert_int_equal(*opd_disk_room(store),
					 rows[i].takes - 1);
		}
		store->disk.room = room;
	}
	/* Folders need room, too. */
	store->disk.room = BLOCK + 4 * (32 + 2);
	assert_int_equal(opd_disk_take(store, path, &taken), -EDQUOT);
	/* Without a bound all is free. */
	opd_disk_init(store, 0);
	assert_int_equal(opd_disk_take(store, path, &taken), 0);
	assert_int_equal(taken, 0);
}

/* ---- when there is none -----------------------------------------------------
 */

DISK_TEST(test_refused)
{
	static const struct {
		bool packs;
		const char *history, *text;
	} rows[] = {
		{ false, "none", "has what --max-disk " EDQUOT_TEXT "\n" },
		{ true, "none",
		  "has what --max-disk " EDQUOT_TEXT
		  " until packing has made room\n" },
		{ true, "8M",
		  "has what --history " EDQUOT_TEXT
		  " until the span ends, in some seconds\n" },
	};
	struct fixture *f = *state;
	struct opd_store *store = &f->opd.store;

	opd_disk_init(store, 0);
	opd_disk_refused(store, -EDQUOT);
	assert_false(opd_disk_is_short(store));
	assert_int_equal(nr_logged(f, EDQUOT_TEXT), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		set_history(store, rows[i].history);
		store->pack.limit = rows[i].packs ? MIB : 0;
		opd_disk_init(store, 1);
		assert_false(opd_disk_is_short(store));
		opd_disk_refused(store, -ENOSPC);
		assert_false(opd_disk_is_short(store));
		assert_int_equal(nr_logged(f, EDQUOT_TEXT), i);
		/* It is said once. */
		opd_disk_refused(store, -EDQUOT);
		opd_disk_refused(store, -EDQUOT);
		assert_true(opd_disk_is_short(store));
		assert_int_equal(nr_logged(f, EDQUOT_TEXT), i + 1);
		assert_int_equal(nr_logged(f, rows[i].text), 1);
		/* Also when there was room meanwhile. */
		store->disk.room = 0;
		opd_disk_freed(store);
		assert_false(opd_disk_is_short(store));
		assert_true(*opd_disk_room(store) > 0);
		opd_disk_refused(store, -EDQUOT);
		assert_true(opd_disk_is_short(store));
		assert_int_equal(nr_logged(f, EDQUOT_TEXT), i + 1);
	}
}

/* What sample files took is an estimate, until somebody looks. */
DISK_TEST(test_half_full)
{
	struct fixture *f = *state;
	struct opd_store *store = &f->opd.store;
	uint64_t used = write_file(f, "file") + folder_len(f, "");

	opd_disk_init(store, 1);
	store->disk.limit = 4 * used;
	store->disk.room = 2 * used;
	assert_false(opd_disk_seems_half_full(store));
	assert_false(opd_disk_is_half_full(store));
	/* Nobody had to look. */
	assert_int_equal(*opd_disk_room(store), 2 * used);
	store->disk.room = 2 * used - 1;
	assert_true(opd_disk_seems_half_full(store));
	assert_false(opd_disk_is_half_full(store));
	assert_int_equal(*opd_disk_room(store), 3 * used);
	store->disk.limit = 2 * used - 512;
	store->disk.room = 0;
	assert_true(opd_disk_seems_half_full(store));
	assert_true(opd_disk_is_half_full(store));
	assert_int_equal(*opd_disk_room(store), used - 512);
	opd_disk_init(store, 0);
	store->disk.room = 0;
	assert_false(opd_disk_seems_half_full(store));
	assert_false(opd_disk_is_half_full(store));
}

/* Half of the bound is packed; an eighth, when room was refused already. */
DISK_TEST(test_wants_pack)
{
	struct fixture *f = *state;
	struct opd_store *store = &f->opd.store;

	opd_disk_init(store, 1);
	store->disk.limit = 8000;
	assert_false(opd_disk_wants_pack(store, 3999));
	assert_true(opd_disk_wants_pack(store, 4000));
	opd_disk_refused(store, -EDQUOT);
	assert_false(opd_disk_wants_pack(store, 999));
	assert_true(opd_disk_wants_pack(store, 1000));
	opd_disk_init(store, 0);
	assert_false(opd_disk_wants_pack(store, UINT64_MAX));
}
