// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the entries of .eh_frame and .debug_frame: CIEs and FDEs (DWARF 5
 * section 6.4.1; the Linux Standard Base has .eh_frame).
 *
 * Both sections have the same entries but for some details. The id that marks a
 * CIE is 0 in .eh_frame and all ones in .debug_frame. An FDE has the distance
 * to its CIE in .eh_frame, and the CIE's place in .debug_frame. An empty entry
 * is padding; only where the length of the section is not known (is_open) does
 * it end the section.
 *
 * An entry that is damaged, or of an unknown kind, is passed over by its
 * length. If the length itself is wrong the section ends there. Neighbours
 * mostly have the same CIE, so the last one is kept; a bad one is remembered as
 * bad.
 */

#include <stdlib.h>

#include "libcfi/cfi_address.h"
#include "libcfi/cfi_frames.h"
#include "libop/base/op_array.h"

/*
 * Longer ones are damage: every FDE makes its CIE's instructions run, and its
 * text be read, again.
 */
#define MAX_CIE_INSNS 256
#define MAX_AUGMENTATION 16

/* An entry, a CIE or an FDE. */
struct entry {
	struct op_cursor c; /* what is behind the id */
	size_t next; /* where the next entry is */
	size_t id_at;
	uint64_t id; /* or where the CIE is */
	bool is_cie;
};

/* Returns false at the end of the section. */
static bool read_entry(const struct cfi_section *section, size_t at,
		       struct entry *e)
{
	struct op_cursor c = op_cursor(section->bytes + at, section->len - at);
	bool is_64;

	e->c = op_cursor_unit(&c, &is_64);
	if (c.failed || (!op_cursor_left(&e->c) && section->is_open))
		return false;
	e->next = (size_t)(c.at - section->bytes);
	e->id_at = (size_t)(e->c.at - section->bytes);
	is_64 = is_64 && section->is_debug;
	e->id = op_cursor_number(&e->c, is_64 ? 8 : 4);
	if (!section->is_debug)
		e->is_cie = !e->id;
	else
		e->is_cie = e->id == (is_64 ? UINT64_MAX : UINT32_MAX);
	return true;
}

/*
 * Skip an encoded address. Only padding depends on the place of the address,
 * and no toolchain writes padding here.
 */
static void skip_address(struct op_cursor *c)
{
	uint8_t encoding = op_cursor_u8(c);
	uint64_t unused;

	cfi_address(c, encoding, c->at, 0, &unused);
}

/* The letters behind "z", and the data they stand for. */
static bool read_augmentation(struct cfi_cie *cie, const char *letters,
			      struct op_cursor *c)
{
	struct op_cursor data = op_cursor_part(c, op_cursor_uleb(c));

	cie->has_data = true;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->encoding = op_cursor_u8(&data);
			break;
		case 'L':
			op_cursor_u8(&data);
			break;
		case 'P':
			skip_address(&data);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* which key signs return addresses */
		case 'G': /* memory tags */
			break;
		default: /* nobody can know what follows */
			return !data.failed;
		}
	}
	return !data.failed;
}

/* NULL if they are too many. Where no end is near none is looked for: an entry
 * may be as large as the section, and many FDEs may have it as their CIE. */
static const char *augmentation_letters(struct op_cursor *c)
{
	size_t left = op_cursor_left(c);
	struct op_cursor text =
		op_cursor(c->at, left < MAX_AUGMENTATION + 1
					 ? left
					 : MAX_AUGMENTATION + 1);
	const char *letters = op_cursor_string(&text);

	if (letters)
		c->at = text.at;
	return letters;
}

static bool read_cie(struct entry *e, struct cfi_cie *cie)
{
	struct op_cursor *c = &e->c;
	uint8_t version = op_cursor_u8(c);
	const char *letters = augmentation_letters(c);

	*cie = (struct cfi_cie){ .encoding = CFI_PE_ABSPTR };
	if (version != 1 && version != 3 && version != 4)
		return false;
	if (!letters)
		return false;
	/* address size, segment size */
	if (version == 4 && (op_cursor_u8(c) != 8 || op_cursor_u8(c)))
		return false;
	cie->code_align = op_cursor_uleb(c);
	cie->data_align = op_cursor_sleb(c);
	cie->ra = version == 1 ? op_cursor_u8(c) : op_cursor_uleb(c);
	if (*letters == 'z' && !read_augmentation(cie, letters + 1, c))
		return false;
	if (*letters && *letters != 'z')
		return false;
	cie->insns = c->at;
	cie->insns_len = op_cursor_left(c);
	return !c->failed && cie->insns_len <= MAX_CIE_INSNS;
}

/* Make frames->cie that at @at. Most FDEs have the one of their neighbour. */
static bool find_cie(struct cfi_frames *frames, size_t at)
{
	struct entry e;

	if (frames->cie_at != at) {
		frames->cie_at = at;
		frames->cie_bad = !read_entry(frames->section, at, &e) ||
				  e.c.failed || !e.is_cie ||
				  !read_cie(&e, &frames->cie);
	}
	return !frames->cie_bad;
}

/* Where the CIE of the FDE @e is. */
static bool cie_place(const struct cfi_section *section, const struct entry *e,
		      size_t *at)
{
	uint64_t place = section->is_debug ? e->id : e->id_at - e->id;

	*at = (size_t)place;
	return place < section->len;
}

static bool read_fde(struct cfi_frames *frames, struct entry *e,
		     struct cfi_fde *fde)
{
	const struct cfi_section *section = frames->section;
	struct op_cursor *c = &e->c;
	size_t cie_at;
	uint64_t len;

	if (e->c.failed || e->is_cie || !cie_place(section, e, &cie_at) ||
	    !find_cie(frames, cie_at))
		return false;
	fde->section = section;
	fde->cie = frames->cie;
	if (!cfi_address(c, fde->cie.encoding, section->bytes, section->addr,
			 &fde->start) ||
	    !cfi_address(c, fde->cie.encoding & 0x0f, section->bytes,
			 section->addr, &len))
		return false;
	if (fde->cie.has_data)
		op_cursor_skip(c, op_cursor_uleb(c));
	fde->end = fde->start + len;
	fde->insns = c->at;
	fde->insns_len = op_cursor_left(c);
	return !c->failed && fde->end > fde->start;
}

void cfi_frames_init(struct cfi_frames *frames,
		     const struct cfi_section *section)
{
	*frames = (struct cfi_frames){ .section = section, .cie_at = SIZE_MAX };
}

bool cfi_frames_next(struct cfi_frames *frames, struct cfi_fde *fde, size_t *at)
{
	struct entry e;

	while (frames->at < frames->section->len) {
		*at = frames->at;
		if (!read_entry(frames->section, *at, &e))
			break;
		frames->at = e.next;
		if (read_fde(frames, &e, fde))
			return true;
	}
	return false;
}

bool cfi_frames_at(struct cfi_frames *frames, size_t at, struct cfi_fde *fde)
{
	struct entry e;

	return read_entry(frames->section, at, &e) && read_fde(frames, &e, fde);
}

int cfi_function_starts(uint64_t **starts, size_t *nr, const uint8_t *frames,
			size_t len, uint64_t addr)
{
	struct cfi_section section = { .len = len, .addr = addr };
	struct cfi_frames entries;
	struct cfi_fde fde;
	size_t at;
	int err = 0;

	*starts = NULL;
	*nr = 0;
	/* The section is only read. */
	section.bytes = (uint8_t *)frames;
	cfi_frames_init(&entries, &section);
	while (!err && cfi_frames_next(&entries, &fde, &at)) {
		err = op_array_reserve(starts, *nr, 1);
		if (!err)
			(*starts)[(*nr)++] = fde.start;
	}
	if (err) {
		free(*starts);
		*starts = NULL;
		*nr = 0;
	}
	return err;
}
