// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names such as "malloc@plt" for the entries of the procedure linkage table
 * (PLT), by which code calls other libraries.
 *
 * On x86-64 an entry jumps to the address in a slot, and a relocation of that
 * slot names the symbol whose address the dynamic linker puts there (System V
 * ABI, AMD64 supplement, "Procedure Linkage Table" and "Relocation Types").
 * libbfd knows these names, too, but makes an object of each relocation of the
 * file and sorts them all, which took a third of a report on libraries with
 * many; only those of slots are looked at here. For other machines libbfd makes
 * the names: there it reads the relocations of entries alone.
 */

#include "libpp/symbols/op_bfd_internal.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"
#include "libop/base/op_sort.h"

/* A slot with the address of a function. */
struct slot {
	uint64_t address;
	const asymbol *symbol;
	uint64_t addend;
};

struct plt_entry {
	asection *section;
	uint64_t at; /* in the section */
	const struct slot *slot;
};

struct plt {
	struct slot *slots; /* by address */
	size_t nr_slots;
	struct plt_entry *list;
	size_t nr;
};

static bfd_byte *read_section_named(bfd *abfd, const char *name,
				    asection **section)
{
	bfd_byte *bytes = NULL;

	*section = bfd_get_section_by_name(abfd, name);
	if (!*section || !((*section)->flags & SEC_HAS_CONTENTS))
		return NULL;
	return bfd_get_full_section_contents(abfd, *section, &bytes) ? bytes
								     : NULL;
}

/* ---- slots ----------------------------------------------------------------
 */

/* Relocations of these types make the dynamic linker write the address of one
 * function into a slot. */
static bool is_slot(uint64_t info)
{
	switch (ELF64_R_TYPE(info)) {
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_IRELATIVE:
		return true;
	default:
		return false;
	}
}

/* NULL if there is no such symbol; number 0 stands for none. libbfd leaves that
 * one out. */
static const asymbol *symbol_of_slot(const struct op_bfd *bfd, uint64_t info)
{
	uint64_t number = ELF64_R_SYM(info);

	if (!number)
		return bfd_abs_section_ptr->symbol;
	return number <= (uint64_t)bfd->nr_dynsyms ? bfd->dynsyms[number - 1]
						   : NULL;
}

static int add_slots_of(struct plt *plt, const struct op_bfd *bfd,
			const char *name)
{
	asection *section;
	bfd_byte *bytes = read_section_named(bfd->main.abfd, name, &section);
	size_t nr = bytes ? bfd_section_size(section) / sizeof(Elf64_Rela) : 0;
	int err = 0;

	for (size_t i = 0; i < nr; i++) {
		const bfd_byte *rela = bytes + i * sizeof(Elf64_Rela);
		uint64_t info = bfd_getl64(rela + offsetof(Elf64_Rela, r_info));
		const asymbol *symbol =
			is_slot(info) ? symbol_of_slot(bfd, info) : NULL;

		if (!symbol)
			continue;
		err = op_array_reserve(&plt->slots, plt->nr_slots, 1);
		if (err)
			break;
		plt->slots[plt->nr_slots++] = (struct slot){
			.address = bfd_getl64(rela +
					      offsetof(Elf64_Rela, r_offset)),
			.symbol = symbol,
			.addend = bfd_getl64(rela +
					     offsetof(Elf64_Rela, r_addend)),
		};
	}
	free(bytes);
	return err;
}

static const struct slot *find_slot(const struct plt *plt, uint64_t address)
{
	size_t at =
		OP_BISECT(i, plt->nr_slots, plt->slots[i].address < address);

	return at < plt->nr_slots && plt->slots[at].address == address
		       ? &plt->slots[at]
		       : NULL;
}

/* ---- entries --------------------------------------------------------------
 */

static const struct {
	uint8_t len;
	uint8_t bytes[4];
	uint8_t skip; /* bytes of an operand behind it */
} before_jump[] = {
	{ 4, { 0xf3, 0x0f, 0x1e, 0xfa }, 0 }, /* endbr64 */
	{ 2, { 0x41, 0xbb }, 4 }, /* mov of a number to r11d: mold(1) */
	{ 1, { 0xf2 }, 0 }, /* bnd */
};

/*
 * The address of the slot that an entry at @code, whose first byte has address
 * @vma, jumps by: what may be before the jump, and "jmp *offset(%rip)". False
 * for other code.
 */
static bool slot_address_of_entry(const bfd_byte *code, size_t len,
				  uint64_t vma, uint64_t *address)
{
	size_t at = 0;

	for (size_t i = 0; i < sizeof(before_jump) / sizeof(before_jump[0]);
	     i++)
		if (len - at > before_jump[i].len + before_jump[i].skip &&
		    !memcmp(code + at, before_jump[i].bytes,
			    before_jump[i].len))
			at += before_jump[i].len + before_jump[i].skip;
	if (len - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	*address = vma + at + 6 + (uint64_t)bfd_getl_signed_32(code + at + 2);
	return true;
}

/* Entries have 8 or 16 bytes. What begins midway in one and looks like a jump
 * would have to meet a slot. */
static int add_entries_of(struct plt *plt, const struct op_bfd *bfd,
			  const char *name)
{
	asection *section;
	bfd_byte *code = read_section_named(bfd->main.abfd, name, &section);
	size_t len = code ? bfd_section_size(section) : 0;
	int err = 0;

	for (size_t at = 0; at < len && !err; at += 8) {
		const struct slot *slot;
		uint64_t address;

		if (!slot_address_of_entry(code + at, len - at,
					   bfd_section_vma(section) + at,
					   &address))
			continue;
		slot = find_slot(plt, address);
		if (!slot)
			continue;
		err = op_array_reserve(&plt->list, plt->nr, 1);
		if (!err)
			plt->list[plt->nr++] =
				(struct plt_entry){ section, at, slot };
	}
	free(code);
	return err;
}

/* ---- names ----------------------------------------------------------------
 */

#define LONGEST_END "+0x0123456789abcdef@plt"

/* "NAME@plt" or "NAME+0xADDEND@plt", as objdump has it. Returns its end. */
static char *put_entry_name(char *to, const struct slot *slot)
{
	to = stpcpy(to, bfd_asymbol_name(slot->symbol));
	if (slot->addend)
		to += sprintf(to, "+0x%" PRIx64, slot->addend);
	return stpcpy(to, "@plt") + 1;
}

/* Symbols and, behind them, their names, in one piece of memory. */
static long make_plt_symbols(const struct plt *plt, asymbol **out)
{
	size_t len = plt->nr * (sizeof(**out) + sizeof(LONGEST_END));
	char *name;

	for (size_t i = 0; i < plt->nr; i++)
		len += strlen(bfd_asymbol_name(plt->list[i].slot->symbol));
	*out = plt->nr ? malloc(len) : NULL;
	if (!*out)
		return 0;
	name = (char *)(*out + plt->nr);
	for (size_t i = 0; i < plt->nr; i++) {
		const struct plt_entry *entry = &plt->list[i];
		asymbol *sym = &(*out)[i];

		*sym = *entry->slot->symbol;
		sym->section = entry->section;
		sym->value = entry->at;
		sym->name = name;
		/* An undefined symbol is neither; that of no symbol is a
		 * section's. */
		if (!(sym->flags & BSF_LOCAL))
			sym->flags |= BSF_GLOBAL;
		sym->flags &= ~(flagword)BSF_SECTION_SYM;
		sym->flags |= BSF_SYNTHETIC;
		name = put_entry_name(name, entry->slot);
	}
	return (long)plt->nr;
}

static long read_x86_64_plt(struct op_bfd *bfd)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got",
						".plt.bnd" };
	struct plt plt = { 0 };
	long nr = 0;
	int err;

	if (!bfd->nr_dynsyms)
		return 0;
	err = add_slots_of(&plt, bfd, ".rela.plt")
		      ?: add_slots_of(&plt, bfd, ".rela.dyn");
	if (!err)
		op_sort_by(plt.slots, plt.nr_slots, address);
	for (size_t i = 0; !err && i < sizeof(sections) / sizeof(sections[0]);
	     i++)
		err = add_entries_of(&plt, bfd, sections[i]);
	if (!err)
		nr = make_plt_symbols(&plt, &bfd->synthetic);
	free(plt.slots);
	free(plt.list);
	return nr;
}

static bool is_x86_64(struct bfd *abfd)
{
	return bfd_get_flavour(abfd) == bfd_target_elf_flavour &&
	       bfd_get_arch(abfd) == bfd_arch_i386 &&
	       bfd_get_mach(abfd) == bfd_mach_x86_64;
}

void op_bfd_read_plt(struct op_bfd *bfd)
{
	struct bfd *const abfd = bfd->main.abfd;

	if (bfd->synthetic)
		return;
	if (is_x86_64(abfd))
		bfd->nr_synthetic = read_x86_64_plt(bfd);
	else
		bfd->nr_synthetic = bfd_get_synthetic_symtab(
			abfd, bfd->main.nr_syms, bfd->main.syms,
			bfd->nr_dynsyms, bfd->dynsyms, &bfd->synthetic);
	if (bfd->nr_synthetic < 0)
		bfd->nr_synthetic = 0;
}
