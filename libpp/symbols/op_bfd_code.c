// SPDX-License-Identifier: GPL-2.0-or-later
/* The code of a binary: its sections, addresses and bytes. */

#include "libpp/symbols/op_bfd_internal.h"

#include <stdlib.h>

#include "libop/base/op_search.h"
#include "libpp/symbols/elf_digest.h"

const struct code_section *op_bfd_find_section(const struct op_bfd *bfd,
					       uint64_t vma)
{
	const struct code_section *all = bfd->sections;
	size_t end = OP_BISECT(i, bfd->nr_sections, all[i].vma <= vma);

	return end && vma - all[end - 1].vma < all[end - 1].size ? &all[end - 1]
								 : NULL;
}

uint64_t op_bfd_vma(const struct op_bfd *bfd, uint64_t offset)
{
	size_t i;

	for (i = 0; i < bfd->nr_sections; i++) {
		const struct code_section *section = &bfd->sections[i];

		if (offset >= section->offset &&
		    offset - section->offset < section->size)
			return section->vma + (offset - section->offset);
	}
	return offset;
}

asection *op_bfd_section_at(const struct object *object, uint64_t vma)
{
	asection *at;

	for (at = object->abfd->sections; at; at = at->next)
		if ((at->flags & SEC_CODE) && vma >= bfd_section_vma(at) &&
		    vma - bfd_section_vma(at) < at->size)
			return at;
	return NULL;
}

bfd_byte *op_bfd_section_bytes(const struct op_bfd *bfd, const char *name,
			       uint64_t *vma, size_t *len)
{
	asection *section = bfd_get_section_by_name(bfd->main.abfd, name);
	bfd_byte *bytes = NULL;

	if (!section || !(section->flags & SEC_HAS_CONTENTS) ||
	    section->size > PP_FUNCTION_TABLE_MAX ||
	    !bfd_get_full_section_contents(bfd->main.abfd, section, &bytes)) {
		free(bytes);
		return NULL;
	}
	*vma = bfd_section_vma(section);
	*len = section->size;
	return bytes;
}

uint64_t op_bfd_first_code(const struct op_bfd *bfd)
{
	uint64_t first = UINT64_MAX;

	for (const asection *at = bfd->main.abfd->sections; at; at = at->next)
		if ((at->flags & SEC_CODE) && bfd_section_vma(at) < first)
			first = bfd_section_vma(at);
	return first == UINT64_MAX ? 0 : first;
}

bool op_bfd_code(const struct op_bfd *bfd, uint64_t vma, uint64_t len,
		 uint8_t *code)
{
	asection *section = op_bfd_section_at(&bfd->main, vma);
	uint64_t offset;

	if (!section || !(section->flags & SEC_HAS_CONTENTS))
		return false;
	offset = vma - bfd_section_vma(section);
	return len <= section->size - offset &&
	       bfd_get_section_contents(bfd->main.abfd, section, code,
					(file_ptr)offset, len);
}
