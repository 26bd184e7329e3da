/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_ODB_FIXTURE_H
#define TESTS_UNIT_ODB_FIXTURE_H

/*
 * What the tests of libdb share: a fresh folder for each test, whole files
 * as bytes, keys that are all different.
 */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/table/db_format.h"
#include "libdb/odb.h"
#include "tests/unit/test.h"

#define FIXED_SEED UINT64_C(0x0123456789abcdef)

struct fixture {
	char dir[4096];
	char path[4200]; /* of a database that does not exist yet */
};

static inline int remove_one(const char *path, const struct stat *st, int type,
			     struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int make_folder(void **state)
{
	const char *parent = getenv("TMPDIR");
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	/* Tens of thousands of files: in memory where that is possible. */
	if (!parent)
		parent = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	snprintf(f->dir, sizeof(f->dir), "%s/test_odb.XXXXXX", parent);
	if (!mkdtemp(f->dir)) {
		free(f);
		return -1;
	}
	snprintf(f->path, sizeof(f->path), "%s/db", f->dir);
	*state = f;
	return 0;
}

static inline int remove_folder(void **state)
{
	struct fixture *f = *state;
	int err = nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	free(f);
	return err;
}

#define ODB_TEST(name) TEST_WITH(name, make_folder, remove_folder)

/* Path of another file in the test's folder; good for the next three calls. */
static inline const char *beside(const struct fixture *f, const char *name)
{
	static char paths[4][8192];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", f->dir, name);
	return path;
}

static inline struct odb *must_open(const char *path, enum odb_mode mode)
{
	struct odb *odb = NULL;

	assert_int_equal(odb_open(&odb, path, mode), 0);
	assert_non_null(odb);
	return odb;
}

/* Opening must fail with @err, a negative errno, and set nothing. */
static inline void must_refuse(const char *path, enum odb_mode mode, int err)
{
	struct odb *odb = NULL;

	assert_int_equal(odb_open(&odb, path, mode), err);
	assert_null(odb);
}

/* splitmix64: a different number for each @i. */
static inline uint64_t scattered(uint64_t i)
{
	uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline void write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	/* Not O_TRUNC: file systems then write to the disk at once. */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	assert_int_equal(close(fd), 0);
}

/* All of a file; *@len is set. free() it. */
static inline uint8_t *read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *bytes;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	*len = (size_t)st.st_size;
	return bytes;
}

/* The content of a file must be @len bytes equal to @bytes. */
static inline void must_hold(const char *path, const uint8_t *bytes, size_t len)
{
	size_t now_len;
	uint8_t *now = read_file(path, &now_len);

	assert_int_equal(now_len, len);
	assert_memory_equal(now, bytes, len);
	free(now);
}

/* An empty database whose hash is the same in each run. */
static inline struct odb *open_seeded(const char *path)
{
	struct odb_header *header;
	uint8_t *bytes;
	size_t len;

	odb_close(must_open(path, ODB_RDWR));
	bytes = read_file(path, &len);
	header = (struct odb_header *)bytes;
	header->seed = FIXED_SEED;
	write_file(path, bytes, len);
	free(bytes);
	return must_open(path, ODB_RDWR);
}

/* Walk all pairs; returns how many. */
static inline size_t walk(const struct odb *odb)
{
	uint64_t key, count;
	size_t n = 0;

	for (size_t at = 0; odb_next(odb, &at, &key, &count);) {
		assert_true(count > 0);
		n++;
	}
	return n;
}

#endif /* TESTS_UNIT_ODB_FIXTURE_H */
