// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Intervals and tests of counts: known values, and simulations that show that
 * they hold what they promise. The random numbers are always the same.
 */

#include "tests/unit/pp_fixture.h"

#include <math.h>
#include <stdbool.h>

#include "libpp/report/interval.h"

#define NEAR(a, b, by) assert_true(fabs((a) - (b)) <= (by))

/* ---- random numbers ------------------------------------------------------ */

/* xorshift64* (Marsaglia 2003, Vigna 2016): 53 random bits as 0 <= x < 1. */
static double uniform(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)((*state * 0x2545f4914f6cdd1dull) >> 11) / 0x1p53;
}

/* How many of @n tries succeed, each with chance @p: the gaps between
 * successes are geometric, so the work is in proportion to the result. */
static uint64_t binomial(uint64_t *state, uint64_t n, double p)
{
	double at = 0, scale = log1p(-p);
	uint64_t nr = 0;

	for (;;) {
		at += floor(log(1 - uniform(state)) / scale) + 1;
		if (at > (double)n)
			return nr;
		nr++;
	}
}

/* From @low to @high, each order of magnitude as often. */
static double log_uniform(uint64_t *state, double low, double high)
{
	return low * pow(high / low, uniform(state));
}

/* ---- known values -------------------------------------------------------- */

TEST(shares_have_the_known_intervals)
{
	struct pp_interval i;

	/* Newcombe 1998, table I, method 3. */
	i = pp_share_interval(81, 263);
	NEAR(i.low, 0.2553, 5e-5);
	NEAR(i.high, 0.3662, 5e-5);
	i = pp_share_interval(15, 148);
	NEAR(i.low, 0.0624, 5e-5);
	NEAR(i.high, 0.1605, 5e-5);
	i = pp_share_interval(0, 20);
	NEAR(i.low, 0, 0);
	NEAR(i.high, 0.1611, 5e-5);
	i = pp_share_interval(29, 29);
	NEAR(i.low, 0.8830, 5e-5);
	NEAR(i.high, 1, 0);
	i = pp_share_interval(0, 0);
	NEAR(i.low, 0, 0);
	NEAR(i.high, 1, 0);
}

TEST(ratios_have_the_known_intervals)
{
	struct pp_interval i;

	/* Koopman 1984, example: 36 of 40 and 16 of 80. */
	i = pp_ratio_interval(36, 40, 16, 80);
	NEAR(i.low, 2.94, 0.01);
	NEAR(i.high, 7.15, 0.01);
	/* Turned round, the ends are. */
	i = pp_ratio_interval(16, 80, 36, 40);
	NEAR(i.low, 1 / 7.15, 0.001);
	NEAR(i.high, 1 / 2.94, 0.001);
	i = pp_ratio_interval(5, 100, 0, 100);
	assert_true(i.low > 1 && isinf(i.high));
	i = pp_ratio_interval(0, 100, 5, 100);
	assert_true(i.low == 0 && i.high < 1);
	i = pp_ratio_interval(0, 0, 5, 100);
	assert_true(i.low == 0 && isinf(i.high));
	i = pp_ratio_interval(100, 100, 100, 100);
	assert_true(i.low < 1 && i.high > 1 && i.low > 0.9 && i.high < 1.1);
}

TEST(tests_have_the_known_values)
{
	/* Fisher's tea: 3 of 4 and 1 of 4; one tail is 17/70. */
	NEAR(pp_difference_p(3, 4, 1, 4), 34.0 / 70, 1e-12);
	NEAR(pp_difference_p(4, 4, 0, 4), 2.0 / 70, 1e-12);
	NEAR(pp_difference_p(5, 10, 5, 10), 1, 0);
	NEAR(pp_difference_p(0, 10, 0, 10), 1, 0);
	NEAR(pp_difference_p(3, 0, 3, 10), 1, 0);
	/* By the exact test with 20,000 in both parts, not with one more. */
	NEAR(pp_difference_p(10100, 1000000, 9900, 1000000), 0.1572923, 1e-6);
	NEAR(pp_difference_p(10100, 1000000, 9901, 1000000), 0.1573042, 1e-6);
	NEAR(pp_difference_p(9901, 1000000, 10100, 1000000), 0.1573042, 1e-6);
	/* Nothing varies where all samples are in the part. */
	NEAR(pp_difference_p(20001, 20001, 20001, 20001), 1, 0);
	assert_true(pp_difference_p(10000, 10000, 0, 10000) < 1e-300);
}

/* The exact test hands over to the approximate one without a step. */
TEST(the_two_tests_agree_where_they_meet)
{
	for (uint64_t more = 0; more <= 400; more += 100) {
		uint64_t half = PP_EXACT_MAX / 2, n = 10000000;
		double exact = pp_difference_p(half + more, n, half - more, n);
		double score =
			pp_difference_p(half + more + 1, n, half - more, n);

		assert_true(exact < 1.15 * score && score < 1.15 * exact);
	}
}

TEST(huge_counts_are_no_trouble)
{
	uint64_t n = 10000000000000ull;
	struct pp_interval i;

	i = pp_share_interval(n / 4, n);
	assert_true(i.low < 0.25 && i.high > 0.25 && i.high - i.low < 1e-6);
	i = pp_ratio_interval(n / 4, n, n / 4, n);
	assert_true(i.low < 1 && i.high > 1 && i.high - i.low < 1e-5);
	NEAR(pp_difference_p(n / 4, n, n / 4, n), 1, 1e-9);
	i = pp_share_interval(UINT64_MAX, UINT64_MAX);
	assert_true(i.low > 0.999999 && i.high <= 1);
}

/* ---- coverage ------------------------------------------------------------ */

#define NR_SHARES 60

/* The chance of @k successes in @n tries, each with chance @p. */
static double chance(uint64_t n, uint64_t k, double p)
{
	return exp(lgamma((double)n + 1) - lgamma((double)k + 1) -
		   lgamma((double)(n - k) + 1) + (double)k * log(p) +
		   (double)(n - k) * log1p(-p));
}

/* The chance that the interval holds the share @p of profiles of @n samples. */
static double chance_to_cover(uint64_t n, double p)
{
	double mean = (double)n * p, reach = 8 * sqrt(mean) + 10, sum = 0;
	uint64_t from = mean > reach ? (uint64_t)(mean - reach) : 0;

	for (uint64_t k = from; k <= n && (double)k <= mean + reach; k++) {
		struct pp_interval i = pp_share_interval(k, n);

		if (p >= i.low && p <= i.high)
			sum += chance(n, k, p);
	}
	return sum;
}

/* For shares such that @low to @high samples are expected; each order of
 * magnitude counts the same. */
TEST(intervals_of_shares_cover_what_they_say)
{
	static const struct {
		uint64_t n;
		double low, high;
	} cases[] = {
		{ 50, 1, 40 },	   { 1000, 1, 10 },	{ 1000, 10, 900 },
		{ 100000, 1, 10 }, { 100000, 10, 100 }, { 100000, 100, 1000 },
	};

	for (size_t i = 0; i < NR(cases); i++) {
		double sum = 0, step = cases[i].high / cases[i].low;

		for (unsigned int k = 0; k < NR_SHARES; k++)
			sum += chance_to_cover(
				cases[i].n,
				cases[i].low *
					pow(step, k / (NR_SHARES - 1.0)) /
					(double)cases[i].n);
		print_message("%.0f to %.0f of %llu: %.4f\n", cases[i].low,
			      cases[i].high, (unsigned long long)cases[i].n,
			      sum / NR_SHARES);
		NEAR(sum / NR_SHARES, 0.95, 0.01);
	}
}

/* ---- simulations --------------------------------------------------------- */

/* Shares change by factors from a fourth to four. */
static double ratio_coverage(uint64_t *state, uint64_t n, uint64_t old_n,
			     double low, double high, unsigned int rounds)
{
	unsigned int covered = 0;

	for (unsigned int r = 0; r < rounds; r++) {
		double old_p = log_uniform(state, low, high) / (double)old_n;
		double ratio = log_uniform(state, 0.25, 4);
		double p = fmin(old_p * ratio, 0.95);
		struct pp_interval i =
			pp_ratio_interval(binomial(state, n, p), n,
					  binomial(state, old_n, old_p), old_n);

		ratio = p / old_p;
		covered += ratio >= i.low && ratio <= i.high;
	}
	return (double)covered / rounds;
}

TEST(intervals_of_changes_cover_what_they_say)
{
	static const struct {
		uint64_t n, old_n;
		double low, high;
	} cases[] = {
		{ 200, 200, 20, 180 },	     { 1000, 1000, 5, 900 },
		{ 1000, 5000, 20, 2500 },    { 5000, 1000, 5, 500 },
		{ 100000, 100000, 10, 300 },
	};
	unsigned int rounds = rounds_of(4000, 40000);
	/* Three standard errors more than what is allowed. */
	double error = 0.01 + 3 * sqrt(0.05 * 0.95 / rounds);
	uint64_t random = 2;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double c = ratio_coverage(&random, cases[i].n, cases[i].old_n,
					  cases[i].low, cases[i].high, rounds);

		print_message("%.0f to %.0f of %llu, then of %llu: %.4f\n",
			      cases[i].low, cases[i].high,
			      (unsigned long long)cases[i].old_n,
			      (unsigned long long)cases[i].n, c);
		NEAR(c, 0.95, error);
	}
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

#define NR_SYMBOLS 200

/* The shares of a program: the n-th symbol has 1/n of the first. */
static double zipf(unsigned int n)
{
	return 0.17 / (n + 1);
}

/* Two profiles; in the later one @changed symbols take half as much again.
 * Returns how many are significant; *@wrong counts those that did not change.
 */
static unsigned int compare(uint64_t *state, uint64_t n, uint64_t old_n,
			    unsigned int changed, unsigned int *wrong)
{
	double p[NR_SYMBOLS], sorted[NR_SYMBOLS];
	unsigned int nr = 0;
	size_t significant;

	for (unsigned int i = 0; i < NR_SYMBOLS; i++) {
		double share = zipf(i), now = share * (i < changed ? 1.5 : 1);

		p[i] = pp_difference_p(binomial(state, n, now), n,
				       binomial(state, old_n, share), old_n);
		sorted[i] = p[i];
	}
	qsort(sorted, NR_SYMBOLS, sizeof(*sorted), by_value);
	significant = pp_holm(sorted, NR_SYMBOLS, 0.05);
	for (unsigned int i = 0; i < NR_SYMBOLS && significant; i++) {
		bool marked = p[i] <= sorted[significant - 1];

		nr += marked;
		*wrong += marked && i >= changed;
	}
	return nr;
}

TEST(marks_without_reason_are_rare)
{
	uint64_t random = 3;
	unsigned int reports = 0, rounds = rounds_of(400, 2000);

	for (unsigned int r = 0; r < rounds; r++) {
		unsigned int wrong = 0;

		compare(&random, 20000, r % 2 ? 20000 : 5000, 0, &wrong);
		reports += wrong != 0;
	}
	print_message("%u of %u reports about nothing have a mark\n", reports,
		      rounds);
	/* 5 % and three standard errors. */
	assert_true(reports <=
		    (0.05 + 3 * sqrt(0.05 * 0.95 / rounds)) * rounds);
}

TEST(marks_find_what_changed)
{
	uint64_t random = 4;
	unsigned int found = 0, reports = 0, rounds = rounds_of(100, 500);

	for (unsigned int r = 0; r < rounds; r++) {
		unsigned int wrong = 0;

		found += compare(&random, 20000, 20000, 5, &wrong) - wrong;
		reports += wrong != 0;
	}
	print_message("%u of %u changes found, %u reports with a wrong one\n",
		      found, 5 * rounds, reports);
	assert_true(found > 0.95 * 5 * rounds);
	assert_true(reports <= 0.08 * rounds);
}

TEST(scaled_shares_are_those_of_the_samples)
{
	const struct pp_interval taken = pp_share_interval(15, 148);
	struct pp_interval i = pp_scaled_share_interval(30, 296, 2);

	NEAR(i.low, taken.low, 1e-12);
	NEAR(i.high, taken.high, 1e-12);
	i = pp_scaled_share_interval(0, 0, 2);
	NEAR(i.low, 0, 0);
	NEAR(i.high, 1, 0);
}

TEST(totals_have_the_known_intervals)
{
	struct pp_interval i;

	i = pp_total_interval(500, 1, 1);
	NEAR(i.low, 500, 0);
	NEAR(i.high, 500, 0);
	/* The roots of N^2 / 4 - (n + Z^2 / 4) N + n^2 for a share of a half.
	 */
	i = pp_total_interval(500, 0.5, 1);
	NEAR(i.low, 939.911, 1e-3);
	NEAR(i.high, 1063.930, 1e-3);
	/* At least as many as were taken. */
	i = pp_total_interval(2, 0.999, 1);
	NEAR(i.low, 2, 0);
	i = pp_total_interval(0, 0.25, 1);
	NEAR(i.low, 0, 0);
	NEAR(i.high, 11.525, 1e-3);
	/* Clusters of 4: as a quarter of the samples, times 4. */
	i = pp_total_interval(2000, 0.5, 4);
	NEAR(i.low, 4 * 939.911, 4e-3);
	NEAR(i.high, 4 * 1063.930, 4e-3);
	i = pp_total_interval(3, 0, 1);
	NEAR(i.low, 3, 0);
	assert_true(isinf(i.high));
}

/* Of @total samples each is taken with chance @share. */
TEST(intervals_of_totals_cover_what_they_say)
{
	static const double shares[] = { 0.1, 0.25, 0.5, 0.75, 0.9 };
	uint64_t random = 7;
	unsigned int covered = 0, rounds = 0;

	for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
		for (int round = 0; round < 400; round++, rounds++) {
			uint64_t total = (uint64_t)log_uniform(&random, 100,
							       5000),
				 taken = 0;
			struct pp_interval i;

			for (uint64_t n = 0; n < total; n++)
				taken += uniform(&random) < shares[s];
			i = pp_total_interval(taken, shares[s], 1);
			covered += i.low <= (double)total &&
				   (double)total <= i.high;
		}
	}
	print_message("%u of %u totals covered\n", covered, rounds);
	assert_in_range(covered, 0.94 * rounds, 0.965 * rounds);
}

/*
 * A rate that is lowered for a part of the time: samples that count for
 * several. With the grain of op_ledger_grain() intervals still hold the true
 * share in 95 of 100 cases, and without it they do not.
 */
TEST(intervals_of_lowered_rates_cover_what_they_say)
{
	static const struct {
		uint64_t nr[3]; /* samples that count for 1, 4, 16 */
		double p;
	} cases[] = {
		{ { 2000, 500, 0 }, 0.3 },   { { 1000, 2000, 100 }, 0.1 },
		{ { 0, 3000, 0 }, 0.02 },    { { 5000, 0, 200 }, 0.5 },
		{ { 10000, 100, 0 }, 0.01 },
	};
	static const uint64_t weights[] = { 1, 4, 16 };
	const unsigned int rounds = 4000;
	uint64_t random = 17;

	for (size_t i = 0; i < NR(cases); i++) {
		uint64_t whole = 0, squares = 0;
		unsigned int covered = 0, plain = 0;
		double mean = 0, p = cases[i].p;

		for (size_t w = 0; w < NR(weights); w++) {
			whole += cases[i].nr[w] * weights[w];
			squares += cases[i].nr[w] * weights[w] * weights[w];
		}
		for (unsigned int r = 0; r < rounds; r++) {
			uint64_t part = 0;
			struct pp_interval got;

			for (size_t w = 0; w < NR(weights); w++)
				part += weights[w] *
					binomial(&random, cases[i].nr[w], p);
			mean += (double)part / (double)whole / rounds;
			got = pp_scaled_share_interval(
				part, whole, (double)squares / (double)whole);
			covered += got.low <= p && p <= got.high;
			got = pp_share_interval(part, whole);
			plain += got.low <= p && p <= got.high;
		}
		print_message(
			"case %zu: share %.5f of %.5f, covered %.4f, without grain %.4f\n",
			i, mean, p, (double)covered / rounds,
			(double)plain / rounds);
		NEAR(mean / p, 1, 0.01);
		NEAR((double)covered / rounds, 0.95, 0.015);
		assert_true(plain < covered);
	}
}

/* ---- counts at a known rate ---------------------------------------------- */

/* Samples of which @mean are expected, in grains of @grain. */
static struct pp_timed_count take_timed(uint64_t *state, double mean,
					double grain)
{
	const uint64_t n = 10000000;
	uint64_t taken = binomial(state, n, mean / grain / (double)n);

	return (struct pp_timed_count){ (double)taken * grain, grain };
}

TEST(counts_have_the_known_intervals)
{
	const struct pp_timed_count none = { 0, 1 }, ten = { 10, 1 };
	const struct pp_timed_count many = { 1e9, 1 }, coarse = { 40, 4 };
	struct pp_interval i = pp_count_difference(ten, none);

	/* 10: 5.432 to 18.410; 0: 0 to 3.841. */
	NEAR(i.low, 10 - hypot(10 - 5.43192, 3.84146), 1e-4);
	NEAR(i.high, 10 + 8.40954, 1e-4);
	i = pp_count_ratio(ten, none);
	assert_true(i.low > 0 && isinf(i.high));
	i = pp_count_ratio(many, many);
	assert_true(i.low < 1 && i.low > 0.9999 && i.high > 1 &&
		    i.high < 1.0001);
	i = pp_count_difference(coarse, coarse);
	NEAR(i.high, 4 * pp_count_difference(ten, ten).high, 1e-9);
	/* 2^-10: all ten coins on one side. */
	NEAR(pp_count_excess_p(ten, none, 1), 1 / 1024.0, 1e-12);
	NEAR(pp_count_change_p(ten, none), 2 / 1024.0, 1e-12);
	NEAR(pp_count_change_p(none, ten), 2 / 1024.0, 1e-12);
	NEAR(pp_count_excess_p(none, ten, 1), 1, 0);
	NEAR(pp_count_excess_p(ten, ten, 1), 0.588099, 1e-6);
	NEAR(pp_count_excess_p(ten, none, 3), pow(0.75, 10), 1e-12);
	NEAR(pp_count_excess_p(many, many, 1), 0.5, 1e-3);
	NEAR(pp_count_excess_p(ten, many, 1), 1, 1e-9);
	assert_true(pp_count_excess_p(many, ten, 1) < 1e-12);
}

TEST(intervals_of_counts_cover_what_they_say)
{
	static const struct {
		double low, high, grain;
	} cases[] = { { 2, 50, 1 }, { 50, 5000, 1 }, { 400, 4000, 4 } };
	unsigned int rounds = rounds_of(4000, 40000);
	double error = 0.01 + 3 * sqrt(0.05 * 0.95 / rounds);
	uint64_t random = 11;

	for (size_t k = 0; k < NR(cases); k++) {
		unsigned int differences = 0, ratios = 0;

		for (unsigned int r = 0; r < rounds; r++) {
			double old = log_uniform(&random, cases[k].low,
						 cases[k].high);
			double now = old * log_uniform(&random, 0.5, 2);
			double grain = r % 2 ? cases[k].grain : 1;
			struct pp_timed_count a =
				take_timed(&random, now, cases[k].grain);
			struct pp_timed_count b =
				take_timed(&random, old, grain);
			struct pp_interval d = pp_count_difference(a, b);
			struct pp_interval q = pp_count_ratio(a, b);

			differences +=
				now - old >= d.low && now - old <= d.high;
			ratios += now / old >= q.low && now / old <= q.high;
		}
		print_message("%g to %g samples: %.4f and %.4f\n", cases[k].low,
			      cases[k].high, (double)differences / rounds,
			      (double)ratios / rounds);
		/* Counts are whole numbers, so few samples cover more. */
		NEAR((double)differences / rounds, 0.955, error + 0.005);
		NEAR((double)ratios / rounds, 0.955, error + 0.005);
	}
}

/* A gate at one in a thousand: of equal pairs fewer are called slower, and a
 * program that takes a fifth more time is. */
TEST(equal_pairs_are_not_called_slower)
{
	unsigned int rounds = rounds_of(20000, 200000), alarms = 0, found = 0;
	uint64_t random = 12;

	for (unsigned int r = 0; r < rounds; r++) {
		double mean = log_uniform(&random, 3, 2000);
		double grain = r % 3 ? 1 : 2;

		alarms += pp_count_excess_p(take_timed(&random, mean, grain),
					    take_timed(&random, mean, grain),
					    1) <= 0.001;
	}
	for (unsigned int r = 0; r < 100; r++)
		found += pp_count_excess_p(take_timed(&random, 2400, 1),
					   take_timed(&random, 2000, 1),
					   1) <= 0.001;
	print_message("%u of %u equal pairs, %u of 100 slower ones\n", alarms,
		      rounds, found);
	assert_true(alarms < rounds / 1000);
	assert_true(found >= 99);
}

TEST(holm_stops_at_the_first_that_is_too_large)
{
	const double p[] = { 0.01, 0.02, 0.02, 0.05 };

	assert_int_equal(pp_holm(p, 0, 0.05), 0);
	assert_int_equal(pp_holm(p, 1, 0.05), 1);
	/* 0.01 <= 0.05 / 4, 0.02 > 0.05 / 3 */
	assert_int_equal(pp_holm(p, 4, 0.05), 1);
	assert_int_equal(pp_holm(p, 4, 0.06), 4);
	assert_int_equal(pp_holm(p, 4, 0.03), 0);
}
