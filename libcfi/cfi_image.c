// SPDX-License-Identifier: GPL-2.0-or-later

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libcfi/cfi_address.h"
#include "libcfi/cfi_image.h"
#include "libop/op_file.h"

/* More is taken for damage. */
#define MAX_SECTIONS 65536u
#define MAX_SECTION_LEN ((uint64_t)128 << 20)

static int source_read(const struct cfi_source *source, void *buf, size_t len,
		       uint64_t offset)
{
	if (!source->bytes)
		return op_file_read_at(source->fd, buf, len, offset);
	if (offset > source->len || len > source->len - offset)
		return -EBADMSG;
	memcpy(buf, source->bytes + offset, len);
	return 0;
}

/* NULL with *@err set; else the caller frees it. */
static void *source_load(const struct cfi_source *source, uint64_t len,
			 uint64_t offset, int *err)
{
	void *bytes;

	*err = -EBADMSG;
	if (!len || len > MAX_SECTION_LEN)
		return NULL;
	/* A file may claim anything: see that the last byte is there first. */
	bytes = NULL;
	if (offset < INT64_MAX - len)
		*err = source_read(source, &(char){ 0 }, 1, offset + len - 1);
	if (*err)
		return NULL;
	bytes = malloc(len);
	*err = bytes ? source_read(source, bytes, len, offset) : -ENOMEM;
	if (!*err)
		return bytes;
	free(bytes);
	return NULL;
}

/* ---- the header and the segments --------------------------------------------
 */

static int check_header(const Elf64_Ehdr *h, struct cfi_image *image,
			struct op_diag *diag)
{
	if (memcmp(h->e_ident, ELFMAG, SELFMAG))
		return op_diag_set(diag, -EBADMSG, "not an ELF file");
	if (h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB)
		return op_diag_set(diag, -EBADMSG,
				   "not a 64-bit little-endian ELF file");
	image->entry = h->e_entry;
	switch (h->e_machine) {
	case EM_X86_64:
		image->arch = CFI_X86_64;
		return 0;
	case EM_AARCH64:
		image->arch = CFI_AARCH64;
		return 0;
	}
	return op_diag_set(diag, -EBADMSG,
			   "an ELF file of machine %u, not of a known one",
			   h->e_machine);
}

static void take_segment(struct cfi_image *image, const Elf64_Phdr *p)
{
	struct cfi_segment *s = &image->segment[image->nr_segments];

	if (p->p_type != PT_LOAD || image->nr_segments == CFI_MAX_SEGMENTS)
		return;
	if (p->p_filesz > INT64_MAX || p->p_offset > INT64_MAX - p->p_filesz ||
	    p->p_vaddr > UINT64_MAX - p->p_filesz)
		return;
	*s = (struct cfi_segment){ p->p_vaddr, p->p_offset, p->p_filesz,
				   p->p_flags & PF_X };
	image->nr_segments++;
}

/* *@index becomes the segment of .eh_frame_hdr, if there is one. */
static int load_segments(struct cfi_image *image,
			 const struct cfi_source *source, const Elf64_Ehdr *h,
			 Elf64_Phdr *index)
{
	Elf64_Phdr *all;
	int err;

	if (!h->e_phnum)
		return 0;
	if (h->e_phentsize != sizeof(*all))
		return -EBADMSG;
	all = source_load(source, (uint64_t)h->e_phnum * sizeof(*all),
			  h->e_phoff, &err);
	if (!all)
		return err;
	for (unsigned int i = 0; i < h->e_phnum; i++) {
		take_segment(image, &all[i]);
		if (all[i].p_type == PT_GNU_EH_FRAME)
			*index = all[i];
	}
	free(all);
	return 0;
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

/* Take the @len bytes at @bytes, which @section owns from now on. */
static int take_packed(struct cfi_section *section, uint8_t *bytes, size_t len,
		       size_t header_len, uint64_t unpacked_len)
{
	if (unpacked_len <= MAX_SECTION_LEN)
		section->bytes = cfi_inflate(bytes + header_len,
					     len - header_len, unpacked_len);
	section->len = unpacked_len;
	free(bytes);
	return section->bytes ? 0 : -EBADMSG;
}

static int take_section(struct cfi_section *section, uint8_t *bytes, size_t len,
			const Elf64_Shdr *sh)
{
	Elf64_Chdr packed;

	section->addr = sh->sh_addr;
	if (sh->sh_flags & SHF_COMPRESSED) {
		memset(&packed, 0, sizeof(packed));
		if (len > sizeof(packed))
			memcpy(&packed, bytes, sizeof(packed));
		if (packed.ch_type != ELFCOMPRESS_ZLIB)
			packed.ch_size = 0;
		return take_packed(section, bytes, len, sizeof(packed),
				   packed.ch_size);
	}
	/* .zdebug_frame, before SHF_COMPRESSED: "ZLIB", the length */
	if (section->is_debug && len > 12 && !memcmp(bytes, "ZLIB", 4)) {
		uint64_t unpacked_len;

		memcpy(&unpacked_len, bytes + 4, sizeof(unpacked_len));
		return take_packed(section, bytes, len, 12,
				   __builtin_bswap64(unpacked_len));
	}
	section->bytes = bytes;
	section->len = len;
	return 0;
}

/* A section that is damaged is one that is not there. */
static int load_section(struct cfi_section *section,
			const struct cfi_source *source, const Elf64_Shdr *sh)
{
	uint8_t *bytes;
	int err;

	if (sh->sh_type == SHT_NOBITS || section->bytes)
		return 0;
	bytes = source_load(source, sh->sh_size, sh->sh_offset, &err);
	if (bytes)
		err = take_section(section, bytes, sh->sh_size, sh);
	return err == -EBADMSG ? 0 : err;
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

static void take_plt(struct cfi_image *image, const char *name,
		     const Elf64_Shdr *sh)
{
	if ((strncmp(name, ".plt", 4) && strcmp(name, ".iplt")) ||
	    image->nr_plts == CFI_MAX_PLTS)
		return;
	image->plt[image->nr_plts++] =
		(struct cfi_plt){ sh->sh_addr, sh->sh_size };
}

bool cfi_image_is_plt(const struct cfi_image *image, uint64_t addr)
{
	for (unsigned int i = 0; i < image->nr_plts; i++)
		if (addr >= image->plt[i].addr &&
		    addr - image->plt[i].addr < image->plt[i].len)
			return true;
	return false;
}

static int load_named_sections(struct cfi_image *image,
			       const struct cfi_source *source,
			       const Elf64_Shdr *all, unsigned int nr,
			       const Elf64_Shdr *names)
{
	struct cfi_section *section;
	char name[16]; /* ".zdebug_frame" is the longest we look for */
	int err = 0;

	for (unsigned int i = 0; i < nr && !err; i++) {
		memset(name, 0, sizeof(name));
		if (names->sh_offset > INT64_MAX ||
		    source_read(source, name, strlen(".eh_frame") + 1,
				names->sh_offset + all[i].sh_name))
			continue;
		/* Few names are so long, and the last one may be shorter. */
		if (!memchr(name, '\0', strlen(".eh_frame") + 1))
			source_read(source, name, strlen(".zdebug_frame") + 1,
				    names->sh_offset + all[i].sh_name);
		name[sizeof(name) - 1] = '\0';
		take_plt(image, name, &all[i]);
		section = wanted_section(image, name);
		if (section)
			err = load_section(section, source, &all[i]);
	}
	return err;
}

/* Section headers may be missing or damaged: the segments are what counts. */
static int load_sections(struct cfi_image *image,
			 const struct cfi_source *source, const Elf64_Ehdr *h)
{
	Elf64_Shdr *all;
	int err;

	if (h->e_shentsize != sizeof(*all) || h->e_shstrndx >= h->e_shnum)
		return 0;
	all = source_load(source, (uint64_t)h->e_shnum * sizeof(*all),
			  h->e_shoff, &err);
	if (!all)
		return err == -EBADMSG ? 0 : err;
	err = load_named_sections(image, source, all, h->e_shnum,
				  &all[h->e_shstrndx]);
	free(all);
	return err;
}

/* .eh_frame by the pointer to it that its index starts with. */
static int load_indexed(struct cfi_image *image,
			const struct cfi_source *source,
			const Elf64_Phdr *index)
{
	struct cfi_section *section = &image->eh_frame;
	const struct cfi_segment *segment;
	uint8_t head[16] = { 0 };
	struct op_cursor c = op_cursor(head + 4, sizeof(head) - 4);
	uint64_t len;
	int err;

	if (index->p_type != PT_GNU_EH_FRAME || section->bytes ||
	    source_read(source, head, 12, index->p_offset) || head[0] != 1)
		return 0;
	if (!cfi_address(&c, head[1], head, index->p_vaddr, &section->addr))
		return 0;
	segment = cfi_image_segment(image, section->addr);
	if (!segment)
		return 0;
	section->is_open = true;
	len = segment->len - (section->addr - segment->addr);
	section->len = len < MAX_SECTION_LEN ? len : MAX_SECTION_LEN;
	section->bytes =
		source_load(source, section->len,
			    segment->offset + (section->addr - segment->addr),
			    &err);
	return err == -EBADMSG ? 0 : err;
}

/* ---- the kernel's trampoline ------------------------------------------------
 */

#define MAX_VDSO_CODE 65536 /* no larger image is searched */

static uint64_t search_sigreturn(const struct cfi_source *source,
				 const struct cfi_segment *s)
{
	/* mov x8, #139; svc #0 */
	static const uint8_t insns[] = { 0x68, 0x11, 0x80, 0xd2,
					 0x01, 0x00, 0x00, 0xd4 };
	uint64_t found = 0;
	uint8_t *code;
	int err;

	code = source_load(source, s->len, s->offset, &err);
	if (!code)
		return 0;
	for (uint64_t at = 0; at + sizeof(insns) <= s->len && !found; at += 4)
		if (!memcmp(code + at, insns, sizeof(insns)))
			found = s->addr + at;
	free(code);
	return found;
}

static void find_sigreturn(struct cfi_image *image,
			   const struct cfi_source *source)
{
	for (unsigned int i = 0; i < image->nr_segments; i++) {
		const struct cfi_segment *s = &image->segment[i];

		if (image->arch == CFI_AARCH64 && s->is_code &&
		    s->len <= MAX_VDSO_CODE && !image->sigreturn)
			image->sigreturn = search_sigreturn(source, s);
	}
}

int cfi_image_load(struct cfi_image *image, const struct cfi_source *source,
		   struct op_diag *diag)
{
	Elf64_Phdr index = { .p_type = PT_NULL };
	Elf64_Ehdr header;
	int err;

	*image = (struct cfi_image){ .debug_frame.is_debug = true };
	memset(&header, 0, sizeof(header));
	err = source_read(source, &header, sizeof(header), 0);
	if (err && err != -EBADMSG)
		return op_diag_set(diag, err, "%s", strerror(-err));
	err = check_header(&header, image, diag);
	if (err)
		return err;
	err = load_segments(image, source, &header, &index);
	if (!err)
		err = load_sections(image, source, &header);
	if (!err)
		err = load_indexed(image, source, &index);
	find_sigreturn(image, source);
	if (!err)
		return 0;
	cfi_image_release(image);
	return op_diag_set(diag, err, "program headers: %s", strerror(-err));
}

void cfi_image_release(struct cfi_image *image)
{
	free(image->eh_frame.bytes);
	free(image->debug_frame.bytes);
}
