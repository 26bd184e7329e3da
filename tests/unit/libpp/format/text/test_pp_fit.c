// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows that are made to fit a terminal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "libpp/format/text/text_fit.h"

static const struct {
	size_t width;
	const char *line, *wanted;
} rows[] = {
	{ 20, "", "" },
	{ 20, "1  2.0  main", "1  2.0  main" },
	{ 24, "1  2.0  sixteen_letters_", "1  2.0  sixteen_letters_" },
	/* Columns are never cut, and a name not to less than 16. */
	{ 24, "1  2.0  seventeen_letters", "1  2.0  sevente...etters" },
	{ 5, "1  2.0  seventeen_letters", "1  2.0  sevente...etters" },
	{ 30, "1234  a_name_of_thirty_letters_is_it",
	  "1234  a_name_of_t...ters_is_it" },
	{ 16, "no_columns_in_front", "no_colu..._front" },
	/* Template arguments go first, the innermost before others. */
	{ 46, "1  std::map<int, std::vector<std::pair<int, long>>>::find(int)",
	  "1  std::map<int, std::vector<...>>::find(int)" },
	{ 43, "1  work<std::vector<int>>(std::vector<int>)",
	  "1  work<std::vector<int>>(std::vector<int>)" },
	{ 44, "1  work<std::vector<long>>(std::vector<long>)",
	  "1  work<std::vector<...>>(std::vector<long>)" },
	{ 34, "1  work<std::vector<long>>(std::vector<long>)",
	  "1  work<...>(std::vector<...>)" },
	/* Then parameters. */
	{ 22, "1  work<std::vector<long>>(std::vector<long>)",
	  "1  work<...>(...)" },
	{ 24, "1  apply(int (*)(int), long) const", "1  apply(...) const" },
	/* Then the middle, but not the method unless that alone is wider. */
	{ 22, "1  outer<a>::inner::method()", "1  outer<...::method()" },
	{ 22, "1  out::(anonymous)::me(x)", "1  out::(...)::me(x)" },
	{ 19, "1  space::a_method_as_wide(long)", "1  a_method_as_wide" },
	{ 19, "1  space::a_method_is_wide()", "1  a_metho...wide()" },
	/* Operators are no brackets. */
	{ 30, "1  operator<<(std::basic_ostream<char>&, long)",
	  "1  operator<<(...)" },
	{ 30, "1  box<a_long_type_name>::operator<(box const&)",
	  "1  box<...>::operator<(...)" },
	{ 30, "1  box<a_long_type_name>::operator->()",
	  "1  box<...>::operator->()" },
	{ 30, "1  box<a_long_type_name>::operator()(int, int)",
	  "1  box<...>::operator()(...)" },
	{ 26, "1  operator<<a_long_type_name>(int)", "1  operator<<...>(int)" },
	/* What does not match is only cut. */
	{ 24, "1  a > b < c of another language", "1  a > b < c... language" },
	/* Columns are characters. */
	{ 19,
	  "1  \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4",
	  "1  \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4" },
	{ 19,
	  "1  \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4x",
	  "1  \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4...\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4x" },
};

TEST(lines_fit)
{
	char line[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].line);

		memcpy(line, rows[i].line, len);
		line[pp_fit_line(line, len, rows[i].width)] = '\0';
		assert_string_equal(line, rows[i].wanted);
	}
}

/* Whatever the bytes are, a line gets no longer. */
TEST(no_line_gets_longer)
{
	static const char bytes[] = "<>()<>() ->operator\xc3\xa4 ab";
	char line[64];

	srand(7);
	for (int i = 0; i < 200000; i++) {
		size_t len = (size_t)rand() % sizeof(line);

		for (size_t j = 0; j < len; j++)
			line[j] = bytes[(size_t)rand() % (sizeof(bytes) - 1)];
		if (rand() % 2 && len > 20)
			memcpy(line + rand() % 10, "operator<<", 10);
		assert_in_range(pp_fit_line(line, len, (size_t)rand() % 70), 0,
				len);
	}
}

TEST(a_stream_fits)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len), *fit;

	assert_non_null(out);
	fit = pp_fit_open(out, 24);
	assert_non_null(fit);
	setvbuf(fit, NULL, _IONBF, 0);
	fputs("1  seventeen", fit);
	fputs("_letters_or_more\n\n2  ", fit);
	fputs("b\n3  no newline", fit);
	assert_int_equal(fclose(fit), 0);
	fclose(out);
	assert_string_equal(text,
			    "1  seventeen...s_or_more\n\n2  b\n3  no newline");
	free(text);
}
