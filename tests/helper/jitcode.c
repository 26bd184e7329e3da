// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A small compiler of code at run time that frees its code and uses the
 * addresses again.
 *
 *	jitcode map|agent|threads|fork|frames|bare PHASES SECONDS|-
 *
 * In each phase there is another function at the same address, phase_1 to
 * phase_N, and works for SECONDS of CPU time, or with "-" until a byte comes on
 * stdin. It is told in /tmp/perf-PID.map, or by libopagent with two source
 * lines of this file. With "threads" four threads tell of 1000 functions each
 * meanwhile; with "fork" a child does it all while its parent holds the agent,
 * too. With "frames" the code clears the frame pointer and is told with unwind
 * data, with "bare" the same code is told without. Prints the pid.
 */

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libagent/opagent.h"

#define ROOM 65536

/* A function that counts its argument down to 0. */
#if defined(__x86_64__)
static const unsigned char count_down[] = {
	0x89, 0xf8, /* mov %edi, %eax */
	0xff, 0xc8, /* dec %eax */
	0x75, 0xfc, /* jne to the dec */
	0xc3, /* ret */
};
#elif defined(__aarch64__)
static const uint32_t count_down[] = {
	0x71000400, /* subs w0, w0, #1 */
	0x54ffffe1, /* b.ne to the subs */
	0xd65f03c0, /* ret */
};
#else
#error "no code for this machine"
#endif

/* Likewise, in a frame that only call frame information leads out of. */
#if defined(__x86_64__)
static const unsigned char framed[] = {
	0x55, /* push %rbp */
	0x53, /* push %rbx */
	0x6a, 0x00, /* push $0 */
	0x31, 0xed, /* xor %ebp, %ebp */
	0x89, 0xf8, /* mov %edi, %eax */
	0xff, 0xc8, /* dec %eax */
	0x75, 0xfc, /* jne to the dec */
	0x59, /* pop %rcx */
	0x5b, /* pop %rbx */
	0x5d, /* pop %rbp */
	0xc3, /* ret */
};

/* clang-format off */
/* Its .eh_frame: one CIE, one FDE. */
static const unsigned char frames[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
	0x0c, 7, 8, /* the CFA is rsp + 8 */
	0x90, 1, /* the return address is at CFA - 8 */
	0, 0,
	36, 0, 0, 0, 28, 0, 0, 0,
	0x100 - 48, 0xff, 0xff, 0xff, /* where the code is, from here */
	sizeof(framed), 0, 0, 0, 0,
	0x41, 0x0e, 16, 0x86, 2, /* from 1: rsp + 16; rbp is at CFA - 16 */
	0x41, 0x0e, 24, 0x83, 3, /* from 2: rsp + 24; rbx is at CFA - 24 */
	0x42, 0x0e, 32, /* from 4 */
	0x49, 0x0e, 24, /* from 13 */
	0x41, 0x0e, 16, /* from 14 */
	0x41, 0x0e, 8, /* from 15 */
	0, 0, 0, 0, 0,
};
/* clang-format on */
#else /* none is made */
#define framed count_down
static const unsigned char frames[] = { 0 };
#endif

static uint8_t *room;
static FILE *map; /* or */
static op_agent_t agent;
static bool is_framed; /* what runs is @framed */
static size_t frames_len; /* of @frames that are told; 0: none */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static const void *code(size_t *len)
{
	*len = is_framed ? sizeof(framed) : sizeof(count_down);
	return is_framed ? (const void *)framed : count_down;
}

static void tell_agent(unsigned int phase)
{
	const struct debug_line_info lines[] = {
		{ (unsigned long)room, 100 + phase, __FILE__ },
		{ (unsigned long)room + 2, 200 + phase, __FILE__ },
	};
	char name[32];
	size_t len;

	code(&len);
	snprintf(name, sizeof(name), "phase_%u", phase);
	if (op_write_debug_line_info(agent, room, 2, lines) ||
	    op_write_native_code_frames(agent, name, (uintptr_t)room, room,
					(unsigned int)len, frames, frames_len))
		die("libopagent");
}

static void tell_of_code(unsigned int phase)
{
	if (agent) {
		tell_agent(phase);
		return;
	}
	fprintf(map, "%" PRIxPTR " %zx phase_%u\n", (uintptr_t)room,
		sizeof(count_down), phase);
	if (fflush(map))
		die("perf map");
}

static uint64_t cpu_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Whether the CPU time @end is over; with 0, whether stdin says so or ends. */
static bool is_phase_over(uint64_t end)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	if (end)
		return cpu_time_ns() >= end;
	return poll(&in, 1, 0) > 0 && read(in.fd, &byte, 1) >= 0;
}

static void run_phase(unsigned int phase, const char *seconds)
{
	uint64_t end = strcmp(seconds, "-")
			       ? cpu_time_ns() + (uint64_t)(atof(seconds) * 1e9)
			       : 0;
	void (*run)(unsigned int) = NULL;
	const void *bytes;
	size_t len;

	memset(room, 0, ROOM);
	bytes = code(&len);
	memcpy(room, bytes, len);
	__builtin___clear_cache((char *)room, (char *)room + ROOM);
	memcpy(&run, &room, sizeof(run));
	tell_of_code(phase);
	while (!is_phase_over(end))
		run(1000000);
	if (agent && op_unload_native_code(agent, (uintptr_t)room))
		die("libopagent");
}

/* Functions where no code is. */
static void *tell_many(void *arg)
{
	uintptr_t at = (uintptr_t)arg * 0x100000;
	char name[32];

	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "other_%u", i);
		if (op_write_native_code(agent, name, at + 16 * i, count_down,
					 sizeof(count_down)))
			die("libopagent");
	}
	return NULL;
}

static void tell_in_threads(void)
{
	pthread_t threads[4];

	for (uintptr_t i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, tell_many,
				   (void *)(i + 1)))
			die("pthread_create");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* The parent waits for the child, which goes on. */
static void go_on_in_child(void)
{
	int status = 0;
	pid_t pid;

	tell_many((void *)9);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		return;
	waitpid(pid, &status, 0);
	exit(status || op_close_agent(agent) ? 1 : 0);
}

static void begin_map(char path[64])
{
	snprintf(path, 64, "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "we");
	if (!map)
		die(path);
}

static void begin_agent(const char *how)
{
	agent = op_open_agent();
	if (!agent)
		die("libopagent");
	if (!strcmp(how, "fork"))
		go_on_in_child();
	if (!strcmp(how, "threads"))
		tell_in_threads();
	is_framed = !strcmp(how, "frames") || !strcmp(how, "bare");
	if (!strcmp(how, "frames"))
		frames_len = sizeof(frames);
}

int main(int argc, char **argv)
{
	unsigned int phases;
	char path[64];

	if (argc != 4) {
		fprintf(stderr,
			"usage: jitcode map|agent|threads|fork|frames|bare PHASES SECONDS|-\n");
		return 2;
	}
	phases = (unsigned int)atoi(argv[2]);
	if (strcmp(argv[1], "map"))
		begin_agent(argv[1]);
	else
		begin_map(path);
	room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		die("mmap");
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (unsigned int i = 1; i <= phases; i++)
		run_phase(i, argv[3]);
	if (agent)
		return op_close_agent(agent) ? 1 : 0;
	fclose(map);
	unlink(path);
	return 0;
}
