// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * storm SECONDS: everything that makes it hard to tell what a task is
 * running, six kinds at once: fork, fork and exec, vfork and exec, threads,
 * mappings that come and go beside a thread that burns, and programs that
 * run from memory. Prints how often each was done.
 */

#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

BURN_FUNCTION(burn_storm)

#define BURN_ROUNDS 100000

static char *const child_argv[] = { "storm", "child", NULL };
static char *const no_env[] = { NULL };

static void reap(pid_t pid)
{
	if (pid < 0)
		err(2, "fork");
	waitpid(pid, NULL, 0);
}

static void do_fork(void)
{
	pid_t pid = fork();

	if (!pid) {
		burn_storm(BURN_ROUNDS);
		_exit(0);
	}
	reap(pid);
}

static void do_exec(void)
{
	pid_t pid = fork();

	if (!pid) {
		execve("/proc/self/exe", child_argv, no_env);
		_exit(127);
	}
	reap(pid);
}

static void do_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execve("/proc/self/exe", child_argv, no_env);
		_exit(127);
	}
	reap(pid);
}

static void *thread(void *unused)
{
	burn_storm(BURN_ROUNDS);
	return unused;
}

static void do_threads(void)
{
	pthread_t ids[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&ids[i], NULL, thread, NULL))
			errx(2, "no thread");
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

static void do_map(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, thread, NULL))
		errx(2, "no thread");
	for (int i = 0; i < 200; i++) {
		void *p = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			err(2, "mmap");
		memset(p, 1, 4096);
		munmap(p, 1 << 16);
	}
	pthread_join(id, NULL);
}

static void do_memfd(void)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("storm", MFD_CLOEXEC);
	struct stat st;
	pid_t pid;

	if (from < 0 || fd < 0 || fstat(from, &st))
		err(2, "memfd");
	while (sendfile(fd, from, NULL, st.st_size) > 0)
		;
	pid = fork();
	if (!pid) {
		fexecve(fd, child_argv, no_env);
		_exit(127);
	}
	reap(pid);
	close(from);
	close(fd);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "fork", do_fork },	   { "exec", do_exec }, { "vfork", do_vfork },
	{ "threads", do_threads }, { "map", do_map },	{ "memfd", do_memfd },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static time_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

int main(int argc, char **argv)
{
	time_t end;

	if (argc != 2)
		errx(2, "usage: storm SECONDS");
	if (!strcmp(argv[1], "child")) {
		burn_storm(BURN_ROUNDS);
		return 0;
	}
	end = seconds() + atoi(argv[1]);
	for (size_t i = 0; i < NR_KINDS; i++) {
		unsigned long nr = 0;
		pid_t pid = fork();

		if (pid < 0)
			err(2, "fork");
		if (pid)
			continue;
		for (; seconds() < end; nr++)
			kinds[i].run();
		printf("%s %lu\n", kinds[i].name, nr);
		fflush(stdout);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
