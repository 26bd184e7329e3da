/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_IMAGE_OP_PERF_MAP_H
#define LIBOP_IMAGE_OP_PERF_MAP_H

/*
 * Perf maps: the text files /tmp/perf-PID.map in which programs tell the names
 * of code that they made at run time, a line for each function:
 *
 *	START SIZE NAME
 *
 * START and SIZE are hexadecimal, with or without "0x"; NAME is the rest of the
 * line and may hold blanks. The kernel's tools/perf/Documentation/
 * jit-interface.txt has the format. A session has such maps in its folder of
 * images, of functions that a process told of only after their samples
 * (doc/jit.md).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op_perf_map_line {
	uint64_t start; /* address */
	uint32_t size; /* bytes, never 0; start + size does not wrap */
	const char *name; /* in the text, with no zero byte behind it */
	size_t name_len; /* never 0 */
};

/*
 * Take apart the line of @len bytes at @text, without its newline. Returns
 * false for anything that is no such line.
 */
bool op_perf_map_parse(struct op_perf_map_line *line, const char *text,
		       size_t len);

/* The path of the map of process @tgid in @folder. Returns 0 or -ENAMETOOLONG.
 */
int op_perf_map_path(char *buf, size_t len, const char *folder, int64_t tgid);

/*
 * Copy a name of @len bytes from outside to @to, which has room for @size: at
 * most @size - 1 bytes, and a '?' for each control byte, so that no name
 * commands a terminal.
 */
void op_perf_map_copy_name(char *to, size_t size, const char *name, size_t len);

#endif /* LIBOP_IMAGE_OP_PERF_MAP_H */
