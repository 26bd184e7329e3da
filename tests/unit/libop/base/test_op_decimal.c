// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers as text: as printf(3) has them, for values of all sizes, for those
 * in the middle between two results, and for those next to them. */

#include "tests/unit/rows.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "libop/base/op_decimal.h"

/* xorshift64*: the same numbers in each run. */
static uint64_t random_u64(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static void percent_must_be_as_printed(double value)
{
	char buf[OP_DECIMAL_LEN], expected[64];
	size_t len = op_decimal_percent(buf, value);

	snprintf(expected, sizeof(expected), "%7.4f", value);
	assert_string_equal(buf, expected);
	assert_int_equal(len, strlen(expected));
}

TEST(percents_are_as_printed)
{
	static const double values[] = {
		0,	 -0.0,	   0.00005,  0.00004999999, 0.00015,
		0.00025, 0.12345,  1.00005,  2.50005,	    9.99995,
		9.99994, 99.99995, 99.99999, 100,	    99999.99995,
		123456,	 1e15,	   -5,	     -0.00001,	    DBL_MIN,
	};
	uint64_t seed = 88172645463325252;

	for (size_t i = 0; i < NR(values); i++) {
		percent_must_be_as_printed(values[i]);
		percent_must_be_as_printed(nextafter(values[i], -1e9));
		percent_must_be_as_printed(nextafter(values[i], 1e9));
	}
	for (int i = 0; i < 200000; i++) {
		uint64_t whole = random_u64(&seed) % 1000000 + 1;

		percent_must_be_as_printed(
			100.0 * (double)(random_u64(&seed) % (whole + 1)) /
			(double)whole);
	}
	/* Where a part of 20,000 lies in the middle of two results. */
	for (int i = 0; i <= 20000; i++)
		percent_must_be_as_printed(i / 20000.0);
}

TEST(integers_are_as_printed)
{
	char buf[OP_DECIMAL_LEN], expected[64];
	uint64_t seed = 88172645463325252;

	for (int i = 0; i < 1000; i++) {
		uint64_t number = i ? random_u64(&seed) >> i % 64 : 0;
		int digits = i % 17;

		snprintf(expected, sizeof(expected), "%" PRIu64, number);
		assert_int_equal(op_decimal_u64(buf, number), strlen(expected));
		assert_string_equal(buf, expected);
		/* For 0 without digits printf(3) writes nothing. */
		snprintf(expected, sizeof(expected), "%.*" PRIx64,
			 digits ? digits : 1, number);
		assert_int_equal(op_decimal_hex(buf, number, digits),
				 strlen(expected));
		assert_string_equal(buf, expected);
	}
	op_decimal_u64(buf, UINT64_MAX);
	assert_string_equal(buf, "18446744073709551615");
}
