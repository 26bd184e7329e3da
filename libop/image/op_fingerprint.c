// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The numbers of the headers and the bytes of the contents are mixed one word
 * after the other. Fingerprints are in sample files, so the order and the mixer
 * are part of a format (doc/sample-files.md) and must not change.
 *
 * A range that is too long to be read as a whole is read in pages: the first,
 * the last, and others at equal distances. What another file could make long is
 * bounded: the number of pages of a range, and the number of ranges.
 *
 * Segments and the dynamic section are those of the System V ABI, chapter 5;
 * PT_GNU_EH_FRAME is that of the Linux Standard Base, 10.2.
 */

#include "libop/image/op_fingerprint.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define CHUNK (8 * PAGE) /* bytes that are read at a time */
#define CODE_PAGES 16 /* of a segment: 64 KiB */
#define CODE_SEGMENTS 4 /* whose contents are read */
#define TABLE_PAGES 256 /* of a table: 1 MiB */
#define DYNAMIC_MAX 65536 /* bytes of the dynamic section; most have 500 */

struct fingerprint {
	const struct op_elf *elf;
	struct op_elf_segment *segments;
	unsigned int nr; /* of them */
	uint64_t hash;
	int err; /* -ENOEXEC: not known */
};

/* ---- mixing -------------------------------------------------------------- */

static void mix_word(struct fingerprint *f, uint64_t word)
{
	uint64_t x = (f->hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 32;
	x *= UINT64_C(0xd1b54a32d192ed03);
	f->hash = x ^ x >> 32;
}

/* The lowest byte comes first, whatever this machine does. */
static uint64_t load_little_word(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

/* At most CHUNK bytes; the last word is filled up with zeroes. A segment may
 * begin with the header of the file, which says where the sections are. */
static void mix_bytes(struct fingerprint *f, uint64_t offset, uint64_t len)
{
	const uint64_t header_len = OP_ELF_LEN(f->elf, Ehdr);
	uint8_t chunk[CHUNK];

	if (!f->err)
		f->err = op_elf_read(f->elf, offset, chunk, len);
	if (f->err)
		return;
	for (uint64_t at = offset; at < header_len && at - offset < len; at++)
		chunk[at - offset] = 0;
	memset(chunk + len, 0, (CHUNK - len) % 8);
	for (uint64_t at = 0; at < len; at += 8)
		mix_word(f, load_little_word(chunk + at));
}

static void mix_whole(struct fingerprint *f, uint64_t offset, uint64_t len)
{
	while (len && !f->err) {
		uint64_t part = len < CHUNK ? len : CHUNK;

		mix_bytes(f, offset, part);
		offset += part;
		len -= part;
	}
}

/* All of a range that has @max pages or fewer, else @max of its pages, the
 * first and the last among them. */
static void mix_range(struct fingerprint *f, uint64_t offset, uint64_t len,
		      uint64_t max)
{
	uint64_t nr = len / PAGE + (len % PAGE != 0);

	mix_word(f, len);
	if (!f->err && !op_elf_has(f->elf, offset, len))
		f->err = -ENOEXEC;
	if (nr <= max) {
		mix_whole(f, offset, len);
		return;
	}
	for (uint64_t i = 0; i < max && !f->err; i++) {
		uint64_t page = i * (nr - 1) / (max - 1);
		uint64_t left = len - page * PAGE;

		mix_bytes(f, offset + page * PAGE, left < PAGE ? left : PAGE);
	}
}

/* ---- segments ------------------------------------------------------------ */

/* Each is looked at several times, and to read a header takes a system call. */
static int read_all_segments(struct fingerprint *f)
{
	int err = op_elf_count_segments(f->elf, &f->nr);

	if (err)
		return err;
	f->segments = calloc((size_t)f->nr + 1, sizeof(*f->segments));
	if (!f->segments)
		return -ENOMEM;
	for (unsigned int i = 0; i < f->nr && !err; i++)
		err = op_elf_segment(f->elf, i, &f->segments[i]);
	return err;
}

/* There are segments of code, and none without contents, as in debug files. */
static void mix_code(struct fingerprint *f)
{
	unsigned int nr_code = 0;

	for (unsigned int i = 0; i < f->nr && !f->err; i++) {
		const struct op_elf_segment *segment = &f->segments[i];

		if (segment->type != PT_LOAD || !(segment->flags & PF_X))
			continue;
		mix_word(f, segment->offset);
		mix_word(f, segment->address);
		if (!segment->size)
			f->err = -ENOEXEC;
		if (nr_code++ < CODE_SEGMENTS)
			mix_range(f, segment->offset, segment->size,
				  CODE_PAGES);
		else
			mix_word(f, segment->size);
	}
	if (!f->err && !nr_code)
		f->err = -ENOEXEC;
}

/* The first segment of that type, or NULL. */
static const struct op_elf_segment *find_segment(const struct fingerprint *f,
						 uint64_t type)
{
	for (unsigned int i = 0; i < f->nr; i++)
		if (f->segments[i].type == type)
			return &f->segments[i];
	return NULL;
}

/* Where the addresses from @start to @end are in the file. False if they are in
 * no segment. */
static bool find_offset(const struct fingerprint *f, uint64_t start,
			uint64_t end, uint64_t *offset)
{
	for (unsigned int i = 0; i < f->nr; i++) {
		const struct op_elf_segment *at = &f->segments[i];

		if (at->type == PT_LOAD && start >= at->address &&
		    start - at->address < at->size &&
		    end - at->address <= at->size) {
			*offset = at->offset + (start - at->address);
			return true;
		}
	}
	return false;
}

static void mix_unwind_table(struct fingerprint *f)
{
	const struct op_elf_segment *table = find_segment(f, PT_GNU_EH_FRAME);

	if (table)
		mix_range(f, table->offset, table->size, TABLE_PAGES);
}

/* ---- dynamic symbols ----------------------------------------------------- */

/* The addresses of the dynamic symbols and their names; 0: there are none. */
static void find_dynamic_tables(struct fingerprint *f,
				const struct op_elf_segment *dynamic,
				uint64_t *symbols, uint64_t *names)
{
	const struct op_elf *elf = f->elf;
	const uint64_t len =
		dynamic->size < DYNAMIC_MAX ? dynamic->size : DYNAMIC_MAX;
	size_t step = OP_ELF_LEN(elf, Dyn);
	uint8_t *entries;

	*symbols = *names = 0;
	f->err = op_elf_load(elf, dynamic->offset, len, &entries);
	if (f->err)
		return;
	for (uint64_t at = 0; at + step <= len; at += step) {
		uint64_t tag = OP_ELF_GET(elf, entries + at, Dyn, d_tag);
		uint64_t value = OP_ELF_GET(elf, entries + at, Dyn, d_un);

		if (tag == DT_NULL)
			break;
		if (tag == DT_SYMTAB)
			*symbols = value;
		else if (tag == DT_STRTAB)
			*names = value;
	}
	free(entries);
}

/* Linkers put the names behind the symbols; the dynamic section does not tell
 * the number of symbols. Where the names are elsewhere symbols are left out. */
static void mix_dynamic_symbols(struct fingerprint *f)
{
	const struct op_elf_segment *dynamic = find_segment(f, PT_DYNAMIC);
	uint64_t symbols, names, offset;

	if (f->err || !dynamic)
		return;
	find_dynamic_tables(f, dynamic, &symbols, &names);
	if (!f->err && symbols && symbols < names &&
	    find_offset(f, symbols, names, &offset))
		mix_range(f, offset, names - symbols, TABLE_PAGES);
}

/* ---- files without code -------------------------------------------------- */

/* eu-strip(1) leaves debug files the segments of the binary, which lead
 * anywhere; their sections of code have no contents. */
static void check_for_debug_file(struct fingerprint *f)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	const struct op_elf *elf = f->elf;
	const size_t step = OP_ELF_LEN(elf, Shdr);
	uint8_t *table = NULL;
	uint64_t nr, names;
	int err = op_elf_count_sections(elf, &nr, &names);

	if (!err)
		err = op_elf_load(elf,
				  OP_ELF_GET(elf, elf->header, Ehdr, e_shoff),
				  nr * step, &table);
	for (uint64_t i = 0; !err && i < nr; i++)
		if (OP_ELF_GET(elf, table + i * step, Shdr, sh_type) ==
			    SHT_NOBITS &&
		    (OP_ELF_GET(elf, table + i * step, Shdr, sh_flags) &
		     code) == code)
			f->err = -ENOEXEC;
	free(table);
	/* Damaged sections are none. */
	if (err && err != -ENOEXEC)
		f->err = err;
}

static bool is_mark(const struct op_elf *elf,
		    const struct op_elf_section *names,
		    const struct op_elf_section *section)
{
	char name[sizeof(OP_ELF_DIGEST) + 1];

	if (section->type != SHT_PROGBITS ||
	    section->size != OP_ELF_DIGEST_LEN || section->name > names->size)
		return false;
	op_elf_text(elf, names->offset + section->name, name, sizeof(name));
	return !strcmp(name, OP_ELF_DIGEST);
}

/* The fingerprint of its binary that a digest has. */
static int fingerprint_of_digest(const struct op_elf *elf, uint64_t *out)
{
	struct op_elf_section names, section;
	uint8_t bytes[OP_ELF_DIGEST_LEN];
	uint64_t nr, names_nr;
	int err = op_elf_count_sections(elf, &nr, &names_nr);

	if (!err && names_nr >= nr)
		err = -ENOEXEC;
	if (!err)
		err = op_elf_section(elf, names_nr, &names);
	for (uint64_t i = 0; !err && i < nr; i++) {
		err = op_elf_section(elf, i, &section);
		if (err || !is_mark(elf, &names, &section))
			continue;
		err = op_elf_read(elf, section.offset, bytes, sizeof(bytes));
		if (!err)
			*out = load_little_word(bytes);
		break;
	}
	return err;
}

static void mix_all(struct fingerprint *f)
{
	mix_word(f, OP_ELF_GET(f->elf, f->elf->header, Ehdr, e_machine));
	mix_word(f, f->elf->wide);
	mix_code(f);
	if (!f->err)
		check_for_debug_file(f);
	mix_unwind_table(f);
	mix_dynamic_symbols(f);
}

int op_fingerprint(const struct op_elf *elf, uint64_t *out)
{
	struct fingerprint f = { .elf = elf };
	int err = read_all_segments(&f);

	*out = 0;
	if (!err && !f.nr) {
		err = fingerprint_of_digest(elf, out);
	} else if (!err) {
		mix_all(&f);
		err = f.err;
		if (!err)
			*out = f.hash ? f.hash : 1;
	}
	free(f.segments);
	return err == -ENOEXEC ? 0 : err;
}
