/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_INPUT_H
#define PP_OPIMPORT_OPIMPORT_INPUT_H

/*
 * The file of another profiler: a file, standard input or a pipe. It is opened
 * once. The bytes of a pipe are put into a file without a name, in $TMPDIR or
 * /tmp, since readers seek, and a compressed file is unpacked into memory. So
 * all formats may come in all ways. The output of "perf record -o -" may have
 * no end, and is left in its pipe.
 */

#include <stdbool.h>

#include "libop/base/op_diag.h"

struct opimport_input {
	const char *path; /* as the user gave it; borrowed */
	int fd; /* of what is in the file, at any offset; -1: see err */
	int err; /* -EINVAL: neither a file nor a pipe; -ENODATA: a pipe that is
		  * empty; -EFBIG: too large; -ENOEXEC: packed and damaged; or
		  * another -errno */
	bool was_spooled; /* err is of the file without a name */
	bool is_stream; /* a pipe of perf record, of which nothing is read yet
			 */
	bool is_ours; /* fd is not what @path names, but what was in there */
};

/* "-" is standard input. */
void opimport_input_open(struct opimport_input *input, const char *path);
void opimport_input_close(struct opimport_input *input);

/* Say in @diag that it is not read by @err, which is returned: its own or that
 * of a reader. */
int opimport_input_refuse(const struct opimport_input *input, int err,
			  struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_INPUT_H */
