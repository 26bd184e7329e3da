// SPDX-License-Identifier: GPL-2.0-or-later
/* Counting with libdb: what is added is there, now and after reopening. */
#include <sys/resource.h>

#include "tests/unit/libdb/odb_fixture.h"

ODB_TEST(counts_add_up)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);

	assert_int_equal(odb_get(odb, 5), 0);
	assert_int_equal(odb_add(odb, 5, 3), 0);
	assert_int_equal(odb_add(odb, 5, 4), 0);
	assert_int_equal(odb_get(odb, 5), 7);
	assert_int_equal(odb_get(odb, 6), 0);
	odb_close(odb);
}

ODB_TEST(edge_keys_are_keys)
{
	static const uint64_t keys[] = { 0, 1, UINT64_MAX, UINT64_MAX - 1,
					 UINT64_C(1) << 63 };
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);

	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(odb_get(odb, keys[i]), 0);
		assert_int_equal(odb_add(odb, keys[i], i + 1), 0);
		assert_int_equal(odb_add(odb, keys[i], 10), 0);
	}
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(odb_get(odb, keys[i]), i + 11);
	assert_int_equal(walk(odb), 5);
	odb_close(odb);
}

/* Key 0 looks like a free slot; among others it must still be found. */
ODB_TEST(key_zero_is_found_among_others)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);

	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(odb_add(odb, 0, 1), 0);
		assert_int_equal(odb_add(odb, scattered(i), 1), 0);
	}
	assert_int_equal(odb_get(odb, 0), 1000);
	assert_int_equal(walk(odb), 1001);
	odb_close(odb);
}

ODB_TEST(adding_zero_adds_no_key)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);

	assert_int_equal(odb_add(odb, 9, 0), 0);
	assert_int_equal(walk(odb), 0);
	assert_int_equal(odb_add(odb, 9, 2), 0);
	assert_int_equal(odb_add(odb, 9, 0), 0);
	assert_int_equal(odb_get(odb, 9), 2);
	odb_close(odb);
}

ODB_TEST(counts_stay_at_the_maximum)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);
	struct odb_stat stat;

	assert_int_equal(odb_add(odb, 1, UINT64_MAX - 1), 0);
	assert_int_equal(odb_get(odb, 1), UINT64_MAX - 1);
	assert_int_equal(odb_add(odb, 1, 1), 0);
	assert_int_equal(odb_get(odb, 1), UINT64_MAX);
	assert_int_equal(odb_add(odb, 1, 1), 0);
	assert_int_equal(odb_add(odb, 1, UINT64_MAX), 0);
	assert_int_equal(odb_get(odb, 1), UINT64_MAX);
	assert_int_equal(odb_add(odb, 2, UINT64_MAX), 0);
	odb_stat(odb, &stat);
	assert_int_equal(stat.total, UINT64_MAX);
	odb_close(odb);
}

/* How many slots are looked at: one for the only key, more for others. */
ODB_TEST(searches_have_a_length)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);
	struct odb_stat stat;

	assert_int_equal(odb_add(odb, 5, 3), 0);
	odb_stat(odb, &stat);
	assert_int_equal(stat.nr_keys, 1);
	assert_int_equal(stat.longest_probe, 1);
	assert_true(stat.mean_probe == 1);
	for (uint64_t key = 0; key < 150; key++)
		assert_int_equal(odb_add(odb, key, 1), 0);
	odb_stat(odb, &stat);
	assert_int_equal(stat.nr_keys, 150);
	assert_int_equal(stat.total, 153);
	assert_true(stat.longest_probe > 1);
	assert_true(stat.mean_probe > 1);
	assert_true(stat.mean_probe < (double)stat.longest_probe);
	odb_close(odb);
}

ODB_TEST(a_new_file_is_one_page)
{
	static const uint8_t zero[ODB_USER_SIZE];
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);
	struct odb_stat figures;
	struct stat st;

	odb_stat(odb, &figures);
	assert_int_equal(figures.nr_keys, 0);
	assert_int_equal(figures.total, 0);
	assert_int_equal(figures.file_len, 4096);
	assert_int_equal(figures.longest_probe, 0);
	assert_memory_equal(odb_user(odb), zero, sizeof(zero));
	odb_close(odb);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, 4096);
}

ODB_TEST(all_is_there_after_reopening)
{
	struct fixture *f = *state;
	uint8_t user[ODB_USER_SIZE];
	struct odb *odb = must_open(f->path, ODB_RDWR);

	memset(user, 0x5a, sizeof(user));
	memcpy(odb_user(odb), user, sizeof(user));
	assert_int_equal(odb_add(odb, 77, 1), 0);
	assert_int_equal(odb_sync(odb), 0);
	odb_close(odb);

	odb = must_open(f->path, ODB_RDWR);
	assert_memory_equal(odb_user(odb), user, sizeof(user));
	assert_int_equal(odb_add(odb, 77, 1), 0);
	odb_close(odb);

	odb = must_open(f->path, ODB_RDONLY);
	assert_memory_equal(odb_user(odb), user, sizeof(user));
	assert_int_equal(odb_get(odb, 77), 2);
	odb_close(odb);
}

ODB_TEST(growing_keeps_all)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);
	uint64_t len = 4096;
	size_t growths = 0;
	struct odb_stat stat;

	memset(odb_user(odb), 0xa5, ODB_USER_SIZE);
	for (uint64_t i = 0; i < 3000; i++) {
		assert_int_equal(odb_add(odb, i * 4, i + 1), 0);
		odb_stat(odb, &stat);
		assert_int_equal(stat.nr_keys, i + 1);
		if (stat.file_len == len)
			continue;
		growths++;
		/* Pages, all of which hold slots, and a third more of them. */
		assert_int_equal(stat.file_len % 4096, 0);
		assert_int_equal(stat.nr_slots * 16 + 256, stat.file_len);
		assert_true(stat.file_len >= len / 10 * 13);
		assert_true(stat.file_len < len / 10 * 13 + 4096);
		len = stat.file_len;
		for (uint64_t j = 0; j <= i; j++)
			assert_int_equal(odb_get(odb, j * 4), j + 1);
		assert_int_equal(((uint8_t *)odb_user(odb))[191], 0xa5);
	}
	assert_true(growths >= 5);
	assert_true(len <= 3000 * 33);
	odb_close(odb);
}

/* A walk gives each pair of the model once and nothing else. */
static void must_equal(const struct odb *odb, const uint64_t *model, size_t n)
{
	uint8_t *seen = calloc(n, 1);
	uint64_t key, count;

	assert_non_null(seen);
	for (size_t at = 0; odb_next(odb, &at, &key, &count);) {
		assert_true(key % 3 == 0 && key / 3 < n);
		assert_int_equal(count, model[key / 3]);
		assert_int_equal(seen[key / 3]++, 0);
	}
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(seen[i], model[i] > 0);
		assert_int_equal(odb_get(odb, i * 3), model[i]);
	}
	free(seen);
}

ODB_TEST(a_million_keys_equal_a_model)
{
	const size_t n = 1000000;
	struct fixture *f = *state;
	uint64_t *model = calloc(n, sizeof(*model));
	struct odb *odb = must_open(f->path, ODB_RDWR);
	struct odb_stat stat;

	assert_non_null(model);
	for (uint64_t i = 0; i < 2 * n; i++) {
		size_t which = scattered(i) % n;
		uint64_t count = i % 7;

		model[which] += count;
		assert_int_equal(odb_add(odb, which * 3, count), 0);
	}
	must_equal(odb, model, n);
	odb_stat(odb, &stat);
	assert_true(stat.file_len <= stat.nr_keys * 30);
	odb_close(odb);
	odb = must_open(f->path, ODB_RDONLY);
	must_equal(odb, model, n);
	odb_close(odb);
	odb = must_open(f->path, ODB_RDWR);
	must_equal(odb, model, n);
	odb_close(odb);
	free(model);
}

ODB_TEST(statistics_count_keys)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);
	struct odb_stat stat;

	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(odb_add(odb, scattered(i), 3), 0);
	odb_stat(odb, &stat);
	assert_int_equal(stat.nr_keys, 100);
	assert_int_equal(stat.total, 300);
	assert_int_equal(stat.nr_slots, (4096 - 256) / 16);
	assert_true(stat.mean_probe >= 1);
	assert_true(stat.mean_probe <= (double)stat.longest_probe);
	odb_close(odb);
}

ODB_TEST(readers_cannot_add)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);

	assert_int_equal(odb_add(odb, 1, 1), 0);
	odb_close(odb);
	odb = must_open(f->path, ODB_RDONLY);
	assert_int_equal(odb_add(odb, 1, 1), -EBADF);
	assert_int_equal(odb_add(odb, 2, 1), -EBADF);
	assert_int_equal(odb_get(odb, 1), 1);
	assert_int_equal(odb_sync(odb), 0);
	odb_close(odb);
}

ODB_TEST(two_files_are_two)
{
	struct fixture *f = *state;
	struct odb *a = must_open(f->path, ODB_RDWR);
	struct odb *b = must_open(beside(f, "other"), ODB_RDWR);

	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(odb_add(a, i, 1), 0);
		assert_int_equal(odb_add(b, i + 500, 2), 0);
	}
	assert_int_equal(odb_get(a, 10), 1);
	assert_int_equal(odb_get(b, 10), 0);
	assert_int_equal(odb_get(a, 1400), 0);
	assert_int_equal(odb_get(b, 1400), 2);
	assert_int_equal(odb_get(a, 700), 1);
	assert_int_equal(odb_get(b, 700), 2);
	odb_close(a);
	odb_close(b);
}

/* More open databases than descriptors. */
ODB_TEST(open_files_hold_no_descriptor)
{
	enum { NR_FILES = 2500 };
	static struct odb *all[NR_FILES];
	struct fixture *f = *state;
	struct rlimit limit, few;
	char name[32];

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 32;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int i = 0; i < NR_FILES; i++) {
		snprintf(name, sizeof(name), "db%d", i);
		all[i] = must_open(beside(f, name), ODB_RDWR);
		assert_int_equal(odb_add(all[i], 4, 1 + (uint64_t)i), 0);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i < NR_FILES; i++) {
		assert_int_equal(odb_get(all[i], 4), i + 1);
		odb_close(all[i]);
	}
}

TEST(closing_nothing_is_allowed)
{
	odb_close(NULL);
}
