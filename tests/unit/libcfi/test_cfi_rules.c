// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules and expressions are kept once each, however many there are. */

#include "libcfi/cfi_rules.h"
#include "cfi_fixture.h"

/* Room for a rule of up to 3 places. */
union some_rule {
	struct cfi_rule rule;
	uint8_t bytes[sizeof(struct cfi_rule) + 3 * sizeof(struct cfi_place)];
};

/* Make a rule that no other @i makes. Returns its bytes. */
static size_t make_rule(union some_rule *some, uint32_t i)
{
	memset(some, 0, sizeof(*some));
	some->rule.cfa_reg = 7;
	some->rule.cfa_value = (int32_t)i;
	some->rule.nr_places = (uint8_t)(i % 4);
	some->rule.ra = 16;
	for (uint32_t n = 0; n < i % 4; n++)
		some->rule.place[n] = (struct cfi_place){
			.how = CFI_AT_CFA,
			.reg = (uint8_t)n,
			.value = -8,
		};
	return sizeof(some->rule) + i % 4 * sizeof(struct cfi_place);
}

static uint32_t add(struct cfi_rules *rules, uint32_t i)
{
	union some_rule some;
	uint32_t nr = 0;

	make_rule(&some, i);
	assert_int_equal(cfi_rules_add(rules, &some.rule, &nr), 0);
	assert_true(nr > 0);
	return nr;
}

TEST(rules_are_kept_once)
{
	enum { NR = 5000 };
	static uint32_t numbers[NR];
	struct cfi_rules rules;
	size_t len;

	assert_int_equal(cfi_rules_init(&rules), 0);
	for (uint32_t i = 0; i < NR; i++) {
		numbers[i] = add(&rules, i);
		assert_int_equal(rules.nr_rules, i + 1);
		assert_int_equal(add(&rules, i), numbers[i]);
		assert_int_equal(add(&rules, i / 2), numbers[i / 2]);
	}
	assert_int_equal(rules.nr_rules, NR);
	len = rules.rules.len;
	cfi_rules_close(&rules);
	assert_int_equal(rules.rules.len, len);
	for (uint32_t i = 0; i < NR; i++) {
		union some_rule want;
		size_t want_len = make_rule(&want, i);

		assert_memory_equal(cfi_rule(&rules, numbers[i]), want.bytes,
				    want_len);
	}
	cfi_rules_release(&rules);
}

/* A rule that differs in its last place alone, or has a place more. */
TEST(rules_are_compared_whole)
{
	union some_rule some;
	uint32_t numbers[3] = { 0 };
	struct cfi_rules rules;

	make_rule(&some, 3);
	assert_int_equal(cfi_rules_init(&rules), 0);
	assert_int_equal(cfi_rules_add(&rules, &some.rule, &numbers[0]), 0);
	some.rule.place[2].value++;
	assert_int_equal(cfi_rules_add(&rules, &some.rule, &numbers[1]), 0);
	some.rule.nr_places--;
	assert_int_equal(cfi_rules_add(&rules, &some.rule, &numbers[2]), 0);
	assert_int_equal(rules.nr_rules, 3);
	assert_int_not_equal(numbers[0], numbers[1]);
	assert_int_not_equal(numbers[1], numbers[2]);
	/* Without cfi_rules_close() before. */
	cfi_rules_release(&rules);
	assert_null(rules.intern);
	assert_null(rules.rules.bytes);
	assert_null(rules.exprs.bytes);
}

/* Expression @i, of 0 to 10 bytes, then of more. */
static size_t make_expr(uint8_t *expr, uint32_t i)
{
	size_t len = i < 11 ? i : 4 + i % 7;

	memset(expr, 0x96, 16);
	memcpy(expr, &i, sizeof(i));
	return len;
}

TEST(expressions_are_kept_once)
{
	enum { NR = 3000 };
	static int32_t numbers[NR];
	uint8_t expr[16];
	struct cfi_rules rules;
	int32_t nr;
	size_t len;

	assert_int_equal(cfi_rules_init(&rules), 0);
	for (uint32_t i = 0; i < NR; i++) {
		len = make_expr(expr, i);
		assert_int_equal(
			cfi_rules_add_expr(&rules, expr, len, &numbers[i]), 0);
		len = make_expr(expr, i / 2);
		assert_int_equal(cfi_rules_add_expr(&rules, expr, len, &nr), 0);
		assert_int_equal(nr, numbers[i / 2]);
	}
	cfi_rules_close(&rules);
	for (uint32_t i = 0; i < NR; i++) {
		size_t got_len;
		const uint8_t *got =
			cfi_rules_expr(&rules, numbers[i], &got_len);

		len = make_expr(expr, i);
		assert_int_equal(got_len, len);
		assert_memory_equal(got, expr, len);
		if (i)
			assert_true(numbers[i] > numbers[i - 1]);
	}
	assert_int_equal(rules.nr_rules, 0);
	cfi_rules_release(&rules);
}

/* 64 MiB of expressions, with their lengths, to the byte; none too long. */
TEST(what_is_too_much_is_refused)
{
	static uint8_t expr[1025];
	const size_t max = (size_t)64 << 20, each = 2 + 1024;
	struct cfi_rules rules;
	int32_t nr, first;

	assert_int_equal(cfi_rules_init(&rules), 0);
	assert_int_equal(cfi_rules_add_expr(&rules, expr, 1025, &nr), -E2BIG);
	assert_int_equal(rules.exprs.len, 0);
	assert_int_equal(cfi_rules_add_expr(&rules, expr, 1024, &first), 0);
	for (uint32_t i = 1; i < max / each; i++) {
		memcpy(expr, &i, sizeof(i));
		assert_int_equal(cfi_rules_add_expr(&rules, expr, 1024, &nr),
				 0);
	}
	assert_int_equal(cfi_rules_add_expr(&rules, expr, max % each - 1, &nr),
			 -E2BIG);
	memset(expr, 0, sizeof(expr));
	assert_int_equal(cfi_rules_add_expr(&rules, expr, 1024, &nr), 0);
	assert_int_equal(nr, first);
	cfi_rules_release(&rules);
	/* Once more, up to the last byte. */
	assert_int_equal(cfi_rules_init(&rules), 0);
	rules.exprs.len = max - 10;
	rules.exprs.bytes = malloc(max);
	assert_non_null(rules.exprs.bytes);
	assert_int_equal(cfi_rules_add_expr(&rules, expr, 8, &nr), 0);
	assert_int_equal(rules.exprs.len, max);
	assert_int_equal(cfi_rules_add_expr(&rules, expr, 1, &nr), -E2BIG);
	assert_int_equal(rules.exprs.len, max);
	cfi_rules_release(&rules);
}
