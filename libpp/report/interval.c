// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Score intervals hold the values for which the observed counts would not be
 * surprising, with the variance that those values imply. Unlike the textbook
 * interval (estimate plus or minus 1.96 standard errors) they do well with
 * few samples and with shares near 0 and 1.
 */

#include "libpp/report/interval.h"

#include <math.h>
#include <stdbool.h>

#define Z 1.959963984540054 /* 97.5 % of normal deviates are below */
#define BISECTIONS 100

double pp_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static double clamp(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

struct pp_interval pp_scaled_share_interval(uint64_t part, uint64_t whole,
					    double scale_of_counts)
{
	double n = (double)whole / scale_of_counts, p = pp_share(part, whole);
	double scale, middle, half;

	if (!whole)
		return (struct pp_interval){ 0, 1 };
	scale = 1 / (1 + Z * Z / n);
	middle = scale * (p + Z * Z / (2 * n));
	half = scale * Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
	return (struct pp_interval){
		.low = part ? clamp(middle - half, 0, p) : 0,
		.high = part < whole ? clamp(middle + half, p, 1) : 1,
	};
}

struct pp_interval pp_share_interval(uint64_t part, uint64_t whole)
{
	return pp_scaled_share_interval(part, whole, 1);
}

/*
 * All N for which N * share differs from @taken by no more than Z standard
 * errors, which are sqrt(@together * N * share * (1 - share)), as clusters of
 * that size are drawn: a quadratic equation.
 */
struct pp_interval pp_total_interval(uint64_t taken, double share,
				     double together)
{
	double n = (double)taken, rest = Z * Z * (1 - share) * together;
	double middle = 2 * n + rest, half = sqrt(rest * rest + 4 * n * rest);

	if (share <= 0)
		return (struct pp_interval){ n, INFINITY };
	return (struct pp_interval){ fmax(n, (middle - half) / (2 * share)),
				     (middle + half) / (2 * share) };
}

/* ---- the ratio of two shares --------------------------------------------- */

struct counts {
	double part, whole, old_part, old_whole;
};

/*
 * How many standard errors the counts are above what a ratio of @ratio makes
 * likely. The old share that fits such a ratio best solves a quadratic
 * equation (Miettinen and Nurminen 1985, equation 12 ff.).
 */
static double score_of_ratio(const struct counts *c, double ratio)
{
	double a = (c->whole + c->old_whole) * ratio;
	double b = ratio * (c->whole + c->old_part) + c->part + c->old_whole;
	double all = c->part + c->old_part;
	double root = sqrt(fmax(b * b - 4 * a * all, 0));
	/* The smaller root, without the difference of two near numbers. */
	double old = clamp(2 * all / (b + root), 0, 1);
	double now = clamp(ratio * old, 0, 1);
	double variance = now * (1 - now) / c->whole +
			  ratio * ratio * old * (1 - old) / c->old_whole;
	double difference =
		c->part / c->whole - ratio * c->old_part / c->old_whole;

	if (variance <= 0)
		return difference > 0	? INFINITY
		       : difference < 0 ? -INFINITY
					: 0;
	return difference / sqrt(variance);
}

/* The ratio between @low and @high (logarithms) whose score is @wanted; the
 * score falls as the ratio grows. */
static double solve_for_ratio(const struct counts *c, double low, double high,
			      double wanted)
{
	for (int i = 0; i < BISECTIONS && high - low > 1e-9; i++) {
		double middle = (low + high) / 2;

		if (score_of_ratio(c, exp(middle)) > wanted)
			low = middle;
		else
			high = middle;
	}
	return exp((low + high) / 2);
}

struct pp_interval pp_ratio_interval(uint64_t part, uint64_t whole,
				     uint64_t old_part, uint64_t old_whole)
{
	const struct counts c = { (double)part, (double)whole, (double)old_part,
				  (double)old_whole };
	struct pp_interval interval = { 0, INFINITY };
	double middle;

	if (!whole || !old_whole || (!part && !old_part))
		return interval;
	middle = log((c.part + 0.5) / c.whole * c.old_whole /
		     (c.old_part + 0.5));
	if (part)
		interval.low = solve_for_ratio(&c, middle - 50, middle + 2, Z);
	if (old_part)
		interval.high =
			solve_for_ratio(&c, middle - 2, middle + 50, -Z);
	return interval;
}

/* ---- tests --------------------------------------------------------------- */

static double log_choose(double n, double k)
{
	int sign;

	return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) -
	       lgamma_r(n - k + 1, &sign);
}

/*
 * The chance of @from or more (@step 1), or of @from or less (@step -1),
 * samples in the later part, where c->part + c->old_part samples are in both
 * parts together: the sum of hypergeometric probabilities, each computed from
 * the one before.
 */
static double hypergeometric_tail(const struct counts *c, double from, int step)
{
	double all = c->part + c->old_part, k = from, sum = 0;
	double term = exp(log_choose(c->whole, k) +
			  log_choose(c->old_whole, all - k) -
			  log_choose(c->whole + c->old_whole, all));

	while (term > 0 && term > sum * 1e-17) {
		sum += term;
		if (step > 0)
			term *= (c->whole - k) * (all - k) /
				((k + 1) * (c->old_whole - all + k + 1));
		else
			term *= k * (c->old_whole - all + k) /
				((c->whole - k + 1) * (all - k + 1));
		k += step;
	}
	return sum;
}

static double exact_p(const struct counts *c)
{
	double more = hypergeometric_tail(c, c->part, 1),
	       less = hypergeometric_tail(c, c->part, -1);

	return fmin(1, 2 * fmin(more, less));
}

double pp_difference_p(uint64_t part, uint64_t whole, uint64_t old_part,
		       uint64_t old_whole)
{
	const struct counts c = { (double)part, (double)whole, (double)old_part,
				  (double)old_whole };

	if (!whole || !old_whole || (!part && !old_part))
		return 1;
	if (part < PP_EXACT_MAX && old_part < PP_EXACT_MAX &&
	    part + old_part <= PP_EXACT_MAX)
		return exact_p(&c);
	return erfc(fabs(score_of_ratio(&c, 1)) / M_SQRT2);
}

/* ---- counts at a known rate ---------------------------------------------- */

/* The means for which @n samples are no surprise: those that differ from it by
 * no more than Z times their own root. */
static struct pp_interval poisson_interval(double n)
{
	double middle = n + Z * Z / 2, half = Z * sqrt(n + Z * Z / 4);

	return (struct pp_interval){ fmax(0, middle - half), middle + half };
}

struct pp_interval pp_count_difference(struct pp_timed_count now,
				       struct pp_timed_count old)
{
	double n = now.count / now.grain, o = old.count / old.grain;
	struct pp_interval a = poisson_interval(n), b = poisson_interval(o);
	double difference = now.count - old.count;

	return (struct pp_interval){
		difference - hypot(now.grain * (n - a.low),
				   old.grain * (b.high - o)),
		difference + hypot(now.grain * (a.high - n),
				   old.grain * (o - b.low)),
	};
}

struct pp_interval pp_count_ratio(struct pp_timed_count now,
				  struct pp_timed_count old)
{
	double n = now.count / now.grain, o = old.count / old.grain;
	struct pp_interval share =
		pp_share_interval((uint64_t)llround(n),
				  (uint64_t)llround(n) + (uint64_t)llround(o));
	double by = now.grain / old.grain;

	return (struct pp_interval){
		by * share.low / (1 - share.low),
		share.high < 1 ? by * share.high / (1 - share.high) : INFINITY,
	};
}

/* The chance of @from or more (@step 1), or of @from or less (@step -1), of
 * @all samples, each of which counts with chance @share. */
static double binomial_tail(double all, double from, double share, int step)
{
	double k = from, odds = share / (1 - share), sum = 0, term;

	if (from < 0 || from > all)
		return 0;
	term = exp(log_choose(all, k) + k * log(share) +
		   (all - k) * log1p(-share));
	while (term > 0 && term > sum * 1e-17) {
		sum += term;
		term *= step > 0 ? (all - k) / (k + 1) * odds
				 : k / (all - k + 1) / odds;
		k += step;
	}
	return fmin(1, sum);
}

double pp_count_excess_p(struct pp_timed_count now, struct pp_timed_count old,
			 double ratio)
{
	double n = nearbyint(now.count / now.grain);
	double all = n + nearbyint(old.count / old.grain);
	double by = ratio * old.grain / now.grain, share = by / (1 + by);

	if (n == 0)
		return 1;
	/* A sum that begins at the other end of a tail may lose all of it. */
	return n > all * share ? binomial_tail(all, n, share, 1)
			       : 1 - binomial_tail(all, n - 1, share, -1);
}

double pp_count_change_p(struct pp_timed_count now, struct pp_timed_count old)
{
	return fmin(1, 2 * fmin(pp_count_excess_p(now, old, 1),
				pp_count_excess_p(old, now, 1)));
}

size_t pp_holm(const double *p, size_t nr, double level)
{
	size_t i = 0;

	while (i < nr && p[i] <= level / (double)(nr - i))
		i++;
	return i;
}
