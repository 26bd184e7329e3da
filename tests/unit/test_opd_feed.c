// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a source says, in lines of the text form (utils/opstream), and the whole
 * stream that the feed makes of it. Other lines of a script:
 *
 *	read	go on reading until there is nothing
 *	busy N	the next N questions for a name are too early
 *	slow N	to the next N there is a name, but no build-id yet
 *	account N M	the source says from now on: N taken, M of them lost
 *	ask	the reader wants the account
 *	log	tell what the log has
 *	end	behind what was said there is nothing any more
 *	waits N	so many bytes wait in the source, whenever it is asked
 *	flood	behind what was said there is always one sample more
 *	room N	the reader takes so many words at once
 *	changed	kernel modules may have come
 *	kallsyms OFFSET NAME MODULE	there is such a symbol
 *	map LINE	process 77 adds that to its perf map
 *	tells	first of all: the source tells of code that is made itself
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
#include "daemon/source/opd_feed.h"
#include "daemon/source/opd_source.h"
#include "libop/op_log.h"
#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"
#include "utils/opstream/stream_text.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define ROOM 4096
#define MAX_TRIES 64 /* of daemon/source/opd_feed.c */

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
	(void)source;
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
	ledger->taken = play.taken;
	return play.lost ? op_ledger_lose(ledger, "overflow", play.lost) : 0;
}

/* The file of cookie 19 is in the source's hand. */
static int play_take_file(struct opd_source *source, uint64_t cookie)
{
	(void)source;
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
	.cookie = play_cookie,
	.next_code = play_next_code,
	.take_file = play_take_file,
	.account = play_account,
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
static void read_all(struct opd_feed *feed, size_t room, FILE *out)
{
	static uint64_t words[16 * ROOM];
	size_t nr = 0;
	ssize_t got;

	while ((got = opd_feed_read(feed, words + nr, room)) > 0) {
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
	struct opd_source_ops ops = play_ops;
	struct opd_source source = { .ops = &ops,
				     .proc = proc,
				     .client = &client,
				     .events = &events,
				     .name = "play/timer",
				     .cpu_type = "timer",
				     .timer_hz = 250 };
	const char *at = row->script;
	struct opd_feed *feed;
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
	/* "tells", which comes first */
	ops.tells_user_code = source.tells_kernel_code = row->script[0] == 't';
	assert_int_equal(opd_feed_new(&feed, &source), 0);
	while (next_line(&at, line, sizeof(line))) {
		unsigned long nr = 0, lost = 0;
		char verb[16];

		assert_true(sscanf(line, "%15s %lu %lu", verb, &nr, &lost) > 0);
		if (!strcmp(verb, "read"))
			read_all(feed, room, out);
		else if (!strcmp(verb, "busy"))
			play.busy = (int)nr;
		else if (!strcmp(verb, "slow"))
			play.slow = (int)nr;
		else if (!strcmp(verb, "account"))
			set_account(nr, lost);
		else if (!strcmp(verb, "ask"))
			opd_feed_ask_account(feed);
		else if (!strcmp(verb, "end"))
			play.ends = true;
		else if (!strcmp(verb, "waits"))
			play.waiting = nr;
		else if (!strcmp(verb, "flood"))
			play.floods = true;
		else if (!strcmp(verb, "room"))
			room = nr;
		else if (!strcmp(verb, "changed"))
			opd_feed_kernel_changed(feed);
		else if (!strcmp(verb, "kallsyms"))
			add_kallsyms(proc, line);
		else if (!strcmp(verb, "map"))
			add_to_map(proc, line);
		else if (!strcmp(verb, "later"))
			seconds += (time_t)nr;
		else if (!strcmp(verb, "tells"))
			assert_true(ops.tells_user_code);
		else if (!strcmp(verb, "watched"))
			source.tells_kernel_code = true;
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
	opd_feed_free(feed);
	op_log_close(&log);
	remove_tree(proc);
}

#define BEGIN                                                                  \
	"stream\n"                                                             \
	"source 0x0 \"play/timer\"\n"                                          \
	"event 0 0xfa 0 0x0 0 1 \"TIMER\"\n"
#define VMLINUX                                                                \
	"kernel-range first 0xffffffff81000000 0xffffffff82000000 - \"vmlinux\"\n"
#define NOSUCH                                                                 \
	"kernel-range 0xffffffffc0010000 0xffffffffc0012000 - \"nosuch\"\n"
#define KERNEL                                                                 \
	VMLINUX "kernel-range 0xffffffffc0000000 0xffffffffc0001000 - \"ext4\"\n" NOSUCH
#define CODE(from, to, name)                                                   \
	"kernel-range code 0xffffffffc0" #from " 0xffffffffc0" #to             \
	" - \"" name "\"\n"
#define ANON "anon 0x7000 0x8000 \"anon\"\n"
#define MADE_NAME "cookie 9223372036854775809 2 0x0 0 0 - \"/77.jo\"\n"
#define MADE(key, counter)                                                     \
	"image 9223372036854775809\nsample " #key " " #counter "\n"
#define NAME(n) "cookie " #n " 0 0x0 0 10" #n " - \"/bin/p" #n "\"\n"
/* Without waiting for its file, which may hang. */
#define SLOW_NAME(n) "cookie " #n " 4 0x0 0 10" #n " - \"/bin/p" #n "\"\n"
#define NO_NAME(n) "cookie " #n " 0 0x0 0 0 - \"\"\n"

/* What is said before the first read comes behind the beginning. */
static const struct row rows[] = {
	{ "it_begins", NULL, "read; read", BEGIN },
	{ "a_sampled_kernel_is_told_at_once", "yes", "read",
	  "stream\n"
	  "source 0x0 \"play/timer\"\n"
	  "event 0 0xfa 0 0x0 1 1 \"TIMER\"\n" KERNEL },
	{ "tasks_are_told_before_their_first_use", "tasks",
	  "comm 6 6 boss; comm 6 7 worker; in 6 0::/a; cpu 0; ctx 7 11; tgid 6;"
	  "image 11; user; sample 0x5 0; ctx 6 11; tgid 6; sample 0x6 0;"
	  "ctx 7 11; tgid 6; sample 0x7 0; read; comm 6 7 idle; ask; read",
	  "sees /bin/p11 of 6\n" BEGIN
	  "cpu 0\n" NAME(11) "task-cgroup 6 0 \"/a\"\n"
			     "task-name 6 6 \"boss\"\n"
			     "task-name 6 7 \"worker\"\n"
			     "ctx 7 11\n"
			     "tgid 6\n"
			     "image 11\n"
			     "user\n"
			     "sample 0x5 0\n"
			     "ctx 6 11\n"
			     "tgid 6\n"
			     "sample 0x6 0\n"
			     "ctx 7 11\n"
			     "tgid 6\n"
			     "sample 0x7 0\n"
			     "task-name 6 7 \"idle\"\n" },
	{ "another_program_has_another_name", "tasks",
	  "comm 6 6 sh; cpu 0; ctx 6 11; tgid 6; read; comm 6 6 make;"
	  "ctx 6 12; tgid 6; read; ctx 9 11; tgid 9; read",
	  "sees /bin/p11 of 6\n" BEGIN "cpu 0\n" NAME(
		  11) "task-cgroup 6 0 \"\"\n"
		      "task-name 6 6 \"sh\"\n"
		      "ctx 6 11\n"
		      "tgid 6\n"
		      "sees /bin/p12 of 6\n" NAME(12) "task-cgroup 6 0 \"\"\n"
						      "task-name 6 6 \"make\"\n"
						      "ctx 6 12\n"
						      "tgid 6\n"
						      "task-cgroup 9 0 \"\"\n"
						      "ctx 9 11\n"
						      "tgid 9\n" },
	{ "a_link_that_is_told_has_the_name_of_its_file", NULL,
	  "task-run-as 6 11 /bin/link; read",
	  "sees /bin/p11 of 0\n" BEGIN NAME(
		  11) "task-run-as 6 11 \"/bin/link\"\n" },
	{ "names_come_before_their_first_use", NULL,
	  "cpu 0; ctx 7 11; tgid 6; user; image 12; sample 0x5 0;"
	  "image 11; sample 0x6 0; image 12; sample 0x7 0; read; asked;"
	  "cpu 1; ctx 7 11; image 12; read; asked",
	  "sees /bin/p11 of 6\n"
	  "sees /bin/p12 of 6\n" BEGIN
	  "cpu 0\n" NAME(11) "ctx 7 11\n"
			     "tgid 6\n"
			     "user\n" NAME(12) "image 12\n"
					       "sample 0x5 0\n"
					       "image 11\n"
					       "sample 0x6 0\n"
					       "image 12\n"
					       "sample 0x7 0\n"
					       "asked 2 times\n"
					       "cpu 1\n"
					       "ctx 7 11\n"
					       "image 12\n"
					       "asked 2 times\n" },
	{ "a_file_comes_with_its_name", NULL, "ctx 7 0; tgid 6; image 19; read",
	  "sees /bin/p19 of 6 and its file\n" BEGIN "ctx 7 0\n"
	  "tgid 6\n" NAME(19) "image 19\n" },
	{ "no_cookie_has_no_name", NULL, "ctx 7 0; image 0; read; asked",
	  BEGIN "ctx 7 0\nimage 0\nasked 0 times\n" },
	{ "who_has_no_name_is_told_to_have_none", NULL,
	  "image 100; image 100; read; asked",
	  BEGIN NO_NAME(100) "image 100\nimage 100\nasked 1 times\n" },
	{ "a_name_may_be_late", NULL,
	  "busy 3; image 11; sample 0x5 0; read; cpu 1; read",
	  BEGIN "image 11\n"
		"sample 0x5 0\n"
		"sees /bin/p11 of 0\n" NAME(11) "cpu 1\n" },
	{ "and_comes_with_the_account_when_nothing_else_does", NULL,
	  "busy 3; image 11; read; ask; read",
	  BEGIN "image 11\nsees /bin/p11 of 0\n" NAME(11) },
	{ "or_at_the_end", NULL, "busy 3; image 11; end; read; read",
	  "sees /bin/p11 of 0\n" BEGIN "image 11\n" NAME(11) "the end\n"
							     "the end\n" },
	{ "at_the_end_no_name_comes_any_more", NULL,
	  "busy 99; image 11; end; read",
	  BEGIN "image 11\n" NO_NAME(11) "the end\n" },
	{ "a_name_waits_for_its_build_id", NULL,
	  "slow 3; image 11; sample 0x5 0; read; cpu 1; read",
	  BEGIN "image 11\n"
		"sample 0x5 0\n"
		"sees /bin/p11 of 0\n" NAME(11) "cpu 1\n" },
	{ "but_not_when_the_account_is_wanted", NULL,
	  "slow 99; image 11; read; log; ask; read; log",
	  BEGIN "image 11\nsees /bin/p11 of 0\n" SLOW_NAME(
		  11) "log: /bin/p11: the file has not responded yet: its build-id is not read\n" },
	{ "nor_at_the_end", NULL, "slow 99; image 11; end; read",
	  "sees /bin/p11 of 0\n" BEGIN "image 11\n" SLOW_NAME(11) "the end\n" },
	{ "the_images_of_a_stack_are_named", NULL,
	  "record 15 0 1 1 2 0 0x33 0x1000 0x2000 0 11 0x3000 0x4000 0 12; read",
	  "sees /bin/p11 of 0\n"
	  "sees /bin/p12 of 0\n" BEGIN NAME(11) NAME(
		  12) "user-stack 0x1 0x1 0x2 0x0 0x33 0x1000 0x2000 0x0 0xb 0x3000 0x4000 0x0 0xc\n" },
	{ "of_a_stack_that_is_cut_none_is", NULL,
	  "record 15 0 1 1 2 0 0x33 0x1000 0x2000 0 11 0x3000 0x4000 0; read; asked",
	  BEGIN
	  "user-stack 0x1 0x1 0x2 0x0 0x33 0x1000 0x2000 0x0 0xb 0x3000 0x4000 0x0\n"
	  "asked 0 times\n" },
	{ "the_kernel_is_told_before_its_first_sample", NULL,
	  "cpu 0; kernel; user; sample 0x5 0; kernel; sample 0x6 0;"
	  "sample 0x7 0; cpu 1; sample 0x8 0; read",
	  BEGIN "cpu 0\nkernel\nuser\nsample 0x5 0\nkernel\n" KERNEL ""
		"sample 0x6 0\nsample 0x7 0\ncpu 1\nsample 0x8 0\n" },
	{ "and_again_once_it_has_changed", NULL,
	  "kernel; sample 0x6 0; module-loaded; sample 0x7 0; sample 0x8 0;"
	  "read; changed; sample 0x9 0; user; read",
	  BEGIN "kernel\n" KERNEL "sample 0x6 0\nmodule-loaded\n"
		"" KERNEL "sample 0x7 0\nsample 0x8 0\n"
		"" KERNEL "sample 0x9 0\nuser\n" },
	/* In each table up to the notice that it has gone, or until other such
	 * code or a module is in its place; the account is not told of it. */
	{ "with_what_a_module_runs_once", NULL,
	  "kernel; sample 0x6 0; module-loaded 0x100 0x200 ext4; sample 0x110 0;"
	  "sample 0x1ff 0; module-loaded 0x300 0x400 nosuch; sample 0x110 0;"
	  "module-loaded 0x0 0x0 ext4; sample 0x110 0; read",
	  BEGIN "kernel\n" KERNEL "sample 0x6 0\n"
		"module-loaded 0x100 0x200 \"ext4\"\n" KERNEL
		"kernel-range init 0x100 0x200 - \"ext4\"\n"
		"sample 0x110 0\nsample 0x1ff 0\n"
		"module-loaded 0x300 0x400 \"nosuch\"\n" KERNEL
		"kernel-range init 0x100 0x200 - \"ext4\"\n"
		"kernel-range init 0x300 0x400 - \"nosuch\"\n"
		"sample 0x110 0\nmodule-loaded 0x0 0x0 \"ext4\"\n" KERNEL
		"kernel-range init 0x300 0x400 - \"nosuch\"\n"
		"sample 0x110 0\n" },
	{ "unless_something_else_is_there", NULL,
	  "kernel; module-loaded 0x100 0x200 a; module-loaded 0x1ff 0x300 b;"
	  "sample 0x110 0;"
	  "module-loaded 0xffffffffbffff000 0xffffffffc0000001 c; sample 0x6 0;"
	  "module-loaded 0xffffffffc0000001 0xffffffffc0000009 d; sample 0x6 0;"
	  "read",
	  BEGIN
	  "kernel\nmodule-loaded 0x100 0x200 \"a\"\n"
	  "module-loaded 0x1ff 0x300 \"b\"\n" KERNEL
	  "kernel-range init 0x1ff 0x300 - \"b\"\nsample 0x110 0\n"
	  "module-loaded 0xffffffffbffff000 0xffffffffc0000001 \"c\"\n" KERNEL
	  "kernel-range init 0x1ff 0x300 - \"b\"\nsample 0x6 0\n"
	  "module-loaded 0xffffffffc0000001 0xffffffffc0000009 \"d\"\n" KERNEL
	  "kernel-range init 0x1ff 0x300 - \"b\"\n"
	  "kernel-range init 0xffffffffc0000001 0xffffffffc0000009 - \"d\"\n"
	  "sample 0x6 0\n" },
	/* /proc/modules, read late, has it no more: up to the notice that it
	 * has gone, or that another one is there. */
	{ "with_the_code_of_a_module_that_has_gone_meanwhile", NULL,
	  "kernel; module-loaded 0x100 0x200 gone 0x1000 0x2000; sample 0x110 0;"
	  "module-loaded 0x0 0x0 gone 0x1000 0x2000; sample 0x1010 0;"
	  "sample 0x1fff 0; module-loaded 0x0 0x0 gone 0x0 0x0; sample 0x1010 0;"
	  "module-loaded 0x0 0x0 a 0x1000 0x2000;"
	  "module-loaded 0x0 0x0 b 0x1fff 0x2001; sample 0x1fff 0; read",
	  BEGIN "kernel\n"
		"module-loaded 0x100 0x200 \"gone\" 0x1000 0x2000\n" KERNEL
		"kernel-range 0x1000 0x2000 - \"gone\"\n"
		"kernel-range init 0x100 0x200 - \"gone\"\n"
		"sample 0x110 0\n"
		"module-loaded 0x0 0x0 \"gone\" 0x1000 0x2000\n" KERNEL
		"kernel-range 0x1000 0x2000 - \"gone\"\n"
		"sample 0x1010 0\nsample 0x1fff 0\n"
		"module-loaded 0x0 0x0 \"gone\" 0x0 0x0\n" KERNEL
		"sample 0x1010 0\n"
		"module-loaded 0x0 0x0 \"a\" 0x1000 0x2000\n"
		"module-loaded 0x0 0x0 \"b\" 0x1fff 0x2001\n" KERNEL
		"kernel-range 0x1fff 0x2001 - \"b\"\n"
		"sample 0x1fff 0\n" },
	{ "instead_of_one_that_is_still_to_come", NULL,
	  "kernel;"
	  "module-loaded 0x0 0x0 gone 0xffffffffbffff000 0xffffffffc0000001;"
	  "sample 0xffffffffc0000000 0;"
	  "module-loaded 0x0 0x0 ext4 0xffffffffc0000000 0xffffffffc0000010;"
	  "sample 0xffffffffc0000000 0; read",
	  BEGIN
	  "kernel\nmodule-loaded 0x0 0x0 \"gone\" 0xffffffffbffff000 "
	  "0xffffffffc0000001\n" VMLINUX NOSUCH
	  "kernel-range 0xffffffffbffff000 0xffffffffc0000001 - \"gone\"\n"
	  "sample 0xffffffffc0000000 0\nmodule-loaded 0x0 0x0 \"ext4\" "
	  "0xffffffffc0000000 0xffffffffc0000010\n" KERNEL
	  "sample 0xffffffffc0000000 0\n" },
	{ "and_not_what_cannot_be", NULL,
	  "kernel; module-loaded 0x200 0x100 a; record 6 0 0x1 0x2;"
	  "record 6 0 0x1 0x2 99; sample 0x6 0; read",
	  BEGIN "kernel\nmodule-loaded 0x200 0x100 \"a\"\n"
		"record 6 0 0x1 0x2\nrecord 6 0 0x1 0x2 0x63\n" KERNEL
		"sample 0x6 0\n" },
	{ "with_code_that_was_made_before", NULL,
	  "kallsyms 100200 bpf_b bpf; kallsyms 100100 bpf_a bpf;"
	  "kallsyms 100300 twice bpf; kallsyms 100300 twice bpf;"
	  "kallsyms 300000 ftrace_trampoline __builtin__ftrace;"
	  "kallsyms 20 bpf_in_ext4 bpf; kallsyms 400000 x bpfilter;"
	  "kernel; sample 0xffffffffc0100180 0; read",
	  BEGIN "kernel\n" KERNEL CODE(100100, 100200, "bpf_a") CODE(
		  100200, 100300, "bpf_b") CODE(100300, 200300, "twice")
		  CODE(300000, 400000,
		       "ftrace_trampoline") "sample 0xffffffffc0100180 0\n" },
	{ "and_since_with_some_patience", NULL,
	  "kernel; sample 0xffffffff81000010 0; read;"
	  "kallsyms 100100 bpf_a bpf; sample 0xffffffffc0100110 0; read;"
	  "later 1; sample 0xffffffffc0000110 0; sample 0xffffffff81000010 0;"
	  "sample 0xffffffffc0100110 0; read;"
	  "later 1; sample 0xffffffffc0100110 0; read;"
	  "kallsyms 100200 bpf_b bpf; later 1; sample 0xffffffffc0100210 0; read;"
	  "later 1; sample 0xffffffffc0100210 0; read",
	  BEGIN
	  "kernel\n" KERNEL "sample 0xffffffff81000010 0\n"
	  "sample 0xffffffffc0100110 0\n"
	  "sample 0xffffffffc0000110 0\nsample 0xffffffff81000010 0\n" CODE(
		  100100, 200100,
		  "bpf_a") "sample 0xffffffffc0100110 0\n"
			   "sample 0xffffffffc0100110 0\n"
			   "sample 0xffffffffc0100210 0\n" CODE(
				   100200, 200200,
				   "bpf_b") "sample 0xffffffffc0100210 0\n" },
	{ "what_the_source_tells_is_right", NULL,
	  "tells; kallsyms 100100 bpf_a bpf; kernel;"
	  "sample 0xffffffffc0100110 0; read; later 99; kallsyms 100100 old bpf;"
	  "sample 0xffffffffc0100110 0; read;"
	  "kernel-range code 0xffffffffc0100100 0xffffffffc0100200 - \"new\";"
	  "sample 0xffffffffc0100110 0; kallsyms 100180 inside bpf;"
	  "later 99; sample 0xffffffffc0100300 0; read",
	  BEGIN "kernel\n" KERNEL CODE(
		  100100, 200100,
		  "bpf_a") "sample 0xffffffffc0100110 0\n"
			   "sample 0xffffffffc0100110 0\n" CODE(
				   100100, 100200,
				   "new") "sample 0xffffffffc0100110 0\n"
					  "sample 0xffffffffc0100300 0\n" },
	{ "new_code_comes_before_samples_in_it", NULL,
	  "watched; kallsyms 100100 old bpf; kernel;"
	  "sample 0xffffffffc0100110 0; read; made 100100 80 new;"
	  "sample 0xffffffffc0100110 0; later 99; sample 0xffffffffc0100170 0;"
	  "read",
	  BEGIN "kernel\n" KERNEL
		  CODE(100100, 200100, "old") "sample 0xffffffffc0100110 0\n" CODE(
			  100100, 100180,
			  "new") "sample 0xffffffffc0100110 0\n"
				 "sample 0xffffffffc0100170 0\n" },
	{ "where_some_was_missed_all_is_looked_for_again", NULL,
	  "watched; kernel; sample 0xffffffff81000010 0; read;"
	  "made 100100 80 a; sample 0xffffffffc0100110 0; read;"
	  "kallsyms 100100 b bpf; missed; later 1;"
	  "sample 0xffffffffc0100110 0; read",
	  BEGIN "kernel\n" KERNEL "sample 0xffffffff81000010 0\n" CODE(
		  100100, 100180,
		  "a") "sample 0xffffffffc0100110 0\n" CODE(100100, 200100,
							    "b") "sample 0xffffffffc0100110 0\n" },
	{ "a_sample_of_a_feature_is_one_too", NULL,
	  "kernel; ibs-fetch 1 2 3 4 5; ibs-op 1 2 3 4 5 6 7 8 9; read",
	  BEGIN "kernel\n" KERNEL "ibs-fetch 0x1 0x2 0x3 0x4 0x5\n"
		"ibs-op 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9\n" },
	{ "what_was_lost_is_told_once", NULL,
	  "read; account 10 3; ask; read; ask; read; account 20 5; ask; read;"
	  "account 21 5; read; ask; read",
	  BEGIN "lost 3 \"overflow\"\ntaken 10\n"
		"lost 2 \"overflow\"\ntaken 20\n"
		"taken 21\n" },
	{ "behind_what_there_is", NULL, "ask; account 2 0; sample 0x5 0; read",
	  BEGIN "sample 0x5 0\ntaken 2\n" },
	{ "once_what_waited_then_has_been_read", NULL,
	  "waits 32; flood; account 9 1; ask; read; ask; read",
	  BEGIN "sample 0x1 0\nsample 0x1 0\nlost 1 \"overflow\"\ntaken 9\n"
		"sample 0x1 0\n"
		"sample 0x1 0\nsample 0x1 0\nsample 0x1 0\n" },
	{ "and_at_the_end_unasked", NULL, "account 7 0; end; read; read",
	  BEGIN "taken 7\nthe end\nthe end\n" },
	{ "no_source_tells_what_is_not_its_own", NULL,
	  "stream 1 8; cpu 0; source 0 \"x\"; event 0 0x1 2 0x0 1 1 \"E\";"
	  "cookie 11 0 0x0 0 5 - \"/x\"; lost 5 \"cause\"; taken 9;"
	  "kernel-range first 0x1000 0x2000 - \"vmlinux\";"
	  "kernel-range 0x1000 0x2000 - \"ext4\";"
	  "kernel-range code 0x1000 0x2000 - \"bpf\"; cpu 1; read",
	  BEGIN "cpu 0\nkernel-range code 0x1000 0x2000 - \"bpf\"\ncpu 1\n" },
	{ "what_is_unknown_goes_through", NULL,
	  "record 700 1 5; weight 6; sample 0x5 0; raw 0xffffffffffffffff; read",
	  BEGIN "record 700 1 0x5\nweight 6\nsample 0x5 0\n"
		"raw 0xffffffffffffffff\n" },
	{ "code_that_a_program_made_has_an_image", NULL,
	  "map 7100 20 a; map 7200 20 b; cpu 0; ctx 77 11; tgid 77; user;"
	  "anon 0x7000 0x8000 \"anon\"; sample 0x101 0; sample 0x300 0;"
	  "sample 0x202 1; sample 0x102 0; image 12; sample 0x101 0; read",
	  "sees /bin/p11 of 77\n"
	  "sees /77.jo of 77\n"
	  "sees /bin/p12 of 77\n" BEGIN
	  "cpu 0\n" NAME(11) "ctx 77 11\ntgid 77\nuser\n" ANON MADE_NAME MADE(
		  0x1001, 0) ANON "sample 0x300 0\n" MADE(0x1032, 1)
		  ANON MADE(0x1002, 0)
			  ANON NAME(12) "image 12\nsample 0x101 0\n" },
	{ "but_not_of_a_process_that_is_not_told_or_in_the_kernel", NULL,
	  "map 7100 20 a; cpu 0; anon 0x7000 0x8000 \"anon\"; user;"
	  "sample 0x101 0; ctx 77 0; tgid 77; cpu 1; ctx 77 0; tgid 77; user;"
	  "sample 0x101 0; ctx 78 0; tgid 78; anon 0x7000 0x8000 \"anon\";"
	  "sample 0x101 0; read",
	  BEGIN "cpu 0\n" ANON "user\nsample 0x101 0\nctx 77 0\ntgid 77\n"
		"cpu 1\nctx 77 0\ntgid 77\nuser\nsample 0x101 0\n"
		"ctx 78 0\ntgid 78\n" ANON "sample 0x101 0\n" },
	/* What runs on another CPU is not told yet. */
	{ "nor_of_the_process_of_another_cpu", NULL,
	  "map 7100 20 a; cpu 0; ctx 77 0; tgid 77; cpu 1; user;"
	  "anon 0x7000 0x8000 \"anon\"; sample 0x101 0; read",
	  BEGIN "cpu 0\nctx 77 0\ntgid 77\ncpu 1\nuser\n" ANON
		"sample 0x101 0\n" },
	{ "nor_where_the_source_knows_it", NULL,
	  "tells; map 7100 20 a; cpu 0; ctx 77 0; tgid 77; user;"
	  "anon 0x7000 0x8000 \"anon\"; sample 0x101 0; read",
	  BEGIN "cpu 0\nctx 77 0\ntgid 77\nuser\n" ANON "sample 0x101 0\n" },
	{ "a_program_that_is_another_has_other_code", NULL,
	  "map 7100 20 a; ctx 77 0; tgid 77; user;"
	  "anon 0x7000 0x8000 \"anon\"; sample 0x101 0; ctx 77 12; tgid 77;"
	  "sample 0x101 0; read",
	  "sees /77.jo of 77\nsees /bin/p12 of 77\n"
	  "sees /77.2.jo of 77\n" BEGIN
	  "ctx 77 0\ntgid 77\nuser\n" ANON MADE_NAME MADE(0x1001, 0) ANON NAME(
		  12) "ctx 77 12\ntgid 77\n"
		      "cookie 9223372036854775810 2 0x0 0 0 - \"/77.2.jo\"\n"
		      "image 9223372036854775810\nsample 0x1001 0\n" ANON },
	{ "reads_may_be_short", NULL,
	  "room 1; cpu 0; ctx 7 11; tgid 6; kernel; sample 0x5 0; sample 0x6 0;"
	  "image 12; account 5 1; end; read",
	  "sees /bin/p11 of 6\n"
	  "sees /bin/p12 of 6\n" BEGIN "cpu 0\n" NAME(
		  11) "ctx 7 11\n"
		      "tgid 6\nkernel\n" KERNEL
		      "sample 0x5 0\nsample 0x6 0\n" NAME(
			      12) "image 12\nlost 1 \"overflow\"\ntaken 5\nthe end\n" },
};

static void test_row(void **state)
{
	check_row(*state, run_feed);
}

/* Whoever is asked for and asked for has no name in the end. */
static void test_names_that_never_come(void **state)
{
	char script[32 + 100 * 12] = "busy 9999; image 11; read;", *wanted;
	struct row row = { "never", NULL, script, NULL };
	size_t len;
	FILE *out = open_memstream(&wanted, &len);

	(void)state;
	fputs(BEGIN "image 11\n", out);
	for (int i = 1; i <= 100; i++) {
		strcat(script, "cpu 1;read;");
		fprintf(out, "%scpu 1\n", i == MAX_TRIES ? NO_NAME(11) : "");
	}
	fclose(out);
	row.wanted = wanted;
	check_row(&row, run_feed);
	free(wanted);
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(test_names_that_never_come),
	};

	return run_rows(rows, NR(rows), test_row, others, NR(others));
}
