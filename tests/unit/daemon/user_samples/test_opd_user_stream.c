// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a user gets of a session that root takes: rows with a session, and what
 * a daemon of that user counts of it. Nobody else's samples are in that, and of
 * the kernel only as much as is to be told.
 */

#include "daemon/user_samples/opd_user_stream.h"
#include "tests/unit/opd_history_fixture.h"
#include "tests/unit/daemon/opd_rows.h"

#define USERS "--separate-user=1"
#define ALL                                                                    \
	USERS " --separate-lib=1 --separate-kernel=1 --separate-thread=1"      \
	      " --separate-cpu=1 --separate-cgroup=1"

#define WORLD                                                                  \
	"stream 1 8;"                                                          \
	"kernel-range first 0xffffffff81000000 0xffffffff82000000 - vmlinux;"  \
	"kernel-range 0xffffffffc0000000 0xffffffffc0010000 - ext4;"           \
	"cookie 1 0 0 0 0 - /bin/mine; cookie 2 0 0 0 0 - /lib/c;"             \
	"cookie 3 0 0 0 0 - /bin/theirs; cpu 1;"
#define MINE "ctx 12 1; tgid 11 1000;"
#define THEIRS "ctx 22 3; tgid 21 1001;"
#define NOBODYS "ctx 32 3; tgid 31;"

static const struct row rows[] = {
	{ "only_what_is_theirs", USERS,
	  WORLD MINE "image 1; user; sample 0x10 0; sample 0x10 0;" THEIRS
		     "image 3; user; sample 0x30 0;" NOBODYS
		     "sample 0x30 0;" MINE "image 2; sample 0x20 0;",
	  EXPECTED_ROW },
	{ "nothing_is_theirs", USERS,
	  WORLD THEIRS "image 3; user; sample 0x30 0;",
	  "-61: there are no samples of your processes\n" },
	{ "no_session", USERS " --separate-lib=1", "stream 1 8;",
	  "-61: there are no samples of your processes\n" },
	/* How much is in the kernel, and nothing of where. */
	{ "the_kernel_is_not_told", USERS " --separate-kernel=1",
	  WORLD MINE
	  "kernel; sample 0xffffffff81000010 0; sample 0xffffffff81000020 0;"
	  "sample 0xffffffffc0000010 0; sample 0xffffffffd0000000 0;",
	  EXPECTED_ROW },
	{ "the_kernel_is_told", USERS " --separate-kernel=1 kernel",
	  WORLD MINE
	  "kernel; sample 0xffffffff81000010 0; sample 0xffffffff81000020 0;"
	  "sample 0xffffffffc0000010 0; sample 0xffffffffd0000000 0;",
	  EXPECTED_ROW },
	{ "all_that_keeps_apart", ALL,
	  WORLD "task-name 11 11 main; task-name 11 12 worker;"
		"task-cgroup 11 0 /a/b;" MINE
		"image 2; user; sample 0x20 0; cpu 2;" MINE
		"image 2; user; sample 0x20 0;"
		"anon 0x7f0000000000 0x7f0000010000 anon; sample 0x30 0;"
		"show-names;",
	  EXPECTED_ROW },
	{ "threads_without_names", USERS " --separate-thread=1",
	  WORLD "task-name 11 12 worker;" MINE
		"ctx 13 1; tgid 11 1000; image 1; user; sample 0x10 0;" MINE
		"image 1; user; sample 0x10 0; show-names;",
	  EXPECTED_ROW },
	{ "anonymous_memory_of_all_threads", USERS,
	  WORLD MINE "user; anon 0x7f0000000000 0x7f0000010000 anon;"
		     "sample 0x30 0; anon 0x1000 0x2000 12345678; sample 0x5 0",
	  EXPECTED_ROW },
	/* It is in the kernel's hands, and nothing that is to be kept from
	 * users. */
	{ "images_that_the_kernel_has_for_all", USERS,
	  WORLD "cookie 5 2 0 0 0 - [vdso]; cookie 6 2 0 0 0 - [vsyscall];" MINE
		"user; image 5; sample 0x10 0; image 6; sample 0x20 0",
	  EXPECTED_ROW },
	{ "stacks_are_left_out", USERS " --separate-lib=1",
	  WORLD MINE "user; image 1; trace; sample 0x10 0; sample 0x20 0;"
		     "trace-end 0; call 0 1 2 0x200 1 0x100",
	  EXPECTED_ROW },
	{ "what_files_say", USERS " kernel",
	  "stream 1 8 2400000 i386/core; event 0 0xcd 1000 0x1 1 1 LOADS;"
	  "event 1 250 0 0 1 1 TIMER;"
	  "kernel-range first 0xffffffff81000000 0xffffffff82000000 "
	  "0102030405060708 vmlinux;"
	  "cookie 1 0 0 0 77 1112131415161718 /bin/mine;" MINE "cpu 1;" MINE
	  "image 1; user; sample 0x10 0; sample 0x11 1;"
	  "kernel; sample 0xffffffff81000010 0; show-headers",
	  EXPECTED_ROW },
	{ "a_stream_of_a_thread", ALL,
	  WORLD "task-name 11 11 main; task-name 11 12 worker;"
		"task-cgroup 11 0 /a/b;" MINE
		"image 2; user; sample 0x20 0; show-stream",
	  EXPECTED("a-stream-of-a-thread") },
	{ "a_stream_of_anonymous_memory", USERS,
	  WORLD MINE "anon 0x7f0000000000 0x7f0000010000 12345678; user;"
		     "sample 0x30 0; show-stream",
	  EXPECTED("a-stream-of-anonymous-memory") },
	{ "a_stream_of_a_short_name", USERS,
	  WORLD MINE "anon 0x7f0000000000 0x7f0000010000 123456789; user;"
		     "sample 0x30 0; show-stream",
	  EXPECTED("a-stream-of-a-short-name") },
	/* Code that a module has run once is told as the kernel's. */
	{ "a_stream_of_the_kernel", USERS " kernel",
	  WORLD
	  "kernel-range init 0xffffffffa0001000 0xffffffffa0001080 - ext4;" MINE
	  "kernel; sample 0xffffffffc0000010 0;"
	  "sample 0xffffffffa0001000 0; show-stream",
	  EXPECTED("a-stream-of-the-kernel") },
	{ "a_stream_of_the_kernel_alone", USERS " kernel",
	  WORLD MINE "kernel; sample 0xffffffff81000010 0; show-stream",
	  EXPECTED("a-stream-of-the-kernel-alone") },
	{ "a_stream_of_an_event", USERS,
	  "stream 1 8; event 0 0x3c 5000 0x0 1 1 CYCLES;"
	  "cookie 1 0 0 0 5 0102 /bin/mine;"
	  "cpu 1;" MINE "image 1; user; sample 0x10 0;"
	  "times 0x1000000000000; sample 0x10 0; show-stream",
	  EXPECTED("a-stream-of-an-event") },
	/* What is told once is not told again. */
	{ "a_stream_of_two_cpus", ALL,
	  WORLD "task-name 11 11 main; task-name 11 12 worker;" MINE
		"image 2; user; sample 0x20 0; cpu 2;" MINE
		"image 2; user; sample 0x20 0; show-lines",
	  EXPECTED("a-stream-of-two-cpus") },
	{ "a_stream_of_the_kernel_on_two_cpus",
	  USERS " --separate-cpu=1 kernel",
	  WORLD MINE "kernel; sample 0xffffffff81000010 0; cpu 2;" MINE
		     "kernel; sample 0xffffffff81000010 0; show-lines",
	  EXPECTED("a-stream-of-the-kernel-on-two-cpus") },
	{ "a_stream_of_two_threads", USERS " --separate-thread=1",
	  WORLD "task-name 11 11 main; task-name 11 12 worker;"
		"task-name 11 13 helper;" MINE
		"image 1; user; sample 0x20 0; ctx 13 1; tgid 11 1000; image 1;"
		"sample 0x20 0; show-lines",
	  EXPECTED("a-stream-of-two-threads") },
	{ "a_damaged_file_is_left_out", USERS,
	  WORLD MINE
	  "image 1; user; sample 0x10 0; image 2; sample 0x20 0;"
	  "damage {root}/lib/c/{user}/1000/{dep}/{root}/lib/c/TIMER.0.0.all.all.all",
	  EXPECTED_ROW },
	{ "a_file_of_another_version_is_left_out", USERS,
	  WORLD MINE
	  "image 1; user; sample 0x10 0; image 2; sample 0x20 0;"
	  "renew {root}/lib/c/{user}/1000/{dep}/{root}/lib/c/TIMER.0.0.all.all.all",
	  EXPECTED_ROW },
	{ "a_span_that_is_none_is_left_out", USERS,
	  WORLD MINE "image 1; user; sample 0x10 0; not-a-span", EXPECTED_ROW },
	/* A process that is the user's own no more has nothing in it. */
	{ "users_are_told_by_whole_numbers", USERS,
	  WORLD "ctx 12 1; tgid 11 100; image 1; user; sample 0x10 0;"
		"ctx 12 1; tgid 11 10000; sample 0x10 0;"
		"ctx 12 1; tgid 11; sample 0x10 0",
	  "-61: there are no samples of your processes\n" },
	{ "builds_of_one_path", USERS,
	  WORLD "cookie 4 0 0 0 0 0102030405060708 /lib/d;"
		"cookie 5 0 0 0 0 1112131415161718 /lib/d;" MINE
		"user; image 4; sample 0x10 0; image 5; sample 0x10 0;"
		"sample 0x10 0;",
	  EXPECTED_ROW },
	{ "several_events", USERS,
	  "stream 1 8; event 0 0xcd 1000 0x1 1 1 LOADS;"
	  "event 1 0x3c 5000 0x0 1 1 CYCLES;"
	  "cookie 1 0 0 0 0 - /bin/mine; cpu 1;" MINE
	  "image 1; user; sample 0x10 1; sample 0x20 0; sample 0x10 1;",
	  EXPECTED_ROW },
	/* More than one record of times can say. */
	{ "often", USERS,
	  WORLD MINE "image 1; user; times 4000000000; sample 0x10 0;"
		     "times 4000000000; sample 0x10 0;",
	  EXPECTED_ROW },
	{ "a_history", USERS,
	  WORLD MINE "image 1; user; sample 0x10 0;" THEIRS
		     "image 3; sample 0x30 0; close-span;" MINE
		     "image 1; sample 0x10 0; sample 0x20 0; close-span;"
		     "sample 0x20 0;",
	  EXPECTED_ROW },
};

/* The options of @given but the last word "kernel", which is no option. */
static struct fixture *new_session(const char *given, bool *kernel)
{
	char options[512];
	char *word;

	snprintf(options, sizeof(options), "%s", given);
	word = strstr(options, " kernel");
	*kernel = word && !strcmp(word, " kernel");
	if (*kernel)
		*word = '\0';
	return new_with(options);
}

static void show_separate(FILE *out, const struct opd_user_stream_separate *by)
{
	fprintf(out, "by%s%s%s%s%s\n", by->kernel ? " kernel" : "",
		by->lib ? " lib" : "", by->thread ? " thread" : "",
		by->cpu ? " cpu" : "", by->cgroup ? " cgroup" : "");
}

/* What is printed besides. */
struct shown {
	bool names, headers, stream, sorted;
};

static int compare_text_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The records of @words, as text; @sorted, as the order of files is any. */
static void show_stream(const struct op_stream_words *words, bool sorted,
			FILE *out)
{
	struct stream_buf text = { NULL, 0 };
	struct stream_unit unit;
	char *lines[64], *rest;
	size_t nr = 0;

	for (size_t at = 0;
	     stream_unit_at(&unit, words->words + at, words->nr - at, true);
	     at += unit.words)
		assert_int_equal(
			stream_text_print(&text, &unit, words->words + at), 0);
	assert_int_equal(stream_buf_add(&text, "", 1), 0);
	for (char *line = strtok_r((char *)text.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		assert_true(nr < NR(lines));
		lines[nr++] = line;
	}
	if (sorted)
		qsort(lines, nr, sizeof(lines[0]), compare_text_lines);
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s\n", lines[i]);
	stream_buf_release(&text);
}

/* A daemon of the user counts @words, which keep apart what @by says. */
static void count_mine(const struct op_stream_words *words,
		       const struct opd_user_stream_separate *by,
		       const struct shown *shown, FILE *out)
{
	struct fixture *f;
	char options[512];
	size_t used;

	snprintf(options, sizeof(options),
		 "--separate-lib=%d --separate-kernel=%d --separate-thread=%d"
		 " --separate-cpu=%d --separate-cgroup=%d",
		 by->lib, by->kernel, by->thread, by->cpu, by->cgroup);
	f = new_with(options);
	used = opd_trans_run(&f->opd, words->words, words->nr);
	opd_trans_end(&f->opd, words->nr - used);
	if (shown->names)
		fprintf(out, "%s %s\n",
			op_tasks_name_of(&f->opd.tasks.names, 11, 11) ?: "-",
			op_tasks_name_of(&f->opd.tasks.names, 11, 12) ?: "-");
	if (shown->headers)
		show_each(f, out, show_header);
	show_all(f, out);
	free_with(f);
}

static void damage_file(struct fixture *f, const char *name)
{
	char path[8192];

	opd_sfiles_drop_all(&f->opd.store);
	sample_path(f, name, path, sizeof(path));
	assert_int_equal(truncate(path, 100), 0);
}

/* Its counts are sound, its header is of another version. */
static void renew_header(struct fixture *f, const char *name)
{
	struct op_sample_header header;
	struct odb *odb;
	char path[8192];

	opd_sfiles_drop_all(&f->opd.store);
	sample_path(f, name, path, sizeof(path));
	assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
	memcpy(&header, odb_user(odb), sizeof(header));
	header.version++;
	memcpy(odb_user(odb), &header, sizeof(header));
	odb_close(odb);
}

static void put_empty_file(struct fixture *f, const char *name)
{
	char path[8192];
	int fd;

	sample_path(f, name, path, sizeof(path));
	fd = creat(path, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void run_mine(const struct row *row, FILE *out)
{
	struct op_stream_words words = { .nr = 0 };
	struct words *w = calloc(1, sizeof(*w));
	struct opd_user_stream_request request = { .source = "test",
						   .user = 1000 };
	struct opd_user_stream_separate by;
	struct op_diag diag = { "" };
	const char *at = row->script;
	struct shown shown = { .names = false };
	struct fixture *f = new_session(row->given, &request.kernel);
	char line[8192];
	int err;

	assert_non_null(w);
	now = START;
	keep(f, "64M,minute:10m,hour:1d,day:2d");
	f->opd.store.history.begin = (uint64_t)START;
	while (next_line(&at, line, sizeof(line))) {
		if (!strcmp(line, "show-names")) {
			shown.names = true;
		} else if (!strcmp(line, "show-headers")) {
			shown.headers = true;
		} else if (!strcmp(line, "show-stream")) {
			shown.stream = true;
		} else if (!strcmp(line, "show-lines")) {
			shown.stream = shown.sorted = true;
		} else if (!strcmp(line, "not-a-span")) {
			put_empty_file(f, ".span-1000000000-1000000060");
		} else if (!strncmp(line, "damage ", 7)) {
			run_whole(f, w);
			damage_file(f, line + 7);
		} else if (!strncmp(line, "renew ", 6)) {
			run_whole(f, w);
			renew_header(f, line + 6);
		} else if (!strcmp(line, "close-span")) {
			run_whole(f, w);
			now += 60;
			close_span(f);
		} else {
			put_line(w, line);
		}
	}
	run_words(f, w);
	opd_sfiles_sync(&f->opd.store);
	opd_tasks_write(&f->opd.tasks, true);
	request.folder = f->opd.session.current;
	err = opd_user_stream(&words, &by, &request, &diag);
	if (err) {
		fprintf(out, "%d: %s\n", err, diag.text);
	} else {
		show_separate(out, &by);
		if (shown.stream)
			show_stream(&words, shown.sorted, out);
		count_mine(&words, &by, &shown, out);
	}
	free(words.words);
	free(w);
	free_with(f);
}

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_mine);
}

/* ---- what cannot be handed over ---------------------------------------------
 */

/* What comes of the samples in @folder, of which there is no stream. */
static void must_refuse_mine(const char *folder, int wanted, const char *why)
{
	const struct opd_user_stream_request request = { .folder = folder,
							 .source = "test",
							 .user = 1000 };
	struct op_stream_words words = { .nr = 0 };
	struct opd_user_stream_separate by;
	struct op_diag diag = { "" };

	assert_int_equal(opd_user_stream(&words, &by, &request, &diag), wanted);
	assert_string_equal(diag.text, why);
	free(words.words);
}

TEST(folders_without_samples)
{
	must_refuse_mine("/proc/self/no-such-folder", -ENODATA,
			 "there are no samples of your processes");
	must_refuse_mine("/proc/self/status", -ENOTDIR,
			 "your samples cannot be read: Not a directory");
}

/* A session with the words of @text, whose files are closed. */
static struct fixture *session_of(const char *text)
{
	struct fixture *f = new_with(USERS);
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	put_text(w, text);
	run_words(f, w);
	opd_sfiles_drop_all(&f->opd.store);
	free(w);
	return f;
}

/* Make it @count more that @key was counted in a sample file of the session. */
static void count_more(struct fixture *f, const char *name, uint64_t key,
		       uint64_t count)
{
	struct odb *odb;
	char path[8192];

	sample_path(f, name, path, sizeof(path));
	assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
	assert_int_equal(odb_add(odb, key, count), 0);
	odb_close(odb);
}

/* Of an image, and of the kernel, whose samples are one number. */
TEST(sums_beyond_64_bits)
{
	static const struct {
		const char *text, *name;
	} sessions[] = {
		{ WORLD MINE "image 1; user; sample 0x10 0; sample 0x20 0",
		  "{root}/bin/mine/{user}/1000/{dep}/{root}/bin/mine/TIMER.0.0.all.all.all" },
		{ WORLD MINE "kernel; sample 0xffffffff81000010 0;"
			     "sample 0xffffffff81000020 0",
		  "{kern}/vmlinux/{user}/1000/{dep}/{kern}/vmlinux/TIMER.0.0.all.all.all" },
	};

	for (size_t i = 0; i < NR(sessions); i++) {
		struct fixture *f = session_of(sessions[i].text);

		count_more(f, sessions[i].name, 0x10, UINT64_MAX - 1);
		must_refuse_mine(
			f->opd.session.current, -EOVERFLOW,
			"your samples cannot be read: Value too large for defined data type");
		free_with(f);
	}
}

/* More than the words of a stream: each key has five of them. */
TEST(more_samples_than_a_stream_has)
{
	static const char name[] =
		"{root}/bin/mine/{user}/1000/{dep}/{root}/bin/mine/TIMER.0.0.all.all.all";
	struct fixture *f =
		session_of(WORLD MINE "image 1; user; sample 0x0 0");
	struct odb *odb;
	char path[8192];

	sample_path(f, name, path, sizeof(path));
	assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
	for (uint64_t key = 1; key <= OPD_USER_STREAM_MAX_WORDS / 5; key++)
		assert_int_equal(odb_add(odb, key, 1), 0);
	odb_close(odb);
	must_refuse_mine(
		f->opd.session.current, -EFBIG,
		"these are too many samples to hand over; ask root for an archive");
	free_with(f);
}

/* A stream has no more events than there are counters; a session may. */
TEST(more_events_than_a_stream_has)
{
	struct fixture *f = new_with(USERS);
	struct op_stream_words words = { .nr = 0 };
	struct words *w = calloc(1, sizeof(*w));
	struct opd_user_stream_request request = { .source = "test",
						   .user = 1000 };
	struct opd_user_stream_separate by;
	struct op_diag diag = { "" };
	char line[128];

	assert_non_null(w);
	for (int i = 0; i <= OP_MAX_COUNTERS; i++) {
		w->nr = 0;
		snprintf(line, sizeof(line),
			 "stream 1 8; event 0 0xcd %d 0 1 1 LOADS;", 1000 + i);
		put_text(w, line);
		put_text(w, "cookie 1 0 0 0 0 - /bin/mine; cpu 1;" MINE
			    "image 1; user; sample 0x10 0");
		run_words(f, w);
		opd_sfiles_drop_all(&f->opd.store);
		request.folder = f->opd.session.current;
		if (i == OP_MAX_COUNTERS)
			break;
		assert_int_equal(opd_user_stream(&words, &by, &request, &diag),
				 0);
		free(words.words);
		memset(&words, 0, sizeof(words));
	}
	must_refuse_mine(request.folder, -EFBIG,
			 "these are samples of more than 32 events");
	free(w);
	free_with(f);
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC0", 1);
}
