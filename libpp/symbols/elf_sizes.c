// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/symbols/elf_sizes.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/image/op_elf.h"

static uint64_t size_of_symbol(const struct op_elf *elf, const uint8_t *sym)
{
	/* The type has the same place in both classes' st_info. */
	unsigned int type = OP_ELF_GET(elf, sym, Sym, st_info) & 0xf;

	if (OP_ELF_GET(elf, sym, Sym, st_shndx) == SHN_UNDEF ||
	    (type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC &&
	     type != STT_GNU_IFUNC))
		return 0;
	return OP_ELF_GET(elf, sym, Sym, st_size);
}

static int read_sizes_of_table(const struct op_elf *elf,
			       const struct op_elf_section *section,
			       uint64_t **out, size_t *nr)
{
	size_t step = OP_ELF_LEN(elf, Sym);
	uint8_t *raw;
	int err;

	if (section->entry_size != step)
		return -ENOEXEC;
	err = op_elf_load(elf, section->offset, section->size, &raw);
	if (err)
		return err;
	*nr = section->size / step;
	*out = calloc(*nr + 1, sizeof(**out));
	for (size_t i = 0; *out && i < *nr; i++)
		(*out)[i] = size_of_symbol(elf, raw + i * step);
	free(raw);
	return *out ? 0 : -ENOMEM;
}

/* Only the first table of a type is read: a sound file has no second one, and a
 * damaged one might have thousands. */
int pp_elf_sizes_read(uint64_t **out, size_t *nr, int fd, uint32_t type)
{
	struct op_elf_section section;
	uint64_t nr_sections, names;
	struct op_elf elf;
	int err = op_elf_init(&elf, fd)
			  ?: op_elf_count_sections(&elf, &nr_sections, &names);

	for (uint64_t i = 0; !err && i < nr_sections; i++) {
		err = op_elf_section(&elf, i, &section);
		if (!err && section.type == type)
			return read_sizes_of_table(&elf, &section, out, nr);
	}
	return err ? err : -ENOENT;
}
