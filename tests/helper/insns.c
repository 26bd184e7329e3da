// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * insns ROUNDS: two functions in turn that execute known numbers of
 * instructions, five times as many in insns_many as in insns_few. Prints both
 * numbers, "NAME INSTRUCTIONS".
 */

#include <err.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Loops that a call runs; a loop is so many instructions long. */
#define LOOPS 10000
#define MANY 100
#define FEW 20

#if defined(__aarch64__)
#define COUNT_DOWN "subs %0, %0, #1\n\tb.ne 1b\n\t"
#elif defined(__x86_64__)
#define COUNT_DOWN "dec %0\n\tjnz 1b\n\t"
#else
#error "a loop for this machine is wanted"
#endif

/* Two of them count down. */
#define LOOP_OF(n)                                                             \
	do {                                                                   \
		uint64_t left = LOOPS;                                         \
                                                                               \
		__asm__ volatile("1:\n\t"                                      \
				 ".rept %c1\n\tnop\n\t.endr\n\t" COUNT_DOWN    \
				 : "+r"(left)                                  \
				 : "i"((n)-2)                                  \
				 : "cc");                                      \
	} while (0)

__attribute__((noinline)) static void insns_many(void)
{
	LOOP_OF(MANY);
}

__attribute__((noinline)) static void insns_few(void)
{
	LOOP_OF(FEW);
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc == 2 ? strtoull(argv[1], NULL, 0) : 0;

	if (!rounds)
		errx(2, "usage: insns ROUNDS");
	for (uint64_t i = 0; i < rounds; i++) {
		insns_many();
		insns_few();
	}
	printf("insns_many %" PRIu64 "\ninsns_few %" PRIu64 "\n",
	       rounds * LOOPS * MANY, rounds * LOOPS * FEW);
	return 0;
}
