// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * forkstorm N PARALLEL [GATE]: runs N children of its own program, PARALLEL at
 * a time, each of which burns 5 to 20 ms of CPU time in burn_child and exits.
 * Half of them wait until somebody opens the FIFO GATE for writing. Prints "cpu
 * MS", the CPU time of all of them, kernel included.
 */

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

BURN_FUNCTION(burn_child)

static void start_child(char *program, uint64_t rounds)
{
	char text[24];
	char *argv[] = { program, "child", text, NULL };
	pid_t pid;

	snprintf(text, sizeof(text), "%ju", (uintmax_t)rounds);
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (!pid) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
}

static void wait_child(void)
{
	int status;

	if (wait(&status) < 0 || status)
		errx(2, "a child ended with status %d", status);
}

static void wait_at(const char *gate)
{
	int fd = open(gate, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(2, "%s", gate);
	close(fd);
}

static long cpu_ms(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

int main(int argc, char **argv)
{
	int nr, parallel;
	uint64_t per_ms, burned = 0;

	if (argc != 3 && argc != 4)
		errx(2, "usage: forkstorm N PARALLEL [GATE]");
	if (!strcmp(argv[1], "child")) {
		burn_child(strtoull(argv[2], NULL, 0));
		return 0;
	}
	nr = atoi(argv[1]);
	parallel = atoi(argv[2]);
	per_ms = burn_rounds(burn_child, 1000000, &burned);
	for (int i = 0; i < nr; i++) {
		if (i >= parallel)
			wait_child();
		if (i == nr / 2 && argc == 4)
			wait_at(argv[3]);
		start_child(argv[0], per_ms * (5 + i % 16));
	}
	for (int i = nr < parallel ? nr : parallel; i > 0; i--)
		wait_child();
	printf("cpu %ld\n", cpu_ms(RUSAGE_CHILDREN) + cpu_ms(RUSAGE_SELF));
	return 0;
}
