// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of a machine that is made up of files, and lists of them. */

#include "tests/unit/events_fixture.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "utils/event_list.c"
#include "utils/event_machine.c"
#include "utils/say.c"

static void make_folders(const char *path)
{
	char part[PATH_MAX];

	for (const char *at = path; at; at = strchr(at + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
		if (*part)
			mkdir(part, 0777);
	}
	mkdir(path, 0777);
}

static void make_pmu(const char *name, const char *type, bool has_cpus)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "fs" PMUS "/%s", name);
	make_folders(path);
	snprintf(path, sizeof(path), "fs" PMUS "/%s/type", name);
	write_text(path, type);
	snprintf(path, sizeof(path), "fs" PMUS "/%s/cpus", name);
	if (has_cpus)
		write_text(path, "0-3\n");
}

/* A machine without anything, of a vendor that no folder describes. */
static int make_machine(void **state)
{
	char root[PATH_MAX];

	enter_folder(state);
	make_folders("fs/proc");
	write_text("fs/proc/cpuinfo", "processor : 0\nvendor_id : Nobody\n");
	assert_non_null(realpath("fs", root));
	setenv("OPROFILE_FS", root, 1);
	setenv("OPROFILE_EVENTS_DIR", "events", 1);
	op_events_free(load_sample());
	return 0;
}

static int remove_machine(void **state)
{
	unsetenv("OPROFILE_FS");
	unsetenv("OPROFILE_EVENTS_DIR");
	return leave_folder(state);
}

#define MACHINE_TEST(name) TEST_WITH(name, make_machine, remove_machine)

/* The vendor becomes known. */
static void describe_cpu(void)
{
	make_file(CPU, "cpu",
		  "name = Test CPU\ncounters = 4\ndefault = CYCLES:1000\n"
		  "encoding = x86\nmanual = A book\nmatch = vendor Nobody\n");
}

/* ---- the machine --------------------------------------------------------- */

MACHINE_TEST(knows_the_kernels_events)
{
	struct event_machine machine;
	const struct op_events *kernel;
	const struct op_event *event;

	assert_int_equal(event_machine_init(&machine), 0);
	kernel = event_machine_kernel(&machine);
	event = op_events_find(kernel, "page-faults");
	assert_non_null(event);
	assert_true(event_is_kernels(event));
	assert_int_equal(event->code, PERF_COUNT_SW_PAGE_FAULTS);
	assert_int_equal(event->min_count, 1);
	/* The last one is no event of perf_events. */
	for (size_t i = 0; i < kernel->nr - 1; i++)
		assert_non_null(op_perf_event_find(kernel->event[i].name));
	assert_true(op_event_is_wait(&kernel->event[kernel->nr - 1]));
	event_machine_release(&machine);
}

MACHINE_TEST(reads_the_cpu_once)
{
	const struct op_events *cpu;
	struct event_machine machine;
	struct op_diag diag = { "" };

	assert_int_equal(event_machine_init(&machine), 0);
	assert_null(event_machine_cpu(&machine, &diag));
	assert_reason(&diag, "vendor Nobody) is not described in ");
	assert_null(strchr(diag.text, ';'));
	describe_cpu();
	diag.text[0] = '\0';
	assert_null(event_machine_cpu(&machine, &diag));
	assert_reason(&diag, "is not described in ");
	assert_null(event_machine_cpu(&machine, NULL));
	event_machine_release(&machine);

	assert_int_equal(event_machine_init(&machine), 0);
	cpu = event_machine_cpu(&machine, NULL);
	assert_non_null(cpu);
	assert_ptr_equal(event_machine_cpu(&machine, NULL), cpu);
	assert_false(event_is_kernels(op_events_find(cpu, "IBS_FETCH")));
	event_machine_release(&machine);
}

MACHINE_TEST(has_counters_where_the_module_has)
{
	struct event_machine machine;

	assert_int_equal(event_machine_init(&machine), 0);
	assert_false(event_machine_can_sample(&machine));
	make_folders("fs/0");
	assert_true(event_machine_can_sample(&machine));
	event_machine_release(&machine);
}

MACHINE_TEST(finds_pmus_of_cpus)
{
	struct event_machine machine;
	char types[96], name[32];

	assert_int_equal(event_machine_init(&machine), 0);
	assert_int_equal(event_machine_pmu_types(&machine, types, 96), 0);
	assert_string_equal(types, "");
	make_pmu("software", "1\n", false);
	make_pmu("cpu", "4\n", false);
	make_pmu("uncore_cbox_0", "12\n", false);
	assert_int_equal(event_machine_pmu_types(&machine, types, 96), 1);
	assert_string_equal(types, "4");
	make_pmu("armv8_cortex_a72", "10\n", true);
	make_pmu("armv8_cortex_a53", "9\n", true);
	make_pmu("broken", "x\n", true);
	assert_int_equal(event_machine_pmu_types(&machine, types, 96), 3);
	assert_string_equal(types, "4 9 10");
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "cpu_%d", i);
		make_pmu(name, "4294967295\n", true);
	}
	/* as many as the module takes */
	assert_int_equal(event_machine_pmu_types(&machine, types, 96), 8);
	assert_true(strlen(types) < 96);
	event_machine_release(&machine);
}

/* ---- lists --------------------------------------------------------------- */

MACHINE_TEST(resolves_lists)
{
	struct event_machine machine;
	struct event_list list;
	struct op_diag diag = { "" };
	char *text;

	describe_cpu();
	assert_int_equal(event_machine_init(&machine), 0);
	assert_int_equal(event_list_init(&list, &machine,
					 "MISSES:500,faults:2:0:0,default,"
					 "ISSUE:6,ISSUE:7:stalls:1:0,"
					 "MISSES:600:shared+4k",
					 &diag),
			 0);
	assert_int_equal(list.nr, 6);
	assert_string_equal(event_list_first(&list, true)->event->name,
			    "page-faults");
	assert_string_equal(event_list_first(&list, false)->event->name,
			    "MISSES");
	text = event_list_daemon_text(&list);
	assert_string_equal(text, "MISSES:65:0:500:31:1:1:0x1f41,"
				  "page-faults:2:1:2:0:0:1:0x2,"
				  "CYCLES:118:2:1000:0:1:1:0x76,"
				  "ISSUE:270:3:6:1:1:1:0x10000010e,"
				  "ISSUE:270:4:7:1:1:0:0x10180010e,"
				  "MISSES:65:5:600:18:1:1:0x1241");
	free(text);
	text = event_list_text(&list);
	assert_string_equal(text, "MISSES:500:31:1:1,page-faults:2:0:0:1,"
				  "CYCLES:1000:0:1:1,ISSUE:6:any:1:1,"
				  "ISSUE:7:stalls:1:0,"
				  "MISSES:600:shared+4k:1:1");
	event_list_release(&list);

	/* what is written out is understood, and the same */
	assert_int_equal(event_list_init(&list, &machine, text, &diag), 0);
	free(text);
	assert_int_equal(list.nr, 6);
	assert_int_equal(list.event[3].config, 0x10000010e);
	assert_int_equal(list.event[5].config, 0x1241);
	event_list_release(&list);
	event_machine_release(&machine);
}

MACHINE_TEST(refuses_bad_lists)
{
	static const struct {
		const char *text;
		const char *reason;
	} cases[] = {
		{ "",
		  "\"\": the name of an event is missing; ophelp lists them" },
		{ ":1", "\":1\": the name" },
		{ "CYCLES:1000,", "\"\": the name" },
		{ "CYCLE:1000", CPU " has no event of this name; similar: "
				    "CYCLES" },
		{ "cpu-clok:1000", "the kernel has no event of this name; "
				   "similar: cpu-clock" },
		{ "faults:1:1", "page-faults:1:1: unit mask 1 is not" },
		{ "cpu-clock:999", "below the minimum of cpu-clock, 1000" },
		{ "cycles:499", "below the minimum of cycles, 500" },
		{ "cpu_latency:1000000", "operf --latency counts it" },
		{ "IBS_FETCH:64", "not counted by a counter but by ibs_fetch" },
	};
	struct event_machine machine;
	struct event_list list;

	describe_cpu();
	assert_int_equal(event_machine_init(&machine), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct op_diag diag = { "" };

		assert_int_equal(event_list_init(&list, &machine, cases[i].text,
						 &diag),
				 -EINVAL);
		assert_reason(&diag, cases[i].reason);
		event_list_release(&list);
	}
	event_machine_release(&machine);
}

static int check(const char *text, bool *share, struct op_diag *diag)
{
	struct event_machine machine;
	struct event_list list;
	int err;

	diag->text[0] = '\0';
	assert_int_equal(event_machine_init(&machine), 0);
	assert_int_equal(event_list_init(&list, &machine, text, diag), 0);
	err = event_list_check(&list, &machine, share, diag);
	event_list_release(&list);
	event_machine_release(&machine);
	return err;
}

MACHINE_TEST(checks_what_goes_together)
{
	char many[1024] = "faults:1";
	struct op_diag diag;
	bool share;

	for (int i = 2; i < 33; i++)
		sprintf(many + strlen(many), ",faults:%d::%d:%d", i, i % 2,
			1 - i % 2);
	/* no CPU is needed for these */
	assert_int_equal(check("faults:1,cs:1,cycles:500", &share, &diag), 0);
	assert_int_equal(check("faults:5,page-faults:5", &share, &diag),
			 -EINVAL);
	assert_reason(&diag, "page-faults: given twice");
	strcat(many, ",cs:1");
	assert_int_equal(check(many, &share, &diag), -EINVAL);
	assert_reason(&diag, "33 events: at most 32");

	describe_cpu();
	assert_int_equal(
		check("MISSES:500,CYCLES:1000,faults:1", &share, &diag), 0);
	assert_false(share);
	assert_int_equal(
		check("faults:1,ISSUE:6,cs:1,ISSUE:7:fused", &share, &diag), 0);
	assert_true(share);
	assert_string_equal(diag.text, "");
}

MACHINE_TEST(leaves_out_the_kernel)
{
	struct event_machine machine;
	struct event_list list;
	struct op_diag diag = { "" };
	bool changed;

	assert_int_equal(event_machine_init(&machine), 0);
	assert_int_equal(event_list_init(&list, &machine, "faults:1:0:0:1,cs:1",
					 &diag),
			 0);
	assert_int_equal(event_list_leave_kernel(&list, &changed, &diag), 0);
	assert_true(changed);
	assert_int_equal(event_list_leave_kernel(&list, &changed, &diag), 0);
	assert_false(changed);
	list.event[1].user = false;
	assert_int_equal(event_list_leave_kernel(&list, &changed, &diag),
			 -EACCES);
	assert_reason(&diag, "context-switches: kernel code only");
	event_list_release(&list);
	event_machine_release(&machine);
}
