// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A BPF program of a known name that works in the kernel.
 *
 *	bpfwork NAME SECONDS
 *
 * Loads the program, prints its name as the kernel lists it,
 * "bpf_prog_TAG_NAME", waits for a line on its standard input or the end of
 * that, and lets the program run for SECONDS of CPU time. Exits with 77 and
 * says why where no program may be loaded.
 */

#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOPS 10000 /* of the program */
#define RUNS 100 /* of the program, at a time */

static int bpf_call(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* Count LOOPS down to 0 and return that. */
static int load_program(const char *name)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K,
		  .dst_reg = 1,
		  .imm = LOOPS },
		{ .code = BPF_ALU64 | BPF_SUB | BPF_K, .dst_reg = 1, .imm = 1 },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 1, .off = -2 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uintptr_t) "GPL",
	};

	snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", name);
	return bpf_call(BPF_PROG_LOAD, &attr);
}

static void print_name(int program, const char *name)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = {
		.info = { .bpf_fd = (uint32_t)program,
			  .info_len = sizeof(info),
			  .info = (uintptr_t)&info },
	};

	if (bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr))
		err(1, "what the kernel knows of it");
	printf("bpf_prog_");
	for (int i = 0; i < BPF_TAG_SIZE; i++)
		printf("%02x", info.tag[i]);
	printf("_%s\n", name);
	fflush(stdout);
}

/* Before Linux 5.11 programs are memory that their user has locked, and those
 * that have gone count until the kernel comes to release them. */
static void allow_locked_memory(void)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void run_for(int program, double seconds)
{
	uint8_t packet[64] = { 0 };
	double end = cpu_seconds() + seconds;

	while (cpu_seconds() < end) {
		union bpf_attr attr = {
			.test = { .prog_fd = (uint32_t)program,
				  .data_in = (uintptr_t)packet,
				  .data_size_in = sizeof(packet),
				  .repeat = RUNS },
		};

		if (bpf_call(BPF_PROG_TEST_RUN, &attr))
			err(1, "to run the program");
	}
}

int main(int argc, char **argv)
{
	int program, c;

	if (argc != 3) {
		fprintf(stderr, "usage: bpfwork NAME SECONDS\n");
		return 2;
	}
	allow_locked_memory();
	program = load_program(argv[1]);
	if (program < 0) {
		warn("no BPF program may be loaded");
		return 77;
	}
	print_name(program, argv[1]);
	while ((c = getchar()) != EOF && c != '\n')
		;
	run_for(program, atof(argv[2]));
	return 0;
}
