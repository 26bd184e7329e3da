// SPDX-License-Identifier: GPL-2.0-or-later
/* What opannotate writes beside and around source lines, which files it finds
 * and shows, which lines it shows between instructions. */

#include "tests/unit/pp_report.h"

#include "libpp/images/annotation.h"
#include "libpp/archive/archive.h"
#include "libpp/images/source_file.h"
#include "pp/opannotate/opannotate_excerpt.h"
#include "pp/opannotate/opannotate_files.h"
#include "pp/opannotate/opannotate_text.h"

#define MAX_NAMES 4

/* ---- counts -------------------------------------------------------------- */

TEST(margins_have_counts)
{
	const struct {
		const char *name;
		unsigned int flags;
		bool color;
		const uint64_t *counts;
		const char *text;
	} rows[] = {
		/* clang-format off */
		{ "none", 0, false, NULL, "               :" },
		{ "zeros", TWO, false, (const uint64_t[]){ 0, 0 }, "                               :" },
		{ "one", 0, false, (const uint64_t[]){ 600, 3 }, "   600 60.0000 :" },
		{ "two", TWO, false, (const uint64_t[]){ 600, 3 }, "   600 60.0000     3 37.5000   :" },
		{ "the second", TWO, false, (const uint64_t[]){ 0, 8 }, "     0       0     8 100.000   :" },
		{ "not the second", 0, false, (const uint64_t[]){ 0, 8 }, "               :" },
		{ "hot", 0, true, (const uint64_t[]){ 50, 0 }, "\033[1;31m    50  5.0000\033[m :" },
		{ "warm", 0, true, (const uint64_t[]){ 49, 0 }, "\033[33m    49  4.9000\033[m :" },
		{ "just warm", 0, true, (const uint64_t[]){ 10, 0 }, "\033[33m    10  1.0000\033[m :" },
		{ "cool", 0, true, (const uint64_t[]){ 9, 0 }, "\033[32m     9  0.9000\033[m :" },
		{ "hot in one column", TWO, true, (const uint64_t[]){ 9, 4 }, "\033[1;31m     9  0.9000     4 50.0000\033[m   :" },
		{ "hot where it is not shown", 0, true, (const uint64_t[]){ 9, 8 }, "\033[32m     9  0.9000\033[m :" },
		{ "no color for none", 0, true, (const uint64_t[]){ 0, 0 }, "               :" },
		/* clang-format on */
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct opannotate_options o = { .color = rows[i].color };
		struct opannotate_text text = { .options = &o };
		struct made_report m;
		struct text t;

		make_report(&m, rows[i].flags);
		text.report = &m.report;
		text.out = text_begin(&t);
		opannotate_margin(&text, rows[i].counts, NULL);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

/* A name is cut where the line would be longer than the terminal. */
TEST(titles_fit_the_terminal)
{
	static const uint64_t counts[] = { 600, 3 };
	static const struct {
		const char *name;
		unsigned int flags;
		size_t width; /* 0: no terminal */
		const char *more, *text;
	} rows[] = {
		/* clang-format off */
		{ "a_name_of_40_letters_that_may_be_cut__01", 0, 0, ", inlined", EXPECTED_ROW },
		{ "a_name_of_40_letters_that_may_be_cut__02", 0, 57, ".", EXPECTED_ROW },
		{ "a_name_of_40_letters_that_may_be_cut__03", 0, 56, ".", EXPECTED_ROW },
		{ "a_name_of_40_letters_that_may_be_cut__04", 0, 56, "", EXPECTED_ROW },
		{ "a_name_of_40_letters_that_may_be_cut__05", TWO, 73, ".", EXPECTED_ROW },
		{ "a_name_of_40_letters_that_may_be_cut__06", TWO, 72, ".", EXPECTED_ROW },
		{ "a_name_of_40_letters_that_may_be_cut__07", 0, 5, ".", EXPECTED_ROW },
		/* clang-format on */
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct opannotate_options o = { .width = rows[i].width };
		struct opannotate_text text = { .options = &o };
		struct made_report m;
		struct text t;

		make_report(&m, rows[i].flags);
		text.report = &m.report;
		text.out = text_begin(&t);
		assert_int_equal(opannotate_title(&text, rows[i].name,
						  rows[i].more, counts, NULL),
				 0);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

TEST(lines_tell_their_symbols)
{
	struct opannotate_options o = { 0 };
	struct opannotate_text text = { .options = &o };
	const struct pp_symbol_entry *symbols[3];
	struct made_report m;
	struct text t;

	make_report(&m, SYMBOLS | TWO);
	text.report = &m.report;
	for (size_t i = 0; i < 3; i++)
		symbols[i] = &m.symbols[i];
	text.out = text_begin(&t);
	opannotate_symbols(&text, symbols, 1);
	text_must_be(&t, "one",
		     " /* main total:    600 60.0000     3 37.5000 */");
	text.out = text_begin(&t);
	opannotate_symbols(&text, symbols, 2);
	text_must_be(&t, "two", EXPECTED_AS("two, 1"));
}

TEST(files_pass_the_threshold)
{
	static const struct {
		double threshold;
		uint64_t counts[2];
		bool passes;
	} rows[] = {
		{ 0, { 1, 0 }, true },	   { 0, { 0, 1 }, true },
		{ 0, { 0, 0 }, false },	   { 29, { 290, 0 }, true },
		{ 29, { 289, 0 }, false }, { 50, { 0, 4 }, true },
		{ 51, { 0, 4 }, false },   { 100, { 1000, 0 }, true },
	};
	struct made_report m;

	make_report(&m, TWO);
	for (size_t i = 0; i < NR(rows); i++) {
		struct opannotate_options o = { .threshold =
							rows[i].threshold };
		struct opannotate_text text = { .options = &o,
						.report = &m.report };

		assert_int_equal(opannotate_passes(&text, rows[i].counts),
				 rows[i].passes);
	}
}

TEST(headers_tell_what_was_asked_for)
{
	static const struct {
		const char *name;
		struct opannotate_options o;
		const char *text;
	} rows[] = {
		/* clang-format off */
		{ "source", { .all = true, .args.source = 1, .command = "opannotate -s " },
		  EXPECTED("source") },
		{ "threshold", { .all = true, .args.source = 1, .threshold = 0.5, .command = "c" },
		  EXPECTED("threshold") },
		{ "assembly", { .all = true, .args.assembly = 1, .threshold = 0.5, .command = "c" },
		  EXPECTED("assembly") },
		{ "parameters", { .all = true, .args.assembly = 1, .params = "-l -C ", .command = "c" },
		  EXPECTED("parameters") },
		{ "no parameters", { .all = true, .args.assembly = 1, .params = "", .command = "c" },
		  EXPECTED("no-parameters") },
		{ "what is worth reading", { .args.source = 1, .command = "c" }, EXPECTED_ROW },
		{ "none", { .args.no_header = 1 }, "" },
		/* clang-format on */
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct opannotate_text text = { .options = &rows[i].o };
		struct made_report m;
		struct text t;

		make_report(&m, ACCOUNT);
		text.report = &m.report;
		text.out = text_begin(&t);
		assert_int_equal(opannotate_header(&text), 0);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

/* ---- files --------------------------------------------------------------- */

TEST(files_are_chosen_by_pattern)
{
	static const struct {
		const char *include, *exclude, *path;
		bool is_wanted;
	} rows[] = {
		{ NULL, NULL, "/src/a.c", true },
		{ "*.c", NULL, "/src/a.c", true },
		{ "*.h", NULL, "/src/a.c", false },
		{ "src", NULL, "/src/a.c", true },
		{ "a.c", NULL, "/src/a.c", true },
		{ "/src/*", NULL, "/src/a.c", true },
		{ "/src", NULL, "/src/a.c", false },
		{ "*.h src", NULL, "/src/a.c", true },
		{ NULL, "src", "/src/a.c", false },
		{ NULL, "x *.c", "/src/a.c", false },
		{ NULL, "x", "/src/a.c", true },
		{ "*.c", "src", "/src/a.c", false },
		{ "*.c", "a.c", "/src/b.c", true },
		{ "*.c", NULL, "a.c", true },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct opannotate_options o = { 0 };
		const char *include[MAX_NAMES], *exclude[MAX_NAMES];
		char copies[2][64];

		if (rows[i].include)
			o.include_files = split_words(
				rows[i].include, copies[0], include, MAX_NAMES);
		if (rows[i].exclude)
			o.exclude_files = split_words(
				rows[i].exclude, copies[1], exclude, MAX_NAMES);
		if (opannotate_wants_file(&o, rows[i].path) !=
		    rows[i].is_wanted)
			fail_msg("row %zu: %s", i, rows[i].path);
	}
}

/* Files of an archive go by the names that they had. */
TEST(names_are_those_at_home)
{
	static const struct {
		const char *archive, *path, *home;
	} rows[] = {
		{ NULL, "/a/b.c", "/a/b.c" },
		{ "/ar", "/ar/a/b.c", "/a/b.c" },
		{ "/ar", "/arc/b.c", "/arc/b.c" },
		{ "/ar", "/ar", "/ar" },
		{ "/ar", "/x/ar/b.c", "/x/ar/b.c" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_spec_item item = { .pattern = rows[i].archive };
		struct opannotate_options o = { 0 };

		o.spec.spec.lists[PP_SPEC_ARCHIVE] =
			(struct pp_spec_list){ .items = &item,
					       .nr = rows[i].archive != NULL };
		assert_string_equal(opannotate_home_path(&o, rows[i].path),
				    rows[i].home);
	}
}

/* '$' is the working folder. */
FOLDER_TEST(files_are_found)
{
	static const struct {
		const char *search, *base, *name, *path;
	} rows[] = {
		{ "", "", "/none/a.c", "/none/a.c" },
		{ "", "", "there/a.c", "$/there/a.c" },
		{ "", "", "./there/../there/a.c", "$/there/a.c" },
		{ "there", "", "a.c", "$/there/a.c" },
		{ "there", "", "/a.c", "$/there/a.c" },
		{ "none there", "", "a.c", "$/there/a.c" },
		{ "second there", "", "a.c", "$/second/a.c" },
		{ "there", "", "/src/a.c", "/src/a.c" },
		{ "there", "/src", "/src/a.c", "$/there/a.c" },
		{ "there", "/src/", "/src/a.c", "$/there/a.c" },
		{ "there", "/sr", "/src/a.c", "/src/a.c" },
		{ "there", "/x /src", "/src/a.c", "$/there/a.c" },
		{ "there", "/src", "/src/sub/a.c", "/src/sub/a.c" },
		{ "there", "/", "/a.c", "$/there/a.c" },
		{ "there", "src", "src/a.c", "src/a.c" },
		{ "there", "/src /src/sub", "/src/sub/a.c", "/src/sub/a.c" },
		{ "second", "/src", "/src/b.c", "/src/b.c" },
		/* Those of Windows, whose drives are no folders. */
		{ "there", "", "C:/a.c", "$/there/a.c" },
		{ "there", "C:\\src", "C:/src/a.c", "$/there/a.c" },
		{ "there", "c:/SRC/", "C:/src/a.c", "$/there/a.c" },
		{ "there", "D:/src", "C:/src/a.c", "C:/src/a.c" },
		{ "there", "C:\\sr", "C:/src/a.c", "C:/src/a.c" },
		{ "there", "C:\\", "C:/a.c", "$/there/a.c" },
		{ "there", "/src", "C:/src/a.c", "C:/src/a.c" },
	};

	assert_int_equal(mkdir("there", 0755), 0);
	assert_int_equal(mkdir("second", 0755), 0);
	write_text("there/a.c", "");
	write_text("second/a.c", "");
	for (size_t i = 0; i < NR(rows); i++) {
		const char *search[MAX_NAMES], *base[MAX_NAMES];
		char copies[2][64];
		struct opannotate_options o = {
			.request.lines.source_dirs.search = split_words(
				rows[i].search, copies[0], search, MAX_NAMES),
			.request.lines.source_dirs.bases = split_words(
				rows[i].base, copies[1], base, MAX_NAMES),
		};
		struct text t;

		write_without(text_begin(&t),
			      opannotate_locate(&o, rows[i].name), *state);
		text_must_be(&t, rows[i].name, rows[i].path);
	}
}

/* ---- source files -------------------------------------------------------- */

/* What is said of a file that samples are in; "a" is newer than the image. */
FOLDER_TEST(sources_are_opened)
{
	static const struct pp_image new = { .name = "/bin/x",
					     .mtime = UINT64_MAX };
	static const struct pp_image as_old = { .name = "/bin/x",
						.mtime = 5000 };
	static const struct pp_image older = { .name = "/bin/x",
					       .mtime = 4999 };
	static const struct pp_image unknown = { .name = "/bin/x" };
	static const struct {
		const char *path;
		const struct pp_image *image;
		const char *text;
	} rows[] = {
		{ "a", NULL, "" },
		{ "a", &new, "" },
		{ "a", &as_old, "" },
		{ "a", &unknown, "" },
		{ "a", &older, EXPECTED_AS("a, 1") },
		{ "none", &older, EXPECTED_AS("none, 1") },
		{ "<stdin>", NULL,
		  "warning: <stdin>: not a file, so none of its lines are shown\n" },
		{ "/x/<built>", NULL,
		  "warning: /x/<built>: not a file, so none of its lines are shown\n" },
		{ "<x", NULL, EXPECTED_ROW },
		{ "x>", NULL, EXPECTED_ROW },
		{ "dir", NULL, EXPECTED_ROW },
		{ "pipe", NULL, EXPECTED_ROW },
	};
	struct timespec times[2] = { { .tv_sec = 5000 }, { .tv_sec = 5000 } };

	write_text("a", "");
	assert_int_equal(utimensat(AT_FDCWD, "a", times, 0), 0);
	assert_int_equal(mkdir("dir", 0755), 0);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_arena arena;
		struct pp_messages messages = { .arena = &arena };
		struct made_report m;
		struct opannotate_text text = { .report = &m.report,
						.messages = &messages };
		struct text t;
		FILE *in;

		op_arena_init(&arena);
		make_report(&m, 0);
		in = opannotate_open_source(&text, rows[i].path, rows[i].image);
		assert_int_equal(in != NULL, !strcmp(rows[i].path, "a"));
		if (in)
			fclose(in);
		write_messages(text_begin(&t), &messages);
		text_must_be(&t, rows[i].path, rows[i].text);
		op_arena_release(&arena);
	}
}

FOLDER_TEST(a_source_may_end_early)
{
	static const struct {
		int err;
		const char *text;
	} rows[] = {
		{ EIO, EXPECTED_ROW },
		{ ENODEV, EXPECTED_ROW },
		{ 0, EXPECTED_ROW },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct op_arena arena;
		struct pp_messages messages = { .arena = &arena };
		FILE *in = fopen("early", "w");
		struct text t;

		op_arena_init(&arena);
		assert_non_null(in);
		pp_source_check(&messages, "a", in);
		assert_int_equal(messages.nr, 0);
		assert_int_equal(fgetc(in), EOF); /* it is for writing */
		errno = rows[i].err;
		pp_source_check(&messages, "a", in);
		fclose(in);
		write_messages(text_begin(&t), &messages);
		text_must_be(&t, strerror(rows[i].err), rows[i].text);
		assert_int_equal(messages.nr_faults, 1);
		op_arena_release(&arena);
	}
}

FOLDER_TEST(changed_sources_are_not_used)
{
	struct pp_sum sum = { .name = "a" }; /* the hash of nothing */
	const struct pp_archive archive = { .root = *state,
					    .sums = { &sum, 1 } };
	struct op_arena arena;
	struct pp_messages messages = { .arena = &arena };
	struct made_report m;
	struct opannotate_text text = { .report = &m.report,
					.messages = &messages };
	struct text all;
	char path[4200];

	op_arena_init(&arena);
	make_report(&m, 0);
	m.report.archive = &archive;
	write_text("a", "");
	snprintf(path, sizeof(path), "%s/a", (const char *)*state);
	assert_null(opannotate_open_source(&text, path, NULL));
	write_messages(text_begin(&all), &messages);
	text_below_must_be(
		&all, *state, "changed",
		"warning: $/a: it is not the archived file; not used\n");
	op_arena_release(&arena);
}

/* The file x.c of five lines, with samples and symbols in some of them. */
FOLDER_TEST(lines_are_annotated)
{
	static const uint64_t counts[] = { 600, 0 }, none[] = { 0, 0 };
	struct made_report m;
	const struct pp_symbol_entry *symbols[2];
	const struct pp_annotated_line lines[] = {
		{ 0, counts, NULL, 0 }, { 2, none, symbols, 2 },
		{ 3, counts, NULL, 0 }, { 5, counts, symbols, 1 },
		{ 6, counts, NULL, 0 }, { 4000000000u, counts, NULL, 0 },
	};
	const struct {
		const char *name, *source; /* NULL: no such file */
		size_t first, nr;
		double threshold;
		const char *text;
	} rows[] = {
		/* clang-format off */
		{ "all", "a\nb\nc\n\ne\n", 0, 4, 0,
		  EXPECTED("all") },
		{ "no line 0", "a\nb\nc\n\ne\n", 1, 3, 0,
		  EXPECTED("no-line-0") },
		{ "no newline at the end", "a\nb\nc\n\ne", 1, 3, 0,
		  EXPECTED("no-newline-at-the-end") },
		{ "too short", "a\nb\nc\n\ne\n", 1, 5, 0,
		  EXPECTED("too-short") },
		{ "empty", "", 2, 1, 0, EXPECTED_ROW },
		{ "no file", NULL, 0, 6, 0,
		  EXPECTED("no-file") },
		{ "below the threshold", "a\n", 0, 4, 61, "none of 1 source files with samples is shown; --include-file, --exclude-file or --threshold leaves them out\n" },
		/* clang-format on */
	};

	make_report(&m, SYMBOLS);
	symbols[0] = &m.symbols[0];
	symbols[1] = &m.symbols[1];
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_arena arena;
		struct pp_messages messages = { .arena = &arena };
		struct opannotate_options o = { .args.no_header = 1,
						.threshold =
							rows[i].threshold };
		struct opannotate_text text = { .report = &m.report,
						.options = &o,
						.messages = &messages };
		const struct pp_annotated_file file = { "x.c", counts,
							lines + rows[i].first,
							rows[i].nr, NULL };
		const struct pp_annotation annotation = { .files = &file,
							  .nr_files = 1 };
		struct op_diag diag = { "" };
		struct text all;

		op_arena_init(&arena);
		unlink("x.c");
		if (rows[i].source)
			write_text("x.c", rows[i].source);
		text.out = text_begin(&all);
		if (opannotate_write_source(&text, &annotation, &diag))
			fprintf(all.out, "%s\n", diag.text);
		write_messages(all.out, &messages);
		text_below_must_be(&all, *state, rows[i].name, rows[i].text);
		op_arena_release(&arena);
	}
}

static bool has_message(const struct pp_messages *messages, const char *part)
{
	for (size_t i = 0; i < messages->nr; i++)
		if (strstr(messages->list[i].text, part))
			return true;
	return false;
}

#define TEN_LETTERS "abcdefghij"
#define FIFTY_LETTERS                                                          \
	TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS TEN_LETTERS
/* Of more bytes than a name may have. */
#define LONG_NAME                                                              \
	FIFTY_LETTERS FIFTY_LETTERS FIFTY_LETTERS FIFTY_LETTERS FIFTY_LETTERS  \
		TEN_LETTERS

/* Below --output-dir a file begins with its lines; its head is at the end. */
FOLDER_TEST(output_folders_are_filled)
{
	static const uint64_t counts[] = { 600, 0 };
	static const struct pp_annotated_line line = { 1, counts, NULL, 0 };
	static const struct {
		const char *name, *output, *reason, *written;
	} rows[] = {
		{ "/src/x.c", "out", NULL, "out/src/x.c" },
		{ "src/x.c", "out", NULL, "out/src/x.c" },
		{ "/src/../x.c", "out",
		  "out/src/../x.c: not written: it would not be below "
		  "--output-dir, or be the source itself",
		  NULL },
		{ "/file/x.c", "out",
		  "out/file/x.c: not written: Not a directory", NULL },
		{ "/folder/x.c", "out",
		  "out/folder/x.c: not written: Is a directory", NULL },
		{ "/socket", "out",
		  "out/socket: not written: No such device or address", NULL },
		{ "/" LONG_NAME, "out",
		  "out/" LONG_NAME ": not written: File name too long", NULL },
		{ "x.c", "root",
		  "/x.c: not written: it would not be below --output-dir, or "
		  "be the source itself",
		  NULL },
	};

	assert_int_equal(symlink("/", "root"), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_arena arena;
		struct pp_messages messages = { .arena = &arena };
		struct opannotate_options o = {
			.args.source = 1,
			.all = true,
			.command = "c",
			.output_dir = rows[i].output,
		};
		struct made_report m;
		struct opannotate_text text = { .report = &m.report,
						.options = &o,
						.messages = &messages };
		/* The file behind one that cannot be written is. */
		const struct pp_annotated_file files[] = {
			{ rows[i].name, counts, &line, 1, NULL },
			{ "/last/x.c", counts, &line, 1, NULL },
		};
		bool is_out = !strcmp(rows[i].output, "out");
		const struct pp_annotation annotation = {
			.files = files, .nr_files = is_out ? 2 : 1
		};
		struct op_diag diag = { "" };
		int err;

		/* What was written before is written over. */
		assert_int_equal(
			system("rm -rf out; mkdir -p out/src out/folder/x.c; "
			       "echo >out/file; echo old >out/src/x.c"),
			0);
		assert_int_equal(mknod("out/socket", S_IFSOCK | 0600, 0), 0);
		op_arena_init(&arena);
		make_report(&m, 0);
		write_text("x.c", "text\n");
		err = opannotate_write_source(&text, &annotation, &diag);
		assert_int_equal(err != 0, rows[i].reason != NULL);
		if (rows[i].reason) {
			assert_reason(&diag,
				      is_out ? "1 of 2 files were not written"
					     : "1 of 1 files were not written");
			assert_true(has_message(&messages, rows[i].reason));
		} else {
			expect_text(text_of(rows[i].written), EXPECTED_ROW,
				    rows[i].name);
		}
		if (is_out)
			assert_non_null(strstr(text_of("out/last/x.c"),
					       " * Output all files\n"));
		assert_string_equal(text_of("x.c"), "text\n");
		op_arena_release(&arena);
	}
}

/* ---- excerpts ------------------------------------------------------------ */

/* The lines that come before instructions of these lines; a file of lines "1",
 * "2" and so on to 20. '/' is where all is forgotten. */
FOLDER_TEST(excerpts_show_lines_once)
{
	static const struct {
		const char *lines, *shown;
	} rows[] = {
		{ "1", "1 " },
		{ "3", "1 2 3 " },
		{ "6", "1 2 3 4 5 6 " },
		{ "7", "2 3 4 5 6 7 " },
		{ "20", "15 16 17 18 19 20 " },
		{ "0", "" },
		{ "7 7", "2 3 4 5 6 7 " },
		{ "7 8", "2 3 4 5 6 7 8 " },
		{ "7 9", "2 3 4 5 6 7 8 9 " },
		{ "7 3", "2 3 4 5 6 7 3 " },
		{ "7 3 7", "2 3 4 5 6 7 3 7 " },
		{ "7 1 8", "2 3 4 5 6 7 1 8 " },
		{ "7 13", "2 3 4 5 6 7 8 9 10 11 12 13 " },
		{ "7 14", "2 3 4 5 6 7 9 10 11 12 13 14 " },
		{ "21", "16 17 18 19 20 " },
		{ "99", "" },
		{ "7 0 7", "2 3 4 5 6 7 " },
		{ "7 / 7", "2 3 4 5 6 7 2 3 4 5 6 7 " },
		/* As objdump, which remembers a line of each file. */
		{ "2 b1 2 b1", "1 2 b1 " },
		{ "2 b1 3", "1 2 b1 3 " },
		{ "c1 c2", "" },
	};
	FILE *source = fopen("a", "w");

	for (int i = 1; i <= 20; i++)
		fprintf(source, "%d\n", i);
	fclose(source);
	write_text("b", "b1");
	for (size_t i = 0; i < NR(rows); i++) {
		struct op_arena arena;
		struct pp_messages messages = { .arena = &arena };
		struct opannotate_options o = { 0 };
		struct made_report m;
		struct opannotate_text text = { .report = &m.report,
						.options = &o,
						.messages = &messages };
		struct opannotate_excerpts e;
		const char *words[8];
		char copy[64];
		struct text all, t;
		FILE *out = text_begin(&t);

		op_arena_init(&arena);
		make_report(&m, 0);
		text.out = text_begin(&all);
		opannotate_excerpts_init(&e, &text);
		split_words(rows[i].lines, copy, words, NR(words));
		for (size_t k = 0; words[k]; k++) {
			const char *w = words[k];
			char name[] = "a";

			if (*w == '/') {
				opannotate_excerpts_restart(&e);
				continue;
			}
			if (*w > '9')
				*name = *w++;
			opannotate_excerpt(&e, name,
					   (unsigned int)strtoul(w, NULL, 10),
					   NULL);
		}
		opannotate_excerpts_release(&e);
		fclose(all.out);
		for (char *save, *line = strtok_r(all.all, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			assert_memory_equal(line, "               :", 16);
			fprintf(out, "%s ", line + 16);
		}
		free(all.all);
		text_must_be(&t, rows[i].lines, rows[i].shown);
		/* That a file is not there is said once. */
		assert_int_equal(messages.nr, *rows[i].lines == 'c');
		op_arena_release(&arena);
	}
}
