/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_BUILD_ELF_H
#define TESTS_UNIT_BUILD_ELF_H

/* ELF files that are nothing but a build-id. */

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "libop/image/op_build_id.h"
#include "tests/unit/test.h"

/* The build-id of @len bytes that begins with @first. */
__attribute__((unused)) static struct op_build_id build_of(uint8_t first,
							   unsigned int len)
{
	struct op_build_id id = { .len = len };

	memset(id.bytes, 0x55, len);
	id.bytes[0] = first;
	return id;
}

/* A file that is all that a build-id needs: two headers and a note. */
__attribute__((unused)) static void make_elf(const char *path, uint8_t first)
{
	static const uint8_t elf_magic[16] = {
		0x7f, 'E', 'L',
		'F',  2,   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 2,
		1
	};
	struct {
		uint8_t ident[16];
		uint16_t type, machine;
		uint32_t version;
		uint64_t entry, phoff, shoff;
		uint32_t flags;
		uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
		uint32_t p_type, p_flags;
		uint64_t p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align;
		uint32_t namesz, descsz, n_type;
		char name[4];
		uint8_t build_id[20];
	} elf = {
		.phoff = 64,
		.phentsize = 56,
		.phnum = 1,
		.p_type = 4, /* PT_NOTE */
		.p_offset = 120,
		.p_filesz = 36,
		.namesz = 4,
		.descsz = 20,
		.n_type = 3, /* NT_GNU_BUILD_ID */
		.name = "GNU",
	};

	FILE *file;

	memcpy(elf.ident, elf_magic, sizeof(elf_magic));
	memcpy(elf.build_id, build_of(first, 20).bytes, 20);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(&elf, 156, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

/* The same with other program headers behind that, and a word of @code. */
__attribute__((unused)) static void
make_elf_with_code(const char *path, uint8_t first, uint32_t code)
{
	const struct {
		Elf64_Phdr segments[2];
		uint32_t code;
	} more = {
		.segments = { { .p_type = PT_NOTE,
				.p_offset = 120,
				.p_filesz = 36 },
			      { .p_type = PT_LOAD,
				.p_flags = PF_X,
				.p_offset = 160 + sizeof(more.segments),
				.p_filesz = sizeof(more.code) } },
		.code = code,
	};
	const uint64_t phoff = 160;
	const uint16_t phnum = 2;
	FILE *file;

	make_elf(path, first);
	file = fopen(path, "r+e");
	assert_non_null(file);
	assert_int_equal(fseek(file, offsetof(Elf64_Ehdr, e_phoff), SEEK_SET),
			 0);
	assert_int_equal(fwrite(&phoff, sizeof(phoff), 1, file), 1);
	assert_int_equal(fseek(file, offsetof(Elf64_Ehdr, e_phnum), SEEK_SET),
			 0);
	assert_int_equal(fwrite(&phnum, sizeof(phnum), 1, file), 1);
	assert_int_equal(fseek(file, (long)phoff, SEEK_SET), 0);
	assert_int_equal(fwrite(&more, sizeof(more), 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

/* The build-id of that with the fingerprint of what is at @path. */
__attribute__((unused)) static struct op_build_id build_at(const char *path)
{
	FILE *file = fopen(path, "re");
	struct op_build_id id;

	assert_non_null(file);
	assert_int_equal(op_build_id_of_elf(&id, fileno(file)), 0);
	assert_true(op_build_id_fingerprint(&id) != 0);
	fclose(file);
	return id;
}

#endif /* TESTS_UNIT_BUILD_ELF_H */
