// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * waits SECONDS: threads that wait, each in a way of its own and most of its
 * time, for SECONDS. A line for each says how it spent its life, in ns:
 *
 *	NAME TID LIFE CPU READY OWN
 *
 * CPU and READY, the time that it had a CPU and that it waited for one, are
 * those of /proc/PID/task/TID/schedstat; what is left of LIFE is the time that
 * it was blocked. OWN is what the thread saw itself of its kind of wait.
 *
 *	sleep	nanosleep() of 5 ms
 *	pipe	read() of a pipe that gets a byte every 4 ms
 *	lock	a mutex that another thread has most of the time
 *	crowd	work, beside another thread on the same CPU
 */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

#define NS 1000000000ull

static atomic_bool is_over;
static int ends[2]; /* of the pipe */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double seconds;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec t = { 0, ms * 1000000l };

	nanosleep(&t, NULL);
}

static uint64_t wait_by_sleep(void)
{
	uint64_t start = now();

	sleep_ms(5);
	return now() - start;
}

static uint64_t wait_for_pipe(void)
{
	uint64_t start = now();
	char c;

	if (read(ends[0], &c, 1) != 1)
		abort();
	return now() - start;
}

static uint64_t wait_for_lock(void)
{
	uint64_t start = now();

	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return now() - start;
}

BURN_FUNCTION(work)

static uint64_t share_cpu(void)
{
	work(100000);
	return 0;
}

static void *write_pipe(void *unused)
{
	(void)unused;
	while (!is_over) {
		sleep_ms(4);
		if (write(ends[1], "", 1) != 1)
			abort();
	}
	return NULL;
}

/* A mutex is not fair: whoever waits for it gets it in the pause. */
static void *hold_lock(void *unused)
{
	(void)unused;
	while (!is_over) {
		pthread_mutex_lock(&mutex);
		sleep_ms(3);
		pthread_mutex_unlock(&mutex);
		sleep_ms(1);
	}
	return NULL;
}

static void *crowd(void *unused)
{
	(void)unused;
	while (!is_over)
		work(100000);
	return NULL;
}

static const struct kind {
	const char *name;
	uint64_t (*wait)(void);
	void *(*partner)(void *);
	bool is_pinned; /* with its partner to one CPU */
} kinds[] = {
	{ "sleep", wait_by_sleep, NULL, false },
	{ "pipe", wait_for_pipe, write_pipe, false },
	{ "lock", wait_for_lock, hold_lock, false },
	{ "crowd", share_cpu, crowd, true },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Kernels that are configured to have little may have no such file. */
static void read_schedstat(uint64_t *cpu, uint64_t *ready)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long a, b = 0;
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	a = (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
	if (file && fscanf(file, "%llu %llu", &a, &b) != 2)
		abort();
	if (file)
		fclose(file);
	*cpu = a;
	*ready = b;
}

static void *live(void *arg)
{
	const struct kind *kind = arg;
	uint64_t start, own = 0, cpu[2], ready[2], life;

	prctl(PR_SET_NAME, kind->name);
	read_schedstat(&cpu[0], &ready[0]);
	start = now();
	while (now() - start < (uint64_t)(seconds * NS))
		own += kind->wait();
	life = now() - start;
	read_schedstat(&cpu[1], &ready[1]);
	printf("%s %d %llu %llu %llu %llu\n", kind->name, gettid(),
	       (unsigned long long)life, (unsigned long long)(cpu[1] - cpu[0]),
	       (unsigned long long)(ready[1] - ready[0]),
	       (unsigned long long)own);
	return NULL;
}

static pthread_t make_thread(void *(*run)(void *), const void *arg, bool pinned)
{
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	pthread_attr_init(&attr);
	if (pinned)
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (pthread_create(&thread, &attr, run, (void *)arg))
		abort();
	pthread_attr_destroy(&attr);
	return thread;
}

int main(int argc, char **argv)
{
	pthread_t threads[NR_KINDS], partners[NR_KINDS];

	seconds = argc > 1 ? atof(argv[1]) : 1;
	if (pipe(ends))
		abort();
	for (size_t i = 0; i < NR_KINDS; i++) {
		const struct kind *kind = &kinds[i];

		if (kind->partner)
			partners[i] = make_thread(kind->partner, NULL,
						  kind->is_pinned);
		threads[i] = make_thread(live, kind, kind->is_pinned);
	}
	for (size_t i = 0; i < NR_KINDS; i++)
		pthread_join(threads[i], NULL);
	is_over = true;
	for (size_t i = 0; i < NR_KINDS; i++)
		if (kinds[i].partner)
			pthread_join(partners[i], NULL);
	return 0;
}
