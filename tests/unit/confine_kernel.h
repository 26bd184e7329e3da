/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_CONFINE_KERNEL_H
#define TESTS_UNIT_CONFINE_KERNEL_H

/*
 * A kernel for op_confine, in the test program: the system calls that confine
 * a process come here, as the program's own functions stand before the C
 * library's. They do what they should, unless the test asks for another kernel:
 * one that refuses them, or one that tells them to the test and confines
 * nothing.
 */

#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_FILTER 256 /* statements */

/* A call that this kernel refuses with ENOSYS. */
enum confine_call {
	REFUSE_NONE,
	REFUSE_ALL,
	REFUSE_NO_NEW_PRIVS,
	REFUSE_FSIZE,
	REFUSE_CORE,
	REFUSE_CAPGET,
	REFUSE_CAPSET,
	REFUSE_SECCOMP,
	REFUSE_PDEATHSIG,
};

static struct confine_kernel {
	bool is_mine; /* else the calls go to the kernel of this machine */
	enum confine_call refused;
	bool has_no_fork; /* fork(2) fails */
	FILE *told; /* or NULL */
	uint32_t capabilities; /* of each kind, in either half */
	struct sock_filter filter[MAX_FILTER]; /* the last one */
	unsigned int filter_len;
} confine_kernel;

#define CONFINE_REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define CONFINE_INSTEAD_OF(name) __asm__(#name)

int confine_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
		  unsigned long d) CONFINE_INSTEAD_OF(prctl);
int confine_setrlimit(__rlimit_resource_t resource,
		      const struct rlimit64 *limit)
	CONFINE_INSTEAD_OF(setrlimit64);
long confine_syscall(long number, ...) CONFINE_INSTEAD_OF(syscall);
pid_t confine_fork(void) CONFINE_INSTEAD_OF(fork);

/* Tell of a call, and return what it returns. */
__attribute__((format(printf, 2, 3))) static int
answer_confine_call(enum confine_call call, const char *format, ...)
{
	va_list args;

	if (confine_kernel.told) {
		va_start(args, format);
		vfprintf(confine_kernel.told, format, args);
		va_end(args);
	}
	if (confine_kernel.refused != call &&
	    confine_kernel.refused != REFUSE_ALL)
		return 0;
	errno = ENOSYS;
	return -1;
}

static int take_confine_filter(const struct sock_fprog *program)
{
	if (program->len > MAX_FILTER)
		abort();
	memcpy(confine_kernel.filter, program->filter,
	       program->len * sizeof(*program->filter));
	confine_kernel.filter_len = program->len;
	return answer_confine_call(REFUSE_SECCOMP, " filter");
}

int confine_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
		  unsigned long d)
{
	if (confine_kernel.is_mine && option == PR_SET_NO_NEW_PRIVS)
		return answer_confine_call(REFUSE_NO_NEW_PRIVS,
					   " no-new-privs=%lu", a);
	if (confine_kernel.is_mine && option == PR_SET_SECCOMP &&
	    a == SECCOMP_MODE_FILTER)
		return take_confine_filter((const void *)b);
	if (confine_kernel.refused == REFUSE_PDEATHSIG &&
	    option == PR_SET_PDEATHSIG)
		return answer_confine_call(REFUSE_PDEATHSIG, " signal");
	return CONFINE_REAL(prctl)(option, a, b, c, d);
}

int confine_setrlimit(__rlimit_resource_t resource,
		      const struct rlimit64 *limit)
{
	if (confine_kernel.is_mine && resource == RLIMIT_FSIZE)
		return answer_confine_call(REFUSE_FSIZE, " file-size=%lu/%lu",
					   (unsigned long)limit->rlim_cur,
					   (unsigned long)limit->rlim_max);
	if (confine_kernel.is_mine && resource == RLIMIT_CORE)
		return answer_confine_call(REFUSE_CORE, " core=%lu/%lu",
					   (unsigned long)limit->rlim_cur,
					   (unsigned long)limit->rlim_max);
	return CONFINE_REAL(setrlimit64)(resource, limit);
}

static long confine_capget(const struct __user_cap_header_struct *header,
			   struct __user_cap_data_struct has[2])
{
	const uint32_t all = confine_kernel.capabilities;

	if (header->version != _LINUX_CAPABILITY_VERSION_3 || header->pid)
		abort();
	has[0] = has[1] = (struct __user_cap_data_struct){ all, all, all };
	return answer_confine_call(REFUSE_CAPGET, " capget");
}

static long confine_capset(const struct __user_cap_header_struct *header,
			   const struct __user_cap_data_struct has[2])
{
	if (header->version != _LINUX_CAPABILITY_VERSION_3 || header->pid)
		abort();
	return answer_confine_call(REFUSE_CAPSET, " capset=%x/%x/%x,%x/%x/%x",
				   has[0].effective, has[0].permitted,
				   has[0].inheritable, has[1].effective,
				   has[1].permitted, has[1].inheritable);
}

/* As the C library does it, all six are taken, however many there are. */
__attribute__((no_sanitize("address"))) long confine_syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (confine_kernel.is_mine && number == SYS_capget)
		return confine_capget((const void *)a[0], (void *)a[1]);
	if (confine_kernel.is_mine && number == SYS_capset)
		return confine_capset((const void *)a[0], (const void *)a[1]);
	/* The same, with what the program does at its end. */
	if (confine_kernel.is_mine && number == SYS_exit_group)
		_exit((int)a[0]);
	return CONFINE_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4],
				     a[5]);
}

pid_t confine_fork(void)
{
	if (confine_kernel.has_no_fork) {
		errno = EAGAIN;
		return -1;
	}
	return CONFINE_REAL(fork)();
}

__attribute__((unused)) static void reset_confine_kernel(void)
{
	memset(&confine_kernel, 0, sizeof(confine_kernel));
}

/* All that confines a process is refused from now on. */
__attribute__((unused)) static void refuse_to_confine(void)
{
	reset_confine_kernel();
	confine_kernel.is_mine = true;
	confine_kernel.refused = REFUSE_ALL;
}

#endif /* TESTS_UNIT_CONFINE_KERNEL_H */
