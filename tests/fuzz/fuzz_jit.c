// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a perf map, which is read line by line into the list of code.
 * Whatever they say, the list is sorted and does not overlap, and what is found
 * for an address holds it.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/jit/opd_jit_codes.h"
#include "libop/image/op_perf_map.h"

#define MAX_CODES 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(struct opd_jit_codes *codes, uint64_t addr)
{
	const struct opd_jit_code *code = opd_jit_codes_find(codes, addr);

	if (code && (addr < code->start || addr - code->start >= code->size))
		abort();
	for (size_t i = 1; i < codes->nr; i++)
		if (codes->list[i - 1].start + codes->list[i - 1].size >
		    codes->list[i].start)
			abort();
}

static void take_line(struct opd_jit_codes *codes, const char *text, size_t len)
{
	struct op_perf_map_line line;
	struct opd_jit_code code;
	char name[64];

	if (!op_perf_map_parse(&line, text, len))
		return;
	op_perf_map_copy_name(name, sizeof(name), line.name, line.name_len);
	if (strlen(name) >= sizeof(name))
		abort();
	code = (struct opd_jit_code){ .start = line.start, .size = line.size };
	opd_jit_codes_add(codes, &code, MAX_CODES);
	if (line.size % 2)
		check_list(codes, line.start);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	struct opd_jit_codes codes = { 0 };

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		take_line(&codes, at, (size_t)((newline ?: end) - at));
		at = newline ? newline + 1 : end;
	}
	check_list(&codes, 0x7f0000000010);
	opd_jit_codes_release(&codes);
	return 0;
}
