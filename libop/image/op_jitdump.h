/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_IMAGE_OP_JITDUMP_H
#define LIBOP_IMAGE_OP_JITDUMP_H

/*
 * Jitdump: the files jit-PID.dump in which programs tell of code that they made
 * at run time, with its bytes, source lines and the time. A header, then
 * records of which each begins with its length. Numbers have the byte order of
 * the machine. The kernel's tools/perf/Documentation/jitdump-specification.txt
 * has the format.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_cursor.h"

#define OP_JITDUMP_MAGIC 0x4a695444u
#define OP_JITDUMP_VERSION 1u
/* Flag of the header: times are those of the CPU, not of CLOCK_MONOTONIC. */
#define OP_JITDUMP_CPU_TIME 1u

struct op_jitdump_header {
	uint32_t magic;
	uint32_t version;
	uint32_t size; /* bytes of the header */
	uint32_t machine; /* EM_ of elf(5) */
	uint32_t unused;
	uint32_t pid;
	uint64_t time; /* ns */
	uint64_t flags;
};

enum op_jitdump_id {
	OP_JITDUMP_LOAD,
	OP_JITDUMP_MOVE,
	OP_JITDUMP_LINES, /* of the next LOAD of that code */
	OP_JITDUMP_CLOSE,
	OP_JITDUMP_UNWIND, /* of the next LOAD */
};

/* The beginning of each record. */
struct op_jitdump_prefix {
	uint32_t id;
	uint32_t size; /* bytes of the record, with this */
	uint64_t time; /* ns */
};

/* Behind it are the name, with a zero byte, and the code. */
struct op_jitdump_load {
	struct op_jitdump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma; /* as code_addr */
	uint64_t code_addr;
	uint64_t code_size;
	uint64_t code_index; /* another number for each LOAD */
};

struct op_jitdump_move {
	struct op_jitdump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma;
	uint64_t old_addr;
	uint64_t new_addr;
	uint64_t code_size;
	uint64_t code_index; /* that of the LOAD */
};

/* Behind it are the lines. */
struct op_jitdump_lines {
	struct op_jitdump_prefix prefix;
	uint64_t code_addr;
	uint64_t nr;
};

/*
 * Behind it are an .eh_frame and its .eh_frame_hdr: the former as it would lie
 * behind the code, at the next multiple of 8 (OP_JITDUMP_FRAMES_ALIGN).
 */
struct op_jitdump_unwind {
	struct op_jitdump_prefix prefix;
	uint64_t size; /* bytes of both */
	uint64_t header_size; /* bytes of the .eh_frame_hdr */
	uint64_t mapped_size; /* bytes that the program has in memory, too */
};

#define OP_JITDUMP_FRAMES_ALIGN 8u

_Static_assert(sizeof(struct op_jitdump_header) == 40, "format");
_Static_assert(sizeof(struct op_jitdump_load) == 56, "format");
_Static_assert(sizeof(struct op_jitdump_move) == 64, "format");
_Static_assert(sizeof(struct op_jitdump_lines) == 32, "format");
_Static_assert(sizeof(struct op_jitdump_unwind) == 40, "format");

/* A line: an address, a line, a number of no meaning here, and a file, with a
 * zero byte. */
struct op_jitdump_line {
	uint64_t addr;
	uint32_t line;
	uint32_t discriminator;
	const char *file; /* in the record */
};

/* Take the line at the cursor. False at the end, or when it is not whole. */
bool op_jitdump_next_line(struct op_cursor *c, struct op_jitdump_line *line);

#endif /* LIBOP_IMAGE_OP_JITDUMP_H */
