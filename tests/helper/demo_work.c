// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * demo_work SECONDS: what `make demo` profiles. Keeps busy with one hot spot
 * each in its own code (a fractal), in libc (sorting words) and in the kernel
 * (random bytes).
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define MAX_STEPS 150
#define NR_WORDS 4096
#define WORD_LEN 16

static char words[NR_WORDS][WORD_LEN];

__attribute__((noinline)) static int escape_time(double re, double im)
{
	double x = 0, y = 0;
	int i;

	for (i = 0; i < MAX_STEPS && x * x + y * y < 4; i++) {
		double next = x * x - y * y + re;

		y = 2 * x * y + im;
		x = next;
	}
	return i;
}

__attribute__((noinline)) static int draw_fractal(unsigned int frame)
{
	double shift = frame * 1e-6;
	int inside = 0;

	for (int row = 0; row < 120; row++) {
		for (int column = 0; column < 160; column++)
			inside += escape_time(column / 60.0 - 2,
					      row / 60.0 - 1 + shift) ==
				  MAX_STEPS;
	}
	return inside;
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(a, b);
}

__attribute__((noinline)) static void sort_words(void)
{
	qsort(words, NR_WORDS, WORD_LEN, compare_words);
}

__attribute__((noinline)) static void fill_words(void)
{
	if (getrandom(words, 256, 0) < 0)
		abort();
	for (int i = 0; i < 6; i++) {
		if (getrandom(words, sizeof(words), 0) < 0)
			abort();
	}
	for (int i = 0; i < NR_WORDS; i++) {
		for (int j = 0; j < WORD_LEN - 1; j++)
			words[i][j] = 'a' + (words[i][j] & 15);
		words[i][WORD_LEN - 1] = '\0';
	}
}

int main(int argc, char **argv)
{
	time_t seconds = argc == 2 ? strtol(argv[1], NULL, 10) : 5;
	struct timespec start, now;
	unsigned int rounds = 0;
	unsigned long inside = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		/* A frame whose result is not used is not drawn. */
		inside += draw_fractal(rounds);
		fill_words();
		sort_words();
		rounds++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec < seconds);
	printf("%u rounds: %lu points in the fractal, first word %s\n", rounds,
	       inside / rounds, words[0]);
	return 0;
}
