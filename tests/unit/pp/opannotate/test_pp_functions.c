// SPDX-License-Identifier: GPL-2.0-or-later
/* The listing of functions with their source lines: which lines, gaps and
 * places of inlining it has. */

/* What a row of a table does not name is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "tests/unit/pp_report.h"

#include "libpp/images/annotation.h"
#include "pp/opannotate/opannotate_text.h"

#define MAX_FUNCTIONS 4
#define MAX_PLACES 32

/* A report of the functions of a row. */
struct made_functions {
	struct made_report m;
	struct pp_symbol_entry symbols[MAX_FUNCTIONS];
	struct pp_detail details[MAX_PLACES];
	uint64_t counts[MAX_FUNCTIONS + MAX_PLACES][1];
	uint64_t total[1];
	size_t nr_details;
	char names[MAX_FUNCTIONS + 2 * MAX_PLACES][32];
	size_t nr_names;
};

/* "FILE:LINE"; "-" is no place. */
static struct pp_place make_place(struct made_functions *f, const char *text)
{
	char *name = f->names[f->nr_names++];
	size_t len = strcspn(text, ":");

	if (text[len] != ':')
		return (struct pp_place){ NULL, 0 };
	snprintf(name, sizeof(f->names[0]), "%.*s", (int)len, text);
	return (struct pp_place){ name, (unsigned int)strtoul(text + len + 1,
							      NULL, 10) };
}

/* "PLACE=COUNT" or "PLACE=COUNT@PLACE", the latter inlined there. */
static void make_detail(struct made_functions *f,
			struct pp_symbol_entry *symbol, const char *text)
{
	struct pp_detail *detail = &f->details[f->nr_details];
	uint64_t *count = f->counts[MAX_FUNCTIONS + f->nr_details];
	const char *at = strchr(text, '@');

	*count = strtoull(strchr(text, '=') + 1, NULL, 10);
	*detail = (struct pp_detail){ .vma = 0x1000 + f->nr_details,
				      .counts = count,
				      .place = make_place(f, text) };
	if (at)
		detail->inlined_at = make_place(f, at + 1);
	*(uint64_t *)symbol->counts += *count;
	*f->total += *count;
	symbol->nr_details++;
	f->nr_details++;
}

/* "FUNCTION PLACE DETAIL... / FUNCTION ...": with the place of its
 * declaration. */
static void make_functions(struct made_functions *f, const char *line)
{
	struct pp_symbol_entry *symbol = f->symbols;
	static char copy[1024];
	const char *words[64];
	size_t nr = 1;

	memset(f, 0, sizeof(*f));
	make_report(&f->m, 0);
	split_words(line, copy, words, NR(words));
	for (size_t i = 0; words[i]; i++) {
		if (*words[i] == '/') {
			symbol = &f->symbols[nr++];
			continue;
		}
		if (symbol->name) {
			make_detail(f, symbol, words[i]);
			continue;
		}
		*symbol = (struct pp_symbol_entry){
			.app = "/bin/x",
			.image = &made_images[0],
			.raw_name = words[i],
			.name = words[i],
			.vma = 0x1000 * nr,
			.size = 0x100,
			.counts = f->counts[nr - 1],
			.nr = nr - 1,
			.place = make_place(f, words[i + 1]),
			.details = &f->details[f->nr_details],
		};
		i++;
	}
	f->m.report.symbols.list = f->symbols;
	f->m.report.symbols.nr = nr;
	f->m.report.totals = f->m.report.symbols.totals = f->total;
	f->m.report.symbols.made = f->m.report.symbols.has_details =
		f->m.report.lines.made = true;
}

FOLDER_TEST(functions_are_listed)
{
	/* clang-format off */
	static const struct {
		const char *functions;
		double threshold;
		const char *text;
		size_t width;
		bool color;
	} rows[] = {
		{ "f x.c:2 x.c:3=10", 0, EXPECTED_ROW },
		{ "f x.c:2 x.c:10=10", 0,
		  EXPECTED("functions-are-listed") },
		{ "f x.c:9 x.c:10=10", 0, EXPECTED_ROW },
		{ "f x.c:12 x.c:10=10", 0, EXPECTED_ROW },
		{ "f y.c:2 x.c:10=10", 0, EXPECTED_ROW },
		{ "f - x.c:1=10", 0, EXPECTED_ROW },
		{ "f - x.c:20=10 x.c:21=1", 0, EXPECTED_ROW },
		{ "f - x.c:5=10 x.c:10=10", 0,
		  EXPECTED("functions-are-listed-2") },
		{ "f - x.c:5=10 x.c:11=10", 0,
		  EXPECTED("functions-are-listed-3") },
		{ "f - x.c:5=10 x.c:12=10", 0,
		  EXPECTED("functions-are-listed-4") },
		{ "f - x.c:5=1000 x.c:12=9", 0,
		  EXPECTED("functions-are-listed-5") },
		{ "f - x.c:12=1000 x.c:5=9", 0,
		  EXPECTED("functions-are-listed-6") },
		{ "f - x.c:12=1000 x.c:5=10", 0,
		  EXPECTED("functions-are-listed-7") },
		{ "f - x.c:0=3 x.c:5=10", 0,
		  EXPECTED("f-x-c-0-3-x-c-5-10") },
		{ "f - none.c:2=10 none.c:90=3", 0, EXPECTED_ROW },
		{ "f - x.c:5=10@y.c:3", 0, EXPECTED_ROW },
		{ "f - x.c:5=10@/a/y.c:3 x.c:5=20@b/y.c:4", 0, EXPECTED_ROW },
		{ "f - x.c:5=10@y.c:3 x.c:6=20@y.c:4 x.c:7=15@y.c:3", 0,
		  EXPECTED("f-x-c-5-10-y-c-3-x-c-6-20-y-c-4-x-c-7-15") },
		{ "f - x.c:5=1@y.c:3 x.c:6=2@y.c:4 x.c:7=3@y.c:5 x.c:5=4@y.c:6 x.c:5=5@y.c:7", 0,
		  EXPECTED("f-x-c-5-1-y-c-3-x-c-6-2-y-c-4-x-c-7-3-y") },
		{ "f - x.c:5=1@y.c:3 x.c:6=2@y.c:4 x.c:7=3@y.c:5", 0,
		  EXPECTED("f-x-c-5-1-y-c-3-x-c-6-2-y-c-4-x-c-7-3-y-2") },
		{ "f - x.c:5=1@y.c:3 x.c:6=2@y.c:4 x.c:7=3@y.c:5 x.c:7=4@y.c:6", 0,
		  EXPECTED("f-x-c-5-1-y-c-3-x-c-6-2-y-c-4-x-c-7-3-y-3") },
		{ "f - x.c:5=4@y.c:9 x.c:6=4@y.c:4 x.c:7=4@a.c:5", 0,
		  EXPECTED("f-x-c-5-4-y-c-9-x-c-6-4-y-c-4-x-c-7-4-a") },
		{ "f - x.c:5=4 x.c:6=4@y.c:4 x.c:7=5", 0,
		  EXPECTED("f-x-c-5-4-x-c-6-4-y-c-4-x-c-7-5") },
		{ "f - x.c:5=4 y.c:1=3 x.c:6=2", 0,
		  EXPECTED("f-x-c-5-4-y-c-1-3-x-c-6-2") },
		{ "f - x.c:5=4 / g - y.c:1=9 / h - x.c:9=2", 0,
		  EXPECTED("f-x-c-5-4-g-y-c-1-9-h-x-c-9-2") },
		{ "f - x.c:5=4 / e - x.c:1=4 / h - x.c:9=7", 0,
		  EXPECTED("f-x-c-5-4-e-x-c-1-4-h-x-c-9-7") },
		{ "f - x.c:9=4 / f - x.c:1=4", 0,
		  EXPECTED("f-x-c-9-4-f-x-c-1-4") },
		{ "f x.c:20 x.c:20=1000 x.c:19=1 x.c:16=2", 0, EXPECTED_ROW },
		{ "f - x.c:1=10 x.c:2=3@y.c:7 none.c:4=1", 20,
		  EXPECTED("f-x-c-1-10-x-c-2-3-y-c-7-none-c-4-1") },
		{ "f - x.c:5=90 / g - x.c:1=9 / h - y.c:1=1", 9,
		  EXPECTED("f-x-c-5-90-g-x-c-1-9-h-y-c-1-1") },
		{ "f - x.c:5=90 y.c:1=5 / g - x.c:1=5", 6,
		  EXPECTED("f-x-c-5-90-y-c-1-5-g-x-c-1-5") },
		/* From 5 % on red, from 1 % on yellow, else green. */
		{ "f - x.c:1=1850 / g - y.c:1=100 / h - y.c:2=50", 0,
		  EXPECTED("functions-are-listed-8"), 0, true },
		{ "f - x.c:1=1882 / g - y.c:1=99 / h - y.c:2=19", 0,
		  EXPECTED("f-x-c-1-1882-g-y-c-1-99-h-y-c-2-19"), 0, true },
		{ "f - x.c:1=1980 / g - y.c:1=20", 0,
		  EXPECTED("functions-are-listed-9"), 0, true },
		/* Names are cut where lines end. */
		{ "a_function_of_a_name_that_is_long - y.c:1=1@x.c:7", 0, EXPECTED_ROW, 60, false },
		{ "a_function_of_a_name_that_is_long - y.c:1=1", 0,
		  EXPECTED_AS("a_function_of_a_name_that_is_long - y.c:1=1, 1"), 50, false },
		{ "a_function_of_a_name_that_is_long - y.c:1=1", 0,
		  EXPECTED_AS("a_function_of_a_name_that_is_long - y.c:1=1, 1"), 49, false },
		{ "a_function_of_a_name_that_is_long - y.c:1=1", 0,
		  EXPECTED_AS("a_function_of_a_name_that_is_long - y.c:1=1, 2"), 48, false },
		{ "a_function_of_a_name_that_is_long - y.c:1=1", 0,
		  EXPECTED_AS("a_function_of_a_name_that_is_long - y.c:1=1, 3"), 40, false },
		{ "a_function_of_a_name_that_is_long - y.c:1=1", 0,
		  EXPECTED_AS("a_function_of_a_name_that_is_long - y.c:1=1, 4"), 16, false },
		{ "a_function_of_a_name_that_is_long - y.c:1=1", 0,
		  EXPECTED_AS("a_function_of_a_name_that_is_long - y.c:1=1, 4"), 10, false },
		{ "f - -=90", 0,
		  "none of 0 source files with samples is shown; --include-file, --exclude-file or --threshold leaves them out\n" },
		{ "f - x.c:5=1 -=90", 0, EXPECTED_ROW },
		{ "f - x.c:5=1 / g - -=9", 100, EXPECTED_ROW },
	};
	/* clang-format on */
	FILE *source = fopen("x.c", "w");

	for (int i = 1; i <= 20; i++)
		fprintf(source, "line %d\n", i);
	fclose(source);
	write_text("y.c", "a\nb");
	for (size_t i = 0; i < NR(rows); i++) {
		static struct made_functions f;
		struct op_arena arena;
		struct pp_messages messages = { .arena = &arena };
		struct opannotate_options o = { .args.no_header = 1,
						.threshold = rows[i].threshold,
						.width = rows[i].width,
						.color = rows[i].color };
		struct opannotate_text text = { .report = &f.m.report,
						.options = &o,
						.messages = &messages };
		struct pp_annotation annotation;
		struct op_diag diag = { "" };
		struct text all;

		op_arena_init(&arena);
		make_functions(&f, rows[i].functions);
		op_arena_init(&f.m.report.arena);
		assert_int_equal(
			pp_annotate(&annotation, &f.m.report, NULL, NULL), 0);
		text.out = text_begin(&all);
		if (opannotate_write_functions(&text, &annotation, &diag))
			fprintf(all.out, "%s\n", diag.text);
		write_messages(all.out, &messages);
		text_below_must_be(&all, *state, rows[i].functions,
				   rows[i].text);
		op_arena_release(&arena);
		op_arena_release(&f.m.report.arena);
	}
}
