/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_JITDUMP_H
#define DAEMON_SOURCE_OPD_JITDUMP_H

/*
 * A jitdump file (libop/op_jitdump.h) that a process writes while it is read.
 * Its records go to the list of code in the order of time, each when the
 * samples have come to its time. What it says is not believed: the file may be
 * cut anywhere, and any number in it may be anything.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/opd_jit_codes.h"

struct cfi_table;
struct op_code_function;

/* Code in the list that is no more: its @where. Its @number stays. */
#define OPD_JIT_GONE UINT64_MAX

#define OPD_JITDUMP_AT_ONCE 50000 /* records */

struct opd_jitdump {
	int fd; /* owned; -1: none */
	uint16_t machine; /* EM_ of elf(5) */
	bool has_times; /* that can be compared */
	bool is_damaged; /* nothing more is read */
	size_t most; /* records that the next run may take */
	size_t nr_taken; /* by the last one */
	uint64_t at; /* of the next record */
	uint64_t next_time; /* of that record, if it is known; ns */
	uint64_t lines_addr; /* the last LINES are of this code */
	uint64_t lines_at; /* 0: there are none */
	uint64_t frames_at; /* of what unwinds the next code; 0: not told */
	uint8_t *window; /* bytes of the file */
	uint64_t window_at;
	size_t window_len;
};

/* Whether @name, as /proc/PID/maps has it, is that of a jitdump. */
bool opd_jitdump_is_name(const char *name);

/*
 * Begin to read @fd, which is taken over. Returns 0, or -EPROTO for a file that
 * is no jitdump of this machine's byte order, or -errno; then @fd is closed.
 */
int opd_jitdump_open(struct opd_jitdump *dump, int fd);
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

#endif /* DAEMON_SOURCE_OPD_JITDUMP_H */
