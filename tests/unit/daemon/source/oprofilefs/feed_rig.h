/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_FEED_RIG_H
#define TESTS_UNIT_FEED_RIG_H

/*
 * What a source says, in lines of the text form (utils/opstream), and the whole
 * stream that the feed makes of it. Other lines of a script:
 *
 *	read	go on reading until there is nothing
 *	busy N	the next N questions for a name are too early
 *	slow N	to the next N there is a name, but no build-id yet
 *	account N M	the source says from now on: N taken, M of them lost
 *	ask	the reader wants the account
 *	no-account	the source cannot say how many were taken
 *	log	tell what the log has
 *	counted ENABLED RUNNING SAMPLES TURNS	of the event, from now on
 *	periods NR SUM SQUARES	of its samples, from now on
 *	uncounted	that is not known any more
 *	three-events	first of all: there are three, of which one is not set
 *	end	behind what was said there is nothing any more
 *	waits N	so many bytes wait in the source, whenever it is asked
 *	flood	behind what was said there is always one sample more
 *	room N	the reader takes so many words at once
 *	changed	kernel modules may have come
 *	again	the reader has forgotten names of tasks
 *	kallsyms OFFSET NAME MODULE	there is such a symbol
 *	map LINE	process 77 adds that to its perf map
 *	watched	the source knows of code that the kernel makes from now on
 *	made OFFSET LEN NAME	there is such code, 0xffffffffc0000000 higher
 *	missed	and some that is not known
 *	later N	some seconds pass
 *
 * Cookies up to 99 have names. Of this machine's type and of the build of its
 * kernel nothing is shown.
 */

#include "daemon/source/opd_code_watch.h"
#include "daemon/source/opd_events.h"
#include "daemon/source/oprofilefs/opd_feed.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_writer.h"
#include "libop/base/op_log.h"
#include "libop/session/op_stream_words.h"
#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"
#include "utils/opstream/stream_text.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define ROOM 4096
#define MAX_TRIES 64 /* of daemon/source/opd_writer.c */

static struct source {
	uint64_t raw[ROOM];
	size_t nr;
	bool ends;
	bool floods;
	uint64_t waiting; /* 0: it cannot say */
	int busy;
	int slow;
	uint64_t taken;
	uint64_t lost;
	bool has_no_account;
	struct op_event_time counted; /* of each event; 0: not known */
	unsigned int nr_asked;
	struct opd_new_code code;
	char name[32]; /* of the code; "": there is none */
	bool missed;
	FILE *out;
} play;

static ssize_t play_read(struct opd_source *source, void *buf, size_t len)
{
	size_t nr = play.nr;

	(void)source;
	assert_true(len >= nr * sizeof(uint64_t));
	play.nr = 0;
	if (nr == 0 && play.floods) {
		memcpy(buf, (uint64_t[]){ 1, 0 }, 2 * sizeof(uint64_t));
		return 2 * sizeof(uint64_t);
	}
	if (nr == 0)
		return play.ends ? 0 : -EAGAIN;
	memcpy(buf, play.raw, nr * sizeof(uint64_t));
	return (ssize_t)(nr * sizeof(uint64_t));
}

static int play_cookie(struct opd_source *source, struct op_cookie_query *query)
{
	if (opd_feed_has_made(query->cookie))
		return opd_feed_cookie(source->feed, query);
	play.nr_asked++;
	if (query->cookie > 99)
		return -ENOENT;
	if (play.busy > 0) {
		play.busy--;
		return -EAGAIN;
	}
	snprintf(query->path, sizeof(query->path), "/bin/p%d",
		 (int)query->cookie);
	query->mtime = 1000 + query->cookie;
	if (play.slow > 0) {
		play.slow--;
		return -EAGAIN;
	}
	return 0;
}

static int play_waiting(struct opd_source *source, uint64_t *bytes)
{
	(void)source;
	*bytes = play.waiting;
	return play.waiting ? 0 : -ENOTTY;
}

static int play_account(struct opd_source *source, struct op_ledger *ledger)
{
	(void)source;
	if (play.has_no_account)
		return -EIO;
	ledger->taken = play.taken;
	return play.lost ? op_ledger_lose(ledger, "overflow", play.lost) : 0;
}

/* Events that follow have so much more of each. */
static int play_event_time(struct opd_source *source, unsigned int counter,
			   struct op_event_time *time)
{
	(void)source;
	if (!play.counted.enabled && !play.counted.periods)
		return -ENOENT;
	*time = play.counted;
	if (time->periods)
		return 0;
	time->enabled += counter;
	time->running += counter;
	return 0;
}

static void set_counted(const char *line)
{
	struct op_event_time *time = &play.counted;

	assert_int_equal(sscanf(line, "%*s %lu %lu %lu %lu", &time->enabled,
				&time->running, &time->samples, &time->turns),
			 4);
}

static void set_periods(const char *line)
{
	struct op_event_time *time = &play.counted;

	assert_int_equal(sscanf(line, "%*s %lu %lu %lu", &time->periods,
				&time->sum_of_periods,
				&time->squares_of_periods),
			 3);
}

/* The first and the third counter have events. */
static void make_three_events(struct opd_events *events)
{
	events->nr = 3;
	events->counter[1] = events->counter[2] = events->counter[0];
	events->counter[1].set = false;
}

/* The file of cookie 19 is in the source's hand. */
static int play_detach_file(struct opd_source *source, uint64_t cookie)
{
	if (opd_feed_has_made(cookie))
		return opd_feed_detach_file(source->feed, cookie);
	return cookie == 19 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -ENOENT;
}

static int play_next_code(struct opd_source *source, struct opd_new_code *code)
{
	bool missed = play.missed;

	(void)source;
	if (play.code.name) {
		*code = play.code;
		play.code.name = NULL;
		return 1;
	}
	play.missed = false;
	return missed ? -EOVERFLOW : 0;
}

static void make_code(const char *line)
{
	assert_int_equal(sscanf(line, "made %lx %lx %31s", &play.code.start,
				&play.code.end, play.name),
			 3);
	play.code.start += 0xffffffffc0000000;
	play.code.end += play.code.start;
	play.code.name = play.name;
}

static const struct opd_source_ops play_ops = {
	.name = "play",
	.read = play_read,
	.write = opd_feed_write,
	.finish = opd_feed_finish,
	.cookie = play_cookie,
	.next_code = play_next_code,
	.detach_file = play_detach_file,
	.account = play_account,
	.event_time = play_event_time,
	.waiting = play_waiting,
};

static void see_image(void *ctx, const struct op_cookie_query *query,
		      uint32_t tgid, int fd)
{
	fprintf(ctx, "sees %s of %u%s\n", query->path, tgid,
		fd >= 0 ? " and its file" : "");
	if (fd >= 0)
		assert_int_equal(close(fd), 0);
}

/* ---- scripts ----------------------------------------------------------------
 */

static void show_words(uint64_t *words, size_t nr, FILE *out)
{
	struct stream_unit unit;

	while (nr && stream_unit_at(&unit, words, nr, true)) {
		struct stream_buf text = { NULL, 0 };

		/* The build-id of its kernel, and its type. */
		if (unit.code == OP_KERNEL_RANGE)
			memset(words + 4, 0, 5 * sizeof(words[0]));
		/* Chance makes that of an image that the feed makes. */
		if (unit.code == OP_COOKIE_NAME && words[2] >> 63)
			memset(words + 7, 0, 5 * sizeof(words[0]));
		assert_int_equal(stream_text_print(&text, &unit, words), 0);
		if (unit.code == OP_STREAM_BEGIN)
			fputs("stream\n", out);
		else
			fputs(text.data, out);
		stream_buf_release(&text);
		words += unit.words;
		nr -= unit.words;
	}
}

/* All that can be read; reads may cut records, which are shown whole. */
static void read_all(struct opd_writer *w, size_t room, FILE *out)
{
	static uint64_t words[16 * ROOM];
	size_t nr = 0;
	ssize_t got;

	while ((got = opd_writer_read(w, words + nr, room)) > 0) {
		assert_true((size_t)got <= room);
		nr += (size_t)got;
		assert_true(nr + room <= NR(words));
	}
	show_words(words, nr, out);
	if (got == 0)
		fputs("the end\n", out);
	else
		assert_int_equal(got, -EAGAIN);
}

/* More of kallsyms: "kallsyms OFFSET NAME MODULE", 0xffffffffc0000000 higher.
 */
static void add_kallsyms(const char *proc, const char *line)
{
	char path[64], name[32], module[32];
	unsigned long offset;
	FILE *file;

	assert_int_equal(sscanf(line, "kallsyms %lx %31s %31s", &offset, name,
				module),
			 3);
	snprintf(path, sizeof(path), "%s/kallsyms", proc);
	file = fopen(path, "a");
	assert_non_null(file);
	fprintf(file, "%lx t %s\t[%s]\n", 0xffffffffc0000000ul + offset, name,
		module);
	assert_int_equal(fclose(file), 0);
}

/* Process 77 says in its perf map what is in its memory: "map LINE". */
static void add_to_map(const char *proc, const char *line)
{
	static const char *const folders[] = { "77", "77/root", "77/root/tmp" };
	char path[64];
	FILE *file;

	for (size_t i = 0; i < NR(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", proc, folders[i]);
		mkdir(path, 0755);
	}
	snprintf(path, sizeof(path), "%s/77/root/tmp/perf-77.map", proc);
	file = fopen(path, "a");
	assert_non_null(file);
	fprintf(file, "%s\n", line + strlen("map "));
	assert_int_equal(fclose(file), 0);
}

static time_t seconds;

static time_t get_seconds(void)
{
	return seconds;
}

static void say(const char *line)
{
	struct stream_buf bytes = { NULL, 0 };
	const char *why = "";

	if (stream_text_parse(&bytes, line, &why))
		fail_msg("%s: %s", line, why);
	assert_true(play.nr + bytes.len / 8 <= ROOM);
	memcpy(play.raw + play.nr, bytes.data, bytes.len);
	play.nr += bytes.len / 8;
	stream_buf_release(&bytes);
}

static void set_account(uint64_t taken, uint64_t lost)
{
	play.taken = taken;
	play.lost = lost;
}

/* A file of /proc about process @tgid, which has the one thread @tid. */
static void write_task(const char *proc, unsigned long tgid, unsigned long tid,
		       const char *name, const char *text)
{
	char folder[256];

	snprintf(folder, sizeof(folder), "%s/%lu", proc, tgid);
	(void)mkdir(folder, 0755);
	if (tid) {
		snprintf(folder, sizeof(folder), "%s/%lu/task", proc, tgid);
		(void)mkdir(folder, 0755);
		snprintf(folder, sizeof(folder), "%s/%lu/task/%lu", proc, tgid,
			 tid);
		(void)mkdir(folder, 0755);
	}
	write_text(folder, name, text);
}

/* The lines of the log without their times. */
static void tell_log(const struct op_log *log, FILE *out)
{
	char text[256] = "", *line, *rest = text;
	ssize_t len = pread(log->fd, text, sizeof(text) - 1, 0);

	assert_true(len >= 0);
	while ((line = strsep(&rest, "\n")) && *line)
		fprintf(out, "log: %s\n",
			line + strlen("2026-01-31 12:00:00 "));
}

/* @row->given: the events sample the kernel; "tasks": names and cgroups of
 * tasks are wanted instead. */
static void run_feed(const struct row *row, FILE *out)
{
	struct opd_events events;
	struct op_log log;
	char proc[] = "/tmp/opd-feed-XXXXXX", images[64];
	const struct op_clock clock = { .seconds = get_seconds };
	bool tasks = row->given && !strcmp(row->given, "tasks");
	const struct opd_source_client client = {
		.ctx = out,
		.log = &log,
		.see_image = see_image,
		.tells = tasks ? OPD_TELL_NAMES | OPD_TELL_CGROUPS : 0,
		.images = images,
		.clock = &clock,
	};
	struct opd_source source = { .ops = &play_ops,
				     .proc = proc,
				     .client = &client,
				     .events = &events,
				     .name = "play/timer",
				     .cpu_type = "timer",
				     .timer_hz = 250 };
	const char *at = row->script;
	struct opd_writer *w;
	size_t room = ROOM;
	char line[128];

	assert_non_null(mkdtemp(proc));
	snprintf(images, sizeof(images), "%s/images", proc);
	write_text(proc, "kallsyms",
		   "ffffffff81000000 T _stext\n"
		   "ffffffff82000000 B _end\n"
		   "ffffffffc0000010 t ext4_code\t[ext4]\n"
		   "ffffffffc0100010 t ext4_init\t[ext4]\n");
	write_text(proc, "modules",
		   "ext4 4096 0 - Live 0xffffffffc0000000\n"
		   "nosuch 8192 0 - Live 0xffffffffc0010000\n");
	memset(&play, 0, sizeof(play));
	op_log_init(&log);
	log.fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(log.fd >= 0);
	opd_events_timer(&events);
	events.counter[0].kernel = row->given && !tasks;
	w = source.writer = opd_writer_new(&source);
	assert_non_null(w);
	assert_int_equal(opd_feed_new(&source.feed, &source), 0);
	while (next_line(&at, line, sizeof(line))) {
		unsigned long nr = 0, lost = 0;
		char verb[16];

		assert_true(sscanf(line, "%15s %lu %lu", verb, &nr, &lost) > 0);
		if (!strcmp(verb, "read"))
			read_all(w, room, out);
		else if (!strcmp(verb, "busy"))
			play.busy = (int)nr;
		else if (!strcmp(verb, "slow"))
			play.slow = (int)nr;
		else if (!strcmp(verb, "account"))
			set_account(nr, lost);
		else if (!strcmp(verb, "no-account"))
			play.has_no_account = true;
		else if (!strcmp(verb, "counted"))
			set_counted(line);
		else if (!strcmp(verb, "periods"))
			set_periods(line);
		else if (!strcmp(verb, "uncounted"))
			play.counted.enabled = 0;
		else if (!strcmp(verb, "three-events"))
			make_three_events(&events);
		else if (!strcmp(verb, "ask"))
			opd_writer_ask_account(w);
		else if (!strcmp(verb, "end"))
			play.ends = true;
		else if (!strcmp(verb, "waits"))
			play.waiting = nr;
		else if (!strcmp(verb, "flood"))
			play.floods = true;
		else if (!strcmp(verb, "room"))
			room = nr;
		else if (!strcmp(verb, "changed"))
			w->kernel_stale = true;
		else if (!strcmp(verb, "again"))
			opd_names_repeat(&w->names);
		else if (!strcmp(verb, "kallsyms"))
			add_kallsyms(proc, line);
		else if (!strcmp(verb, "map"))
			add_to_map(proc, line);
		else if (!strcmp(verb, "later"))
			seconds += (time_t)nr;
		else if (!strcmp(verb, "watched"))
			w->kernel.is_told = true;
		else if (!strcmp(verb, "made"))
			make_code(line);
		else if (!strcmp(verb, "missed"))
			play.missed = true;
		else if (!strcmp(verb, "comm"))
			write_task(proc, nr, lost, "comm",
				   strrchr(line, ' ') + 1);
		else if (!strcmp(verb, "in"))
			write_task(proc, nr, 0, "cgroup",
				   strrchr(line, ' ') + 1);
		else if (!strcmp(verb, "asked"))
			fprintf(out, "asked %u times\n", play.nr_asked);
		else if (!strcmp(verb, "log"))
			tell_log(&log, out);
		else
			say(line);
	}
	opd_feed_free(source.feed);
	opd_writer_free(w);
	op_log_close(&log);
	remove_tree(proc);
}

#endif /* TESTS_UNIT_FEED_RIG_H */
