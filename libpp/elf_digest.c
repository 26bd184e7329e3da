// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Section headers are changed where they lie, in a copy of their table, and
 * written behind the contents. Of either class and byte order, as the machine
 * that is profiled may not be the one that archives.
 *
 * Code with contents (the procedure linkage table) must stay at its offset.
 * Everything else that is kept goes into the gaps, in the order of the
 * headers.
 */

#include "libpp/elf_digest.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More is damage; the largest kernels have below 10^5. */
#define SECTIONS_MAX 1000000u
/* A file has four sections of linkage code at most. */
#define CODE_MAX 64
/* The name of the section that marks a digest, with its zero byte. */
#define MARK_LEN sizeof(PP_ELF_DIGEST)

struct digest {
	int from, to;
	uint64_t from_len;
	bool wide; /* 64 bits */
	bool little;
	uint8_t header[sizeof(Elf64_Ehdr)];
	uint8_t *sections; /* the headers, with room for one more */
	uint64_t nr;
	uint64_t names; /* number of the section with the sections' names */
	char *name_bytes; /* its contents, ended by a zero byte */
	uint64_t name_len;
	uint64_t end; /* of what has been written */
	uint64_t copied; /* bytes of sections */
};

/* ---- numbers ------------------------------------------------------------- */

static uint64_t get(const struct digest *d, const uint8_t *p, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value = value << 8 | p[d->little ? len - 1 - i : i];
	return value;
}

static void put(const struct digest *d, uint8_t *p, size_t len, uint64_t value)
{
	for (size_t i = 0; i < len; i++) {
		p[d->little ? i : len - 1 - i] = (uint8_t)value;
		value >>= 8;
	}
}

/* Where a member is, and how long; the classes differ in both. */
#define AT(d, p, type, member)                                                 \
	((p) + ((d)->wide ? offsetof(Elf64_##type, member)                     \
			  : offsetof(Elf32_##type, member)))
#define LEN(d, type, member)                                                   \
	((d)->wide ? sizeof(((Elf64_##type *)0)->member)                       \
		   : sizeof(((Elf32_##type *)0)->member))
#define GET(d, p, type, member)                                                \
	get(d, AT(d, p, type, member), LEN(d, type, member))
#define PUT(d, p, type, member, value)                                         \
	put(d, AT(d, p, type, member), LEN(d, type, member), value)

static size_t header_len(const struct digest *d)
{
	return d->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
}

static size_t section_len(const struct digest *d)
{
	return d->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

static uint8_t *section(const struct digest *d, uint64_t nr)
{
	return d->sections + nr * section_len(d);
}

/* ---- files --------------------------------------------------------------- */

static int read_at(const struct digest *d, uint64_t offset, void *buf,
		   uint64_t len)
{
	uint64_t done = 0;

	if (offset > d->from_len || len > d->from_len - offset)
		return -ENOEXEC;
	while (done < len) {
		ssize_t got = pread(d->from, (char *)buf + done, len - done,
				    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -ENOEXEC;
		done += (uint64_t)got;
	}
	return 0;
}

static int write_at(const struct digest *d, uint64_t offset, const void *buf,
		    uint64_t len)
{
	uint64_t done = 0;

	while (done < len) {
		ssize_t put = pwrite(d->to, (const char *)buf + done,
				     len - done, (off_t)(offset + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -ENOSPC;
		done += (uint64_t)put;
	}
	return 0;
}

/* No more than there is: sections that overlap are damage. */
static int copy_range(struct digest *d, uint64_t from, uint64_t to,
		      uint64_t len)
{
	uint8_t buf[65536];
	int err = 0;

	if (len > d->from_len - d->copied)
		return -ENOEXEC;
	d->copied += len;
	while (len && !err) {
		uint64_t part = len < sizeof(buf) ? len : sizeof(buf);

		err = read_at(d, from, buf, part);
		if (!err)
			err = write_at(d, to, buf, part);
		from += part;
		to += part;
		len -= part;
	}
	return err;
}

/* ---- reading ------------------------------------------------------------- */

static int read_header(struct digest *d)
{
	int err = read_at(d, 0, d->header, EI_NIDENT);

	if (err || memcmp(d->header, ELFMAG, SELFMAG) ||
	    (d->header[EI_CLASS] != ELFCLASS32 &&
	     d->header[EI_CLASS] != ELFCLASS64) ||
	    (d->header[EI_DATA] != ELFDATA2LSB &&
	     d->header[EI_DATA] != ELFDATA2MSB))
		return err ? err : -ENOEXEC;
	d->wide = d->header[EI_CLASS] == ELFCLASS64;
	d->little = d->header[EI_DATA] == ELFDATA2LSB;
	return read_at(d, 0, d->header, header_len(d));
}

/* Numbers of 0xff00 and more are in the first section's header. */
static int count_sections(struct digest *d)
{
	uint8_t first[sizeof(Elf64_Shdr)];
	int err;

	d->nr = GET(d, d->header, Ehdr, e_shnum);
	d->names = GET(d, d->header, Ehdr, e_shstrndx);
	if (GET(d, d->header, Ehdr, e_shentsize) != section_len(d))
		return -ENOEXEC;
	err = read_at(d, GET(d, d->header, Ehdr, e_shoff), first,
		      section_len(d));
	if (err)
		return err;
	if (!d->nr)
		d->nr = GET(d, first, Shdr, sh_size);
	if (d->names == SHN_XINDEX)
		d->names = GET(d, first, Shdr, sh_link);
	return d->nr > SECTIONS_MAX || d->names >= d->nr ? -ENOEXEC : 0;
}

static int read_sections(struct digest *d)
{
	int err = count_sections(d);

	if (err)
		return err;
	d->sections = calloc(d->nr + 1, section_len(d));
	if (!d->sections)
		return -ENOMEM;
	return read_at(d, GET(d, d->header, Ehdr, e_shoff), d->sections,
		       d->nr * section_len(d));
}

static int read_names(struct digest *d)
{
	const uint8_t *names = section(d, d->names);

	d->name_len = GET(d, names, Shdr, sh_size);
	if (GET(d, names, Shdr, sh_type) != SHT_STRTAB ||
	    d->name_len > d->from_len)
		return -ENOEXEC;
	d->name_bytes = calloc(1, d->name_len + 1 + MARK_LEN);
	if (!d->name_bytes)
		return -ENOMEM;
	return read_at(d, GET(d, names, Shdr, sh_offset), d->name_bytes,
		       d->name_len);
}

/* ---- what to keep -------------------------------------------------------- */

static bool has_contents(const struct digest *d, const uint8_t *at)
{
	uint64_t type = GET(d, at, Shdr, sh_type);

	return type != SHT_NULL && type != SHT_NOBITS;
}

static bool is_code(const struct digest *d, const uint8_t *at)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;

	return (GET(d, at, Shdr, sh_flags) & code) == code;
}

static bool is_debug(const char *name)
{
	return !strncmp(name, ".debug", 6) || !strncmp(name, ".zdebug", 7) ||
	       !strncmp(name, ".gnu_debug", 10) || !strncmp(name, ".stab", 5);
}

static bool is_linkage(const char *name)
{
	return !strncmp(name, ".plt", 4) || !strcmp(name, ".iplt");
}

static bool is_wanted(const struct digest *d, uint64_t nr, bool relocated);

/* Relocations: of what is kept, and those that name the linkage table. */
static bool are_relocations_wanted(const struct digest *d, const uint8_t *at,
				   bool relocated)
{
	uint64_t target = GET(d, at, Shdr, sh_info);

	if (GET(d, at, Shdr, sh_flags) & SHF_ALLOC)
		return true;
	/* Those of relocations are damage. */
	return !relocated && target && target < d->nr &&
	       is_wanted(d, target, true);
}

static bool is_wanted(const struct digest *d, uint64_t nr, bool relocated)
{
	const uint8_t *at = section(d, nr);
	uint64_t name = GET(d, at, Shdr, sh_name);

	if (name > d->name_len)
		return false;
	switch (GET(d, at, Shdr, sh_type)) {
	case SHT_SYMTAB:
	case SHT_STRTAB:
	case SHT_DYNSYM:
	case SHT_DYNAMIC:
	case SHT_NOTE:
	case SHT_GROUP:
	case SHT_SYMTAB_SHNDX:
	case SHT_GNU_verdef:
	case SHT_GNU_verneed:
	case SHT_GNU_versym:
		return true;
	case SHT_REL:
	case SHT_RELA:
		return are_relocations_wanted(d, at, relocated);
	default:
		return is_debug(d->name_bytes + name) ||
		       !strcmp(d->name_bytes + name, ".eh_frame_hdr") ||
		       is_linkage(d->name_bytes + name);
	}
}

/* ---- writing ------------------------------------------------------------- */

struct range {
	uint64_t start, end;
};

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Keep what has to stay at its offset. *@fixed gets its ranges, sorted. */
static int place_code(struct digest *d, const bool *wanted, struct range *fixed,
		      size_t *nr)
{
	int err = 0;

	*nr = 0;
	for (uint64_t i = 0; i < d->nr && !err; i++) {
		const uint8_t *at = section(d, i);
		uint64_t offset = GET(d, at, Shdr, sh_offset);
		uint64_t len = GET(d, at, Shdr, sh_size);

		if (!wanted[i] || !is_code(d, at) || !len)
			continue;
		if (offset < header_len(d) || *nr == CODE_MAX)
			return -ENOEXEC;
		err = copy_range(d, offset, offset, len);
		fixed[(*nr)++] = (struct range){ offset, offset + len };
		if (offset + len > d->end)
			d->end = offset + len;
	}
	qsort(fixed, *nr, sizeof(*fixed), by_start);
	return err;
}

/* The first place from @cursor on with room for @len bytes between those. */
static uint64_t next_gap(const struct range *fixed, size_t nr, uint64_t cursor,
			 uint64_t len, uint64_t align)
{
	if (!align || align > 4096 || (align & (align - 1)))
		align = 16;
	cursor = (cursor + align - 1) & -align;
	for (size_t i = 0; i < nr; i++)
		if (fixed[i].end > cursor && fixed[i].start < cursor + len)
			cursor = (fixed[i].end + align - 1) & -align;
	return cursor;
}

static int place_rest(struct digest *d, const bool *wanted,
		      const struct range *fixed, size_t nr_fixed)
{
	uint64_t cursor = header_len(d);
	int err = 0;

	for (uint64_t i = 0; i < d->nr && !err; i++) {
		uint8_t *at = section(d, i);
		uint64_t len = GET(d, at, Shdr, sh_size);

		if (!wanted[i] || is_code(d, at) || i == d->names)
			continue;
		cursor = next_gap(fixed, nr_fixed, cursor, len,
				  GET(d, at, Shdr, sh_addralign));
		err = copy_range(d, GET(d, at, Shdr, sh_offset), cursor, len);
		PUT(d, at, Shdr, sh_offset, cursor);
		cursor += len;
		if (cursor > d->end)
			d->end = cursor;
	}
	return err;
}

/* The section that marks a digest, and the names with its own. */
static int write_names(struct digest *d)
{
	uint8_t *names = section(d, d->names), *mark = section(d, d->nr);
	uint64_t len = d->name_len + MARK_LEN;
	int err;

	memcpy(d->name_bytes + d->name_len, PP_ELF_DIGEST, MARK_LEN);
	err = write_at(d, d->end, d->name_bytes, len);
	PUT(d, names, Shdr, sh_offset, d->end);
	PUT(d, names, Shdr, sh_size, len);
	PUT(d, mark, Shdr, sh_name, d->name_len);
	PUT(d, mark, Shdr, sh_type, SHT_PROGBITS);
	PUT(d, mark, Shdr, sh_addralign, 1);
	PUT(d, mark, Shdr, sh_offset, d->end + len);
	d->nr++;
	d->end += len;
	return err;
}

/* No part is loaded from a digest, so it needs no program headers. */
static int write_headers(struct digest *d)
{
	uint64_t at = (d->end + 15) & ~(uint64_t)15;
	int err;

	if (d->nr >= SHN_LORESERVE)
		PUT(d, section(d, 0), Shdr, sh_size, d->nr);
	PUT(d, d->header, Ehdr, e_shnum, d->nr < SHN_LORESERVE ? d->nr : 0);
	PUT(d, d->header, Ehdr, e_shoff, at);
	PUT(d, d->header, Ehdr, e_phoff, 0);
	PUT(d, d->header, Ehdr, e_phnum, 0);
	err = write_at(d, at, d->sections, d->nr * section_len(d));
	return err ? err : write_at(d, 0, d->header, header_len(d));
}

static int write_all(struct digest *d, bool *wanted, struct range *fixed)
{
	size_t nr_fixed;
	int err;

	for (uint64_t i = 1; i < d->nr; i++)
		wanted[i] = has_contents(d, section(d, i)) &&
			    is_wanted(d, i, false);
	for (uint64_t i = 1; i < d->nr; i++)
		if (!wanted[i] && has_contents(d, section(d, i)))
			PUT(d, section(d, i), Shdr, sh_type, SHT_NOBITS);
	d->end = header_len(d);
	err = place_code(d, wanted, fixed, &nr_fixed);
	if (!err)
		err = place_rest(d, wanted, fixed, nr_fixed);
	if (!err)
		err = write_names(d);
	return err ? err : write_headers(d);
}

static int make(struct digest *d)
{
	struct range fixed[CODE_MAX];
	bool *wanted;
	int err = read_header(d);

	if (!err)
		err = read_sections(d);
	if (!err)
		err = read_names(d);
	if (err)
		return err;
	wanted = calloc(d->nr + 1, sizeof(*wanted));
	err = wanted ? write_all(d, wanted, fixed) : -ENOMEM;
	free(wanted);
	return err;
}

int pp_elf_digest(int from, int to)
{
	struct digest d = { .from = from, .to = to };
	struct stat st;
	int err;

	if (fstat(from, &st))
		return -errno;
	d.from_len = (uint64_t)st.st_size;
	err = make(&d);
	free(d.sections);
	free(d.name_bytes);
	return err;
}
