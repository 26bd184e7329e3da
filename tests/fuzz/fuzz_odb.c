// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a database file: opening says what is wrong with them, or they
 * can be walked, looked up, added to and opened again.
 *
 * An input whose first byte is odd is a list of changes to a sound file: two
 * bytes of offset, one to exclusive-or. Of others the rest is the file itself.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libdb/table/db_format.h"
#include "libdb/odb.h"

#define ROOM 8192 /* bytes; more than the sound file has */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sum of the counts; every pair that the walk gives can be looked up. */
static uint64_t walk(const struct odb *odb)
{
	uint64_t key, count, total = 0;
	size_t at = 0;

	while (odb_next(odb, &at, &key, &count)) {
		if (!count || odb_get(odb, key) != count)
			abort();
		total += count;
	}
	return total;
}

static void read_it(const char *path)
{
	struct odb_stat stat;
	struct odb *odb;

	if (odb_open(&odb, path, ODB_RDONLY))
		return;
	walk(odb);
	odb_stat(odb, &stat);
	odb_close(odb);
}

/* More keys than there is room for, so that the file grows, too. */
static void add_to_it(const char *path)
{
	struct odb *odb;

	if (odb_open(&odb, path, ODB_RDWR))
		return;
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t before = odb_get(odb, i << 4);

		if (odb_add(odb, i << 4, 1))
			break;
		if (before != UINT64_MAX && odb_get(odb, i << 4) != before + 1)
			abort();
	}
	walk(odb);
	odb_close(odb);
	if (odb_open(&odb, path, ODB_RDONLY))
		abort();
	walk(odb);
	odb_close(odb);
}

static char path[64]; /* set by make_sound() */

static void put_file(const uint8_t *data, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static size_t get_file(uint8_t *data, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, data, room);

	if (len <= 0)
		abort();
	close(fd);
	return (size_t)len;
}

/* The seed of a new file is random, but an input must mean one thing. */
static void fix_seed(void)
{
	struct odb_header header;
	uint8_t page[ODB_PAGE];
	size_t len = get_file(page, sizeof(page));

	memcpy(&header, page, sizeof(header));
	header.seed = UINT64_C(0x0123456789abcdef);
	memcpy(page, &header, sizeof(header));
	put_file(page, len);
}

/* A sound file of 100 keys; its length in bytes. */
static size_t make_sound(uint8_t *sound, size_t room)
{
	struct odb *odb;

	snprintf(path, sizeof(path), "/dev/shm/fuzz_odb.%d", (int)getpid());
	unlink(path);
	if (odb_open(&odb, path, ODB_RDWR))
		abort();
	odb_close(odb);
	fix_seed();
	if (odb_open(&odb, path, ODB_RDWR))
		abort();
	for (uint64_t i = 0; i < 100; i++)
		odb_add(odb, 0x1000 + 4 * i, i + 1);
	odb_close(odb);
	return get_file(sound, room);
}

static void put_changed(const uint8_t *sound, size_t len, const uint8_t *data,
			size_t size)
{
	uint8_t changed[ROOM];

	memcpy(changed, sound, len);
	for (; size >= 3; data += 3, size -= 3)
		changed[(data[0] << 8 | data[1]) % len] ^= data[2];
	put_file(changed, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t sound[ROOM];
	static size_t len;

	if (!len)
		len = make_sound(sound, sizeof(sound));
	if (size && data[0] & 1)
		put_changed(sound, len, data + 1, size - 1);
	else
		put_file(data + (size > 0), size - (size > 0));
	read_it(path);
	add_to_it(path);
	unlink(path);
	return 0;
}
