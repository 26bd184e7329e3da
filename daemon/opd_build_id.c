// SPDX-License-Identifier: GPL-2.0-or-later

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "daemon/opd_build_id.h"

#define MAX_NOTES 16384 /* bytes of notes that are read */

/* Elf32_Nhdr and Elf64_Nhdr are the same three words. */
_Static_assert(sizeof(Elf32_Nhdr) == sizeof(Elf64_Nhdr), "one note header");

static size_t round_up(size_t n)
{
	return (n + 3) / 4 * 4;
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
			  size_t len)
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
	return opd_build_id_in_notes(id, notes, (size_t)len);
}
