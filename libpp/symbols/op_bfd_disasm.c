// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions as text, by libopcodes, in the words of objdump: names of
 * targets as op_bfd_labels.c chooses them, bytes in groups as the machine has
 * them. libopcodes prints piece by piece through functions of ours, which
 * collect the text of one instruction. Addresses in a file that is not linked
 * start at 0 in each section, as objdump has them; they are kept as
 * libpp/symbols/op_bfd.h has them and differ only where they are written.
 * Bytes that are no whole instruction become ".byte".
 */

#include "libpp/symbols/op_disasm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/symbols/demangle.h"
#include "libpp/symbols/op_bfd_internal.h"

#include <dis-asm.h>

#define MAX_CODE ((uint64_t)1 << 28) /* bytes at once */
#define ROW_BYTES 16 /* of code, at most */

struct op_disasm {
	struct op_bfd *bfd;
	struct op_disasm_options options;
	struct op_arena arena; /* of demangled names */
	struct disassemble_info info;
	disassembler_ftype print;
	struct op_bfd_labels labels;
	uint8_t *code;
	uint64_t bias; /* from a written address to a vma */
	char *text; /* of the current instruction */
	size_t len, room;
	char row[3 * ROW_BYTES + 1];
};

/* ---- text ---------------------------------------------------------------- */

__attribute__((format(printf, 2, 0))) static int
append_format(struct op_disasm *d, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	va_copy(again, ap);
	len = vsnprintf(d->text + d->len, d->room - d->len, fmt, again);
	va_end(again);
	if (len >= 0 && (size_t)len >= d->room - d->len) {
		size_t room = 2 * (d->len + (size_t)len + 1);
		char *text = realloc(d->text, room);

		if (!text)
			return 0;
		d->text = text;
		d->room = room;
		len = vsnprintf(d->text + d->len, room - d->len, fmt, ap);
	}
	d->len += len > 0 ? (size_t)len : 0;
	return len;
}

__attribute__((format(printf, 2, 3))) static int
print_text(void *stream, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = append_format(stream, fmt, ap);
	va_end(ap);
	return len;
}

__attribute__((format(printf, 3, 4))) static int
print_styled(void *stream, enum disassembler_style style, const char *fmt, ...)
{
	va_list ap;
	int len;

	(void)style;
	va_start(ap, fmt);
	len = append_format(stream, fmt, ap);
	va_end(ap);
	return len;
}

/* ---- addresses ----------------------------------------------------------- */

/* The name as the listing prints it. */
static const char *shown_name(struct op_disasm *d, const char *name)
{
	if (!d->options.demangle)
		return name;
	return pp_demangle(&d->arena, name,
			   d->options.brief ? PP_DEMANGLE_BRIEF
					    : PP_DEMANGLE_NORMAL);
}

/* The symbol whose address will be in a slot, with its version. */
static void print_slot(struct op_disasm *d, const struct op_bfd_label *slot)
{
	bfd *abfd = d->bfd->main.abfd;
	bool hidden = false;
	const char *version =
		bfd_get_symbol_version_string(abfd, slot->sym, true, &hidden);

	if (bfd_is_und_section(slot->sym->section))
		hidden = true;
	print_text(d, " <%s", shown_name(d, slot->sym->name));
	if (version && *version)
		print_text(d, "%s%s", hidden ? "@" : "@@", version);
	print_text(d, ">");
}

static void print_address(bfd_vma address, struct disassemble_info *info)
{
	struct op_disasm *d = info->stream;
	uint64_t vma = address + d->bias;
	const struct op_bfd_label *label = op_bfd_label_find(&d->labels, vma),
				  *slot = NULL;

	print_text(d, "%s%" PRIx64, label ? "" : "0x", (uint64_t)address);
	if (!label)
		return;
	if (label->vma != vma)
		slot = op_bfd_slot_find(&d->labels, vma);
	if (slot) {
		print_slot(d, slot);
		return;
	}
	print_text(d, " <%s", shown_name(d, label->sym->name));
	if (vma > label->vma)
		print_text(d, "+0x%" PRIx64, vma - label->vma);
	print_text(d, ">");
}

/* ---- opening ------------------------------------------------------------- */

static int set_up_disassembler(struct op_disasm *d)
{
	bfd *abfd = d->bfd->main.abfd;
	struct disassemble_info *info = &d->info;

	init_disassemble_info(info, d, print_text, print_styled);
	info->flavour = bfd_get_flavour(abfd);
	info->arch = bfd_get_arch(abfd);
	info->mach = bfd_get_mach(abfd);
	info->endian =
		bfd_big_endian(abfd) ? BFD_ENDIAN_BIG : BFD_ENDIAN_LITTLE;
	info->endian_code = info->endian;
	info->disassembler_options = d->options.machine;
	info->print_address_func = print_address;
	disassemble_init_for_target(info);
	d->print = disassembler(info->arch, bfd_big_endian(abfd), info->mach,
				abfd);
	return d->print ? 0 : -ENOTSUP;
}

int op_disasm_new(struct op_disasm **out, struct op_bfd *bfd,
		  const struct op_disasm_options *options)
{
	struct op_disasm *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->bfd = bfd;
	d->options = *options;
	op_arena_init(&d->arena);
	d->room = 128;
	d->text = malloc(d->room);
	err = d->text ? set_up_disassembler(d) : -ENOMEM;
	if (!err)
		err = op_bfd_labels_init(&d->labels, bfd);
	if (err)
		op_disasm_free(d);
	else
		*out = d;
	return err;
}

void op_disasm_free(struct op_disasm *d)
{
	if (!d)
		return;
	if (d->print)
		disassemble_free_target(&d->info);
	op_arena_release(&d->arena);
	op_bfd_labels_release(&d->labels);
	free(d->code);
	free(d->text);
	free(d);
}

const char *op_disasm_format(const struct op_disasm *d)
{
	return bfd_get_target(d->bfd->main.abfd);
}

const char *op_disasm_name(struct op_disasm *d, uint64_t vma)
{
	const struct op_bfd_label *label = op_bfd_label_find(&d->labels, vma);

	return label && label->vma == vma ? shown_name(d, label->sym->name)
					  : NULL;
}

/* ---- instructions -------------------------------------------------------- */

int op_disasm_load(struct op_disasm *d, uint64_t start, uint64_t len,
		   struct op_disasm_code *code)
{
	const struct object *object = &d->bfd->main;
	asection *section = op_bfd_section_at(object, start);
	uint64_t base, left;

	if (!section || !(section->flags & SEC_HAS_CONTENTS))
		return -ENOENT;
	base = bfd_section_vma(section);
	left = section->size - (start - base);
	if (len > left)
		len = left;
	if (!len || len > MAX_CODE)
		return -ENOENT;
	free(d->code);
	d->code = malloc(len);
	if (!d->code)
		return -ENOMEM;
	if (!op_bfd_code(d->bfd, start, len, d->code))
		return -ENOENT;
	d->bias = object->is_relocatable ? base : 0;
	d->info.section = section;
	d->info.buffer = d->code;
	d->info.buffer_vma = start - d->bias;
	d->info.buffer_length = len;
	*code = (struct op_disasm_code){
		.start = start,
		.len = len,
		.shown = start - d->bias,
		.section_end = base + section->size - d->bias,
		.section = bfd_section_name(section),
	};
	return 0;
}

uint64_t op_disasm_insn(struct op_disasm *d, uint64_t vma, const char **text)
{
	uint64_t at = vma - d->bias - d->info.buffer_vma;
	int len;

	d->len = 0;
	d->text[0] = '\0';
	len = d->print(vma - d->bias, &d->info);
	if (len <= 0 || (uint64_t)len > d->info.buffer_length - at) {
		/* Cut off in the middle. */
		d->len = 0;
		print_text(d, ".byte 0x%02x", d->code[at]);
		len = 1;
	}
	while (d->len && d->text[d->len - 1] == ' ')
		d->text[--d->len] = '\0';
	*text = d->text;
	return (uint64_t)len;
}

uint64_t op_disasm_row(const struct op_disasm *d)
{
	int bytes = d->info.bytes_per_line;

	return bytes > 0 && bytes <= ROW_BYTES ? (uint64_t)bytes : 4;
}

const char *op_disasm_bytes(struct op_disasm *d, uint64_t vma, uint64_t len,
			    uint64_t room)
{
	const uint8_t *code = d->code + (vma - d->bias - d->info.buffer_vma);
	bool turned = d->info.display_endian == BFD_ENDIAN_LITTLE;
	int bytes = d->info.bytes_per_chunk; /* without a blank between */
	uint64_t chunk = bytes > 0 && bytes <= ROW_BYTES ? (uint64_t)bytes : 1;
	char *at = d->row;

	for (uint64_t i = 0; i + chunk <= ROW_BYTES && i < room; i += chunk) {
		for (uint64_t j = 0; j < chunk; j++, at += 2)
			if (i + chunk <= len)
				sprintf(at, "%02x",
					code[i + (turned ? chunk - 1 - j : j)]);
			else
				memcpy(at, "  ", 2);
		*at++ = ' ';
	}
	*at = '\0';
	return d->row;
}
