/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_HELPER_BURN_H
#define TESTS_HELPER_BURN_H

/*
 * Functions that use CPU time and nothing else, and the clock to tell how
 * much. The time is known from the kernel's own account of the thread, which
 * does not depend on the profiler that is being tested.
 */

#include <stdint.h>
#include <time.h>

#if __has_attribute(noclone)
#define BURN_ALONE __attribute__((noinline, noclone))
#else
#define BURN_ALONE __attribute__((noinline))
#endif

/* A function that does nothing but @rounds rounds of arithmetic. */
#define BURN_FUNCTION(name)                                                    \
	BURN_ALONE void name(uint64_t rounds);                                 \
	void name(uint64_t rounds)                                             \
	{                                                                      \
		volatile uint32_t x = 1;                                       \
                                                                               \
		while (rounds--)                                               \
			x = x * 1664525 + 1013904223;                          \
	}

/* CPU time of this thread, ns. */
static inline uint64_t burn_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* CPU time of @rounds rounds of @burn, ns. */
static inline uint64_t burn_time(void (*burn)(uint64_t), uint64_t rounds)
{
	uint64_t start = burn_clock();

	burn(rounds);
	return burn_clock() - start;
}

/*
 * Rounds of @burn that take about @ns of CPU time here and now. To a guest
 * the time that its host takes away is CPU time, too: what counts is the
 * shortest of several runs, each so short that most are not interrupted. How
 * many it took to find out is added to *@burned.
 */
static inline uint64_t burn_rounds(void (*burn)(uint64_t), uint64_t ns,
				   uint64_t *burned)
{
	uint64_t rounds = 1000, least;

	do {
		rounds *= 2;
		least = UINT64_MAX;
		for (int i = 0; i < 10; i++) {
			uint64_t took = burn_time(burn, rounds);

			*burned += rounds;
			if (took < least)
				least = took;
		}
	} while (least < 2000000);
	return rounds * ns / least + 1;
}

#endif /* TESTS_HELPER_BURN_H */
