// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * burnmix SECONDS: uses CPU time in two own functions, one of a library
 * and one system call, finely mixed, in shares of 40, 25, 20 and 15 percent,
 * and prints the shares that it really used as "NAME PERCENT" lines. To find
 * out how long a slice is to be is part of that work. The order of slices is
 * drawn, as samples at a steady rate would see the same parts of a regular one
 * again and again.
 *
 * A virtual CPU that has to wait for a real one makes a slice longer than it
 * is, and takes no samples meanwhile. So shares are of work done: slices, all
 * of those in user mode being the same work, weighted by the mean time that
 * one in user mode or one in the kernel took. SECONDS, too, are of work: as
 * many slices as take that long where nothing is in the way.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "burn.h"

#define SLICE_NS 2000000

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

/* Slices of one kind are the same work. */
static struct kind {
	uint64_t rounds; /* of a slice */
	uint64_t nr_slices;
	uint64_t took; /* ns, all of them */
} in_user, in_kernel;

static struct part {
	const char *name;
	void (*burn)(uint64_t rounds);
	double share;
	struct kind *kind;
	uint64_t nr_rounds;
} parts[] = {
	{ "burn_alpha", burn_alpha, 0.40, &in_user, 0 },
	{ "burn_beta", burn_beta, 0.25, &in_user, 0 },
	{ "burn_lib", burn_lib, 0.20, &in_user, 0 },
	{ "kernel", burn_kernel, 0.15, &in_kernel, 0 },
};

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

/* Time that a part used, in ns. */
static double used(const struct part *part)
{
	const struct kind *kind = part->kind;

	return (double)part->nr_rounds / (double)kind->rounds *
	       (double)kind->took / (double)kind->nr_slices;
}

static double all_used(void)
{
	double sum = 0;

	for (size_t i = 0; i < NR_PARTS; i++)
		sum += used(&parts[i]);
	return sum;
}

/* Time in ns that a part is to use before it has its share of @total. */
static double missing(const struct part *part, double total)
{
	double rest = total * part->share - used(part);

	return rest > 0 ? rest : 0;
}

/*
 * A part drawn by what each has to do in the next 20 slices, so that none is
 * ever far from its share.
 */
static struct part *next_part(void)
{
	double total = all_used() + 20 * SLICE_NS, sum = 0, drawn;
	size_t i;

	for (i = 0; i < NR_PARTS; i++)
		sum += missing(&parts[i], total);
	drawn = sum * drand48();
	for (i = 0; i < NR_PARTS - 1; i++) {
		drawn -= missing(&parts[i], total);
		if (drawn < 0)
			break;
	}
	return &parts[i];
}

static void burn_slice(struct part *part)
{
	uint64_t start = burn_clock();

	part->burn(part->kind->rounds);
	part->kind->took += burn_clock() - start;
	part->kind->nr_slices++;
	part->nr_rounds += part->kind->rounds;
}

static void calibrate(struct part *part)
{
	part->kind->rounds =
		burn_rounds(part->burn, SLICE_NS, &part->nr_rounds);
}

int main(int argc, char **argv)
{
	double wanted = (argc > 1 ? atof(argv[1]) : 1) * 1e9 / SLICE_NS;

	calibrate(&parts[0]);
	calibrate(&parts[NR_PARTS - 1]);
	for (size_t i = 0; i < NR_PARTS; i++)
		burn_slice(&parts[i]);
	while ((double)(in_user.nr_slices + in_kernel.nr_slices) < wanted)
		burn_slice(next_part());
	for (size_t i = 0; i < NR_PARTS; i++)
		printf("%s %.2f\n", parts[i].name,
		       100 * used(&parts[i]) / all_used());
	return 0;
}
