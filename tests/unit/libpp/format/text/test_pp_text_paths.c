// SPDX-License-Identifier: GPL-2.0-or-later
/* Short names of paths: as many components as it takes to tell them apart. */

#include <string.h>

#include "libpp/format/text/text_paths.h"
#include "tests/unit/test.h"

static const struct paths_row {
	const char *paths[6];
	const char *shown[6];
} paths_rows[] = {
	{ { "/bin/a", "/bin/b" }, { "a", "b" } },
	{ { "/usr/gcc-12/cc1", "/home/kernel/cc1", "/bin/b" },
	  { "gcc-12/cc1", "kernel/cc1", "b" } },
	/* The end of one is all of another. */
	{ { "/bin/x", "/usr/bin/x", "/x" }, { "/bin/x", "usr/bin/x", "/x" } },
	{ { "/1/s/x", "/2/s/x", "/3/t/x" }, { "1/s/x", "2/s/x", "t/x" } },
	/* A last component that ends like another is none. */
	{ { "/1/x", "/2/xx", "/3/ax" }, { "x", "xx", "ax" } },
	{ { "/a/1/x", "/ba/1/x" }, { "a/1/x", "ba/1/x" } },
	/* Names that are no paths are whole anyway. */
	{ { "x", "a/x", "/b/x", "[vdso]" }, { "x", "a/x", "b/x", "[vdso]" } },
	{ { "/a/", "/b/" }, { "a/", "b/" } },
	{ { "", "/" }, { "", "/" } },
};

TEST(paths_are_told_apart)
{
	for (size_t i = 0; i < sizeof(paths_rows) / sizeof(*paths_rows); i++) {
		const struct paths_row *row = &paths_rows[i];
		struct pp_short_paths shorts;
		const char *paths[6];
		struct op_arena arena;
		size_t nr = 0;

		op_arena_init(&arena);
		while (nr < 6 && row->paths[nr]) {
			paths[nr] = row->paths[nr];
			nr++;
		}
		assert_int_equal(
			pp_short_paths_init(&shorts, &arena, paths, nr), 0);
		for (size_t k = 0; k < nr; k++)
			assert_string_equal(pp_short_path(&shorts,
							  row->paths[k]),
					    row->shown[k]);
		assert_string_equal(pp_short_path(&shorts, "/other/y"), "y");
		op_arena_release(&arena);
	}
}
