// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks of all shapes, again and again until it is killed: for tests that
 * stop it at any moment and want to know who called whom.
 */

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

static NOINLINE void spin(unsigned int n)
{
	while (n--)
		sink += n * 31;
}

static NOINLINE unsigned long chain(unsigned int depth)
{
	unsigned long below = depth ? chain(depth - 1) : 1;

	spin(20);
	return below + sink;
}

static NOINLINE void last(unsigned int n)
{
	spin(n + 3);
}

/* Ends with a jump. */
static NOINLINE void jump(unsigned int n)
{
	sink++;
	last(n);
}

static int compare(const void *a, const void *b)
{
	spin(2);
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void sort(void)
{
	int numbers[64];

	for (int i = 0; i < 64; i++)
		numbers[i] = i * 37 % 64;
	qsort(numbers, 64, sizeof(numbers[0]), compare);
	sink += (unsigned long)numbers[5];
}

static void on_signal(int sig)
{
	(void)sig;
	spin(200);
}

static NOINLINE void room(size_t len)
{
	char *bytes = __builtin_alloca(len);

	memset(bytes, 1, len);
	sink += (unsigned long)bytes[len / 2];
	jump(10);
	sink += (unsigned long)bytes[len / 3];
}

/* Its stack is aligned anew: what the CFA is has to be computed. */
static NOINLINE void aligned(void)
{
	volatile char bytes[256] __attribute__((aligned(64)));

	bytes[sink % 256] = 1;
	spin(20);
	sink += (unsigned long)bytes[3];
}

int main(void)
{
	signal(SIGUSR1, on_signal);
	for (;;) {
		chain(64);
		sort();
		raise(SIGUSR1);
		for (size_t len = 1; len < 2000; len += 77)
			room(len);
		aligned();
		jump(100);
	}
}
