// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "tests/unit/test.h"
#include "libop/image/op_perf_map.h"

TEST(test_lines)
{
	static const struct {
		const char *text;
		uint64_t start;
		uint32_t size;
		const char *name; /* NULL: no line of a map */
	} rows[] = {
		{ "7f00 10 fib", 0x7f00, 0x10, "fib" },
		{ "0x7F00 0x1a a b  c", 0x7f00, 0x1a, "a b  c" },
		{ "7f00  10   fib", 0x7f00, 0x10, "fib" },
		{ "ffffffffffffffef 10 last", UINT64_MAX - 16, 16, "last" },
		{ "0 ffffffff all", 0, UINT32_MAX, "all" },
		{ "fffffffffffffff0 10 wraps", 0, 0, NULL },
		{ "10000000000000000 10 long", 0, 0, NULL },
		{ "0 100000000 large", 0, 0, NULL },
		{ "7f00 0 empty", 0, 0, NULL },
		{ "7f00 10 ", 0, 0, NULL },
		{ "7f00 10", 0, 0, NULL },
		{ "7f00 fib", 0, 0, NULL },
		{ "7f00 10x fib", 0, 0, NULL },
		{ "-1 10 fib", 0, 0, NULL },
		{ " 7f00 10 fib", 0, 0, NULL },
		{ "0x 10 fib", 0, 0, NULL },
		{ "", 0, 0, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = rows[i].text;
		struct op_perf_map_line line;
		bool is_line = op_perf_map_parse(&line, text, strlen(text));

		if (is_line != (rows[i].name != NULL))
			fail_msg("\"%s\": %d", text, is_line);
		if (!is_line)
			continue;
		assert_int_equal(line.start, rows[i].start);
		assert_int_equal(line.size, rows[i].size);
		assert_int_equal(line.name_len, strlen(rows[i].name));
		assert_memory_equal(line.name, rows[i].name, line.name_len);
	}
}

TEST(test_names)
{
	char name[6];

	op_perf_map_copy_name(name, sizeof(name), "a\033[1m\n", 6);
	assert_string_equal(name, "a?[1m");
	op_perf_map_copy_name(name, sizeof(name), "\177\0x", 3);
	assert_string_equal(name, "??x");
	op_perf_map_copy_name(name, sizeof(name), "f\303\251", 3);
	assert_string_equal(name, "f\303\251");
	op_perf_map_copy_name(name, 1, "abc", 3);
	assert_string_equal(name, "");
}
