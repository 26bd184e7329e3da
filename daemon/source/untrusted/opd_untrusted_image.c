// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading an ELF file that a process has loaded, in the process's memory: see
 * opd_untrusted_read.h, and the System V ABI, chapters 4 and 5.
 *
 * Section headers are not loaded. The image gets a section for each segment of
 * code and of notes, and a table of the dynamic symbols that are functions,
 * with the number of the section that each is in. What is not of this machine's
 * class is left.
 */

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/untrusted/opd_untrusted_read.h"

#define MAX_SEGMENTS 32
#define MAX_DYNAMIC 128 /* entries */
#define MAX_SYMBOLS ((uint64_t)1 << 20)
#define NAMES_MAX ((uint64_t)32 << 20) /* bytes */

struct loaded {
	int mem;
	Elf64_Ehdr header;
	Elf64_Phdr segments[MAX_SEGMENTS];
	uint64_t bias;
	/* addresses in memory; 0: there is none */
	uint64_t symbols, names, names_len, hash, gnu_hash;
	/* the tail, in the room */
	uint8_t *room;
	uint64_t len;
};

static bool read_memory(const struct loaded *l, uint64_t addr, void *to,
			uint64_t len)
{
	return addr <= INT64_MAX &&
	       pread(l->mem, to, len, (off_t)addr) == (ssize_t)len;
}

/* ---- headers ----------------------------------------------------------------
 */

static bool is_native(const Elf64_Ehdr *header)
{
	const uint8_t *ident = header->e_ident;

	return !memcmp(ident, ELFMAG, SELFMAG) &&
	       ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_phentsize == sizeof(Elf64_Phdr) &&
	       header->e_phnum <= MAX_SEGMENTS;
}

static bool read_headers(struct loaded *l, uint64_t head)
{
	if (!read_memory(l, head, &l->header, sizeof(l->header)) ||
	    !is_native(&l->header) || l->header.e_phoff > UINT32_MAX ||
	    !read_memory(l, head + l->header.e_phoff, l->segments,
			 l->header.e_phnum * sizeof(Elf64_Phdr)))
		return false;
	for (int i = 0; i < l->header.e_phnum; i++)
		if (l->segments[i].p_type == PT_LOAD &&
		    !l->segments[i].p_offset) {
			l->bias = head - l->segments[i].p_vaddr;
			return true;
		}
	return false;
}

/* Data that may be written have been, by the dynamic linker: zeros take its
 * place. */
static bool is_as_in_file(const Elf64_Phdr *segment)
{
	return segment->p_type == PT_LOAD && segment->p_filesz &&
	       !(segment->p_flags & PF_W);
}

static int list_loaded_parts(const struct loaded *l,
			     struct opd_untrusted_image *image)
{
	uint64_t end = sizeof(l->header);
	unsigned int nr = 0;

	memset(image->parts, 0, sizeof(image->parts));
	for (int i = 0; i < l->header.e_phnum; i++) {
		const Elf64_Phdr *p = &l->segments[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (nr == OPD_UNTRUSTED_PARTS || p->p_offset > UINT32_MAX ||
		    p->p_filesz > UINT32_MAX)
			return -EFBIG;
		if (p->p_offset + p->p_filesz > end)
			end = p->p_offset + p->p_filesz;
		if (!is_as_in_file(p))
			continue;
		image->parts[nr++] = (struct opd_untrusted_part){
			.addr = p->p_vaddr + l->bias,
			.offset = p->p_offset,
			.len = p->p_filesz,
		};
	}
	image->tail_at = (end + 15) / 16 * 16;
	return 0;
}

/* ---- dynamic symbols --------------------------------------------------------
 */

/* The GNU C library adds the bias in memory, others do not. */
static uint64_t loaded_address(const struct loaded *l, uint64_t value)
{
	return value < l->bias ? value + l->bias : value;
}

static void note_dynamic(struct loaded *l, const Elf64_Dyn *d)
{
	switch (d->d_tag) {
	case DT_SYMTAB:
		l->symbols = loaded_address(l, d->d_un.d_ptr);
		break;
	case DT_STRTAB:
		l->names = loaded_address(l, d->d_un.d_ptr);
		break;
	case DT_STRSZ:
		l->names_len = d->d_un.d_val;
		break;
	case DT_HASH:
		l->hash = loaded_address(l, d->d_un.d_ptr);
		break;
	case DT_GNU_HASH:
		l->gnu_hash = loaded_address(l, d->d_un.d_ptr);
		break;
	}
}

static void read_dynamic(struct loaded *l)
{
	Elf64_Dyn d;

	for (int i = 0; i < l->header.e_phnum; i++) {
		uint64_t at = l->segments[i].p_vaddr + l->bias;

		if (l->segments[i].p_type != PT_DYNAMIC)
			continue;
		for (int k = 0; k < MAX_DYNAMIC; k++, at += sizeof(d)) {
			if (!read_memory(l, at, &d, sizeof(d)) ||
			    d.d_tag == DT_NULL)
				return;
			note_dynamic(l, &d);
		}
	}
}

/* The last chain that begins in a bucket ends with the last symbol; its words
 * are those of the symbols from the first one that is in the table on. */
static uint64_t count_by_gnu_hash(const struct loaded *l)
{
	uint32_t head[4], last = 0, word = 0; /* buckets, first, bloom, shift */
	uint64_t at, chains;

	if (!read_memory(l, l->gnu_hash, head, sizeof(head)) ||
	    head[0] > MAX_SYMBOLS || head[2] > MAX_SYMBOLS)
		return 0;
	at = l->gnu_hash + sizeof(head) + 8 * (uint64_t)head[2];
	chains = at + 4 * (uint64_t)head[0];
	for (; at < chains; at += 4) {
		if (!read_memory(l, at, &word, sizeof(word)))
			return 0;
		if (word > last)
			last = word;
	}
	if (last < head[1])
		return head[1];
	for (word = 0; !(word & 1) && last < MAX_SYMBOLS; last++)
		if (!read_memory(l, chains + 4 * (uint64_t)(last - head[1]),
				 &word, sizeof(word)))
			return 0;
	return last;
}

static uint64_t count_symbols(const struct loaded *l)
{
	uint32_t head[2];

	if (!l->symbols || !l->names || l->names_len > NAMES_MAX)
		return 0;
	if (l->gnu_hash)
		return count_by_gnu_hash(l);
	return l->hash && read_memory(l, l->hash, head, sizeof(head)) ? head[1]
								      : 0;
}

/* ---- sections ---------------------------------------------------------------
 */

static const char section_names[] =
	"\0.text\0.note\0.dynsym\0.dynstr\0.shstrtab";
enum {
	NAME_TEXT = 1,
	NAME_NOTE = 7,
	NAME_DYNSYM = 13,
	NAME_DYNSTR = 21,
	NAME_NAMES = 29
};

#define MAX_SECTIONS (MAX_SEGMENTS + 4)

struct sections {
	Elf64_Shdr header[MAX_SECTIONS];
	uint16_t nr;
};

/* Append to the tail, where @bytes is not NULL. Returns where that is, or NULL
 * if there is no room. */
static uint8_t *put_tail(struct loaded *l, const void *bytes, uint64_t len)
{
	uint8_t *at = l->room + l->len;

	if (len > OPD_UNTRUSTED_ROOM - l->len)
		return NULL;
	if (bytes)
		memcpy(at, bytes, len);
	l->len += len;
	return at;
}

/* For code, and for notes, which have the build-id. */
static void add_sections_of(const struct loaded *l, struct sections *s)
{
	for (int i = 0; i < l->header.e_phnum; i++) {
		const Elf64_Phdr *p = &l->segments[i];
		bool is_code = is_as_in_file(p) && p->p_flags & PF_X;

		if (!is_code && p->p_type != PT_NOTE)
			continue;
		s->header[s->nr++] = (Elf64_Shdr){
			.sh_name = is_code ? NAME_TEXT : NAME_NOTE,
			.sh_type = is_code ? SHT_PROGBITS : SHT_NOTE,
			.sh_flags = SHF_ALLOC | (is_code ? SHF_EXECINSTR : 0),
			.sh_addr = p->p_vaddr,
			.sh_offset = p->p_offset,
			.sh_size = p->p_filesz,
			.sh_addralign = is_code ? 16 : 4,
		};
	}
}

/* The number of the section that holds @addr, 0 if there is none. */
static uint16_t section_of(const struct sections *s, uint64_t addr)
{
	for (uint16_t i = 1; i < s->nr; i++)
		if (s->header[i].sh_type == SHT_PROGBITS &&
		    addr - s->header[i].sh_addr < s->header[i].sh_size)
			return i;
	return 0;
}

/* Put the functions among the dynamic symbols into the tail; they begin with
 * one that is empty. False if there is no room. */
static bool put_dynamic_functions(struct loaded *l, const struct sections *s)
{
	uint64_t nr = count_symbols(l);
	Elf64_Sym symbol = { .st_name = 0 };

	if (!put_tail(l, &symbol, sizeof(symbol)))
		return false;
	for (uint64_t i = 1; i < nr && i < MAX_SYMBOLS; i++) {
		if (!read_memory(l, l->symbols + i * sizeof(symbol), &symbol,
				 sizeof(symbol)))
			return true;
		symbol.st_shndx = symbol.st_shndx == SHN_UNDEF
					  ? 0
					  : section_of(s, symbol.st_value);
		if (symbol.st_shndx && symbol.st_name < l->names_len &&
		    !put_tail(l, &symbol, sizeof(symbol)))
			return false;
	}
	return true;
}

/* The names end with a zero, whatever they are. */
static bool put_names(struct loaded *l)
{
	uint8_t *at = put_tail(l, NULL, l->names_len + 1);

	if (!at)
		return false;
	memset(at, 0, l->names_len + 1);
	(void)read_memory(l, l->names, at, l->names_len);
	at[l->names_len] = '\0';
	return true;
}

static void add_image_section(struct sections *s, uint32_t name, uint32_t type,
			      uint64_t offset, uint64_t end)
{
	s->header[s->nr++] = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_offset = offset,
		.sh_size = end - offset,
		.sh_addralign = 1,
	};
}

static int put_sections(struct loaded *l, struct opd_untrusted_image *image)
{
	struct sections s = { .nr = 1 };
	uint64_t tail = image->tail_at, at = 0;

	if (l->names_len > NAMES_MAX)
		l->names_len = 0;
	add_sections_of(l, &s);
	if (!put_dynamic_functions(l, &s))
		return -EFBIG;
	add_image_section(&s, NAME_DYNSYM, SHT_DYNSYM, tail, tail + l->len);
	s.header[s.nr - 1].sh_link = s.nr;
	s.header[s.nr - 1].sh_info = 1;
	s.header[s.nr - 1].sh_entsize = sizeof(Elf64_Sym);
	at = l->len;
	if (!put_names(l))
		return -EFBIG;
	add_image_section(&s, NAME_DYNSTR, SHT_STRTAB, tail + at,
			  tail + l->len);
	at = l->len;
	if (!put_tail(l, section_names, sizeof(section_names)))
		return -EFBIG;
	add_image_section(&s, NAME_NAMES, SHT_STRTAB, tail + at, tail + l->len);
	if (!put_tail(l, NULL, -l->len % 16))
		return -EFBIG;
	at = l->len;
	if (!put_tail(l, s.header, s.nr * sizeof(s.header[0])))
		return -EFBIG;
	l->header.e_shoff = tail + at;
	l->header.e_shentsize = sizeof(s.header[0]);
	l->header.e_shnum = s.nr;
	l->header.e_shstrndx = s.nr - 1;
	return 0;
}

void opd_untrusted_read_image(int fd, struct opd_untrusted_call *call,
			      void *room)
{
	struct opd_untrusted_image *image = &call->image;
	struct loaded l = { .mem = fd, .room = room };

	if (!read_headers(&l, image->head)) {
		call->err = -ENOEXEC;
		return;
	}
	call->err = list_loaded_parts(&l, image);
	if (call->err)
		return;
	read_dynamic(&l);
	call->err = put_sections(&l, image);
	if (call->err)
		return;
	memcpy(image->header, &l.header, sizeof(l.header));
	call->nr = l.len;
}
