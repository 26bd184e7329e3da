// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * burnmix SECONDS: uses CPU time in two own functions, one of a library and
 * one system call, finely mixed, in shares of 40, 25, 20 and 15 percent, and
 * prints the shares that it really used as "NAME PERCENT" lines.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "burn.h"

#define SLICE_NS 3000000

BURN_FUNCTION(burn_alpha)
BURN_FUNCTION(burn_beta)
void burn_lib(uint64_t rounds);

static void burn_kernel(uint64_t rounds)
{
	static char buf[256];

	while (rounds--)
		if (getrandom(buf, sizeof(buf), 0) < 0)
			abort();
}

static struct part {
	const char *name;
	void (*burn)(uint64_t rounds);
	double share;
	uint64_t rounds; /* of a slice */
	uint64_t used; /* ns */
} parts[] = {
	{ .name = "burn_alpha", .burn = burn_alpha, .share = 0.40 },
	{ .name = "burn_beta", .burn = burn_beta, .share = 0.25 },
	{ .name = "burn_lib", .burn = burn_lib, .share = 0.20 },
	{ .name = "kernel", .burn = burn_kernel, .share = 0.15 },
};

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

/* The part that is furthest behind its share. */
static struct part *next_part(uint64_t total)
{
	struct part *next = &parts[0];
	double most = -1;

	for (size_t i = 0; i < NR_PARTS; i++) {
		double behind = total * parts[i].share - parts[i].used;

		if (behind > most) {
			most = behind;
			next = &parts[i];
		}
	}
	return next;
}

int main(int argc, char **argv)
{
	uint64_t wanted = (argc > 1 ? atof(argv[1]) : 1) * 1e9;
	uint64_t total = 0;

	/* Setting up burns too: it counts as part of the whole. */
	for (size_t i = 0; i < NR_PARTS; i++) {
		uint64_t start = burn_clock();

		parts[i].rounds = burn_rounds(parts[i].burn, SLICE_NS);
		parts[i].used = burn_clock() - start;
		total += parts[i].used;
	}
	while (total < wanted) {
		struct part *part = next_part(total);
		uint64_t start = burn_clock(), took;

		part->burn(part->rounds);
		took = burn_clock() - start;
		part->used += took;
		total += took;
	}
	for (size_t i = 0; i < NR_PARTS; i++)
		printf("%s %.2f\n", parts[i].name,
		       100.0 * parts[i].used / total);
	return 0;
}
