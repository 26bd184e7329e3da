/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_FAIL_CALL_H
#define TESTS_UNIT_FAIL_CALL_H

/*
 * One system call of a child fails: its parent is asked before each call of
 * some kinds, and answers one of them with an error (seccomp_unotify(2)).
 * Calls of processes that it starts may count as well.
 */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_pass.h"
#include "tests/unit/test.h"

/* What a child says when its calls do not count any more: no program calls it.
 */
#define FAIL_CALL_END SYS_getpriority

/* How many kinds of calls may be asked for at once. */
#define FAIL_CALL_MAX 28

/* In the child: from now on ask before each of the @nr @calls. The parent gets
 * the descriptor that it is asked through, at the other end of @socket. */
static inline void fail_call_begin(const long *calls, size_t nr, int socket)
{
	struct sock_filter filter[FAIL_CALL_MAX + 4] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = (unsigned short)(nr + 4),
				      .filter = filter };
	char byte = 0;
	int fd;

	if (nr > FAIL_CALL_MAX)
		_exit(98);
	for (size_t i = 0; i <= nr; i++)
		filter[i + 1] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K,
			(uint32_t)(i < nr ? calls[i] : FAIL_CALL_END),
			(uint8_t)(nr - i + 1), 0);
	filter[nr + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						      SECCOMP_RET_ALLOW);
	filter[nr + 3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						      SECCOMP_RET_USER_NOTIF);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0)
		_exit(98);
	if (opd_send_file(socket, &byte, 1, fd))
		_exit(98);
	close(fd);
	close(socket);
}

/* In the child: what follows does not count. */
static inline void fail_call_end(void)
{
	syscall(FAIL_CALL_END, -1, 0);
}

/* In the parent: the descriptor that the child sends, or -1. */
static inline int fail_call_listener(int socket)
{
	char byte;
	int fd;

	return opd_receive_file(socket, &byte, 1, &fd) ? fd : -1;
}

/* The calls that a child makes, and which of them fails. */
struct fail_call {
	unsigned int which; /* from 0; more than there are: none */
	int error; /* what it fails with */
	pid_t pid; /* only those of its first thread count; 0: all */
	unsigned int nr; /* how many there were */
	int calls[4096]; /* of which kind each of the first of them was */
	bool is_over; /* the child has said that no more count */
};

static inline void fail_call_answer(struct fail_call *f, int listener,
				    struct seccomp_notif *asked)
{
	struct seccomp_notif_resp answer = {
		.id = asked->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE
	};

	f->is_over |= asked->data.nr == FAIL_CALL_END;
	/* Memory of no file is not what fails here. */
	if (!f->is_over && (!f->pid || (pid_t)asked->pid == f->pid) &&
	    (asked->data.nr != SYS_mmap || (int)asked->data.args[4] >= 0)) {
		if (f->nr == f->which) {
			answer.flags = 0;
			answer.error = -f->error;
		}
		if (f->nr < sizeof(f->calls) / sizeof(*f->calls))
			f->calls[f->nr] = asked->data.nr;
		f->nr++;
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* In the parent: answer through @listener until the child and those that it
 * started have ended. */
static inline void fail_call(struct fail_call *f, int listener)
{
	struct pollfd ready = { .fd = listener, .events = POLLIN };

	f->nr = 0;
	f->is_over = false;
	while (poll(&ready, 1, -1) == 1 && ready.revents & POLLIN) {
		struct seccomp_notif asked = { 0 };

		if (!ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
			fail_call_answer(f, listener, &asked);
	}
}

#endif /* TESTS_UNIT_FAIL_CALL_H */
