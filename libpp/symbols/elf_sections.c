// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/symbols/elf_sections.h"

#include <errno.h>

/* More sections than this is damage; the largest kernels have below 10^5. */
#define SECTIONS_MAX 1000000u

#define GET(s, p, type, member) PP_ELF_GET(&(s)->file, p, type, member)

int pp_elf_section_read(const struct pp_elf_sections *s, uint64_t i,
			struct pp_elf_section *section)
{
	uint8_t raw[sizeof(Elf64_Shdr)];
	int err = pp_elf_read(&s->file, s->at + i * s->step, raw,
			      PP_ELF_LEN(&s->file, Shdr));

	if (err)
		return err;
	section->type = GET(s, raw, Shdr, sh_type);
	section->flags = GET(s, raw, Shdr, sh_flags);
	section->address = GET(s, raw, Shdr, sh_addr);
	section->offset = GET(s, raw, Shdr, sh_offset);
	section->size = GET(s, raw, Shdr, sh_size);
	section->link = GET(s, raw, Shdr, sh_link);
	section->entry_size = GET(s, raw, Shdr, sh_entsize);
	return 0;
}

/* More than 0xff00 sections: their number is in the first header's size. */
static int count_sections(struct pp_elf_sections *s)
{
	struct pp_elf_section first;
	int err;

	if (s->step < PP_ELF_LEN(&s->file, Shdr) || s->at > s->file.len)
		return -ENOEXEC;
	if (s->nr)
		return 0;
	err = pp_elf_section_read(s, 0, &first);
	if (err)
		return err;
	s->nr = first.size;
	return s->nr > SECTIONS_MAX ? -ENOEXEC : 0;
}

int pp_elf_sections_init(struct pp_elf_sections *s, int fd)
{
	uint8_t raw[sizeof(Elf64_Ehdr)];
	int err = pp_elf_init(&s->file, fd, raw);

	if (err)
		return err;
	s->at = GET(s, raw, Ehdr, e_shoff);
	s->nr = GET(s, raw, Ehdr, e_shnum);
	s->step = GET(s, raw, Ehdr, e_shentsize);
	return count_sections(s);
}
