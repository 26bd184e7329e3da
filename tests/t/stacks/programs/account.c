// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account [ROUNDS]: three kinds of work, each by a function of its own; prints
 * what share of the CPU time each of them took by its own clock.
 *
 * stacks of main: ROOT;main
 * stacks of leaf_hash: ROOT;main;run;work_alpha;leaf_hash
 * stacks of leaf_walk: ROOT;main;run;work_beta;leaf_walk
 * stacks of compare: ROOT;main;run;work_gamma;LIBRARY;compare
 * stacks of work_gamma: ROOT;main;run;work_gamma
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif
#define NR_NUMBERS 20000

static uint32_t numbers[NR_NUMBERS], sorted[NR_NUMBERS];

ALONE static uint64_t leaf_hash(uint64_t x, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		x += i;
	}
	return x;
}

ALONE static uint64_t leaf_walk(const uint32_t *array, int len)
{
	uint64_t sum = 0;

	for (int k = 0; k < 20; k++)
		for (int i = 0; i < len; i++)
			sum = sum * 31 + array[(sum ^ i) % len];
	return sum;
}

ALONE static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

ALONE static uint64_t work_alpha(uint64_t x)
{
	uint64_t sum = 0;

	for (int i = 0; i < 60; i++)
		sum += leaf_hash(x + i, 33000);
	return sum + 1;
}

ALONE static uint64_t work_beta(uint64_t x)
{
	uint64_t sum = 0;

	numbers[x % NR_NUMBERS] = x;
	for (int i = 0; i < 2; i++)
		sum += leaf_walk(numbers, 13000);
	return sum + 1;
}

ALONE static uint64_t work_gamma(uint64_t x)
{
	for (uint32_t k = 0; k < 3; k++) {
		for (int i = 0; i < NR_NUMBERS; i++)
			sorted[i] = numbers[i] * 2654435761u + (uint32_t)x * k;
		qsort(sorted, NR_NUMBERS, sizeof(*sorted), compare);
	}
	return sorted[100] + 1;
}

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

ALONE static uint64_t run(int rounds, double *took)
{
	uint64_t (*const work[])(uint64_t) = { work_alpha, work_beta,
					       work_gamma };
	uint64_t sum = 1;

	for (int i = 0; i < NR_NUMBERS; i++)
		numbers[i] = i * 2654435761u;
	for (int i = 0; i < rounds; i++)
		for (int k = 0; k < 3; k++) {
			double begin = cpu_time();

			sum += work[k](sum);
			took[k] += cpu_time() - begin;
		}
	return sum;
}

int main(int argc, char **argv)
{
	double took[3] = { 0, 0, 0 }, all;
	uint64_t sum = run(argc > 1 ? atoi(argv[1]) : 200, took);

	all = took[0] + took[1] + took[2];
	printf("work_alpha %.3f\nwork_beta %.3f\nwork_gamma %.3f\n",
	       100 * took[0] / all, 100 * took[1] / all, 100 * took[2] / all);
	return sum == 0;
}
