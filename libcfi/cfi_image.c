// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads from an ELF file what its unwind data needs.
 *
 * Sections may be missing from a file that runs well, or be damaged. Then the
 * image is loaded without them. Errors are files of another kind or machine,
 * program headers that cannot be read, and a lack of memory. Without section
 * headers .eh_frame is found by PT_GNU_EH_FRAME, as the program itself finds
 * it. Its length is not known then, so it is read up to the end of its segment
 * (is_open).
 *
 * .debug_frame may be compressed, as ELF has it or in the older way of
 * .zdebug_frame. No section of more than MAX_SECTION_LEN bytes is taken, packed
 * or unpacked.
 *
 * On AArch64 signal handlers return to a trampoline in the vDSO that has no
 * unwind data. It is found by its two instructions, which are searched in small
 * images alone.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libcfi/cfi_address.h"
#include "libcfi/cfi_image.h"
#include "libop/files/op_deflate.h"

/* More is taken for damage. */
#define MAX_SECTION_LEN ((uint64_t)128 << 20)

/* NULL with *@err set; else the caller frees it. */
static void *load_part(const struct op_elf *elf, uint64_t len, uint64_t offset,
		       int *err)
{
	uint8_t *bytes = NULL;

	*err = len && len <= MAX_SECTION_LEN
		       ? op_elf_load(elf, offset, len, &bytes)
		       : -ENOEXEC;
	return bytes;
}

/* ---- the header and the segments --------------------------------------------
 */

static int check_elf_header(const struct op_elf *elf, struct cfi_image *image,
			    struct op_diag *diag)
{
	unsigned int machine =
		(unsigned int)OP_ELF_GET(elf, elf->header, Ehdr, e_machine);

	if (!elf->wide || elf->big_endian)
		return op_diag_set(diag, -EBADMSG,
				   "not a 64-bit little-endian ELF file");
	image->entry = OP_ELF_GET(elf, elf->header, Ehdr, e_entry);
	switch (machine) {
	case EM_X86_64:
		image->arch = CFI_X86_64;
		return 0;
	case EM_AARCH64:
		image->arch = CFI_AARCH64;
		return 0;
	}
	return op_diag_set(diag, -EBADMSG,
			   "an ELF file for machine %u, which is not supported",
			   machine);
}

static void add_segment(struct cfi_image *image, const struct op_elf_segment *p)
{
	struct cfi_segment *s = &image->segment[image->nr_segments];

	if (p->type != PT_LOAD || image->nr_segments == CFI_MAX_SEGMENTS)
		return;
	if (p->size > INT64_MAX || p->offset > INT64_MAX - p->size ||
	    p->address > UINT64_MAX - p->size)
		return;
	*s = (struct cfi_segment){ p->address, p->offset, p->size,
				   p->flags & PF_X };
	image->nr_segments++;
}

/* *@index becomes the segment of .eh_frame_hdr, if there is one. */
static int load_segments(struct cfi_image *image, const struct op_elf *elf,
			 struct op_elf_segment *index)
{
	struct op_elf_segment segment;
	unsigned int nr;
	int err = op_elf_count_segments(elf, &nr);

	for (unsigned int i = 0; i < nr && !err; i++) {
		err = op_elf_segment(elf, i, &segment);
		if (err)
			break;
		add_segment(image, &segment);
		if (segment.type == PT_GNU_EH_FRAME)
			*index = segment;
	}
	return err;
}

const struct cfi_segment *cfi_image_segment(const struct cfi_image *image,
					    uint64_t addr)
{
	for (unsigned int i = 0; i < image->nr_segments; i++) {
		const struct cfi_segment *s = &image->segment[i];

		if (addr >= s->addr && addr - s->addr < s->len)
			return s;
	}
	return NULL;
}

/* ---- the sections -----------------------------------------------------------
 */

/* Unpack the @len bytes at @bytes, which are freed, into @section. */
static int unpack_section(struct cfi_section *section, uint8_t *bytes,
			  size_t len, size_t header_len, uint64_t unpacked_len)
{
	size_t packed_len = len - header_len;
	int err = -ENOEXEC;

	if (unpacked_len && unpacked_len <= MAX_SECTION_LEN &&
	    op_may_inflate(packed_len, unpacked_len))
		section->bytes = malloc(unpacked_len);
	if (section->bytes)
		err = op_inflate(bytes + header_len, packed_len, section->bytes,
				 unpacked_len, NULL);
	free(bytes);
	section->len = unpacked_len;
	if (!err)
		return 0;
	free(section->bytes);
	section->bytes = NULL;
	return -ENOEXEC;
}

static int adopt_section(struct cfi_section *section, uint8_t *bytes,
			 size_t len, const struct op_elf_section *from)
{
	Elf64_Chdr packed;

	section->addr = from->address;
	if (from->flags & SHF_COMPRESSED) {
		memset(&packed, 0, sizeof(packed));
		if (len > sizeof(packed))
			memcpy(&packed, bytes, sizeof(packed));
		if (packed.ch_type != ELFCOMPRESS_ZLIB)
			packed.ch_size = 0;
		return unpack_section(section, bytes, len, sizeof(packed),
				      packed.ch_size);
	}
	/* .zdebug_frame, before SHF_COMPRESSED: "ZLIB", the length */
	if (section->is_debug && len > 12 && !memcmp(bytes, "ZLIB", 4)) {
		uint64_t unpacked_len;

		memcpy(&unpacked_len, bytes + 4, sizeof(unpacked_len));
		return unpack_section(section, bytes, len, 12,
				      __builtin_bswap64(unpacked_len));
	}
	section->bytes = bytes;
	section->len = len;
	return 0;
}

/* A section that is damaged is one that is not there. */
static int load_section(struct cfi_section *section, const struct op_elf *elf,
			const struct op_elf_section *from)
{
	uint8_t *bytes;
	int err;

	if (from->type == SHT_NOBITS || section->bytes)
		return 0;
	bytes = load_part(elf, from->size, from->offset, &err);
	if (bytes)
		err = adopt_section(section, bytes, from->size, from);
	return err == -ENOEXEC ? 0 : err;
}

static struct cfi_section *wanted_section(struct cfi_image *image,
					  const char *name)
{
	if (!strcmp(name, ".eh_frame"))
		return &image->eh_frame;
	if (!strcmp(name, ".debug_frame") || !strcmp(name, ".zdebug_frame"))
		return &image->debug_frame;
	return NULL;
}

static void add_plt(struct cfi_image *image, const char *name,
		    const struct op_elf_section *section)
{
	if ((strncmp(name, ".plt", 4) && strcmp(name, ".iplt")) ||
	    image->nr_plts == CFI_MAX_PLTS)
		return;
	image->plt[image->nr_plts++] =
		(struct cfi_plt){ section->address, section->size };
}

bool cfi_image_is_plt(const struct cfi_image *image, uint64_t addr)
{
	for (unsigned int i = 0; i < image->nr_plts; i++)
		if (addr >= image->plt[i].addr &&
		    addr - image->plt[i].addr < image->plt[i].len)
			return true;
	return false;
}

/* The table of functions that Go's runtime needs, in all that Go has linked. */
#define GO_TABLE ".gopclntab"
#define GO_TABLE_RELRO ".data.rel.ro.gopclntab"

static int load_named_section(struct cfi_image *image, const struct op_elf *elf,
			      const struct op_elf_section *names,
			      const struct op_elf_section *section)
{
	char name[sizeof(GO_TABLE_RELRO)]; /* the longest we look for */
	struct cfi_section *wanted;

	if (!op_elf_has(elf, names->offset, 0))
		return 0;
	op_elf_text(elf, names->offset + section->name, name, sizeof(name));
	add_plt(image, name, section);
	image->has_go |=
		!strcmp(name, GO_TABLE) || !strcmp(name, GO_TABLE_RELRO);
	wanted = wanted_section(image, name);
	return wanted ? load_section(wanted, elf, section) : 0;
}

/* Section headers may be missing or damaged: the segments are what counts. */
static int load_sections(struct cfi_image *image, const struct op_elf *elf)
{
	struct op_elf_section names, section;
	uint64_t nr, names_nr;
	int err = op_elf_count_sections(elf, &nr, &names_nr);

	if (!err)
		err = names_nr < nr ? op_elf_section(elf, names_nr, &names)
				    : -ENOEXEC;
	for (uint64_t i = 0; !err && i < nr; i++) {
		err = op_elf_section(elf, i, &section);
		if (!err)
			err = load_named_section(image, elf, &names, &section);
	}
	return err == -ENOEXEC ? 0 : err;
}

/* .eh_frame by the pointer to it that its index starts with. */
static int load_indexed(struct cfi_image *image, const struct op_elf *elf,
			const struct op_elf_segment *index)
{
	struct cfi_section *section = &image->eh_frame;
	const struct cfi_segment *segment;
	uint8_t head[16] = { 0 };
	struct op_cursor c = op_cursor(head + 4, sizeof(head) - 4);
	uint64_t len;
	int err;

	if (index->type != PT_GNU_EH_FRAME || section->bytes ||
	    op_elf_read(elf, index->offset, head, 12) || head[0] != 1)
		return 0;
	if (!cfi_address(&c, head[1], head, index->address, &section->addr))
		return 0;
	segment = cfi_image_segment(image, section->addr);
	if (!segment)
		return 0;
	section->is_open = true;
	len = segment->len - (section->addr - segment->addr);
	section->len = len < MAX_SECTION_LEN ? len : MAX_SECTION_LEN;
	section->bytes =
		load_part(elf, section->len,
			  segment->offset + (section->addr - segment->addr),
			  &err);
	return err == -ENOEXEC ? 0 : err;
}

/* ---- the kernel's trampoline ------------------------------------------------
 */

#define MAX_VDSO_CODE 65536 /* no larger image is searched */

static uint64_t search_sigreturn(const struct op_elf *elf,
				 const struct cfi_segment *s)
{
	/* mov x8, #139; svc #0 */
	static const uint8_t insns[] = { 0x68, 0x11, 0x80, 0xd2,
					 0x01, 0x00, 0x00, 0xd4 };
	uint64_t found = 0;
	uint8_t *code;
	int err;

	code = load_part(elf, s->len, s->offset, &err);
	if (!code)
		return 0;
	for (uint64_t at = 0; at + sizeof(insns) <= s->len && !found; at += 4)
		if (!memcmp(code + at, insns, sizeof(insns)))
			found = s->addr + at;
	free(code);
	return found;
}

static void find_sigreturn(struct cfi_image *image, const struct op_elf *elf)
{
	for (unsigned int i = 0; i < image->nr_segments; i++) {
		const struct cfi_segment *s = &image->segment[i];

		if (image->arch == CFI_AARCH64 && s->is_code &&
		    s->len <= MAX_VDSO_CODE && !image->sigreturn)
			image->sigreturn = search_sigreturn(elf, s);
	}
}

int cfi_image_load(struct cfi_image *image, const struct op_elf *elf,
		   struct op_diag *diag)
{
	struct op_elf_segment index = { .type = PT_NULL };
	int err;

	*image = (struct cfi_image){ .debug_frame.is_debug = true };
	err = check_elf_header(elf, image, diag);
	if (err)
		return err;
	err = load_segments(image, elf, &index);
	if (!err)
		err = load_sections(image, elf);
	if (!err)
		err = load_indexed(image, elf, &index);
	find_sigreturn(image, elf);
	if (!err)
		return 0;
	cfi_image_release(image);
	if (err == -ENOEXEC)
		err = -EBADMSG;
	return op_diag_set(diag, err, "program headers: %s", strerror(-err));
}

void cfi_image_release(struct cfi_image *image)
{
	free(image->eh_frame.bytes);
	free(image->debug_frame.bytes);
}
