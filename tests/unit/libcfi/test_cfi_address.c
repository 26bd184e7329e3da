// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses in each of their encodings, and how many bytes they take. */

#include "tests/unit/test.h"
#include "libcfi/cfi_address.h"

/* All addresses are read from here, but for what is behind @skip. */
static const uint8_t eight[] = {
	0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8
};

#define BASE 0x1000

struct address_row {
	uint8_t encoding;
	uint8_t skip; /* the address is so far behind BASE */
	uint8_t taken; /* bytes that the address takes */
	bool is_known;
	uint64_t address;
};

static void check_address(const struct address_row *row)
{
	struct op_cursor c = op_cursor(eight, sizeof(eight));
	uint64_t address = 1;

	op_cursor_skip(&c, row->skip);
	assert_int_equal(cfi_address(&c, row->encoding, eight, BASE, &address),
			 row->is_known);
	assert_int_equal(c.at - eight, row->skip + row->taken);
	if (row->is_known)
		assert_int_equal(address, row->address);
}

TEST(addresses_have_a_format)
{
	static const struct address_row rows[] = {
		{ 0x00, 0, 8, true, 0xf8e7d6c5b4a39281 },
		{ 0x04, 0, 8, true, 0xf8e7d6c5b4a39281 },
		{ 0x0c, 0, 8, true, 0xf8e7d6c5b4a39281 },
		{ 0x02, 0, 2, true, 0x9281 },
		{ 0x03, 0, 4, true, 0xb4a39281 },
		{ 0x0a, 0, 2, true, 0xffffffffffff9281 },
		{ 0x0b, 0, 4, true, 0xffffffffb4a39281 },
		/* LEB128, the last byte of which has no high bit. */
		{ 0x01, 7, 1, false, 0 },
		/* No such formats. */
		{ 0x05, 0, 8, false, 0 },
		{ 0x08, 0, 8, false, 0 },
		{ 0x0d, 0, 8, false, 0 },
		{ 0x0f, 0, 8, false, 0 },
		/* Too few bytes are left. */
		{ 0x00, 1, 7, false, 0 },
		{ 0x02, 7, 1, false, 0 },
		{ 0x03, 5, 3, false, 0 },
		{ 0x02, 6, 2, true, 0xf8e7 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_address(&rows[i]);
}

TEST(addresses_have_a_base)
{
	static const struct address_row rows[] = {
		/* Where the address itself is. */
		{ 0x12, 0, 2, true, BASE + 0x9281 },
		{ 0x12, 2, 2, true, BASE + 2 + 0xb4a3 },
		{ 0x1b, 4, 4, true, BASE + 4 - 0x718293b },
		/* The start of the code, of data, of the function. */
		{ 0x22, 0, 2, false, 0 },
		{ 0x32, 0, 2, false, 0 },
		{ 0x42, 0, 2, false, 0 },
		{ 0x72, 0, 2, false, 0 },
		/* Looked up in memory. */
		{ 0x82, 0, 2, false, 0 },
		{ 0x92, 0, 2, false, 0 },
		/* None at all. */
		{ 0xff, 3, 0, false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_address(&rows[i]);
}

/* Those that are aligned begin at the next address that 8 divides. */
TEST(addresses_may_be_aligned)
{
	static const uint8_t bytes[] = { 1, 2,	3,  4,	5,  6,	7, 8,
					 9, 10, 11, 12, 13, 14, 15 };
	static const struct {
		uint64_t base;
		uint8_t skip, end;
		uint64_t address;
	} rows[] = {
		{ 0x1000, 0, 8, 0x0807060504030201 },
		{ 0x1001, 0, 15, 0x0f0e0d0c0b0a0908 },
		{ 0x1007, 0, 9, 0x0908070605040302 },
		{ 0x1006, 1, 10, 0x0a09080706050403 },
		{ 0x1007, 1, 9, 0x0908070605040302 },
	};
	uint64_t address;
	struct op_cursor c;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		c = op_cursor(bytes, sizeof(bytes));
		op_cursor_skip(&c, rows[i].skip);
		assert_true(cfi_address(&c, CFI_PE_ALIGNED, bytes, rows[i].base,
					&address));
		assert_int_equal(c.at - bytes, rows[i].end);
		assert_int_equal(address, rows[i].address);
	}
	c = op_cursor(bytes, 14);
	assert_false(cfi_address(&c, CFI_PE_ALIGNED, bytes, 0x1001, &address));
	assert_int_equal(address, 0);
}

TEST(addresses_may_be_leb128)
{
	static const uint8_t bytes[] = { 0xff, 0x7e, 0x41 };
	struct op_cursor c = op_cursor(bytes, sizeof(bytes));
	uint64_t address;

	assert_true(cfi_address(&c, 0x01, bytes, BASE, &address));
	assert_int_equal(address, 0x3f7f);
	assert_true(cfi_address(&c, 0x11, bytes, BASE, &address));
	assert_int_equal(address, BASE + 2 + 0x41);
	c = op_cursor(bytes, sizeof(bytes));
	assert_true(cfi_address(&c, 0x09, bytes, BASE, &address));
	assert_int_equal(address, -(UINT64_C(0x4000) - 0x3f7f));
	assert_true(cfi_address(&c, 0x19, bytes, BASE, &address));
	assert_int_equal(address, BASE + 2 - (0x80 - 0x41));
	assert_int_equal(op_cursor_left(&c), 0);
}
