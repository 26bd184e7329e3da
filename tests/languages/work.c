// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One of the programs of tests/languages/run, which says what they have in
 * common. alpha() calls a function in a loop, beta() reads memory, gamma() has
 * the C library call one of its functions.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LENGTH 20000

static uint32_t numbers[LENGTH];
static uint32_t sorted[LENGTH];

static double cpu_time(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static uint64_t leaf_hash(uint64_t x, int n)
{
	for (int i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		x += (uint64_t)i;
	}
	return x;
}

__attribute__((noinline)) static uint64_t alpha(uint64_t x)
{
	uint64_t sum = 0;

	for (int i = 0; i < 60; i++)
		sum += leaf_hash(x + (uint64_t)i, 33000);
	return sum + 1;
}

__attribute__((noinline)) static uint64_t leaf_walk(uint64_t x)
{
	for (int i = 0; i < 200000; i++)
		x = x * 31 + numbers[(x ^ (uint64_t)i) % LENGTH];
	return x;
}

__attribute__((noinline)) static uint64_t beta(uint64_t x)
{
	return leaf_walk(x) + leaf_walk(x + 1) + 1;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

__attribute__((noinline)) static uint64_t gamma_(uint64_t x)
{
	for (int i = 0; i < LENGTH; i++)
		sorted[i] = numbers[i] * 2654435761u + (uint32_t)x;
	qsort(sorted, LENGTH, sizeof(sorted[0]), compare);
	return sorted[100] + 1;
}

int main(int argc, char **argv)
{
	double end = argc > 1 ? atof(argv[1]) : 1, spent[3] = { 0 };
	uint64_t sum = 1;
	int rounds = 0;

	for (uint32_t i = 0; i < LENGTH; i++)
		numbers[i] = i * 2654435761u;
	for (; cpu_time(CLOCK_PROCESS_CPUTIME_ID) < end; rounds++) {
		double t[4];

		t[0] = cpu_time(CLOCK_THREAD_CPUTIME_ID);
		sum += alpha(sum);
		t[1] = cpu_time(CLOCK_THREAD_CPUTIME_ID);
		sum += beta(sum);
		t[2] = cpu_time(CLOCK_THREAD_CPUTIME_ID);
		sum += gamma_(sum);
		t[3] = cpu_time(CLOCK_THREAD_CPUTIME_ID);
		for (int i = 0; i < 3; i++)
			spent[i] += t[i + 1] - t[i];
	}
	printf("sum %llu\n", (unsigned long long)sum);
	printf("alpha %f beta %f gamma %f cpu %f rounds %d\n", spent[0],
	       spent[1], spent[2], cpu_time(CLOCK_PROCESS_CPUTIME_ID), rounds);
	return 0;
}
