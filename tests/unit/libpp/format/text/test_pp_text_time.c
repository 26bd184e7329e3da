// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols drawn over the times of a history: which column each character is of,
 * how high it is, and what stands around the drawing. */

#include "tests/unit/pp_report.h"

#include "libpp/format/text/text.h"

/* 2026-03-31 14:00:00 in UTC, which is the zone of this test. */
#define BEGIN 1774965600

#define MAX_TIMES 4

/* Times are seconds after BEGIN. */
struct drawing_row {
	const char *name;
	struct pp_format_options options;
	uint64_t begin, end; /* of the history */
	struct {
		uint64_t begin, end;
		uint64_t all; /* samples of all symbols then */
		uint64_t of[2]; /* those of the first two */
	} times[MAX_TIMES];
	unsigned int flags; /* pp_report.h */
	size_t nr_symbols; /* that are shown */
	const char *wanted;
};

static void write_drawing(FILE *out, const struct drawing_row *row)
{
	struct pp_format_options options = row->options;
	struct pp_class classes[MAX_TIMES] = { 0 };
	uint64_t totals[MAX_TIMES] = { 0 }, of[2][MAX_TIMES] = { 0 };
	struct made_report m;
	struct pp_text t = { .out = out,
			     .report = &m.report,
			     .options = &options };
	size_t nr = 0;

	make_report(&m, row->flags | SYMBOLS);
	for (; nr < MAX_TIMES && row->times[nr].end; nr++) {
		classes[nr].begin = (BEGIN + row->times[nr].begin) * PP_TIME_NS;
		classes[nr].end = (BEGIN + row->times[nr].end) * PP_TIME_NS;
		totals[nr] = row->times[nr].all;
		of[0][nr] = row->times[nr].of[0];
		of[1][nr] = row->times[nr].of[1];
	}
	m.report.classes.classes = classes;
	m.report.classes.nr = nr;
	m.report.symbols.totals = totals;
	m.report.history.begin = (BEGIN + row->begin) * PP_TIME_NS;
	m.report.history.end = (BEGIN + row->end) * PP_TIME_NS;
	m.symbols[0].counts = of[0];
	m.symbols[1].counts = of[1];
	m.report.symbols.nr = row->nr_symbols;
	assert_int_equal(pp_text_over_time(&t), 0);
}

/* clang-format off */
static const struct drawing_row drawing_rows[] = {
	{ "four times",
	  { .width = 40 }, 0, 64, { { 0, 16, 80, { 40, 8 } }, { 16, 32, 160, { 20, 160 } }, { 32, 48, 16, { 16 } }, { 48, 64, 800, { 100, 300 } } }, 0, 2,
	  EXPECTED_ROW },
	{ "in other characters",
	  { .width = 40, .unicode = true }, 0, 64, { { 0, 16, 80, { 40, 8 } }, { 16, 32, 160, { 20, 160 } }, { 32, 48, 16, { 16 } }, { 48, 64, 800, { 100, 300 } } }, 0, 2,
	  EXPECTED_ROW },
	{ "each height",
	  { .width = 40 }, 0, 16, { { 0, 4, 40, { 5, 9 } }, { 4, 8, 40, { 10, 19 } }, { 8, 12, 40, { 20, 30 } }, { 12, 16, 40, { 40, 40 } } }, 0, 2,
	  EXPECTED_ROW },
	{ "times without samples, and between them",
	  { .width = 40 }, 0, 160, { { 10, 50, 80, { 40, 0 } }, { 60, 90, 0, { 0 } }, { 110, 160, 30, { 30, 0 } } }, 0, 2,
	  EXPECTED_ROW },
	{ "a short time beside long ones",
	  { .width = 40 }, 0, 1600, { { 0, 800, 80, { 40, 8 } }, { 800, 805, 7, { 7 } }, { 805, 1400, 100, { 0, 1 } }, { 1430, 1440, 9, { 9 } } }, 0, 2,
	  EXPECTED_ROW },
	{ "of times that overlap the later one",
	  { .width = 40 }, 0, 160, { { 0, 160, 80, { 8, 8 } }, { 80, 160, 40, { 40, 1 } } }, 0, 2,
	  EXPECTED_ROW },
	{ "a day and more has no seconds",
	  { .width = 40 }, 0, 86400, { { 0, 86400, 86400, { 1, 1 } } }, 0, 2, EXPECTED_ROW },
	{ "a day in a wider terminal",
	  { .width = 58 }, 0, 86400, { { 0, 86400, 86400, { 1, 1 } } }, 0, 2, EXPECTED_ROW },
	{ "less than a day has no date",
	  { .width = 40 }, 0, 86399, { { 0, 86399, 86399, { 1, 1 } } }, 0, 2, EXPECTED_ROW },
	{ "ten minutes have no seconds",
	  { 0 }, 1, 601, { { 1, 601, 1000, { 1, 1 } } }, 0, 2, EXPECTED_ROW },
	{ "less than ten minutes have",
	  { 0 }, 1, 600, { { 1, 600, 1000, { 1, 1 } } }, 0, 2, EXPECTED_ROW },
	{ "no time at all",
	  { .width = 40 }, 5, 5, { { 5, 5, 10, { 1, 9 } } }, 0, 2, EXPECTED_ROW },
	{ "applications",
	  { .width = 40 }, 0, 16, { { 0, 16, 10, { 1, 9 } } }, MANY_APPS, 2, EXPECTED_ROW },
	{ "whole paths in a wide terminal",
	  { .width = 200, .long_names = true, .no_header = true }, 0, 16, { { 0, 16, 10, { 1, 9 } } }, MANY_APPS, 2,
	  EXPECTED_ROW },
	{ "whole paths in a file",
	  { .long_names = true }, 0, 16, { { 0, 16, 10, { 1, 9 } } }, MANY_APPS, 2, EXPECTED_ROW },
	{ "one image needs no column",
	  { .width = 40 }, 0, 16, { { 0, 16, 10, { 1, 9 } } }, 0, 1, EXPECTED_ROW },
	{ "names that just fit",
	  { .width = 104, .long_names = true }, 0, 16, { { 0, 16, 10, { 1, 9 } } }, MANY_APPS, 2,
	  EXPECTED_ROW },
	{ "a name that is a byte too long",
	  { .width = 103, .long_names = true }, 0, 16, { { 0, 16, 10, { 1, 9 } } }, 0, 2,
	  EXPECTED_ROW },
};
/* clang-format on */

TEST(symbols_are_drawn_over_time)
{
	for (size_t i = 0; i < NR(drawing_rows); i++) {
		struct text text;

		write_drawing(text_begin(&text), &drawing_rows[i]);
		text_must_be(&text, drawing_rows[i].name,
			     drawing_rows[i].wanted);
	}
}

TEST(drawings_take_a_part_of_the_width)
{
	assert_int_equal(pp_text_drawing_len(0), 48);
	assert_int_equal(pp_text_drawing_len(1), 16);
	assert_int_equal(pp_text_drawing_len(42), 16);
	assert_int_equal(pp_text_drawing_len(43), 17);
	assert_int_equal(pp_text_drawing_len(80), 32);
	assert_int_equal(pp_text_drawing_len(179), 71);
	assert_int_equal(pp_text_drawing_len(180), 72);
	assert_int_equal(pp_text_drawing_len(1000), 72);
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC", 1);
}
