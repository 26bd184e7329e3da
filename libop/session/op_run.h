/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_RUN_H
#define LIBOP_SESSION_OP_RUN_H

/*
 * The run that a session is of: the command, the machine, the time. The ledger
 * (op_ledger.h) keeps it as the keys "run.command", "run.host", "run.user",
 * "run.kernel", "run.note", "run.start", "run.wall_ns" and "run.cpu_ns", each
 * only if it is known.
 *
 * Texts are safe on a terminal (op_terminal_safe.h), and have no blanks at
 * their ends. A text that is longer than its room ends with "...".
 */

#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

struct op_config;

#define OP_RUN_NOTE_MAX 256 /* bytes, with the zero byte */

/* X(NAME, bytes with the zero byte) */
#define OP_RUN_TEXTS(X)                                                        \
	X(command, 1024) /* with its arguments, quoted as in a shell */        \
	X(host, 65) /* the name of the machine */                              \
	X(user, 65) /* for whom the profiler ran */                            \
	X(kernel, 65) /* the release, as uname -r prints it */                 \
	X(note, OP_RUN_NOTE_MAX) /* words of the user */

/* X(NAME); 0 is unknown */
#define OP_RUN_NUMBERS(X)                                                      \
	X(start) /* seconds since 1970 */                                      \
	X(wall_ns) /* from the start of the command to its end */              \
	X(cpu_ns) /* CPU time of the command and of its children */

/* All zeros is a run of which nothing is known. */
struct op_run {
#define X(name, size) char name[size];
	OP_RUN_TEXTS(X)
#undef X
#define X(name) uint64_t name;
	OP_RUN_NUMBERS(X)
#undef X
};

/* Set @text, with room for @size bytes, to @value, made safe and cut. */
void op_run_set_text(char *text, size_t size, const char *value);

/* Set host, kernel and user of this process, and @start. */
void op_run_set_here(struct op_run *run, uint64_t start);

/*
 * Set @text, with room for @size bytes, to the words of @argv, up to a NULL, as
 * a shell reads them.
 */
void op_run_set_words(char *text, size_t size, char *const *argv);

/* Keep in @run what is the same in @other, and the earlier start of both. */
void op_run_keep_common(struct op_run *run, const struct op_run *other);

/*
 * Fill @run with the keys of @config, which was read from @path. Returns 0, or
 * -EINVAL with the reason for a text that is too long or not safe, or for a
 * number that is none.
 */
int op_run_read(struct op_run *run, const struct op_config *config,
		const char *path, struct op_diag *diag);

/* Set the keys of what is known. Returns 0 or -ENOMEM. */
int op_run_fill_config(const struct op_run *run, struct op_config *config);

#endif /* LIBOP_SESSION_OP_RUN_H */
