// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that are not sound: each is refused with an error or read as what is
 * in it, and a refused file is left as it is.
 */
#include "libdb/table/db_table.h"
#include "tests/unit/libdb/odb_fixture.h"

#define NR_KEYS 170 /* nearly as many as go into one page */
#define NR_CHANGES 10000

/* A file of one page, well filled; the same in each run. free() it. */
static uint8_t *make_file(const char *path, size_t *len)
{
	struct odb *odb = open_seeded(path);

	memset(odb_user(odb), 0x11, ODB_USER_SIZE);
	for (uint64_t i = 0; i < NR_KEYS; i++)
		assert_int_equal(odb_add(odb, 0x1000 + i * 5, 1 + i % 3), 0);
	odb_close(odb);
	return read_file(path, len);
}

static struct odb_slot *slots_of(uint8_t *bytes)
{
	return (struct odb_slot *)(bytes + sizeof(struct odb_header));
}

ODB_TEST(each_truncation_is_refused)
{
	struct fixture *f = *state;
	size_t len;
	uint8_t *bytes = make_file(f->path, &len);

	for (size_t cut = 0; cut < len; cut++) {
		write_file(f->path, bytes, cut);
		must_refuse(f->path, ODB_RDONLY, -EBADMSG);
		if (cut)
			must_refuse(f->path, ODB_RDWR, -EBADMSG);
		must_hold(f->path, bytes, cut);
	}
	free(bytes);
}

ODB_TEST(trailing_bytes_are_refused)
{
	struct fixture *f = *state;
	size_t len;
	uint8_t *bytes = make_file(f->path, &len);
	uint8_t *twice = calloc(2, len);

	assert_non_null(twice);
	memcpy(twice, bytes, len);
	write_file(f->path, twice, len + 1);
	must_refuse(f->path, ODB_RDONLY, -EBADMSG);
	write_file(f->path, twice, 2 * len);
	must_refuse(f->path, ODB_RDWR, -EBADMSG);
	free(twice);
	free(bytes);
}

ODB_TEST(an_empty_file_becomes_new_when_written)
{
	struct fixture *f = *state;
	struct odb *odb;

	write_file(f->path, "", 0);
	must_refuse(f->path, ODB_RDONLY, -EBADMSG);
	odb = must_open(f->path, ODB_RDWR);
	assert_int_equal(odb_add(odb, 1, 1), 0);
	odb_close(odb);
	odb = must_open(f->path, ODB_RDONLY);
	assert_int_equal(odb_get(odb, 1), 1);
	odb_close(odb);
}

/* Use a file that was accepted as much as one can. */
static void use(const char *path)
{
	struct odb *odb = must_open(path, ODB_RDONLY);
	size_t nr_keys = walk(odb);
	struct odb_stat stat;

	odb_stat(odb, &stat);
	assert_int_equal(stat.nr_keys, nr_keys);
	odb_close(odb);

	odb = must_open(path, ODB_RDWR);
	assert_int_equal(walk(odb), nr_keys);
	for (uint64_t i = 0; i < 40; i++)
		assert_int_equal(odb_add(odb, scattered(i), 1), 0);
	assert_int_equal(walk(odb), nr_keys + 40);
	odb_close(odb);

	odb = must_open(path, ODB_RDONLY);
	assert_int_equal(walk(odb), nr_keys + 40);
	odb_close(odb);
}

/* Returns whether both kinds of opening refused @path alike, or a reader was
 * told that it is torn. */
static bool is_refused(const char *path)
{
	struct odb *odb = NULL;
	int err = odb_open(&odb, path, ODB_RDONLY);
	bool torn = !err && odb_is_torn(odb);

	odb_close(odb);
	if (!err)
		return torn;
	assert_true(err == -EBADMSG || err == -EPROTO);
	must_refuse(path, ODB_RDWR, err);
	return true;
}

ODB_TEST(single_byte_changes_end_well)
{
	struct fixture *f = *state;
	size_t len, key_changes = 0, key_refusals = 0;
	uint8_t *bytes = make_file(f->path, &len);

	for (uint64_t i = 0; i < NR_CHANGES; i++) {
		size_t at = scattered(2 * i) % len;
		uint8_t flip = 1 + scattered(2 * i + 1) % 255;
		size_t slot = at - sizeof(struct odb_header);
		bool in_key = at >= sizeof(struct odb_header) &&
			      slot % 16 < 8 && slots_of(bytes)[slot / 16].count;
		bool refused;

		bytes[at] ^= flip;
		write_file(f->path, bytes, len);
		refused = is_refused(f->path);
		if (refused)
			must_hold(f->path, bytes, len);
		else
			use(f->path);
		bytes[at] ^= flip;
		key_changes += in_key;
		key_refusals += in_key && refused;
	}
	/* A changed key seldom has its new home where its old one was. */
	assert_true(key_changes > NR_CHANGES / 4);
	assert_true(key_refusals > key_changes * 9 / 10);
	free(bytes);
}

/* ---- what the header says ------------------------------------------------ */

static void refuse_header(struct fixture *f, const struct odb_header *header,
			  int err)
{
	size_t len;
	uint8_t *bytes = make_file(f->path, &len);

	memcpy(bytes, header, sizeof(*header));
	write_file(f->path, bytes, len);
	must_refuse(f->path, ODB_RDONLY, err);
	must_refuse(f->path, ODB_RDWR, err);
	must_hold(f->path, bytes, len);
	free(bytes);
	assert_int_equal(unlink(f->path), 0);
}

static struct odb_header good_header(struct fixture *f)
{
	size_t len;
	uint8_t *bytes = make_file(f->path, &len);
	struct odb_header header = *(struct odb_header *)bytes;

	free(bytes);
	assert_int_equal(unlink(f->path), 0);
	return header;
}

ODB_TEST(other_versions_are_told_apart)
{
	struct fixture *f = *state;
	struct odb_header good = good_header(f);
	struct odb_header bad = good;

	bad.version = 2;
	refuse_header(f, &bad, -EPROTO);
	bad = good;
	bad.byte_order = ODB_BYTE_ORDER_SWAPPED;
	refuse_header(f, &bad, -EPROTO);
	bad.byte_order = 0x02010403;
	refuse_header(f, &bad, -EBADMSG);
	bad = good;
	bad.magic[7] ^= 1;
	bad.version = 2;
	refuse_header(f, &bad, -EBADMSG);
}

ODB_TEST(sizes_must_fit_the_file)
{
	static const uint64_t nr_slots[] = {
		0,
		1,
		4,
		236,
		239,
		241,
		244,
		480,
		UINT64_C(1) << 28,
		(UINT64_C(1) << 60) + 240,
		UINT64_MAX,
		UINT64_MAX - 3,
	};
	struct fixture *f = *state;
	struct odb_header good = good_header(f);
	struct odb_header bad = good;

	assert_int_equal(good.nr_slots, 240);
	for (size_t i = 0; i < sizeof(nr_slots) / sizeof(*nr_slots); i++) {
		bad.nr_slots = nr_slots[i];
		refuse_header(f, &bad, -EBADMSG);
	}
	bad = good;
	bad.header_len = 240;
	refuse_header(f, &bad, -EBADMSG);
	bad = good;
	bad.slot_len = 8;
	refuse_header(f, &bad, -EBADMSG);
	bad = good;
	bad.nr_used = 241;
	refuse_header(f, &bad, -EBADMSG);
	bad = good;
	bad.reserved[15] = 1;
	refuse_header(f, &bad, -EBADMSG);
	bad = good;
	bad.seed++;
	refuse_header(f, &bad, -EBADMSG);
}

/* ---- what the slots say -------------------------------------------------- */

ODB_TEST(a_stale_number_of_used_slots_is_set_right)
{
	struct fixture *f = *state;
	size_t len;
	uint8_t *bytes = make_file(f->path, &len);
	struct odb *odb;

	((struct odb_header *)bytes)->nr_used = 3;
	write_file(f->path, bytes, len);
	odb = must_open(f->path, ODB_RDWR);
	assert_int_equal(walk(odb), NR_KEYS);
	odb_close(odb);
	((struct odb_header *)bytes)->nr_used = NR_KEYS;
	must_hold(f->path, bytes, len);
	free(bytes);
}

static size_t free_slot(const struct odb_slot *slots)
{
	size_t i = 0;

	while (slots[i].count)
		i++;
	return i;
}

/* What a kill between the two writes of a new pair leaves. */
ODB_TEST(a_half_written_pair_is_free)
{
	struct fixture *f = *state;
	size_t len;
	uint8_t *bytes = make_file(f->path, &len);
	struct odb_slot *slot = slots_of(bytes) + free_slot(slots_of(bytes));
	struct odb *odb;

	slot->key = 42;
	write_file(f->path, bytes, len);
	odb = must_open(f->path, ODB_RDONLY);
	assert_int_equal(odb_get(odb, 42), 0);
	assert_int_equal(walk(odb), NR_KEYS);
	odb_close(odb);
	odb = must_open(f->path, ODB_RDWR);
	assert_int_equal(walk(odb), NR_KEYS);
	assert_int_equal(odb_add(odb, 42, 6), 0);
	assert_int_equal(odb_get(odb, 42), 6);
	assert_int_equal(walk(odb), NR_KEYS + 1);
	odb_close(odb);
	free(bytes);
}

ODB_TEST(a_key_that_is_there_twice_is_refused)
{
	struct fixture *f = *state;
	size_t len;
	uint8_t *bytes = make_file(f->path, &len);
	struct odb_slot *slots = slots_of(bytes);
	size_t line = 0;

	/* A line with two keys has a first and a free third slot. */
	while (!slots[line].count || slots[line + 2].count)
		line += ODB_LINE_SLOTS;
	slots[line + 1] = slots[line];
	write_file(f->path, bytes, len);
	must_refuse(f->path, ODB_RDONLY, -EBADMSG);
	must_refuse(f->path, ODB_RDWR, -EBADMSG);
	free(bytes);
}

ODB_TEST(gaps_before_keys_are_said_and_closed)
{
	struct fixture *f = *state;
	size_t len;
	uint8_t *bytes = make_file(f->path, &len);
	struct odb_slot *slots = slots_of(bytes);
	struct odb *odb = must_open(f->path, ODB_RDONLY);
	size_t line = 0, nr = walk(odb) - 1;

	assert_false(odb_is_torn(odb));
	odb_close(odb);

	while (!slots[line + 1].count)
		line += ODB_LINE_SLOTS;
	slots[line].count = 0;
	write_file(f->path, bytes, len);
	/* A reader finds each key, a writer puts it in its place. */
	for (int i = 0; i < 3; i++) {
		odb = must_open(f->path, i == 1 ? ODB_RDWR : ODB_RDONLY);
		assert_int_equal(odb_is_torn(odb), i < 2);
		assert_int_equal(walk(odb), nr);
		for (size_t at = 0; at < 4; at++)
			if (slots[line + at].count)
				assert_int_equal(odb_get(odb,
							 slots[line + at].key),
						 slots[line + at].count);
		odb_close(odb);
	}
	free(bytes);
}

/*
 * A reader's two copies of a file that is being written: in the first any
 * slots may still be free, in the second those may be half written.
 */
ODB_TEST(copies_made_beside_a_writer_are_sound)
{
	struct fixture *f = *state;
	struct odb_slot *before;
	struct odb *odb;
	size_t len, size;
	uint8_t *bytes = make_file(f->path, &len);
	bool torn;

	odb = must_open(f->path, ODB_RDONLY);
	size = odb->nr_slots * sizeof(*before);
	before = malloc(size);
	assert_non_null(before);
	for (uint64_t round = 0; round < 200; round++) {
		memcpy(before, slots_of(bytes), size);
		memcpy(odb->slots, slots_of(bytes), size);
		for (size_t i = 0; i < odb->nr_slots; i++) {
			if (scattered(round * 1000 + i) % 4)
				continue;
			before[i].count = 0;
			if (odb->slots[i].count)
				odb->slots[i].key = round;
		}
		assert_int_equal(odb_check_slots(odb, before, &torn), 0);
	}
	free(before);
	free(bytes);
	odb_close(odb);
}

ODB_TEST(counts_that_vanish_are_refused)
{
	struct fixture *f = *state;
	size_t len;
	uint8_t *bytes = make_file(f->path, &len);
	struct odb *odb = must_open(f->path, ODB_RDONLY);
	bool torn;
	size_t i = 0;

	while (!odb->slots[i].count)
		i++;
	odb->slots[i].count = 0;
	assert_int_equal(odb_check_slots(odb, slots_of(bytes), &torn),
			 -EBADMSG);
	free(bytes);
	odb_close(odb);
}
