/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_PROCESS_H
#define LIBOP_FILES_OP_PROCESS_H

/*
 * Other programs: finding them, running them without a shell, and ending
 * them by a handle that cannot mean another process meanwhile.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"

/*
 * Put the path of the program @name in @buf: the first one that can be run in
 * @folders, a list with colons. Entries that are not absolute are passed over.
 * Returns 0 or -ENOENT.
 */
int op_process_find(char *buf, size_t len, const char *name,
		    const char *folders);

/*
 * *@value = the environment variable @name, NULL if it is not set or empty.
 * Returns 0, or -EPERM with the reason in @diag where this program has more
 * rights than its caller.
 */
int op_process_environment(const char **value, const char *name,
			   struct op_diag *diag);

/* Put the folder that this program lies in in @buf, however it was called.
 * Returns 0 or -errno with the reason in @diag. */
int op_process_own_folder(char *buf, size_t len, struct op_diag *diag);

/*
 * Put the path of @name, one of our own programs, in @buf: in @folder or on
 * $PATH. Returns 0 or -ENOENT with the reason in @diag.
 */
int op_process_find_own(char *buf, size_t len, const char *name,
			const char *folder, struct op_diag *diag);

#define OP_PROCESS_MAX_ARGS 23

/* A command line that is being put together; all zero is an empty one. */
struct op_process_args {
	char *argv[OP_PROCESS_MAX_ARGS + 1]; /* ended by NULL */
	int nr;
	bool failed; /* memory was short, or there were too many */
};

void op_process_args_add(struct op_process_args *args, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void op_process_args_release(struct op_process_args *args);

/*
 * Run the program @path and wait until it ends. With @text (@len bytes) the
 * first bytes of what it writes to stderr are put there, zero-terminated;
 * without, it writes to ours. Returns its exit status, or -errno with the
 * reason in @diag when it could not be run or was ended by a signal.
 */
int op_process_run(const char *path, char *const argv[], char *const envp[],
		   char *text, size_t len, struct op_diag *diag);

/* Whether process @pid lives and its name (of at most 15 bytes) is @name. */
bool op_process_is(pid_t pid, const char *name);

/* The activity of a process: its state as in proc(5), and the time that it has
 * run, in clock ticks of all its threads. */
struct op_process_activity {
	char state; /* 0: there is no such process */
	uint64_t ticks;
};

struct op_process_activity op_process_activity(pid_t pid);

/* A handle for @pid that is to be closed, or -errno; -ESRCH: none such. */
int op_process_open(pid_t pid);

/* Wait at most @ms milliseconds for the end of the process behind @pidfd.
 * Returns 0, -ETIMEDOUT or -errno. */
int op_process_wait(int pidfd, int ms);

/* Send @signal to the process behind @pidfd, which may be gone. Returns 0 or
 * -errno. A signal handler may call it. */
int op_process_signal(int pidfd, int signal);

/* End the process behind @pidfd: SIGTERM, and SIGKILL if it still lives
 * @grace_ms milliseconds later. It is gone when this returns 0; else -errno. */
int op_process_end(int pidfd, int grace_ms);

#endif /* LIBOP_FILES_OP_PROCESS_H */
