// SPDX-License-Identifier: GPL-2.0-or-later
/* Which events are opened, what is asked of them, and what becomes of them. */

#include <linux/magic.h>
#include <pthread.h>

#include "daemon/source/opd_cpu_list.h"
#include "daemon/source/perf/opd_perf_attr.h"
#include "daemon/source/perf/opd_perf_events.h"
#include "daemon/source/perf/opd_perf_record.h"
#include "tests/unit/rows.h"

#include "tests/unit/daemon/source/perf_kernel.h"

struct rig {
	struct opd_perf_events all;
	struct opd_perf_target target;
	struct opd_events counters;
	struct op_diag diag;
	pthread_t thread;
	int started, end; /* of it, eventfds; 0: there is none */
};

/* Fill @rig with the target @target, "SELF" being this process. */
static void set_target(struct rig *rig, const char *target)
{
	struct op_diag diag = { "" };
	char text[128] = "";
	size_t len = 0;

	for (; target && *target; target++) {
		bool self = !strncmp(target, "SELF", 4);

		if (self)
			target += 3;
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					self ? "%d" : "%c",
					self ? (int)getpid() : *target);
	}
	if (opd_perf_target_parse(&rig->target, text, &diag))
		fail_msg("%s", diag.text);
}

static void set_events(struct rig *rig, const char *text)
{
	struct op_diag diag = { "" };
	bool weights = rig->counters.weights;

	if (opd_events_parse(&rig->counters, text, &diag))
		fail_msg("%s", diag.text);
	rig->counters.weights = weights;
}

/* ---- what is asked ----------------------------------------------------------
 */

/* clang-format off */
#define FLAGS(X)                                                              \
	X(disabled) X(inherit) X(exclude_user) X(exclude_kernel)              \
	X(exclude_hv) X(exclude_idle) X(exclude_guest) X(mmap) X(mmap2)       \
	X(comm) X(comm_exec) X(task) X(ksymbol) X(build_id) X(watermark)      \
	X(sample_id_all) X(use_clockid) X(enable_on_exec)                     \
	X(exclude_callchain_user) X(exclude_callchain_kernel)                 \
	X(context_switch) X(freq)

#define NUMBERS(X)                                                            \
	X(type) X(config) X(config1) X(sample_period) X(sample_type)          \
	X(read_format) X(precise_ip) X(wakeup_watermark) X(clockid)           \
	X(sample_max_stack) X(sample_regs_user) X(sample_stack_user)
/* clang-format on */

static void show_attr(FILE *out, const char *name,
		      const struct perf_event_attr *attr)
{
	fputs(name, out);
	assert_int_equal(attr->size, sizeof(*attr));
#define X(field)                                                               \
	if (attr->field && strcmp(#field, "sample_regs_user") != 0)            \
		fprintf(out, " " #field "=%llu",                               \
			(unsigned long long)attr->field);
	NUMBERS(X);
#undef X
	fputs("\n ", out);
#define X(field)                                                               \
	if (attr->field)                                                       \
		fputs(" " #field, out);
	FLAGS(X);
#undef X
	fputc('\n', out);
}

static void show_attrs(struct rig *rig, FILE *out)
{
	struct perf_event_attr attr;

	opd_perf_side_attr(&rig->all, &attr);
	show_attr(out, "side", &attr);
	for (unsigned int i = 0; i < rig->counters.nr; i++) {
		if (!rig->counters.counter[i].set)
			continue;
		opd_perf_sample_attr(&rig->all, &attr,
				     &rig->counters.counter[i]);
		show_attr(out, rig->counters.counter[i].name, &attr);
		assert_int_equal(attr.sample_regs_user != 0,
				 rig->target.depth != 0);
	}
}

/* ---- what happens -----------------------------------------------------------
 */

static void show_all(const struct rig *rig, FILE *out)
{
	const struct opd_perf_events *all = &rig->all;
	struct opd_perf_times times;
	uint64_t lost;

	fprintf(out, "samples %zu KiB, side band %zu KiB, type 0x%lx",
		all->sample_size >> 10, all->side_size >> 10,
		(unsigned long)all->sample_type);
	if (all->stack)
		fprintf(out, ", stack %u, kernel %u", all->stack,
			all->kernel_depth);
	for (size_t i = 0; i < all->nr_ids; i++)
		fprintf(out, "%s%lu=%u", i ? " " : ", ids ",
			(unsigned long)all->ids[i].id, all->ids[i].counter);
	if (opd_perf_events_lost(all, &lost))
		fprintf(out, ", lost %lu", (unsigned long)lost);
	for (uint32_t i = 0; i < all->counters->nr; i++)
		if (opd_perf_events_times(all, i, &times) && times.enabled)
			fprintf(out, ", counter %u: %lu of %lu", i,
				(unsigned long)times.running,
				(unsigned long)times.enabled);
	for (unsigned int i = 0; i < all->nr_cpus && all->nr_cpus < 9; i++)
		if (!all->cpus[i].samples.meta || !all->cpus[i].side.meta)
			fprintf(out, ", none on %u", all->cpus[i].cpu);
	fputc('\n', out);
}

static void show_result(FILE *out, const char *what, int result)
{
	fprintf(out, "\n%s: ", what);
	if (result < 0)
		fprintf(out, "%s\n", strerrorname_np(-result));
	else
		fprintf(out, "%d\n", result);
}

/* Until the rig is released. */
static void *sleep_in_thread(void *arg)
{
	struct rig *rig = arg;
	eventfd_t value;

	kernel.no_task = (pid_t)syscall(SYS_gettid);
	assert_int_equal(eventfd_write(rig->started, 1), 0);
	eventfd_read(rig->end, &value);
	return NULL;
}

static void start_thread(struct rig *rig)
{
	eventfd_t value;

	rig->started = eventfd(0, EFD_CLOEXEC);
	rig->end = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(
		pthread_create(&rig->thread, NULL, sleep_in_thread, rig), 0);
	assert_int_equal(eventfd_read(rig->started, &value), 0);
}

static void end_thread(struct rig *rig)
{
	if (!rig->end)
		return;
	assert_int_equal(eventfd_write(rig->end, 1), 0);
	assert_int_equal(pthread_join(rig->thread, NULL), 0);
	close(rig->started);
	close(rig->end);
}

/* Each CPU had @nr samples of switches until @ms. */
static void pace_all(struct rig *rig, int nr, int ms)
{
	for (unsigned int i = 0; i < rig->all.nr_cpus; i++)
		rig->all.cpus[i].nr_switches = (uint64_t)nr;
	opd_perf_events_pace(&rig->all, (uint64_t)ms * 1000000);
}

/*
 * open, replug, enable, disable, close: do it, tell what the kernel was asked;
 * reason: why it was not opened; self-ends: this process has ended;
 * show, attrs: what is known, what would be asked;
 * events LIST, weights, by-cpu: before open; of the kernel:
 * possible CPUS, online CPUS, lockable KIB, refuse N ERRNO,
 * old (no build-ids), older (no lost samples), vague (nothing precise),
 * thread: this process has another one, which is gone when it is opened;
 * cgroups VERSION: all folders are of these; no-cpu CPU, dead-cpu CPU, no-task
 * TASK, lost N (of every event), times RUNNING ENABLED (likewise);
 * pace N MS: N samples of switches were read of each CPU until MS
 */
static void do_line(struct rig *rig, const char *line, FILE *out)
{
	char verb[16], text[128] = "";
	int nr[2] = { 0 };

	sscanf(line, "%15s %127s", verb, text);
	sscanf(text, "%d", &nr[0]);
	if (!strcmp(verb, "open"))
		show_result(out, verb,
			    opd_perf_events_open(&rig->all, &rig->target,
						 &rig->counters, &rig->diag));
	else if (!strcmp(verb, "replug"))
		show_result(out, verb,
			    opd_perf_events_replug(&rig->all, &rig->diag));
	else if (!strcmp(verb, "enable") || !strcmp(verb, "disable"))
		show_result(out, verb,
			    opd_perf_events_enable(&rig->all, *verb == 'e'));
	else if (!strcmp(verb, "show"))
		show_all(rig, out);
	else if (!strcmp(verb, "attrs"))
		show_attrs(rig, out);
	else if (!strcmp(verb, "events"))
		set_events(rig, text);
	else if (!strcmp(verb, "by-cpu"))
		rig->target.by_cpu = true;
	else if (!strcmp(verb, "weights"))
		rig->counters.weights = true;
	else if (!strcmp(verb, "possible"))
		snprintf(kernel.possible, sizeof(kernel.possible), "%s\n",
			 text);
	else if (!strcmp(verb, "online"))
		snprintf(kernel.online, sizeof(kernel.online), "%s\n", text);
	else if (!strcmp(verb, "lockable"))
		kernel.lockable = nr[0];
	else if (!strcmp(verb, "refuse"))
		sscanf(line, "%*s %d %d", &kernel.nr_refused, &kernel.refusal);
	else if (!strcmp(verb, "old"))
		kernel.no_build_ids = true;
	else if (!strcmp(verb, "older"))
		kernel.no_lost = true;
	else if (!strcmp(verb, "vague"))
		kernel.no_precise = true;
	else if (!strcmp(verb, "no-cpu"))
		kernel.no_cpu = nr[0];
	else if (!strcmp(verb, "dead-cpu"))
		kernel.dead_cpu = nr[0];
	else if (!strcmp(verb, "no-task"))
		kernel.no_task = nr[0];
	else if (!strcmp(verb, "reason"))
		fprintf(out, "%s\n", rig->diag.text);
	else if (!strcmp(verb, "self-ends"))
		kernel.no_task = getpid();
	else if (!strcmp(verb, "thread"))
		start_thread(rig);
	else if (!strcmp(verb, "cgroups"))
		kernel.fs_type =
			nr[0] == 1 ? CGROUP_SUPER_MAGIC : CGROUP2_SUPER_MAGIC;
	else if (!strcmp(verb, "lost"))
		for (int i = 0; i < kernel.nr; i++)
			kernel.events[i].lost = (uint64_t)nr[0];
	else if (!strcmp(verb, "times")) {
		sscanf(line, "%*s %d %d", &nr[0], &nr[1]);
		for (int i = 0; i < kernel.nr; i++) {
			kernel.events[i].running = (uint64_t)nr[0];
			kernel.events[i].enabled = (uint64_t)nr[1];
		}
	} else if (!strcmp(verb, "pace")) {
		sscanf(line, "%*s %d %d", &nr[0], &nr[1]);
		pace_all(rig, nr[0], nr[1]);
		fputc('\n', out);
	} else
		fail_msg("%s: no such verb", verb);
}

/* Open descriptors of this program. */
static int count_open(void)
{
	int nr = 0;

	for (int fd = 0; fd < 1024; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* @row->given is the target. */
static void run_events(const struct row *row, FILE *out)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	int nr;
	const char *at = row->script;
	char line[256];

	assert_non_null(rig);
	nr = count_open();
	set_target(rig, row->given);
	set_events(rig, NULL);
	kernel_reset(out);
	while (next_line(&at, line, sizeof(line)))
		do_line(rig, line, out);
	fputs("close:", out);
	opd_perf_events_close(&rig->all);
	fputc('\n', out);
	for (int i = 0; i < kernel.nr; i++)
		assert_int_equal(kernel.events[i].fd, -1);
	kernel.told = NULL;
	end_thread(rig);
	opd_perf_target_release(&rig->target);
	assert_int_equal(count_open(), nr);
	free(rig);
}

#define TWO "events A:118:0:100000:1:1:0,cpu-cycles:0:2:5000:0:0:1;"

/* clang-format off */
#define WAITS "events TIMER:0:0:0:0:1:1,THREAD_WAIT:0:1:1000:3:1:1,THREAD_WAIT:0:2:1000:4:1:1;"
static const struct row rows[] = {
	{ "the_clock_on_all_cpus", NULL,
	  "open; show; enable; disable", EXPECTED_ROW },
	/* All samples of a CPU go to one ring, each with its
	   event's id. */
	{ "two_events", NULL, TWO "open; show; enable", EXPECTED_ROW },
	/* A sample without an id would be of counter 0. */
	{ "one_event_of_another_counter", NULL,
	  "events A:118:1:100000:1:1:0; open; show", EXPECTED_ROW },
	/* Of all CPUs, also of one that has gone since. */
	{ "events_that_share_counters", NULL,
	  TWO "open; times 3 10; lost 1; show; online 0; replug; times 4 12; show", EXPECTED_ROW },
	/* A thread's events are enabled on each CPU while it runs on one. */
	{ "a_process_with_events", "pid=SELF",
	  TWO "older; open; times 3 10; show", EXPECTED_ROW },
	/* A third ring on each CPU, for all events of waits. */
	{ "waits_on_all_cpus", "callgraph=20",
	  WAITS "open; show; attrs; lost 4; show; enable",
	  EXPECTED("waits-on-all-cpus") },
	{ "waits_of_a_process", "pid=SELF", WAITS "open; attrs",
	  EXPECTED("waits-of-a-process") },
	/* A second's samples at once are nothing, more are too many. */
	{ "switches_are_paced", "rate=100",
	  WAITS "online 0; open; pace 0 1000; pace 90 1050; pace 90 1100; pace 90 1110; pace 90 1150; pace 5 1200; pace 5 2500",
	  EXPECTED("switches-are-paced") },
	{ "clock_without_times", NULL, "open; times 3 10; show", EXPECTED_ROW },
	/* One event that is not the first needs an id, too. */
	{ "the_second_counter", NULL,
	  "events A:118:1:100000:1:1:0; open; show", EXPECTED_ROW },
	{ "a_program_to_be_started", "exec=SELF",
	  "open; show; attrs; replug",
	  EXPECTED("a-program-to-be-started") },
	{ "a_process", "pid=SELF", "open; show; attrs; replug",
	  EXPECTED("a-process") },
	{ "a_process_that_is_not", "pid=2147483647", "open", EXPECTED_ROW },
	{ "a_program_that_is_not", "exec=2147483647",
	  "no-task 2147483647; open", EXPECTED_ROW },
	{ "two_processes", "pid=SELF,pid=SELF",
	  "online 1; open; show", EXPECTED_ROW },
	{ "a_program_among_all_that_runs", "exec=SELF",
	  "by-cpu; open; attrs; online 0; replug", EXPECTED_ROW },
	{ "a_cgroup_that_is_not_there", "cgroup=/nonexistent", "open", EXPECTED_ROW },
	{ "a_thread_that_ends", "pid=SELF", "online 0; thread; open", EXPECTED_ROW },
	{ "a_process_that_ends", "pid=SELF", "online 0; self-ends; open", EXPECTED_ROW },
	/* Samples are of the cgroup, side band is of all. */
	{ "a_cgroup", "cgroup=/tmp", "cgroups 2; open; replug", EXPECTED_ROW },
	{ "a_cgroup_of_the_first_version", "cgroup=tmp",
	  "cgroups 1; online 1; open", EXPECTED_ROW },
	{ "a_cgroup_that_cannot_be_sampled", "cgroup=/tmp",
	  "cgroups 2; refuse 4 22; open; reason", EXPECTED_ROW },
	{ "a_cgroup_of_another_hierarchy", "cgroup=/tmp",
	  "cgroups 2; refuse 4 9; open; reason", EXPECTED_ROW },
	{ "side_band_that_is_refused", "cgroup=/tmp",
	  "cgroups 2; refuse 3 22; open; reason", EXPECTED_ROW },
	/* A folder, but not of a cgroup. */
	{ "a_cgroup_that_is_none", "cgroup=/proc", "open", EXPECTED_ROW },
	/* ---- CPUs ---- */
	{ "cpus_with_gaps", NULL,
	  "possible 0-2,64,65; online 0,2,64; open; show", EXPECTED_ROW },
	{ "a_list_that_makes_no_sense", NULL,
	  "possible 0-x; open", EXPECTED_ROW },
	{ "another_list_that_makes_no_sense", NULL,
	  "online 1-0; open", EXPECTED_ROW },
	{ "a_cpu_that_goes_while_it_is_opened", NULL,
	  "no-cpu 0; open; show", EXPECTED_ROW },
	{ "a_cpu_goes_and_comes", NULL,
	  "open; lost 3; show; replug; online 0; lost 4; replug; show; lost 5;"
	  "show; replug; online 0-1; replug; show; replug",
	  EXPECTED("a-cpu-goes-and-comes") },
	/* Between two looks; after the second look its time
	   stands still. */
	{ "a_cpu_goes_and_comes_unseen", NULL,
	  TWO
	  "open; replug; dead-cpu 1; replug; show; dead-cpu -1; replug",
	  EXPECTED("a-cpu-goes-and-comes-unseen") },
	{ "a_cpu_goes_while_it_is_opened_again", NULL,
	  "online 0; open; online 0-1; no-cpu 1; replug; show; no-cpu -1;"
	  "replug; show", EXPECTED_ROW },
	{ "a_cpu_is_refused_later", NULL,
	  "online 0; open; online 0-1; refuse 1 24; replug; show; replug", EXPECTED_ROW },
	/* What was opened before the refusal must not count as
	   all. */
	{ "a_cpu_is_refused_later_in_part", NULL,
	  TWO
	  "online 0; open; online 0-1; refuse 3 24; replug; show; replug;"
	  "show", EXPECTED_ROW },
	{ "a_cpu_goes_later_in_part", NULL,
	  "online 0; open; online 0-1; refuse 2 19; replug; show; replug; show", EXPECTED_ROW },
	{ "cpus_cannot_be_listed_later", NULL,
	  "open; online x; replug", EXPECTED_ROW },
	/* ---- refusals ---- */
	/* The third is the first that matters: two ask what the
	   kernel can. */
	{ "side_band_is_refused", NULL, "refuse 3 24; open", EXPECTED_ROW },
	{ "the_clock_is_refused", NULL, "refuse 4 24; open", EXPECTED_ROW },
	{ "the_last_is_refused", NULL,
	  TWO "refuse 8 16; open; show", EXPECTED_ROW },
	{ "nothing_is_precise", NULL,
	  "vague; weights;" TWO "open", EXPECTED_ROW },
	{ "some_are_precise", NULL, "weights;" TWO "open", EXPECTED_ROW },
	{ "an_old_kernel", NULL, "old; open; attrs; show", EXPECTED_ROW },
	{ "an_older_kernel", NULL, "older; open; attrs; show", EXPECTED_ROW },
	/* ---- memory ---- */
	{ "enough_for_the_side_band_of_all", NULL, "lockable 4608; open; show", EXPECTED_ROW },
	{ "side_band_on_more_cpus", NULL, "possible 0-64; online 5; open; show", EXPECTED_ROW },
	{ "side_band_on_very_many_cpus", NULL,
	  "possible 0-4095; online 5; open; show", EXPECTED_ROW },
	{ "just_enough_memory", NULL,
	  "lockable 768; open; show", EXPECTED_ROW },
	{ "not_quite_enough_memory", NULL,
	  "lockable 767; open; show", EXPECTED_ROW },
	{ "little_memory", NULL, "lockable 100; open; show", EXPECTED_ROW },
	{ "too_little_memory", NULL, "lockable 23; open", EXPECTED_ROW },
	/* ---- stacks ---- */
	{ "stacks", "callgraph=20", "open; show; attrs", EXPECTED_ROW },
	{ "stacks_of_user_code", "callgraph=20",
	  "events A:118:0:100000:0:0:1; open; show; attrs", EXPECTED_ROW },
	{ "deeper_than_the_kernel_tells", "callgraph=500",
	  "open; show", EXPECTED_ROW },
	{ "stacks_of_this_length", "callgraph=20,stack=1003",
	  "lockable 40000; open; show; attrs", EXPECTED_ROW },
	{ "stacks_with_little_memory", "callgraph=20",
	  "lockable 1000; open; show", EXPECTED_ROW },
	{ "stacks_with_less_memory", "callgraph=20",
	  "lockable 300; open; show", EXPECTED_ROW },
	{ "stacks_with_too_little_memory", "callgraph=20",
	  "lockable 190; open", EXPECTED_ROW },
	{ "stacks_on_many_cpus", "callgraph=20",
	  "possible 0-63; online 5; open; show", EXPECTED_ROW },
	{ "stacks_on_more_cpus", "callgraph=20",
	  "possible 0-32; online 5; open; show", EXPECTED_ROW },
	{ "stacks_on_as_many_cpus", "callgraph=20",
	  "possible 0-31; online 5; open; show", EXPECTED_ROW },
	/* ---- what is asked ---- */
	{ "attributes_of_the_clock", "rate=100", "open; attrs", EXPECTED_ROW },
	{ "attributes_of_events", NULL, TWO "open; attrs", EXPECTED_ROW },
	{ "attributes_for_weights", NULL,
	  "weights; events A:118:0:9:0:1:1:205,B:118:1:9:0:1:1:461,"
	  "cpu-cycles:0:2:9:0:1:1; open; attrs",
	  EXPECTED("attributes-for-weights") },
};
/* clang-format on */

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_events);
}

/* ---- lists of CPUs ----------------------------------------------------------
 */

static void run_list(const struct row *row, FILE *out)
{
	struct opd_cpu_list *list = malloc(sizeof(*list));
	int err;

	assert_non_null(list);
	memset(list, 0xff, sizeof(*list));
	err = opd_cpu_list_parse(list, row->script);
	if (err == -EINVAL)
		fputs("bad", out);
	else
		for (uint32_t i = 0; i < OPD_MAX_CPUS + 64; i++)
			if (opd_cpu_list_has(list, i))
				fprintf(out, "%u ", i);
	free(list);
}

TEST(test_lists)
{
	static const struct row lists[] = {
		{ "one", NULL, "0\n", "0 " },
		{ "no newline", NULL, "7", "7 " },
		{ "ranges", NULL, "1-3,62-65,9\n", "1 2 3 9 62 63 64 65 " },
		{ "one of one", NULL, "5-5", "5 " },
		{ "the last", NULL, "65535", "65535 " },
		{ "beyond", NULL, "65536", "bad" },
		{ "up to beyond", NULL, "0-65536", "bad" },
		{ "backwards", NULL, "3-1", "bad" },
		{ "nothing", NULL, "", "bad" },
		{ "an end", NULL, "1,", "bad" },
		{ "no end", NULL, "1-", "bad" },
		{ "a sign", NULL, "-1", "bad" },
		{ "a blank", NULL, " 1", "bad" },
		{ "more behind it", NULL, "1 2", "bad" },
		{ "another line", NULL, "1\n2", "bad" },
		{ "a letter", NULL, "1-x", "bad" },
	};

	for (size_t i = 0; i < NR(lists); i++)
		check_row(&lists[i], run_list);
}

TEST(test_periods)
{
	assert_int_equal(opd_perf_period(1000), 1003000);
	assert_int_equal(opd_perf_period(1), 1003000000);
	assert_int_equal(opd_perf_period(3), 334333332);
}
