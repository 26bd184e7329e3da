// SPDX-License-Identifier: GPL-2.0-or-later
/* Where opreport bounds the pages that it writes for browsers: the number of
 * columns, and the instructions of a large function. */

#include "tests/unit/pp/pp_program.h"

#include <inttypes.h>

#include "libpp/images/code.h"
#include "pp/opreport/opreport_code.h"
#include "pp/opreport/opreport_page.h"

/* Its main() under another name. */
#define main opreport_main
int main(int argc, char **argv);
#include "pp/opreport/opreport.c"
#undef main

static const struct program programs[] = {
	{ "opreport", opreport_main },
	{ NULL, NULL },
};

#define PAGE "opreport --session-dir=. --root=root --html=page"

/* ---- columns ------------------------------------------------------------- */

/* So many sample files, of threads 1000 on: of process 7, or of one process
 * each. */
static void write_threads(unsigned int nr, bool is_of_one)
{
	assert_int_equal(system("rm -rf samples symbols"), 0);
	for (unsigned int i = 0; i < nr; i++) {
		char line[64];

		snprintf(line, sizeof(line), "current x x CYCLES.%u.%u 1000=1",
			 is_of_one ? 7 : 1000 + i, 1000 + i);
		write_samples(line);
	}
}

FOLDER_TEST(pages_have_so_many_columns)
{
#define TOO_MANY                                                               \
	"opreport: warning: 251 columns of samples are too many for a page, so "
	static const struct {
		unsigned int nr;
		bool is_of_one;
		struct program_row row;
	} rows[] = {
		{ 250, true, { .line = PAGE, .wanted = "" } },
		{ 251,
		  true,
		  { .line = PAGE,
		    .wanted = TOO_MANY
		    "threads are added up; choose some with tid: or tgid:\n" } },
		/* Who adds up threads has a column for each process still. */
		{ 251,
		  false,
		  { .line = PAGE,
		    .wanted = TOO_MANY
		    "processes are added up; choose some with tgid:\n" } },
		{ 251, false, { .line = PAGE " tid:1000", .wanted = "" } },
	};

	assert_int_equal(OPREPORT_PAGE_MAX_CLASSES, 250);
	make_binaries();
	for (size_t i = 0; i < NR(rows); i++) {
		if (!i || rows[i].nr != rows[i - 1].nr ||
		    rows[i].is_of_one != rows[i - 1].is_of_one)
			write_threads(rows[i].nr, rows[i].is_of_one);
		check_run(programs, &rows[i].row, *state);
	}
}

/* ---- large functions ----------------------------------------------------- */

/* root/bin/x with the functions whole, of PP_CODE_MAX_INSNS instructions of a
 * byte, and large, which has one more. */
static void make_large_binary(void)
{
	static const char script[] =
		"set -e; mkdir -p root/bin; cat >x.s <<'END'\n"
		"\t.globl _start\n"
		"\t.type whole, @function\n"
		"_start:\n"
		"whole:\t.skip 2000, 0x90\n"
		"\t.size whole, . - whole\n"
		"\t.type large, @function\n"
		"large:\t.skip 2001, 0x90\n"
		"\t.size large, . - large\n"
		"END\n"
		"${CC:-cc} -nostdlib -static -Wl,-Ttext=0x401000 "
		"-Wl,--build-id=0x01 -o root/bin/x x.s\n";

	assert_int_equal(PP_CODE_MAX_INSNS, 2000);
	assert_int_equal(system(script), 0);
}

/* Write the addresses that the page has of the function at @vma, less @vma:
 * "FIRST-LAST" of each run. */
static void write_kept_insns(FILE *out, const char *page, const char *vma)
{
	char start[64];
	uint64_t at, first, base = strtoull(vma, NULL, 16);
	const char *code = strstr(page, "\"code\"");
	char *end;

	snprintf(start, sizeof(start), "\"vma\": \"%s\", ", vma);
	code = code ? strstr(code, start) : NULL;
	assert_non_null(code);
	code += strlen(start);
	if (!strncmp(code, "\"cut\": true, ", 13)) {
		fputs("cut", out);
		code += 13;
	}
	assert_int_equal(strncmp(code, "\"start\": \"", 10), 0);
	at = first = strtoull(code + 10, &end, 16);
	assert_int_equal(strncmp(end, "\", \"step\": [0", 13), 0);
	for (code = end + 13; *code == ','; code = end) {
		uint64_t step = strtoull(code + 1, &end, 10);

		if (step != 1) {
			fprintf(out, " %d-%d", (int)(first - base),
				(int)(at - base));
			first = at + step;
		}
		at += step;
	}
	assert_int_equal(*code, ']');
	fprintf(out, " %d-%d\n", (int)(first - base), (int)(at - base));
}

/* All of it, or what is within 30 instructions of a sample. */
FOLDER_TEST(large_functions_are_cut)
{
	static const struct {
		const char *samples, *wanted;
	} rows[] = {
		/* In the file they are at 0x1000 and 0x17d0. */
		{ "current x x CYCLES 1064=5 1834=9", " 0-1999\ncut 70-130\n" },
		{ "current x x CYCLES 1000=5 17d0=9 17ef=1 1fa0=3",
		  " 0-1999\ncut 0-61 1970-2000\n" },
		/* Between samples 61 apart nothing is left out, one
		 * instruction between those 62 apart. */
		{ "current x x CYCLES 1000=5 1834=9 1871=1",
		  " 0-1999\ncut 70-191\n" },
		{ "current x x CYCLES 1000=5 1834=9 1872=1",
		  " 0-1999\ncut 70-130 132-192\n" },
	};
	static const struct program_row row = { .line = PAGE, .wanted = "" };

	make_large_binary();
	for (size_t i = 0; i < NR(rows); i++) {
		static char page[1 << 20];
		struct text t;
		FILE *file;

		write_session(&rows[i].samples, 1);
		check_run(programs, &row, *state);
		file = fopen("page", "r");
		assert_non_null(file);
		page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
		fclose(file);
		text_begin(&t);
		write_kept_insns(t.out, page, "401000");
		write_kept_insns(t.out, page, "4017d0");
		text_must_be(&t, rows[i].samples, rows[i].wanted);
	}
}

/* ---- which functions ----------------------------------------------------- */

#define MAX_CHOICES (PP_CODE_MAX_SYMBOLS + 4)

/* Two images are called the same; none has a binary. */
static const struct pp_image choice_images[] = {
	{ .name = "b" },
	{ .name = "b" },
	{ .name = "a" },
};

struct choice_report {
	struct pp_report report;
	struct pp_class classes[2];
	struct pp_symbol_entry symbols[MAX_CHOICES];
	uint64_t counts[MAX_CHOICES][2], totals[2];
	char names[MAX_CHOICES][16];
};

static void add_choice(struct choice_report *r, const char *name,
		       unsigned int image, uint64_t vma, uint64_t size,
		       const uint64_t counts[2])
{
	size_t nr = r->report.symbols.nr++;

	assert_true(nr < MAX_CHOICES && image < NR(choice_images));
	strcpy(r->names[nr], name);
	memcpy(r->counts[nr], counts, sizeof(r->counts[nr]));
	r->symbols[nr] = (struct pp_symbol_entry){
		.nr = nr,
		.image = &choice_images[image],
		.raw_name = r->names[nr],
		.name = r->names[nr],
		.vma = vma,
		.size = size,
		.counts = r->counts[nr],
	};
}

static void begin_choices(struct choice_report *r, uint64_t total,
			  uint64_t other_total)
{
	memset(r, 0, sizeof(*r));
	op_arena_init(&r->report.arena);
	r->totals[0] = total;
	r->totals[1] = other_total;
	r->report.classes =
		(struct pp_classes){ .classes = r->classes, .nr = 2 };
	r->report.symbols.list = r->symbols;
	r->report.totals = r->report.symbols.totals = r->totals;
}

/* "NAME@IMAGE" of each that is chosen. */
static void end_choices(FILE *out, struct choice_report *r)
{
	const struct opannotate_options places = { .threshold = 0 };
	struct pp_code code;

	assert_int_equal(opreport_find_code(&code, &r->report, &places), 0);
	for (size_t i = 0; i < code.nr_symbols; i++) {
		const struct pp_code_symbol *symbol = &code.symbols[i];

		assert_string_equal(symbol->problem,
				    "its binary is not available");
		fprintf(out, "%s%s@%s", i ? " " : "", symbol->entry->raw_name,
			symbol->entry->image->name);
	}
	if (code.nr_more)
		fprintf(out, " and %zu more", code.nr_more);
	op_arena_release(&r->report.arena);
}

TEST(hot_functions_are_chosen)
{
	static const struct {
		/* "NAME IMAGE VMA SIZE COUNT OTHER-COUNT, ..."; size "i" is an
		 * inlined function */
		const char *symbols;
		uint64_t other_total;
		const char *wanted;
	} rows[] = {
		/* From 0.1 % of 10000 samples on, of some event. */
		{ "f 0 1 1 10 0, g 0 2 1 9 0", 10000, "f@b" },
		{ "f 0 1 1 9 9, g 0 2 1 9 10", 10000, "g@b" },
		{ "f 0 1 1 40 1, g 0 2 1 1 1", 10000, "f@b" },
		{ "f 0 1 1 9 0, g 0 2 1 9 1", 1000, "g@b" },
		{ "f 0 1 1 9 5, g 0 2 1 10 0", 0, "g@b" },
		/* What has no code is not shown, but for what was inlined. */
		{ "f 0 1 0 50 0, g 0 0 i 40 0", 10000, "g@b" },
		/* In two applications it is one; nothing else is the same. */
		{ "f 0 1 1 40 0, f 0 1 1 50 0", 10000, "f@b" },
		{ "f 0 1 1 40 0, g 0 1 1 50 0", 10000, "g@b f@b" },
		{ "f 0 1 1 40 0, f 0 2 1 50 0", 10000, "f@b f@b" },
		{ "f 0 1 1 40 0, f 1 1 1 50 0", 10000, "f@b f@b" },
		{ "f 0 0 1 40 0, f 0 0 i 50 0", 10000, "f@b f@b" },
		/* Image by image, in each the hottest first. */
		{ "f 0 1 1 40 0, g 2 1 1 30 0, h 0 2 1 50 0, i 2 2 1 35 0",
		  10000, "i@a g@a h@b f@b" },
		{ "f 1 1 1 50 0, g 0 1 1 40 0, h 1 2 1 30 0", 10000,
		  "g@b f@b h@b" },
		{ "f 0 1 1 40 0, g 0 2 1 10 10, h 0 3 1 40 0", 100,
		  "g@b f@b h@b" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		static struct choice_report r;
		const char *at = rows[i].symbols;
		char name[16], size[8];
		unsigned int image;
		uint64_t vma, counts[2];
		struct text t;
		int len;

		begin_choices(&r, 10000, rows[i].other_total);
		while (sscanf(at,
			      "%15s %u %" SCNu64 " %7s %" SCNu64 " %" SCNu64
			      "%n",
			      name, &image, &vma, size, &counts[0], &counts[1],
			      &len) == 6) {
			struct pp_symbol_entry *entry =
				&r.symbols[r.report.symbols.nr];

			add_choice(&r, name, image, vma,
				   strtoull(size, NULL, 10), counts);
			entry->is_inlined = *size == 'i';
			at += len;
			at += strspn(at, ", ");
		}
		assert_int_equal(*at, '\0');
		end_choices(text_begin(&t), &r);
		text_must_be(&t, rows[i].symbols, rows[i].wanted);
	}
}

/* The least hot ones are left out and counted. */
TEST(so_many_functions_have_code)
{
	static struct choice_report r;
	struct text t;

	for (size_t more = 0; more < 4; more++) {
		size_t nr = PP_CODE_MAX_SYMBOLS + more;
		char wanted[64] = "";

		begin_choices(&r, 1000, 0);
		for (size_t i = 0; i < nr; i++) {
			const uint64_t counts[2] = { 1 + i, 0 };
			char name[16];

			snprintf(name, sizeof(name), "f%zu", i);
			add_choice(&r, name, 0, 1 + i, 1, counts);
		}
		end_choices(text_begin(&t), &r);
		fflush(t.out);
		if (more)
			snprintf(wanted, sizeof(wanted), " f%zu@b and %zu more",
				 more, more);
		else
			strcpy(wanted, " f1@b f0@b");
		assert_true(t.len > strlen(wanted));
		assert_string_equal(t.all + t.len - strlen(wanted), wanted);
		fclose(t.out);
		free(t.all);
	}
}

BEFORE_TESTS()
{
	be_program(programs, argc, argv);
	set_program_environment();
}
