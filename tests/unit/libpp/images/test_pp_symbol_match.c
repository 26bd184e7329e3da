// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which symbols a pattern of the command line means.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"
#include "libpp/images/symbol_match.h"

TEST(patterns_match)
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
		{ "operator->", "p<a>::operator->*(int)", false },
		{ "operator[]", "a::operator[](int)", true },
		{ "operator,", "a::operator,(b)", true },
		{ "operator()", "a::operator(", false },
		{ "operator<", "bool a::operator< <int>(int)", true },
		{ "operator< <int>", "bool a::operator< <int>(int)", true },
		{ "a::operator<", "bool a::operator< <int>(int)", true },
		{ "int", "bool a::operator< <int>(int)", false },
		{ "operator bool", "a::operator bool() const", true },
		{ "a::operator bool", "a::operator bool() const", true },
		{ "bool", "a::operator bool() const", false },
		{ "operator new[]", "operator new[](unsigned long)", true },
		{ "operator b<int (*)(long)>", "a::operator b<int (*)(long)>()",
		  true },
		{ "f", "my_operator a::f(int)", true },
		{ "f", "operators a::f(int)", true },
		{ "operator", "c::operator", true },
		{ "work", "x::work [clone .part.0]", true },
		{ "x::work", "x::work [clone .part.0]", true },
		{ "work", "x::work(int) [clone .part.0]", true },
		/* An arrow and a number below 0 end no arguments. */
		{ "x<*>::work", "x<decltype (p->q), int>::work(int)", true },
		{ "work", "x<-1>::work(int)", true },
		{ "work", "x<f(-1)>::work(int)", true },
		{ "*::b", "void a<int>::b<int>(long)", true },
		{ "a<int>::b", "void a<int>::b<int>(long)", true },
		{ "a", "void a<int>::b<int>(long)", false },
		{ "a<int>", "void a<int>::b<int>(long)", false },
		{ "work", "work[abi:v1](int)", true },
		{ "b", "a::b::", false },
		{ "", "a::", false },
		{ "odd>name", "odd>name", true },
		{ "a", "a<b", true },
		{ "x", "", false },
		{ "", "", true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (pp_symbol_matches(rows[i].pattern, "_Zraw", rows[i].name) !=
		    rows[i].matches)
			fail_msg("%s: %s", rows[i].pattern, rows[i].name);
	assert_true(pp_symbol_matches("_Zr*", "_Zraw", "b"));
	assert_true(pp_symbol_matches("[a", "[a", "b"));
}

/* A part of a name that is longer than any is matched only as a whole. */
TEST(long_parts_match_whole)
{
	static const struct {
		int len;
		bool matches;
	} rows[] = { { 1, true }, { 1023, true }, { 1024, false } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char part[1100], name[1200];

		memset(part, 'x', sizeof(part));
		part[rows[i].len] = '\0';
		snprintf(name, sizeof(name), "a::%s(int)", part);
		assert_int_equal(pp_symbol_matches(part, "_Zraw", name),
				 rows[i].matches);
		assert_true(pp_symbol_matches(name, "_Zraw", name));
		assert_true(pp_symbol_matches("a::x*", "_Zraw", name));
	}
}
