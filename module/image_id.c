// SPDX-License-Identifier: GPL-2.0
/*
 * The file belongs to any user, so no number in it is believed: the counts of
 * headers and the lengths of notes are bounded, each note is checked against
 * what is left, and reads beyond the end fail. A file on FUSE is not read,
 * because the process behind it could make the work item wait for ever. Both
 * ELF classes are read, of the byte order of this machine only, as no other
 * runs here.
 */

#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "image_id.h"

#define NOTE_BUILD_ID 3 /* NT_GNU_BUILD_ID, gABI notes of owner "GNU" */
#define MAX_HEADERS 64
#define MAX_NOTES 4096 /* bytes of one note segment that are looked at */

/* What is needed of a program header, for both ELF classes. */
struct segment {
	u32 type;
	u64 offset;
	u64 len; /* bytes */
};

static bool read_at(struct file *file, void *buf, size_t len, u64 offset)
{
	loff_t pos = offset;

	if (offset > S64_MAX - len)
		return false;
	return kernel_read(file, buf, len, &pos) == (ssize_t)len;
}

/* The build-id among @len bytes of notes (gABI: 4-byte words, padded to 4). */
static bool find_note(struct image_id *id, const u8 *notes, size_t len)
{
	size_t at = 0;

	while (len - at >= sizeof(Elf32_Nhdr)) {
		const Elf32_Nhdr *note = (const void *)(notes + at);
		u64 name_len = ALIGN((u64)note->n_namesz, 4);
		u64 desc_len = ALIGN((u64)note->n_descsz, 4);
		const u8 *name = (const u8 *)(note + 1);

		at += sizeof(*note);
		if (name_len + desc_len > len - at)
			return false;
		if (note->n_type == NOTE_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(name, "GNU", 4) && note->n_descsz &&
		    note->n_descsz <= sizeof(id->bytes)) {
			id->len = note->n_descsz;
			memcpy(id->bytes, name + name_len, id->len);
			return true;
		}
		at += name_len + desc_len;
	}
	return false;
}

static bool read_segment(struct file *file, const u8 *ident, u64 offset,
			 struct segment *segment)
{
	union {
		Elf32_Phdr h32;
		Elf64_Phdr h64;
	} h;

	if (ident[EI_CLASS] == ELFCLASS64) {
		if (!read_at(file, &h.h64, sizeof(h.h64), offset))
			return false;
		*segment = (struct segment){ h.h64.p_type, h.h64.p_offset,
					     h.h64.p_filesz };
	} else {
		if (!read_at(file, &h.h32, sizeof(h.h32), offset))
			return false;
		*segment = (struct segment){ h.h32.p_type, h.h32.p_offset,
					     h.h32.p_filesz };
	}
	return true;
}

static void scan_segments(struct image_id *id, struct file *file,
			  const u8 *ident, u64 offset, unsigned int nr,
			  unsigned int size, u8 *notes)
{
	struct segment segment;
	unsigned int i;

	for (i = 0; i < min_t(unsigned int, nr, MAX_HEADERS); i++) {
		if (!read_segment(file, ident, offset + (u64)i * size,
				  &segment))
			return;
		if (segment.type != PT_NOTE)
			continue;
		segment.len = min_t(u64, segment.len, MAX_NOTES);
		if (read_at(file, notes, segment.len, segment.offset) &&
		    find_note(id, notes, segment.len))
			return;
	}
}

static bool is_readable(const struct file *file)
{
	/* A read from FUSE may take as long as its user likes. */
	return file->f_mode & FMODE_READ && file->f_op->read_iter &&
	       !file->f_op->read &&
	       file_inode(file)->i_sb->s_magic != FUSE_SUPER_MAGIC;
}

void image_id_read(struct image_id *id, struct file *file)
{
	static const u8 native =
		IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ? ELFDATA2MSB : ELFDATA2LSB;
	union {
		u8 ident[EI_NIDENT];
		Elf32_Ehdr h32;
		Elf64_Ehdr h64;
	} h;
	u8 *notes;

	id->len = 0;
	if (!is_readable(file) || !read_at(file, &h, sizeof(h.h32), 0) ||
	    memcmp(h.ident, ELFMAG, SELFMAG) || h.ident[EI_DATA] != native)
		return;
	notes = kmalloc(MAX_NOTES, GFP_KERNEL);
	if (!notes)
		return;
	if (h.ident[EI_CLASS] == ELFCLASS32)
		scan_segments(id, file, h.ident, h.h32.e_phoff, h.h32.e_phnum,
			      h.h32.e_phentsize, notes);
	else if (h.ident[EI_CLASS] == ELFCLASS64 &&
		 read_at(file, &h, sizeof(h.h64), 0))
		scan_segments(id, file, h.ident, h.h64.e_phoff, h.h64.e_phnum,
			      h.h64.e_phentsize, notes);
	kfree(notes);
}
