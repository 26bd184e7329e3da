// SPDX-License-Identifier: GPL-2.0-or-later
/* Buffers in zlib's format: that zlib and we read each other's, and what is
 * refused. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "tests/unit/test.h"
#include "libop/files/op_deflate.h"

static const size_t lengths[] = { 0, 1, 2, 1000, 65536, 1000000 };

#define NR_LENGTHS (sizeof(lengths) / sizeof(*lengths))

/* Text that repeats itself now and then. */
static uint8_t *make_text(size_t len)
{
	uint8_t *text = malloc(len + 1);
	uint32_t state = 1;

	assert_non_null(text);
	for (size_t i = 0; i < len; i++) {
		state = state * 1664525 + 1013904223;
		text[i] = state >> 30 ? (uint8_t)(i % 100)
				      : (uint8_t)(state >> 16);
	}
	return text;
}

TEST(test_theirs_and_ours)
{
	for (size_t i = 0; i < NR_LENGTHS; i++) {
		size_t len = lengths[i], used, ours_len;
		uLongf theirs_len = compressBound(len), back_len = len;
		uint8_t *text = make_text(len), *back = malloc(len + 1);
		uint8_t *theirs = malloc(theirs_len);
		uint8_t *ours = op_deflate(text, len, &ours_len);

		assert_non_null(back);
		assert_int_equal(compress(theirs, &theirs_len, text, len),
				 Z_OK);
		assert_int_equal(
			op_inflate(theirs, theirs_len, back, len, &used), 0);
		assert_int_equal(used, theirs_len);
		assert_memory_equal(back, text, len);

		assert_non_null(ours);
		assert_true(ours_len <= theirs_len + theirs_len / 2);
		memset(back, 0, len);
		assert_int_equal(uncompress(back, &back_len, ours, ours_len),
				 Z_OK);
		assert_int_equal(back_len, len);
		assert_memory_equal(back, text, len);
		free(text);
		free(back);
		free(theirs);
		free(ours);
	}
}

/* Each byte that is changed or missing is noticed, and each other length. */
TEST(test_damage)
{
	size_t len = 1000, packed_len;
	uint8_t *text = make_text(len), *back = malloc(len + 1);
	uint8_t *packed = op_deflate(text, len, &packed_len);

	assert_non_null(packed);
	for (size_t i = 0; i < packed_len; i++) {
		uint8_t before = packed[i];

		assert_int_equal(op_inflate(packed, i, back, len, NULL),
				 -EBADMSG);
		/* Of the 2nd byte, 2 bits tell how much was tried. */
		packed[i] ^= 0x15;
		assert_int_equal(op_inflate(packed, packed_len, back, len,
					    NULL),
				 -EBADMSG);
		packed[i] = before;
	}
	assert_int_equal(op_inflate(packed, packed_len, back, len - 1, NULL),
			 -EBADMSG);
	assert_int_equal(op_inflate(packed, packed_len, back, len + 1, NULL),
			 -EBADMSG);
	assert_int_equal(op_inflate(packed, packed_len, back, len, NULL), 0);
	free(text);
	free(back);
	free(packed);
}

/* What follows is not looked at, but can be told. */
TEST(test_what_follows)
{
	size_t packed_len, used;
	uint8_t *packed = op_deflate("text", 4, &packed_len), back[4];
	uint8_t longer[100] = { 0 };

	assert_non_null(packed);
	assert_true(packed_len + 3 < sizeof(longer));
	memcpy(longer, packed, packed_len);
	assert_int_equal(op_inflate(longer, packed_len + 3, back, 4, &used), 0);
	assert_int_equal(used, packed_len);
	assert_memory_equal(back, "text", 4);
	free(packed);
}

/* No bytes become more than the ratio says. */
TEST(test_ratio)
{
	size_t len = 16 << 20, packed_len;
	uint8_t *zeros = calloc(1, len);
	uint8_t *packed = op_deflate(zeros, len, &packed_len);

	assert_non_null(packed);
	assert_true(len / OP_DEFLATE_RATIO <= packed_len);
	assert_true(len / (OP_DEFLATE_RATIO / 2) > packed_len);
	free(zeros);
	free(packed);
}
