// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A small compiler of code at run time that frees its code and uses the
 * addresses again.
 *
 *	jitcode map PHASES SECONDS
 *
 * In each phase there is another function at the same address, phase_1 to
 * phase_N, and works for SECONDS of CPU time; it is told in /tmp/perf-PID.map.
 * Prints the pid.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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

static uint8_t *room;
static FILE *map;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void tell_of_code(unsigned int phase)
{
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

static void run_phase(unsigned int phase, double seconds)
{
	uint64_t end = cpu_time_ns() + (uint64_t)(seconds * 1e9);
	void (*run)(unsigned int) = NULL;

	memset(room, 0, ROOM);
	memcpy(room, count_down, sizeof(count_down));
	__builtin___clear_cache((char *)room, (char *)room + ROOM);
	memcpy(&run, &room, sizeof(run));
	tell_of_code(phase);
	while (cpu_time_ns() < end)
		run(1000000);
}

int main(int argc, char **argv)
{
	unsigned int phases;
	char path[64];

	if (argc != 4 || strcmp(argv[1], "map")) {
		fprintf(stderr, "usage: jitcode map PHASES SECONDS\n");
		return 2;
	}
	phases = (unsigned int)atoi(argv[2]);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "we");
	if (!map)
		die(path);
	room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		die("mmap");
	printf("%d\n", (int)getpid());
	for (unsigned int i = 1; i <= phases; i++)
		run_phase(i, atof(argv[3]));
	fclose(map);
	unlink(path);
	return 0;
}
