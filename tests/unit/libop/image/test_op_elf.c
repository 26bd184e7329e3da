// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One small file in both classes and byte orders, from a descriptor and from
 * memory: the same is read each time, and what lies about itself is refused.
 */

#include <errno.h>
#include <unistd.h>

#include "libop/image/op_elf.h"
#include "tests/unit/rows.h"

#define FILE_LEN 1024
#define SEGMENTS_AT 128
#define SECTIONS_AT 512
#define NAMES_AT 400
#define NR_SECTIONS 3

struct kind {
	bool wide, big_endian, in_memory;
};

struct image {
	struct op_elf elf; /* for class and byte order */
	uint8_t bytes[FILE_LEN];
};

static void put_number(const struct op_elf *elf, uint8_t *at, size_t size,
		       uint64_t value)
{
	for (size_t i = 0; i < size; i++, value >>= 8)
		at[elf->big_endian ? size - 1 - i : i] = (uint8_t)value;
}

#define PUT(image, offset, type, member, value)                                \
	put_number(&(image)->elf,                                              \
		   OP_ELF_AT(&(image)->elf, (image)->bytes + (offset), type,   \
			     member),                                          \
		   OP_ELF_SIZE(&(image)->elf, type, member), value)

static void make_image(struct image *image, const struct kind *kind)
{
	struct op_elf *elf = &image->elf;

	memset(image, 0, sizeof(*image));
	elf->wide = kind->wide;
	elf->big_endian = kind->big_endian;
	memcpy(image->bytes, ELFMAG, SELFMAG);
	image->bytes[EI_CLASS] = kind->wide ? ELFCLASS64 : ELFCLASS32;
	image->bytes[EI_DATA] = kind->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	PUT(image, 0, Ehdr, e_machine, EM_S390);
	PUT(image, 0, Ehdr, e_phoff, SEGMENTS_AT);
	PUT(image, 0, Ehdr, e_phentsize, OP_ELF_LEN(elf, Phdr));
	PUT(image, 0, Ehdr, e_phnum, 2);
	PUT(image, 0, Ehdr, e_shoff, SECTIONS_AT);
	PUT(image, 0, Ehdr, e_shentsize, OP_ELF_LEN(elf, Shdr));
	PUT(image, 0, Ehdr, e_shnum, NR_SECTIONS);
	PUT(image, 0, Ehdr, e_shstrndx, 2);
	for (unsigned int i = 0; i < 2; i++) {
		size_t at = SEGMENTS_AT + i * OP_ELF_LEN(elf, Phdr);

		PUT(image, at, Phdr, p_type, PT_LOAD + i);
		PUT(image, at, Phdr, p_flags, PF_X | i);
		PUT(image, at, Phdr, p_offset, 0x123 + i);
		PUT(image, at, Phdr, p_vaddr, 0x45678901 + i);
		PUT(image, at, Phdr, p_filesz, 0x2345 + i);
	}
	for (unsigned int i = 1; i < NR_SECTIONS; i++) {
		size_t at = SECTIONS_AT + i * OP_ELF_LEN(elf, Shdr);

		PUT(image, at, Shdr, sh_name, 10 * i);
		PUT(image, at, Shdr, sh_type, SHT_PROGBITS + i);
		PUT(image, at, Shdr, sh_flags, SHF_ALLOC + i);
		PUT(image, at, Shdr, sh_addr, 0x89abcdef - i);
		PUT(image, at, Shdr, sh_offset, NAMES_AT + i);
		PUT(image, at, Shdr, sh_size, 30 + i);
		PUT(image, at, Shdr, sh_link, 7 + i);
		PUT(image, at, Shdr, sh_entsize, 24 + i);
	}
}

/* Open the first @len bytes. *@file is to be closed. */
static int open_part(struct op_elf *elf, const struct image *image, size_t len,
		     bool in_memory, FILE **file)
{
	*file = tmpfile();
	assert_non_null(*file);
	if (in_memory)
		return op_elf_init_memory(elf, image->bytes, len);
	assert_int_equal(write(fileno(*file), image->bytes, len), len);
	return op_elf_init(elf, fileno(*file));
}

static void check_headers_of(const struct op_elf *elf)
{
	struct op_elf_segment segment;
	struct op_elf_section section;
	uint64_t nr_sections, names;
	unsigned int nr;

	assert_int_equal(OP_ELF_GET(elf, elf->header, Ehdr, e_machine),
			 EM_S390);
	assert_int_equal(op_elf_count_segments(elf, &nr), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(op_elf_segment(elf, 1, &segment), 0);
	assert_int_equal(segment.type, PT_LOAD + 1);
	assert_int_equal(segment.flags, PF_X | 1);
	assert_int_equal(segment.offset, 0x124);
	assert_int_equal(segment.address, 0x45678902);
	assert_int_equal(segment.size, 0x2346);
	assert_int_equal(op_elf_count_sections(elf, &nr_sections, &names), 0);
	assert_int_equal(nr_sections, NR_SECTIONS);
	assert_int_equal(names, 2);
	assert_int_equal(op_elf_section(elf, 2, &section), 0);
	assert_int_equal(section.name, 20);
	assert_int_equal(section.type, SHT_PROGBITS + 2);
	assert_int_equal(section.flags, SHF_ALLOC + 2);
	assert_int_equal(section.address, 0x89abcded);
	assert_int_equal(section.offset, NAMES_AT + 2);
	assert_int_equal(section.size, 32);
	assert_int_equal(section.link, 9);
	assert_int_equal(section.entry_size, 26);
}

TEST(all_kinds_read_the_same)
{
	for (unsigned int bits = 0; bits < 8; bits++) {
		const struct kind kind = { bits & 1, bits & 2, bits & 4 };
		struct image image;
		struct op_elf elf;
		FILE *file;

		make_image(&image, &kind);
		assert_int_equal(open_part(&elf, &image, FILE_LEN,
					   kind.in_memory, &file),
				 0);
		assert_int_equal(elf.wide, kind.wide);
		assert_int_equal(elf.big_endian, kind.big_endian);
		check_headers_of(&elf);
		fclose(file);
	}
}

/* What counting says of the file after one member of its header changed. */
TEST(headers_that_lie)
{
	enum { PHOFF, PHENTSIZE, PHNUM, SHOFF, SHENTSIZE, SHNUM };
	static const struct {
		int member;
		uint64_t value;
		int segments, sections; /* results */
		uint64_t nr; /* of what the member is about, if the result is 0
			      */
	} rows[] = {
		{ PHNUM, 0, 0, 0, 0 },
		{ PHNUM, 1, 0, 0, 1 },
		{ PHNUM, 65535, -ENOEXEC, 0, 0 },
		{ PHENTSIZE, 0, -ENOEXEC, 0, 0 },
		{ PHENTSIZE, 57, -ENOEXEC, 0, 0 },
		{ PHENTSIZE, 65535, -ENOEXEC, 0, 0 },
		{ PHOFF, FILE_LEN, -ENOEXEC, 0, 0 },
		{ PHOFF, FILE_LEN - 63, -ENOEXEC, 0, 0 },
		{ PHOFF, UINT64_MAX, -ENOEXEC, 0, 0 },
		{ SHNUM, 1, 0, 0, 1 },
		/* The first header's size, 0, is the number. */
		{ SHNUM, 0, 0, 0, 0 },
		{ SHNUM, 65535, 0, -ENOEXEC, 0 },
		{ SHENTSIZE, 0, 0, -ENOEXEC, 0 },
		{ SHENTSIZE, 63, 0, -ENOEXEC, 0 },
		{ SHOFF, 0, 0, 0, 0 },
		{ SHOFF, FILE_LEN, 0, -ENOEXEC, 0 },
		{ SHOFF, FILE_LEN - 119, 0, -ENOEXEC, 0 },
		{ SHOFF, UINT64_MAX, 0, -ENOEXEC, 0 },
	};

	for (size_t i = 0; i < 2 * NR(rows); i++) {
		const struct kind kind = { .wide = i & 1, .in_memory = true };
		uint64_t value = rows[i / 2].value, nr_sections, names;
		struct image image;
		struct op_elf elf;
		unsigned int nr;
		FILE *file;

		make_image(&image, &kind);
		switch (rows[i / 2].member) {
		case PHOFF:
			PUT(&image, 0, Ehdr, e_phoff, value);
			break;
		case PHENTSIZE:
			PUT(&image, 0, Ehdr, e_phentsize, value);
			break;
		case PHNUM:
			PUT(&image, 0, Ehdr, e_phnum, value);
			break;
		case SHOFF:
			PUT(&image, 0, Ehdr, e_shoff, value);
			break;
		case SHENTSIZE:
			PUT(&image, 0, Ehdr, e_shentsize, value);
			break;
		case SHNUM:
			PUT(&image, 0, Ehdr, e_shnum, value);
			break;
		}
		assert_int_equal(open_part(&elf, &image, FILE_LEN, true, &file),
				 0);
		if (op_elf_count_segments(&elf, &nr) != rows[i / 2].segments ||
		    op_elf_count_sections(&elf, &nr_sections, &names) !=
			    rows[i / 2].sections)
			fail_msg("row %zu", i / 2);
		if (rows[i / 2].member <= PHNUM && !rows[i / 2].segments)
			assert_int_equal(nr, rows[i / 2].nr);
		if (rows[i / 2].member >= SHOFF && !rows[i / 2].sections)
			assert_int_equal(nr_sections, rows[i / 2].nr);
		fclose(file);
	}
}

/* 0xff00 sections and more: the first header has both numbers. */
TEST(many_sections)
{
	static const struct kind kind = { .wide = true };
	uint64_t nr, names;
	struct image image;

	for (uint64_t size = 0; size < 12; size++) {
		struct op_elf elf;
		bool fits = SECTIONS_AT + size * sizeof(Elf64_Shdr) <= FILE_LEN;

		make_image(&image, &kind);
		PUT(&image, 0, Ehdr, e_shnum, 0);
		PUT(&image, 0, Ehdr, e_shstrndx, SHN_XINDEX);
		PUT(&image, SECTIONS_AT, Shdr, sh_size, size);
		PUT(&image, SECTIONS_AT, Shdr, sh_link, size + 5);
		op_elf_init_memory(&elf, image.bytes, FILE_LEN);
		assert_int_equal(op_elf_count_sections(&elf, &nr, &names),
				 fits ? 0 : -ENOEXEC);
		assert_int_equal(nr, size);
		assert_int_equal(names, size + 5);
	}
}

TEST(other_files_are_refused)
{
	static const struct {
		size_t at;
		uint8_t value;
	} rows[] = {
		{ 0, 0x7e },	 { 3, 'f' },	 { EI_CLASS, 0 },
		{ EI_CLASS, 3 }, { EI_DATA, 0 }, { EI_DATA, 3 },
	};
	static const struct kind kind = { .wide = true };
	struct image image;
	struct op_elf elf;
	FILE *file;

	for (size_t i = 0; i < NR(rows); i++) {
		make_image(&image, &kind);
		image.bytes[rows[i].at] = rows[i].value;
		for (int in_memory = 0; in_memory < 2; in_memory++) {
			assert_int_equal(open_part(&elf, &image, FILE_LEN,
						   in_memory, &file),
					 -ENOEXEC);
			fclose(file);
		}
	}
	assert_int_equal(op_elf_init_memory(&elf, NULL, 0), -ENOEXEC);
	assert_int_equal(op_elf_init(&elf, -1), -EBADF);
	file = fopen("/dev/zero", "r");
	assert_int_equal(op_elf_init(&elf, fileno(file)), -ENOEXEC);
	fclose(file);
}

/* Wherever the file ends, no byte beyond the end is read. */
TEST(cut_files)
{
	for (size_t len = 0; len < FILE_LEN; len++) {
		const struct kind kind = { .wide = len & 1 };
		uint8_t *exact = malloc(len ? len : 1);
		uint64_t nr_sections, names;
		struct image image;
		unsigned int nr;
		struct op_elf elf;

		make_image(&image, &kind);
		assert_non_null(exact);
		memcpy(exact, image.bytes, len);
		if (!op_elf_init_memory(&elf, exact, len)) {
			bool has_segments =
				len >= SEGMENTS_AT + 2 * OP_ELF_LEN(&elf, Phdr);
			bool has_sections =
				len >=
				SECTIONS_AT +
					NR_SECTIONS * OP_ELF_LEN(&elf, Shdr);

			assert_int_equal(!op_elf_count_segments(&elf, &nr),
					 has_segments);
			assert_int_equal(!op_elf_count_sections(
						 &elf, &nr_sections, &names),
					 has_sections);
		} else {
			assert_true(len < OP_ELF_LEN(&image.elf, Ehdr));
		}
		free(exact);
	}
}

TEST(parts_are_read_within_the_file)
{
	static const struct {
		uint64_t offset, len;
		int wanted;
	} rows[] = {
		{ 0, 0, 0 },
		{ 0, FILE_LEN, 0 },
		{ FILE_LEN, 0, 0 },
		{ FILE_LEN - 1, 1, 0 },
		{ FILE_LEN, 1, -ENOEXEC },
		{ FILE_LEN - 1, 2, -ENOEXEC },
		{ FILE_LEN + 1, 0, -ENOEXEC },
		{ 1, UINT64_MAX, -ENOEXEC },
		{ UINT64_MAX, 1, -ENOEXEC },
		{ UINT64_MAX, UINT64_MAX, -ENOEXEC },
		{ 0, UINT64_MAX, -ENOEXEC },
	};

	for (size_t i = 0; i < 2 * NR(rows); i++) {
		const struct kind kind = { .in_memory = i & 1 };
		uint64_t offset = rows[i / 2].offset, len = rows[i / 2].len;
		uint8_t buf[FILE_LEN], *loaded = NULL;
		struct image image;
		struct op_elf elf;
		FILE *file;

		make_image(&image, &kind);
		open_part(&elf, &image, FILE_LEN, kind.in_memory, &file);
		assert_int_equal(op_elf_read(&elf, offset, buf, len),
				 rows[i / 2].wanted);
		assert_int_equal(op_elf_load(&elf, offset, len, &loaded),
				 rows[i / 2].wanted);
		assert_int_equal(!loaded, rows[i / 2].wanted != 0);
		if (loaded)
			assert_memory_equal(loaded, image.bytes + offset, len);
		free(loaded);
		fclose(file);
	}
}

TEST(texts_end_with_the_file)
{
	static const struct {
		uint64_t offset;
		size_t size;
		const char *wanted;
	} rows[] = {
		{ FILE_LEN - 8, 16, "abc" }, { FILE_LEN - 8, 3, "ab" },
		{ FILE_LEN - 8, 1, "" },     { FILE_LEN - 4, 16, "wxyz" },
		{ FILE_LEN - 4, 4, "wxy" },  { FILE_LEN - 1, 16, "z" },
		{ FILE_LEN, 16, "" },	     { UINT64_MAX, 16, "" },
	};

	for (size_t i = 0; i < 2 * NR(rows); i++) {
		const struct kind kind = { .in_memory = i & 1 };
		char buf[16];
		struct image image;
		struct op_elf elf;
		FILE *file;

		make_image(&image, &kind);
		memcpy(image.bytes + FILE_LEN - 8, "abc\0wxyz", 8);
		open_part(&elf, &image, FILE_LEN, kind.in_memory, &file);
		memset(buf, '!', sizeof(buf));
		op_elf_text(&elf, rows[i / 2].offset, buf, rows[i / 2].size);
		assert_string_equal(buf, rows[i / 2].wanted);
		fclose(file);
	}
}
