/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_JIT_OPD_JITDUMP_H
#define DAEMON_SOURCE_JIT_OPD_JITDUMP_H

/*
 * A jitdump file (libop/image/op_jitdump.h) that a process writes while it is
 * read. Its records go to the list of code in the order of time, each when the
 * samples have come to its time. What it says is not believed: the file may be
 * cut anywhere, and any number in it may be anything.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/jit/opd_jit_codes.h"

struct cfi_table;
struct op_code_function;

/* Code in the list that is no more: its @where. Its @number stays. */
#define OPD_JIT_GONE UINT64_MAX

#define OPD_JITDUMP_AT_ONCE 50000 /* records */

struct opd_jitdump {
	int fd; /* owned; -1: none */
	struct opd_untrusted *untrusted; /* reads it; NULL: we do */
	size_t most; /* records that the next run may take */
	struct opd_jitdump_state state;
};

/* Whether @code, from a file, can be code. */
bool opd_jit_code_is_sound(const struct opd_jit_code *code);

/* Whether @name, as /proc/PID/maps has it, is that of a jitdump. */
bool opd_jitdump_is_name(const char *name);

/*
 * Begin to read @fd, which is taken over. Returns 0, or -EPROTO for a file that
 * is no jitdump of this machine's byte order, or -errno; then @fd is closed.
 * @untrusted, which may be NULL, is borrowed.
 */
int opd_jitdump_open(struct opd_jitdump *dump, struct opd_untrusted *untrusted,
		     int fd);
void opd_jitdump_close(struct opd_jitdump *dump);

/*
 * Bring @codes to the state of @until, in ns of CLOCK_MONOTONIC, with at most
 * @max codes and dump->most records, of which there are OPD_JITDUMP_AT_ONCE
 * unless the caller says less. Returns 0 when all that is there by now has been
 * taken up to then, -EAGAIN when more is left than is read at a time, -ENOSPC,
 * or -ENOMEM.
 */
int opd_jitdump_run(struct opd_jitdump *dump, struct opd_jit_codes *codes,
		    uint64_t until, size_t max);

/*
 * Read what is known of @code. What @function points to is the caller's to free
 * with opd_jitdump_free_function(), in any case. Returns 0, -ENOMEM, or -ESTALE
 * when the file has something else there.
 */
int opd_jitdump_read(const struct opd_jitdump *dump,
		     const struct opd_jit_code *code,
		     struct op_code_function *function);
void opd_jitdump_free_function(struct op_code_function *function);

/*
 * Make the table that unwinds @code, the caller's to free; its offset 0 is the
 * start of the code. Returns 0 and sets *@out, -ENOENT if the dump has no such
 * data, or none that makes sense, or -ENOMEM.
 */
int opd_jitdump_read_frames(const struct opd_jitdump *dump,
			    const struct opd_jit_code *code,
			    struct cfi_table **out);

#endif /* DAEMON_SOURCE_JIT_OPD_JITDUMP_H */
