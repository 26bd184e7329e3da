// SPDX-License-Identifier: GPL-2.0-or-later
/* Where opreport bounds the pages that it writes for browsers: the number of
 * columns, and the instructions of a large function. */

#include "tests/unit/pp_program.h"

#include "libpp/code.h"
#include "pp/opreport_page.h"

/* Its main() under another name. */
#define main opreport_main
int main(int argc, char **argv);
#include "pp/opreport.c"
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

static void pages_have_so_many_columns(void **state)
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
static void large_functions_are_cut(void **state)
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		folder_test(pages_have_so_many_columns),
		folder_test(large_functions_are_cut),
	};

	be_program(programs, argc, argv);
	set_program_environment();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
