/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inclusive ROUNDS [lines]: a program that accounts for the time in its
 * functions and its lines, what they call included, by the CPU clock of its
 * thread. Prints the share of each in percent, "NAME SHARE" and, if asked to,
 * "line:NUMBER SHARE" of the lines with a twentieth and more. A recursive
 * function, and a line that is passed again below itself, counts from its first
 * call to its return from that.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define ALONE static __attribute__((noinline))
#else
#define ALONE static __attribute__((noinline, noclone, noipa))
#endif

enum { MIDDLE, RECURSE, PING, OUTER, SPIN, NR };

static const char *const names[NR] = { "middle", "recurse", "ping", "outer",
				       "spin" };
static double spent[NR], spent_by_line[1000];
static int depth[NR], depth_of_line[1000], spin_line, inlined_at;
static volatile unsigned long sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Only the outermost of several calls counts. */
#define TIMED(nr, call)                                                        \
	do {                                                                   \
		double start = now(), took;                                    \
		depth[nr]++;                                                   \
		depth_of_line[__LINE__]++;                                     \
		call;                                                          \
		took = now() - start;                                          \
		spent[nr] += --depth[nr] ? 0 : took;                           \
		spent_by_line[__LINE__] +=                                     \
			--depth_of_line[__LINE__] ? 0 : took;                  \
	} while (0)

#define BURN(times)                                                            \
	do {                                                                   \
		unsigned long x = sink;                                        \
		for (int i = 0; i < (times)*1000; i++) {                       \
			x = x * 6364136223846793005 + 1442695040888963407;     \
			__asm__ volatile("" : "+r"(x));                        \
		}                                                              \
		sink = x;                                                      \
	} while (0)

ALONE void leaf(int times)
{
	BURN(times);
}

ALONE void middle(int times)
{
	leaf(times);
	for (int i = 0; i < times * 300; i++)
		sink += (unsigned long)i;
}

ALONE void recurse(int left)
{
	leaf(20);
	if (left)
		TIMED(RECURSE, recurse(left - 1));
	else
		TIMED(MIDDLE, middle(100));
	sink++;
}

ALONE void ping(int left);

/* A cycle of two. */
ALONE void pong(int left)
{
	leaf(20);
	if (left)
		TIMED(PING, ping(left - 1));
	sink++;
}

ALONE void ping(int left)
{
	leaf(10);
	pong(left);
	sink++;
}

/* Each call has samples of its own at the line by which it calls itself. */
ALONE void spin(int left)
{
	/* clang-format off */
	spin_line = __LINE__; BURN(20); if (left) spin(left - 1); sink++;
	/* clang-format on */
}

/* A line of its own, and one of each function that it is inlined to. */
static inline __attribute__((always_inline)) void ping_inlined(int left)
{
	TIMED(PING, ping(left));
}

ALONE void outer(void)
{
	TIMED(MIDDLE, middle(200));
	TIMED(RECURSE, recurse(8));
	/* clang-format off */
	inlined_at = __LINE__; ping_inlined(5);
	/* clang-format on */
	TIMED(SPIN, spin(10));
	leaf(100);
	sink++;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	double began = now(), all;

	for (int i = 0; i < rounds; i++) {
		TIMED(OUTER, outer());
		leaf(200);
		sink++;
	}
	all = now() - began;
	for (int i = 0; i < NR; i++)
		printf("%s %.3f\n", names[i], 100 * spent[i] / all);
	spent_by_line[spin_line] = spent[SPIN];
	spent_by_line[inlined_at] = spent[PING];
	for (int i = 0; i < 1000 && argc > 2; i++)
		if (spent_by_line[i] > all / 20)
			printf("line:%d %.3f\n", i,
			       100 * spent_by_line[i] / all);
	return 0;
}
