/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_REMOVE_H
#define LIBOP_FILES_OP_REMOVE_H

/*
 * Removing trees of folders, whatever their depth. No symbolic link is
 * followed.
 */

#include <stdbool.h>

/*
 * Remove the entries of the folder @folder that @is_wanted, which is not asked
 * for "." and "..", with all that is in them. A trash folder is made for that
 * in the folder @parent, of the same file system. Returns 0 or -errno; -ENOENT
 * without @folder or @parent.
 */
int op_remove_entries(const char *folder, const char *parent,
		      bool (*is_wanted)(const char *name));

/* Remove the folder @path and all that is in it. Returns 0 or -errno. */
int op_remove_tree(const char *path);

#endif /* LIBOP_FILES_OP_REMOVE_H */
