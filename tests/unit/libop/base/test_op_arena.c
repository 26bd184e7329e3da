// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory of an arena is zeroed, aligned and nobody else's, whatever the sizes;
 * an array that grows keeps what it holds.
 */

#include <string.h>

#include "tests/unit/test.h"
#include "libop/base/op_arena.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void assert_bytes(const unsigned char *bytes, size_t len,
			 unsigned char wanted)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != wanted)
			fail_msg("byte %zu is %d", i, bytes[i]);
}

/* Sizes about those where blocks end or are their own. */
TEST(pieces_do_not_overlap)
{
	static const size_t sizes[] = { 0,     1,     15,    16,     17,
					100,   16383, 16384, 16385,  40000,
					65535, 65536, 65537, 1000000 };
	unsigned char *pieces[20 * NR(sizes)];
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(pieces); i++) {
		size_t size = sizes[i % NR(sizes)];

		pieces[i] = op_arena_alloc(&arena, size, 1);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t),
				 0);
		assert_bytes(pieces[i], size, 0);
		memset(pieces[i], (int)(i % 251 + 1), size);
		for (size_t j = 0; j < i; j++)
			assert_ptr_not_equal(pieces[i], pieces[j]);
	}
	for (size_t i = 0; i < NR(pieces); i++)
		assert_bytes(pieces[i], sizes[i % NR(sizes)],
			     (unsigned char)(i % 251 + 1));
	op_arena_release(&arena);
	op_arena_release(&arena);
}

/* Three arrays of things of @size bytes that grow in turn, with single pieces
 * between them. */
static void grow_arrays(size_t size, size_t nr)
{
	unsigned char *arrays[3] = { NULL }, *pieces[64];
	struct op_arena arena;
	size_t nr_pieces = 0;

	op_arena_init(&arena);
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < NR(arrays); k++) {
			arrays[k] = op_arena_grow(&arena, arrays[k], i, size);
			assert_non_null(arrays[k]);
			assert_bytes(arrays[k] + i * size, size, 0);
			memset(arrays[k] + i * size, (int)(i + k) % 256, size);
		}
		if (nr_pieces < NR(pieces)) {
			pieces[nr_pieces] = op_arena_alloc(&arena, 1, 24);
			assert_non_null(pieces[nr_pieces]);
			memset(pieces[nr_pieces++], 0xee, 24);
		}
	}
	for (size_t k = 0; k < NR(arrays); k++)
		for (size_t i = 0; i < nr; i++)
			assert_bytes(arrays[k] + i * size, size,
				     (unsigned char)((i + k) % 256));
	for (size_t i = 0; i < nr_pieces; i++)
		assert_bytes(pieces[i], 24, 0xee);
	op_arena_release(&arena);
}

TEST(arrays_grow)
{
	grow_arrays(1, 40000);
	grow_arrays(24, 6000);
	grow_arrays(4096, 40);
	grow_arrays(16384, 9);
	grow_arrays(16385, 9);
	grow_arrays(70000, 5);
}

TEST(what_cannot_be_had)
{
	struct op_arena arena;
	char *array;

	op_arena_init(&arena);
	assert_null(op_arena_alloc(&arena, SIZE_MAX, 2));
	assert_null(op_arena_alloc(&arena, SIZE_MAX, 1));
	assert_null(op_arena_alloc(&arena, SIZE_MAX / 2, 1));
	array = op_arena_grow(&arena, NULL, 0, 8);
	assert_non_null(array);
	assert_null(op_arena_grow(&arena, array, SIZE_MAX, 2));
	assert_null(op_arena_grow(&arena, array, SIZE_MAX / 2, 1));
	op_arena_release(&arena);
}

TEST(texts)
{
	struct op_arena arena;
	char text[] = "text";
	const char *copy, *empty, *made;

	op_arena_init(&arena);
	copy = op_arena_strdup(&arena, text);
	empty = op_arena_strdup(&arena, "");
	made = op_arena_printf(&arena, "%s %d%%", "percent", 100);
	text[0] = 'T';
	assert_string_equal(copy, "text");
	assert_string_equal(empty, "");
	assert_string_equal(made, "percent 100%");
	op_arena_release(&arena);
}
