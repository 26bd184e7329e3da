// SPDX-License-Identifier: GPL-2.0-or-later

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "daemon/opd_build_id.h"

#define MAX_SEGMENTS 256 /* of program headers that are looked at */
#define MAX_NOTES 16384 /* bytes of notes that are read */

/* Elf32_Nhdr and Elf64_Nhdr are the same three words. */
_Static_assert(sizeof(Elf32_Nhdr) == sizeof(Elf64_Nhdr), "one note header");

static size_t round_up(size_t n, size_t align)
{
	return (n + align - 1) / align * align;
}

static bool take_note(struct opd_build_id *id, const Elf64_Nhdr *note,
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

int opd_build_id_in_notes(struct opd_build_id *id, const void *notes,
			  size_t len, size_t align)
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
		desc = round_up(at + note.n_namesz, align);
		if (desc > len || note.n_descsz > len - desc)
			break;
		if (take_note(id, &note, bytes + at, bytes + desc))
			return 0;
		at = round_up(desc + note.n_descsz, align);
	}
	return -ENOENT;
}

/* Returns 0; -ENOEXEC when the file ends before. */
static int read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	ssize_t done;

	if (offset > INT64_MAX - len)
		return -ENOEXEC;
	done = pread(fd, buf, len, (off_t)offset);
	if (done < 0)
		return -errno;
	return (size_t)done == len ? 0 : -ENOEXEC;
}

static int search_segment(struct opd_build_id *id, int fd, uint64_t offset,
			  uint64_t len, uint64_t align)
{
	uint8_t notes[MAX_NOTES];
	int err;

	if (len > sizeof(notes))
		len = sizeof(notes);
	err = read_at(fd, notes, len, offset);
	if (err)
		return err;
	return opd_build_id_in_notes(id, notes, len, align == 8 ? 8 : 4);
}

/* The two classes differ in the order and size of the same fields. */
#define DEFINE_SEARCH(bits)                                                    \
	static int search_elf##bits(struct opd_build_id *id, int fd)           \
	{                                                                      \
		Elf##bits##_Ehdr eh;                                           \
		Elf##bits##_Phdr ph;                                           \
		int err = read_at(fd, &eh, sizeof(eh), 0);                     \
                                                                               \
		if (err)                                                       \
			return err;                                            \
		if (eh.e_phentsize != sizeof(ph) || eh.e_phnum > MAX_SEGMENTS) \
			return -ENOEXEC;                                       \
		for (uint64_t i = 0; i < eh.e_phnum; i++) {                    \
			if (eh.e_phoff > INT64_MAX - i * sizeof(ph))           \
				return -ENOEXEC;                               \
			err = read_at(fd, &ph, sizeof(ph),                     \
				      eh.e_phoff + i * sizeof(ph));            \
			if (err)                                               \
				return err;                                    \
			if (ph.p_type == PT_NOTE &&                            \
			    !search_segment(id, fd, ph.p_offset, ph.p_filesz,  \
					    ph.p_align))                       \
				return 0;                                      \
		}                                                              \
		return -ENOENT;                                                \
	}

DEFINE_SEARCH(32)
DEFINE_SEARCH(64)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ELFDATA ELFDATA2LSB
#else
#define OWN_ELFDATA ELFDATA2MSB
#endif

int opd_build_id_of_elf(struct opd_build_id *id, int fd)
{
	unsigned char ident[EI_NIDENT];
	int err = read_at(fd, ident, sizeof(ident), 0);

	if (err)
		return err;
	if (memcmp(ident, ELFMAG, SELFMAG) || ident[EI_DATA] != OWN_ELFDATA)
		return -ENOEXEC;
	if (ident[EI_CLASS] == ELFCLASS64)
		return search_elf64(id, fd);
	if (ident[EI_CLASS] == ELFCLASS32)
		return search_elf32(id, fd);
	return -ENOEXEC;
}

int opd_build_id_of_notes_file(struct opd_build_id *id, const char *path)
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
	return opd_build_id_in_notes(id, notes, (size_t)len, 4);
}
