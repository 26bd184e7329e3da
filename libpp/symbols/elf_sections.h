/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_ELF_SECTIONS_H
#define LIBPP_SYMBOLS_ELF_SECTIONS_H

/* The sections of an ELF file. */

#include <stdint.h>

#include "libpp/symbols/elf_file.h"

struct pp_elf_sections {
	struct pp_elf file;
	uint64_t at; /* file offset of their headers */
	uint64_t nr;
	uint64_t step; /* bytes per header */
};

struct pp_elf_section {
	uint64_t type;
	uint64_t flags;
	uint64_t address;
	uint64_t offset; /* in the file */
	uint64_t size; /* bytes */
	uint64_t link; /* number of another */
	uint64_t entry_size;
};

/* Begin with the file open as @fd, which is borrowed. Returns 0 or -errno;
 * -ENOEXEC for what is no sound ELF file, as does the next. */
int pp_elf_sections_init(struct pp_elf_sections *sections, int fd);

/* Number @i of sections->nr. What it tells may be anything. */
int pp_elf_section_read(const struct pp_elf_sections *sections, uint64_t i,
			struct pp_elf_section *section);

#endif /* LIBPP_SYMBOLS_ELF_SECTIONS_H */
