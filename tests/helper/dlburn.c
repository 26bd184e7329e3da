// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlburn SECONDS LIB_A LIB_B: loads the two libraries in turn, burns 30 ms
 * of CPU time in LIB_A's burn_a or 15 ms in LIB_B's burn_b, and unloads it.
 * Prints "burn_a ROUNDS", "burn_b ROUNDS", the same work in both, and "same N
 * of M": how often a library came to lie where the one before it had been.
 *
 * What is burned is a number of rounds, and so is SECONDS: the time that a
 * turn takes tells nothing of the samples in it where a virtual CPU has to wait
 * for a real one. That the same rounds took different times moves the share of
 * burn_a in all samples: "deviation POINTS" is its standard error by that.
 */

#include <dlfcn.h>
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

BURN_FUNCTION(burn_calibrate)

static struct turn {
	const char *path;
	const char *name;
	unsigned int ms; /* to burn each time */
	uint64_t rounds; /* as many */
	uint64_t burned; /* rounds, in all */
	unsigned int nr; /* turns */
	double took, took2; /* CPU time of each in ms, summed; of squares */
} turns[2] = {
	{ .name = "burn_a", .ms = 30 },
	{ .name = "burn_b", .ms = 15 },
};

/* Load, burn, unload. Returns where the library's text was. */
static uintptr_t take_turn(struct turn *turn)
{
	void *lib = dlopen(turn->path, RTLD_NOW);
	void (*burn)(uint64_t);
	Dl_info info;
	double ms;

	if (!lib)
		errx(2, "%s", dlerror());
	*(void **)&burn = dlsym(lib, turn->name);
	if (!burn || !dladdr((void *)burn, &info))
		errx(2, "%s: no %s", turn->path, turn->name);
	ms = (double)burn_time(burn, turn->rounds) / 1e6;
	turn->burned += turn->rounds;
	turn->nr++;
	turn->took += ms;
	turn->took2 += ms * ms;
	dlclose(lib);
	return (uintptr_t)info.dli_fbase;
}

/* The variance of the mean time of a turn, as a part of its square. */
static double mean_error(const struct turn *turn)
{
	return (turn->took2 * turn->nr / turn->took / turn->took - 1) /
	       turn->nr;
}

/* The standard error of the first one's share, percentage points. */
static double deviation(void)
{
	double share = (double)turns[0].burned /
		       (double)(turns[0].burned + turns[1].burned);

	return 100 * share * (1 - share) *
	       sqrt(mean_error(&turns[0]) + mean_error(&turns[1]));
}

int main(int argc, char **argv)
{
	unsigned int nr_same = 0, nr_turns = 0;
	uintptr_t base, last_base = 0;
	struct turn *turn;
	uint64_t per_ms, wanted, burned = 0;

	if (argc != 4)
		errx(2, "usage: dlburn SECONDS LIB_A LIB_B");
	wanted = (uint64_t)(atof(argv[1]) * 1e3);
	turns[0].path = argv[2];
	turns[1].path = argv[3];
	per_ms = burn_rounds(burn_calibrate, 1000000, &burned);
	for (int i = 0; i < 2; i++)
		turns[i].rounds = turns[i].ms * per_ms;
	for (uint64_t ms = 0; ms < wanted; ms += turn->ms) {
		turn = &turns[nr_turns++ % 2];
		base = take_turn(turn);
		nr_same += base == last_base;
		last_base = base;
	}
	for (int i = 0; i < 2; i++)
		printf("%s %ju\n", turns[i].name, (uintmax_t)turns[i].burned);
	printf("same %u of %u\n", nr_same, nr_turns);
	printf("deviation %.2f\n", deviation());
	return 0;
}
