// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * selfgone ROUNDS: burns in burn_job, deletes its own file halfway through, and
 * goes on: a program that nobody finds by its path when it has ended. Without
 * ROUNDS it prints how many of them take a millisecond.
 */

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "burn.h"

BURN_FUNCTION(burn_job)

int main(int argc, char **argv)
{
	uint64_t rounds, burned = 0;

	if (argc == 1) {
		rounds = burn_rounds(burn_job, 1000000, &burned);
		printf("%ju\n", (uintmax_t)rounds);
		return 0;
	}
	rounds = strtoull(argv[1], NULL, 0);
	burn_job(rounds / 2);
	if (unlink(argv[0]))
		err(2, "%s", argv[0]);
	burn_job(rounds / 2);
	return 0;
}
