/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_SOURCE_PERF_RIG_H
#define TESTS_UNIT_SOURCE_PERF_RIG_H

/*
 * The source perf_events on a kernel of the test program (perf_kernel.h): what
 * happens, in words, and what the source does then and hands out.
 */

#include <sys/epoll.h>

#include "libop/base/op_log.h"
#include "libop/session/op_stream_words.h"
#include "daemon/source/perf/opd_perf_events.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_writer.h"
#include "tests/unit/no_stdin.h"
#include "tests/unit/daemon/source/perf_records.h"
#include "tests/unit/daemon/source/perf_words.h"
#include "tests/unit/rows.h"

#include "tests/unit/daemon/source/perf_kernel.h"

#define NR_WORDS 2048
#define MOST_READS 10 /* until there is no more */
#define MOST_CPUS 4
#define PID 2147480007u /* no kernel has so many */

struct rig {
	struct opd_source source;
	struct opd_events events;
	struct walk walk;
	struct record record;
	uint32_t pid; /* whose the records are */
	uint64_t id; /* of the event that they are of; 0: they have none */
	uint64_t cookie; /* of the last sample */
	unsigned int tells; /* OPD_TELL_* */
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
				  OPD_PERF_SAMPLE, rig->id };

	if (rig->id)
		who.sample_type |= OPD_PERF_SAMPLE_ID;
	if (!strcmp(verb, "kernel"))
		record_sample(&rig->record, &who, PERF_RECORD_MISC_KERNEL, nr);
	else if (!strcmp(verb, "user"))
		record_sample(&rig->record, &who, PERF_RECORD_MISC_USER, nr);
	else if (!strcmp(verb, "lost"))
		record_lost(&rig->record, PERF_RECORD_LOST, &who, nr);
	else if (!strcmp(verb, "throttle"))
		record_throttle(&rig->record, PERF_RECORD_THROTTLE, &who);
	else if (!strcmp(verb, "unthrottle"))
		record_throttle(&rig->record, PERF_RECORD_UNTHROTTLE, &who);
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

/* A sample that is too short to be one. */
static void write_bad(struct rig *rig, int cpu, bool samples)
{
	record_begin(&rig->record, PERF_RECORD_SAMPLE, 0);
	record_close(&rig->record);
	write_ring(rig, cpu, samples);
}

/* ---- what is handed out -----------------------------------------------------
 */

static void show_words(struct rig *rig, FILE *out)
{
	const uint64_t *words = rig->source.writer->words.words;
	size_t nr = rig->source.writer->words.nr;
	struct seen seen;

	for (size_t i = 0; i + 1 < nr; i++) {
		if (words[i] != OP_ESCAPE)
			continue;
		if (words[i + 1] == OP_CODE_WORD(OP_MODULE_LOADED, 0, 0))
			fputs(" modules", out);
		if (OP_CODE_OF(words[i + 1]) == OP_TASK_NAME)
			fprintf(out, " \"%.*s\"", (int)words[i + 4],
				(const char *)&words[i + 5]);
	}
	walk_into(&rig->walk, words, nr);
	while (walk_next(&rig->walk, &seen)) {
		struct op_cookie_query q = { .cookie = seen.cookie };

		fprintf(out, " %lx@%lu#%lu", (unsigned long)seen.pc,
			(unsigned long)seen.cpu, (unsigned long)seen.counter);
		if (seen.times)
			fprintf(out, "*%lu", (unsigned long)seen.times);
		rig->cookie = seen.cookie;
		if (!seen.kernel) {
			assert_int_equal(
				rig->source.ops->cookie(&rig->source, &q), 0);
			fprintf(out, "(%s)", q.path);
		}
	}
}

/* All there is, in @most pieces that end with @limit words. */
static void do_read(struct rig *rig, size_t limit, int most, FILE *out)
{
	struct opd_writer *w = rig->source.writer;
	ssize_t err = 0;

	w->limit = limit;
	for (int i = 0; i < most; i++) {
		err = rig->source.ops->write(&rig->source);
		if (err < 0)
			break;
		assert_int_equal(err, 1);
		show_words(rig, out);
		w->words.nr = 0;
		fputs(";", out);
	}
	fprintf(out, " %s\n", err < 0 ? strerrorname_np((int)-err) : "more");
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
	do_read(rig, NR_WORDS, MOST_READS, tick);
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

/* What the source tells of itself beside its name. */
static void show_more(struct rig *rig, FILE *out)
{
	const struct opd_events *events = &rig->events;

	fprintf(out, " %s%s", rig->source.path,
		rig->source.writer->kernel.is_told ? " kernel-code" : "");
	for (unsigned int i = 0; i < events->nr; i++)
		fprintf(out, " %s%s", events->counter[i].name,
			events->counter[i].kernel ? " with the kernel" : "");
	fputc('\n', out);
}

/* How long each event was counted. */
static void show_times(struct rig *rig, FILE *out)
{
	for (unsigned int i = 0; i < rig->events.nr + 1; i++) {
		struct op_event_time time = {
			.enabled = 1, .running = 1, .samples = 1, .turns = 1
		};
		int err = rig->source.ops->event_time(&rig->source, i, &time);

		if (err)
			fprintf(out, " %s", strerrorname_np(-err));
		else
			fprintf(out, " %lu/%lu:%lu:%lu",
				(unsigned long)time.running,
				(unsigned long)time.enabled,
				(unsigned long)time.samples,
				(unsigned long)time.turns);
	}
	fputc('\n', out);
}

/* What samples cost each of @nr CPUs; 1 of those of which nobody knows. */
static void show_handler_time(struct rig *rig, unsigned int nr, FILE *out)
{
	uint64_t ns[MOST_CPUS];

	for (unsigned int i = 0; i < MOST_CPUS; i++)
		ns[i] = 1;
	assert_int_equal(rig->source.ops->handler_time(&rig->source, ns, nr),
			 0);
	for (unsigned int i = 0; i < MOST_CPUS; i++)
		fprintf(out, " %lu", (unsigned long)ns[i]);
	fputc('\n', out);
}

static void show_result(FILE *out, const char *what, int err)
{
	fprintf(out, "\n%s: %s\n", what, err ? strerrorname_np(-err) : "0");
}

/* With "SELF" for the number of this process. */
static int open_source(struct rig *rig, const char *text)
{
	static struct op_log log;
	static struct opd_source_client client;
	const char *self = strstr(text, "SELF");
	struct op_diag diag = { "" };
	char arg[160];

	if (self)
		snprintf(arg, sizeof(arg), "%.*s%d%s", (int)(self - text), text,
			 (int)getpid(), self + 4);
	else
		snprintf(arg, sizeof(arg), "%s", text);
	op_log_init(&log);
	client = (struct opd_source_client){ .log = &log, .tells = rig->tells };
	rig->source.client = &client;
	return rig->source.ops->open(&rig->source, *arg ? arg : NULL, &diag);
}

/*
 * id NR: of the event that samples are of from now on; of SELF | PID: the
 * process that records are of from now on, PID at first; fill CPU MS BYTES: so
 * many of side band; exec CPU MS: the process runs a program; fork CPU MS: it
 * forks PID; fork-lost CPU MS: one that is lost; kernel CPU MS PC, user CPU MS
 * PC, lost CPU MS NR, throttle CPU MS, unthrottle CPU MS: a record; time MS,
 * tick (and read), modules TEXT, possible CPUS, online CPUS, refuse N ERRNO,
 * paranoid, filters: the kernel; missed NR: lost samples of each event; events
 * LIST: before open; uid NR: of this program; no-enable; no-period EVENT; wake
 * | sleep | end CPU 1 | 0: its event of samples or side band is readable, is
 * not, or has no tasks left; pause-ends; open ARGUMENT, enable, disable, dump,
 * read [LIMIT], once [LIMIT], account, log, about, more, watched; bad CPU 1 |
 * 0: a record that is none; ran ENABLED RUNNING: ns of each event; times;
 * handler CPUS; lower SHIFT; take: the file of the last sample; names: names of
 * tasks are wanted, before open; again: the reader has forgotten them
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
	if (!strcmp(verb, "id"))
		rig->id = nr[0];
	else if (!strcmp(verb, "names"))
		rig->tells = OPD_TELL_NAMES;
	else if (!strcmp(verb, "again"))
		opd_names_repeat(&source->writer->names);
	else if (!strcmp(verb, "bad"))
		write_bad(rig, (int)nr[0], nr[1]);
	else if (!strcmp(verb, "ran"))
		for (int i = 0; i < kernel.nr; i++) {
			kernel.events[i].enabled = nr[0];
			kernel.events[i].running = nr[1];
		}
	else if (!strcmp(verb, "times"))
		show_times(rig, out);
	else if (!strcmp(verb, "handler"))
		show_handler_time(rig, (unsigned int)nr[0], out);
	else if (!strcmp(verb, "more"))
		show_more(rig, out);
	else if (!strcmp(verb, "lower"))
		show_result(out, verb,
			    source->ops->lower_rate(source,
						    (unsigned int)nr[0]));
	else if (!strcmp(verb, "take"))
		show_result(out, verb,
			    source->ops->detach_file(source, rig->cookie));
	else if (!strcmp(verb, "of"))
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
	else if (!strcmp(verb, "uid"))
		kernel.user = (uid_t)nr[0];
	else if (!strcmp(verb, "no-period"))
		kernel.no_period = (int)nr[0];
	else if (!strcmp(verb, "no-enable"))
		kernel.no_enable = true;
	else if (!strcmp(verb, "filters"))
		kernel.filters = true;
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
		do_read(rig, nr[0] ? nr[0] : NR_WORDS, MOST_READS, out);
	else if (!strcmp(verb, "once"))
		do_read(rig, nr[0] ? nr[0] : NR_WORDS, 1, out);
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

/* The kernel has no ranges. */
static void put_no_kernel(struct opd_source *source,
			  struct op_stream_words *words)
{
	(void)source;
	(void)words;
}

static struct rig *new_rig(FILE *out)
{
	static struct opd_source_ops ops;
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	ops = opd_source_perf;
	ops.tell_kernel = put_no_kernel;
	rig->source.ops = &ops;
	rig->source.writer = opd_writer_new(&rig->source);
	assert_non_null(rig->source.writer);
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
	opd_writer_free(rig->source.writer);
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

/* A second has ten ticks. */
#define SECOND "tick; tick; tick; tick; tick; tick; tick; tick; tick; tick;"

#endif /* TESTS_UNIT_SOURCE_PERF_RIG_H */
