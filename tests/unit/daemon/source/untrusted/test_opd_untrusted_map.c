// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf maps as the process reads them that may do nothing else. It is not
 * started here: a map is read from where the last call ended.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/untrusted/opd_untrusted_read.h"
#include "libop/session/op_code_image.h"
#include "tests/unit/test.h"

#define CHUNK (64u << 10) /* the longest line, with its newline */
#define MOST_CODES (OPD_UNTRUSTED_ROOM / sizeof(struct opd_jit_code))
#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* A map, and what was read of it. */
struct map {
	int fd;
	size_t len;
	struct opd_jit_code *codes;
	struct opd_untrusted_call call; /* grows at its end */
};

static int set_up(void **state)
{
	struct map *map = calloc(1, sizeof(*map));

	assert_non_null(map);
	map->fd = memfd_create("map", MFD_CLOEXEC);
	assert_true(map->fd >= 0);
	map->codes = mmap(NULL, OPD_UNTRUSTED_ROOM, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(map->codes != MAP_FAILED);
	map->call.most = UINT64_MAX;
	*state = map;
	return 0;
}

static int tear_down(void **state)
{
	struct map *map = *state;

	munmap(map->codes, OPD_UNTRUSTED_ROOM);
	close(map->fd);
	free(map);
	return 0;
}

#define MAP_TEST(name) TEST_WITH(name, set_up, tear_down)

static void add_bytes(struct map *map, const char *bytes, size_t len)
{
	assert_int_equal(pwrite(map->fd, bytes, len, (off_t)map->len), len);
	map->len += len;
}

static void add(struct map *map, const char *text)
{
	add_bytes(map, text, strlen(text));
}

/* Add a line of @len bytes, the newline among them. */
static void add_long_line(struct map *map, uint32_t len)
{
	char *line = malloc(len);

	assert_non_null(line);
	memset(line, 'x', len);
	memcpy(line, "500 10 ", 7);
	line[len - 1] = '\n';
	add_bytes(map, line, len);
	free(line);
}

/* What is new; the number of codes. */
static uint64_t read_on(struct map *map)
{
	map->call.nr = 0;
	map->call.err = 0;
	opd_untrusted_read_map(map->fd, &map->call, map->codes);
	assert_int_equal(map->call.err, 0);
	return map->call.nr;
}

static void is_code(const struct map *map, size_t i, uint64_t start,
		    uint32_t size, uint64_t where)
{
	assert_int_equal(map->codes[i].start, start);
	assert_int_equal(map->codes[i].size, size);
	assert_int_equal(map->codes[i].where, where);
	assert_int_equal(map->codes[i].number, 0);
}

/* ---- lines ------------------------------------------------------------------
 */

MAP_TEST(test_lines)
{
	struct map *map = *state;

	add(map, "1000 10 a\nno line\n\n2000 20 b\n3000 3");
	assert_int_equal(read_on(map), 2);
	is_code(map, 0, 0x1000, 0x10, 0);
	is_code(map, 1, 0x2000, 0x20, 19);
	assert_int_equal(map->call.map.at, 29);
	assert_int_equal(map->call.map.taken, 29);
	/* The last line is read once it is whole. */
	assert_int_equal(read_on(map), 0);
	assert_int_equal(map->call.map.at, 29);
	assert_int_equal(map->call.map.taken, 0);
	add(map, "0 c\n");
	assert_int_equal(read_on(map), 1);
	is_code(map, 0, 0x3000, 0x30, 29);
	assert_int_equal(map->call.map.at, map->len);
	/* A line may be empty. */
	add(map, "\n");
	assert_int_equal(read_on(map), 0);
	assert_int_equal(map->call.map.at, map->len);
}

/* No more pieces of a map than that have as many bytes as are wanted. */
MAP_TEST(test_most_bytes)
{
	struct map *map = *state;
	uint64_t nr = 0;

	for (int i = 0; i < 10000; i++)
		add(map, "1000 10 function\n");
	map->call.most = 0;
	assert_int_equal(read_on(map), 0);
	assert_int_equal(map->call.map.at, 0);
	map->call.most = 1;
	while (map->call.map.at < map->len) {
		nr += read_on(map);
		assert_in_range(map->call.map.taken, 1, CHUNK);
	}
	assert_int_equal(nr, 10000);
	map->call.map.at = 0;
	map->call.most = map->len;
	assert_int_equal(read_on(map), 10000);
	is_code(map, 9999, 0x1000, 0x10, map->len - 17);
}

/* A line that is longer than a piece is left out, whatever is in it. */
MAP_TEST(test_long_lines)
{
	static const struct {
		uint32_t len;
		uint64_t nr; /* of codes */
	} rows[] = { { CHUNK - 1, 3 },	   { CHUNK, 3 },
		     { CHUNK + 1, 2 },	   { 2 * CHUNK - 1, 2 },
		     { 2 * CHUNK, 2 },	   { 2 * CHUNK + 1, 2 },
		     { 5 * CHUNK + 99, 2 } };
	struct map *map = *state;

	for (size_t i = 0; i < NR(rows); i++) {
		assert_int_equal(ftruncate(map->fd, 0), 0);
		map->len = map->call.map.at = 0;
		add(map, "1000 10 a\n");
		add_long_line(map, rows[i].len);
		add(map, "2000 20 b\n");
		assert_int_equal(read_on(map), rows[i].nr);
		is_code(map, 0, 0x1000, 0x10, 0);
		if (rows[i].nr == 3)
			is_code(map, 1, 0x500, 0x10, 10);
		is_code(map, rows[i].nr - 1, 0x2000, 0x20, rows[i].len + 10);
		assert_int_equal(map->call.map.at, map->len);
		assert_int_equal(map->call.map.taken, map->len);
	}
}

/* A call may end in such a line; the next one goes on there. */
MAP_TEST(test_long_line_in_parts)
{
	struct map *map = *state;

	add_long_line(map, CHUNK + 1);
	map->len--; /* without the newline */
	assert_int_equal(ftruncate(map->fd, (off_t)map->len), 0);
	assert_int_equal(read_on(map), 0);
	assert_int_equal(map->call.map.at, CHUNK);
	assert_int_equal(map->call.map.in_long_line, 1);
	add(map, "1000 10 a\n2000 20 b\n");
	assert_int_equal(read_on(map), 1);
	is_code(map, 0, 0x2000, 0x20, CHUNK + 10);
	assert_int_equal(map->call.map.in_long_line, 0);
}

/* As many codes as the room has; the next call has the rest. */
MAP_TEST(test_most_codes)
{
	static const char line[] = "1 1 a\n";
	const size_t line_len = sizeof(line) - 1, nr = MOST_CODES + 2;
	struct map *map = *state;
	char *text = malloc(nr * line_len);

	assert_non_null(text);
	for (size_t i = 0; i < nr; i++)
		memcpy(text + i * line_len, line, line_len);
	add_bytes(map, text, nr * line_len);
	free(text);
	assert_int_equal(read_on(map), MOST_CODES);
	assert_int_equal(map->call.map.at, MOST_CODES * line_len);
	assert_int_equal(read_on(map), 2);
	is_code(map, 1, 1, 1, (MOST_CODES + 1) * line_len);
	assert_int_equal(map->call.map.at, map->len);
}

/* ---- names ------------------------------------------------------------------
 */

#define LINES "1000 10 first\n2000 20 second of two\n3000 30 \x1b[1m\n4000 40 d"

/* A name is read again where its line was: it may be another one by now. */
MAP_TEST(test_names)
{
	static const struct {
		uint64_t start, where;
		uint32_t size;
		const char *name; /* NULL: there is no such line */
	} rows[] = {
		{ 0x1000, 0, 0x10, "first" },
		/* where no file can have anything */
		{ 0x1000, UINT64_MAX, 0x10, NULL },
		{ 0x2000, 14, 0x20, "second of two" },
		{ 0x3000, 36, 0x30, "?[1m" },
		/* cut short, but for all that can be seen the whole name */
		{ 0x4000, 49, 0x40, "d" },
		/* of another address, of another size */
		{ 0x1001, 0, 0x10, NULL },
		{ 0x1000, 0, 0x11, NULL },
		{ 0x1000, 0, 0, NULL },
		{ 0x2000, 14, 0x10, NULL },
		/* somewhere else */
		{ 0x1000, 14, 0x10, NULL },
		{ 0x1000, 1, 0x10, NULL },
		{ 0x1000, 5, 0x10, NULL },
		/* at the end of the map, and behind it */
		{ 0x4000, 57, 0x40, NULL },
		{ 0x4000, 58, 0x40, NULL },
		{ 0x1000, 1000, 0x10, NULL },
	};
	struct map *map = *state;
	char *name = (char *)map->codes;

	add(map, LINES);
	for (size_t i = 0; i < NR(rows); i++) {
		memset(name, '-', OP_CODE_NAME_MAX);
		map->call.nr = 0;
		map->call.code.start = rows[i].start;
		map->call.code.size = rows[i].size;
		map->call.code.where = rows[i].where;
		opd_untrusted_read_map_name(map->fd, &map->call, name);
		if (rows[i].name) {
			assert_int_equal(map->call.err, 0);
			assert_int_equal(map->call.nr, OP_CODE_NAME_MAX);
			assert_string_equal(name, rows[i].name);
			continue;
		}
		if (map->call.err != -ESTALE)
			fail_msg("row %zu: %d", i, (int)map->call.err);
		assert_int_equal(map->call.nr, 0);
		assert_int_equal(name[0], '-');
	}
}

/* A name that is too long is cut, and so is its line. */
MAP_TEST(test_long_names)
{
	static const size_t lens[] = { OP_CODE_NAME_MAX - 1, OP_CODE_NAME_MAX,
				       2 * OP_CODE_NAME_MAX };
	struct map *map = *state;
	char *name = (char *)map->codes;

	for (size_t i = 0; i < NR(lens); i++) {
		map->call.code = (struct opd_jit_code){ .start = 0x500,
							.size = 0x10,
							.where = map->len };
		add_long_line(map, (uint32_t)(lens[i] + 8));
		add(map, "1000 10 a\n");
		opd_untrusted_read_map_name(map->fd, &map->call, name);
		assert_int_equal(map->call.err, 0);
		assert_int_equal(strlen(name), OP_CODE_NAME_MAX - 1);
		assert_int_equal(strspn(name, "x"), OP_CODE_NAME_MAX - 1);
	}
}
