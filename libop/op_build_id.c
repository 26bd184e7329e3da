// SPDX-License-Identifier: GPL-2.0-or-later

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "libop/op_build_id.h"
#include "libop/op_file.h"

#define MAX_NOTES 16384 /* bytes of notes that are read */

/* Elf32_Nhdr and Elf64_Nhdr are the same three words. */
_Static_assert(sizeof(Elf32_Nhdr) == sizeof(Elf64_Nhdr), "one note header");

static size_t round_up(size_t n)
{
	return (n + 3) / 4 * 4;
}

static bool take_note(struct op_build_id *id, const Elf64_Nhdr *note,
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
		desc = round_up(at + note.n_namesz);
		if (desc > len || note.n_descsz > len - desc)
			break;
		if (take_note(id, &note, bytes + at, bytes + desc))
			return 0;
		at = round_up(desc + note.n_descsz);
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

#define MAX_SEGMENTS 64 /* program headers that are looked at */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

/* A program header, of either class. */
struct segment {
	uint32_t type;
	uint64_t offset;
	uint64_t len;
};

/* Where the program headers are. */
struct segments {
	bool is_64;
	uint64_t offset;
	unsigned int entry_len;
	unsigned int nr;
};

static int read_header(int fd, struct segments *out)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} h;
	int err = op_file_read_at(fd, &h, sizeof(h), 0);

	if (err)
		return err;
	if (memcmp(h.ident, ELFMAG, SELFMAG) || h.ident[EI_DATA] != OWN_ORDER)
		return -EBADMSG;
	out->is_64 = h.ident[EI_CLASS] == ELFCLASS64;
	out->offset = out->is_64 ? h.e64.e_phoff : h.e32.e_phoff;
	out->nr = out->is_64 ? h.e64.e_phnum : h.e32.e_phnum;
	out->entry_len = out->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	return out->nr <= MAX_SEGMENTS ? 0 : -EBADMSG;
}

static int read_segment(int fd, const struct segments *all, unsigned int nr,
			struct segment *out)
{
	union {
		Elf32_Phdr p32;
		Elf64_Phdr p64;
	} p;
	uint64_t at = all->offset + (uint64_t)nr * all->entry_len;
	int err = op_file_read_at(fd, &p, all->entry_len, at);

	if (err)
		return err;
	out->type = all->is_64 ? p.p64.p_type : p.p32.p_type;
	out->offset = all->is_64 ? p.p64.p_offset : p.p32.p_offset;
	out->len = all->is_64 ? p.p64.p_filesz : p.p32.p_filesz;
	return 0;
}

static int read_notes(struct op_build_id *id, int fd, struct segment *segment)
{
	uint8_t notes[MAX_NOTES];
	int err;

	if (segment->len > sizeof(notes))
		segment->len = sizeof(notes);
	err = op_file_read_at(fd, notes, segment->len, segment->offset);
	return err ? err : op_build_id_in_notes(id, notes, segment->len);
}

int op_build_id_of_elf(struct op_build_id *id, int fd)
{
	struct segments all;
	struct segment segment;
	int err = read_header(fd, &all);

	for (unsigned int i = 0; !err && i < all.nr; i++) {
		err = read_segment(fd, &all, i, &segment);
		if (!err && segment.type == PT_NOTE &&
		    !read_notes(id, fd, &segment))
			return 0;
	}
	return err ? err : -ENOENT;
}

bool op_builds_differ(const struct op_build_id *a, uint64_t a_mtime,
		      const struct op_build_id *b, uint64_t b_mtime)
{
	if (a->len && b->len)
		return a->len != b->len || memcmp(a->bytes, b->bytes, a->len);
	return a_mtime && b_mtime && a_mtime != b_mtime;
}
