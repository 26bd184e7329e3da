/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_JIT_OPD_JIT_FRAMES_H
#define DAEMON_SOURCE_JIT_OPD_JIT_FRAMES_H

/*
 * The unwind tables of code that one process has made and described in its
 * jitdump. A table is made when a stack first leads through its code; few of
 * them are kept, those used last.
 */

#include <stddef.h>
#include <stdint.h>

struct cfi_table;
struct opd_jit_code;
struct opd_jitdump;

#define OPD_JIT_FRAMES 256 /* tables of a process */
#define OPD_JIT_FRAMES_BYTES (1u << 20) /* that they take at most */

/* All zeros: empty. */
struct opd_jit_frames {
	struct opd_jit_frame {
		uint64_t at; /* of the data in the dump; 0: free */
		struct cfi_table *table; /* NULL: the data make no sense */
	} * slots; /* OPD_JIT_FRAMES of them, or NULL */
	size_t bytes; /* of all tables */
};

void opd_jit_frames_release(struct opd_jit_frames *frames);

/* The table of @code, which @dump tells of, or NULL. It holds until the next
 * call. */
const struct cfi_table *opd_jit_frames_find(struct opd_jit_frames *frames,
					    const struct opd_jitdump *dump,
					    const struct opd_jit_code *code);

#endif /* DAEMON_SOURCE_JIT_OPD_JIT_FRAMES_H */
