// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The source perf_events as a whole: when it looks at its rings, what it hands
 * out, and its account.
 */

#include <sys/epoll.h>
#include <sys/resource.h>

#include "libop/op_log.h"
#include "daemon/source/opd_perf_events.h"
#include "daemon/source/opd_source.h"
#include "tests/unit/no_stdin.h"
#include "tests/unit/perf_records.h"
#include "tests/unit/perf_words.h"
#include "tests/unit/rows.h"

#include "tests/unit/perf_kernel.h"

#define NR_WORDS 1024
#define PID 2147480007u /* no kernel has so many */

struct rig {
	struct opd_source source;
	struct opd_events events;
	struct walk walk;
	uint64_t words[NR_WORDS];
	struct record record;
	uint32_t pid; /* whose the records are */
};

/* ---- what the kernel writes -------------------------------------------------
 */

/* The ring of CPU @cpu, of samples or side band. */
static void write_ring(struct rig *rig, int cpu, bool samples)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = kernel.nr - 1; i >= 0; i--) {
		const struct kernel_event *event = &kernel.events[i];
		struct opd_perf_ring ring = { .meta = event->ring };

		if (!event->ring || event->cpu != cpu ||
		    event->samples != samples)
			continue;
		ring.data = (unsigned char *)event->ring + page;
		ring.size = event->ring_len - page;
		ring_write_record(&ring, &rig->record);
		return;
	}
	fail_msg("CPU %d has no ring", cpu);
}

/* A sample in the kernel, or what happens with it. */
static void write_record(struct rig *rig, const char *verb, int cpu,
			 uint64_t ms, uint64_t nr)
{
	struct record_who who = { rig->pid, rig->pid, ms * 1000000,
				  OPD_PERF_SAMPLE, 0 };

	if (!strcmp(verb, "kernel"))
		record_sample(&rig->record, &who, PERF_RECORD_MISC_KERNEL, nr);
	else if (!strcmp(verb, "user"))
		record_sample(&rig->record, &who, PERF_RECORD_MISC_USER, nr);
	else if (!strcmp(verb, "lost"))
		record_lost(&rig->record, PERF_RECORD_LOST, &who, nr);
	else if (!strcmp(verb, "throttle"))
		record_throttle(&rig->record, PERF_RECORD_THROTTLE, &who);
	else
		fail_msg("%s: no such verb", verb);
	write_ring(rig, cpu, true);
}

static void write_exec(struct rig *rig, int cpu, uint64_t ms)
{
	struct record_who who = { rig->pid, rig->pid, ms * 1000000,
				  OPD_PERF_SIDE, 0 };
	struct record_mmap map = {
		.start = 0x10000,
		.len = 0x1000,
		.prot = PROT_EXEC,
		.name = "/nonexistent/program",
	};

	record_comm(&rig->record, &who, true, "program");
	write_ring(rig, cpu, false);
	record_mmap2(&rig->record, &who, &map);
	write_ring(rig, cpu, false);
}

static void write_fork(struct rig *rig, int cpu, uint64_t ms)
{
	struct record_who who = { PID, PID, ms * 1000000, OPD_PERF_SIDE, 0 };

	record_task(&rig->record, PERF_RECORD_FORK, &who, rig->pid);
	write_ring(rig, cpu, false);
}

/* The kernel had no room for a record. */
static void write_fork_lost(struct rig *rig, int cpu, uint64_t ms)
{
	struct record_who who = { PID, PID, ms * 1000000, OPD_PERF_SIDE, 0 };

	record_lost(&rig->record, PERF_RECORD_LOST, &who, 1);
	write_ring(rig, cpu, false);
}

/* At least @bytes of forks. */
static void fill_side(struct rig *rig, int cpu, uint64_t ms, size_t bytes)
{
	for (size_t len = 0; len < bytes; len += rig->record.len)
		write_fork(rig, cpu, ms);
}

/* ---- what is handed out -----------------------------------------------------
 */

static void show_words(struct rig *rig, size_t nr, FILE *out)
{
	struct seen seen;

	for (size_t i = 0; i + 1 < nr; i++)
		if (rig->words[i] == OP_ESCAPE &&
		    rig->words[i + 1] == OP_CODE_WORD(OP_MODULE_LOADED, 0, 0))
			fputs(" modules", out);
	walk_into(&rig->walk, rig->words, nr);
	while (walk_next(&rig->walk, &seen)) {
		struct op_cookie_query q = { .cookie = seen.cookie };

		fprintf(out, " %lx@%lu#%lu", (unsigned long)seen.pc,
			(unsigned long)seen.cpu, (unsigned long)seen.counter);
		if (!seen.kernel) {
			assert_int_equal(
				rig->source.ops->cookie(&rig->source, &q), 0);
			fprintf(out, "(%s)", q.path);
		}
	}
}

/* All there is, in pieces of @room words. */
static void do_read(struct rig *rig, size_t room, FILE *out)
{
	ssize_t len;

	for (int i = 0; i < 10; i++) {
		len = rig->source.ops->read(&rig->source, rig->words,
					    room * sizeof(uint64_t));
		if (len < 0)
			break;
		assert_int_equal(len % 8, 0);
		show_words(rig, (size_t)len / 8, out);
		fputs(";", out);
	}
	fprintf(out, " %s\n", strerrorname_np((int)-len));
}

/* 100 ms later; what comes of it is told if that is anything. */
static void do_tick(struct rig *rig, FILE *out)
{
	char *text = NULL;
	size_t len;
	FILE *tick = open_memstream(&text, &len);

	assert_non_null(tick);
	assert_int_equal(eventfd_write(kernel.timer, 1), 0);
	kernel.told = tick;
	do_read(rig, NR_WORDS, tick);
	kernel.told = out;
	assert_int_equal(fclose(tick), 0);
	fputs(strcmp(text, " EAGAIN\n") ? text : ".", out);
	free(text);
}

/* The event of CPU @cpu is readable from now on, or no more. */
static void wake(int cpu, bool samples, bool on)
{
	const struct kernel_event *event = kernel_of(cpu, samples);
	char byte = 0;

	if (on)
		assert_int_equal(write(event->writer, &byte, 1), 1);
	else
		assert_int_equal(REAL(read)(event->fd, &byte, 1), 1);
}

/* All tasks that the event of CPU @cpu is of have ended. */
static void end_tasks(int cpu, bool samples)
{
	struct kernel_event *event = kernel_of(cpu, samples);

	close(event->writer);
	event->writer = -1;
}

/* Each epoll of this program: what it watches, and waits for. */
static void show_watched(FILE *out)
{
	char path[64], line[256];
	FILE *file;

	for (int fd = 0; fd < 256; fd++) {
		unsigned int nr = 0, nr_in = 0, events;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file)) {
			if (sscanf(line, "tfd: %*d events: %x", &events) != 1)
				continue;
			nr++;
			nr_in += (events & EPOLLIN) != 0;
		}
		if (file)
			fclose(file);
		if (nr)
			fprintf(out, " %u of %u", nr_in, nr);
	}
	fputc('\n', out);
}

static void show_account(struct rig *rig, FILE *out)
{
	struct op_ledger l = { .taken = 0 };

	assert_int_equal(rig->source.ops->account(&rig->source, &l), 0);
	fprintf(out, " taken %lu", (unsigned long)l.taken);
	for (unsigned int i = 0; i < l.nr_causes; i++)
		fprintf(out, " %s %lu", l.causes[i].name,
			(unsigned long)l.causes[i].nr);
	fputc('\n', out);
}

static void show_log(struct rig *rig, FILE *out)
{
	struct op_diag diag = { "" };
	char path[] = "/tmp/opd-log-XXXXXX", line[256];
	struct op_log log;
	FILE *file;

	close(mkstemp(path));
	op_log_init(&log);
	assert_int_equal(op_log_open(&log, path, &diag), 0);
	rig->source.ops->log(&rig->source, &log);
	op_log_close(&log);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strstr(line, ": 0\n"))
			fputs(line, out);
	fclose(file);
	unlink(path);
}

static void show_result(FILE *out, const char *what, int err)
{
	fprintf(out, "\n%s: %s\n", what, err ? strerrorname_np(-err) : "0");
}

/* With "SELF" for the number of this process. */
static int open_source(struct rig *rig, const char *text)
{
	static struct op_log log;
	static const struct opd_source_client client = { .log = &log };
	const char *self = strstr(text, "SELF");
	struct op_diag diag = { "" };
	char arg[160];

	if (self)
		snprintf(arg, sizeof(arg), "%.*s%d%s", (int)(self - text), text,
			 (int)getpid(), self + 4);
	else
		snprintf(arg, sizeof(arg), "%s", text);
	op_log_init(&log);
	rig->source.client = &client;
	return rig->source.ops->open(&rig->source, *arg ? arg : NULL, &diag);
}

/*
 * of SELF | PID: the process that records are of from now on, PID at first;
 * fill CPU MS BYTES: so many of side band;
 * exec CPU MS: the process runs a program; fork CPU MS: it forks PID; fork-lost
 * CPU MS: one that is lost; kernel CPU MS PC, user CPU MS PC, lost CPU MS NR,
 * throttle CPU MS: a record; time MS, tick (and read), modules TEXT, possible
 * CPUS, online CPUS, refuse N ERRNO, paranoid: the kernel; missed NR: lost
 * samples of each event; events LIST: before open; no-enable; wake | sleep |
 * end CPU 1 | 0: its event of samples or side band is readable, is not, or has
 * no tasks left; pause-ends; open ARGUMENT, enable, disable, dump, read
 * [WORDS], account, log, about, watched
 */
static void do_line(struct rig *rig, const char *line, FILE *out)
{
	struct opd_source *source = &rig->source;
	struct op_diag diag = { "" };
	char verb[16], text[128] = "";
	unsigned long nr[3] = { 0 };
	bool on;

	sscanf(line, "%15s %127s", verb, text);
	sscanf(line, "%*s %lu %lu %lx", &nr[0], &nr[1], &nr[2]);
	if (!strcmp(verb, "of"))
		rig->pid = !strcmp(text, "SELF") ? (uint32_t)getpid() : PID;
	else if (!strcmp(verb, "fork"))
		write_fork(rig, (int)nr[0], nr[1]);
	else if (!strcmp(verb, "fork-lost"))
		write_fork_lost(rig, (int)nr[0], nr[1]);
	else if (!strcmp(verb, "fill"))
		sscanf(line, "%*s %lu %lu %lu", &nr[0], &nr[1], &nr[2]),
			fill_side(rig, (int)nr[0], nr[1], nr[2]);
	else if (!strcmp(verb, "exec"))
		write_exec(rig, (int)nr[0], nr[1]);
	else if (!strcmp(verb, "time"))
		kernel.now = nr[0] * 1000000;
	else if (!strcmp(verb, "tick"))
		do_tick(rig, out);
	else if (!strcmp(verb, "modules"))
		snprintf(kernel.modules, sizeof(kernel.modules), "%s\n", text);
	else if (!strcmp(verb, "possible"))
		snprintf(kernel.possible, sizeof(kernel.possible), "%s\n",
			 text);
	else if (!strcmp(verb, "online"))
		snprintf(kernel.online, sizeof(kernel.online), "%s\n", text);
	else if (!strcmp(verb, "refuse"))
		sscanf(line, "%*s %d %d", &kernel.nr_refused, &kernel.refusal);
	else if (!strcmp(verb, "wake") || !strcmp(verb, "sleep"))
		wake((int)nr[0], nr[1], *verb == 'w');
	else if (!strcmp(verb, "end"))
		end_tasks((int)nr[0], nr[1]);
	else if (!strcmp(verb, "pause-ends"))
		assert_int_equal(eventfd_write(kernel.pause, 1), 0);
	else if (!strcmp(verb, "watched"))
		show_watched(out);
	else if (!strcmp(verb, "no-enable"))
		kernel.no_enable = true;
	else if (!strcmp(verb, "paranoid"))
		strcpy(kernel.paranoid, "2\n");
	else if (!strcmp(verb, "missed"))
		for (int i = 0; i < kernel.nr; i++)
			kernel.events[i].lost = nr[0];
	else if (!strcmp(verb, "events"))
		assert_int_equal(opd_events_parse(&rig->events, text, &diag),
				 0);
	else if (!strcmp(verb, "open"))
		show_result(out, verb, open_source(rig, text));
	else if (!strcmp(verb, "enable") || !strcmp(verb, "disable"))
		show_result(out, verb,
			    source->ops->enable(source, *verb == 'e', &diag));
	else if (!strcmp(verb, "dump"))
		assert_int_equal(source->ops->dump(source, &diag), 0);
	else if (!strcmp(verb, "read"))
		do_read(rig, nr[0] ? nr[0] : NR_WORDS, out);
	else if (!strcmp(verb, "account"))
		show_account(rig, out);
	else if (!strcmp(verb, "log"))
		show_log(rig, out);
	else if (!strcmp(verb, "about"))
		fprintf(out, " %s %s %u Hz%s%s%s%s\n", source->name,
			source->cpu_type, source->timer_hz,
			source->stacks ? " stacks" : "",
			source->targeted ? " targeted" : "",
			source->ops->enabled(source, &on) || on ? " on" : "",
			source->ops->unwinder(source) ? " unwinds" : "");
	else
		write_record(rig, verb, (int)nr[0], nr[1], nr[2]);
}

/* Open descriptors of this program. */
static int count_open(void)
{
	int nr = 0;

	for (int fd = 0; fd < 1024; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static struct rig *new_rig(FILE *out)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->source.ops = &opd_source_perf;
	rig->source.fd = rig->source.dir = -1;
	rig->source.events = &rig->events;
	opd_events_timer(&rig->events);
	rig->pid = PID;
	kernel_reset(out);
	close_stdin();
	return rig;
}

static void close_rig(struct rig *rig)
{
	rig->source.ops->close(&rig->source);
	rig->source.ops->close(&rig->source);
	assert_int_equal(rig->source.fd, -1);
	for (int i = 0; i < kernel.nr; i++)
		assert_int_equal(kernel.events[i].fd, -1);
	reopen_stdin();
	free(rig);
}

static void run_source(const struct row *row, FILE *out)
{
	int nr = count_open();
	struct rig *rig = new_rig(out);
	const char *at = row->script;
	char line[256];

	while (next_line(&at, line, sizeof(line)))
		do_line(rig, line, out);
	fputs("close:", out);
	close_rig(rig);
	fputc('\n', out);
	kernel.told = NULL;
	assert_int_equal(count_open(), nr);
}

static void test_row(void **state)
{
	check_row(*state, run_source);
}

/* A second has ten ticks. */
#define SECOND "tick; tick; tick; tick; tick; tick; tick; tick; tick; tick;"

/* clang-format off */
static const struct row rows[] = {
	{ "about_the_clock", NULL, "open; about; enable; about; log",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " perf/cpu-clock timer 997 Hz\n"
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " perf/cpu-clock timer 997 Hz on\n"
	  "close: -3 -4 -5 -6\n" },
	{ "about_an_event", NULL,
	  "events cpu-cycles:0:0:5000:0:0:1; open rate=100; about",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 0:0@0=4 map 4:256 side@1=5 map 5:2048 0:0@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " perf/cpu-cycles perf 99 Hz\n"
	  "close: -3 -4 -5 -6\n" },
	{ "about_stacks", NULL, "paranoid; open exec=7,callgraph=5; about; log",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side/7@0=3 map 3:128 clock/7@0=4 map 4:16384 side/7@1=5 map 5:128 clock/7@1=6 map 6:16384 timer 100 ms\n"
	  "open: 0\n"
	  " perf/cpu-clock timer 997 Hz stacks targeted unwinds\n"
	  "Nr. bytes of user stack in a sample: 61440\n"
	  "Nr. unwind tables: 0, 0 bytes; made 0, dropped 0, images without 0\n"
	  "close: -3 -4 -5 -6\n" },
	{ "the_kernel_is_not_sampled", NULL,
	  "paranoid; events A:118:0:5000:0:1:1; open; about",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 raw76@0=4 map 4:256 side@1=5 map 5:2048 raw76@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " perf/A perf 997 Hz\n"
	  "close: -3 -4 -5 -6\n" },
	{ "a_bad_argument", NULL, "open rate=0",
	  "\n"
	  "open: EINVAL\n"
	  "close:\n" },
	{ "a_refusal", NULL, "refuse 4 24; open",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=EMFILE 1:1@-1=3 -3\n"
	  "open: EMFILE\n"
	  "close:\n" },
	/* What is younger than 2 ms waits; a dump asks for all. */
	{ "the_last_moments_wait", NULL,
	  "paranoid; open exec=7; enable; exec 0 1001; kernel 0 1005 ffff1;"
	  "user 1 1008 10002; kernel 1 1009 ffff3; time 1010; read; read;"
	  "dump; read; account",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side/7@0=3 map 3:128 clock/7@0=4 map 4:256 side/7@1=5 map 5:128 clock/7@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  "\n"
	  "enable: 0\n"
	  " ffff1@0#0 2@1#0(/nonexistent/program); EAGAIN\n"
	  " EAGAIN\n"
	  " ffff3@1#0; EAGAIN\n"
	  " taken 3\n"
	  "close: -3 -4 -5 -6\n" },
	/* All is read, then the source waits once. */
	{ "little_room", NULL,
	  "open; exec 0 1001; user 0 1002 10001; kernel 1 1002 ffff2;"
	  "kernel 1 1003 ffff3; time 2000; read 127; read 130; read 130;"
	  "read 256; read 256",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " EAGAIN\n"
	  " 1@0#0(/nonexistent/program); ffff2@1#0; ffff3@1#0; EAGAIN\n"
	  " EAGAIN\n"
	  " EAGAIN\n"
	  " EAGAIN\n"
	  "close: -3 -4 -5 -6\n" },
	{ "a_dump_starts_anew", NULL,
	  "open; kernel 0 1002 ffff2; kernel 1 1002 ffff3; time 1010; read 130;"
	  "time 2000; kernel 0 1999 ffff4; dump; read; read",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " ffff2@0#0; ffff3@1#0; EAGAIN\n"
	  " ffff4@0#0; EAGAIN\n"
	  " EAGAIN\n"
	  "close: -3 -4 -5 -6\n" },
	/* ---- once a second ---- */
	{ "modules_that_change_are_told", NULL,
	  "open; modules ext4; dump; read; modules xfs; dump; kernel 0 1 ffff1;"
	  "read; kernel 0 2 ffff2; read; dump; read",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " EAGAIN\n"
	  " modules ffff1@0#0; EAGAIN\n"
	  " ffff2@0#0; EAGAIN\n"
	  " EAGAIN\n"
	  "close: -3 -4 -5 -6\n" },
	{ "a_second_has_ten_ticks", NULL,
	  "open; dump; read; modules xfs; " SECOND SECOND,
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " EAGAIN\n"
	  "......... modules; EAGAIN\n"
	  "..........close: -3 -4 -5 -6\n" },
	{ "cpus_come_and_go", NULL,
	  "open; enable; online 0; " SECOND "online 0-1;" SECOND
	  "disable; online 0;" SECOND "online 0-1;" SECOND "log",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " on 4 on 6\n"
	  "enable: 0\n"
	  "......... -5 -6 on 4 EAGAIN\n"
	  "......... side@1=7 map 7:2048 clock@1=8 map 8:256 on 4 on 8 EAGAIN\n"
	  " off 4 off 8\n"
	  "disable: 0\n"
	  "......... -7 -8 EAGAIN\n"
	  "......... side@1=9 map 9:2048 clock@1=10 map 10:256 EAGAIN\n"
	  "Nr. cpu_replug: 4\n"
	  "close: -3 -4 -9 -10\n" },
	{ "a_cpu_is_refused", NULL,
	  "online 0; open; enable; online 0-1; refuse 1 24;" SECOND "log",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 timer 100 ms\n"
	  "open: 0\n"
	  " on 4\n"
	  "enable: 0\n"
	  "......... side@1=EMFILE 1:1@-1=5 -5 on 4 EAGAIN\n"
	  "Nr. cpu_replug_failed: 1\n"
	  "close: -3 -4\n" },
	/* Another one that could be opened is sampled all the same. */
	{ "one_of_two_cpus_is_refused", NULL,
	  "possible 0-2; online 0; open; enable; online 0-2; refuse 3 24; kernel 0 900 ffff1;"
	  SECOND "log; " SECOND "log",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 timer 100 ms\n"
	  "open: 0\n"
	  " on 4\n"
	  "enable: 0\n"
	  " ffff1@0#0; EAGAIN\n"
	  "........ side@1=5 map 5:2048 clock@1=6 map 6:256 side@2=EMFILE 1:1@-1=7 -7 on 4 on 6 EAGAIN\n"
	  "Nr. sample_received: 1\n"
	  "Nr. cpu_replug_failed: 1\n"
	  "......... side@2=8 map 8:2048 clock@2=9 map 9:256 on 4 on 6 on 9 EAGAIN\n"
	  "Nr. sample_received: 1\n"
	  "Nr. cpu_replug: 1\n"
	  "Nr. cpu_replug_failed: 1\n"
	  "close: -3 -4 -5 -6 -8 -9\n" },
	/* ---- processes, where CPUs may be sampled ---- */
	{ "a_process_that_is_to_be_started", NULL,
	  "open exec=SELF; about; enable; of SELF; kernel 0 1000 ffff0;"
	  "exec 0 1001; kernel 1 1002 ffff1; fork 0 1003; of PID;"
	  "user 0 1004 10001; kernel 1 1005 ffff2; time 2000; read; account; log",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " perf/cpu-clock timer 997 Hz targeted\n"
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " ffff1@1#0 1@0#0(/nonexistent/program) ffff2@1#0; EAGAIN\n"
	  " taken 3\n"
	  "Nr. sample_received: 3\n"
	  "Nr. sample_of_others: 1\n"
	  "Nr. images: 1\n"
	  "close: -3 -4 -5 -6\n" },
	{ "a_process_that_runs_and_others", NULL,
	  "open pid=SELF; enable; of PID; kernel 0 1000 ffff0; exec 0 1001;"
	  "user 0 1002 10001; of SELF; kernel 0 1003 ffff1; lost 0 1004 5; time 2000; read; account",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " ffff1@0#0; EAGAIN\n"
	  " taken 6 sample_lost_overflow 5\n"
	  "close: -3 -4 -5 -6\n" },
	/* Nobody told of PID, and it is gone: that may have been one of SELF's,
	 * but only if something was lost. */
	{ "a_process_that_nobody_knows", NULL,
	  "open pid=SELF; enable; of PID; kernel 0 1000 ffff0; of SELF;"
	  "kernel 0 1001 ffff1; time 2000; read; account; fork-lost 0 2001;"
	  "time 4000; read; account",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " ffff1@0#0; EAGAIN\n"
	  " taken 1\n"
	  " EAGAIN\n"
	  " taken 2 sample_lost_no_process 1\n"
	  "close: -3 -4 -5 -6\n" },
	{ "a_process_that_is_not_there", NULL, "open pid=2147483647",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256\n"
	  "open: ESRCH\n"
	  "close: -3 -4 -5 -6\n" },
	{ "a_process_that_cannot_be_started", NULL, "open exec=2147483647",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256\n"
	  "open: ESRCH\n"
	  "close: -3 -4 -5 -6\n" },
	/* ---- the account ---- */
	/* What was lost in rings is told by records, later by events. */
	{ "lost_samples", NULL,
	  "open; lost 0 1001 5; kernel 0 1002 ffff1; user 0 1002 5; time 2000;"
	  "read; account; missed 2; account; missed 9; account; log",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " ffff1@0#0; EAGAIN\n"
	  " taken 7 sample_lost_no_mm 1 sample_lost_overflow 5\n"
	  " taken 7 sample_lost_no_mm 1 sample_lost_overflow 5\n"
	  " taken 20 sample_lost_no_mm 1 sample_lost_overflow 18\n"
	  "Nr. sample_received: 2\n"
	  "Nr. sample_lost_no_mm: 1\n"
	  "Nr. sample_lost_overflow: 18\n"
	  "Nr. proc_read: 1\n"
	  "close: -3 -4 -5 -6\n" },
	/* The clock would have gone on, up to now or the end. */
	{ "throttled_samples", NULL,
	  "open rate=1000; enable; throttle 0 1500; time 2000; read; account;"
	  "time 2503; account; disable; time 9000; account; enable; account;"
	  "disable; disable; account",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " EAGAIN\n"
	  " taken 498 sample_lost_throttled 498\n"
	  " taken 1000 sample_lost_throttled 1000\n"
	  " off 4 off 6\n"
	  "disable: 0\n"
	  " taken 1000 sample_lost_throttled 1000\n"
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " taken 1000 sample_lost_throttled 1000\n"
	  " off 4 off 6\n"
	  "disable: 0\n"
	  " off 4 off 6\n"
	  "disable: 0\n"
	  " taken 1000 sample_lost_throttled 1000\n"
	  "close: -3 -4 -5 -6\n" },
	{ "throttled_samples_of_no_clock", NULL,
	  "events A:118:0:5000:0:1:1; open; throttle 0 1500; time 2000; read;"
	  "account",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 raw76@0=4 map 4:256 side@1=5 map 5:2048 raw76@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " EAGAIN\n"
	  " taken 0\n"
	  "close: -3 -4 -5 -6\n" },
	/* The exec of the program turns it on, the first time. */
	{ "an_exec_enables", NULL,
	  "paranoid; open exec=7; enable; about; disable; enable; about",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side/7@0=3 map 3:128 clock/7@0=4 map 4:256 side/7@1=5 map 5:128 clock/7@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  "\n"
	  "enable: 0\n"
	  " perf/cpu-clock timer 997 Hz targeted on\n"
	  " off 4 off 6\n"
	  "disable: 0\n"
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " perf/cpu-clock timer 997 Hz targeted on\n"
	  "close: -3 -4 -5 -6\n" },
	{ "cannot_be_enabled", NULL, "open; no-enable; enable; about; read",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  "\n"
	  "enable: EIO\n"
	  " perf/cpu-clock timer 997 Hz\n"
	  " EAGAIN\n"
	  "close: -3 -4 -5 -6\n" },
	/* ---- looking ahead ---- */
	/* New images are looked for again after a short pause, in which
	   side band wakes nobody; its records wait for their turn. */
	{ "a_new_image", NULL,
	  "open; watched; read; exec 0 1001; wake 0 0; time 1001; read; watched;"
	  "exec 1 1002; read; sleep 0 0; pause-ends; read; watched; pause-ends;"
	  "read; watched; read; log",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " 5 of 5 2 of 2\n"
	  " EAGAIN\n"
	  " pause 2 ms EAGAIN\n"
	  " 4 of 5 2 of 2\n"
	  " EAGAIN\n"
	  " pause 2 ms EAGAIN\n"
	  " 4 of 5 2 of 2\n"
	  " EAGAIN\n"
	  " 5 of 5 2 of 2\n"
	  " EAGAIN\n"
	  "Nr. images: 1\n"
	  "close: -3 -4 -5 -6\n" },
	/* Without news the pause is longer. */
	{ "no_new_image", NULL,
	  "open; time 5000; read; fork 0 4000; wake 0 0; read; pause-ends; read;"
	  "exec 0 4001; pause-ends; read; time 5199; fork 0 4002; pause-ends;"
	  "read; time 5200; fork 0 4003; pause-ends; read",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " EAGAIN\n"
	  " pause 32 ms EAGAIN\n"
	  " EAGAIN\n"
	  " pause 2 ms EAGAIN\n"
	  " pause 2 ms EAGAIN\n"
	  " pause 32 ms EAGAIN\n"
	  "close: -3 -4 -5 -6\n" },
	/* A ring of side band that fills is read. */
	{ "much_side_band", NULL,
	  "open; time 5000; read; kernel 0 3000 ffff1; fill 0 4000 262128;"
	  "wake 0 0; read; fill 0 4000 48; pause-ends; read; pause-ends; read",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " EAGAIN\n"
	  " pause 32 ms EAGAIN\n"
	  " pause 32 ms ffff1@0#0; EAGAIN\n"
	  " EAGAIN\n"
	  "close: -3 -4 -5 -6\n" },
	{ "samples_wake", NULL,
	  "open; read; kernel 0 1001 ffff1; time 2000; read; wake 0 1; read;"
	  "kernel 0 1002 ffff2; read; sleep 0 1; kernel 0 1003 ffff3; read",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " EAGAIN\n"
	  " ffff1@0#0; EAGAIN\n"
	  " EAGAIN\n"
	  " ffff2@0#0; EAGAIN\n"
	  " ffff3@0#0; EAGAIN\n"
	  "close: -3 -4 -5 -6\n" },
	/* What is always ready as nothing is left of it is forgotten. */
	{ "tasks_that_have_ended", NULL,
	  "open; watched; end 0 1; read; watched; end 1 0; read; watched; read",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " 5 of 5 2 of 2\n"
	  " EAGAIN\n"
	  " 4 of 4 2 of 2\n"
	  " EAGAIN\n"
	  " 4 of 4 1 of 1\n"
	  " EAGAIN\n"
	  "close: -3 -4 -5 -6\n" },
};
/* clang-format on */

/* With any number of descriptors it opens, or says why not, and keeps none. */
static void test_few_descriptors(void **state)
{
	struct rlimit before, few;
	int nr_failed = 0, err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	do {
		FILE *out = fopen("/dev/null", "we");
		int nr = count_open(), next;
		struct rig *rig = new_rig(out);

		/* Above this there are no others. */
		next = fcntl(fileno(out), F_DUPFD_CLOEXEC, nr);
		close(next);
		few = before;
		few.rlim_cur = (rlim_t)next + (rlim_t)nr_failed;
		assert_int_equal(prlimit(0, RLIMIT_NOFILE, &few, NULL), 0);
		err = open_source(rig, "");
		assert_int_equal(prlimit(0, RLIMIT_NOFILE, &before, NULL), 0);
		if (err)
			assert_int_equal(err, -EMFILE);
		nr_failed += err != 0;
		close_rig(rig);
		kernel.told = NULL;
		assert_int_equal(count_open(), nr);
		fclose(out);
	} while (err);
	assert_true(nr_failed > 5);
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(test_few_descriptors),
	};

	return run_rows(rows, NR(rows), test_row, others, NR(others));
}
