/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_INPUT_H
#define PP_OPIMPORT_INPUT_H

/*
 * A file that another profiler wrote. It is opened once, and what is packed is
 * unpacked once, into memory; who reads it looks at what is in it.
 */

#include <stdbool.h>

struct opimport_input {
	const char *path; /* as the user gave it; borrowed */
	int fd; /* of what is in the file; -1: see err */
	int err; /* -EINVAL: it is no regular file; -ENOEXEC: it is packed and
		  * damaged; another -errno; 0: it is standard input */
	bool was_packed; /* fd is in memory */
};

/* "-" is standard input, of which nothing is read here. */
void opimport_input_open(struct opimport_input *input, const char *path);
void opimport_input_close(struct opimport_input *input);

#endif /* PP_OPIMPORT_INPUT_H */
