// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which symbols a pattern of the command line means.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "libpp/symbol_match.h"

static void patterns_match(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} rows[] = {
		{ "main", "main", true },
		{ "main", "main2", false },
		{ "ma*", "main", true },
		{ "work", "work(int)", true },
		{ "work(int)", "work(int)", true },
		{ "work(long)", "work(int)", false },
		{ "work", "void a::b::work<int>(long)", true },
		{ "work<int>", "void a::b::work<int>(long)", true },
		{ "b::work", "void a::b::work<int>(long)", true },
		{ "a::b::work<int>", "void a::b::work<int>(long)", true },
		{ "b", "void a::b::work<int>(long)", false },
		{ "a::b", "void a::b::work<int>(long)", false },
		{ "int", "void a::b::work<int>(long)", false },
		{ "long", "void a::b::work<int>(long)", false },
		{ "void", "void a::b::work<int>(long)", false },
		{ "work<*>", "void a::b::work<int>(long)", true },
		{ "push_back",
		  "std::vector<a::b, c::d<e> >::push_back(a::b const&)", true },
		{ "b", "std::vector<a::b, c::d<e> >::push_back(a::b const&)",
		  false },
		{ "vector",
		  "std::vector<a::b, c::d<e> >::push_back(a::b const&)",
		  false },
		{ "work", "(anonymous namespace)::work(int)", true },
		{ "operator<<", "std::operator<<(std::ostream&, char)", true },
		{ "operator()", "std::less<int>::operator()(int, int) const",
		  true },
		{ "operator->", "p<a>::operator->()", true },
		{ "operator<", "box::operator<(box const&)", true },
		{ "~box", "a::box::~box()", true },
		{ "odd>name", "odd>name", true },
		{ "a", "a<b", true },
		{ "x", "", false },
		{ "", "", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (pp_symbol_matches(rows[i].pattern, "_Zraw", rows[i].name) !=
		    rows[i].matches)
			fail_msg("%s: %s", rows[i].pattern, rows[i].name);
	assert_true(pp_symbol_matches("_Zr*", "_Zraw", "b"));
	assert_true(pp_symbol_matches("[a", "[a", "b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
