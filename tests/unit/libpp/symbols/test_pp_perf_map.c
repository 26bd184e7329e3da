// SPDX-License-Identifier: GPL-2.0-or-later
/* Perf maps as tables of symbols: which lines count, and what overlaps. */

#include "tests/unit/pp_fixture.h"

#include "libpp/symbols/perf_map.h"

FOLDER_TEST(maps_have_functions)
{
	/* From 0x1000 to before 0x2000: "KEY+SIZE NAME;" for each. */
	static const struct {
		const char *name, *map, *wanted;
	} rows[] = {
		{ "nothing", "", "" },
		{ "a function", "1010 20 f\n", "10+20 f;" },
		{ "a name with blanks", "0x1010 0x20 f (int, int)\n",
		  "10+20 f (int, int);" },
		{ "control bytes", "1010 20 a\x1b[0m\tb\n", "10+20 a?[0m?b;" },
		{ "the first and the last address", "1000 1 a\n1fff 1 z\n",
		  "0+1 a;fff+1 z;" },
		{ "outside", "fff 10 a\n2000 1 z\n", "" },
		{ "sorted by address", "1100 10 b\n1000 10 a\n",
		  "0+10 a;100+10 b;" },
		{ "cut off", "1000 10 a\n1100 10 b", "0+10 a;" },
		{ "no lines of a map", "x\n1000 10\n\n1100 10 b\n1200 0 c\n",
		  "100+10 b;" },
		{ "side by side", "1000 10 a\n1010 10 b\n1020 10 c\n",
		  "0+10 a;10+10 b;20+10 c;" },
		{ "one byte in common: the later one", "1000 11 a\n1010 10 b\n",
		  "10+10 b;" },
		{ "one byte in common: the later one, before",
		  "1010 10 b\n1000 11 a\n", "0+11 a;" },
		{ "the same place: the later one", "1000 10 a\n1000 20 b\n",
		  "0+20 b;" },
		{ "inside: the later one", "1000 40 a\n1010 10 b\n",
		  "10+10 b;" },
		{ "around: the later one", "1010 10 b\n1000 40 a\n",
		  "0+40 a;" },
		{ "around several",
		  "1010 10 b\n1020 10 c\n1030 10 d\n1000 30 a\n",
		  "0+30 a;30+10 d;" },
		{ "over several",
		  "1000 10 a\n1010 10 b\n1020 10 c\n1008 20 d\n", "8+20 d;" },
		{ "replaced twice", "1000 10 a\n1000 20 b\n1008 20 c\n",
		  "8+20 c;" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_raw_symbol *list;
		struct op_arena arena;
		struct text t;
		FILE *out = text_begin(&t);
		size_t nr;

		op_arena_init(&arena);
		write_text("map", rows[i].map);
		assert_int_equal(pp_perf_map_read("map", 0x1000, 0x2000, &arena,
						  &list, &nr),
				 0);
		for (size_t k = 0; k < nr; k++) {
			fprintf(out, "%llx+%llx %s;",
				(unsigned long long)list[k].key,
				(unsigned long long)list[k].size, list[k].name);
			assert_int_equal(list[k].vma, 0x1000 + list[k].key);
			assert_int_equal(list[k].limit, UINT64_MAX);
			assert_int_equal(list[k].flags, PP_SYM_FUNCTION);
		}
		text_must_be(&t, rows[i].name, rows[i].wanted);
		free(list);
		op_arena_release(&arena);
	}
}

FOLDER_TEST(long_names_are_cut)
{
	struct pp_raw_symbol *list;
	struct op_arena arena;
	char map[5100];
	size_t nr;

	op_arena_init(&arena);
	memset(map, 'x', sizeof(map));
	memcpy(map, "1000 10 ", 8);
	map[sizeof(map) - 1] = '\n';
	write_bytes("map", map, sizeof(map));
	assert_int_equal(
		pp_perf_map_read("map", 0x1000, 0x2000, &arena, &list, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(strlen(list->name), 4095);
	free(list);
	op_arena_release(&arena);
}

FOLDER_TEST(there_may_be_no_map)
{
	struct pp_raw_symbol some, *list = &some;
	struct op_arena arena;
	size_t nr = 9;

	op_arena_init(&arena);
	assert_int_equal(pp_perf_map_read("map", 0x1000, 0x2000, &arena, &list,
					  &nr),
			 -ENOENT);
	assert_null(list);
	assert_int_equal(nr, 0);
	/* A file of more than 64 MiB is none; no byte of it is read. */
	write_text("map", "1000 10 a\n");
	assert_int_equal(truncate("map", (64 << 20) + 1), 0);
	assert_true(pp_perf_map_read("map", 0x1000, 0x2000, &arena, &list,
				     &nr) < 0);
	assert_null(list);
	op_arena_release(&arena);
}
