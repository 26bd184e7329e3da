/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_ELF_SIZES_H
#define LIBPP_SYMBOLS_ELF_SIZES_H

/*
 * Sizes of the symbols in an ELF file. libbfd reads them but its public
 * interface does not give them away, so they are read here, for either word
 * size and byte order.
 */

#include <stddef.h>
#include <stdint.h>

/*
 * Read the sizes in a symbol table of the file open as @fd to a new array
 * *@out, *@nr long, that the caller frees: one number for each symbol, in the
 * order of the table, which begins with an empty symbol. The size is 0 where
 * it is not known. @type is SHT_SYMTAB or SHT_DYNSYM. Returns 0 or -errno;
 * -ENOENT when there is no such table, -ENOEXEC for what is no sound ELF file.
 */
int pp_elf_sizes_read(uint64_t **out, size_t *nr, int fd, uint32_t type);

#endif /* LIBPP_SYMBOLS_ELF_SIZES_H */
