// SPDX-License-Identifier: GPL-2.0-or-later
/* The account of samples: sums, causes, and the file it is kept in. */

#include "tests/unit/expect.h"
#include "tests/unit/op_fixture.h"

#include "libop/session/op_ledger.h"

static struct op_ledger example(void)
{
	struct op_ledger l = { .source = "module/timer",
			       .taken = 110,
			       .stored = 100,
			       .pending = 3 };

	assert_int_equal(op_ledger_lose(&l, "sample_lost_overflow", 5), 0);
	assert_int_equal(op_ledger_lose(&l, "lost_no_image_name", 0), 0);
	assert_int_equal(op_ledger_lose(&l, "sample_lost_overflow", 2), 0);
	return l;
}

TEST(test_causes_add_up)
{
	struct op_ledger l = example();

	assert_int_equal(l.nr_causes, 2);
	assert_string_equal(l.causes[0].name, "sample_lost_overflow");
	assert_int_equal(l.causes[0].nr, 7);
	assert_int_equal(l.causes[1].nr, 0);
	assert_int_equal(op_ledger_lost(&l), 7);
	assert_int_equal(l.taken, l.stored + op_ledger_lost(&l) + l.pending);
}

TEST(test_names_of_causes)
{
	static const char *const bad[] = { "",	  "Lost", "a b", "a.b",
					   "a=b", "a\n",  "a-b", "\xc3\xa4" };
	struct op_ledger l = { 0 };
	char name[OP_LEDGER_CAUSE_MAX + 1];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(op_ledger_lose(&l, bad[i], 1), -EINVAL);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(op_ledger_lose(&l, name, 1), -EINVAL);
	assert_int_equal(l.nr_causes, 0);
	assert_int_equal(op_ledger_lose(&l, name + 1, 1), 0);
	assert_string_equal(l.causes[0].name, name + 1);
}

static void fill_causes(struct op_ledger *l, int from, int to)
{
	char name[16];

	for (int i = from; i < to; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		assert_int_equal(op_ledger_lose(l, name, 1), 0);
	}
}

TEST(test_too_many_causes)
{
	struct op_ledger l = { 0 }, more = { 0 }, before;

	fill_causes(&l, 0, OP_LEDGER_MAX_CAUSES);
	assert_int_equal(op_ledger_lose(&l, "more", 1), -ENOSPC);
	assert_int_equal(op_ledger_lose(&l, "c7", 1), 0);
	assert_int_equal(op_ledger_lost(&l), OP_LEDGER_MAX_CAUSES + 1);
	fill_causes(&more, 60, OP_LEDGER_MAX_CAUSES + 1);
	before = l;
	assert_int_equal(op_ledger_merge(&l, &more), -ENOSPC);
	assert_memory_equal(&l, &before, sizeof(l));
}

TEST(test_sums_do_not_wrap)
{
	struct op_ledger l = { 0 };

	assert_int_equal(op_ledger_lose(&l, "a", UINT64_MAX), 0);
	assert_int_equal(op_ledger_lose(&l, "a", 2), 0);
	assert_true(l.causes[0].nr == UINT64_MAX);
	assert_int_equal(op_ledger_lose(&l, "b", 1), 0);
	assert_true(op_ledger_lost(&l) == UINT64_MAX);
	l.taken = UINT64_MAX - 1;
	assert_int_equal(op_ledger_merge(&l, &(struct op_ledger){ .taken = 5 }),
			 0);
	assert_true(l.taken == UINT64_MAX);
}

TEST(test_merge)
{
	struct op_ledger l = { 0 }, more = example();

	assert_int_equal(op_ledger_merge(&l, &more), 0);
	assert_string_equal(l.source, "module/timer");
	more.pending = 1;
	assert_int_equal(op_ledger_merge(&l, &more), 0);
	assert_int_equal(l.taken, 220);
	assert_int_equal(l.stored, 200);
	assert_int_equal(l.pending, 1);
	assert_int_equal(op_ledger_lost(&l), 14);
	assert_int_equal(l.nr_causes, 2);
	assert_string_equal(l.source, "module/timer");
	strcpy(more.source, "file");
	assert_int_equal(op_ledger_merge(&l, &more), 0);
	assert_string_equal(l.source, "several");
}

/* Of sessions beside each other, not one after the other: all is pending that
 * is pending in any. */
FOLDER_TEST(test_sum)
{
	struct op_ledger l = example(), more = example(), before;

	assert_int_equal(op_ledger_sum(&l, &more), 0);
	assert_int_equal(l.pending, 6);
	assert_int_equal(l.taken, 220);
	assert_int_equal(op_ledger_lost(&l), 14);
	more.pending = UINT64_MAX - 5;
	assert_int_equal(op_ledger_sum(&l, &more), 0);
	assert_true(l.pending == UINT64_MAX);
	fill_causes(&more, 2, OP_LEDGER_MAX_CAUSES);
	assert_int_equal(op_ledger_lose(&l, "other", 1), 0);
	before = l;
	assert_int_equal(op_ledger_sum(&l, &more), -ENOSPC);
	assert_memory_equal(&l, &before, sizeof(l));
}

static void print_order(const struct op_ledger *l, char *text)
{
	for (unsigned int i = 0; i < l->nr_causes; i++)
		text += sprintf(text, "%s ", l->causes[i].name);
	for (unsigned int i = 0; i < l->nr_events; i++)
		text += sprintf(text, "%s:%d:%d ", l->events[i].name,
				(int)l->events[i].count,
				(int)l->events[i].unit_mask);
}

FOLDER_TEST(test_order)
{
	static const struct op_ledger_event events[] = {
		{ .name = "B", .count = 1, .unit_mask = 1 },
		{ .name = "A", .count = 2, .unit_mask = 1 },
		{ .name = "A", .count = 1, .unit_mask = 9 },
		{ .name = "A", .count = 1, .unit_mask = 2 },
		{ .name = "A", .count = 10, .unit_mask = 0 },
	};
	struct op_ledger l = { 0 };
	char text[256];

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		assert_int_equal(op_ledger_time_event(&l, &events[i]), 0);
	op_ledger_lose(&l, "lost_b", 1);
	op_ledger_lose(&l, "lost_c", 3);
	op_ledger_lose(&l, "lost_a", 2);
	print_order(&l, text);
	assert_string_equal(text, "lost_b lost_c lost_a "
				  "B:1:1 A:2:1 A:1:9 A:1:2 A:10:0 ");
	op_ledger_sort(&l);
	print_order(&l, text);
	assert_string_equal(text, "lost_a lost_b lost_c "
				  "A:1:2 A:1:9 A:2:1 A:10:0 B:1:1 ");
	assert_int_equal(l.causes[0].nr, 2);
	assert_int_equal(l.causes[2].nr, 3);
}

/* What is printed can be read back. */
FOLDER_TEST(test_printed)
{
	struct op_ledger l = example(), back;
	FILE *file = fopen("printed", "w");

	assert_non_null(file);
	assert_int_equal(op_ledger_print(&l, file), 0);
	l.source[0] = '\0';
	assert_int_equal(op_ledger_print(&l, file), -EINVAL);
	fclose(file);
	l = example();
	assert_int_equal(op_ledger_read(&back, "printed", NULL), 0);
	assert_memory_equal(&l, &back, sizeof(l));
}

FOLDER_TEST(test_file_round_trip)
{
	struct op_ledger l = example(), back;
	struct op_diag diag = { "" };

	assert_int_equal(op_ledger_write(&l, "ledger", NULL, &diag), 0);
	expect_text(text_of("ledger"), EXPECTED_ROW, "a ledger");
	assert_int_equal(op_ledger_read(&back, "ledger", &diag), 0);
	assert_memory_equal(&l, &back, sizeof(l));
}

/* A ledger without stacks says nothing of them: see above. */
FOLDER_TEST(test_stacks)
{
	struct op_ledger l = example(), back, sum = { 0 };

	l.stacks[OP_STACKS_WHOLE] = 90;
	l.stacks[OP_STACKS_BROKEN] = 4;
	l.stacks[OP_STACKS_NOT_STORED] = 6;
	l.stacks[OP_STACKS_ARCS] = 1000;
	assert_int_equal(op_ledger_stacks_stored(&l), 94);
	assert_int_equal(op_ledger_write(&l, "ledger", NULL, NULL), 0);
	assert_non_null(strstr(text_of("ledger"), "stacks.whole = 90\n"
						  "stacks.guessed = 0\n"
						  "stacks.truncated = 0\n"));
	assert_int_equal(op_ledger_read(&back, "ledger", NULL), 0);
	assert_memory_equal(&l, &back, sizeof(l));
	assert_int_equal(op_ledger_merge(&sum, &back), 0);
	assert_int_equal(op_ledger_merge(&sum, &back), 0);
	assert_int_equal(sum.stacks[OP_STACKS_WHOLE], 180);
	assert_int_equal(sum.stored, 200);
}

/* What sampling cost, likewise: sums, and the largest of what was allowed. */
FOLDER_TEST(test_costs)
{
	struct op_ledger l = example(), back, sum = { 0 };
	char text[128] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_true(op_ledger_cost(&l) == 0 && op_ledger_grain(&l) == 1);
	l.costs[OP_COST_TIME] = 60 * UINT64_C(1000000000);
	l.costs[OP_COST_CPUS] = 2 * l.costs[OP_COST_TIME];
	l.costs[OP_COST_HANDLER] = 600000000;
	l.costs[OP_COST_DAEMON] = 360000000;
	l.costs[OP_COST_REST] = 120000000;
	l.costs[OP_COST_LOWERED] = 12 * UINT64_C(1000000000);
	l.costs[OP_COST_SPREAD] = 150;
	l.costs[OP_COST_BUDGET] = 5000;
	l.costs[OP_COST_DIVISOR] = 4;
	l.costs[OP_COST_RATE] = 1000;
	assert_int_equal(op_ledger_write(&l, "ledger", NULL, NULL), 0);
	assert_non_null(strstr(text_of("ledger"), "cost.spread = 150\n"
						  "cost.budget = 5000\n"));
	assert_int_equal(op_ledger_read(&back, "ledger", NULL), 0);
	assert_memory_equal(&l, &back, sizeof(l));
	assert_true(op_ledger_cost_ns(&l) == 1.08e9);
	assert_true(op_ledger_cost(&l) > 0.00899 &&
		    op_ledger_cost(&l) < 0.00901);
	assert_true(op_ledger_grain(&l) == 2.5);
	op_ledger_print_lowered(out, l.costs);
	fclose(out);
	assert_string_equal(
		text,
		"to 250/s for 12 s of 60 s to stay within 0.5 % of each CPU");
	back.costs[OP_COST_DIVISOR] = 2;
	back.costs[OP_COST_BUDGET] = 10000;
	assert_int_equal(op_ledger_merge(&sum, &l), 0);
	assert_int_equal(op_ledger_merge(&sum, &back), 0);
	assert_int_equal(sum.costs[OP_COST_HANDLER], 1200000000);
	assert_int_equal(sum.costs[OP_COST_SPREAD], 300);
	assert_int_equal(sum.costs[OP_COST_BUDGET], 10000);
	assert_int_equal(sum.costs[OP_COST_DIVISOR], 4);
	assert_int_equal(sum.costs[OP_COST_RATE], 1000);
}

static struct op_ledger_event times_of(const char *name, uint64_t enabled,
				       uint64_t running)
{
	struct op_ledger_event event = { .count = 100000,
					 .unit_mask = 15,
					 .enabled = enabled,
					 .running = running };

	snprintf(event.name, sizeof(event.name), "%s", name);
	return event;
}

/* Of samples that count for their periods. */
FOLDER_TEST(test_periods)
{
	struct op_ledger l = example(), back, sum = { 0 };
	struct op_ledger_event cycles = times_of("CYCLES", 0, 0);

	cycles.periods = 3;
	cycles.sum_of_periods = 3000;
	cycles.squares_of_periods = 4000;
	assert_int_equal(op_ledger_time_event(&l, &cycles), 0);
	assert_int_equal(op_ledger_write(&l, "ledger", NULL, NULL), 0);
	assert_non_null(strstr(text_of("ledger"),
			       "periods.CYCLES:100000:15 = 3 samples of 3000 "
			       "events, 4000 squares\n"));
	assert_null(strstr(text_of("ledger"), "counted."));
	assert_int_equal(op_ledger_read(&back, "ledger", NULL), 0);
	assert_memory_equal(&l, &back, sizeof(l));
	/* Beside times, in lines of their own. */
	cycles = times_of("CYCLES", 200, 100);
	assert_int_equal(op_ledger_time_event(&l, &cycles), 0);
	assert_int_equal(op_ledger_write(&l, "ledger", NULL, NULL), 0);
	assert_int_equal(op_ledger_read(&back, "ledger", NULL), 0);
	assert_memory_equal(&l, &back, sizeof(l));
	assert_int_equal(op_ledger_merge(&sum, &back), 0);
	assert_int_equal(op_ledger_merge(&sum, &back), 0);
	assert_int_equal(sum.nr_events, 1);
	assert_int_equal(sum.events[0].enabled, 400);
	assert_int_equal(sum.events[0].periods, 6);
	assert_int_equal(sum.events[0].sum_of_periods, 6000);
	assert_int_equal(sum.events[0].squares_of_periods, 8000);
}

FOLDER_TEST(test_event_times)
{
	struct op_ledger l = example(), back, sum = { 0 };
	struct op_ledger_event cycles = times_of("CYCLES", 200, 100),
			       other = cycles, bad;

	other.unit_mask = 1;
	cycles.samples = 10;
	cycles.turns = 5;
	assert_int_equal(op_ledger_time_event(&l, &cycles), 0);
	assert_int_equal(op_ledger_time_event(&l, &cycles), 0);
	assert_int_equal(op_ledger_time_event(&l, &other), 0);
	assert_int_equal(l.nr_events, 2);
	assert_int_equal(l.events[0].enabled, 400);
	assert_int_equal(l.events[0].running, 200);
	assert_int_equal(op_ledger_write(&l, "ledger", NULL, NULL), 0);
	assert_non_null(strstr(text_of("ledger"),
			       "counted.CYCLES:100000:15 = 200 of 400 ns, "
			       "20 samples in 10 turns\n"
			       "counted.CYCLES:100000:1 = 100 of 200 ns\n"));
	assert_int_equal(op_ledger_read(&back, "ledger", NULL), 0);
	assert_memory_equal(&l, &back, sizeof(l));
	assert_int_equal(op_ledger_merge(&sum, &back), 0);
	assert_int_equal(op_ledger_merge(&sum, &back), 0);
	assert_int_equal(sum.nr_events, 2);
	assert_int_equal(sum.events[0].enabled, 800);
	bad = times_of("CYCLES", 1, 2);
	assert_int_equal(op_ledger_time_event(&l, &bad), -EINVAL);
	bad = times_of("a=b", 1, 1);
	assert_int_equal(op_ledger_time_event(&l, &bad), -EINVAL);
	bad = times_of("", 1, 1);
	assert_int_equal(op_ledger_time_event(&l, &bad), -EINVAL);
	for (unsigned int i = 2; i < OP_LEDGER_MAX_EVENTS; i++) {
		other.unit_mask = 1000 + i;
		assert_int_equal(op_ledger_time_event(&l, &other), 0);
	}
	other.unit_mask = UINT64_MAX;
	assert_int_equal(op_ledger_time_event(&l, &other), -ENOSPC);
	assert_int_equal(op_ledger_time_event(&l, &cycles), 0);
	assert_int_equal(op_ledger_merge(&sum, &l), 0);
	other.enabled = other.running = UINT64_MAX;
	other.unit_mask = 1;
	assert_int_equal(op_ledger_time_event(&l, &other), 0);
	assert_true(l.events[1].running == UINT64_MAX);
}

FOLDER_TEST(test_full_ledger_round_trip)
{
	struct op_ledger l = example(), back;

	fill_causes(&l, 2, OP_LEDGER_MAX_CAUSES);
	l.taken = l.causes[5].nr = UINT64_MAX;
	assert_int_equal(op_ledger_write(&l, "ledger", NULL, NULL), 0);
	assert_int_equal(op_ledger_read(&back, "ledger", NULL), 0);
	assert_memory_equal(&l, &back, sizeof(l));
}

FOLDER_TEST(test_write_failures)
{
	struct op_ledger l = example();
	struct op_diag diag = { "" };

	assert_int_equal(op_ledger_write(&l, "no/where", NULL, &diag), -ENOENT);
	assert_reason(&diag, "no/where: cannot write");
	diag.text[0] = '\0';
	strcpy(l.source, "two\nlines");
	assert_int_equal(op_ledger_write(&l, "ledger", NULL, &diag), -EINVAL);
	assert_reason(&diag, "ledger: ");
	l.source[0] = '\0';
	assert_int_equal(op_ledger_write(&l, "ledger", NULL, NULL), -EINVAL);
	assert_int_equal(nr_files(), 0);
}

static void refuse(const char *text, int err, const char *reason)
{
	struct op_ledger l;
	struct op_diag diag = { "" };

	write_text("ledger", text);
	assert_int_equal(op_ledger_read(&l, "ledger", &diag), err);
	assert_reason(&diag, "ledger");
	assert_reason(&diag, reason);
}

#define HEAD "source = s\ntaken = 1\nstored = 1\npending = 0\n"

FOLDER_TEST(test_broken_files)
{
	struct op_ledger l;
	struct op_diag diag = { "" };

	assert_int_equal(op_ledger_read(&l, "absent", &diag), -ENOENT);
	assert_string_equal(diag.text, "");
	refuse("", -EINVAL, "source");
	refuse("source =\n", -EINVAL, "source");
	refuse(HEAD "source = a name of very many too many bytes\n", -EINVAL,
	       "source");
	refuse("source = s\nstored = 1\npending = 0\n", -EINVAL, "taken");
	refuse("source = s\ntaken = 1\npending = 0\n", -EINVAL, "stored");
	refuse("source = s\ntaken = 1\nstored = 1\n", -EINVAL, "pending");
	refuse("source = s\ntaken = -1\n", -EINVAL, ":2: taken: \"-1\"");
	refuse("source = s\ntaken = 18446744073709551616\n", -ERANGE, "taken");
	refuse(HEAD "lost.a = x\n", -EINVAL, "lost.a: \"x\"");
	refuse(HEAD "lost.a =\n", -EINVAL, "lost.a: \"\"");
	refuse(HEAD "lost. = 1\n", -EINVAL, "\"\" cannot be a cause");
	refuse(HEAD "lost.A b = 1\n", -EINVAL, "\"A b\" cannot be a cause");
	refuse(HEAD "stacks.whole = x\n", -EINVAL, "stacks.whole");
	refuse(HEAD "counted.A:1:0 = 3 of 2 ns\n", -EINVAL,
	       "counted.A:1:0: \"3 of 2 ns\" are not the times");
	refuse(HEAD "counted.A:1:0 = 1 of 2\n", -EINVAL, "counted.A:1:0");
	refuse(HEAD "periods.A:1:0 = 1 samples of 2 events\n", -EINVAL,
	       "periods.A:1:0: \"1 samples of 2 events\" are not the periods");
	refuse(HEAD "periods.A:1:0 = 1 samples of 2 events, 3 squares!\n",
	       -EINVAL, "periods.A:1:0");
	refuse(HEAD "periods.A:1 = 1 samples of 2 events, 3 squares\n", -EINVAL,
	       "periods.A:1");
	refuse(HEAD "counted.A:1:0 = 1 ns of 2\n", -EINVAL, "counted.A:1:0");
	refuse(HEAD "counted.A:1:0 = 1 of x ns\n", -EINVAL, "counted.A:1:0");
	refuse(HEAD "counted.A:1:0 = 1 of 2 ns, 3 samples\n", -EINVAL,
	       "counted.A:1:0");
	refuse(HEAD "counted.A:1:0 = 1 of 2 ns, 3 samples in 4 turns x\n",
	       -EINVAL, "counted.A:1:0");
	refuse(HEAD "counted.A:1:0 = 99999999999999999999 of 2 ns\n", -EINVAL,
	       "counted.A:1:0");
	refuse(HEAD "counted.A:1 = 1 of 2 ns\n", -EINVAL, "counted.A:1");
	refuse(HEAD "counted.:1:0 = 1 of 2 ns\n", -EINVAL, "counted.:1:0");
	refuse(HEAD "garbage\n", -EINVAL, ":5: ");
}

FOLDER_TEST(test_other_keys_and_repeats)
{
	struct op_ledger l;

	write_text("ledger", HEAD "new.key = 7\nlost.a = 1\nlost.a = 2\n");
	assert_int_equal(op_ledger_read(&l, "ledger", NULL), 0);
	assert_int_equal(l.nr_causes, 1);
	assert_int_equal(op_ledger_lost(&l), 3);
}

FOLDER_TEST(test_file_of_many_causes)
{
	char text[8192] = HEAD;

	for (int i = 0; i <= OP_LEDGER_MAX_CAUSES; i++)
		sprintf(text + strlen(text), "lost.c%d = 1\n", i);
	refuse(text, -ENOSPC, "more than 64 causes");
}
