// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nothing in the file is trusted: each table must lie within it, and it is
 * read rather than mapped, since a mapped file may shrink under its reader.
 */

#include "libpp/elf_sizes.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More sections than this is damage; the largest kernels have below 10^5. */
#define SECTIONS_MAX 1000000u

struct elf {
	int fd;
	uint64_t file_len;
	bool wide; /* 64 bits */
	bool swap; /* of the other byte order */
	uint64_t sections; /* file offset of the section headers */
	uint64_t nr_sections;
	uint64_t section_size; /* bytes per header */
};

struct section {
	uint64_t type;
	uint64_t offset;
	uint64_t size;
	uint64_t entry_size;
};

struct sizes {
	struct pp_elf_size *array;
	size_t nr;
	size_t room;
};

static uint64_t get(const struct elf *elf, const unsigned char *p, size_t len)
{
	uint64_t value = 0;
	size_t i;
	bool little = (__BYTE_ORDER == __LITTLE_ENDIAN) != elf->swap;

	for (i = 0; i < len; i++)
		value = value << 8 | p[little ? len - 1 - i : i];
	return value;
}

/* The member of a structure that is laid out differently in both classes. */
#define GET(elf, p, type, member)                                              \
	((elf)->wide ? get(elf, (p) + offsetof(Elf64_##type, member),          \
			   sizeof(((Elf64_##type *)0)->member))                \
		     : get(elf, (p) + offsetof(Elf32_##type, member),          \
			   sizeof(((Elf32_##type *)0)->member)))

static size_t size_of_sym(const struct elf *elf)
{
	return elf->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

static size_t size_of_shdr(const struct elf *elf)
{
	return elf->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

static bool in_file(const struct elf *elf, uint64_t offset, uint64_t len)
{
	return offset <= elf->file_len && len <= elf->file_len - offset;
}

static int read_at(const struct elf *elf, uint64_t offset, void *buf,
		   size_t len)
{
	size_t done = 0;

	if (!in_file(elf, offset, len))
		return -ENOEXEC;
	while (done < len) {
		ssize_t n = pread(elf->fd, (char *)buf + done, len - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOEXEC;
		done += (size_t)n;
	}
	return 0;
}

static int read_section(const struct elf *elf, uint64_t at,
			struct section *section)
{
	unsigned char raw[sizeof(Elf64_Shdr)];
	int ret;

	ret = read_at(elf, elf->sections + at * elf->section_size, raw,
		      size_of_shdr(elf));
	if (ret)
		return ret;
	section->type = GET(elf, raw, Shdr, sh_type);
	section->offset = GET(elf, raw, Shdr, sh_offset);
	section->size = GET(elf, raw, Shdr, sh_size);
	section->entry_size = GET(elf, raw, Shdr, sh_entsize);
	return 0;
}

/* More than 0xff00 sections: their number is in the first header's size. */
static int count_sections(struct elf *elf)
{
	struct section first;
	int ret;

	if (elf->section_size < size_of_shdr(elf) ||
	    elf->sections > elf->file_len)
		return -ENOEXEC;
	if (elf->nr_sections)
		return 0;
	ret = read_section(elf, 0, &first);
	if (ret)
		return ret;
	elf->nr_sections = first.size;
	return elf->nr_sections > SECTIONS_MAX ? -ENOEXEC : 0;
}

static int read_header(struct elf *elf)
{
	unsigned char raw[sizeof(Elf64_Ehdr)];
	size_t len;

	if (read_at(elf, 0, raw, EI_NIDENT) || memcmp(raw, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (raw[EI_CLASS] != ELFCLASS32 && raw[EI_CLASS] != ELFCLASS64)
		return -ENOEXEC;
	elf->wide = raw[EI_CLASS] == ELFCLASS64;
	elf->swap = (raw[EI_DATA] == ELFDATA2LSB) !=
		    (__BYTE_ORDER == __LITTLE_ENDIAN);
	len = elf->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	if (read_at(elf, 0, raw, len))
		return -ENOEXEC;
	elf->sections = GET(elf, raw, Ehdr, e_shoff);
	elf->nr_sections = GET(elf, raw, Ehdr, e_shnum);
	elf->section_size = GET(elf, raw, Ehdr, e_shentsize);
	return count_sections(elf);
}

static bool counts(const struct elf *elf, const unsigned char *sym)
{
	/* The type has the same place in both classes' st_info. */
	unsigned int type = GET(elf, sym, Sym, st_info) & 0xf;

	return GET(elf, sym, Sym, st_shndx) != SHN_UNDEF &&
	       GET(elf, sym, Sym, st_size) &&
	       (type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC ||
		type == STT_GNU_IFUNC);
}

static int add_table(const struct elf *elf, const struct section *section,
		     struct sizes *sizes)
{
	size_t step = size_of_sym(elf), nr, i;
	struct pp_elf_size *grown;
	unsigned char *raw;
	int ret;

	if (section->entry_size != step ||
	    !in_file(elf, section->offset, section->size))
		return -ENOEXEC;
	nr = section->size / step;
	raw = malloc(nr * step + 1);
	grown = realloc(sizes->array, (sizes->nr + nr + 1) * sizeof(*grown));
	if (grown)
		sizes->array = grown;
	ret = raw && grown ? read_at(elf, section->offset, raw, nr * step)
			   : -ENOMEM;
	for (i = 0; !ret && i < nr; i++) {
		const unsigned char *sym = raw + i * step;

		if (counts(elf, sym))
			sizes->array[sizes->nr++] = (struct pp_elf_size){
				.value = GET(elf, sym, Sym, st_value),
				.size = GET(elf, sym, Sym, st_size),
			};
	}
	free(raw);
	return ret;
}

/* A file has at most one table of each type; more would only be bait. */
static int add_table_of(const struct elf *elf, uint64_t type,
			struct sizes *sizes)
{
	struct section section;
	uint64_t i;
	int ret;

	for (i = 0; i < elf->nr_sections; i++) {
		ret = read_section(elf, i, &section);
		if (ret)
			return ret;
		if (section.type == type)
			return add_table(elf, &section, sizes);
	}
	return 0;
}

/* By value, the largest first. */
static int by_value(const void *pa, const void *pb)
{
	const struct pp_elf_size *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (a->size < b->size) - (a->size > b->size);
}

static void sort_sizes(struct sizes *sizes)
{
	size_t i, kept = 0;

	if (!sizes->nr)
		return;
	qsort(sizes->array, sizes->nr, sizeof(*sizes->array), by_value);
	for (i = 0; i < sizes->nr; i++)
		if (!kept ||
		    sizes->array[kept - 1].value != sizes->array[i].value)
			sizes->array[kept++] = sizes->array[i];
	sizes->nr = kept;
}

static int read_elf(struct elf *elf, struct sizes *sizes)
{
	struct stat st;
	int ret;

	if (fstat(elf->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	elf->file_len = (uint64_t)st.st_size;
	ret = read_header(elf);
	if (!ret)
		ret = add_table_of(elf, SHT_SYMTAB, sizes);
	return ret ? ret : add_table_of(elf, SHT_DYNSYM, sizes);
}

int pp_elf_sizes_read(struct pp_elf_size **out, size_t *nr, int fd)
{
	struct elf elf = { .fd = fd };
	struct sizes sizes = { 0 };
	int ret = read_elf(&elf, &sizes);

	if (ret) {
		free(sizes.array);
		return ret;
	}
	sort_sizes(&sizes);
	*out = sizes.array;
	*nr = sizes.nr;
	return 0;
}

uint64_t pp_elf_size_find(const struct pp_elf_size *sizes, size_t nr,
			  uint64_t value)
{
	struct pp_elf_size wanted = { .value = value, .size = UINT64_MAX };
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_value(&sizes[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nr && sizes[low].value == value ? sizes[low].size : 0;
}
