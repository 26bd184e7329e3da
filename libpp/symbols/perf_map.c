// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lines of a map come in the order in which the daemon learnt them, and a
 * process may have used an address again. So functions that overlap are thrown
 * out here: a table of symbols would take the shorter one for a part of the
 * longer one. The later line is kept, since samples that were placed by address
 * are named by what is known last.
 */

#include "libpp/symbols/perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/files/op_file.h"
#include "libop/image/op_perf_map.h"
#include "libop/base/op_sort.h"

#define MAX_BYTES (64u << 20)
#define MAX_NAME 4096

static int add_map_symbol(struct op_arena *arena,
			  const struct op_perf_map_line *line, uint64_t start,
			  struct pp_raw_symbol **out, size_t *nr)
{
	char name[MAX_NAME];
	struct pp_raw_symbol symbol = {
		.key = line->start - start,
		.vma = line->start,
		.size = line->size,
		.limit = UINT64_MAX,
		.flags = PP_SYM_FUNCTION,
		.order = *nr,
	};

	op_perf_map_copy_name(name, sizeof(name), line->name, line->name_len);
	symbol.name = op_arena_strdup(arena, name);
	if (!symbol.name || op_array_reserve(out, *nr, 1))
		return -ENOMEM;
	(*out)[(*nr)++] = symbol;
	return 0;
}

/* Keep the later one of functions that overlap. */
static size_t drop_replaced(struct pp_raw_symbol *list, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		while (kept &&
		       list[kept - 1].key + list[kept - 1].size > list[i].key &&
		       list[kept - 1].order < list[i].order)
			kept--;
		if (!kept ||
		    list[kept - 1].key + list[kept - 1].size <= list[i].key)
			list[kept++] = list[i];
	}
	return kept;
}

static int take_perf_map(const char *text, size_t len, uint64_t start,
			 uint64_t end, struct op_arena *arena,
			 struct pp_raw_symbol **out, size_t *nr)
{
	const char *last = text + len, *newline;
	struct op_perf_map_line line;
	int err = 0;

	/* What was cut has no newline. */
	for (const char *at = text;
	     !err && (newline = memchr(at, '\n', (size_t)(last - at)));
	     at = newline + 1)
		if (op_perf_map_parse(&line, at, (size_t)(newline - at)) &&
		    line.start >= start && line.start < end)
			err = add_map_symbol(arena, &line, start, out, nr);
	return err;
}

int pp_perf_map_read(const char *path, uint64_t start, uint64_t end,
		     struct op_arena *arena, struct pp_raw_symbol **out,
		     size_t *nr)
{
	size_t len = 0;
	char *text;
	int err;

	*out = NULL;
	*nr = 0;
	err = op_file_read(path, MAX_BYTES, &text, &len, NULL);
	if (err)
		return err;
	err = take_perf_map(text, len, start, end, arena, out, nr);
	free(text);
	if (err) {
		free(*out);
		*out = NULL;
		return err;
	}
	op_sort_by(*out, *nr, key);
	*nr = drop_replaced(*out, *nr);
	return 0;
}
