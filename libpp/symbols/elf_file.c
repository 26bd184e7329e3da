// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/symbols/elf_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "libop/op_file.h"

bool pp_elf_has(const struct pp_elf *elf, uint64_t offset, uint64_t len)
{
	return offset <= elf->len && len <= elf->len - offset;
}

int pp_elf_read(const struct pp_elf *elf, uint64_t offset, void *buf,
		uint64_t len)
{
	int err;

	if (!pp_elf_has(elf, offset, len))
		return -ENOEXEC;
	err = op_file_read_at(elf->fd, buf, len, offset);
	return err == -EBADMSG ? -ENOEXEC : err;
}

static bool is_known(const uint8_t *ident)
{
	return !memcmp(ident, ELFMAG, SELFMAG) &&
	       (ident[EI_CLASS] == ELFCLASS32 ||
		ident[EI_CLASS] == ELFCLASS64) &&
	       (ident[EI_DATA] == ELFDATA2LSB || ident[EI_DATA] == ELFDATA2MSB);
}

int pp_elf_init(struct pp_elf *elf, int fd, uint8_t header[sizeof(Elf64_Ehdr)])
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	*elf = (struct pp_elf){ .fd = fd, .len = (uint64_t)st.st_size };
	err = pp_elf_read(elf, 0, header, EI_NIDENT);
	if (err)
		return err;
	if (!is_known(header))
		return -ENOEXEC;
	elf->wide = header[EI_CLASS] == ELFCLASS64;
	elf->big_endian = header[EI_DATA] == ELFDATA2MSB;
	return pp_elf_read(elf, 0, header, PP_ELF_LEN(elf, Ehdr));
}
