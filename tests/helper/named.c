// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * named NR MS [NAME]: NR threads called worker_0 and so on, which each burn MS
 * milliseconds of CPU time, one after the other, so that each has as many
 * samples on a busy machine. The first thread, which calls itself NAME, waits.
 */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static uint64_t limit_ns;
static volatile uint64_t burned;

static uint64_t used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static void *burn_named(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "worker_%d", *(int *)arg);
	prctl(PR_SET_NAME, name);
	while (used_ns() < limit_ns)
		for (int i = 0; i < 100000; i++)
			burned++;
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc == 3 || argc == 4 ? atoi(argv[1]) : 0;
	pthread_t thread;

	if (nr < 1 || nr > 1000 || atoi(argv[2]) < 1) {
		fputs("usage: named NR MS [NAME]\n", stderr);
		return 2;
	}
	limit_ns = (uint64_t)atoi(argv[2]) * 1000000;
	if (argc == 4)
		prctl(PR_SET_NAME, argv[3]);
	for (int i = 0; i < nr; i++)
		if (pthread_create(&thread, NULL, burn_named, &i) ||
		    pthread_join(thread, NULL))
			return 1;
	return 0;
}
