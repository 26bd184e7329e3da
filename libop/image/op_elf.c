// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every read goes through op_elf_read(), which alone knows whether the bytes
 * come from a file or from memory, and which refuses what is not there. The
 * length of a file is that at the start; of a file that shrinks later a read
 * fails. Headers of each kind must have the size that the class has, as the
 * kernel demands of programs, and must all be there, so that a number of
 * headers is never larger than the file allows.
 */

#include "libop/image/op_elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libop/files/op_file.h"

/* More sections than this is damage; the largest kernels have below 10^5. */
#define SECTIONS_MAX 1000000u

bool op_elf_has(const struct op_elf *elf, uint64_t offset, uint64_t len)
{
	return offset <= elf->len && len <= elf->len - offset;
}

int op_elf_read(const struct op_elf *elf, uint64_t offset, void *buf,
		uint64_t len)
{
	int err;

	if (!op_elf_has(elf, offset, len))
		return -ENOEXEC;
	if (elf->bytes) {
		memcpy(buf, elf->bytes + offset, len);
		return 0;
	}
	err = op_file_read_at(elf->fd, buf, len, offset);
	return err == -EBADMSG ? -ENOEXEC : err;
}

int op_elf_load(const struct op_elf *elf, uint64_t offset, uint64_t len,
		uint8_t **out)
{
	uint8_t *bytes;
	int err;

	if (!op_elf_has(elf, offset, len))
		return -ENOEXEC;
	bytes = malloc(len + 1);
	err = bytes ? op_elf_read(elf, offset, bytes, len) : -ENOMEM;
	if (err)
		free(bytes);
	else
		*out = bytes;
	return err;
}

void op_elf_text(const struct op_elf *elf, uint64_t offset, char *buf,
		 size_t size)
{
	uint64_t left = offset < elf->len ? elf->len - offset : 0;
	size_t len = left < size - 1 ? left : size - 1;

	if (op_elf_read(elf, offset, buf, len))
		len = 0;
	buf[len] = '\0';
}

/* ---- the header ---------------------------------------------------------- */

static bool is_elf_ident(const uint8_t *ident)
{
	return !memcmp(ident, ELFMAG, SELFMAG) &&
	       (ident[EI_CLASS] == ELFCLASS32 ||
		ident[EI_CLASS] == ELFCLASS64) &&
	       (ident[EI_DATA] == ELFDATA2LSB || ident[EI_DATA] == ELFDATA2MSB);
}

static int read_elf_header(struct op_elf *elf)
{
	int err = op_elf_read(elf, 0, elf->header, EI_NIDENT);

	if (err)
		return err;
	if (!is_elf_ident(elf->header))
		return -ENOEXEC;
	elf->wide = elf->header[EI_CLASS] == ELFCLASS64;
	elf->big_endian = elf->header[EI_DATA] == ELFDATA2MSB;
	return op_elf_read(elf, 0, elf->header, OP_ELF_LEN(elf, Ehdr));
}

int op_elf_init(struct op_elf *elf, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	*elf = (struct op_elf){ .fd = fd, .len = (uint64_t)st.st_size };
	return read_elf_header(elf);
}

int op_elf_init_memory(struct op_elf *elf, const void *bytes, uint64_t len)
{
	*elf = (struct op_elf){ .fd = -1, .bytes = bytes, .len = len };
	return len ? read_elf_header(elf) : -ENOEXEC;
}

#define HEADER(elf, member) OP_ELF_GET(elf, (elf)->header, Ehdr, member)

/* ---- segments ------------------------------------------------------------ */

/* Whether @nr headers of @step bytes each, the size @claimed, are in the file.
 */
static int check_headers(const struct op_elf *elf, uint64_t at, uint64_t nr,
			 uint64_t claimed, size_t step)
{
	return claimed == step && op_elf_has(elf, at, nr * step) ? 0 : -ENOEXEC;
}

int op_elf_count_segments(const struct op_elf *elf, unsigned int *nr)
{
	*nr = (unsigned int)HEADER(elf, e_phnum);
	return *nr ? check_headers(elf, HEADER(elf, e_phoff), *nr,
				   HEADER(elf, e_phentsize),
				   OP_ELF_LEN(elf, Phdr))
		   : 0;
}

int op_elf_segment(const struct op_elf *elf, unsigned int i,
		   struct op_elf_segment *segment)
{
	size_t step = OP_ELF_LEN(elf, Phdr);
	uint8_t raw[sizeof(Elf64_Phdr)];
	int err = op_elf_read(elf, HEADER(elf, e_phoff) + i * step, raw, step);

	if (err)
		return err;
	*segment = (struct op_elf_segment){
		.type = OP_ELF_GET(elf, raw, Phdr, p_type),
		.flags = OP_ELF_GET(elf, raw, Phdr, p_flags),
		.offset = OP_ELF_GET(elf, raw, Phdr, p_offset),
		.address = OP_ELF_GET(elf, raw, Phdr, p_vaddr),
		.size = OP_ELF_GET(elf, raw, Phdr, p_filesz),
	};
	return 0;
}

/* ---- sections ------------------------------------------------------------ */

int op_elf_section(const struct op_elf *elf, uint64_t i,
		   struct op_elf_section *section)
{
	size_t step = OP_ELF_LEN(elf, Shdr);
	uint8_t raw[sizeof(Elf64_Shdr)];
	int err = op_elf_read(elf, HEADER(elf, e_shoff) + i * step, raw, step);

	if (err)
		return err;
	*section = (struct op_elf_section){
		.name = OP_ELF_GET(elf, raw, Shdr, sh_name),
		.type = OP_ELF_GET(elf, raw, Shdr, sh_type),
		.flags = OP_ELF_GET(elf, raw, Shdr, sh_flags),
		.address = OP_ELF_GET(elf, raw, Shdr, sh_addr),
		.offset = OP_ELF_GET(elf, raw, Shdr, sh_offset),
		.size = OP_ELF_GET(elf, raw, Shdr, sh_size),
		.link = OP_ELF_GET(elf, raw, Shdr, sh_link),
		.entry_size = OP_ELF_GET(elf, raw, Shdr, sh_entsize),
	};
	return 0;
}

/* A number of 0xff00 or more is in the first header: in its size the number of
 * sections, in its link that of the section of names. */
int op_elf_count_sections(const struct op_elf *elf, uint64_t *nr,
			  uint64_t *names)
{
	struct op_elf_section first;
	int err;

	*nr = HEADER(elf, e_shnum);
	*names = HEADER(elf, e_shstrndx);
	if (!HEADER(elf, e_shoff)) {
		*nr = 0;
		return 0;
	}
	err = op_elf_section(elf, 0, &first);
	if (err)
		return err;
	if (!*nr)
		*nr = first.size;
	if (*names == SHN_XINDEX)
		*names = first.link;
	if (*nr > SECTIONS_MAX)
		return -ENOEXEC;
	return check_headers(elf, HEADER(elf, e_shoff), *nr,
			     HEADER(elf, e_shentsize), OP_ELF_LEN(elf, Shdr));
}
