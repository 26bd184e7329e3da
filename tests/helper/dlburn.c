// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlburn SECONDS LIB_A LIB_B: loads the two libraries in turn, burns 30 ms
 * of CPU time in LIB_A's burn_a or 15 ms in LIB_B's burn_b, and unloads it.
 * Prints "burn_a MS", "burn_b MS" and "same N of M": how often a library
 * came to lie where the one before it had been.
 */

#include <dlfcn.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

static struct turn {
	const char *path;
	const char *name;
	uint64_t ns; /* to burn each time */
	uint64_t rounds;
	uint64_t used; /* ns */
} turns[2] = {
	{ .name = "burn_a", .ns = 30000000 },
	{ .name = "burn_b", .ns = 15000000 },
};

/* Load, burn, unload. Returns where the library's text was. */
static uintptr_t take_turn(struct turn *turn)
{
	void *lib = dlopen(turn->path, RTLD_NOW);
	void (*burn)(uint64_t);
	uint64_t start;
	Dl_info info;

	if (!lib)
		errx(2, "%s", dlerror());
	*(void **)&burn = dlsym(lib, turn->name);
	if (!burn || !dladdr((void *)burn, &info))
		errx(2, "%s: no %s", turn->path, turn->name);
	start = burn_clock();
	if (!turn->rounds)
		turn->rounds = burn_rounds(burn, turn->ns);
	burn(turn->rounds);
	turn->used += burn_clock() - start;
	dlclose(lib);
	return (uintptr_t)info.dli_fbase;
}

int main(int argc, char **argv)
{
	unsigned int nr_same = 0, nr_turns = 0;
	uintptr_t base, last_base = 0;
	uint64_t wanted;

	if (argc != 4)
		errx(2, "usage: dlburn SECONDS LIB_A LIB_B");
	wanted = atof(argv[1]) * 1e9;
	turns[0].path = argv[2];
	turns[1].path = argv[3];
	while (turns[0].used + turns[1].used < wanted) {
		base = take_turn(&turns[nr_turns++ % 2]);
		nr_same += base == last_base;
		last_base = base;
	}
	for (int i = 0; i < 2; i++)
		printf("%s %ju\n", turns[i].name,
		       (uintmax_t)turns[i].used / 1000000);
	printf("same %u of %u\n", nr_same, nr_turns);
	return 0;
}
