/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_SOURCE_PATH_H
#define LIBPP_SYMBOLS_SOURCE_PATH_H

/*
 * Paths of source files as debug information has them. They may be of another
 * machine, so they are only looked at, never resolved.
 */

/*
 * @dir/@sub/@name, less what comes before a part that is absolute, without
 * "//", "/./" and "/../", so that one file has one name in all units. @dir and
 * @sub may be NULL. Returns a string to free; NULL when memory is short.
 */
char *pp_source_path_join(const char *dir, const char *sub, const char *name);

#endif /* LIBPP_SYMBOLS_SOURCE_PATH_H */
