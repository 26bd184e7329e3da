// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as the sections that tell source lines and inlined functions: the
 * first two say how the rest is shared out. What is found does not depend on
 * the order of questions.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/symbols/dwarf/inline_index.h"
#include "libpp/symbols/dwarf/line_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_code(void *ctx, uint64_t address)
{
	(void)ctx;
	return address >= 16;
}

/* Something of all functions that were inlined at @address. */
static uint64_t ask_inlined(struct pp_inline_index *index, uint64_t address)
{
	struct pp_inlined found[16];
	size_t nr = pp_inline_index_find(index, address, found, 16);
	uint64_t sum = nr;

	for (size_t i = 0; i < nr; i++)
		sum = sum * 31 + strlen(found[i].name) + found[i].call_line;
	return sum;
}

static void ask_all_inlined(const struct pp_dwarf *dwarf)
{
	uint64_t answers[64];
	struct pp_inline_index *index;

	if (pp_inline_index_new(&index, dwarf, NULL))
		return;
	for (uint64_t i = 0; i < 64; i++)
		answers[i] = ask_inlined(index, i * 5);
	for (uint64_t i = 64; i-- > 0;)
		if (answers[i] != ask_inlined(index, i * 5))
			abort();
	pp_inline_index_free(index);
}

/* Line and file of @address as one number. */
static uint64_t ask(struct pp_line_index *index, uint64_t address)
{
	struct pp_line line;

	if (!pp_line_index_find(index, address, &line))
		return 0;
	return (uint64_t)line.line << 32 | (strlen(line.file) + 1);
}

static void ask_all(const struct pp_dwarf *dwarf)
{
	uint64_t answers[64];
	struct pp_line_index *index;

	if (pp_line_index_new(&index, dwarf, is_code, NULL))
		return;
	if (pp_line_index_wants_info(index))
		pp_line_index_give_info(index, &dwarf->info, &dwarf->abbrev);
	for (uint64_t i = 0; i < 64; i++)
		answers[i] = ask(index, i * 5);
	for (uint64_t i = 64; i-- > 0;)
		if (answers[i] != ask(index, i * 5))
			abort();
	pp_line_index_free(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pp_dwarf dwarf = { 0 };
	size_t line, info;

	if (size < 2)
		return 0;
	size -= 2;
	line = size * data[0] / 256;
	info = (size - line) * (data[1] & 0x7f) / 128;
	dwarf.big_endian = data[1] & 0x80;
	data += 2;
	dwarf.line = (struct pp_bytes){ data, line };
	dwarf.info = (struct pp_bytes){ data + line, info };
	dwarf.abbrev =
		(struct pp_bytes){ data + line + info, size - line - info };
	dwarf.str = dwarf.line_str = dwarf.abbrev;
	dwarf.ranges = dwarf.rnglists = dwarf.info;
	dwarf.addr = dwarf.str_offsets = dwarf.line;
	ask_all(&dwarf);
	ask_all_inlined(&dwarf);
	return 0;
}
