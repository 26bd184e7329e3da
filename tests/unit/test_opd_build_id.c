// SPDX-License-Identifier: GPL-2.0-or-later

#include <elf.h>

#include "tests/unit/opd_fixture.h"

/* A note of owner @name; @len bytes of 0xab. Returns the bytes used. */
static size_t put_note(uint8_t *to, const char *name, uint32_t type,
		       uint32_t len)
{
	Elf64_Nhdr note = { (uint32_t)strlen(name) + 1, len, type };
	size_t at = sizeof(note);

	memcpy(to, &note, sizeof(note));
	memcpy(to + at, name, note.n_namesz);
	at = (at + note.n_namesz + 3) / 4 * 4;
	memset(to + at, 0xab, len);
	return (at + len + 3) / 4 * 4;
}

static void notes(void **state)
{
	uint8_t bytes[512] = { 0 };
	struct opd_build_id id;
	size_t len;

	(void)state;
	len = put_note(bytes, "CORE", NT_GNU_BUILD_ID, 20);
	len += put_note(bytes + len, "GNU", NT_GNU_ABI_TAG, 16);
	len += put_note(bytes + len, "GNU", NT_GNU_BUILD_ID, 20);
	assert_int_equal(opd_build_id_in_notes(&id, bytes, len), 0);
	assert_int_equal(id.len, 20);
	assert_int_equal(id.bytes[19], 0xab);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);

		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		assert_int_equal(opd_build_id_in_notes(&id, copy, cut),
				 -ENOENT);
		free(copy);
	}
	len = put_note(bytes, "GNU", NT_GNU_BUILD_ID, 33); /* too long */
	assert_int_equal(opd_build_id_in_notes(&id, bytes, len), -ENOENT);
	len = put_note(bytes, "GNU", NT_GNU_BUILD_ID, 0);
	assert_int_equal(opd_build_id_in_notes(&id, bytes, len), -ENOENT);
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
		assert_int_equal(opd_build_id_in_notes(&id, bytes, 28),
				 -ENOENT);
		note = (Elf64_Nhdr){ 4, sizes[i], NT_GNU_BUILD_ID };
		memcpy(bytes, &note, sizeof(note));
		memcpy(bytes + sizeof(note), "GNU", 4);
		assert_int_equal(opd_build_id_in_notes(&id, bytes, 28),
				 -ENOENT);
	}
}

static void files_of_notes(void **state)
{
	char path[] = "/tmp/opd-notes-XXXXXX";
	uint8_t bytes[20000] = { 0 };
	int fd = mkstemp(path);
	struct opd_build_id id;
	size_t len;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(opd_build_id_of_notes_file(&id, path), -ENOENT);
	len = put_note(bytes, "GNU", NT_GNU_ABI_TAG, 16);
	len += put_note(bytes + len, "GNU", NT_GNU_BUILD_ID, 20);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(opd_build_id_of_notes_file(&id, path), 0);
	assert_int_equal(id.len, 20);
	/* Longer than any notes are. */
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(opd_build_id_of_notes_file(&id, path), 0);
	close(fd);
	unlink(path);
	assert_int_equal(opd_build_id_of_notes_file(&id, path), -ENOENT);
	assert_true(opd_build_id_of_notes_file(&id, "/tmp") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes),
		cmocka_unit_test(lengths_of_notes_are_checked),
		cmocka_unit_test(files_of_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
