/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inclusive ROUNDS: a program that accounts for the time in its functions, what
 * they call included, by the CPU clock of its thread. Prints the share of each
 * in percent, "NAME SHARE". A recursive function counts from its first call to
 * its return from that.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define ALONE static __attribute__((noinline))
#else
#define ALONE static __attribute__((noinline, noclone, noipa))
#endif

enum { MIDDLE, RECURSE, PING, OUTER, NR };

static const char *const names[NR] = { "middle", "recurse", "ping", "outer" };
static double spent[NR];
static int depth[NR];
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
		double start = depth[nr]++ ? 0 : now();                        \
		call;                                                          \
		if (!--depth[nr])                                              \
			spent[nr] += now() - start;                            \
	} while (0)

ALONE void leaf(int times)
{
	unsigned long x = sink;

	for (int i = 0; i < times * 1000; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
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

ALONE void outer(void)
{
	TIMED(MIDDLE, middle(200));
	TIMED(RECURSE, recurse(8));
	TIMED(PING, ping(5));
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
	return 0;
}
