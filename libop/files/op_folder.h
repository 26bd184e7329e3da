/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_FOLDER_H
#define LIBOP_FILES_OP_FOLDER_H

#include <sys/types.h>

/*
 * Make the folder @path, unless it is there, with @mode as mkdir(2) takes it.
 * Returns 0, -ENOTDIR where something else has this name, or -errno.
 */
int op_make_folder(const char *path, mode_t mode);

/*
 * Make the folders that @path is in, as far as they are missing, with @mode as
 * mkdir(2) takes it. Returns 0, -ENAMETOOLONG, or -errno.
 */
int op_make_parents(const char *path, mode_t mode);

#endif /* LIBOP_FILES_OP_FOLDER_H */
