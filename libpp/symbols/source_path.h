/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_SOURCE_PATH_H
#define LIBPP_SYMBOLS_SOURCE_PATH_H

/*
 * Paths of source files as debug information has them. They may be of another
 * machine, so they are only looked at, never resolved.
 */

#include <stdbool.h>

/* Whether @path is absolute as Windows has it, "C:\src". */
bool pp_source_path_has_drive(const char *path);

/*
 * @dir/@sub/@name, less what comes before a part that is absolute, without
 * "//", "/./" and "/../", so that one file has one name in all units. @dir and
 * @sub may be NULL. Where a drive of Windows begins, a backslash separates,
 * too, and the path has slashes: "C:/src/x.c". Returns a string to free; NULL
 * when memory is short.
 */
char *pp_source_path_join(const char *dir, const char *sub, const char *name);

#endif /* LIBPP_SYMBOLS_SOURCE_PATH_H */
