// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * waits SECONDS [FILE]: threads that wait, each in a way of its own and most of
 * its time, for SECONDS. A line for each says how it spent its life, in ns:
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
 *
 * With FILE, which is made for this and removed, they are instead
 *
 *	read	read() of pages that are not in memory
 *	fault	access to mapped pages that are not in memory
 */

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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

/* ---- a file that is on a disk -------------------------------------------- */

#define HALF_LEN ((size_t)4 << 20) /* of the file: one for each thread */
#define PAGE ((size_t)4096)
#define NR_PAGES 16 /* in a turn */

static int file_fd;

/* A page of a half that no turn before has asked for, as far as that goes. */
static size_t next_page(size_t turn)
{
	return turn * 7919 % (HALF_LEN / PAGE) * PAGE;
}

/* Pages of a half leave the memory where nobody has mapped them. */
static void drop_pages(size_t half)
{
	if (posix_fadvise(file_fd, (off_t)(half * HALF_LEN), (off_t)HALF_LEN,
			  POSIX_FADV_DONTNEED))
		abort();
}

static uint64_t wait_for_read(void)
{
	static size_t turn;
	uint64_t start;
	char page[PAGE];

	drop_pages(0);
	start = now();
	for (int i = 0; i < NR_PAGES; i++)
		if (pread(file_fd, page, PAGE, (off_t)next_page(turn++)) !=
		    (ssize_t)PAGE)
			abort();
	return now() - start;
}

static uint64_t wait_for_fault(void)
{
	static size_t turn;
	volatile const char *half;
	uint64_t start, spent;
	void *mapped;

	drop_pages(1);
	mapped = mmap(NULL, HALF_LEN, PROT_READ, MAP_SHARED, file_fd,
		      (off_t)HALF_LEN);
	if (mapped == MAP_FAILED || madvise(mapped, HALF_LEN, MADV_RANDOM))
		abort();
	half = mapped;
	start = now();
	for (int i = 0; i < NR_PAGES; i++)
		(void)half[next_page(turn++)];
	spent = now() - start;
	munmap(mapped, HALF_LEN);
	return spent;
}

/* Nothing is read ahead, and all is on the disk. */
static void make_file(const char *path)
{
	static const char page[PAGE];

	file_fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (size_t at = 0; at < 2 * HALF_LEN; at += PAGE)
		if (write(file_fd, page, PAGE) != (ssize_t)PAGE)
			abort();
	if (unlink(path) || fsync(file_fd) ||
	    posix_fadvise(file_fd, 0, 0, POSIX_FADV_RANDOM))
		abort();
}

/* ---- threads ------------------------------------------------------------- */

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
	bool needs_file;
} kinds[] = {
	{ "sleep", wait_by_sleep, NULL, false, false },
	{ "pipe", wait_for_pipe, write_pipe, false, false },
	{ "lock", wait_for_lock, hold_lock, false, false },
	{ "crowd", share_cpu, crowd, true, false },
	{ "read", wait_for_read, NULL, false, true },
	{ "fault", wait_for_fault, NULL, false, true },
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
	bool has_file = argc > 2;

	seconds = argc > 1 ? atof(argv[1]) : 1;
	if (pipe(ends))
		abort();
	if (has_file)
		make_file(argv[2]);
	for (size_t i = 0; i < NR_KINDS; i++) {
		const struct kind *kind = &kinds[i];

		if (kind->needs_file != has_file)
			continue;
		if (kind->partner)
			partners[i] = make_thread(kind->partner, NULL,
						  kind->is_pinned);
		threads[i] = make_thread(live, kind, kind->is_pinned);
	}
	for (size_t i = 0; i < NR_KINDS; i++)
		if (kinds[i].needs_file == has_file)
			pthread_join(threads[i], NULL);
	is_over = true;
	for (size_t i = 0; i < NR_KINDS; i++)
		if (kinds[i].partner && kinds[i].needs_file == has_file)
			pthread_join(partners[i], NULL);
	return 0;
}
