// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts of events that had a counter for a part of the time: whose times are
 * of which column, and what becomes of each count of a report. */

#include "tests/unit/pp_fixture.h"

#include "libpp/report/population.h"
#include "libpp/tree/tree.h"

/* ---- whose times --------------------------------------------------------- */

/* Of the session "s" from 100 to 200, two of its events. */
static const struct pp_session session_of_times = { .name = "s",
						    .column_begin = 100,
						    .column_end = 200 };

static void account_with_times(struct op_ledger *account)
{
	static const struct op_ledger_event events[] = {
		{ "E", 1000, 1, 30, 10, 7, 3, 0, 0, 0 },
		{ "E", 1000, 2, 500, 400, 20, 5, 0, 0, 0 },
		{ "F", 1000, 1, 7000, 6000, 40, 9, 0, 0, 0 },
	};

	memset(account, 0, sizeof(*account));
	account->stored = 100;
	account->costs[OP_COST_SPREAD] = 50;
	for (size_t i = 0; i < NR(events); i++)
		account->events[account->nr_events++] = events[i];
}

TEST(times_are_those_of_the_event)
{
	static const struct {
		const char *name;
		struct pp_class class;
		const char *wanted;
	} rows[] = {
		{ "the event",
		  { .event = "E", .count = 1000, .counted_unit_mask = 1 },
		  "10 of 30, 7 in 3; 50 of 100: 1.5" },
		{ "its other unit mask",
		  { .event = "E", .count = 1000, .counted_unit_mask = 2 },
		  "400 of 500, 20 in 5; 50 of 100: 1.5" },
		{ "unit masks that are merged",
		  { .event = "E",
		    .count = 1000,
		    .counted_unit_mask = 1,
		    .unit_masks_differ = true },
		  "410 of 530, 27 in 8; 50 of 100: 1.5" },
		{ "another unit mask",
		  { .event = "E", .count = 1000, .counted_unit_mask = 3 },
		  "0 of 0, 0 in 0; 50 of 100: 1.5" },
		{ "another count",
		  { .event = "E", .count = 1001, .counted_unit_mask = 1 },
		  "0 of 0, 0 in 0; 50 of 100: 1.5" },
		{ "another event",
		  { .event = "F", .count = 1000, .counted_unit_mask = 1 },
		  "6000 of 7000, 40 in 9; 50 of 100: 1.5" },
		{ "times of more sessions",
		  { .event = "E",
		    .count = 1000,
		    .counted_unit_mask = 1,
		    .enabled = 5,
		    .running = 3,
		    .taken = 2,
		    .turns = 1,
		    .stored = 300,
		    .spread = 50 },
		  "13 of 35, 9 in 4; 100 of 400: 1.25" },
		{ "the session",
		  { .event = "E",
		    .count = 1000,
		    .counted_unit_mask = 1,
		    .session = "s" },
		  "10 of 30, 7 in 3; 50 of 100: 1.5" },
		{ "another session",
		  { .event = "E",
		    .count = 1000,
		    .counted_unit_mask = 1,
		    .session = "t" },
		  "0 of 0, 0 in 0; 0 of 0: 1" },
		{ "the time",
		  { .event = "E",
		    .count = 1000,
		    .counted_unit_mask = 1,
		    .begin = 100,
		    .end = 200 },
		  "10 of 30, 7 in 3; 50 of 100: 1.5" },
		{ "a time that begins later",
		  { .event = "E",
		    .count = 1000,
		    .counted_unit_mask = 1,
		    .begin = 150,
		    .end = 200 },
		  "0 of 0, 0 in 0; 0 of 0: 1" },
		{ "a time that ends later",
		  { .event = "E",
		    .count = 1000,
		    .counted_unit_mask = 1,
		    .begin = 100,
		    .end = 250 },
		  "0 of 0, 0 in 0; 0 of 0: 1" },
	};
	struct op_ledger account;

	account_with_times(&account);
	for (size_t i = 0; i < NR(rows); i++) {
		/* One before it shows that each is looked at. */
		struct pp_class classes[] = {
			{ .event = "E", .session = "no such", .grain = 1 },
			rows[i].class,
		};
		const struct pp_class *c = &classes[1];
		struct pp_side side = { .classes = { .classes = classes,
						     .nr = NR(classes) } };
		struct text text;

		classes[1].grain = 1;
		pp_side_add_times(&side, &session_of_times, &account);
		fprintf(text_begin(&text), "%u of %u, %u in %u; %u of %u: %g",
			(unsigned int)c->running, (unsigned int)c->enabled,
			(unsigned int)c->taken, (unsigned int)c->turns,
			(unsigned int)c->spread, (unsigned int)c->stored,
			c->grain);
		text_must_be(&text, rows[i].name, rows[i].wanted);
	}
}

/* Kish's design effect, of periods of 512 and 1536. */
TEST(periods_widen_intervals)
{
	struct pp_class class = { .event = "E", .count = 1, .grain = 1 };
	struct pp_side side = { .classes = { .classes = &class, .nr = 1 } };
	struct op_ledger account = {
		.stored = 2048,
		.nr_events = 1,
		.events = { { .name = "E",
			      .count = 1,
			      .periods = 2,
			      .sum_of_periods = 2048,
			      .squares_of_periods = 2560 } },
	};

	pp_side_add_times(&side, &session_of_times, &account);
	assert_true(class.grain == 1280);
	assert_int_equal(class.periods, 2);
	/* Those of few events may be less than a unit. */
	class = (struct pp_class){ .event = "E", .count = 1, .grain = 1 };
	account.events[0].squares_of_periods = 0;
	pp_side_add_times(&side, &session_of_times, &account);
	assert_true(class.grain == 1);
}

/* Without any stored sample nothing is known of how they are spread. */
TEST(spread_needs_samples)
{
	struct pp_class class = { .event = "E", .grain = 1 };
	struct pp_side side = { .classes = { .classes = &class, .nr = 1 } };
	struct op_ledger account;

	account_with_times(&account);
	account.stored = 0;
	pp_side_add_times(&side, &session_of_times, &account);
	assert_true(class.grain == 1);
}

/* ---- sessions that are added up ------------------------------------------ */

TEST(other_scales_are_told)
{
	static const struct {
		const char *name;
		struct {
			const char *session;
			uint64_t enabled, running;
		} times[3];
		bool as_taken;
		const char *wanted;
	} rows[] = {
		{ "one session", { { "a", 100, 50 } }, false, "2" },
		{ "the same part of the time",
		  { { "a", 100, 50 }, { "b", 1000, 500 } },
		  false,
		  "2" },
		{ "nearly the same",
		  { { "a", 100, 50 }, { "b", 108, 50 } },
		  false,
		  "2.08" },
		{ "another part",
		  { { "a", 100, 50 }, { "b", 111, 50 } },
		  false,
		  "2.11 E: it was counted for 50 % of the time in session a and for 45 % in b, but the counts of both are multiplied by 2.11; show each session with opreport --by-session" },
		{ "all of the time in one",
		  { { "a", 900, 300 }, { "b", 100, 100 }, { "c", 100, 50 } },
		  false,
		  "2.44 E: it was counted for 100 % of the time in session b and for 33.3 % in a, but the counts of both are multiplied by 2.44; show each session with opreport --by-session" },
		{ "never in one",
		  { { "a", 900, 300 }, { "b", 100, 0 } },
		  false,
		  "3.33" },
		{ "spans of one session",
		  { { "a", 900, 300 }, { "a", 100, 100 } },
		  false,
		  "2.5" },
		{ "as they were taken",
		  { { "a", 900, 300 }, { "b", 100, 100 } },
		  true,
		  "1" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_class classes[2] = {
			{ .event = "E", .scale = 1 },
			{ .event = "E", .scale = 1 },
		};
		struct pp_request request = { .select.as_taken =
						      rows[i].as_taken };
		struct pp_report report = { .classes = { .nr = 0 } };
		struct pp_population p = { .report = &report,
					   .request = &request };
		struct text text;

		op_arena_init(&report.arena);
		report.messages.arena = &report.arena;
		p.side.classes.classes = classes;
		p.side.classes.nr = NR(classes);
		for (size_t k = 0; k < 3 && rows[i].times[k].session; k++) {
			const struct pp_session session = {
				.name = rows[i].times[k].session
			};
			struct op_ledger account = { .nr_events = 1 };

			strcpy(account.events[0].name, "E");
			account.events[0].enabled = rows[i].times[k].enabled;
			account.events[0].running = rows[i].times[k].running;
			pp_side_add_times(&p.side, &session, &account);
		}
		assert_int_equal(pp_scale_counts(&p), 0);
		fprintf(text_begin(&text), "%.3g", classes[0].scale);
		for (size_t k = 0; k < report.messages.nr; k++)
			fprintf(text.out, " %s", report.messages.list[k].text);
		text_must_be(&text, rows[i].name, rows[i].wanted);
		op_arena_release(&report.arena);
	}
}

/* ---- what becomes of counts ---------------------------------------------- */

/* A report of two columns, of which the first alone has a scale, and of one
 * before. Each count is a different number. */
struct counted_report {
	struct pp_report report;
	struct pp_population population;
	struct pp_request request;
	struct pp_class classes[2], old_class;
	uint64_t numbers[64];
	size_t nr_numbers;
	struct pp_summary_image images[2];
	struct pp_summary_app app;
	struct pp_symbol_entry known[2], shown[1];
	struct pp_detail details[3];
	struct pp_neighbours neighbours;
	struct pp_arc callers[2], callees[2];
	struct pp_stack_call calls[1], outer[1];
	struct pp_address_call addresses[2];
	struct pp_tree tree;
	struct pp_tree_node nodes[4];
	uint64_t self[12], all[12], broken[3], cut[3];
};

/* The next two counts: @first, and 10 more than that. */
static const uint64_t *two_counts(struct counted_report *r, uint64_t first)
{
	uint64_t *counts = &r->numbers[r->nr_numbers];

	counts[0] = first;
	counts[1] = first + 10;
	r->nr_numbers += 2;
	return counts;
}

static void make_counted_symbols(struct counted_report *r)
{
	for (size_t i = 0; i < NR(r->details); i++)
		r->details[i].counts = two_counts(r, 1);
	for (size_t i = 0; i < 2; i++) {
		r->callers[i].counts = two_counts(r, 3);
		r->callees[i].counts = two_counts(r, 5);
	}
	r->neighbours = (struct pp_neighbours){
		.callers = r->callers,
		.nr_callers = 2,
		.callees = r->callees,
		.nr_callees = 2,
		.caller_totals = two_counts(r, 20),
		.callee_totals = two_counts(r, 22),
		.cumulative = two_counts(r, 24),
	};
	r->calls[0].counts = two_counts(r, 26);
	r->known[0] = (struct pp_symbol_entry){ .counts = two_counts(r, 28) };
	r->known[1] = (struct pp_symbol_entry){
		.nr = 1,
		.counts = two_counts(r, 30),
		.all_counts = two_counts(r, 32),
		.old_counts = two_counts(r, 34),
		.details = r->details,
		.nr_details = NR(r->details),
		.neighbours = &r->neighbours,
		.stack_calls = r->calls,
		.nr_stack_calls = 1,
	};
	r->shown[0] = r->known[1];
	r->report.symbols.known = r->known;
	r->report.symbols.nr_known = 2;
	r->report.symbols.list = r->shown;
	r->report.symbols.nr = 1;
}

/* The root has two children, the first of them one. A column of each class. */
static void make_counted_tree(struct counted_report *r)
{
	static const uint32_t parents[] = { 0, 0, 1, 0 };

	r->tree = (struct pp_tree){
		.nodes = r->nodes,
		.nr_nodes = NR(parents),
		.nr_columns = 3,
		.self = r->self,
		.all = r->all,
		.broken = r->broken,
		.cut = r->cut,
	};
	for (size_t i = 0; i < NR(parents); i++)
		r->nodes[i].parent = parents[i];
	for (size_t i = 0; i < NR(r->self); i++) {
		r->self[i] = i < 3 ? 0 : 1;
		r->all[i] = (const uint64_t[]){ 3, 2, 1, 1 }[i / 3];
	}
	for (size_t i = 0; i < 3; i++) {
		r->broken[i] = 7;
		r->cut[i] = 9;
	}
	r->report.tree = &r->tree;
}

static void make_counted_report(struct counted_report *r)
{
	*r = (struct counted_report){
		.classes = { { .scale = 1, .enabled = 15, .running = 10 },
			     { .scale = 1, .enabled = 10, .running = 10 } },
		.old_class = { .scale = 1, .enabled = 20, .running = 10 },
	};
	op_arena_init(&r->report.arena);
	r->population.report = &r->report;
	r->population.request = &r->request;
	r->population.side.classes.classes = r->classes;
	r->population.side.classes.nr = 2;
	r->population.old.classes.classes = &r->old_class;
	r->population.old.classes.nr = 1;
	r->report.totals = two_counts(r, 40);
	r->report.symbols.totals = two_counts(r, 42);
	r->report.old.totals = two_counts(r, 44);
	r->report.old.symbol_totals = two_counts(r, 46);
	for (size_t i = 0; i < 2; i++)
		r->images[i].counts = two_counts(r, 11);
	r->app = (struct pp_summary_app){ .counts = two_counts(r, 22),
					  .images = r->images,
					  .nr_images = 2 };
	r->report.summary.apps = &r->app;
	r->report.summary.nr_apps = 1;
	make_counted_symbols(r);
	r->outer[0].counts = two_counts(r, 50);
	r->report.stack_totals.outer = r->outer;
	r->report.stack_totals.nr_outer = 1;
	for (unsigned int i = 0; i < 2; i++)
		r->addresses[i] =
			(struct pp_address_call){ .count = 60, .class_nr = i };
	r->report.calls.list = r->addresses;
	r->report.calls.nr = 2;
	make_counted_tree(r);
}

static void write_counts(FILE *out, const char *what, const uint64_t *counts,
			 size_t nr)
{
	fprintf(out, "%s", what);
	for (size_t i = 0; i < nr && counts; i++)
		fprintf(out, " %llu", (unsigned long long)counts[i]);
	fputs(counts ? "\n" : " none\n", out);
}

static void write_counted_symbol(FILE *out, const struct pp_symbol_entry *entry)
{
	const struct pp_neighbours *n = entry->neighbours;

	write_counts(out, "symbol", entry->counts, 2);
	write_counts(out, " with callees", entry->all_counts, 2);
	write_counts(out, " before", entry->old_counts, 1);
	for (size_t i = 0; i < entry->nr_details; i++)
		write_counts(out, " address", entry->details[i].counts, 2);
	for (size_t i = 0; i < entry->nr_stack_calls; i++)
		write_counts(out, " call", entry->stack_calls[i].counts, 2);
	if (!n)
		return;
	for (size_t i = 0; i < n->nr_callers; i++)
		write_counts(out, " caller", n->callers[i].counts, 2);
	write_counts(out, " callers", n->caller_totals, 2);
	for (size_t i = 0; i < n->nr_callees; i++)
		write_counts(out, " callee", n->callees[i].counts, 2);
	write_counts(out, " callees", n->callee_totals, 2);
	write_counts(out, " cumulative", n->cumulative, 2);
}

static void write_counted_report(FILE *out, const struct pp_report *report)
{
	const struct pp_tree *tree = report->tree;

	write_counts(out, "totals", report->totals, 2);
	write_counts(out, "of symbols", report->symbols.totals, 2);
	write_counts(out, "before", report->old.totals, 1);
	write_counts(out, "before, of symbols", report->old.symbol_totals, 1);
	write_counts(out, "application", report->summary.apps[0].counts, 2);
	for (size_t i = 0; i < report->summary.apps[0].nr_images; i++)
		write_counts(out, " image",
			     report->summary.apps[0].images[i].counts, 2);
	for (size_t i = 0; i < report->symbols.nr_known; i++)
		write_counted_symbol(out, &report->symbols.known[i]);
	write_counts(out, "outer call", report->stack_totals.outer[0].counts,
		     2);
	for (size_t i = 0; i < report->calls.nr; i++)
		write_counts(out, "call", &report->calls.list[i].count, 1);
	for (uint32_t i = 0; i < tree->nr_nodes; i++) {
		write_counts(out, "node", pp_tree_self(tree, i), 3);
		write_counts(out, " and below", pp_tree_all(tree, i), 3);
	}
	write_counts(out, "broken", tree->broken, 3);
	write_counts(out, "cut", tree->cut, 3);
}

/*
 * The first column times 1.5, that of before times 2. Parts add up to what the
 * whole becomes: three addresses of 1 are 4.5, which is 4.
 */
TEST(each_count_of_a_report_is_scaled)
{
	struct counted_report r;
	struct text text;

	make_counted_report(&r);
	assert_int_equal(pp_scale_counts(&r.population), 0);
	assert_true(r.classes[0].scale == 1.5);
	assert_true(r.classes[1].scale == 1);
	assert_true(r.old_class.scale == 2);
	write_counted_report(text_begin(&text), &r.report);
	text_must_be(&text, "report", EXPECTED_ROW);
	/* What is shown is a copy of what is known. */
	assert_ptr_equal(r.shown[0].counts, r.known[1].counts);
	assert_ptr_equal(r.shown[0].all_counts, r.known[1].all_counts);
	assert_ptr_equal(r.shown[0].old_counts, r.known[1].old_counts);
	op_arena_release(&r.report.arena);

	/* Or the same. */
	make_counted_report(&r);
	r.report.symbols.list = r.report.symbols.known;
	r.report.symbols.nr = 2;
	assert_int_equal(pp_scale_counts(&r.population), 0);
	write_counted_report(text_begin(&text), &r.report);
	text_must_be(&text, "report without copies", EXPECTED_AS("report"));
	op_arena_release(&r.report.arena);
}

TEST(one_scale_is_enough)
{
	struct counted_report r;

	make_counted_report(&r);
	r.old_class.running = r.old_class.enabled;
	assert_int_equal(pp_scale_counts(&r.population), 0);
	assert_int_equal(r.report.totals[0], 60);
	assert_int_equal(r.report.old.totals[0], 44);
	op_arena_release(&r.report.arena);
	make_counted_report(&r);
	r.classes[0].running = r.classes[0].enabled;
	assert_int_equal(pp_scale_counts(&r.population), 0);
	assert_int_equal(r.report.totals[0], 40);
	assert_int_equal(r.report.old.totals[0], 88);
	op_arena_release(&r.report.arena);
}

/* What was scaled is another array; without need nothing is touched. */
TEST(counts_without_a_scale_stay)
{
	static const struct {
		uint64_t enabled, running;
		bool as_taken, is_scaled;
	} rows[] = {
		{ 10, 0, false, false }, /* not known */
		{ 10, 10, false, false },	{ 10, 11, false, false },
		{ 10, 9, false, true },		{ 10, 9, true, false },
		{ 20000, 19998, false, false }, /* short by a ten-thousandth */
		{ 20000, 19997, false, true },
	};
	struct counted_report r;

	for (size_t i = 0; i < NR(rows); i++) {
		const uint64_t *totals;

		make_counted_report(&r);
		r.old_class.running = r.old_class.enabled;
		r.classes[0].enabled = rows[i].enabled;
		r.classes[0].running = rows[i].running;
		r.request.select.as_taken = rows[i].as_taken;
		totals = r.report.totals;
		assert_int_equal(pp_scale_counts(&r.population), 0);
		if ((r.report.totals != totals) != rows[i].is_scaled)
			fail_msg("%u of %u", (unsigned int)rows[i].running,
				 (unsigned int)rows[i].enabled);
		op_arena_release(&r.report.arena);
	}
}

TEST(large_counts_stay_the_largest)
{
	struct counted_report r;

	make_counted_report(&r);
	((uint64_t *)r.report.totals)[0] = UINT64_MAX / 3 * 2 + 1000;
	((uint64_t *)r.report.symbols.totals)[0] = UINT64_C(1) << 62;
	assert_int_equal(pp_scale_counts(&r.population), 0);
	assert_true(r.report.totals[0] == UINT64_MAX);
	assert_true(r.report.symbols.totals[0] == UINT64_C(3) << 61);
	op_arena_release(&r.report.arena);
}
