/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_COPY_H
#define LIBOP_FILES_OP_COPY_H

/* Copies of whole files, as binaries are kept in a session. */

#include <sys/stat.h>

/*
 * Copy the file open as @from, of which @st is known, to @path, which is not
 * there until all of it is. The copy has its times, nobody may write to it, and
 * who may not read the original may not read it. Returns 0 or -errno.
 */
int op_copy_file(int from, const struct stat *st, const char *path);

#endif /* LIBOP_FILES_OP_COPY_H */
