// SPDX-License-Identifier: GPL-2.0-or-later

#include "libcfi/cfi_frames.h"

/*
 * Longer ones are damage: every FDE makes its CIE's instructions run, and its
 * text be read, again.
 */
#define MAX_CIE_INSNS 256
#define MAX_AUGMENTATION 16

/* One entry, of either kind. */
struct entry {
	struct cfi_cursor c; /* what is behind the id */
	size_t next; /* where the next entry is */
	size_t id_at;
	uint64_t id; /* or where the CIE is */
	bool is_cie;
};

/* Returns false at the end of the section. */
static bool read_entry(const struct cfi_section *section, size_t at,
		       struct entry *e)
{
	struct cfi_cursor c =
		cfi_cursor(section->bytes + at, section->len - at);
	uint64_t len = cfi_get(&c, 4);
	unsigned int id_size = 4;
	const uint8_t *start;

	if (len == 0xffffffff) {
		len = cfi_get(&c, 8);
		id_size = section->is_debug ? 8 : 4;
	}
	start = c.at;
	if (c.bad || (!len && section->is_open) || !cfi_take(&c, len))
		return false;
	e->next = (size_t)(c.at - section->bytes);
	e->id_at = (size_t)(start - section->bytes);
	e->c = cfi_cursor(start, len);
	e->id = cfi_get(&e->c, id_size);
	if (!section->is_debug)
		e->is_cie = !e->id;
	else
		e->is_cie = e->id == (id_size == 8 ? UINT64_MAX : UINT32_MAX);
	return true;
}

/* The letters behind "z", and the data they stand for. */
static bool read_augmentation(struct cfi_cie *cie, const char *letters,
			      struct cfi_cursor *c)
{
	uint64_t len = cfi_uleb(c);
	struct cfi_cursor data = *c;
	uint64_t unused;

	if (!cfi_take(c, len))
		return false;
	data.end = c->at;
	cie->has_data = true;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->encoding = (uint8_t)cfi_get(&data, 1);
			break;
		case 'L':
			cfi_get(&data, 1);
			break;
		case 'P':
			/* Padding is all that its own address could matter for,
			 * and no toolchain writes that here. */
			cfi_address(&data, (uint8_t)cfi_get(&data, 1), data.at,
				    0, &unused);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* which key signs return addresses */
		case 'G': /* memory tags */
			break;
		default: /* nobody can know what follows */
			return !data.bad;
		}
	}
	return !data.bad;
}

static bool read_cie(struct entry *e, struct cfi_cie *cie)
{
	struct cfi_cursor *c = &e->c;
	uint8_t version = (uint8_t)cfi_get(c, 1);
	const char *letters = (const char *)c->at;
	size_t nr_letters = strnlen(letters, cfi_left(c));

	*cie = (struct cfi_cie){ .encoding = CFI_PE_ABSPTR };
	if (version != 1 && version != 3 && version != 4)
		return false;
	if (nr_letters > MAX_AUGMENTATION || !cfi_take(c, nr_letters + 1))
		return false;
	/* address size, segment size */
	if (version == 4 && (cfi_get(c, 1) != 8 || cfi_get(c, 1)))
		return false;
	cie->code_align = cfi_uleb(c);
	cie->data_align = cfi_sleb(c);
	cie->ra = version == 1 ? cfi_get(c, 1) : cfi_uleb(c);
	if (*letters == 'z' && !read_augmentation(cie, letters + 1, c))
		return false;
	if (*letters && *letters != 'z')
		return false;
	cie->insns = c->at;
	cie->insns_len = cfi_left(c);
	return !c->bad && cie->insns_len <= MAX_CIE_INSNS;
}

/* Make frames->cie that at @at. Most FDEs have the one of their neighbour. */
static bool find_cie(struct cfi_frames *frames, size_t at)
{
	struct entry e;

	if (frames->cie_at != at) {
		frames->cie_at = at;
		frames->cie_bad = !read_entry(frames->section, at, &e) ||
				  e.c.bad || !e.is_cie ||
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
	struct cfi_cursor *c = &e->c;
	size_t cie_at;
	uint64_t len;

	if (e->c.bad || e->is_cie || !cie_place(section, e, &cie_at) ||
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
		cfi_take(c, cfi_uleb(c));
	fde->end = fde->start + len;
	fde->insns = c->at;
	fde->insns_len = cfi_left(c);
	return !c->bad && fde->end > fde->start;
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
