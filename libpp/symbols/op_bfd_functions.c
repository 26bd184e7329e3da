// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions of a stripped binary. The search table that linkers make for
 * unwinders, .eh_frame_hdr (Linux Standard Base Core, section 10.6.2), has the
 * start of each function, and stripping leaves it. A static program may be
 * without this table; then the descriptions that it is made of, .eh_frame, have
 * the starts. A start that no symbol holds becomes a symbol called by its
 * address, "(0x4a10)", so that samples are at least told apart by function.
 */

#include "libcfi/cfi.h"
#include "libop/base/op_array.h"
#include "libop/base/op_decimal.h"
#include "libop/base/op_sort.h"
#include "libpp/symbols/op_bfd_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How numbers are encoded (DWARF exception header encoding). */
#define ENC_UDATA4 0x03
#define ENC_SDATA4 0x0b
#define ENC_SIZE 0x0f
#define ENC_DATAREL 0x30 /* counted from the start of the section */

#define HEADER 4 /* bytes: version and three encodings */
#define ROW 8 /* bytes of the table: a start, and where its data are */
#define NAME_MAX 24 /* bytes of a name that is made up */

struct search_table {
	const bfd *abfd;
	uint64_t vma; /* of the section */
	const bfd_byte *rows;
	size_t nr;
};

/* Bytes that a number of @encoding takes; 0 when that depends on it. */
static size_t size_of(const bfd *abfd, unsigned int encoding)
{
	static const uint8_t sizes[ENC_SIZE + 1] = {
		[0x02] = 2, [ENC_UDATA4] = 4, [0x04] = 8,
		[0x0a] = 2, [ENC_SDATA4] = 4, [0x0c] = 8,
	};

	return encoding & ENC_SIZE
		       ? sizes[encoding & ENC_SIZE]
		       : (size_t)bfd_arch_bits_per_address(abfd) / 8;
}

/* Whatever linkers do not make counts as no table. */
static void find_rows(struct search_table *table, const bfd_byte *bytes,
		      size_t len)
{
	size_t at, size;

	if (len < HEADER || bytes[0] != 1 || bytes[2] != ENC_UDATA4 ||
	    bytes[3] != (ENC_DATAREL | ENC_SDATA4))
		return;
	size = size_of(table->abfd, bytes[1]);
	at = HEADER + size + 4;
	if (!size || len < at)
		return;
	table->rows = bytes + at;
	table->nr = bfd_get_32(table->abfd, bytes + at - 4);
	if (table->nr > (len - at) / ROW)
		table->nr = (len - at) / ROW;
}

static int take_starts(const struct search_table *table, uint64_t **out,
		       size_t *nr)
{
	uint64_t *starts = calloc(table->nr + 1, sizeof(*starts));

	if (!starts)
		return -ENOMEM;
	for (size_t i = 0; i < table->nr; i++)
		starts[i] = table->vma +
			    (uint64_t)bfd_get_signed_32(table->abfd,
							table->rows + i * ROW);
	/* Linkers sort them. */
	op_sort_by_number(starts, table->nr, sizeof(*starts), 0);
	*out = starts;
	*nr = table->nr;
	return 0;
}

/* Starts by .eh_frame. A file that is not linked gives none, as relocations
 * have its addresses. */
static int read_described_starts(const struct op_bfd *bfd, uint64_t **out,
				 size_t *nr)
{
	struct bfd *const abfd = bfd->main.abfd;
	size_t len = 0;
	uint64_t vma = 0;
	bfd_byte *bytes = NULL;
	int err;

	if (!bfd->main.is_relocatable && bfd_get_arch_size(abfd) == 64 &&
	    bfd_little_endian(abfd))
		bytes = op_bfd_section_bytes(bfd, ".eh_frame", &vma, &len);
	err = cfi_function_starts(out, nr, bytes, len, vma);
	free(bytes);
	if (!err)
		op_sort_by_number(*out, *nr, sizeof(**out), 0);
	return err;
}

static int read_starts(const struct op_bfd *bfd, uint64_t **out, size_t *nr)
{
	struct search_table table = { .abfd = bfd->main.abfd };
	size_t len;
	bfd_byte *bytes =
		op_bfd_section_bytes(bfd, ".eh_frame_hdr", &table.vma, &len);
	int err;

	if (!bytes)
		return read_described_starts(bfd, out, nr);
	find_rows(&table, bytes, len);
	err = take_starts(&table, out, nr);
	free(bytes);
	return err;
}

/* ---- those that have no name --------------------------------------------- */

/* The first key behind @sym, or behind its first byte if that is not known. */
static uint64_t end_of_symbol(const struct pp_raw_symbol *sym)
{
	uint64_t end;

	if (__builtin_add_overflow(sym->key, sym->size ? sym->size : 1, &end))
		end = UINT64_MAX;
	return end;
}

/* Write "(0x%PRIx64)" by hand: printf would take long for hundreds of thousands
 * of these. */
static void name_by_address(char name[NAME_MAX], uint64_t address)
{
	char digits[OP_DECIMAL_LEN];
	size_t len = op_decimal_hex(digits, address, 1);

	name = mempcpy(name, "(0x", 3);
	name = mempcpy(name, digits, len);
	memcpy(name, ")", 2);
}

/* Add those of the ascending @starts that are inside no symbol of the sorted
 * list. */
static void add_starts(struct op_bfd *bfd, struct symbol_list *list,
		       const uint64_t *starts, size_t nr)
{
	const struct pp_raw_symbol *sym = list->array, *last = sym + list->nr;
	const struct code_section *section;
	char *name = bfd->unnamed;
	uint64_t reach = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t key;

		section = op_bfd_find_section(bfd, starts[i]);
		if (!section || (i && starts[i] == starts[i - 1]))
			continue;
		key = section->offset + (starts[i] - section->vma);
		for (; sym < last && sym->key <= key; sym++)
			if (end_of_symbol(sym) > reach)
				reach = end_of_symbol(sym);
		if (key < reach)
			continue;
		name_by_address(name, starts[i]);
		list->array[list->nr++] = (struct pp_raw_symbol){
			.name = name,
			.key = key,
			.vma = starts[i],
			.limit = section->offset + section->size,
		};
		name += NAME_MAX;
	}
}

int op_bfd_add_unnamed(struct op_bfd *bfd, struct symbol_list *list)
{
	uint64_t *starts;
	size_t nr;
	int err = read_starts(bfd, &starts, &nr);

	if (err)
		return err;
	free(bfd->unnamed);
	bfd->unnamed = calloc(nr + 1, NAME_MAX);
	err = op_array_reserve(&list->array, list->nr, nr);
	if (!err && bfd->unnamed) {
		op_sort_by(list->array, list->nr, key);
		add_starts(bfd, list, starts, nr);
	} else {
		err = -ENOMEM;
	}
	free(starts);
	return err;
}
