// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What perf_events tell of code that the kernel makes, by scripts:
 *
 *	made CPU START LEN NAME	CPU loads a function
 *	gone CPU START LEN NAME	and unloads it
 *	fill CPU HEX	it loads so many of the name "f"
 *	lost CPU	its ring was full
 *	garbage CPU	something that is no record
 *	cpus LIST	these are online from now on
 *	later	a second passes
 *	read	show all that there is
 */

#include <errno.h>

#include "daemon/source/opd_code_watch.h"
#include "libop/base/op_clock.h"
#include "perf_records.h"
#include "tests/unit/rows.h"

#include "perf_kernel.h"

static time_t seconds;

static time_t get_seconds(void)
{
	return seconds;
}

static void write_to_ring(int cpu, const void *bytes, size_t len)
{
	struct kernel_event *event = kernel_of(cpu, false);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct opd_perf_ring ring = {
		.meta = event->ring,
		.data = (unsigned char *)event->ring + page,
		.size = event->ring_len - page,
	};

	ring_write(&ring, bytes, len);
}

static void load_code(int cpu, uint64_t start, uint32_t len, bool gone,
		      const char *name)
{
	static struct record record;
	const struct record_who who = { 1, 1, 1, OPD_PERF_SIDE, 0 };

	record_ksymbol(&record, &who, start, len, gone, name);
	write_to_ring(cpu, record.at, record.len);
}

static void lose_records(int cpu)
{
	static struct record record;
	const struct record_who who = { 1, 1, 1, OPD_PERF_SIDE, 0 };

	record_begin(&record, PERF_RECORD_LOST, 0);
	record_u64(&record, 7);
	record_u64(&record, 5);
	record_end(&record, &who);
	write_to_ring(cpu, record.at, record.len);
}

static void read_all(struct opd_code_watch *watch, FILE *out)
{
	struct opd_new_code code;
	unsigned int nr = 0;
	int err;

	while ((err = opd_code_watch_next(watch, &code)) > 0)
		if (strcmp(code.name, "f"))
			fprintf(out, "%s %lx-%lx\n", code.name,
				(long)code.start, (long)code.end);
		else
			nr++;
	if (nr)
		fprintf(out, "%u of f\n", nr);
	if (err)
		fprintf(out, "%s\n", strerrorname_np(-err));
}

static void run_line(struct opd_code_watch *watch, const char *line, FILE *out)
{
	char verb[16], name[64] = "";
	unsigned long cpu = 0, start = 0, len = 0;

	if (!strncmp(line, "cpus ", 5)) {
		snprintf(kernel.online, sizeof(kernel.online), "%s\n",
			 line + 5);
		return;
	}
	assert_true(sscanf(line, "%15s %lu %lx %lx %63s", verb, &cpu, &start,
			   &len, name) > 0);
	if (!strcmp(verb, "made") || !strcmp(verb, "gone"))
		load_code((int)cpu, start, (uint32_t)len, *verb == 'g', name);
	else if (!strcmp(verb, "fill"))
		for (unsigned long i = 0; i < start; i++)
			load_code((int)cpu, i << 12, 16, false, "f");
	else if (!strcmp(verb, "lost"))
		lose_records((int)cpu);
	else if (!strcmp(verb, "garbage"))
		write_to_ring((int)cpu, "garbage.", 8);
	else if (!strcmp(verb, "later"))
		seconds++;
	else if (!strcmp(verb, "read"))
		read_all(watch, out);
	else
		fail_msg("%s", line);
}

/* @row->given: the CPUs at the beginning; "refused": no event can be opened. */
static void run_watch(const struct row *row, FILE *out)
{
	const struct op_clock clock = { .seconds = get_seconds };
	struct opd_code_watch *watch;
	char *told = NULL, line[128];
	const char *at = row->script;
	size_t len;
	int err;

	kernel_reset(open_memstream(&told, &len));
	assert_non_null(kernel.told);
	if (row->given && !strcmp(row->given, "refused")) {
		kernel.nr_refused = 2;
		kernel.refusal = EACCES;
	} else if (row->given) {
		snprintf(kernel.online, sizeof(kernel.online), "%s\n",
			 row->given);
	}
	err = opd_code_watch_new(&watch, &clock);
	if (err)
		fprintf(out, "%s\n", strerrorname_np(-err));
	assert_true(err ? !watch : !!watch);
	while (next_line(&at, line, sizeof(line)))
		run_line(watch, line, out);
	opd_code_watch_free(watch);
	assert_int_equal(fclose(kernel.told), 0);
	kernel.told = NULL;
	fprintf(out, "kernel:%s\n", told);
	free(told);
}

#define OPENED "kernel: side@0=0 map 0:64 side@1=1 map 1:64"
#define BOTH OPENED " -0 -1\n"

static const struct row rows[] = {
	{ "code_is_told_once_of_whichever_CPU", NULL,
	  "made 1 1000 100 b; made 0 2000 80 a; made 1 3000 1 c; read;"
	  "made 0 4000 10 d; read; read",
	  "a 2000-2080\nb 1000-1100\nc 3000-3001\nd 4000-4010\n" BOTH },
	{ "not_what_goes_or_has_no_length", NULL,
	  "gone 0 1000 100 a; made 0 1000 0 a; made 0 2000 1 b; read",
	  "b 2000-2001\n" BOTH },
	{ "only_CPUs_that_are_online", "1", "made 1 1000 100 b; read",
	  "b 1000-1100\nkernel: side@1=0 map 0:64 -0\n" },
	{ "records_that_the_end_of_the_ring_cuts", NULL,
	  "fill 0 384; read; fill 0 384; made 0 1000 10 a; read",
	  "900 of f\na 1000-1010\n900 of f\n" BOTH },
	{ "what_was_lost_is_said_once", NULL,
	  "made 0 1000 100 a; lost 0; made 0 2000 10 b; read; read",
	  "a 1000-1100\nb 2000-2010\nEOVERFLOW\n" BOTH },
	{ "garbage_too", NULL, "garbage 1; read; read; made 1 1000 100 a; read",
	  "EOVERFLOW\na 1000-1100\n" BOTH },
	{ "a_CPU_that_comes_is_seen_in_a_second", "0",
	  "cpus 0-1; read; later; read; made 1 1000 10 a; read", EXPECTED_ROW },
	{ "one_that_goes_as_well", NULL, "cpus 0; later; read; later; read",
	  "EOVERFLOW\n" OPENED " -0 -1 side@0=2 map 2:64 -2\n" },
	{ "without_events_there_is_none", "refused", "",
	  "EACCES\nkernel: side@0=0 map 0:64 side@1=EACCES -0\n" },
};

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_watch);
}
