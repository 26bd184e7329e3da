// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cost FILE COMMAND [ARGUMENT]...: runs COMMAND and writes into FILE what it
 * took, "wall S", "cpu S" (user and system, its children too) and "memory
 * KB" (the most it had). SIGINT and SIGTERM are passed on to it.
 */

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile pid_t child;

static void pass_on(int signal)
{
	kill(child, signal);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void start(char **command)
{
	child = fork();
	if (child < 0)
		err(2, "fork");
	if (!child) {
		/* a shell's background jobs ignore it */
		signal(SIGINT, SIG_DFL);
		execvp(command[0], command);
		err(127, "%s", command[0]);
	}
	signal(SIGINT, pass_on);
	signal(SIGTERM, pass_on);
	/* somebody may wait for the command to close them */
	close_range(3, ~0U, 0);
}

static int write_cost(const char *path, double wall, const struct rusage *usage)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return -1;
	fprintf(file, "wall %.3f\ncpu %.3f\nmemory %ld\n", wall,
		seconds(usage->ru_utime) + seconds(usage->ru_stime),
		usage->ru_maxrss);
	return fclose(file);
}

int main(int argc, char **argv)
{
	double since = now();
	struct rusage usage;
	int status;

	if (argc < 3)
		errx(2, "usage: cost FILE COMMAND [ARGUMENT]...");
	start(argv + 2);
	while (wait4(child, &status, 0, &usage) < 0)
		if (errno != EINTR)
			err(2, "wait");
	if (write_cost(argv[1], now() - since, &usage))
		err(2, "%s", argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
