/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_ELF_FILE_H
#define LIBPP_SYMBOLS_ELF_FILE_H

/*
 * ELF files of either class and byte order. They are read rather than mapped,
 * since a mapped file may shrink under its reader, and nothing in them is
 * trusted: what is asked for must lie within the file.
 */

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/op_cursor.h"

struct pp_elf {
	int fd; /* borrowed */
	uint64_t len; /* bytes */
	bool wide; /* 64 bits */
	bool big_endian;
};

/*
 * Begin with the file open as @fd; @header gets its header. All that read
 * return 0 or -errno; -ENOEXEC for what is no sound ELF file.
 */
int pp_elf_init(struct pp_elf *elf, int fd, uint8_t header[sizeof(Elf64_Ehdr)]);

/* Whether there are @len bytes at @offset. */
bool pp_elf_has(const struct pp_elf *elf, uint64_t offset, uint64_t len);

int pp_elf_read(const struct pp_elf *elf, uint64_t offset, void *buf,
		uint64_t len);

static inline uint64_t pp_elf_number(const struct pp_elf *elf,
				     const uint8_t *at, size_t size)
{
	struct op_cursor c = op_cursor(at, size);

	c.big_endian = elf->big_endian;
	return op_cursor_number(&c, size);
}

/* The length of a structure, where a member of it is, and how long: the
 * classes differ in all. */
#define PP_ELF_LEN(elf, type)                                                  \
	((elf)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))
#define PP_ELF_AT(elf, p, type, member)                                        \
	((p) + ((elf)->wide ? offsetof(Elf64_##type, member)                   \
			    : offsetof(Elf32_##type, member)))
#define PP_ELF_SIZE(elf, type, member)                                         \
	((elf)->wide ? sizeof(((Elf64_##type *)0)->member)                     \
		     : sizeof(((Elf32_##type *)0)->member))

/* The member of the structure at @p. */
#define PP_ELF_GET(elf, p, type, member)                                       \
	pp_elf_number(elf, PP_ELF_AT(elf, p, type, member),                    \
		      PP_ELF_SIZE(elf, type, member))

#endif /* LIBPP_SYMBOLS_ELF_FILE_H */
