/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_ELF_SIZES_H
#define LIBPP_SYMBOLS_ELF_SIZES_H

/*
 * Sizes of the symbols in an ELF file. libbfd reads them but its public
 * interface does not give them away, so they are read here, from the symbol
 * tables .symtab and .dynsym, for either word size and byte order.
 */

#include <stddef.h>
#include <stdint.h>

struct pp_elf_size {
	uint64_t value; /* the symbol's address */
	uint64_t size; /* bytes, above 0; the largest of those at @value */
};

/*
 * Read the sizes in the file open as @fd to a new array *@out, ascending by
 * value,
 * *@nr long, that the caller frees. Returns 0 or -errno; -ENOEXEC for what is
 * no sound ELF file.
 */
int pp_elf_sizes_read(struct pp_elf_size **out, size_t *nr, int fd);

/* The size at @value, 0 when there is none. */
uint64_t pp_elf_size_find(const struct pp_elf_size *sizes, size_t nr,
			  uint64_t value);

#endif /* LIBPP_SYMBOLS_ELF_SIZES_H */
