// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spin N [DEPTH]: does N rounds of arithmetic and prints how many nanoseconds
 * that took, called by DEPTH other functions. Where one instruction takes one
 * nanosecond (an emulator that counts instructions), what more it takes under a
 * profiler is the profiler's cost in instructions.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

__attribute__((noinline)) static uint64_t spin(uint64_t rounds)
{
	volatile uint32_t x = 1;
	uint64_t start = now();

	for (uint64_t i = 0; i < rounds; i++)
		x = x * 1664525 + 1013904223;
	return now() - start;
}

/* Some words of each frame are its own. */
__attribute__((noinline)) static uint64_t nest(uint64_t rounds,
					       unsigned long depth)
{
	volatile uint64_t own[4] = { depth };
	uint64_t took = depth ? nest(rounds, depth - 1) : spin(rounds);

	return took + own[1];
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
	unsigned long depth = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;

	printf("%ju\n", (uintmax_t)nest(rounds, depth));
	return 0;
}
