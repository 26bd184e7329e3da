// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the digest of an ELF file: all that reports need of it but its code.
 * Section headers are changed where they lie, in a copy of their table, and
 * written behind the contents. The file may be of either class and byte order,
 * as the machine that is profiled may not be the one that archives.
 *
 * Code with contents (the procedure linkage table) must stay at its offset,
 * because samples in it are counted there. Everything else that is kept goes
 * into the gaps, in the order of the headers. What is not kept stays in the
 * table as a section without contents, so that addresses can still be looked
 * up in it. Sizes and offsets come from the file and are not believed: no more
 * is copied than the file is long, so that a small file cannot fill a disk.
 */

#include "libpp/symbols/elf_digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/image/op_elf.h"
#include "libop/files/op_file.h"
#include "libop/image/op_fingerprint.h"
#include "libop/base/op_search.h"

/* A file has four sections of linkage code at most. */
#define CODE_MAX 64
/* The name of the section that marks a digest, with its zero byte. */
#define MARK_LEN sizeof(PP_ELF_DIGEST)

struct digest {
	struct op_elf from;
	uint64_t fingerprint; /* of the binary; 0: not known */
	int to;
	uint8_t *sections; /* the headers, with room for one more */
	uint64_t nr;
	uint64_t names; /* number of the section with the sections' names */
	char *name_bytes; /* its contents, ended by a zero byte */
	uint64_t name_len;
	uint64_t end; /* of what has been written */
	uint64_t copied; /* bytes of sections */
	bool has_symbols; /* a table that is not the dynamic one */
	bool has_starts; /* .eh_frame_hdr, where functions begin */
	bool is_go;
	bool has_go_table;
};

/* ---- numbers ------------------------------------------------------------- */

static void put_elf_number(const struct digest *d, uint8_t *p, size_t len,
			   uint64_t value)
{
	for (size_t i = 0; i < len; i++) {
		p[d->from.big_endian ? len - 1 - i : i] = (uint8_t)value;
		value >>= 8;
	}
}

#define GET(d, p, type, member) OP_ELF_GET(&(d)->from, p, type, member)
#define PUT(d, p, type, member, value)                                         \
	put_elf_number(d, OP_ELF_AT(&(d)->from, p, type, member),              \
		       OP_ELF_SIZE(&(d)->from, type, member), value)

static size_t section_len(const struct digest *d)
{
	return OP_ELF_LEN(&d->from, Shdr);
}

static uint8_t *section(const struct digest *d, uint64_t nr)
{
	return d->sections + nr * section_len(d);
}

/* ---- files --------------------------------------------------------------- */

/* No more than there is: sections that overlap are damage. */
static int copy_range(struct digest *d, uint64_t from, uint64_t to,
		      uint64_t len)
{
	uint8_t buf[65536];
	int err = 0;

	if (len > d->from.len - d->copied)
		return -ENOEXEC;
	d->copied += len;
	while (len && !err) {
		uint64_t part = len < sizeof(buf) ? len : sizeof(buf);

		err = op_elf_read(&d->from, from, buf, part);
		if (!err)
			err = op_file_write_at(d->to, buf, part, to);
		from += part;
		to += part;
		len -= part;
	}
	return err;
}

/* ---- reading ------------------------------------------------------------- */

static int read_section_headers(struct digest *d)
{
	int err = op_elf_count_sections(&d->from, &d->nr, &d->names);

	if (err || d->names >= d->nr)
		return err ? err : -ENOEXEC;
	d->sections = calloc(d->nr + 1, section_len(d));
	if (!d->sections)
		return -ENOMEM;
	return op_elf_read(&d->from, GET(d, d->from.header, Ehdr, e_shoff),
			   d->sections, d->nr * section_len(d));
}

static int read_names(struct digest *d)
{
	const uint8_t *names = section(d, d->names);

	d->name_len = GET(d, names, Shdr, sh_size);
	if (GET(d, names, Shdr, sh_type) != SHT_STRTAB ||
	    d->name_len > d->from.len)
		return -ENOEXEC;
	d->name_bytes = calloc(1, d->name_len + 1 + MARK_LEN);
	if (!d->name_bytes)
		return -ENOMEM;
	return op_elf_read(&d->from, GET(d, names, Shdr, sh_offset),
			   d->name_bytes, d->name_len);
}

/* ---- what to keep -------------------------------------------------------- */

static bool has_contents(const struct digest *d, const uint8_t *at)
{
	uint64_t type = GET(d, at, Shdr, sh_type);

	return type != SHT_NULL && type != SHT_NOBITS;
}

static bool is_code_section(const struct digest *d, const uint8_t *at)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;

	return (GET(d, at, Shdr, sh_flags) & code) == code;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Sections that names and lines do not need: places of variables, macros,
 * indexes of other sections, unwind tables. They may be a fifth of the file. */
static bool is_of_no_use(const char *debug_name)
{
	static const char *const parts[] = { "frame", "loc", "mac",
					     "names", "pub", "gnu_pub" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (begins(debug_name, parts[i]))
			return true;
	return false;
}

static bool is_debug(const char *name)
{
	if (begins(name, ".debug_"))
		return !is_of_no_use(name + strlen(".debug_"));
	if (begins(name, ".zdebug_"))
		return !is_of_no_use(name + strlen(".zdebug_"));
	return begins(name, ".gnu_debug") || begins(name, ".stab");
}

static bool is_go_table(const char *name)
{
	return !strcmp(name, PP_GO_TABLE) || !strcmp(name, PP_GO_TABLE_RELRO);
}

/* Sections that reports read instead of a symbol table: see op_bfd_functions.c
 * and op_bfd_go.c. */
static bool stands_for_symbols(const struct digest *d, const uint8_t *at,
			       const char *name)
{
	if (d->has_symbols || GET(d, at, Shdr, sh_size) > PP_FUNCTION_TABLE_MAX)
		return false;
	if (!strcmp(name, ".eh_frame"))
		return !d->has_starts;
	if (!strcmp(name, PP_GO_RELRO))
		return d->is_go && !d->has_go_table;
	return is_go_table(name) || !strcmp(name, ".go.module");
}

static bool keeps_section(const struct digest *d, uint64_t nr, bool relocated);

/* Relocations: of what is kept, and those that name the linkage table. */
static bool are_relocations_wanted(const struct digest *d, const uint8_t *at,
				   bool relocated)
{
	uint64_t target = GET(d, at, Shdr, sh_info);

	if (GET(d, at, Shdr, sh_flags) & SHF_ALLOC)
		return true;
	/* Those of relocations are damage. */
	return !relocated && target && target < d->nr &&
	       keeps_section(d, target, true);
}

static bool keeps_section(const struct digest *d, uint64_t nr, bool relocated)
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
		       stands_for_symbols(d, at, d->name_bytes + name) ||
		       !strcmp(d->name_bytes + name, ".eh_frame_hdr") ||
		       !strncmp(d->name_bytes + name, ".plt", 4) ||
		       !strcmp(d->name_bytes + name, ".iplt");
	}
}

/*
 * Note which tables the binary has: they decide which other sections are kept.
 */
static void look_for_tables(struct digest *d)
{
	for (uint64_t i = 1; i < d->nr; i++) {
		const uint8_t *at = section(d, i);
		uint64_t name = GET(d, at, Shdr, sh_name);

		if (name > d->name_len || !has_contents(d, at))
			continue;
		if (GET(d, at, Shdr, sh_type) == SHT_SYMTAB)
			d->has_symbols = true;
		if (!strcmp(d->name_bytes + name, ".eh_frame_hdr"))
			d->has_starts = true;
		if (!strcmp(d->name_bytes + name, PP_GO_NOTE))
			d->is_go = true;
		if (is_go_table(d->name_bytes + name))
			d->has_go_table = true;
	}
}

/* ---- writing ------------------------------------------------------------- */

struct range {
	uint64_t start, end;
};

static int compare_range_starts(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return op_compare(x->start, y->start);
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

		if (!wanted[i] || !is_code_section(d, at) || !len)
			continue;
		if (offset < OP_ELF_LEN(&d->from, Ehdr) || *nr == CODE_MAX)
			return -ENOEXEC;
		err = copy_range(d, offset, offset, len);
		fixed[(*nr)++] = (struct range){ offset, offset + len };
		if (offset + len > d->end)
			d->end = offset + len;
	}
	qsort(fixed, *nr, sizeof(*fixed), compare_range_starts);
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
	uint64_t cursor = OP_ELF_LEN(&d->from, Ehdr);
	int err = 0;

	for (uint64_t i = 0; i < d->nr && !err; i++) {
		uint8_t *at = section(d, i);
		uint64_t len = GET(d, at, Shdr, sh_size);

		if (!wanted[i] || is_code_section(d, at) || i == d->names)
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

/* The mark is empty where the fingerprint is not known. */
static int write_mark(struct digest *d)
{
	uint8_t *mark = section(d, d->nr++);
	uint8_t bytes[OP_ELF_DIGEST_LEN];
	uint64_t len = d->fingerprint ? sizeof(bytes) : 0;
	int err;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(d->fingerprint >> 8 * i);
	err = op_file_write_at(d->to, bytes, len, d->end);
	PUT(d, mark, Shdr, sh_name, d->name_len);
	PUT(d, mark, Shdr, sh_type, SHT_PROGBITS);
	PUT(d, mark, Shdr, sh_addralign, 1);
	PUT(d, mark, Shdr, sh_offset, d->end);
	PUT(d, mark, Shdr, sh_size, len);
	d->end += len;
	return err;
}

/* The names of the sections, and that of the mark. */
static int write_section_names(struct digest *d)
{
	uint8_t *names = section(d, d->names);
	uint64_t len = d->name_len + MARK_LEN;
	int err;

	memcpy(d->name_bytes + d->name_len, PP_ELF_DIGEST, MARK_LEN);
	err = op_file_write_at(d->to, d->name_bytes, len, d->end);
	PUT(d, names, Shdr, sh_offset, d->end);
	PUT(d, names, Shdr, sh_size, len);
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
	PUT(d, d->from.header, Ehdr, e_shnum,
	    d->nr < SHN_LORESERVE ? d->nr : 0);
	PUT(d, d->from.header, Ehdr, e_shoff, at);
	PUT(d, d->from.header, Ehdr, e_phoff, 0);
	PUT(d, d->from.header, Ehdr, e_phnum, 0);
	err = op_file_write_at(d->to, d->sections, d->nr * section_len(d), at);
	return err ? err
		   : op_file_write_at(d->to, d->from.header,
				      OP_ELF_LEN(&d->from, Ehdr), 0);
}

static int write_digest(struct digest *d)
{
	struct range fixed[CODE_MAX];
	bool *wanted = calloc(d->nr + 1, sizeof(*wanted));
	size_t nr_fixed;
	int err;

	if (!wanted)
		return -ENOMEM;
	look_for_tables(d);
	for (uint64_t i = 1; i < d->nr; i++)
		wanted[i] = has_contents(d, section(d, i)) &&
			    keeps_section(d, i, false);
	for (uint64_t i = 1; i < d->nr; i++)
		if (!wanted[i] && has_contents(d, section(d, i)))
			PUT(d, section(d, i), Shdr, sh_type, SHT_NOBITS);
	d->end = OP_ELF_LEN(&d->from, Ehdr);
	err = place_code(d, wanted, fixed, &nr_fixed) ?:
	      place_rest(d, wanted, fixed, nr_fixed) ?:
	      write_section_names(d) ?: write_mark(d) ?: write_headers(d);
	free(wanted);
	return err;
}

int pp_elf_digest(int from, int to)
{
	struct digest d = { .to = to };
	int err = op_elf_init(&d.from, from) ?:
		  read_section_headers(&d) ?: read_names(&d);

	if (!err)
		err = op_fingerprint(&d.from, &d.fingerprint);
	if (!err)
		err = write_digest(&d);
	free(d.sections);
	free(d.name_bytes);
	return err;
}
