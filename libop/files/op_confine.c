// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A filter of system calls (seccomp(2)) is a program for the kernel, made of
 * one comparison for each call that is allowed. openat(2) is, unless its flags
 * ask for more than reading. Another architecture's calls have other numbers
 * and are refused all.
 */

#include "libop/files/op_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#define LOAD(field)                                                            \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Go on behind the next statement unless the loaded word is @value. */
#define UNLESS(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define ALLOW(call) ALLOW_IF(true, call)
#define ALLOW_IF(may, call)                                                    \
	UNLESS((may) ? SYS_##call : NO_CALL), RETURN(SECCOMP_RET_ALLOW)
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
#define MORE_THAN_READING (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)

#ifdef ARCH
/* No call has that number. */
#define NO_CALL 0xffffffffu

static int filter_calls(enum op_confine_to to)
{
	const bool writes = to == OP_CONFINE_TO_WRITING;
	const __u32 open_call =
		to == OP_CONFINE_TO_DESCRIPTORS ? NO_CALL : SYS_openat;
	struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		REFUSE,
		LOAD(nr),
		ALLOW(read),
		ALLOW(pread64),
		ALLOW(lseek),
		ALLOW(close),
		ALLOW(fstat),
		ALLOW(newfstatat),
		ALLOW(recvmsg),
		ALLOW(sendmsg),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(madvise),
		ALLOW(brk),
		ALLOW(futex),
		ALLOW(getrandom),
		ALLOW(restart_syscall),
		ALLOW(rt_sigreturn),
		ALLOW(rt_sigprocmask),
		ALLOW(exit_group),
		ALLOW_IF(writes, write),
		ALLOW_IF(writes, pwrite64),
		ALLOW_IF(writes, writev),
		ALLOW_IF(writes, fcntl),
		ALLOW_IF(writes, memfd_create),
		ALLOW_IF(writes, readlinkat),
#ifdef SYS_readlink
		ALLOW_IF(writes, readlink),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, open_call, 1, 0),
		REFUSE,
		/* The lower half of 64 bits, on machines that we run on. */
		LOAD(args[2]),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MORE_THAN_READING),
		UNLESS(0),
		RETURN(SECCOMP_RET_ALLOW),
		REFUSE,
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno
								    : 0;
}
#else
static int filter_calls(enum op_confine_to to)
{
	(void)to;
	return -ENOSYS;
}
#endif

/* All but the one to read any file, if it is there and wanted. */
static int drop_capabilities(enum op_confine_to to)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct has[2];
	const __u32 kept =
		to == OP_CONFINE_TO_READING ? 1u << CAP_DAC_READ_SEARCH : 0;

	if (syscall(SYS_capget, &header, has))
		return -errno;
	for (int i = 0; i < 2; i++) {
		has[i].effective &= i ? 0 : kept;
		has[i].permitted &= i ? 0 : kept;
		has[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, has) ? -errno : 0;
}

int op_confine(enum op_confine_to to)
{
	const struct rlimit none = { 0, 0 };
	int err = 0, dropped, filtered;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    (to != OP_CONFINE_TO_WRITING && setrlimit(RLIMIT_FSIZE, &none)) ||
	    setrlimit(RLIMIT_CORE, &none))
		err = -errno;
	dropped = drop_capabilities(to);
	/* Also where the capabilities could not be dropped. */
	filtered = filter_calls(to);
	return filtered ?: dropped ?: err;
}

/* Not by _exit(3), see op_confine_end(). */
static void end_process(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

void op_confine_child(int fd, pid_t parent)
{
	/* The parent may be dead already, which sends no signal any more. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		end_process(1);
	if (dup2(fd, 0))
		op_confine_end();
	close_range(1, ~0U, 0);
}

void op_confine_end(void)
{
	end_process(0);
}
