// SPDX-License-Identifier: GPL-2.0-or-later
/* Which names an error proposes, and in which order. */

#include "tests/unit/rows.h"

#include "libop/base/op_near_names.h"

/* given: how many are wanted; script: what was asked for, then the names. */
static const struct row rows[] = {
	{ "no_names", "3", "bash", "none\n" },
	{ "one_name", "3", "bash;zsh", "zsh\n" },
	{ "the_most_similar_first", "3", "bash;zebra;dash;fish",
	  "dash, fish, zebra\n" },
	{ "names_as_similar_by_name", "3", "bash;mash;dash;cash",
	  "cash, dash, mash\n" },
	{ "more_than_wanted", "2", "bash;dash;zsh;fish;ksh",
	  "dash, fish and 2 more\n" },
	{ "as_many_as_wanted", "4", "bash;dash;zsh;fish;ksh",
	  "dash, fish, ksh, zsh\n" },
	{ "one_is_wanted", "1", "bash;dash;zsh", "dash and 1 more\n" },
	{ "repeated_names_count_once", "2", "bash;zsh;dash;zsh;dash;zsh",
	  "dash, zsh\n" },
	/* A name that has the other one in it is nearer than any change. */
	{ "a_name_within_a_name", "2", "sh;ssh-agent;sx;s",
	  "ssh-agent, s and 1 more\n" },
	{ "last_components_are_compared", "2",
	  "/usr/local/bin/bash;/usr/local/bin/zsh;/bin/bash;/bin/ash",
	  "/bin/bash, /bin/ash and 1 more\n" },
	{ "a_folder_by_its_own_name", "1", "/usr/lib/;/opt/lib/;lib64",
	  "/opt/lib/ and 1 more\n" },
	{ "last_part", "1", "fnd;a::find(d);fnord", "a::find(d) and 1 more\n" },
	{ "in_a_part", "1", "_M_l;b;a::_M_lo(c)", "a::_M_lo(c) and 1 more\n" },
	{ "wildcards_are_left_out", "1", "*[b]?ash*;ash;bash",
	  "bash and 1 more\n" },
	{ "wildcards_alone", "1", "*;bash;b", "b and 1 more\n" },
};

static void print_near_names(const struct row *row, FILE *out)
{
	char lines[10][64];
	const char *names[10], *at = row->script;
	struct op_arena arena;
	size_t nr = 0;

	while (next_line(&at, lines[nr], sizeof(lines[nr]))) {
		names[nr] = lines[nr];
		nr++;
		assert_true(nr < NR(lines));
	}
	op_arena_init(&arena);
	fprintf(out, "%s\n",
		op_near_names(&arena, names[0], names + 1, nr - 1,
			      strtoul(row->given, NULL, 10)));
	op_arena_release(&arena);
}

TEST_ROWS(test_row, rows)
{
	check_row(*state, print_near_names);
}

TEST(distances)
{
	char long_name[OP_EDIT_MAX + 20];
	static const struct {
		const char *a, *b;
		unsigned int distance, any_case;
	} cases[] = {
		{ "", "", 0, 0 },	  { "", "abc", 3, 3 },
		{ "abc", "", 3, 3 },	  { "abc", "abc", 0, 0 },
		{ "abc", "xabc", 1, 1 },  { "abc", "ac", 1, 1 },
		{ "abc", "axc", 1, 1 },	  { "abc", "aXC", 2, 1 },
		{ "ABC", "abc", 3, 0 },	  { "kitten", "sitting", 3, 3 },
		{ "abcd", "badc", 3, 3 }, { "\xc4", "\xe4", 1, 1 },
	};

	for (size_t i = 0; i < NR(cases); i++) {
		const char *a = cases[i].a, *b = cases[i].b;

		assert_int_equal(op_edit_distance(a, b, false),
				 cases[i].distance);
		assert_int_equal(op_edit_distance(a, b, true),
				 cases[i].any_case);
	}
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(op_edit_distance("", long_name, false), OP_EDIT_MAX);
	assert_int_equal(op_edit_distance("x", long_name, false),
			 OP_EDIT_MAX - 1);
}
