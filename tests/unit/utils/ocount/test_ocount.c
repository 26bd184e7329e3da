// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Those parts of ocount whose results a machine without hardware counters
 * cannot show: shared counters, ratios; and its numbers and event names.
 */

#include "tests/unit/events_fixture.h"
#include "tests/unit/expect.h"

#include "utils/event_list.c"
#include "utils/event_machine.c"
#include "utils/say.c"
#include "utils/ocount/ocount_event.c"
#include "utils/ocount/ocount_number.c"
#include "utils/ocount/ocount_print.c"
#include "utils/ocount/ocount_result.c"

/* Stands in for the kernel: event 1 of target 1 cannot be counted. */
int ocount_counters_read(struct ocount_counters *counters, size_t event,
			 size_t target, struct ocount_reading *reading,
			 struct op_diag *diag)
{
	(void)counters;
	*reading = (struct ocount_reading){
		.value = 100 * (event + 1) + target,
		.enabled = 10,
		.running = 10,
	};
	if (event == 1 && target == 1)
		return op_diag_set(diag, -EIO, "no kernel");
	return 0;
}

/* ---- numbers ------------------------------------------------------------- */

TEST(parses_numbers)
{
	const char *end;
	uint64_t value;

	assert_int_equal(ocount_number_parse("12:3", &end, 10, 99, &value), 0);
	assert_int_equal(value, 12);
	assert_string_equal(end, ":3");
	assert_int_equal(ocount_number_parse("0xff", &end, 0, 255, &value), 0);
	assert_int_equal(value, 255);
	assert_int_equal(ocount_number_parse("ff", &end, 16, 255, &value), 0);
	assert_int_equal(value, 255);
}

TEST(refuses_what_is_no_number)
{
	static const char *const texts[] = {
		"",    " 1", "-1",
		"+1",  "x",  "a",
		"100", ":",  "99999999999999999999",
	};
	const char *end;
	uint64_t value;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(ocount_number_parse(texts[i], &end, 10, 99,
						     &value),
				 -EINVAL);
}

TEST(groups_digits)
{
	char buf[OCOUNT_NUMBER_MAX];

	assert_string_equal(ocount_number_group(buf, 0), "0");
	assert_string_equal(ocount_number_group(buf, 999), "999");
	assert_string_equal(ocount_number_group(buf, 1000), "1,000");
	assert_string_equal(ocount_number_group(buf, 123456), "123,456");
	assert_string_equal(ocount_number_group(buf, UINT64_MAX),
			    "18,446,744,073,709,551,615");
}

TEST(shortens_numbers)
{
	char buf[OCOUNT_NUMBER_MAX];

	assert_string_equal(ocount_number_unit(buf, 0), "0.000");
	assert_string_equal(ocount_number_unit(buf, 999.999), "999.999");
	assert_string_equal(ocount_number_unit(buf, 999.9999), "1.000 K");
	assert_string_equal(ocount_number_unit(buf, 1234567), "1.235 M");
	assert_string_equal(ocount_number_unit(buf, 5e15), "5000.000 T");
}

TEST(tells_durations)
{
	char buf[OCOUNT_NUMBER_MAX];

	assert_string_equal(ocount_number_time(buf, 1234567),
			    "1.23 milliseconds");
	assert_string_equal(ocount_number_time(buf, 1234567890),
			    "1.235 seconds");
	assert_string_equal(ocount_number_time(buf, 61500000000),
			    "1 minute 1.5 seconds");
	assert_string_equal(ocount_number_time(buf, 120000000000),
			    "2 minutes 0.0 seconds");
}

/* ---- events -------------------------------------------------------------- */

TEST(parses_events)
{
	struct ocount_events events;
	struct op_diag diag = { "" };
	const struct ocount_event *e;

	assert_int_equal(
		ocount_events_init(&events,
				   "cycles,r1c2:0x10,faults:0:0:1,cs:0:1:0,"
				   "LLC-loads:::0",
				   &diag),
		0);
	assert_int_equal(events.nr, 5);
	assert_false(events.is_fallback);
	e = &events.list[0];
	assert_string_equal(e->name, "cycles");
	assert_true(e->kernel && e->user && !e->modes_given);
	e = &events.list[1];
	assert_int_equal(e->type, PERF_TYPE_RAW);
	assert_int_equal(e->config, 0x1c2 | 0x10 << 8);
	e = &events.list[2];
	assert_string_equal(e->name, "faults:0:0:1");
	assert_true(!e->kernel && e->user && e->modes_given);
	e = &events.list[3];
	assert_true(e->kernel && !e->user && e->modes_given);
	e = &events.list[4];
	assert_int_equal(e->type, PERF_TYPE_HW_CACHE);
	assert_true(e->kernel && !e->user && e->modes_given);
	ocount_events_release(&events);
}

TEST(refuses_bad_events)
{
	static const struct {
		const char *text;
		const char *reason;
	} cases[] = {
		{ "",
		  "\"\": the name of an event is missing; ophelp lists them" },
		{ "cs,", "\"\": the name" },
		{ ":0", "\":0\": the name" },
		{ "cs:0:1:1:1", "\"1\": too many fields" },
		{ "foo", "foo: the kernel has no event" },
		{ "r", "r: the kernel has no event" },
		{ "r12g", "r12g: the kernel has no event" },
		{ "r11112222333344445", "has no event" },
		{ "cycles:1", "unit mask 1 is not possible" },
		{ "cycles:u", "unit mask u is no name" },
		{ "r1:0x100", "unit mask 0x100 is not possible" },
		{ "r1:0:2", "\"2\" for kernel" },
		{ "cycles:0:2", "\"2\" for kernel is neither 0 nor 1" },
		{ "cycles:0:1:x", "\"x\" for user is neither 0 nor 1" },
		{ "cycles:0:0:0", "neither" },
		{ "cs:0:0:1", "cs:0:0:1: it happens only in kernel mode" },
	};
	struct ocount_events events;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct op_diag diag = { "" };

		assert_int_equal(ocount_events_init(&events, cases[i].text,
						    &diag),
				 -EINVAL);
		assert_reason(&diag, cases[i].reason);
		ocount_events_release(&events);
	}
}

/* Those of a CPU by way of the environment, as the program finds them. */
FOLDER_TEST(parses_events_of_the_cpu)
{
	struct ocount_events events;
	struct op_diag diag = { "" };
	char fs[PATH_MAX];
	int err;

	op_events_free(load_sample());
	make_file(CPU, "cpu",
		  "name = Test CPU\ncounters = 4\ndefault = CYCLES:1000\n"
		  "encoding = x86\nmanual = A book\nmatch = vendor Nobody\n");
	assert_int_equal(mkdir("fs", 0777) || mkdir("fs/proc", 0777), 0);
	write_text("fs/proc/cpuinfo", "processor : 0\nvendor_id : Nobody\n");
	assert_non_null(realpath("fs", fs));
	setenv("OPROFILE_FS", fs, 1);
	setenv("OPROFILE_EVENTS_DIR", "events", 1);
	err = ocount_events_init(&events,
				 "CYCLES,MISSES:shared+owned:0,ISSUE:stalls,"
				 "faults",
				 &diag);
	assert_string_equal(diag.text, "");
	assert_int_equal(err, 0);
	assert_int_equal(events.list[0].type, PERF_TYPE_RAW);
	assert_int_equal(events.list[0].config, 0x76);
	assert_int_equal(events.list[1].config, 0xa41);
	assert_true(!events.list[1].kernel && events.list[1].modes_given);
	assert_int_equal(events.list[2].config, 0x10180010e);
	assert_int_equal(events.list[3].type, PERF_TYPE_SOFTWARE);
	ocount_events_release(&events);
	assert_int_equal(ocount_events_init(&events, "CYCLE", &diag), -EINVAL);
	assert_reason(&diag, "similar: CYCLES");
	ocount_events_release(&events);
	unsetenv("OPROFILE_FS");
	unsetenv("OPROFILE_EVENTS_DIR");
}

/* Events that are there; clang-tidy does not know that cmocka's asserts end. */
static void init_events(struct ocount_events *events, const char *text,
			struct op_diag *diag)
{
	assert_int_equal(ocount_events_init(events, text, diag), 0);
	if (!events->nr)
		abort();
}

TEST(default_event_can_be_counted)
{
	struct ocount_events events;
	struct op_diag diag = { "" };

	assert_int_equal(ocount_events_init(&events, NULL, &diag), 0);
	assert_int_equal(events.nr, 1);
	assert_string_equal(events.list[0].name,
			    op_perf_has_pmu() ? "cycles" : "cpu-clock");
	assert_int_equal(events.is_fallback, !op_perf_has_pmu());
	ocount_events_release(&events);
}

TEST(shows_modes)
{
	static const char *const cases[][2] = {
		{ "faults", "faults:0:0:1" },
		{ "faults:0", "faults:0:0:1" },
		{ "r1:2:", "r1:2:0:1" },
		{ "faults::", "faults::0:1" },
	};
	struct ocount_events events, again;
	struct op_diag diag = { "" };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ocount_event *e;

		assert_int_equal(
			ocount_events_init(&events, cases[i][0], &diag), 0);
		e = &events.list[0];
		e->kernel = false;
		assert_int_equal(ocount_event_show_modes(e), 0);
		assert_string_equal(e->name, cases[i][1]);
		assert_int_equal(ocount_events_init(&again, e->name, &diag), 0);
		assert_int_equal(again.list[0].config, e->config);
		assert_true(!again.list[0].kernel && again.list[0].user);
		ocount_events_release(&again);
		ocount_events_release(&events);
	}
}

/* ---- counts -------------------------------------------------------------- */

static struct ocount_count count_of_one(uint64_t value, uint64_t enabled,
					uint64_t running)
{
	struct ocount_count count = { .count = 0 };
	const struct ocount_reading reading = { value, enabled, running };

	ocount_count_add(&count, &reading);
	return count;
}

TEST(scales_what_shared)
{
	struct ocount_count count = count_of_one(300, 4000, 1000);

	assert_int_equal(count.count, 1200);
	assert_int_equal(ocount_count_state(&count), OCOUNT_SCALED);
	assert_true(ocount_count_percent(&count) == 25);
}

TEST(sums_after_scaling)
{
	struct ocount_count count = count_of_one(300, 4000, 1000);
	const struct ocount_reading other = { 50, 4000, 4000 };

	ocount_count_add(&count, &other);
	assert_int_equal(count.count, 1250);
	assert_int_equal(ocount_count_state(&count), OCOUNT_SCALED);
	assert_true(ocount_count_percent(&count) == 62.5);
}

TEST(tells_states_apart)
{
	struct ocount_count count = count_of_one(7, 1000000, 1000000);

	assert_int_equal(ocount_count_state(&count), OCOUNT_ACTUAL);
	count = count_of_one(7000000, 1000000, 999950); /* start and stop */
	assert_int_equal(ocount_count_state(&count), OCOUNT_ACTUAL);
	assert_int_equal(count.count, 7000000);
	count = count_of_one(0, 1000000, 0);
	assert_int_equal(ocount_count_state(&count), OCOUNT_NOT_COUNTED);
	count = count_of_one(0, 0, 0);
	assert_int_equal(ocount_count_state(&count), OCOUNT_NEVER_RAN);
	count.failed = true;
	assert_int_equal(ocount_count_state(&count), OCOUNT_NOT_COUNTED);
}

TEST(reads_into_groups)
{
	struct ocount_target list[3] = { { .pid = 1 } };
	struct ocount_targets targets = { .list = list, .nr = 3 };
	struct ocount_events events;
	struct ocount_counters counters = {
		.events = &events,
		.targets = &targets,
	};
	struct ocount_result result;
	struct op_diag diag = { "" };

	init_events(&events, "cs", &diag);
	assert_int_equal(ocount_result_init(&result, &counters, true, &diag),
			 0);
	for (int twice = 0; twice < 2; twice++)
		assert_int_equal(
			ocount_result_read(&result, &counters, 5, &diag), 0);
	assert_int_equal(ocount_result_get(&result, 0, 2)->count, 102);
	ocount_result_release(&result);
	assert_int_equal(ocount_result_init(&result, &counters, false, &diag),
			 0);
	assert_int_equal(ocount_result_read(&result, &counters, 5, &diag), 0);
	assert_int_equal(ocount_result_get(&result, 0, 0)->count, 303);
	assert_int_equal(ocount_result_get(&result, 0, 0)->running, 30);
	ocount_result_release(&result);
	ocount_events_release(&events);
}

TEST(passes_read_errors_on)
{
	struct ocount_target list[2] = { { .pid = 1 } };
	struct ocount_targets targets = { .list = list, .nr = 2 };
	struct ocount_events events;
	struct ocount_counters counters = {
		.events = &events,
		.targets = &targets,
	};
	struct ocount_result result;
	struct op_diag diag = { "" };

	init_events(&events, "cs,cs", &diag);
	assert_int_equal(ocount_result_init(&result, &counters, false, &diag),
			 0);
	assert_int_equal(ocount_result_read(&result, &counters, 5, &diag),
			 -EIO);
	assert_reason(&diag, "no kernel");
	ocount_result_release(&result);
	ocount_events_release(&events);
}

/* ---- text ---------------------------------------------------------------- */

struct printed {
	struct ocount_events events;
	struct ocount_target targets[2];
	struct ocount_targets list;
	struct ocount_count counts[6];
	struct ocount_result result;
	char *text;
};

static void print(struct printed *p, const struct ocount_style *style)
{
	size_t len;
	FILE *file = open_memstream(&p->text, &len);

	assert_non_null(file);
	ocount_print(file, style, &p->result);
	assert_int_equal(fclose(file), 0);
}

static void make(struct printed *p, const char *events, size_t nr_groups)
{
	struct op_diag diag = { "" };

	memset(p, 0, sizeof(*p));
	init_events(&p->events, events, &diag);
	p->targets[0] = (struct ocount_target){ .pid = -1, .cpu = 0 };
	p->targets[1] = (struct ocount_target){ .pid = -1, .cpu = 11 };
	p->list = (struct ocount_targets){ .list = p->targets, .nr = 2 };
	p->result = (struct ocount_result){
		.events = &p->events,
		.targets = &p->list,
		.nr_groups = nr_groups,
		.counts = p->counts,
		.ns = 2000000000,
	};
}

static void release(struct printed *p)
{
	ocount_events_release(&p->events);
	free(p->text);
}

TEST(prints_a_table)
{
	const struct ocount_style style = { .subject = "/bin/x" };
	struct printed p;

	make(&p, "cycles,instructions,branches,branch-misses,task-clock,cs", 1);
	p.counts[0] = count_of_one(2000000, 1000000000, 1000000000);
	p.counts[1] = count_of_one(3000000, 1000000000, 1000000000);
	p.counts[2] = count_of_one(100, 1000000000, 500000000);
	p.counts[3] = count_of_one(50, 1000000000, 1000000000);
	p.counts[4] = count_of_one(1000000000, 1000000000, 1000000000);
	p.counts[5].failed = true;
	print(&p, &style);
	expect_text(p.text, EXPECTED_ROW, "a table");
	release(&p);
}

TEST(prints_each_cpu)
{
	const struct ocount_style style = {
		.subject = "the whole system",
		.separate = true,
	};
	struct printed p;

	make(&p, "cs", 2);
	p.counts[0] = count_of_one(5, 1000000000, 1000000000);
	print(&p, &style);
	expect_text(p.text, EXPECTED_ROW, "each CPU");
	release(&p);
}

TEST(prints_in_brief)
{
	struct ocount_style style = { .brief = true };
	struct printed p;

	make(&p, "cycles,cs:0:1:1,faults", 2);
	p.counts[0] = count_of_one(1234567, 4, 4);
	p.counts[1] = count_of_one(10, 4, 1);
	p.counts[2] = count_of_one(0, 4, 0);
	p.counts[4].failed = p.counts[5].failed = true;
	style.separate = true;
	print(&p, &style);
	expect_text(p.text, EXPECTED_ROW, "in brief");
	release(&p);
}

TEST(prints_the_time_of_intervals)
{
	struct ocount_style style = { .brief = true, .intervals = true };
	struct printed p;
	long seconds, ms;

	make(&p, "cs", 1);
	print(&p, &style);
	assert_int_equal(sscanf(p.text, "timestamp,%ld.%3ld\ncs,0,0.00\n",
				&seconds, &ms),
			 2);
	assert_true(labs(time(NULL) - seconds) < 3600);
	release(&p);
}
