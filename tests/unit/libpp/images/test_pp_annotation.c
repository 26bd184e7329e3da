// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples by line: none is lost or counted twice, files and lines come in
 * order, and what has no line is told by image. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "libpp/images/annotation.h"

#define NR_CLASSES 2
#define MAX_SYMBOLS 64
#define MAX_DETAILS 64

/* A report in the making. */
struct world {
	struct pp_report report;
	struct pp_annotation annotation;
	struct pp_symbol_entry symbols[MAX_SYMBOLS];
	struct pp_detail details[MAX_SYMBOLS][MAX_DETAILS];
	uint64_t counts[MAX_SYMBOLS][MAX_DETAILS][NR_CLASSES];
	char names[8][16]; /* of files: equal names at several places */
};

static const struct pp_image first = { .name = "/bin/a", .mtime = 20 };
static const struct pp_image second = { .name = "/bin/b", .mtime = 10 };

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	if (!w)
		return -1;
	op_arena_init(&w->report.arena);
	w->report.classes.nr = NR_CLASSES;
	w->report.symbols.list = w->symbols;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	op_arena_release(&w->report.arena);
	free(w);
	return 0;
}

#define ANNOTATION_TEST(name) TEST_WITH(name, setup, teardown)

static struct pp_symbol_entry *add_symbol(struct world *w,
					  const struct pp_image *image,
					  const char *name, const char *file,
					  unsigned int line)
{
	size_t nr = w->report.symbols.nr++;
	struct pp_symbol_entry *symbol = &w->symbols[nr];

	assert_true(nr < MAX_SYMBOLS);
	*symbol = (struct pp_symbol_entry){
		.image = image,
		.name = name,
		.raw_name = name,
		.vma = 0x1000 * (nr + 1),
		.details = w->details[nr],
		.place = { file, line },
	};
	return symbol;
}

static void add_detail(struct world *w, struct pp_symbol_entry *symbol,
		       const char *file, unsigned int line, uint64_t a,
		       uint64_t b)
{
	size_t nr = (size_t)(symbol - w->symbols), i = symbol->nr_details++;

	assert_true(i < MAX_DETAILS);
	w->counts[nr][i][0] = a;
	w->counts[nr][i][1] = b;
	w->details[nr][i] = (struct pp_detail){
		.vma = symbol->vma + i,
		.counts = w->counts[nr][i],
		.place = { file, line },
	};
}

/* A folder "link" that leads to "src". */
static char *follow_link(const void *ctx, const char *name)
{
	char *path = strdup(name);

	(void)ctx;
	assert_non_null(path);
	if (!strncmp(path, "link/", 5))
		sprintf(path, "src/%s", name + 5);
	return path;
}

static void annotate(struct world *w)
{
	assert_int_equal(pp_annotate(&w->annotation, &w->report, NULL, NULL),
			 0);
}

static void expect_line(const struct pp_annotated_file *file, unsigned int nr,
			uint64_t a, uint64_t b, size_t nr_symbols)
{
	const struct pp_annotated_line *line = pp_annotated_line_find(file, nr);

	assert_non_null(line);
	assert_int_equal(line->counts[0], a);
	assert_int_equal(line->counts[1], b);
	assert_int_equal(line->nr_symbols, nr_symbols);
}

/* ---- tests --------------------------------------------------------------- */

ANNOTATION_TEST(test_nothing)
{
	struct world *w = *state;

	annotate(w);
	assert_int_equal(w->annotation.nr_files, 0);
	assert_int_equal(w->annotation.nr_unplaced, 0);
}

ANNOTATION_TEST(test_lines_of_several_images)
{
	struct world *w = *state;
	struct pp_symbol_entry *f = add_symbol(w, &first, "f", "x.c", 3);
	struct pp_symbol_entry *g = add_symbol(w, &second, "g", "x.c", 3);
	const struct pp_annotated_file *file;

	strcpy(w->names[0], "x.c"); /* another pointer */
	add_detail(w, f, "x.c", 4, 5, 1);
	add_detail(w, f, "x.h", 9, 1, 0);
	add_detail(w, f, "x.c", 4, 2, 0);
	add_detail(w, f, "x.c", 0, 3, 0);
	add_detail(w, g, w->names[0], 4, 10, 7);
	annotate(w);
	assert_int_equal(w->annotation.nr_files, 2);
	file = &w->annotation.files[0];
	assert_string_equal(file->name, "x.c");
	assert_int_equal(file->counts[0], 20);
	assert_int_equal(file->counts[1], 8);
	assert_ptr_equal(file->oldest, &second);
	expect_line(file, 0, 3, 0, 0);
	expect_line(file, 3, 0, 0, 2);
	expect_line(file, 4, 17, 8, 0);
	assert_null(pp_annotated_line_find(file, 5));
	assert_ptr_equal(pp_annotated_line_find(file, 3)->symbols[0], f);
	assert_ptr_equal(pp_annotated_line_find(file, 3)->symbols[1], g);
	assert_string_equal(w->annotation.files[1].name, "x.h");
	assert_ptr_equal(w->annotation.files[1].oldest, &first);
}

/* A file in which symbols start, but none of whose lines has samples. */
ANNOTATION_TEST(test_names_of_one_file)
{
	struct world *w = *state;
	struct pp_symbol_entry *f = add_symbol(w, &first, "f", "src/x.h", 3);
	struct pp_symbol_entry *g = add_symbol(w, &second, "g", "link/x.h", 3);
	const struct pp_annotated_file *file;

	add_detail(w, f, "src/x.h", 4, 5, 1);
	add_detail(w, f, "y.h", 4, 1, 1);
	add_detail(w, g, "link/x.h", 4, 10, 7);
	add_detail(w, g, "link/x.h", 5, 1, 0);
	add_detail(w, g, "link/z.h", 5, 3, 0);
	assert_int_equal(
		pp_annotate(&w->annotation, &w->report, follow_link, NULL), 0);
	assert_int_equal(w->annotation.nr_files, 3);
	file = &w->annotation.files[0];
	assert_string_equal(file->name, "link/x.h");
	assert_int_equal(file->counts[0], 16);
	assert_int_equal(file->counts[1], 8);
	assert_ptr_equal(file->oldest, &second);
	assert_int_equal(file->nr_lines, 3);
	expect_line(file, 3, 0, 0, 2);
	expect_line(file, 4, 15, 8, 0);
	expect_line(file, 5, 1, 0, 0);
	assert_string_equal(w->annotation.files[1].name, "link/z.h");
	assert_string_equal(w->annotation.files[2].name, "y.h");
}

ANNOTATION_TEST(test_file_without_samples)
{
	struct world *w = *state;
	struct pp_symbol_entry *f = add_symbol(w, &first, "f", "x.c", 3);

	add_detail(w, f, "x.h", 9, 1, 0);
	annotate(w);
	assert_int_equal(w->annotation.nr_files, 1);
	assert_string_equal(w->annotation.files[0].name, "x.h");
}

ANNOTATION_TEST(test_equal_files_come_by_address)
{
	struct world *w = *state;
	struct pp_symbol_entry *f = add_symbol(w, &second, "f", "z.c", 3);
	struct pp_symbol_entry *g = add_symbol(w, &first, "g", "y.c", 3);

	add_detail(w, f, "z.c", 4, 1, 0);
	add_detail(w, f, "a.c", 4, 1, 9);
	add_detail(w, g, "y.c", 4, 1, 0);
	annotate(w);
	assert_int_equal(w->annotation.nr_files, 3);
	assert_string_equal(w->annotation.files[0].name, "y.c");
	assert_string_equal(w->annotation.files[1].name, "z.c");
	assert_string_equal(w->annotation.files[2].name, "a.c");
}

/* The first code of a file need not be of its first line. */
ANNOTATION_TEST(test_equal_files_come_by_their_first_address)
{
	struct world *w = *state;
	struct pp_symbol_entry *f = add_symbol(w, &first, "f", "y.c", 50);
	struct pp_symbol_entry *g = add_symbol(w, &first, "g", "x.c", 1);
	struct pp_symbol_entry *h = add_symbol(w, &first, "h", "y.c", 3);

	add_detail(w, f, "y.c", 51, 1, 0);
	add_detail(w, g, "x.c", 2, 2, 0);
	add_detail(w, h, "y.c", 4, 1, 0);
	annotate(w);
	assert_int_equal(w->annotation.nr_files, 2);
	assert_string_equal(w->annotation.files[0].name, "y.c");
	assert_string_equal(w->annotation.files[1].name, "x.c");
}

ANNOTATION_TEST(test_unplaced)
{
	struct world *w = *state;
	struct pp_symbol_entry *f = add_symbol(w, &second, "f", NULL, 0);
	struct pp_symbol_entry *g = add_symbol(w, &first, "g", "x.c", 1);
	struct pp_symbol_entry *h = add_symbol(w, &second, "h", NULL, 0);
	const struct pp_unplaced *u;

	add_detail(w, f, NULL, 0, 2, 0);
	add_detail(w, f, NULL, 0, 1, 4);
	add_detail(w, g, "x.c", 1, 6, 0);
	add_detail(w, g, NULL, 0, 7, 0);
	add_detail(w, h, NULL, 0, 8, 0);
	annotate(w);
	assert_int_equal(w->annotation.nr_unplaced, 2);
	u = w->annotation.unplaced;
	assert_ptr_equal(u[0].image, &first);
	assert_int_equal(u[0].counts[0], 7);
	assert_int_equal(u[0].nr_symbols, 1);
	assert_ptr_equal(u[1].image, &second);
	assert_int_equal(u[1].counts[0], 11);
	assert_int_equal(u[1].counts[1], 4);
	assert_int_equal(u[1].nr_symbols, 2);
	assert_ptr_equal(u[1].symbols[0], h);
	assert_ptr_equal(u[1].symbols[1], f);
}

/* ---- any report ---------------------------------------------------------- */

static unsigned int next_number(unsigned int *seed, unsigned int below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % below;
}

static uint64_t fill(struct world *w, unsigned int *seed)
{
	uint64_t total = 0;

	w->report.symbols.nr = 0;
	for (unsigned int s = next_number(seed, MAX_SYMBOLS); s; s--) {
		struct pp_symbol_entry *symbol = add_symbol(
			w, s & 1 ? &first : &second, "s",
			s & 2 ? w->names[next_number(seed, 8)] : NULL, s % 5);

		for (unsigned int d = next_number(seed, 20); d; d--) {
			unsigned int file = next_number(seed, 9);
			unsigned int count = 1 + next_number(seed, 9);

			add_detail(w, symbol, file < 8 ? w->names[file] : NULL,
				   next_number(seed, 6), count, count & 1);
			total += count;
		}
	}
	return total;
}

/* The sum of all lines, in which lines and files are in order. */
static uint64_t add_up(const struct pp_annotation *a)
{
	uint64_t total = 0;

	for (size_t i = 0; i < a->nr_files; i++) {
		const struct pp_annotated_file *file = &a->files[i];
		uint64_t sum = 0;

		assert_true(!i || file->counts[0] <= file[-1].counts[0]);
		for (size_t j = 0; j < file->nr_lines; j++) {
			assert_true(!j || file->lines[j].line >
						  file->lines[j - 1].line);
			sum += file->lines[j].counts[0];
		}
		assert_int_equal(sum, file->counts[0]);
		total += sum;
	}
	for (size_t i = 0; i < a->nr_unplaced; i++)
		total += a->unplaced[i].counts[0];
	return total;
}

ANNOTATION_TEST(test_any_report)
{
	struct world *w = *state;
	unsigned int seed = 7;

	/* Each name at two places. */
	for (size_t i = 0; i < 8; i++)
		snprintf(w->names[i], sizeof(w->names[i]), "%zu.c", i / 2);
	for (int round = 0; round < 200; round++) {
		uint64_t total = fill(w, &seed);

		annotate(w);
		assert_int_equal(add_up(&w->annotation), total);
		assert_true(w->annotation.nr_files <= 4);
		memset(w->details, 0, sizeof(w->details));
	}
}
