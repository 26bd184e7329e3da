// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The set is the memory of a BPF array of 64-bit words, which is mapped here;
 * the mapping and the program hold the array. The program finds the bit of the
 * process that was interrupted:
 *
 *	tgid = bpf_get_current_pid_tgid() >> 32
 *	word = bpf_map_lookup_elem(map, tgid / 64)
 *	return word ? !(*word >> tgid % 64 & 1) : 1
 *
 * The kernel drops the sample for which it returns 0. A set of processes to be
 * dropped, and not one of those to be sampled, because a process that began a
 * moment ago is in neither.
 */

#include "libop/kernel/op_perf_filter.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORDS_LEN (OP_PERF_FILTER_WORDS * sizeof(uint64_t))
/* The number of the first pid namespace (PROC_PID_INIT_INO). */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

static int call_bpf(int command, union bpf_attr *attr)
{
	long fd = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return fd < 0 ? -errno : (int)fd;
}

static int make_map(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = sizeof(uint64_t);
	attr.max_entries = OP_PERF_FILTER_WORDS;
	attr.map_flags = BPF_F_MMAPABLE;
	return call_bpf(BPF_MAP_CREATE, &attr);
}

static int load_program(int map_fd)
{
	/* clang-format off */
	const struct bpf_insn program[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid },
		/* r6 = tgid; the key, on the stack, = tgid / 64 */
		{ .code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 32 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 6 },
		{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .src_reg = BPF_REG_0, .off = -4 },
		/* r0 = where its word is; BPF_K is 0, as BPF_ADD is */
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map_fd },
		{ .code = 0 }, /* the upper half of that number */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD, .dst_reg = BPF_REG_2, .imm = -4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .off = 2, .imm = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
		/* r0 = the bit, turned over */
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = BPF_REG_6, .imm = 63 },
		{ .code = BPF_ALU64 | BPF_RSH | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_6 },
		{ .code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_ALU64 | BPF_XOR | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	/* clang-format on */
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.insns = (uintptr_t)program;
	attr.license = (uintptr_t) "GPL";
	return call_bpf(BPF_PROG_LOAD, &attr);
}

static bool in_first_pid_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) &&
	       st.st_ino == FIRST_PID_NAMESPACE;
}

static int map_words(struct op_perf_filter *filter, int map_fd)
{
	void *words = mmap(NULL, WORDS_LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
			   map_fd, 0);

	if (words == MAP_FAILED)
		return -errno;
	filter->words = words;
	return 0;
}

int op_perf_filter_open(struct op_perf_filter *filter)
{
	int map_fd, err;

	*filter = (struct op_perf_filter){ .program_fd = -1 };
	if (!in_first_pid_namespace())
		return -EXDEV;
	err = map_fd = make_map();
	if (err >= 0)
		err = filter->program_fd = load_program(map_fd);
	if (err >= 0)
		err = map_words(filter, map_fd);
	if (map_fd >= 0)
		close(map_fd);
	if (err)
		op_perf_filter_close(filter);
	return err;
}

void op_perf_filter_close(struct op_perf_filter *filter)
{
	if (filter->words)
		munmap(filter->words, WORDS_LEN);
	if (filter->program_fd >= 0)
		close(filter->program_fd);
	*filter = (struct op_perf_filter){ .program_fd = -1 };
}

bool op_perf_filter_works(void)
{
	struct op_perf_filter filter;
	bool works = !op_perf_filter_open(&filter);

	op_perf_filter_close(&filter);
	return works;
}

int op_perf_filter_attach(const struct op_perf_filter *filter, int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, filter->program_fd) ? -errno
								     : 0;
}

void op_perf_filter_drop(struct op_perf_filter *filter, uint32_t tgid,
			 bool drop)
{
	uint64_t bit = UINT64_C(1) << tgid % 64;

	if (tgid >= OP_PERF_FILTER_PIDS)
		return;
	if (drop)
		filter->words[tgid / 64] |= bit;
	else
		filter->words[tgid / 64] &= ~bit;
}

bool op_perf_filter_drops(const struct op_perf_filter *filter, uint32_t tgid)
{
	return tgid < OP_PERF_FILTER_PIDS &&
	       filter->words[tgid / 64] >> tgid % 64 & 1;
}
