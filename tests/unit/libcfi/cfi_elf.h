/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_CFI_ELF_H
#define TESTS_UNIT_CFI_ELF_H

/*
 * ELF files with call frame information, made of bytes: a code segment at
 * CODE_ADDR, and sections of the test's choice.
 */

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CODE_ADDR 0x400000u
#define CODE_OFFSET 0x1000u
#define CODE_LEN 0x10000u
#define EH_ADDR 0x500000u /* of .eh_frame */

struct bytes {
	uint8_t byte[8192];
	size_t len;
};

__attribute__((unused)) static void put_bytes(struct bytes *b, const void *from,
					      size_t len)
{
	memcpy(b->byte + b->len, from, len);
	b->len += len;
}

/* @value in @size bytes. */
__attribute__((unused)) static void put_int(struct bytes *b, uint64_t value,
					    unsigned int size)
{
	put_bytes(b, &value, size);
}

/* A file: the header, segments, CODE_LEN of nothing as code, sections. */
struct elf_file {
	uint8_t byte[CODE_OFFSET + CODE_LEN + 65536];
	size_t len;
	Elf64_Ehdr header;
	Elf64_Phdr segment[4];
	unsigned int nr_segments;
	Elf64_Shdr section[8];
	unsigned int nr_sections;
	struct bytes names;
};

__attribute__((unused)) static void elf_init(struct elf_file *f,
					     uint16_t machine)
{
	memset(f, 0, sizeof(*f));
	f->len = CODE_OFFSET + CODE_LEN;
	f->header = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_EXEC,
		.e_machine = machine,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	f->segment[f->nr_segments++] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = CODE_OFFSET,
		.p_vaddr = CODE_ADDR,
		.p_filesz = CODE_LEN,
	};
	f->nr_sections = 1; /* the first one is none */
	put_int(&f->names, 0, 1);
}

/* A section of these bytes; returns its header to be changed. */
__attribute__((unused)) static Elf64_Shdr *
elf_section(struct elf_file *f, const char *name, uint64_t addr,
	    const void *bytes, size_t len)
{
	Elf64_Shdr *sh = &f->section[f->nr_sections++];

	*sh = (Elf64_Shdr){
		.sh_type = SHT_PROGBITS,
		.sh_name = (uint32_t)f->names.len,
		.sh_addr = addr,
		.sh_offset = f->len,
		.sh_size = len,
	};
	put_bytes(&f->names, name, strlen(name) + 1);
	memcpy(f->byte + f->len, bytes, len);
	f->len += len;
	return sh;
}

/* Write the headers; the file is f->byte, f->len. */
__attribute__((unused)) static void elf_finish(struct elf_file *f)
{
	if (f->nr_sections > 1) {
		elf_section(f, ".shstrtab", 0, f->names.byte, f->names.len);
		f->section[f->nr_sections - 1].sh_size = f->names.len;
		f->len += 32; /* its own name was cut; nobody looks for it */
		f->header.e_shnum = (uint16_t)f->nr_sections;
		f->header.e_shstrndx = (uint16_t)(f->nr_sections - 1);
		f->header.e_shoff = f->len;
		memcpy(f->byte + f->len, f->section,
		       f->nr_sections * sizeof(f->section[0]));
		f->len += f->nr_sections * sizeof(f->section[0]);
	}
	f->header.e_phnum = (uint16_t)f->nr_segments;
	memcpy(f->byte, &f->header, sizeof(f->header));
	memcpy(f->byte + sizeof(f->header), f->segment,
	       f->nr_segments * sizeof(f->segment[0]));
}

/* ---- entries ----------------------------------------------------------------
 */

/* Begin an entry; its length is written by end_entry(), which pads it. */
__attribute__((unused)) static size_t begin_entry(struct bytes *b)
{
	size_t at = b->len;

	put_int(b, 0, 4);
	return at;
}

__attribute__((unused)) static void end_entry(struct bytes *b, size_t at)
{
	uint32_t len;

	while ((b->len - at) % 8 != 4)
		put_int(b, 0, 1); /* DW_CFA_nop */
	len = (uint32_t)(b->len - at - 4);
	memcpy(b->byte + at, &len, sizeof(len));
}

/* What a CIE says besides instructions. */
struct cie {
	uint8_t version; /* 0: 1 */
	const char *augmentation; /* NULL: "zR" */
	uint8_t encoding; /* of "R" */
	uint8_t ra;
	const char *insns; /* without a zero byte, or with insns_len */
	size_t insns_len;
};

__attribute__((unused)) static void put_insns(struct bytes *b,
					      const char *insns, size_t len)
{
	if (insns)
		put_bytes(b, insns, len ? len : strlen(insns));
}

/* Code alignment 1, data alignment -8. Returns where it is. */
__attribute__((unused)) static size_t
put_cie(struct bytes *b, const struct cie *cie, bool is_debug)
{
	const char *letters = cie->augmentation ? cie->augmentation : "zR";
	size_t at = begin_entry(b);

	put_int(b, is_debug ? 0xffffffff : 0, 4);
	put_int(b, cie->version ? cie->version : 1, 1);
	put_bytes(b, letters, strlen(letters) + 1);
	if (cie->version == 4)
		put_int(b, 8, 2);
	put_int(b, 1, 1);
	put_int(b, 0x78, 1);
	put_int(b, cie->ra, 1);
	if (*letters == 'z') {
		size_t len_at = b->len;

		put_int(b, 0, 1);
		for (const char *l = letters + 1; *l; l++) {
			if (*l == 'R' || *l == 'L')
				put_int(b, *l == 'R' ? cie->encoding : 0, 1);
			if (*l == 'P')
				put_bytes(b, "\0\1\2\3\4\5\6\7\10", 9);
		}
		b->byte[len_at] = (uint8_t)(b->len - len_at - 1);
	}
	put_insns(b, cie->insns, cie->insns_len);
	end_entry(b, at);
	return at;
}

/*
 * An FDE of the CIE at @cie with bare 8-byte addresses. @len 0 of @insns: up
 * to a zero byte.
 */
__attribute__((unused)) static void put_fde(struct bytes *b, size_t cie,
					    bool is_debug, uint64_t start,
					    uint64_t code_len,
					    const char *insns, size_t len)
{
	size_t at = begin_entry(b);

	put_int(b, is_debug ? cie : b->len - cie, 4);
	put_int(b, start, 8);
	put_int(b, code_len, 8);
	if (!is_debug)
		put_int(b, 0, 1); /* no augmentation data */
	put_insns(b, insns, len);
	end_entry(b, at);
}

#endif /* TESTS_UNIT_CFI_ELF_H */
