// SPDX-License-Identifier: GPL-2.0-or-later

#include <elf.h>
#include <link.h>

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

TEST(notes)
{
	uint8_t bytes[512] = { 0 };
	struct op_build_id id;
	size_t len;

	len = put_note(bytes, "CORE", NT_GNU_BUILD_ID, 20);
	len += put_note(bytes + len, "GNU", NT_GNU_ABI_TAG, 16);
	len += put_note(bytes + len, "GNU", NT_GNU_BUILD_ID, 20);
	assert_int_equal(op_build_id_in_notes(&id, bytes, len), 0);
	assert_int_equal(id.len, 20);
	assert_int_equal(id.bytes[19], 0xab);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);

		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		assert_int_equal(op_build_id_in_notes(&id, copy, cut), -ENOENT);
		free(copy);
	}
	len = put_note(bytes, "GNU", NT_GNU_BUILD_ID, 33); /* too long */
	assert_int_equal(op_build_id_in_notes(&id, bytes, len), -ENOENT);
	len = put_note(bytes, "GNU", NT_GNU_BUILD_ID, 0);
	assert_int_equal(op_build_id_in_notes(&id, bytes, len), -ENOENT);
}

TEST(lengths_of_notes_are_checked)
{
	const uint32_t sizes[] = { 0xffffffff, 0xfffffffc, 0x80000000, 64, 13 };
	struct op_build_id id;
	uint8_t bytes[64];

	for (size_t i = 0; i < 5; i++) {
		Elf64_Nhdr note = { sizes[i], 4, NT_GNU_BUILD_ID };

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, &note, sizeof(note));
		assert_int_equal(op_build_id_in_notes(&id, bytes, 28), -ENOENT);
		note = (Elf64_Nhdr){ 4, sizes[i], NT_GNU_BUILD_ID };
		memcpy(bytes, &note, sizeof(note));
		memcpy(bytes + sizeof(note), "GNU", 4);
		assert_int_equal(op_build_id_in_notes(&id, bytes, 28), -ENOENT);
	}
}

TEST(files_of_notes)
{
	char path[] = "/tmp/opd-notes-XXXXXX";
	uint8_t bytes[20000] = { 0 };
	int fd = mkstemp(path);
	struct op_build_id id;
	size_t len;

	assert_true(fd >= 0);
	assert_int_equal(op_build_id_of_notes_file(&id, path), -ENOENT);
	len = put_note(bytes, "GNU", NT_GNU_ABI_TAG, 16);
	len += put_note(bytes + len, "GNU", NT_GNU_BUILD_ID, 20);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(op_build_id_of_notes_file(&id, path), 0);
	assert_int_equal(id.len, 20);
	/* Longer than any notes are. */
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(op_build_id_of_notes_file(&id, path), 0);
	close(fd);
	unlink(path);
	assert_int_equal(op_build_id_of_notes_file(&id, path), -ENOENT);
	assert_true(op_build_id_of_notes_file(&id, "/tmp") < 0);
}

/* ---- ELF files --------------------------------------------------------------
 */

#define NOTES_AT 512
#define ELF_LEN 1024

/* A program in the making; its headers are those of one class. */
struct elf {
	bool is_64;
	uint8_t bytes[ELF_LEN];
	unsigned int nr; /* program headers */
};

static void elf_begin(struct elf *elf, bool is_64)
{
	Elf64_Ehdr h64 = { .e_phoff = sizeof(h64),
			   .e_phentsize = sizeof(Elf64_Phdr) };
	Elf32_Ehdr h32 = { .e_phoff = sizeof(h32),
			   .e_phentsize = sizeof(Elf32_Phdr) };

	memset(elf, 0, sizeof(*elf));
	elf->is_64 = is_64;
	if (is_64)
		memcpy(elf->bytes, &h64, sizeof(h64));
	else
		memcpy(elf->bytes, &h32, sizeof(h32));
	memcpy(elf->bytes, ELFMAG, SELFMAG);
	elf->bytes[EI_CLASS] = is_64 ? ELFCLASS64 : ELFCLASS32;
	elf->bytes[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
				      ? ELFDATA2LSB
				      : ELFDATA2MSB;
}

static void elf_set_phnum(struct elf *elf, unsigned int nr)
{
	uint16_t value = (uint16_t)nr;

	memcpy(elf->bytes + (elf->is_64 ? offsetof(Elf64_Ehdr, e_phnum)
					: offsetof(Elf32_Ehdr, e_phnum)),
	       &value, sizeof(value));
}

static void elf_set_phoff(struct elf *elf, uint64_t at)
{
	uint32_t at32 = (uint32_t)at;

	if (elf->is_64)
		memcpy(elf->bytes + offsetof(Elf64_Ehdr, e_phoff), &at,
		       sizeof(at));
	else
		memcpy(elf->bytes + offsetof(Elf32_Ehdr, e_phoff), &at32,
		       sizeof(at32));
}

static void elf_add(struct elf *elf, uint32_t type, uint64_t offset,
		    uint64_t len)
{
	Elf64_Phdr p64 = { .p_type = type,
			   .p_offset = offset,
			   .p_filesz = len };
	Elf32_Phdr p32 = {
		.p_type = type,
		.p_offset = (uint32_t)offset,
		.p_filesz = (uint32_t)len,
	};
	size_t i = elf->nr++;

	if (elf->is_64)
		memcpy(elf->bytes + sizeof(Elf64_Ehdr) + i * sizeof(p64), &p64,
		       sizeof(p64));
	else
		memcpy(elf->bytes + sizeof(Elf32_Ehdr) + i * sizeof(p32), &p32,
		       sizeof(p32));
	elf_set_phnum(elf, elf->nr);
}

/* One with a build-id of 20 bytes, behind other notes and segments. */
static void elf_usual(struct elf *elf, bool is_64)
{
	size_t first, len;

	elf_begin(elf, is_64);
	first = put_note(elf->bytes + NOTES_AT, "GNU", NT_GNU_PROPERTY_TYPE_0,
			 16);
	len = put_note(elf->bytes + NOTES_AT + first, "GNU", NT_GNU_ABI_TAG,
		       16);
	len += put_note(elf->bytes + NOTES_AT + first + len, "GNU",
			NT_GNU_BUILD_ID, 20);
	elf_add(elf, PT_LOAD, 0, ELF_LEN);
	elf_add(elf, PT_NOTE, NOTES_AT, first);
	elf_add(elf, PT_NOTE, NOTES_AT + first, len);
	elf_add(elf, PT_GNU_STACK, 0, 0);
}

/* What is said of the first @len bytes as a file. */
static int ask_part(const struct elf *elf, size_t len, struct op_build_id *id)
{
	FILE *file = tmpfile();
	int err;

	assert_non_null(file);
	assert_int_equal(write(fileno(file), elf->bytes, len), len);
	memset(id, 0xff, sizeof(*id));
	err = op_build_id_of_elf(id, fileno(file));
	fclose(file);
	return err;
}

static int ask(const struct elf *elf)
{
	struct op_build_id id;

	return ask_part(elf, ELF_LEN, &id);
}

TEST(files_of_programs)
{
	struct op_build_id id;
	uint8_t expected[20];
	struct elf elf;

	memset(expected, 0xab, sizeof(expected));
	for (int is_64 = 0; is_64 < 2; is_64++) {
		elf_usual(&elf, is_64);
		assert_int_equal(ask_part(&elf, ELF_LEN, &id), 0);
		assert_int_equal(id.len, 20);
		assert_memory_equal(id.bytes, expected, 20);
		/* From anywhere in the file. */
		elf_begin(&elf, is_64);
		elf_add(&elf, PT_LOAD, 0, ELF_LEN);
		assert_int_equal(ask(&elf), -ENOENT);
		elf_begin(&elf, is_64);
		assert_int_equal(ask(&elf), -ENOENT);
	}
}

/* What the notes of this program say as they are in memory. */
static int ask_memory(struct dl_phdr_info *info, size_t len, void *arg)
{
	/* The headers are at the start of what is loaded. */
	const char *base = (const char *)info->dlpi_phdr - sizeof(ElfW(Ehdr));
	const ElfW(Phdr) *p = info->dlpi_phdr;
	struct op_build_id *id = arg;

	(void)len;
	for (int i = 0; !id->len && i < info->dlpi_phnum; i++)
		if (p[i].p_type == PT_NOTE &&
		    op_build_id_in_notes(id, base + p[i].p_offset,
					 p[i].p_filesz))
			id->len = 0;
	return 1; /* the first one is the program */
}

TEST(this_program)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct op_build_id in_file = { 0, { 0 } }, in_memory = { 0, { 0 } };
	int err;

	assert_true(fd >= 0);
	err = op_build_id_of_elf(&in_file, fd);
	close(fd);
	dl_iterate_phdr(ask_memory, &in_memory);
	assert_int_equal(err, in_memory.len ? 0 : -ENOENT);
	assert_int_equal(in_file.len, in_memory.len);
	assert_memory_equal(in_file.bytes, in_memory.bytes, in_file.len);
}

TEST(cut_programs)
{
	struct op_build_id id;
	struct elf elf;

	for (int is_64 = 0; is_64 < 2; is_64++) {
		size_t end = NOTES_AT + 32 + 32 + 36;

		elf_usual(&elf, is_64);
		assert_int_equal(ask_part(&elf, end, &id), 0);
		for (size_t len = 0; len < end; len++)
			assert_true(ask_part(&elf, len, &id) < 0);
		assert_int_equal(ask_part(&elf, 0, &id), -EBADMSG);
		assert_int_equal(ask_part(&elf, 40, &id), -EBADMSG);
	}
}

TEST(what_is_no_program)
{
	struct elf elf;

	elf_usual(&elf, true);
	elf.bytes[1] = 'e';
	assert_int_equal(ask(&elf), -EBADMSG);
	elf_usual(&elf, true);
	elf.bytes[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	assert_int_equal(ask(&elf), -EBADMSG);
	elf_usual(&elf, true);
	elf.bytes[EI_DATA] = ELFDATANONE;
	assert_int_equal(ask(&elf), -EBADMSG);
	memset(elf.bytes, 0, sizeof(elf.bytes));
	assert_int_equal(ask(&elf), -EBADMSG);
	memset(elf.bytes, 0xff, sizeof(elf.bytes));
	assert_int_equal(ask(&elf), -EBADMSG);
}

/* As many program headers as there can be, and where they cannot be. */
TEST(headers_that_lie)
{
	static const uint64_t ats[] = { ELF_LEN, ELF_LEN - 8, 0xfffffff0,
					UINT64_MAX, UINT64_MAX - 55 };
	struct elf elf;

	for (int is_64 = 0; is_64 < 2; is_64++) {
		/* Too far for any file: that has another number. */
		elf_usual(&elf, is_64);
		elf_set_phoff(&elf, INT64_MAX);
		assert_true(ask(&elf) < 0);
		elf_usual(&elf, is_64);
		elf_set_phnum(&elf, 65535);
		assert_int_equal(ask(&elf), -EBADMSG);
		elf_usual(&elf, is_64);
		elf_set_phnum(&elf, 1);
		assert_int_equal(ask(&elf), -ENOENT);
		for (size_t i = 0; i < sizeof(ats) / sizeof(ats[0]); i++) {
			elf_usual(&elf, is_64);
			elf_set_phoff(&elf, ats[i]);
			assert_int_equal(ask(&elf), -EBADMSG);
		}
	}
}

/* A segment of notes that is not there does not hide the next one. */
TEST(segments_that_lie)
{
	static const uint64_t lies[][2] = {
		{ ELF_LEN, 1 },
		{ ELF_LEN - 1, 2 },
		{ UINT64_MAX, 8 },
		{ 1, UINT64_MAX },
		{ (uint64_t)INT64_MAX, 100 },
		{ NOTES_AT, 65536 },
		{ 0xffffffff, 0xffffffff },
		{ NOTES_AT, 0 },
	};
	struct elf elf;

	for (int is_64 = 0; is_64 < 2; is_64++) {
		for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			elf_begin(&elf, is_64);
			elf_add(&elf, PT_NOTE, lies[i][0], lies[i][1]);
			assert_true(ask(&elf) < 0);
			put_note(elf.bytes + NOTES_AT, "GNU", NT_GNU_BUILD_ID,
				 20);
			elf_add(&elf, PT_NOTE, NOTES_AT, 36);
			assert_int_equal(ask(&elf), 0);
		}
	}
}

/* Lengths in the note itself; the segment is as long as it says. */
TEST(notes_that_lie)
{
	static const Elf64_Nhdr lies[] = {
		{ 4, 21, NT_GNU_BUILD_ID },
		{ 4, 33, NT_GNU_BUILD_ID },
		{ 4, 0, NT_GNU_BUILD_ID },
		{ 4, UINT32_MAX, NT_GNU_BUILD_ID },
		{ UINT32_MAX, 20, NT_GNU_BUILD_ID },
		{ UINT32_MAX - 3, UINT32_MAX - 3, NT_GNU_BUILD_ID },
		{ 3, 20, NT_GNU_BUILD_ID },
		{ 4, 20, NT_GNU_ABI_TAG },
	};
	struct elf elf;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		elf_begin(&elf, true);
		put_note(elf.bytes + NOTES_AT, "GNU", NT_GNU_BUILD_ID, 20);
		memcpy(elf.bytes + NOTES_AT, &lies[i], sizeof(lies[i]));
		elf_add(&elf, PT_NOTE, NOTES_AT, 36);
		assert_int_equal(ask(&elf), -ENOENT);
	}
}

/* Any one byte of the headers and notes may be any other. */
TEST(damaged_programs_are_harmless)
{
	struct op_build_id id;
	struct elf elf;

	for (size_t i = 0; i < NOTES_AT + 100; i++) {
		if (i == 64 + 4 * sizeof(Elf64_Phdr))
			i = NOTES_AT;
		for (unsigned int bit = 0; bit < 8; bit++) {
			elf_usual(&elf, true);
			elf.bytes[i] ^= (uint8_t)(1 << bit);
			if (!ask_part(&elf, ELF_LEN, &id))
				assert_true(id.len > 0 &&
					    id.len <= OP_BUILD_ID_MAX);
		}
	}
	assert_true(op_build_id_of_elf(&id, -1) < 0);
}

TEST(as_text)
{
	static const uint8_t id[32] = { 0x01, 0xab, 0xff, 0x00, 0x7e };
	char buf[65];

	assert_string_equal(op_build_id_text(id, 4, buf), "01abff00");
	assert_string_equal(op_build_id_text(id, 0, buf), "-");
	assert_string_equal(op_build_id_text(NULL, 0, buf), "-");
	assert_int_equal(strlen(op_build_id_text(id, 32, buf)), 64);
	assert_int_equal(strlen(op_build_id_text(id, 33, buf)), 64);
}

/* ---- fingerprints ---------------------------------------------------------
 */

#define FINGERPRINT UINT64_C(0x0123456789abcdef)

static struct op_build_id id_of(unsigned int len, uint64_t fingerprint)
{
	struct op_build_id id = { .len = len };

	memset(id.bytes, 0xab, len);
	op_build_id_set_fingerprint(&id, fingerprint);
	return id;
}

/* Behind 24 bytes of build-id there is room for one. */
TEST(fingerprints_in_the_room)
{
	struct op_build_id id = id_of(24, FINGERPRINT), again;
	uint8_t room[OP_BUILD_ID_MAX];

	assert_int_equal(id.bytes[23], 0xab);
	assert_int_equal(id.bytes[24], 0x01);
	assert_int_equal(id.bytes[31], 0xef);
	assert_int_equal(op_build_id_fingerprint(&id), FINGERPRINT);
	id.len = 25;
	assert_int_equal(op_build_id_fingerprint(&id), 0);
	id.len = 0;
	assert_int_equal(op_build_id_fingerprint(&id), 0);
	id = id_of(25, FINGERPRINT);
	assert_int_equal(id.bytes[25], 0);
	assert_int_equal(id.bytes[31], 0);
	assert_int_equal(op_build_id_fingerprint(&id), 0);
	id = id_of(0, FINGERPRINT);
	assert_int_equal(id.bytes[31], 0);
	/* Bytes between build-id and fingerprint are left out. */
	memset(room, 0xcd, sizeof(room));
	again = op_build_id_of_room(room, 20);
	assert_int_equal(again.len, 20);
	assert_int_equal(again.bytes[19], 0xcd);
	assert_int_equal(again.bytes[20], 0);
	assert_int_equal(again.bytes[23], 0);
	assert_int_equal(again.bytes[24], 0xcd);
	again = op_build_id_of_room(room, 0);
	assert_int_equal(again.bytes[24], 0);
	again = op_build_id_of_room(room, 32);
	assert_memory_equal(again.bytes, room, 32);
}

TEST(builds_of_one_build_id)
{
	static const struct {
		uint64_t a, b;
		bool agree;
	} rows[] = {
		{ 0, 0, true },
		{ FINGERPRINT, 0, true },
		{ 0, FINGERPRINT, true },
		{ FINGERPRINT, FINGERPRINT, true },
		{ FINGERPRINT, FINGERPRINT + 1, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_build_id a = id_of(20, rows[i].a);
		struct op_build_id b = id_of(20, rows[i].b);

		assert_true(op_build_id_same(&a, &b));
		assert_int_equal(op_build_id_agrees(&a, &b), rows[i].agree);
		assert_int_equal(op_builds_differ(&a, 1, &b, 2),
				 !rows[i].agree);
		b.bytes[0]++;
		assert_false(op_build_id_agrees(&a, &b));
		b.len = 0;
		assert_false(op_build_id_agrees(&a, &b));
	}
}

TEST(texts_of_fingerprints)
{
	static const char *const bad[] = {
		"abab-",
		"abab-0123456789abcde",
		"abab-0123456789abcdef0",
		"abab-0000000000000000",
		"abab-0123456789abcdeF",
		"abab+0123456789abcdef",
		"aba-0123456789abcdef",
		"-0123456789abcdef",
		/* too long to have one */
		("ababababababababababababababababababababababababab"
		 "-0123456789abcdef"),
	};
	struct op_build_id id = id_of(2, FINGERPRINT);
	char text[OP_BUILD_TEXT_MAX];

	op_build_text(text, &id, 1, 2, 3);
	assert_string_equal(text, "abab-0123456789abcdef");
	assert_true(op_build_text_ok(text));
	id = id_of(2, 0x1f);
	op_build_text(text, &id, 1, 2, 3);
	assert_string_equal(text, "abab-000000000000001f");
	assert_true(op_build_text_ok(text));
	id = id_of(24, UINT64_MAX);
	op_build_text(text, &id, 1, 2, 3);
	assert_int_equal(strlen(text), OP_BUILD_TEXT_MAX - 1);
	assert_true(op_build_text_ok(text));
	id = id_of(2, 0);
	op_build_text(text, &id, 1, 2, 3);
	assert_string_equal(text, "abab");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (op_build_text_ok(bad[i]))
			fail_msg("%s", bad[i]);
}

/* Of a file with code there is one, of a file without code there is none. */
TEST(fingerprints_of_files)
{
	struct op_build_id id, other;
	struct elf elf;

	elf_usual(&elf, true);
	assert_int_equal(ask_part(&elf, ELF_LEN, &id), 0);
	assert_int_equal(op_build_id_fingerprint(&id), 0);
	memcpy(elf.bytes + sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_flags),
	       &(uint32_t){ PF_X }, sizeof(uint32_t));
	assert_int_equal(ask_part(&elf, ELF_LEN, &id), 0);
	assert_true(op_build_id_fingerprint(&id) != 0);
	elf.bytes[ELF_LEN - 1]++;
	assert_int_equal(ask_part(&elf, ELF_LEN, &other), 0);
	assert_true(op_build_id_same(&id, &other));
	assert_false(op_build_id_agrees(&id, &other));
}
