// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers, strings and units in bytes: what is there, and what is not. */

#include "tests/unit/op_fixture.h"

#include "libop/base/op_cursor.h"

static const uint8_t digits[] = {
	0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef
};

static void assert_failed(const struct op_cursor *c)
{
	assert_true(c->failed);
	assert_int_equal(op_cursor_left(c), 0);
}

/* ---- numbers ------------------------------------------------------------- */

TEST(test_numbers_are_of_either_order)
{
	static const struct {
		size_t size;
		uint64_t little, big;
	} rows[] = {
		{ 0, 0, 0 },
		{ 1, 0x01, 0x01 },
		{ 2, 0x2301, 0x0123 },
		{ 3, 0x452301, 0x012345 },
		{ 4, 0x67452301, 0x01234567 },
		{ 7, 0xcdab8967452301, 0x0123456789abcd },
		{ 8, 0xefcdab8967452301, 0x0123456789abcdef },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_cursor c = op_cursor(digits, sizeof(digits));
		struct op_cursor big = c;

		big.big_endian = true;
		assert_int_equal(op_cursor_number(&c, rows[i].size),
				 rows[i].little);
		assert_int_equal(op_cursor_number(&big, rows[i].size),
				 rows[i].big);
		assert_ptr_equal(c.at, digits + rows[i].size);
		assert_ptr_equal(big.at, c.at);
		assert_false(c.failed || big.failed);
	}
}

TEST(test_signed_numbers_keep_their_sign)
{
	struct op_cursor c = op_cursor(digits, sizeof(digits));

	assert_int_equal(op_cursor_signed(&c, 4), 0x67452301);
	assert_int_equal(op_cursor_signed(&c, 1), (int8_t)0x89);
	assert_int_equal(op_cursor_signed(&c, 2), (int16_t)0xcdab);
	assert_int_equal(op_cursor_signed(&c, 1), (int8_t)0xef);
	c = op_cursor(digits, sizeof(digits));
	assert_int_equal(op_cursor_signed(&c, 8), (int64_t)0xefcdab8967452301);
}

TEST(test_beyond_the_end_is_0)
{
	struct op_cursor c = op_cursor(digits, 3);

	assert_int_equal(op_cursor_number(&c, 4), 0);
	assert_failed(&c);
	/* It does not come back. */
	assert_int_equal(op_cursor_u8(&c), 0);
	assert_int_equal(op_cursor_number(&c, 0), 0);
	assert_failed(&c);

	c = op_cursor(digits, 3);
	assert_null(op_cursor_take(&c, UINT64_MAX));
	assert_failed(&c);
	c = op_cursor(digits, 3);
	assert_ptr_equal(op_cursor_take(&c, 3), digits);
	assert_int_equal(op_cursor_left(&c), 0);
	assert_false(c.failed);

	c = op_cursor(NULL, 0);
	assert_int_equal(op_cursor_u8(&c), 0);
	assert_failed(&c);
}

/* ---- LEB128 -------------------------------------------------------------- */

#define BYTES(...)                                                             \
	.bytes = { __VA_ARGS__ }, .len = sizeof((uint8_t[]){ __VA_ARGS__ })

TEST(test_leb_numbers_are_read)
{
	/* Those of the examples of DWARF 5, section 7.6, first. */
	static const struct {
		uint8_t bytes[12];
		size_t len;
		uint64_t plain;
		int64_t is_signed;
	} rows[] = {
		{ BYTES(2), 2, 2 },
		{ BYTES(0x7e), 126, -2 },
		{ BYTES(0x7f), 127, -1 },
		{ BYTES(0xff, 0x00), 127, 127 },
		{ BYTES(0x81, 0x7f), 16257, -127 },
		{ BYTES(0x80, 0x01), 128, 128 },
		{ BYTES(0x80, 0x7f), 16256, -128 },
		{ BYTES(0x81, 0x01), 129, 129 },
		{ BYTES(0xff, 0x7e), 16255, -129 },
		/* filled up */
		{ BYTES(0x80, 0x80, 0x00), 0, 0 },
		/* all bits, and more of them than 64 */
		{ BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0x01),
		  UINT64_MAX, -1 },
		{ BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			0x7f),
		  (uint64_t)1 << 63, INT64_MIN },
		{ BYTES(0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			0x80, 0xff, 0x7f),
		  5, 5 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_cursor c = op_cursor(rows[i].bytes, rows[i].len);
		struct op_cursor s = c;

		assert_int_equal(op_cursor_uleb(&c), rows[i].plain);
		assert_int_equal(op_cursor_sleb(&s), rows[i].is_signed);
		assert_int_equal(op_cursor_left(&c), 0);
		assert_int_equal(op_cursor_left(&s), 0);
		assert_false(c.failed || s.failed);
	}
}

TEST(test_leb_numbers_without_end_fail)
{
	static const uint8_t endless[] = { 0xff, 0xff, 0xff };
	struct op_cursor c = op_cursor(endless, sizeof(endless));

	op_cursor_uleb(&c);
	assert_failed(&c);
	c = op_cursor(endless, sizeof(endless));
	op_cursor_sleb(&c);
	assert_failed(&c);
}

/* ---- strings, parts, units ----------------------------------------------- */

TEST(test_strings_need_their_end)
{
	static const uint8_t bytes[] = "ab\0\0cd";
	struct op_cursor c = op_cursor(bytes, sizeof(bytes) - 1);

	assert_string_equal(op_cursor_string(&c), "ab");
	assert_string_equal(op_cursor_string(&c), "");
	assert_null(op_cursor_string(&c));
	assert_failed(&c);
	c = op_cursor(NULL, 0);
	assert_null(op_cursor_string(&c));
	assert_failed(&c);
}

TEST(test_parts_end_where_they_are_told)
{
	struct op_cursor c = op_cursor(digits, sizeof(digits));
	struct op_cursor part;

	c.big_endian = true;
	part = op_cursor_part(&c, 3);
	assert_int_equal(op_cursor_left(&part), 3);
	assert_int_equal(op_cursor_number(&part, 2), 0x0123);
	assert_int_equal(op_cursor_number(&part, 2), 0);
	assert_failed(&part);
	assert_int_equal(op_cursor_u8(&c), 0x67);
	assert_false(c.failed);

	part = op_cursor_part(&c, 5);
	assert_failed(&part);
	assert_failed(&c);
}

/* The unit at the start of @len bytes, and what is behind it. */
static struct op_cursor unit_of(struct op_cursor *c, const uint8_t *bytes,
				size_t len, bool *is_64)
{
	*c = op_cursor(bytes, len);
	return op_cursor_unit(c, is_64);
}

TEST(test_units_tell_their_length)
{
	static const uint8_t narrow[] = { 2, 0, 0, 0, 'a', 'b', 'c' };
	static const uint8_t wide[] = { 0xff, 0xff, 0xff, 0xff, 1, 0,  0,
					0,    0,    0,	  0,	0, 'a' };
	static const uint8_t empty[] = { 0, 0, 0, 0, 'a' };
	struct op_cursor c, unit;
	bool is_64;

	unit = unit_of(&c, narrow, sizeof(narrow), &is_64);
	assert_false(is_64 || unit.failed || c.failed);
	assert_int_equal(op_cursor_left(&unit), 2);
	assert_int_equal(op_cursor_u8(&unit), 'a');
	assert_int_equal(op_cursor_u8(&c), 'c');

	unit = unit_of(&c, wide, sizeof(wide), &is_64);
	assert_true(is_64);
	assert_int_equal(op_cursor_left(&unit), 1);
	assert_int_equal(op_cursor_left(&c), 0);
	assert_false(unit.failed || c.failed);

	unit = unit_of(&c, empty, sizeof(empty), &is_64);
	assert_int_equal(op_cursor_left(&unit), 0);
	assert_int_equal(op_cursor_left(&c), 1);
	assert_false(unit.failed || c.failed);

	/* Cut in the bytes, in the length and in the escape. */
	unit = unit_of(&c, narrow, 5, &is_64);
	assert_failed(&unit);
	assert_failed(&c);
	unit = unit_of(&c, wide, 11, &is_64);
	assert_failed(&unit);
	assert_failed(&c);
	unit = unit_of(&c, wide, 3, &is_64);
	assert_failed(&unit);
	assert_failed(&c);
}
