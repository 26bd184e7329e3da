// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * noperf ERRNO COMMAND [ARGUMENT]...: runs COMMAND with a seccomp filter that
 * makes perf_event_open(2) fail with ERRNO, as containers do it. No rights are
 * needed for that.
 */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CANNOT 125
#define ERRNO_MAX 4095

static int forbid(unsigned int err)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	char *end;
	unsigned long err = argc > 2 ? strtoul(argv[1], &end, 10) : 0;

	if (!err || err > ERRNO_MAX || *end) {
		fputs("usage: noperf ERRNO COMMAND [ARGUMENT]...\n", stderr);
		return CANNOT;
	}
	if (forbid((unsigned int)err)) {
		fprintf(stderr, "noperf: seccomp: %s\n", strerror(errno));
		return CANNOT;
	}
	execvp(argv[2], argv + 2);
	fprintf(stderr, "noperf: %s: %s\n", argv[2], strerror(errno));
	return CANNOT;
}
