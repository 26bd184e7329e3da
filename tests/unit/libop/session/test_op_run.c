// SPDX-License-Identifier: GPL-2.0-or-later
/* The run of a session: its texts, two runs compared, and the ledger. */

#include "tests/unit/op_fixture.h"

#include "libop/session/op_ledger.h"
#include "libop/session/op_run.h"

TEST(texts_are_safe_and_cut)
{
	static const struct {
		size_t size;
		const char *value, *text;
	} rows[] = {
		{ 9, "12345678", "12345678" },
		{ 9, "123456789", "12345..." },
		{ 9, "  1234  ", "1234" },
		{ 9, "1234\0335678", "1234?..." },
		{ 9, "a\tb", "a?b" },
		{ 9, "", "" },
		{ 9, "   ", "" },
		/* The character at the cut is left out as a whole. */
		{ 9,
		  "1234\xc3\xa4"
		  "6789",
		  "1234..." },
		{ 9,
		  "123\xc3\xa4"
		  "6789",
		  "123\xc3\xa4..." },
	};
	char text[9];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		op_run_set_text(text, rows[i].size, rows[i].value);
		assert_string_equal(text, rows[i].text);
	}
}

TEST(words_are_those_of_a_shell)
{
	char text[64];
	char *const argv[] = { (char *)"./a-b_c", (char *)"--x=/1,2",
			       (char *)"",	  (char *)"a b",
			       (char *)"it's",	  (char *)"\xc3\xa4",
			       (char *)"$x",	  NULL };

	op_run_set_words(text, sizeof(text), argv);
	assert_string_equal(
		text, "./a-b_c --x=/1,2 '' 'a b' 'it'\\''s' \xc3\xa4 '$x'");
	op_run_set_words(text, sizeof(text), argv + 7);
	assert_string_equal(text, "");
}

TEST(here)
{
	struct op_run run = { .note = "kept" };

	op_run_set_here(&run, 7);
	assert_true(*run.host && *run.user && *run.kernel);
	assert_int_equal(run.start, 7);
	assert_string_equal(run.note, "kept");
}

static struct op_run example(void)
{
	return (struct op_run){ .command = "./words 5000",
				.host = "host",
				.user = "user",
				.kernel = "6.1.0",
				.note = "a = b # c",
				.start = 100,
				.wall_ns = 5,
				.cpu_ns = 3 };
}

static void must_be_same(const struct op_run *a, const struct op_run *b)
{
#define X(name, size) assert_string_equal(a->name, b->name);
	OP_RUN_TEXTS(X)
#undef X
#define X(name) assert_int_equal(a->name, b->name);
	OP_RUN_NUMBERS(X)
#undef X
}

TEST(common)
{
	struct op_run run = example(), other = example(), none = { .start = 0 };

	op_run_keep_common(&run, &other);
	must_be_same(&run, &other);
	strcpy(other.command, "./words");
	other.start = 90;
	other.cpu_ns = 4;
	op_run_keep_common(&run, &other);
	assert_string_equal(run.command, "");
	assert_string_equal(run.host, "host");
	assert_int_equal(run.start, 90);
	assert_int_equal(run.wall_ns, 5);
	assert_int_equal(run.cpu_ns, 0);
	op_run_keep_common(&run, &none);
	assert_string_equal(run.host, "");
	assert_int_equal(run.start, 90);
	op_run_keep_common(&none, &other);
	assert_int_equal(none.start, 90);
	assert_string_equal(none.kernel, "");
}

FOLDER_TEST(ledgers_keep_runs)
{
	struct op_ledger l = { .source = "x" }, again, sum = { .taken = 0 };
	struct op_diag why = { "" };

	l.run = example();
	assert_int_equal(op_ledger_write(&l, "ledger", NULL, &why), 0);
	assert_int_equal(op_ledger_read(&again, "ledger", &why), 0);
	must_be_same(&again.run, &l.run);
	assert_int_equal(op_ledger_sum(&sum, &l), 0);
	must_be_same(&sum.run, &l.run);
	strcpy(again.run.note, "other");
	assert_int_equal(op_ledger_sum(&sum, &again), 0);
	assert_string_equal(sum.run.note, "");
	assert_string_equal(sum.run.command, l.run.command);
	/* A ledger of nothing is of no other run. */
	memset(&again, 0, sizeof(again));
	assert_int_equal(op_ledger_merge(&sum, &again), 0);
	assert_string_equal(sum.run.command, l.run.command);
}

FOLDER_TEST(ledgers_that_are_damaged)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{ "run.host = a\033b",
		  "ledger: run.host: not a text of at most 64 bytes without control characters" },
		{ "run.kernel = 12345678901234567890123456789012345678901234567890123456789012345",
		  "ledger: run.kernel: not a text of at most 64 bytes without control characters" },
		{ "run.start = x",
		  "ledger:5: run.start: \"x\" is not a whole number" },
	};
	struct op_ledger l;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct op_diag why = { "" };
		char text[512];

		snprintf(text, sizeof(text),
			 "source = x\ntaken = 0\nstored = 0\npending = 0\n%s\n",
			 rows[i].line);
		write_bytes("ledger", text, strlen(text));
		assert_int_equal(op_ledger_read(&l, "ledger", &why), -EINVAL);
		assert_string_equal(why.text, rows[i].why);
	}
}
