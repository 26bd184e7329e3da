// SPDX-License-Identifier: GPL-2.0-or-later

#include <elf.h>
#include <sys/mman.h>

#include "tests/unit/opd_fixture.h"

/* A note of owner @name; @len bytes of 0xab. Returns the bytes used. */
static size_t put_note(uint8_t *to, const char *name, uint32_t type,
		       uint32_t len, size_t align)
{
	Elf64_Nhdr note = { (uint32_t)strlen(name) + 1, len, type };
	size_t at = sizeof(note);

	memcpy(to, &note, sizeof(note));
	memcpy(to + at, name, note.n_namesz);
	at = (at + note.n_namesz + align - 1) / align * align;
	memset(to + at, 0xab, len);
	return (at + len + align - 1) / align * align;
}

static void notes(void **state)
{
	uint8_t bytes[512] = { 0 };
	struct opd_build_id id;
	size_t len;

	(void)state;
	len = put_note(bytes, "CORE", NT_GNU_BUILD_ID, 20, 4);
	len += put_note(bytes + len, "GNU", NT_GNU_ABI_TAG, 16, 4);
	len += put_note(bytes + len, "GNU", NT_GNU_BUILD_ID, 20, 4);
	assert_int_equal(opd_build_id_in_notes(&id, bytes, len, 4), 0);
	assert_int_equal(id.len, 20);
	assert_int_equal(id.bytes[19], 0xab);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);

		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		assert_int_equal(opd_build_id_in_notes(&id, copy, cut, 4),
				 -ENOENT);
		free(copy);
	}
	len = put_note(bytes, "GNU", NT_GNU_BUILD_ID, 33, 4); /* too long */
	assert_int_equal(opd_build_id_in_notes(&id, bytes, len, 4), -ENOENT);
	len = put_note(bytes, "GNU", NT_GNU_BUILD_ID, 0, 4);
	assert_int_equal(opd_build_id_in_notes(&id, bytes, len, 4), -ENOENT);
	len = put_note(bytes, "GNU", NT_GNU_PROPERTY_TYPE_0, 13, 8);
	len += put_note(bytes + len, "GNU", NT_GNU_BUILD_ID, 8, 8);
	assert_int_equal(opd_build_id_in_notes(&id, bytes, len, 8), 0);
	assert_int_equal(id.len, 8);
}

static void lengths_of_notes_are_checked(void **state)
{
	const uint32_t sizes[] = { 0xffffffff, 0xfffffffc, 0x80000000, 64, 13 };
	struct opd_build_id id;
	uint8_t bytes[64];

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		Elf64_Nhdr note = { sizes[i], 4, NT_GNU_BUILD_ID };

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, &note, sizeof(note));
		assert_int_equal(opd_build_id_in_notes(&id, bytes, 28, 4),
				 -ENOENT);
		note = (Elf64_Nhdr){ 4, sizes[i], NT_GNU_BUILD_ID };
		memcpy(bytes, &note, sizeof(note));
		memcpy(bytes + sizeof(note), "GNU", 4);
		assert_int_equal(opd_build_id_in_notes(&id, bytes, 28, 4),
				 -ENOENT);
	}
}

static int make_file(const void *data, size_t len)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	return fd;
}

struct file64 {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	uint8_t notes[64];
};

struct file32 {
	Elf32_Ehdr eh;
	Elf32_Phdr ph[1];
	uint8_t notes[64];
};

static void fill64(struct file64 *file)
{
	memset(file, 0, sizeof(*file));
	memcpy(file->eh.e_ident, ELFMAG, SELFMAG);
	file->eh.e_ident[EI_CLASS] = ELFCLASS64;
	file->eh.e_ident[EI_DATA] = ELFDATA2LSB;
	file->eh.e_phoff = offsetof(struct file64, ph);
	file->eh.e_phnum = 2;
	file->eh.e_phentsize = sizeof(Elf64_Phdr);
	file->ph[0].p_type = PT_LOAD;
	file->ph[1].p_type = PT_NOTE;
	file->ph[1].p_offset = offsetof(struct file64, notes);
	file->ph[1].p_filesz =
		put_note(file->notes, "GNU", NT_GNU_BUILD_ID, 20, 4);
}

static int id_of(const void *data, size_t len, struct opd_build_id *id)
{
	int fd = make_file(data, len);
	int err = opd_build_id_of_elf(id, fd);

	close(fd);
	return err;
}

static void elf_files(void **state)
{
	struct opd_build_id id = { .len = 0 };
	struct file64 file;
	struct file32 small;

	(void)state;
	fill64(&file);
	assert_int_equal(id_of(&file, sizeof(file), &id), 0);
	assert_int_equal(id.len, 20);
	file.ph[1].p_filesz = ~U(0);
	assert_int_equal(id_of(&file, sizeof(file), &id), -ENOENT);
	file.ph[1].p_offset = ~U(0) - 5;
	assert_int_equal(id_of(&file, sizeof(file), &id), -ENOENT);
	fill64(&file);
	file.eh.e_phoff = ~U(0) - 8;
	assert_int_equal(id_of(&file, sizeof(file), &id), -ENOEXEC);
	file.eh.e_phoff = INT64_MAX - 8;
	assert_int_equal(id_of(&file, sizeof(file), &id), -ENOEXEC);
	fill64(&file);
	file.eh.e_phentsize = 1;
	assert_int_equal(id_of(&file, sizeof(file), &id), -ENOEXEC);
	fill64(&file);
	file.eh.e_phnum = 0xffff;
	assert_int_equal(id_of(&file, sizeof(file), &id), -ENOEXEC);
	fill64(&file);
	file.eh.e_ident[EI_DATA] ^= 3;
	assert_int_equal(id_of(&file, sizeof(file), &id), -ENOEXEC);
	assert_int_equal(id_of("", 0, &id), -ENOEXEC);
	assert_int_equal(id_of("#!/bin/sh\nexit 0 # long enough", 30, &id),
			 -ENOEXEC);

	memset(&small, 0, sizeof(small));
	fill64(&file);
	memcpy(small.eh.e_ident, file.eh.e_ident, EI_NIDENT);
	small.eh.e_ident[EI_CLASS] = ELFCLASS32;
	small.eh.e_phoff = offsetof(struct file32, ph);
	small.eh.e_phnum = 1;
	small.eh.e_phentsize = sizeof(Elf32_Phdr);
	small.ph[0].p_type = PT_NOTE;
	small.ph[0].p_offset = offsetof(struct file32, notes);
	small.ph[0].p_filesz =
		(Elf32_Word)put_note(small.notes, "GNU", NT_GNU_BUILD_ID, 8, 4);
	assert_int_equal(id_of(&small, sizeof(small), &id), 0);
	assert_int_equal(id.len, 8);
}

static void every_truncation_of_an_elf_file(void **state)
{
	struct opd_build_id id;
	struct file64 file;

	(void)state;
	fill64(&file);
	for (size_t len = 0; len < offsetof(struct file64, notes) + 36; len++)
		assert_true(id_of(&file, len, &id) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes),
		cmocka_unit_test(lengths_of_notes_are_checked),
		cmocka_unit_test(elf_files),
		cmocka_unit_test(every_truncation_of_an_elf_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
