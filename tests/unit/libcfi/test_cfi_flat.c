// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables in one piece: what comes back is what was there; and whatever a piece
 * holds, it is refused, or leads unwinding nowhere that it should not be.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "libcfi/cfi.h"
#include "libcfi/cfi_table.h"

#define CHANGES 3000
#define SPAN 0x200000u /* bytes of this program that are looked at */
#define STEPS 64

static struct cfi_table *own_table_of(enum cfi_extent extent)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct cfi_table *table = NULL;

	assert_true(fd >= 0);
	assert_int_equal(cfi_table_read(&table, fd, extent, NULL), 0);
	assert_true(cfi_table_nr_rows(table) > 100);
	close(fd);
	return table;
}

static struct cfi_table *own_table(void)
{
	return own_table_of(CFI_ALL);
}

/* The piece, which is the caller's to free. */
static uint8_t *flatten(const struct cfi_table *table, size_t *len)
{
	uint8_t *piece;

	*len = cfi_table_flat_len(table);
	piece = malloc(*len);
	assert_non_null(piece);
	cfi_table_flatten(table, piece);
	return piece;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *seed >> 20;
}

/* Ways up from places all over the table, and what each step says. */
static uint64_t walk(const struct cfi_table *table, uint64_t seed)
{
	uint64_t words[128], sum = 0, start;
	struct cfi_stack stack = { 0x7fff0000, (const uint8_t *)words,
				   sizeof(words) };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = 0x7fff0000 + 8 * i;
	for (int i = 0; i < STEPS; i++) {
		uint64_t offset = next_random(&seed) % SPAN;
		struct cfi_regs regs = { .known = UINT64_MAX >> 31 };

		for (int reg = 0; reg < CFI_MAX_REGS; reg++)
			regs.reg[reg] = 0x7fff0000;
		sum = sum * 31 +
		      cfi_unwind(table, offset, i & 1, &regs, &stack);
		sum = sum * 31 + regs.reg[CFI_X86_64_RSP];
		sum = sum * 31 + cfi_function(table, offset, &start);
	}
	return sum;
}

TEST(test_there_and_back)
{
	struct cfi_table *table = own_table(), *back = NULL;
	uint8_t *piece, *again;
	size_t len, again_len;

	piece = flatten(table, &len);
	assert_int_equal(cfi_table_unflatten(&back, piece, len), 0);
	again = flatten(back, &again_len);
	assert_int_equal(again_len, len);
	assert_memory_equal(again, piece, len);
	assert_int_equal(cfi_table_bytes(back), cfi_table_bytes(table));
	for (uint64_t seed = 0; seed < 100; seed++)
		assert_int_equal(walk(back, seed), walk(table, seed));
	free(again);
	free(piece);
	cfi_table_free(back);
	cfi_table_free(table);
}

/* A table of functions alone knows them all, each in one row. */
TEST(test_functions_alone)
{
	struct cfi_table *all = own_table();
	struct cfi_table *alone = own_table_of(CFI_FUNCTIONS);
	uint64_t known = 0;

	for (uint64_t offset = 0; offset < SPAN; offset++) {
		uint64_t start = 0, want = 0;
		bool is_known = cfi_function(all, offset, &want);

		assert_int_equal(cfi_function(alone, offset, &start), is_known);
		assert_int_equal(start, want);
		known += is_known;
	}
	assert_true(known > 10000);
	assert_true(cfi_table_nr_rows(alone) < cfi_table_nr_rows(all) / 2);
	assert_true(cfi_table_nr_rules(alone) < cfi_table_nr_rules(all));
	cfi_table_free(alone);
	cfi_table_free(all);
}

TEST(test_cut)
{
	struct cfi_table *table = own_table(), *back;
	uint8_t *piece, *copy;
	size_t len;

	piece = flatten(table, &len);
	for (size_t cut = 0; cut < len; cut += 1 + cut / 16) {
		/* Of its own, so that a sanitizer sees what is behind. */
		copy = malloc(cut + !cut);
		assert_non_null(copy);
		memcpy(copy, piece, cut);
		assert_int_equal(cfi_table_unflatten(&back, copy, cut),
				 -EBADMSG);
		free(copy);
	}
	free(piece);
	cfi_table_free(table);
}

/* One to eight bytes are others; half of the time in the head or the pools. */
TEST(test_changed)
{
	struct cfi_table *table = own_table(), *back;
	size_t len, nr_taken = 0;
	uint64_t seed = 1;
	uint8_t *piece;

	piece = flatten(table, &len);
	for (int i = 0; i < CHANGES; i++) {
		uint8_t before[8];
		size_t at = next_random(&seed) % (len - 8);
		unsigned int way = next_random(&seed) % 4;

		if (way == 0)
			at = next_random(&seed) % 56;
		else if (way == 1)
			at = len - 8 - next_random(&seed) % 2000;
		memcpy(before, piece + at, 8);
		for (uint64_t n = next_random(&seed) % 8 + 1; n--;)
			piece[at + n] = (uint8_t)next_random(&seed);
		if (!cfi_table_unflatten(&back, piece, len)) {
			walk(back, seed);
			cfi_table_free(back);
			nr_taken++;
		}
		memcpy(piece + at, before, 8);
	}
	/* Some are tables, too, of other code. */
	assert_in_range(nr_taken, 1, CHANGES - 1);
	free(piece);
	cfi_table_free(table);
}

/* ---- pieces that are made by hand -------------------------------------------
 */

/*
 * A sound piece: rows at 0x10 and 0x20 of one rule, which has two places and
 * an expression for its CFA. Other expressions begin at 0, 5 and 8, and number
 * 0 is an empty one.
 */
struct hand_made {
	uint64_t arch, has_go, base, nr, nr_pages, nr_rules, rules_len,
		exprs_len;
	uint32_t start[2], rule[2], page[2];
	uint32_t none; /* rule 0 */
	uint8_t cfa_is_expr, cfa_reg, nr_places, flags;
	int32_t cfa_value;
	uint8_t ra, zero[3];
	struct cfi_place place[2];
	uint8_t exprs[16];
};

static const struct hand_made sound = {
	.arch = CFI_X86_64,
	.nr = 2,
	.nr_pages = 2,
	.nr_rules = 1,
	.rules_len = 32,
	.exprs_len = 16,
	.start = { 0x10, 0x20 },
	.rule = { 1, 1 | CFI_ROW_STARTS },
	.page = { 0, 1 },
	.cfa_is_expr = 1,
	.nr_places = 2,
	.cfa_value = 2,
	.ra = CFI_MAX_REGS - 1,
	.place = { { .how = CFI_AT_CFA, .reg = 3, .value = -16 },
		   { .how = CFI_IS_EXPR,
		     .reg = CFI_MAX_REGS - 1,
		     .value = 0 } },
	.exprs = { 0, 0, 1, 0, 0x96, 1, 0, 0x96, 6, 0, 1, 2, 3, 4, 5, 6 },
};

/* What comes of the piece without its last @cut bytes. */
static int take_hand_made(const struct hand_made *piece, size_t cut)
{
	struct cfi_table *table = NULL;
	size_t len = offsetof(struct hand_made, exprs) + sizeof(piece->exprs);
	uint8_t *copy = malloc(len - cut);
	int err;

	assert_non_null(copy);
	memcpy(copy, piece, len - cut);
	err = cfi_table_unflatten(&table, copy, len - cut);
	free(copy);
	if (!err)
		cfi_table_free(table);
	else
		assert_null(table);
	return err;
}

TEST(pieces_that_cannot_be_are_refused)
{
#define CHANGE(member, value)                                                  \
	{                                                                      \
#member " = " #value, offsetof(struct hand_made, member),      \
			sizeof(sound.member), (uint64_t)(value)                \
	}
	static const struct {
		const char *what;
		size_t at, len;
		uint64_t value;
	} taken[] = {
		CHANGE(arch, CFI_AARCH64),
		CHANGE(base, UINT64_MAX),
		CHANGE(start[1], 0x10),
		CHANGE(rule[0], 0),
		CHANGE(rule[0], CFI_ROW_MIXED | 1),
		CHANGE(page[0], 1),
		CHANGE(cfa_value, 0),
		CHANGE(cfa_value, 5),
		CHANGE(cfa_value, 8),
		CHANGE(cfa_is_expr, 0),
		CHANGE(ra, 0),
		CHANGE(place[0].how, CFI_UNSAID),
		CHANGE(place[1].how, CFI_AT_EXPR),
		CHANGE(place[1].value, 2),
		CHANGE(has_go, 1),
	}, refused[] = {
		CHANGE(has_go, 2),
		CHANGE(arch, CFI_AARCH64 + 1),
		CHANGE(arch, UINT64_C(1) << 32),
		CHANGE(nr, 1),
		CHANGE(nr, 3),
		CHANGE(nr, UINT64_MAX),
		CHANGE(nr_pages, UINT64_MAX / 4 + 2),
		CHANGE(rules_len, 28),
		CHANGE(rules_len, 31),
		CHANGE(rules_len, UINT64_MAX),
		CHANGE(exprs_len, 17),
		CHANGE(exprs_len, UINT64_MAX),
		CHANGE(start[1], 0xf),
		/* No rule begins there. */
		CHANGE(rule[0], 2),
		CHANGE(rule[1], 8),
		CHANGE(rule[0], CFI_ROW_RULE),
		CHANGE(page[0], 2),
		CHANGE(page[1], 2),
		CHANGE(nr_places, 1),
		CHANGE(nr_places, 3),
		CHANGE(nr_places, 255),
		CHANGE(ra, CFI_MAX_REGS),
		/* No expression begins there. */
		CHANGE(cfa_value, 1),
		CHANGE(cfa_value, 9),
		CHANGE(cfa_value, 16),
		CHANGE(cfa_value, -1),
		CHANGE(place[1].value, 1),
		CHANGE(place[1].value, 16),
		CHANGE(place[1].value, -16),
		CHANGE(place[0].reg, CFI_MAX_REGS),
		CHANGE(place[0].how, CFI_AT_EXPR),
		CHANGE(place[1].how, CFI_IS_EXPR + 1),
		CHANGE(exprs[5], 2),
		CHANGE(exprs[5], 4),
	};
	struct hand_made piece;

	assert_int_equal(take_hand_made(&sound, 0), 0);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
		piece = sound;
		memcpy((uint8_t *)&piece + taken[i].at, &taken[i].value,
		       taken[i].len);
		if (take_hand_made(&piece, 0))
			fail_msg("%s is refused", taken[i].what);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		piece = sound;
		memcpy((uint8_t *)&piece + refused[i].at, &refused[i].value,
		       refused[i].len);
		if (take_hand_made(&piece, 0) != -EBADMSG)
			fail_msg("%s is taken", refused[i].what);
	}
	piece = sound;
	piece.page[0] = 1;
	piece.page[1] = 0;
	assert_int_equal(take_hand_made(&piece, 0), -EBADMSG);
}

/* Pools end with what is in them. */
TEST(pools_that_are_cut_are_refused)
{
	struct hand_made piece = sound;

	/* No room for a length, then for what it counts. */
	for (size_t cut = 1; cut < 8; cut++) {
		piece.exprs_len = 16 - cut;
		assert_int_equal(take_hand_made(&piece, cut), -EBADMSG);
	}
	piece.exprs_len = 8;
	assert_int_equal(take_hand_made(&piece, 8), 0);
	/* What is behind the pools is nobody's. */
	assert_int_equal(take_hand_made(&piece, 7), 0);
	/* The last expression may be an empty one. */
	piece.exprs_len = 2;
	piece.cfa_value = 0;
	assert_int_equal(take_hand_made(&piece, 14), 0);

	/* A rule of 4 bytes, and none at all, not even rule 0. */
	piece = sound;
	piece.rules_len = 8;
	piece.exprs_len = 0;
	assert_int_equal(take_hand_made(&piece, 0), -EBADMSG);
	piece.rules_len = 4;
	assert_int_equal(take_hand_made(&piece, 0), -EBADMSG);
	piece.rule[0] = piece.rule[1] = 0;
	assert_int_equal(take_hand_made(&piece, 0), 0);
	piece.rules_len = 0;
	assert_int_equal(take_hand_made(&piece, 0), -EBADMSG);

	/* Pages are of rows. */
	piece = sound;
	piece.nr = 0;
	piece.nr_pages = 0;
	piece.rules_len = 4;
	piece.exprs_len = 0;
	memset(piece.start, 0, sizeof(piece.start));
	assert_int_equal(take_hand_made(&piece, 0), 0);
	piece.nr_pages = 1;
	assert_int_equal(take_hand_made(&piece, 0), -EBADMSG);
}
