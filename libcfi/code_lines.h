/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CODE_LINES_H
#define LIBCFI_CODE_LINES_H

/*
 * A small cache of code: lines of some bytes, each read when an instruction in
 * it is wanted first.
 */

#include "libcfi/cfi_return.h"

#define CODE_LINE 64 /* bytes */
#define CODE_NR_LINES 32
#define CODE_MAX_INSN 16 /* bytes; more than any instruction has */

/* Bytes from "from" up to "to" are there; equal: none were read, or none are.
 */
struct code_line {
	uint64_t addr;
	uint8_t from;
	uint8_t to;
	uint8_t bytes[CODE_LINE];
};

struct code_lines {
	const struct cfi_code_reader *reader;
	struct code_line line[CODE_NR_LINES];
	uint8_t insn[CODE_MAX_INSN]; /* an instruction in two lines */
};

void code_lines_init(struct code_lines *lines,
		     const struct cfi_code_reader *reader);

/*
 * The bytes at @addr: *@len of them, which is CODE_MAX_INSN at least unless
 * the code ends there. They hold until the next call.
 */
const uint8_t *code_lines_find(struct code_lines *lines, uint64_t addr,
			       size_t *len);

#endif /* LIBCFI_CODE_LINES_H */
