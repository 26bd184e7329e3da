/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_IMAGE_OP_CODE_LINES_H
#define LIBOP_IMAGE_OP_CODE_LINES_H

/*
 * Source lines of code that a program made at run time, as the section
 * .debug_line of DWARF 2 (section 6.2 of that standard): one unit, in which
 * each function is a sequence, or some where parts of it have no line.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_strings.h"

#define OP_CODE_LINE_MAX INT32_MAX /* what debug information can tell */

/* The code from @offset on is of a source line. */
struct op_code_line {
	uint32_t offset; /* in the function, bytes */
	uint32_t line; /* 0: it has none */
	const char *file; /* of a line */
};

/* All zeros: empty. */
struct op_code_lines {
	struct op_arena arena;
	struct op_strings files;
	uint8_t *program; /* of the line number machine */
	size_t program_len;
};

void op_code_lines_release(struct op_code_lines *lines);

/*
 * Add a function of @size bytes at address @start with @nr lines, in any order
 * and with offsets below @size. The code before the first of them is of that
 * one, too. Returns 0 or -ENOMEM, without having added anything.
 */
int op_code_lines_add(struct op_code_lines *lines, uint64_t start,
		      uint32_t size, const struct op_code_line *list,
		      size_t nr);

/* Write the section. Errors are found in @file. */
void op_code_lines_write(const struct op_code_lines *lines, FILE *file);

#endif /* LIBOP_IMAGE_OP_CODE_LINES_H */
