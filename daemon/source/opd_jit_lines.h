/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_JIT_LINES_H
#define DAEMON_SOURCE_OPD_JIT_LINES_H

/*
 * Source lines of code that a program made at run time, as the section
 * .debug_line of DWARF 2 (section 6.2 of that standard): one unit, in which
 * each function is a sequence.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libop/op_arena.h"
#include "libop/op_strings.h"

/* The code from @offset on is of a source line. */
struct opd_jit_line {
	uint32_t offset; /* in the function, bytes */
	uint32_t line;
	const char *file;
};

/* All zeros: empty. */
struct opd_jit_lines {
	struct op_arena arena;
	struct op_strings files;
	uint8_t *program; /* of the line number machine */
	size_t program_len;
};

void opd_jit_lines_release(struct opd_jit_lines *lines);

/*
 * Add a function of @size bytes at address @start with @nr lines, in any order
 * and with offsets below @size. Returns 0 or -ENOMEM, without having added
 * anything.
 */
int opd_jit_lines_add(struct opd_jit_lines *lines, uint64_t start,
		      uint32_t size, const struct opd_jit_line *list,
		      size_t nr);

/* Write the section. Errors are found in @file. */
void opd_jit_lines_write(const struct opd_jit_lines *lines, FILE *file);

#endif /* DAEMON_SOURCE_OPD_JIT_LINES_H */
