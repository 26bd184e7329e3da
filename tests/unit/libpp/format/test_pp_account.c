// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The words that all reports have in common: the account of samples, and the
 * line of an event. Other tests compare reports without them, by
 * report_facts(), which is tested here as well.
 */

#include "tests/unit/pp_report.h"

static const struct account_row {
	const char *name;
	struct op_ledger account;
	const char *words, *facts;
} account_rows[] = {
	{ "none is lost",
	  { .taken = 100, .stored = 100 },
	  "100 taken = 100 stored + 0 lost",
	  "100 = 100 + 0" },
	{ "nothing at all",
	  { .taken = 0 },
	  "0 taken = 0 stored + 0 lost",
	  "0 = 0 + 0" },
	{ "a cause",
	  { .taken = 3,
	    .stored = 1,
	    .nr_causes = 1,
	    .causes = { { "no_mm", 2 } } },
	  "3 taken = 1 stored + 2 lost (2 no_mm)",
	  "3 = 1 + 2 (2 no_mm)" },
	{ "two causes and some that are pending",
	  { .taken = 1013,
	    .stored = 1000,
	    .pending = 3,
	    .nr_causes = 2,
	    .causes = { { "buffer_full", 8 }, { "no_mm", 2 } } },
	  "1013 taken = 1000 stored + 10 lost (8 buffer_full, 2 no_mm) + 3 pending",
	  "1013 = 1000 + 10 (8 buffer_full, 2 no_mm) + 3" },
};

static void facts_must_be(const char *text, const char *facts, const char *row)
{
	char *got = report_facts(text);

	expect_text(got, facts, row);
	free(got);
}

TEST(accounts_have_words)
{
	for (size_t i = 0; i < NR(account_rows); i++) {
		const struct account_row *row = &account_rows[i];
		struct text t;

		pp_write_samples(text_begin(&t), &row->account);
		fclose(t.out);
		expect_text(t.all, row->words, row->name);
		facts_must_be(t.all, row->facts, row->name);
		free(t.all);
	}
}

static const struct run_row {
	const char *name;
	struct op_run run;
	size_t most;
	const char *words;
} run_rows[] = {
	{ "all is known",
	  { .command = "./words 5000",
	    .host = "host",
	    .user = "user",
	    .kernel = "6.1.0",
	    .note = "before",
	    .start = 1796043900,
	    .wall_ns = 3650000001,
	    .cpu_ns = 2949999999 },
	  0,
	  "./words 5000: 3.7 s, 2.9 s of CPU; host by user, Linux 6.1.0, 2026-11-30 13:05; note: before" },
	{ "a long run of a command that is cut",
	  { .command = "./words 5000",
	    .wall_ns = 9949999999,
	    .cpu_ns = 9950000000 },
	  10,
	  "./words...: 9.9 s, 10 s of CPU" },
	{ "the machine alone",
	  { .host = "host", .kernel = "6.1.0" },
	  100,
	  "host, Linux 6.1.0" },
	{ "a command alone", { .command = "true" }, 4, "true" },
	{ "a user alone",
	  { .user = "user", .cpu_ns = 40000000 },
	  4,
	  "0.04 s of CPU; by user" },
	{ "a note alone", { .note = "before" }, 4, "note: before" },
};

static void run_must_be(const struct op_ledger *account, size_t most,
			const char *words, const char *row)
{
	struct text t;

	pp_write_run(text_begin(&t), account, most);
	fclose(t.out);
	expect_text(t.all, words, row);
	free(t.all);
}

TEST(runs_have_words)
{
	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	for (size_t i = 0; i < NR(run_rows); i++) {
		const struct run_row *row = &run_rows[i];
		const struct op_ledger account = { .run = row->run };

		run_must_be(&account, row->most, row->words, row->name);
	}
}

TEST(runs_have_a_cost)
{
	struct op_ledger account = {
		.run = { .host = "host", .note = "before" },
		.costs = { [OP_COST_TIME] = 4000000000,
			   [OP_COST_CPUS] = 8000000000,
			   [OP_COST_HANDLER] = 5000000,
			   [OP_COST_DAEMON] = 15000000,
			   [OP_COST_REST] = 40000000 },
	};

	run_must_be(&account, 0,
		    "host; cost 0.06 s of CPU, 0.75 %; note: before", "cost");
	/* A lower rate has a line of its own, which has it. */
	account.costs[OP_COST_DIVISOR] = 2;
	run_must_be(&account, 0, "host; note: before", "cost of a lower rate");
	account.costs[OP_COST_DIVISOR] = 0;
	*account.run.host = *account.run.note = '\0';
	run_must_be(&account, 0, "cost 0.06 s of CPU, 0.75 %", "cost alone");
}

TEST(reports_begin_with_words)
{
	static const struct pp_format_options options;
	struct made_report m;
	char *text = NULL, *end;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	make_report(&m, SYMBOLS | ACCOUNT);
	assert_int_equal(
		pp_format_find("text")->write(out, &m.report, &options), 0);
	fclose(out);
	end = strstr(text, "samples  %");
	assert_non_null(end);
	*end = '\0';
	expect_text(
		text,
		"CPU: AMD64 family10\n"
		"Counted CYCLES events with a unit mask of 0x01 count 100000\n"
		"Samples: 1010 taken = 1000 stored + 10 lost (8 buffer_full, 2 no_mm)\n",
		"head");
	facts_must_be(text,
		      "CPU: AMD64 family10\n"
		      "Counted CYCLES 0x01 100000\n"
		      "Samples: 1010 = 1000 + 10 (8 buffer_full, 2 no_mm)\n",
		      "head");
	free(text);
}

/* Words that are facts stay: causes of stacks, descriptions of events. */
TEST(facts_stay)
{
	static const struct {
		const char *text, *facts;
	} rows[] = {
		{ "Stacks: 98 stored = 90 whole + 8 truncated\n", NULL },
		{ "Stacks of the old profile: 9 stored = 8 whole + 1 truncated",
		  NULL },
		{ "\"1 taken = 1 stored + 0 lost; stacks: 9 stored = 8 whole + 1 truncated\"",
		  "\"1 = 1 + 0; stacks: 9 stored = 8 whole + 1 truncated\"" },
		{ "Counted A events with different unit masks count 1\n",
		  NULL },
		{ "Counted A events (Cycles) with a unit mask of 0x01 (user) count 1\n",
		  NULL },
		{ "1 seen = 2 kept + 3 dropped (4 no_mm) + 5 waiting\n2 a = 2 b + 0 c\n",
		  "1 = 2 + 3 (4 no_mm) + 5\n2 = 2 + 0\n" },
	};

	for (size_t i = 0; i < NR(rows); i++)
		facts_must_be(rows[i].text, rows[i].facts ?: rows[i].text,
			      rows[i].text);
}
