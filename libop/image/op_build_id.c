// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A build-id is a note of the name "GNU" and the type NT_GNU_BUILD_ID (ELF,
 * System V ABI, chapter 5). Notes follow each other, name and content padded to
 * words of 4 bytes. A note whose sizes lead beyond what was read ends the
 * search; one that is no build-id is passed over. Of a file the segments of
 * notes are looked at, one after the other, as a stripped binary has those and
 * no sections.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libop/image/op_build_id.h"
#include "libop/image/op_elf.h"
#include "libop/image/op_fingerprint.h"

#define MAX_NOTES 16384 /* bytes of notes that are read */

/* Elf32_Nhdr and Elf64_Nhdr are the same three words. */
_Static_assert(sizeof(Elf32_Nhdr) == sizeof(Elf64_Nhdr), "one note header");

static size_t round_up_to_word(size_t n)
{
	return (n + 3) / 4 * 4;
}

static bool parse_build_id_note(struct op_build_id *id, const Elf64_Nhdr *note,
				const uint8_t *name, const uint8_t *desc)
{
	if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 ||
	    memcmp(name, "GNU", 4))
		return false;
	if (note->n_descsz == 0 || note->n_descsz > sizeof(id->bytes))
		return false;
	memset(id, 0, sizeof(*id));
	id->len = note->n_descsz;
	memcpy(id->bytes, desc, note->n_descsz);
	return true;
}

int op_build_id_in_notes(struct op_build_id *id, const void *notes, size_t len)
{
	const uint8_t *bytes = notes;
	size_t at = 0;

	while (at < len && len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t desc;

		memcpy(&note, bytes + at, sizeof(note));
		at += sizeof(note);
		if (note.n_namesz > len - at)
			break;
		desc = round_up_to_word(at + note.n_namesz);
		if (desc > len || note.n_descsz > len - desc)
			break;
		if (parse_build_id_note(id, &note, bytes + at, bytes + desc))
			return 0;
		at = round_up_to_word(desc + note.n_descsz);
	}
	return -ENOENT;
}

int op_build_id_of_notes_file(struct op_build_id *id, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t notes[MAX_NOTES];
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, notes, sizeof(notes));
	close(fd);
	if (len < 0)
		return -EIO;
	return op_build_id_in_notes(id, notes, (size_t)len);
}

/* ---- ELF files --------------------------------------------------------------
 */

static int read_notes(struct op_build_id *id, const struct op_elf *elf,
		      uint64_t offset, uint64_t size)
{
	size_t len = size < MAX_NOTES ? size : MAX_NOTES;
	uint8_t notes[MAX_NOTES];
	int err = op_elf_read(elf, offset, notes, len);

	return err ? err : op_build_id_in_notes(id, notes, len);
}

/* Damage is no failure: a damaged part has no build-id. A file that cannot be
 * read is a failure.
 */
static int pass_damage(int err)
{
	return err == -ENOENT || err == -ENOEXEC ? 0 : err;
}

/* A segment of notes that is damaged does not hide the next one. */
static int read_segments(struct op_build_id *id, const struct op_elf *elf)
{
	struct op_elf_segment segment;
	unsigned int nr;
	int err = op_elf_count_segments(elf, &nr);

	for (unsigned int i = 0; !err && i < nr; i++) {
		err = op_elf_segment(elf, i, &segment);
		if (err || segment.type != PT_NOTE)
			continue;
		err = read_notes(id, elf, segment.offset, segment.size);
		if (!err)
			return 0;
		err = pass_damage(err);
	}
	return err ? err : -ENOENT;
}

/* Modules of the kernel and digests of binaries have no segments, those of
 * debug files lead nowhere. */
static int read_note_sections(struct op_build_id *id, const struct op_elf *elf)
{
	struct op_elf_section section;
	uint64_t nr, names;
	int err = op_elf_count_sections(elf, &nr, &names);

	for (uint64_t i = 0; !err && i < nr; i++) {
		err = op_elf_section(elf, i, &section);
		if (err || section.type != SHT_NOTE)
			continue;
		err = read_notes(id, elf, section.offset, section.size);
		if (!err)
			return 0;
		err = pass_damage(err);
	}
	return pass_damage(err) ?: -ENOENT;
}

/* ---- the fingerprint --------------------------------------------------------
 */

static bool has_room_for_fingerprint(size_t len)
{
	return len && len <= OP_FINGERPRINT_AT;
}

uint64_t op_build_id_fingerprint(const struct op_build_id *id)
{
	uint64_t fingerprint = 0;

	if (!has_room_for_fingerprint(id->len))
		return 0;
	for (int i = OP_FINGERPRINT_AT; i < OP_BUILD_ID_MAX; i++)
		fingerprint = fingerprint << 8 | id->bytes[i];
	return fingerprint;
}

void op_build_id_set_fingerprint(struct op_build_id *id, uint64_t fingerprint)
{
	if (!has_room_for_fingerprint(id->len))
		return;
	for (int i = OP_BUILD_ID_MAX - 1; i >= OP_FINGERPRINT_AT; i--) {
		id->bytes[i] = (uint8_t)fingerprint;
		fingerprint >>= 8;
	}
}

struct op_build_id op_build_id_of_room(const uint8_t *room, size_t len)
{
	struct op_build_id id = { .len = (unsigned int)len };

	if (!len)
		return id;
	memcpy(id.bytes, room, len);
	if (has_room_for_fingerprint(len))
		memcpy(id.bytes + OP_FINGERPRINT_AT, room + OP_FINGERPRINT_AT,
		       OP_BUILD_ID_MAX - OP_FINGERPRINT_AT);
	return id;
}

/* ---- as text ----------------------------------------------------------------
 */

#define HEX_DIGITS "0123456789abcdef"
#define FINGERPRINT_TEXT "-%016" PRIx64
#define FINGERPRINT_DIGITS (OP_FINGERPRINT_TEXT_LEN - 1)
#define FILE_TEXT "file-%" PRIx64 "-%" PRIx64 "-%" PRIx64

const char *op_build_id_text(const uint8_t *id, size_t len, char *text)
{
	if (!len)
		return strcpy(text, "-");
	if (len > OP_BUILD_ID_MAX)
		len = OP_BUILD_ID_MAX;
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text;
}

void op_build_text(char *text, const struct op_build_id *id, uint64_t dev,
		   uint64_t ino, uint64_t mtime)
{
	uint64_t fingerprint = op_build_id_fingerprint(id);
	size_t len;

	*text = '\0';
	if (id->len)
		op_build_id_text(id->bytes, id->len, text);
	else if (dev || ino || mtime)
		snprintf(text, OP_BUILD_TEXT_MAX, FILE_TEXT, dev, ino, mtime);
	len = strlen(text);
	if (fingerprint)
		snprintf(text + len, OP_BUILD_TEXT_MAX - len, FINGERPRINT_TEXT,
			 fingerprint);
}

/* sscanf() accepts signs, blanks and leading zeros; a text with one of these
 * differs from the text that is written for its numbers. */
static bool is_file_text(const char *text)
{
	char again[OP_BUILD_TEXT_MAX];
	uint64_t dev, ino, mtime;

	if (strlen(text) >= sizeof(again) ||
	    sscanf(text, "file-%" SCNx64 "-%" SCNx64 "-%" SCNx64, &dev, &ino,
		   &mtime) != 3)
		return false;
	op_build_text(again, &(struct op_build_id){ 0 }, dev, ino, mtime);
	return !strcmp(text, again);
}

/* A fingerprint that is not known is left out. */
static bool is_fingerprint_text(const char *text)
{
	return *text++ == '-' && strlen(text) == FINGERPRINT_DIGITS &&
	       strspn(text, HEX_DIGITS) == FINGERPRINT_DIGITS &&
	       strspn(text, "0") < FINGERPRINT_DIGITS;
}

bool op_build_text_ok(const char *text)
{
	size_t len = strspn(text, HEX_DIGITS);

	if (!len || len % 2 || len > (size_t)2 * OP_BUILD_ID_MAX)
		return is_file_text(text);
	return !text[len] || (len <= (size_t)2 * OP_FINGERPRINT_AT &&
			      is_fingerprint_text(text + len));
}

bool op_build_id_same(const struct op_build_id *a, const struct op_build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

bool op_build_id_agrees(const struct op_build_id *a,
			const struct op_build_id *b)
{
	uint64_t x = op_build_id_fingerprint(a);
	uint64_t y = op_build_id_fingerprint(b);

	return op_build_id_same(a, b) && (!x || !y || x == y);
}

bool op_builds_differ(const struct op_build_id *a, uint64_t a_mtime,
		      const struct op_build_id *b, uint64_t b_mtime)
{
	if (a->len && b->len)
		return !op_build_id_agrees(a, b);
	return a_mtime && b_mtime && a_mtime != b_mtime;
}

int op_build_id_of_elf(struct op_build_id *id, int fd)
{
	uint64_t fingerprint;
	struct op_elf elf;
	int err = op_elf_init(&elf, fd);

	/* The words of notes have the file's byte order. */
	if (!err && elf.big_endian != (__BYTE_ORDER == __BIG_ENDIAN))
		err = -ENOEXEC;
	if (!err)
		err = read_segments(id, &elf);
	if (err == -ENOENT)
		err = read_note_sections(id, &elf);
	if (!err)
		err = op_fingerprint(&elf, &fingerprint);
	if (!err)
		op_build_id_set_fingerprint(id, fingerprint);
	return err == -ENOEXEC ? -EBADMSG : err;
}
