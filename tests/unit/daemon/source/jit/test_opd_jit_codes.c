// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "daemon/source/jit/opd_jit_codes.h"

/* Code that is known by @where. */
static void add_code(struct opd_jit_codes *codes, uint64_t start, uint32_t size,
		     uint64_t where)
{
	const struct opd_jit_code code = { .start = start,
					   .size = size,
					   .where = where };

	assert_int_equal(opd_jit_codes_add(codes, &code, 100000), 0);
}

/* The code at @addr, 0: none. */
static uint64_t at(struct opd_jit_codes *codes, uint64_t addr)
{
	const struct opd_jit_code *code = opd_jit_codes_find(codes, addr);

	return code ? code->where : 0;
}

TEST(test_by_address)
{
	struct opd_jit_codes codes = { 0 };

	assert_int_equal(at(&codes, 0), 0);
	add_code(&codes, 0x300, 0x10, 3);
	add_code(&codes, 0x100, 0x10, 1);
	add_code(&codes, UINT64_MAX - 1, 1, 9);
	add_code(&codes, 0x110, 0x10, 2);
	assert_int_equal(at(&codes, 0xff), 0);
	assert_int_equal(at(&codes, 0x100), 1);
	assert_int_equal(at(&codes, 0x10f), 1);
	assert_int_equal(at(&codes, 0x110), 2);
	assert_int_equal(at(&codes, 0x120), 0);
	assert_int_equal(at(&codes, 0x30f), 3);
	assert_int_equal(at(&codes, UINT64_MAX - 1), 9);
	assert_int_equal(at(&codes, UINT64_MAX), 0);
	opd_jit_codes_release(&codes);
}

/* In one go, or with a look-up after each: the later code is true. */
TEST(test_reuse)
{
	for (int looks = 0; looks < 2; looks++) {
		struct opd_jit_codes codes = { 0 };

		add_code(&codes, 0x100, 0x100, 1);
		if (looks)
			at(&codes, 0x100);
		add_code(&codes, 0x180, 0x100, 2);
		if (looks)
			at(&codes, 0x100);
		add_code(&codes, 0x400, 0x10, 3);
		add_code(&codes, 0x400, 0x20, 4);
		if (looks)
			at(&codes, 0x100);
		add_code(&codes, 0x500, 0x10, 5);
		add_code(&codes, 0x4f0, 0x100, 6);
		assert_int_equal(at(&codes, 0x100), 0);
		assert_int_equal(at(&codes, 0x180), 2);
		assert_int_equal(at(&codes, 0x27f), 2);
		assert_int_equal(at(&codes, 0x41f), 4);
		assert_int_equal(at(&codes, 0x500), 6);
		assert_int_equal(at(&codes, 0x5ef), 6);
		opd_jit_codes_release(&codes);
	}
}

TEST(test_bound)
{
	struct opd_jit_codes codes = { 0 };
	struct opd_jit_code code = { .size = 16 };

	for (int i = 0; i < 10; i++) {
		code.start = 16u * (unsigned int)i;
		assert_int_equal(opd_jit_codes_add(&codes, &code, 10), 0);
	}
	assert_int_equal(opd_jit_codes_add(&codes, &code, 10), -ENOSPC);
	/* What was replaced makes room. */
	opd_jit_codes_release(&codes);
	code.start = 0;
	for (int i = 0; i < 100000; i++) {
		assert_int_equal(opd_jit_codes_add(&codes, &code, 1000), 0);
		assert_non_null(opd_jit_codes_find(&codes, 0));
		assert_true(codes.nr + codes.nr_more <= 100);
	}
	opd_jit_codes_release(&codes);
}

/* Any order of any code leaves a list that is sorted and does not overlap, and
 * the last code that was added is in it. */
TEST(test_any_order)
{
	struct opd_jit_codes codes = { 0 };

	srand(7);
	for (unsigned int i = 1; i <= 20000; i++) {
		uint64_t start = (uint64_t)rand() % 4096;

		add_code(&codes, start, (uint32_t)rand() % 64 + 1, i);
		if (i % 97)
			continue;
		assert_int_equal(at(&codes, start), i);
		for (size_t j = 1; j < codes.nr; j++)
			assert_true(codes.list[j - 1].start +
					    codes.list[j - 1].size <=
				    codes.list[j].start);
	}
	opd_jit_codes_release(&codes);
}
