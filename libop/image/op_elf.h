/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_IMAGE_OP_ELF_H
#define LIBOP_IMAGE_OP_ELF_H

/*
 * Reads ELF files of either class and byte order, from a file or from memory
 * (System V ABI, chapters 4 and 5). A file is read rather than mapped, since a
 * mapped file may shrink under its reader. Nothing in it is trusted: what is
 * asked for must lie within the file.
 *
 * Functions that return an int return 0, -errno, or -ENOEXEC for what is no
 * sound ELF file. The structures below hold numbers as the file states them,
 * so each may be anything until it is checked.
 */

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_cursor.h"

/* A section of this name marks the digest of a binary: its code has places in
 * the file, but no contents (libpp/symbols/elf_digest.h). It is empty, or has
 * the fingerprint of the binary, the lowest byte first. */
#define OP_ELF_DIGEST ".oprofile.digest"
#define OP_ELF_DIGEST_LEN 8 /* bytes */

struct op_elf {
	int fd; /* borrowed */
	const uint8_t *bytes; /* borrowed; NULL: read fd */
	uint64_t len; /* bytes */
	bool wide; /* 64 bits */
	bool big_endian;
	uint8_t header[sizeof(Elf64_Ehdr)]; /* as in the file */
};

/* A program header. Offset and size are those in the file, in bytes. */
struct op_elf_segment {
	uint64_t type;
	uint64_t flags;
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

/* A section header. */
struct op_elf_section {
	uint64_t name; /* offset in the section of names */
	uint64_t type;
	uint64_t flags;
	uint64_t address;
	uint64_t offset; /* in the file */
	uint64_t size; /* bytes */
	uint64_t link; /* number of another section */
	uint64_t entry_size; /* bytes */
};

/* Begin with the regular file @fd, or with @len bytes at @bytes. Both must
 * stay until the last call with @elf; there is nothing to release. */
int op_elf_init(struct op_elf *elf, int fd);
int op_elf_init_memory(struct op_elf *elf, const void *bytes, uint64_t len);

/* Whether there are @len bytes at @offset. */
bool op_elf_has(const struct op_elf *elf, uint64_t offset, uint64_t len);

int op_elf_read(const struct op_elf *elf, uint64_t offset, void *buf,
		uint64_t len);

/* The same, to memory that the caller frees. *@out is set on success only. */
int op_elf_load(const struct op_elf *elf, uint64_t offset, uint64_t len,
		uint8_t **out);

/* Copy the string at @offset, or its first @size - 1 bytes. Where the file
 * ends earlier the string ends there, and so it is "" behind the end. */
void op_elf_text(const struct op_elf *elf, uint64_t offset, char *buf,
		 size_t size);

/* The number of program headers, all of which lie within the file. */
int op_elf_count_segments(const struct op_elf *elf, unsigned int *nr);
int op_elf_segment(const struct op_elf *elf, unsigned int i,
		   struct op_elf_segment *segment);

/* The number of section headers, all of which lie within the file, and the
 * number of the section that has the names of all, which may be no section. */
int op_elf_count_sections(const struct op_elf *elf, uint64_t *nr,
			  uint64_t *names);
int op_elf_section(const struct op_elf *elf, uint64_t i,
		   struct op_elf_section *section);

static inline uint64_t op_elf_number(const struct op_elf *elf,
				     const uint8_t *at, size_t size)
{
	struct op_cursor c = op_cursor(at, size);

	c.big_endian = elf->big_endian;
	return op_cursor_number(&c, size);
}

/* The length of a structure, where a member of it is, and how long: the
 * classes differ in all. */
#define OP_ELF_LEN(elf, type)                                                  \
	((elf)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))
#define OP_ELF_AT(elf, p, type, member)                                        \
	((p) + ((elf)->wide ? offsetof(Elf64_##type, member)                   \
			    : offsetof(Elf32_##type, member)))
#define OP_ELF_SIZE(elf, type, member)                                         \
	((elf)->wide ? sizeof(((Elf64_##type *)0)->member)                     \
		     : sizeof(((Elf32_##type *)0)->member))

/* The member of the structure at @p, in the file's class and byte order. */
#define OP_ELF_GET(elf, p, type, member)                                       \
	op_elf_number(elf, OP_ELF_AT(elf, p, type, member),                    \
		      OP_ELF_SIZE(elf, type, member))

#endif /* LIBOP_IMAGE_OP_ELF_H */
