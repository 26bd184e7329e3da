// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From records of perf_events to samples: which process, which program, which
 * image, which offset; and on to sample files.
 */

#include "daemon/source/perf/opd_perf_proc.h"
#include "tests/unit/daemon/source/perf_rig.h"
#include "tests/unit/rows.h"

static void do_ksymbol(struct rig *rig, uint64_t addr, uint32_t len, bool gone,
		       const char *name)
{
	struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_KSYMBOL, 0);

	rec.ksymbol.addr = addr;
	rec.ksymbol.len = len;
	rec.ksymbol.gone = gone;
	rec.ksymbol.name = name;
	opd_perf_handle_side(&rig->table, &rec);
}

/* ---- what happens, in words -------------------------------------------------
 */

/* A record whose task is not PID alone. */
static void do_thread(struct rig *rig, uint32_t type, uint32_t pid,
		      uint32_t tid, uint64_t at)
{
	struct opd_perf_rec rec;

	if (type == PERF_RECORD_MMAP2) {
		rec = map_rec(rig, pid, at, 0x1000, 0, "/lib/of-thread.so");
		rec.tid = tid;
		opd_perf_handle_side(&rig->table, &rec);
		return;
	}
	rec = rec_of(rig, type, pid);
	rec.tid = tid;
	rec.misc = PERF_RECORD_MISC_USER;
	rec.sample.ip = at;
	assert_true(opd_writer_goes_on(rig->table.writer));
	opd_perf_handle_sample(&rig->table, &rec, 0, 5);
}

static void do_kernel_at(struct rig *rig, uint32_t pid, uint32_t tid,
			 uint32_t cpu, uint64_t ip)
{
	struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_SAMPLE, pid);

	rec.tid = tid;
	rec.misc = PERF_RECORD_MISC_KERNEL;
	rec.sample.ip = ip;
	assert_true(opd_writer_goes_on(rig->table.writer));
	opd_perf_handle_sample(&rig->table, &rec, cpu, 1);
}

static void do_data(struct rig *rig, uint32_t pid, uint64_t start, uint64_t len)
{
	struct opd_perf_rec rec = map_rec(rig, pid, start, len, 0, "/bin/data");

	rec.mmap.is_code = false;
	opd_perf_handle_side(&rig->table, &rec);
}

static void do_other(struct rig *rig, uint32_t type, uint32_t pid)
{
	struct opd_perf_rec rec = rec_of(rig, type, pid);

	opd_perf_handle_side(&rig->table, &rec);
}

/* Processes @first to @last come and go. */
static void do_dead(struct rig *rig, uint32_t first, uint32_t last)
{
	for (uint32_t pid = first; pid <= last; pid++) {
		do_exec(rig, pid);
		do_exit(rig, pid);
	}
}

/* /proc has process @pid, a child of @parent that has mapped /bin/in-proc. */
static void do_proc(struct rig *rig, uint32_t pid, uint32_t parent)
{
	char status[128];

	proc_add(rig, pid, "/bin/in-proc",
		 "10000-11000 r-xp 0 00:00 0 /bin/in-proc\n");
	snprintf(status, sizeof(status), "Name:\tx\nTgid:\t%u\nPPid:\t%u\n",
		 pid, parent);
	proc_set(rig, pid, "status", status);
}

static void do_choose(struct rig *rig, uint32_t pid)
{
	rig->table.only_chosen = true;
	assert_true(opd_perf_proc_choose(&rig->table, pid));
}

/* What the record that is @ahead behind this one will tell is looked at. */
static void do_soon(struct rig *rig, uint32_t pid, uint64_t ahead,
		    const char *map)
{
	uint64_t now = rig->now;
	struct opd_perf_rec rec;

	rig->now += (ahead - 1) * 1000;
	if (*map) {
		rec = map_rec(rig, pid, 0x10000, 0x1000, 0, map);
	} else {
		rec = rec_of(rig, PERF_RECORD_COMM, pid);
		rec.misc = PERF_RECORD_MISC_COMM_EXEC;
	}
	rig->now = now;
	opd_perf_handle_ahead(&rig->table, &rec);
}

/* A fork whose turn has not come. */
static void do_fork_soon(struct rig *rig, uint32_t parent, uint32_t pid)
{
	struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_FORK, pid);

	rec.task.parent = parent;
	opd_perf_handle_ahead(&rig->table, &rec);
}

/* The kernel can drop samples. */
static void do_filter(struct rig *rig)
{
	static struct op_perf_filter filter;

	filter.words = calloc(OP_PERF_FILTER_WORDS, sizeof(filter.words[0]));
	assert_non_null(filter.words);
	rig->table.filter = &filter;
}

/*
 * exec PID, name PID (no exec), switch PID, exit PID, fork PARENT PID,
 * dead FIRST LAST (come and go), map PID START LEN OFFSET NAME,
 * data PID START LEN (no code), user PID IP, mode PID IP MISC (of the record),
 * choose PID, choose-exec PID: only chosen processes count;
 * lose NR: so many records; proc PID PARENT: what /proc has;
 * filter: the kernel can drop samples; fork-soon PARENT PID: a fork will come;
 * soon PID NR [NAME]: the NR-th record from here will be its exec, or map NAME;
 * kernel PID TID CPU IP, thread-map PID TID START, thread-user PID TID IP;
 * all numbers but OFFSET and MISC as strtoull() reads them
 */
static void do_line(struct rig *rig, const char *line)
{
	unsigned long long v[4] = { 0 };
	const char *at = line + strcspn(line, " ");
	size_t len = (size_t)(at - line);
	char verb[16], *end;

	assert_true(len < sizeof(verb));
	memcpy(verb, line, len);
	verb[len] = '\0';
	for (int i = 0; i < 4; i++, at = end) {
		v[i] = strtoull(at, &end, 0);
		if (end == at)
			break;
	}
	if (!strcmp(verb, "exec"))
		do_exec(rig, (uint32_t)v[0]);
	else if (!strcmp(verb, "name"))
		do_other(rig, PERF_RECORD_COMM, (uint32_t)v[0]);
	else if (!strcmp(verb, "switch"))
		do_other(rig, PERF_RECORD_SWITCH, (uint32_t)v[0]);
	else if (!strcmp(verb, "exit"))
		do_exit(rig, (uint32_t)v[0]);
	else if (!strcmp(verb, "fork"))
		do_fork(rig, (uint32_t)v[0], (uint32_t)v[1]);
	else if (!strcmp(verb, "dead"))
		do_dead(rig, (uint32_t)v[0], (uint32_t)v[1]);
	else if (!strcmp(verb, "map"))
		do_map(rig, (uint32_t)v[0], v[1], v[2], v[3],
		       at + (*at == ' '));
	else if (!strcmp(verb, "data"))
		do_data(rig, (uint32_t)v[0], v[1], v[2]);
	else if (!strcmp(verb, "user"))
		do_sample(rig, (uint32_t)v[0], v[1]);
	else if (!strcmp(verb, "mode"))
		do_sample_as(rig, (uint32_t)v[0], v[1], (uint16_t)v[2]);
	else if (!strcmp(verb, "soon"))
		do_soon(rig, (uint32_t)v[0], v[1], at + (*at == ' '));
	else if (!strcmp(verb, "kernel"))
		do_kernel_at(rig, (uint32_t)v[0], (uint32_t)v[1],
			     (uint32_t)v[2], v[3]);
	else if (!strcmp(verb, "thread-map"))
		do_thread(rig, PERF_RECORD_MMAP2, (uint32_t)v[0],
			  (uint32_t)v[1], v[2]);
	else if (!strcmp(verb, "thread-user"))
		do_thread(rig, PERF_RECORD_SAMPLE, (uint32_t)v[0],
			  (uint32_t)v[1], v[2]);
	else if (!strcmp(verb, "filter"))
		do_filter(rig);
	else if (!strcmp(verb, "fork-soon"))
		do_fork_soon(rig, (uint32_t)v[0], (uint32_t)v[1]);
	else if (!strcmp(verb, "choose"))
		do_choose(rig, (uint32_t)v[0]);
	else if (!strcmp(verb, "choose-exec")) {
		rig->table.only_chosen = true;
		rig->table.chosen_by_exec = (uint32_t)v[0];
	} else if (!strcmp(verb, "lose"))
		do_lose(rig, v[0]);
	else if (!strcmp(verb, "proc"))
		do_proc(rig, (uint32_t)v[0], (uint32_t)v[1]);
	else
		fail_msg("%s: no such verb", verb);
}

/* ---- what comes of it, in words ---------------------------------------------
 */

static void show_cookie(struct rig *rig, uint64_t cookie, FILE *out)
{
	struct op_cookie_query q;

	if (cookie == OP_NO_COOKIE) {
		fputs(" -", out);
		return;
	}
	query(rig, cookie, &q);
	fprintf(out, " %s", q.path);
	if (q.flags & OP_IMAGE_NO_FILE)
		fputs("{no-file}", out);
	if (q.flags & OP_IMAGE_DELETED)
		fputs("{deleted}", out);
}

/* "PID[/TID@CPU#COUNTER] APP IMAGE+OFFSET", "... kernel+ADDRESS". */
static void show_samples(struct rig *rig, FILE *out)
{
	struct seen seen;

	while (next_sample(rig, &seen)) {
		fprintf(out, "%lu", seen.tgid);
		if (seen.tid != seen.tgid || seen.cpu != 3 || seen.counter != 1)
			fprintf(out, "/%lu@%lu#%lu", seen.tid, seen.cpu,
				seen.counter);
		show_cookie(rig, seen.app, out);
		if (seen.kernel)
			fputs(" kernel", out);
		else if (seen.cookie == OP_NO_COOKIE)
			fprintf(out, " %s(%lx-%lx)", seen.anon, seen.start,
				seen.end);
		else
			show_cookie(rig, seen.cookie, out);
		fprintf(out, "+%lx\n", seen.pc);
	}
}

/* What is not zero. The samples that were received are a line each. */
static void show_counts(struct rig *rig, FILE *out)
{
	static const char *const names[] = {
#define X(constant, name) [OPD_PERF_##constant] = #name,
		OPD_PERF_STATS(X)
#undef X
	};

	for (size_t i = OPD_PERF_RECEIVED + 1; i < OPD_PERF_NR_STATS; i++)
		if (rig->table.stats[i])
			fprintf(out, "%s %lu\n", names[i], rig->table.stats[i]);
	fprintf(out, "%zu images\n", rig->table.images.nr);
}

static void show_dropped(const struct rig *rig, FILE *out)
{
	fputs("dropped:", out);
	for (uint32_t pid = 0; pid < 100; pid++)
		if (op_perf_filter_drops(rig->table.filter, pid))
			fprintf(out, " %u", pid);
	fputc('\n', out);
}

/* "process PID" tells of that process, "dropped" of whom the kernel drops, the
 * end of all that came. */
static void run_world(const struct row *row, FILE *out)
{
	const char *at = row->script;
	struct rig *rig = new_rig();
	const struct opd_process *process;
	char line[512];
	unsigned int pid;

	while (next_line(&at, line, sizeof(line))) {
		if (!strcmp(line, "dropped")) {
			show_dropped(rig, out);
			continue;
		}
		if (sscanf(line, "process %u", &pid) != 1) {
			do_line(rig, line);
			continue;
		}
		show_samples(rig, out);
		process = opd_maps_find(&rig->table.maps, pid);
		if (process)
			fprintf(out, "process %u: %u threads\n", pid,
				process->nr_threads);
		else
			fprintf(out, "process %u: unknown\n", pid);
	}
	show_samples(rig, out);
	show_counts(rig, out);
	if (rig->table.filter)
		free(rig->table.filter->words);
	free_rig(rig);
}

#define PROG "exec 7; map 7 0x10000 0x1000 0 /bin/prog;"
#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct row rows[] = {
	/* ---- images and offsets ---- */
	{ "offsets_are_those_in_the_file", NULL,
	  "exec 7; map 7 0x400000 0x2000 0x1000 /bin/prog;"
	  "map 7 0x7f0000000000 0x1000 0x26000 /lib/libc.so.6;"
	  "user 7 0x400000; user 7 0x401fff; user 7 0x7f0000000123;"
	  "user 7 0x402000; user 7 0x3fffff; user 7 0;"
	  "user 7 0xfffffffffffffffe",
	  EXPECTED_ROW },
	{ "data_is_no_code", NULL,
	  "exec 7; data 7 0x1000 0x1000; map 7 0x4000 0x1000 0 /bin/prog;"
	  "user 7 0x1000; user 7 0x4000",
	  EXPECTED_ROW },
	/* One library goes, another comes where it was. */
	{ "an_address_belongs_to_the_one_of_that_time", NULL,
	  "exec 7; map 7 0x400000 0x1000 0 /bin/prog;"
	  "map 7 0x10000 0x4000 0 /lib/a.so; user 7 0x11000;"
	  "map 7 0x10000 0x2000 0x1000 /lib/b.so; user 7 0x11000;"
	  "user 7 0x13000; map 7 0x10000 0x4000 0 /lib/a.so; user 7 0x11000",
	  EXPECTED_ROW },
	/* The name of the sixth is too long. */
	{ "memory_without_a_file_has_a_name", NULL,
	  "exec 7; map 7 0x10000 0x1000 0x10000 //anon;"
	  "map 7 0x20000 0x1000 0 [heap]; map 7 0x30000 0x1000 0 [stack];"
	  "map 7 0x40000 0x1000 0 ; map 7 0x50000 0x1000 0 /;"
	  "map 7 0x60000 0x1000 0 " X50 X50 X50 ";"
	  "map 7 0x70000 0x1000 0 //toolong; user 7 0x10123; user 7 0x20123;"
	  "user 7 0x30123; user 7 0x40123; user 7 0x50123; user 7 0x60123;"
	  "user 7 0x70123",
	  EXPECTED_ROW },
	/* What is left of it has another start, or another end only. */
	{ "anonymous_memory_is_cut", NULL,
	  "exec 7; map 7 0x10000 0x3000 0 //anon; user 7 0x12fff;"
	  "map 7 0x11000 0x1000 0 /lib/x.so; user 7 0x12fff;"
	  "map 7 0x12800 0x800 0 /lib/y.so; user 7 0x12000;"
	  "map 7 0x12800 0x800 0 //anon; user 7 0x10fff; user 7 0x11000;"
	  "user 7 0x12fff",
	  EXPECTED_ROW },
	{ "files_on_no_disk", NULL,
	  "exec 7; map 7 0x0000 0x1000 0 /bin/prog; user 7 0x1;"
	  "map 7 0x1000 0x1000 0 [vdso]; user 7 0x1001;"
	  "map 7 0x2000 0x1000 0 /memfd:jit (deleted); user 7 0x2001;"
	  "map 7 0x3000 0x1000 0 /SYSV00000000 (deleted); user 7 0x3001;"
	  "map 7 0x4000 0x1000 0 /dev/zero (deleted); user 7 0x4001;"
	  "map 7 0x5000 0x1000 0 /memfd:not; user 7 0x5001;"
	  "map 7 0x6000 0x1000 0 /nonexistent/x.so (deleted); user 7 0x6001;"
	  "map 7 0x7000 0x1000 0 /x (deleted) ; user 7 0x7001;"
	  "map 7 0x8000 0x1000 0 / (deleted); user 7 0x8001",
	  EXPECTED("files-on-no-disk") },
	/* In the stream such an offset would be something else. */
	{ "no_offset_is_an_escape", NULL,
	  "exec 7; map 7 0x1000 0x1000 0xffffffffffffff00 /bin/prog;"
	  "user 7 0x10fe; user 7 0x10ff; user 7 0x1100",
	  EXPECTED_ROW },
	/* ---- those that count ---- */
	{ "what_a_chosen_process_starts_counts", NULL,
	  "proc 7 1; choose 7; user 7 0x10001; fork 7 8; exec 8;"
	  "map 8 0x20000 0x1000 0 /bin/child; user 8 0x20002; fork 8 9;"
	  "user 9 0x20003; exit 8; user 9 0x20004; user 8 0x20005;"
	  "exec 6; map 6 0x20000 0x1000 0 /bin/other; user 6 0x20006;"
	  "fork 6 5; kernel 5 5 0 0xffff0; user 0 0x10000; process 5; process 6",
	  EXPECTED("what-a-chosen-process-starts-counts") },
	{ "a_number_is_used_again_by_another", NULL,
	  "proc 7 1; choose 7; fork 7 8; exit 8; fork 6 8; user 8 0x10001;"
	  "exec 8; user 8 0x10002; fork 7 8; user 8 0x10003",
	  EXPECTED_ROW },
	{ "an_exec_chooses", NULL,
	  "proc 7 1; choose-exec 7; user 7 0x10001; fork 1 6; exec 6; exec 7;"
	  "map 7 0x10000 0x1000 0 /bin/prog; user 7 0x10002; user 6 0x10003;"
	  "exec 7; map 7 0x20000 0x1000 0 /bin/next; user 7 0x20004",
	  EXPECTED_ROW },
	/* The forks of 8 and 9, 5 and 4 are lost; 4 is 5's child, 5 nobody's. 3
	 * is gone, and may have been anybody's. */
	{ "after_a_loss_parents_are_looked_for", NULL,
	  "proc 7 1; choose 7; proc 8 7; proc 9 8; proc 5 1; proc 4 5;"
	  "user 9 0x10001; lose 3; user 9 0x10002; user 4 0x10003;"
	  "user 4 0x10004; user 3 0x10005; fork 8 10; user 10 0x10006; fork 5 11; user 11 0x10007",
	  EXPECTED_ROW },
	/* The last samples of a process come when it has ended. */
	{ "others_are_known_and_end", NULL,
	  "proc 7 1; choose 7; fork 6 5; fork 5 5; exit 5; user 5 0x10001;"
	  "process 5; exit 5; user 5 0x10001; process 5; fork 7 5; user 5 0x10002; exit 7;"
	  "process 7",
	  EXPECTED_ROW },
	/* ---- processes ---- */
	{ "the_program_is_the_first_file_after_an_exec", NULL,
	  "exec 7; map 7 0x90000 0x1000 0 [stack]; user 7 0x90000;"
	  "map 7 0x10000 0x1000 0 /bin/prog; map 7 0x20000 0x1000 0 /lib/ld.so;"
	  "user 7 0x20000; exec 7; user 7 0x20000;"
	  "map 7 0x50000 0x1000 0 /bin/other;"
	  "map 7 0x20000 0x1000 0 /lib/ld.so; user 7 0x20000; user 7 0x10000",
	  EXPECTED_ROW },
	{ "a_name_changes_nothing", NULL,
	  PROG "name 7; switch 7; user 7 0x10001", EXPECTED_ROW },
	{ "forks_and_execs", NULL,
	  "exec 7; map 7 0x10000 0x1000 0 /bin/sh; fork 7 8; user 8 0x10000;"
	  "map 8 0x20000 0x1000 0 /lib/child.so;"
	  "map 7 0x20000 0x1000 0 /lib/parent.so; user 7 0x20000;"
	  "user 8 0x20000; exec 8; map 8 0x10000 0x1000 0 /bin/ls;"
	  "user 8 0x10000; user 7 0x10000; user 8 0x20000;"
	  "exit 8; fork 7 8; user 8 0x20000",
	  EXPECTED_ROW },
	{ "samples_of_the_dead_come_late", NULL,
	  PROG "exit 7; user 7 0x10005; kernel 7 7 3 0xffffffff81000000;"
	       "dead 1000 1255; user 7 0x10005; process 7",
	  EXPECTED_ROW },
	{ "the_last_dead_are_kept", NULL,
	  PROG "exit 7; dead 1000 1254; user 7 0x10005", EXPECTED_ROW },
	/* What threads map and where they are is their process's. */
	{ "threads_are_no_processes", NULL,
	  PROG "fork 7 7; fork 7 7; user 7 0x10000; process 7;"
	       "thread-map 7 9 0x20000; thread-user 7 9 0x20002; process 9;"
	       "exit 7; exit 7; process 7; exit 7; process 7",
	  EXPECTED_ROW },
	/* Nothing is known of it, and /proc does not know it either. */
	{ "unknown_processes", NULL,
	  "user 99 0x1000; map 99 0x1000 0x1000 0 /bin/prog; user 99 0x1000;"
	  "exit 99; fork 99 100; map 100 0x1000 0x1000 0 /bin/child;"
	  "user 100 0x1000; fork 98 98; process 98",
	  EXPECTED_ROW },
	/* ---- samples that the kernel drops ---- */
	/* Processes that are not chosen, when a sample of theirs has come; and
	 * that of no process. */
	{ "samples_of_others_are_dropped", NULL,
	  "proc 7 1; proc 5 1; proc 6 5; filter; choose 7; dropped;"
	  "user 7 0x10001; user 5 0x10001; kernel 0 0 3 0x1000; dropped;"
	  "fork 7 8; user 8 0x10001; fork 5 9; dropped; user 9 0x10001; dropped;"
	  "exit 5; exit 9; dropped",
	  EXPECTED("samples-of-others-are-dropped") },
	/* Not only at the turn of the fork; and a number is given again. */
	{ "what_is_dropped_is_inherited", NULL,
	  "proc 7 1; proc 5 1; filter; choose 7; user 5 0x10001; fork-soon 5 6;"
	  "fork-soon 6 8; fork-soon 5 5; fork-soon 7 9; dropped;"
	  "fork-soon 7 8; dropped",
	  EXPECTED_ROW },
	/* A thread has ended and others go on; a sample comes late; what is to
	 * be chosen is known as another; one is chosen later. */
	{ "what_may_count_is_not_dropped", NULL,
	  "proc 7 1; proc 5 1; filter; choose 7; choose-exec 4; fork 1 4;"
	  "user 4 0x10001; user 5 0x10001; fork 5 5; exit 5; dropped; exit 5;"
	  "user 5 0x10001; dropped; fork-soon 1 8; proc 8 7; user 8 0x10001;"
	  "user 99999999 0x10001; dropped; exec 4; kernel 4 4 3 0x1000; dropped",
	  EXPECTED("what-may-count-is-not-dropped") },
	/* ---- the kernel, and what is not ours ---- */
	/* Of a task that is not known there is no program; nobody looks. */
	{ "samples_in_the_kernel", NULL,
	  "exec 7; kernel 7 7 3 0xffffffff81001234;"
	  "map 7 0x10000 0x1000 0 /bin/prog; kernel 7 7 3 0xffffffff81001234;"
	  "user 7 0x10000; kernel 99 99 3 0xffffffff81001234;"
	  "kernel 0 0 3 0xffffffff81001234",
	  EXPECTED_ROW },
	/* The kernel works for a program before it maps its file. */
	{ "a_program_that_begins", NULL,
	  "soon 7 1; soon 7 3 /bin/prog; soon 7 4 /lib/ld.so;"
	  "exec 7; kernel 7 7 3 0xffffffff81001234;"
	  "map 7 0x10000 0x1000 0 /bin/prog;"
	  "map 7 0x20000 0x1000 0 /lib/ld.so; user 7 0x20000",
	  EXPECTED_ROW },
	/* Records of several CPUs are looked at in any order. */
	{ "the_earliest_mapping_behind_an_exec_is_the_program", NULL,
	  "soon 7 1; soon 7 4 /lib/ld.so; soon 7 3 /bin/prog;"
	  "soon 7 0 /lib/old.so; soon 8 2 /bin/other;"
	  "exec 7; kernel 7 7 3 0xffffffff81001234",
	  EXPECTED_ROW },
	{ "two_programs_of_a_process", NULL,
	  "soon 7 1; soon 7 3 /bin/sh; soon 7 4; soon 7 6 /bin/ls;"
	  "exec 7; kernel 7 7 3 0xffffffff81001234;"
	  "map 7 0x10000 0x1000 0 /bin/sh;"
	  "exec 7; kernel 7 7 3 0xffffffff81001234;"
	  "map 7 0x10000 0x1000 0 /bin/ls; exec 7;"
	  "kernel 7 7 3 0xffffffff81001234",
	  EXPECTED_ROW },
	/* Processes of one bucket: the first exec is not remembered. */
	{ "more_programs_than_there_is_room_for", NULL,
	  "soon 7 1; soon 7 2 /bin/a; soon 1031 3; soon 1031 4 /bin/b;"
	  "soon 2055 5; soon 2055 6 /bin/c; soon 3079 7; soon 3079 8 /bin/d;"
	  "soon 4103 9; soon 4103 10 /bin/e;"
	  "exec 7; kernel 7 7 3 0xffffffff81000001; exec 1031;"
	  "kernel 1031 1031 3 0xffffffff81000002;"
	  "exec 2055; name 7; exec 3079; name 7; exec 4103;"
	  "kernel 4103 4103 3 0xffffffff81000003",
	  EXPECTED_ROW },
	/* A task that is being freed has no number any more. */
	{ "tasks_without_a_number", NULL,
	  "kernel 0xffffffff 0xffffffff 3 0xffffffff81000000;"
	  "user 0xffffffff 0x1000; user 0 0x1000",
	  EXPECTED_ROW },
	/* Another process, thread or CPU is said, however little differs. */
	{ "every_part_of_the_context_counts", NULL,
	  "kernel 7 9 0 0x1000; kernel 8 9 0 0x1001; kernel 8 10 0 0x1002;"
	  "kernel 8 10 1 0x1003; kernel 8 10 1 0x1004; kernel 7 9 0 0x1005",
	  EXPECTED_ROW },
	/* Unknown, hypervisor, guests, nothing at all; the escape twice. */
	{ "addresses_that_are_not_ours", NULL,
	  PROG "mode 7 0x10000 0; mode 7 0x10000 3; mode 7 0x10000 4;"
	       "mode 7 0x10000 5; mode 7 0x10000 7;"
	       "kernel 7 7 3 0xffffffffffffffff; user 7 0xffffffffffffffff;"
	       "mode 7 0x10000 0x4002",
	  EXPECTED_ROW },
};

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_world);
}

static struct opd_stream stream_of(const struct rig *rig)
{
	const struct op_stream_words *words = &rig->table.writer->words;

	return (struct opd_stream){ words->words, words->words + words->nr };
}

TEST(code_that_the_kernel_makes)
{
	struct rig *rig = new_rig();
	static char long_name[300];
	char name[256];
	struct opd_stream stream;
	struct opd_rec rec;

	memset(long_name, 'f', sizeof(long_name) - 1);
	do_ksymbol(rig, 0xffffffffc0001000, 0x80, false, "bpf_prog_x");
	do_ksymbol(rig, 0xffffffffc0001000, 0x80, true, "bpf_prog_x");
	do_ksymbol(rig, 0xffffffffc0002000, 0, false, "empty");
	do_ksymbol(rig, 0xffffffffc0002000, 8, false, "");
	do_ksymbol(rig, 0xffffffffc0003000, 8, false, long_name);
	stream = stream_of(rig);
	assert_int_equal(opd_stream_record(&stream, &rec), OPD_UNIT_RECORD);
	assert_int_equal(rec.code, OP_KERNEL_RANGE);
	assert_int_equal(rec.flags, OP_KERNEL_CODE);
	assert_int_equal(rec.payload[0], 0xffffffffc0001000);
	assert_int_equal(rec.payload[1], 0xffffffffc0001080);
	assert_int_equal(opd_stream_string(&rec, 7, name, sizeof(name)), 0);
	assert_string_equal(name, "bpf_prog_x");
	assert_int_equal(opd_stream_record(&stream, &rec), OPD_UNIT_RECORD);
	assert_int_equal(opd_stream_string(&rec, 7, name, sizeof(name)), 0);
	assert_int_equal(strspn(name, "f"), strlen(name));
	assert_ptr_equal(stream.at, stream.end);
	free_rig(rig);
}

/* ---- all the way ------------------------------------------------------------
 */

static int account_of_samples(struct opd_source *source,
			      struct op_ledger *ledger)
{
	const struct perf_writer *pw = (const struct perf_writer *)source;
	const uint64_t *stats = pw->table->stats;

	ledger->taken = stats[OPD_PERF_RECEIVED];
	return op_ledger_lose(ledger, "sample_lost_no_mapping",
			      stats[OPD_PERF_NO_MAPPING]);
}

static ssize_t write_nothing(struct opd_source *source)
{
	(void)source;
	return -EAGAIN;
}

static void expect_count(struct fixture *f, const char *name, uint64_t key,
			 uint64_t count)
{
	if (count_at(f, name, key) != count)
		fail_msg("not %llu samples at 0x%llx of %s",
			 (unsigned long long)count, (unsigned long long)key,
			 name);
}

static void do_tour(struct rig *rig)
{
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0x1000, "/bin/sh");
	do_map(rig, 7, 0x20000, 0x1000, 0, "/lib/x.so");
	do_map(rig, 7, 0x30000, 0x1000, 0, "//anon");
	for (int i = 0; i < 3; i++)
		do_sample_as(rig, 7, 0x10010, PERF_RECORD_MISC_USER);
	do_sample(rig, 7, 0x20020);
	do_sample(rig, 7, 0x30030);
	do_sample(rig, 7, 0x40000);
	do_fork(rig, 7, 8);
	do_sample(rig, 8, 0x20020);
	do_sample_as(rig, 8, 0xffffffffc0000040, PERF_RECORD_MISC_KERNEL);
	do_exec(rig, 8);
	do_map(rig, 8, 0x10000, 0x1000, 0, "/bin/ls (deleted)");
	do_sample(rig, 8, 0x10050);
	do_exit(rig, 8);
	do_sample(rig, 8, 0x10050);
}

static void check_tour(struct fixture *f)
{
	expect_count(f, "{root}/bin/sh/{dep}/{root}/bin/sh/E.9.0.7.7.3", 0x1010,
		     3);
	expect_count(f, "{root}/bin/sh/{dep}/{root}/lib/x.so/E.9.0.7.7.3", 0x20,
		     1);
	expect_count(f, "{root}/bin/sh/{dep}/{root}/lib/x.so/E.9.0.8.8.3", 0x20,
		     1);
	expect_count(
		f,
		"{root}/bin/sh/{dep}/{anon:anon}/7.0x30000.0x31000/E.9.0.7.7.3",
		0x30, 1);
	expect_count(f, "{root}/bin/sh/{dep}/{kern}/[kernel-other]/E.9.0.8.8.3",
		     0, 1);
	expect_count(f, "{root}/bin/ls/{dep}/{root}/bin/ls/E.9.0.8.8.3", 0x50,
		     2);
}

TEST(samples_come_to_sample_files)
{
	struct fixture *f = new_fixture();
	struct rig *rig = new_rig();
	struct opd_source *source = &rig->writer.source;
	struct opd_source_ops ops = *source->ops;
	struct op_ledger l;
	static uint64_t words[65536];
	ssize_t got;

	ops.account = account_of_samples;
	ops.write = write_nothing;
	source->ops = &ops;
	source->events = &f->opd.options.events;
	assert_int_equal(opd_events_parse(&f->opd.options.events,
					  "T:0:0:9:0:1:1,E:0:1:9:0:1:1", NULL),
			 0);
	f->opd.options.separate_lib = f->opd.options.separate_kernel = true;
	f->opd.options.separate_thread = f->opd.options.separate_cpu = true;
	/* Not this machine's kernel. */
	f->opd.options.events.counter[9].kernel = false;
	start_daemon(f, &test_replay);
	got = opd_writer_read(source->writer, words, NR(words));
	assert_true(got > 0);
	do_tour(rig);
	opd_writer_ask_account(source->writer);
	do
		assert_int_equal(opd_trans_run(&f->opd, words, (size_t)got),
				 got);
	while ((got = opd_writer_read(source->writer, words, NR(words))) > 0);
	check_tour(f);
	l = ledger_of(f);
	assert_int_equal(l.taken, 10);
	assert_int_equal(l.stored, 9);
	assert_int_equal(op_ledger_lost_by(&l, "sample_lost_no_mapping"), 1);
	assert_int_equal(l.pending, 0);
	/* Its socket is not the daemon's. */
	opd_untrusted_release(&rig->table.binaries);
	free_fixture(f);
	rig->written = 9;
	free_rig(rig);
}

/* Right before the sample, so that no context comes between. */
TEST(weights)
{
	struct opd_perf_place place = {
		.tgid = 7, .tid = 7, .kernel = true, .weight = 99
	};
	struct rig *rig = new_rig();
	struct opd_perf_words *w = &rig->table.words;
	const uint64_t *end;

	assert_true(opd_writer_goes_on(rig->table.writer));
	opd_perf_words_sample(w, &place, 0x1234, 3);
	end = stream_of(rig).end;
	assert_int_equal(end[-5], OP_ESCAPE);
	assert_int_equal(end[-4], OP_CODE_WORD(OP_WEIGHT, 0, 1));
	assert_int_equal(end[-3], 99);
	assert_int_equal(end[-2], 0x1234);
	assert_int_equal(end[-1], 3);
	place.weight = 0;
	assert_true(opd_writer_goes_on(rig->table.writer));
	opd_perf_words_sample(w, &place, 0x5678, 3);
	end = stream_of(rig).end;
	assert_int_equal(end[-3], 3);
	assert_int_equal(end[-2], 0x5678);
	place.weight = 5;
	assert_true(opd_writer_goes_on(rig->table.writer));
	opd_perf_words_trace(w, &place, 0x9abc, 3);
	end = stream_of(rig).end;
	assert_int_equal(end[-6], OP_CODE_WORD(OP_TRACE_BEGIN, 0, 0));
	assert_int_equal(end[-3], 5);
	rig->table.writer->words.nr = 0;
	free_rig(rig);
}

/* ---- what is told of tasks --------------------------------------------------
 */

/* The name that the last record of one says; "" there is none. */
static void last_name_told(const struct rig *rig, char name[32])
{
	struct opd_stream stream = stream_of(rig);
	struct opd_rec rec;

	*name = '\0';
	while (stream.at < stream.end) {
		if (*stream.at != OP_ESCAPE) {
			stream.at += 2;
			continue;
		}
		assert_int_equal(opd_stream_record(&stream, &rec),
				 OPD_UNIT_RECORD);
		if (rec.code == OP_TASK_NAME)
			assert_int_equal(opd_stream_string(&rec, 2, name, 32),
					 0);
	}
}

TEST(names_of_tasks)
{
	static const struct {
		unsigned int tells;
		const char *want;
	} cases[] = {
		{ 0, "" },
		{ OPD_TELL_OWNERS, "" },
		{ OPD_TELL_NAMES, "worker" },
		{ OPD_TELL_NAMES | OPD_TELL_OWNERS, "worker" },
	};

	for (size_t i = 0; i < NR(cases); i++) {
		struct rig *rig = new_rig();
		struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_COMM, 7);
		struct seen seen;
		char name[32];

		opd_process_table_want_names(&rig->table, cases[i].tells);
		rec.misc = PERF_RECORD_MISC_COMM_EXEC;
		rec.comm.name = "worker";
		opd_perf_handle_side(&rig->table, &rec);
		do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
		do_sample(rig, 7, 0x10000);
		last_name_told(rig, name);
		assert_string_equal(name, cases[i].want);
		assert_true(next_sample(rig, &seen));
		free_rig(rig);
	}
}

/* A few looks in advance, then one part of the time. */
TEST(looks_at_memory_have_a_share)
{
	const uint64_t second = 1000000000, took = second / 10;
	uint64_t now = 1000 * second, may_look = 0, nr = 0;

	for (; may_look <= now; nr++)
		may_look = opd_perf_proc_may_look(may_look, now, took);
	assert_int_equal(nr, 6);
	for (nr = 0; nr < 100; nr++) {
		now = may_look;
		may_look = opd_perf_proc_may_look(may_look, now, took);
		assert_int_equal(may_look - now, OPD_PERF_PROC_SHARE * took);
	}
	/* Who was quiet for long has no more credit than at first. */
	now += 3600 * second;
	assert_int_equal(opd_perf_proc_may_look(may_look, now, 0),
			 now - OPD_PERF_PROC_CREDIT);
}
