/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_REPORT_INTERVAL_H
#define LIBPP_REPORT_INTERVAL_H

/*
 * How far counts of samples can be trusted; doc/reports.md says what is
 * assumed and why these methods. All functions are pure.
 *
 * A share is @part samples of @whole. Each sample is taken to fall by itself
 * into the part, with the same chance for all.
 */

#include <stddef.h>
#include <stdint.h>

struct pp_interval {
	double low;
	double high;
};

/* The share itself, 0 to 1; 0 of an empty whole. */
double pp_share(uint64_t part, uint64_t whole);

/* 95 % interval of a share: Wilson's score interval. (0, 1) without samples. */
struct pp_interval pp_share_interval(uint64_t part, uint64_t whole);

/* The same where counts are samples that were taken times @scale. */
struct pp_interval pp_scaled_share_interval(uint64_t part, uint64_t whole,
					    double scale);

/*
 * 95 % interval of how many samples an event would have had with a counter all
 * the time, from those @taken while it had one, a @share (0 to 1) of the time:
 * the score interval of the number of trials of a binomial distribution.
 * Samples are there or missing together, @together (1 or more) of them. Just
 * @taken for a share of 1; (@taken, infinite) for 0.
 */
struct pp_interval pp_total_interval(uint64_t taken, double share,
				     double together);

/*
 * 95 % interval of how many times as large the share @part of @whole is as the
 * share @old_part of @old_whole: the score interval of Koopman. The upper end
 * is infinite when @old_part is 0; (0, infinite) when a whole is 0.
 */
struct pp_interval pp_ratio_interval(uint64_t part, uint64_t whole,
				     uint64_t old_part, uint64_t old_whole);

/*
 * The chance that two such shares differ as much as these or more although
 * nothing changed: Fisher's exact test (two-sided, twice the smaller tail) up
 * to PP_EXACT_MAX samples in both parts together, a score test above.
 */
#define PP_EXACT_MAX 20000
double pp_difference_p(uint64_t part, uint64_t whole, uint64_t old_part,
		       uint64_t old_whole);

/*
 * A count of samples that were taken at a known rate, so that it stands for
 * time, or for events; it varies as a Poisson variable. @count is of samples of
 * which @grain (1 or more) say as much as one.
 */
struct pp_timed_count {
	double count;
	double grain;
};

/* 95 % interval of how much larger @now is than @old: from the score intervals
 * of both, put together by squares (Zou and Donner 2008). */
struct pp_interval pp_count_difference(struct pp_timed_count now,
				       struct pp_timed_count old);

/* 95 % interval of how many times @now is @old: from the share that @now has of
 * both. The upper end is infinite when @old is 0. */
struct pp_interval pp_count_ratio(struct pp_timed_count now,
				  struct pp_timed_count old);

/* The chance of @now or more where @ratio times @old would be right: exact, as
 * the part that @now has of both is binomial (Przyborowski and Wilenski 1940).
 * 1 where both are 0. */
double pp_count_excess_p(struct pp_timed_count now, struct pp_timed_count old,
			 double ratio);

/* The chance that the two differ as much as these or more although nothing
 * changed: twice the smaller tail. */
double pp_count_change_p(struct pp_timed_count now, struct pp_timed_count old);

/*
 * How many of @nr chances, sorted ascending, are significant at @level when all
 * are looked at together: Holm's method. The chance that any of them is called
 * so without reason is at most @level, however they depend on each other.
 */
size_t pp_holm(const double *p, size_t nr, double level);

#endif /* LIBPP_REPORT_INTERVAL_H */
