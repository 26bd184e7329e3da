/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_UNPACK_H
#define LIBPP_SYMBOLS_UNPACK_H

/*
 * Files that are compressed as a whole, as distributions install kernel modules
 * (ext4.ko.xz) and as some put a symbol table into a section of a program.
 */

#include <stddef.h>
#include <stdint.h>

/*
 * Unpack the @len bytes at @offset of the file @from, if they begin like what
 * xz, zstd or gzip writes, into a file in memory: *@to is its descriptor, which
 * is the caller's. Returns 0; -ENOENT when they are not packed; -ENOEXEC when
 * they are damaged; -EFBIG when they are too large; or -errno.
 */
int pp_unpack(int from, uint64_t offset, uint64_t len, int *to);

/* The length of @name without the suffix of a packed file, such as ".xz". */
size_t pp_unpacked_name_len(const char *name);

#endif /* LIBPP_SYMBOLS_UNPACK_H */
