// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The history of a session: closing spans, summing and removing them, at any
 * time of a clock that the test puts forward, and after deaths in between.
 */
#include "daemon/source/opd_writer.h"
#include "tests/unit/opd_history_fixture.h"

/* ---- closing ----------------------------------------------------------------
 */

TEST(a_span_is_what_came_since_the_last)
{
	struct fixture *f = new_history("10M,minute:1h");

	assert_false(opd_history_is_due(&f->opd.store));
	take(f, "/bin/sh", 5);
	now += 59;
	assert_false(opd_history_is_due(&f->opd.store));
	now += 1;
	assert_true(opd_history_is_due(&f->opd.store));
	close_span(f);
	assert_string_equal(spans_of(f), "0-60=5 ");
	assert_int_equal(total(f), 0);
	assert_int_equal(ledger_of(f).stored, 0);
	assert_int_equal(status_says(f, "stored"), 5);
	/* Nothing in this one. */
	now += 60;
	assert_true(opd_history_is_due(&f->opd.store));
	close_span(f);
	assert_false(opd_history_is_due(&f->opd.store));
	take(f, "/bin/sh", 2);
	take(f, "/bin/ls", 1);
	now += 70;
	close_span(f);
	take(f, "/bin/ls", 4);
	assert_string_equal(spans_of(f), "0-60=5 120-190=3 ");
	assert_int_equal(status_says(f, "stored"), 12);
	must_tend(f);
	assert_string_equal(spans_of(f), "0-60=5 120-190=3 ");
	assert_int_equal(ledger_of(f).stored, 4);
	free_fixture(f);
}

TEST(nobody_is_disturbed)
{
	struct fixture *f = new_history("10M,minute:1h");
	struct op_diag diag = { "" };
	struct db_folder *reader;

	take(f, "/bin/sh", 5);
	now += 60;
	assert_int_equal(db_folder_open(&reader, f->opd.session.current), 0);
	assert_int_equal(opd_span_close(&f->opd, &diag), -EBUSY);
	assert_string_equal(spans_of(f), "");
	take(f, "/bin/sh", 1);
	db_folder_close(reader);
	f->opd.store.pack.child = 1;
	assert_int_equal(opd_span_close(&f->opd, &diag), -EBUSY);
	f->opd.store.pack.child = 0;
	assert_int_equal(ledger_of(f).stored, 6);
	f->opd.store.history.is_untended = true;
	assert_int_equal(opd_span_close(&f->opd, &diag), -EBUSY);
	now += 3;
	close_span(f);
	assert_string_equal(spans_of(f), "0-63=6 ");
	free_fixture(f);
}

TEST(a_clock_that_is_set_back_makes_no_overlap)
{
	struct fixture *f = new_history("10M,minute:1h");
	uint64_t limit;

	take(f, "/bin/sh", 1);
	now += 600;
	close_span(f);
	now -= 300;
	take(f, "/bin/sh", 1);
	assert_false(opd_history_is_due(&f->opd.store));
	/* What has no room would be lost. */
	limit = f->opd.store.disk.limit;
	f->opd.store.disk.limit = 4096;
	f->opd.store.disk.room = 0;
	assert_true(opd_history_is_due(&f->opd.store));
	close_span(f);
	assert_string_equal(spans_of(f), "0-600=1 600-601=1 ");
	f->opd.store.disk.limit = limit;
	opd_disk_measure(&f->opd.store);
	take(f, "/bin/sh", 1);
	assert_false(opd_history_is_due(&f->opd.store));
	now += 301;
	assert_false(opd_history_is_due(&f->opd.store));
	now += 60;
	assert_true(opd_history_is_due(&f->opd.store));
	close_span(f);
	assert_string_equal(spans_of(f), "0-600=1 600-601=1 601-661=1 ");
	free_fixture(f);
}

/* A span has a second at least, and ends no later than now. */
TEST(spans_end_in_time)
{
	static const struct {
		int end, wanted;
	} rows[] = { { 30, 30 }, { 60, 60 }, { 61, 60 },	{ 1, 1 },
		     { 0, 1 },	 { -5, 1 },  { (int)-START, 1 } };
	char wanted[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = new_history("10M,minute:1h");
		struct op_diag diag = { "" };

		take(f, "/bin/sh", 5);
		assert_int_equal(opd_stats_write(&f->opd.stats), 0);
		now += 60;
		assert_int_equal(opd_history_close(&f->opd.store,
						   START + rows[i].end, 0,
						   &diag),
				 0);
		snprintf(wanted, sizeof(wanted), "0-%d=5 ", rows[i].wanted);
		assert_string_equal(spans_of(f), wanted);
		/* The next one begins now. */
		assert_int_equal(f->opd.store.history.begin, START + 60);
		assert_true(f->opd.store.history.is_untended);
		free_fixture(f);
	}
}

static void set_mtime(struct fixture *f, const char *name, time_t seconds)
{
	const struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };
	char path[8192];

	sample_path(f, name, path, sizeof(path));
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* That was when the newest of its files was written; spans do not count. */
TEST(a_session_tells_when_it_was_left)
{
	struct fixture *f = new_history("10M,minute:1h");
	char ledger[64];

	assert_int_equal(opd_history_left_at(&f->opd.store), 0);
	take(f, "/bin/ls", 1);
	now += 60;
	close_span(f);
	snprintf(ledger, sizeof(ledger), ".span-%lld-%lld/ledger",
		 (long long)START, (long long)START + 60);
	set_mtime(f, ledger, START + 500);
	take(f, "/bin/sh", 1);
	opd_sfiles_drop_all(&f->opd.store);
	assert_int_equal(opd_stats_write(&f->opd.stats), 0);
	set_mtime(f, SH, START + 100);
	set_mtime(f, "ledger", START + 99);
	assert_int_equal(opd_history_left_at(&f->opd.store), START + 100);
	set_mtime(f, "ledger", START + 101);
	assert_int_equal(opd_history_left_at(&f->opd.store), START + 101);
	free_fixture(f);
}

/* Room is looked for at once, but once a second, and by one child. */
TEST(a_full_disk_presses)
{
	struct fixture *f = new_history("10M,minute:1h");
	struct opd_store *store = &f->opd.store;

	opd_disk_init(store, 0);
	store->disk.limit = 1024;
	store->disk.room = 512;
	assert_false(opd_history_is_pressed(store));
	store->disk.room = 511;
	assert_true(opd_history_is_pressed(store));
	assert_false(opd_history_is_pressed(store));
	now++;
	store->pack.child = 1;
	assert_false(opd_history_is_pressed(store));
	store->pack.child = 0;
	assert_true(opd_history_is_pressed(store));
	now++;
	store->history.limits.bytes = 0;
	assert_false(opd_history_is_pressed(store));
	assert_false(opd_history_is_due(store));
	free_fixture(f);
}

TEST(reset_and_save_take_the_history_along)
{
	struct fixture *f = new_history("10M,minute:1h");
	struct op_diag diag = { "" };
	char path[8192];
	struct op_ledger ledger;

	take(f, "/bin/sh", 3);
	now += 60;
	close_span(f);
	take(f, "/bin/sh", 4);
	assert_int_equal(opd_command_save(&f->opd, "old", &diag), 0);
	snprintf(path, sizeof(path), "%s/old", f->opd.session.samples);
	assert_int_equal(op_session_account(path, &ledger, &diag), 0);
	assert_int_equal(ledger.stored, 7);
	assert_string_equal(spans_of(f), "");
	assert_int_equal(status_says(f, "stored"), 0);
	take(f, "/bin/sh", 1);
	now += 60;
	close_span(f);
	assert_string_equal(spans_of(f), "60-120=1 ");
	assert_int_equal(opd_command_reset(&f->opd, &diag), 0);
	assert_string_equal(spans_of(f), "");
	assert_int_equal(status_says(f, "stored"), 0);
	free_fixture(f);
}

/* "NAME " of each thread 1 to 3 of process 1 that has one in @dir/@folder. */
static const char *names_in(const char *dir, const char *folder)
{
	static char text[256];
	struct op_tasks names = { 0 };
	struct op_diag diag = { "" };
	char path[8192];

	text[0] = '\0';
	snprintf(path, sizeof(path), "%s/%s/tasks", dir, folder);
	(void)op_tasks_read(&names, path, &diag);
	for (uint32_t tid = 1; tid <= 3; tid++) {
		const char *name = op_tasks_name_of(&names, 1, tid);

		strcat(text, name ? name : "");
		strcat(text, name ? " " : "");
	}
	op_tasks_release(&names);
	return text;
}

static ssize_t write_nothing(struct opd_source *source)
{
	(void)source;
	return -EAGAIN;
}

/* Whether the writer has been asked to name tasks again since the last call. */
static bool is_asked(struct fixture *f)
{
	struct opd_names *names = &f->opd.source.writer->names;
	bool asked = !names->is_last;

	names->is_last = true;
	return asked;
}

/* If the source tells them again: else those of all threads that ever were
 * would go from span to span. What is replayed tells them once. */
TEST(names_belong_to_their_span)
{
	static const struct {
		bool ends;
		const char *next, *last, *reset;
	} rows[] = {
		{ false, "", "three ", "" },
		{ true, "one two ", "one two three ", "one two three " },
	};
	static struct opd_source_ops ops;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = new_history("10M,minute:1h");
		struct opd_tasks *tasks = &f->opd.tasks;
		const char *dir = f->opd.session.current;
		struct op_diag diag = { "" };

		ops = *f->opd.source.ops;
		ops.ends = rows[i].ends;
		ops.write = write_nothing;
		f->opd.source.ops = &ops;
		f->opd.source.writer = opd_writer_new(&f->opd.source);
		assert_non_null(f->opd.source.writer);
		f->opd.source.writer->begun = true;
		assert_true(is_asked(f));
		tasks->keeps_names = true;
		opd_tasks_learn_name(tasks, 1, 1, "one");
		opd_tasks_learn_name(tasks, 1, 2, "two");
		take(f, "/bin/sh", 1);
		now += 60;
		close_span(f);
		assert_string_equal(names_in(dir,
					     ".span-1790726400-1790726460"),
				    "one two ");
		assert_string_equal(names_in(dir, "."), rows[i].next);
		assert_int_equal(is_asked(f), !rows[i].ends);
		opd_tasks_learn_name(tasks, 1, 3, "three");
		take(f, "/bin/sh", 1);
		now += 60;
		close_span(f);
		assert_string_equal(names_in(dir,
					     ".span-1790726460-1790726520"),
				    rows[i].last);
		assert_int_equal(is_asked(f), !rows[i].ends);
		assert_int_equal(opd_command_reset(&f->opd, &diag), 0);
		assert_string_equal(names_in(dir, "."), rows[i].reset);
		assert_int_equal(is_asked(f), !rows[i].ends);
		free_fixture(f);
	}
}

/* A sample that waits for the name of its image belongs to the next span, like
 * those of the task that the stream is in. */
TEST(names_of_samples_that_wait)
{
	struct fixture *f = new_history("10M,minute:1h");
	struct opd_source_ops ops = *f->opd.source.ops;
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	ops.ends = false;
	f->opd.source.ops = &ops;
	f->opd.tasks.keeps_names = true;
	opd_tasks_learn_name(&f->opd.tasks, 5, 5, "five");
	opd_tasks_learn_name(&f->opd.tasks, 1, 2, "two");
	opd_tasks_learn_name(&f->opd.tasks, 1, 3, "three");
	put_cpu(w, 0);
	put_task(w, 2, 1, 77777);
	put_image(w, 77777);
	put_user(w);
	put_sample(w, 0x10, 0);
	put_task(w, 3, 1, 77777);
	take(f, "/bin/sh", 1);
	opd_trans_run(&f->opd, w->word, w->nr);
	free(w);
	assert_int_equal(f->opd.defer.nr, 1);
	now += 60;
	close_span(f);
	assert_string_equal(names_in(f->opd.session.current, "."),
			    "two three ");
	assert_int_equal(f->opd.tasks.names.nr, 2);
	free_fixture(f);
}

/* ---- deaths -----------------------------------------------------------------
 */

static void go_on_with(struct fixture *f, const char *history)
{
	restart_daemon(f);
	keep(f, history);
}

/* What a daemon leaves that was killed after @nr renames of closing. */
static void killed_while_closing(unsigned int nr)
{
	static const char *const entries[] = { "{loose}", "packed", "ledger" };
	struct fixture *f = new_history("10M,minute:1h");
	char from[8192], to[8192];
	const char *dir = f->opd.session.current;

	take(f, "/bin/sh", 3);
	pack(f);
	take(f, "/bin/sh", 4);
	opd_sfiles_drop_all(&f->opd.store);
	assert_int_equal(opd_stats_write(&f->opd.stats), 0);
	snprintf(to, sizeof(to), "%s/.closing-%lld-%lld", dir, (long long)START,
		 (long long)START + 60);
	assert_int_equal(mkdir(to, 0755), 0);
	for (unsigned int i = 0; i < nr; i++) {
		snprintf(from, sizeof(from), "%s/%s", dir, entries[i]);
		snprintf(to, sizeof(to), "%s/.closing-%lld-%lld/%s", dir,
			 (long long)START, (long long)START + 60, entries[i]);
		assert_int_equal(rename(from, to), 0);
	}
	now += 90;
	/* The new daemon counts only after the span is complete. */
	restart_daemon(f);
	assert_string_equal(spans_of(f), "0-60=7 ");
	assert_int_equal(total(f), 0);
	assert_int_equal(ledger_of(f).stored, 0);
	assert_int_equal(ledger_of(f).taken, 0);
	assert_int_equal(status_says(f, "stored"), 7);
	assert_int_equal(status_says(f, "taken"), 7);
	keep(f, "10M,minute:1h");
	take(f, "/bin/ls", 2);
	now += 60;
	close_span(f);
	assert_string_equal(spans_of(f), "0-60=7 60-150=2 ");
	free_fixture(f);
}

TEST(a_daemon_dies_while_it_closes_a_span)
{
	for (unsigned int nr = 0; nr <= 3; nr++)
		killed_while_closing(nr);
}

/* Something is in the way of the last file: the span has a part. */
TEST(a_span_is_closed_in_part)
{
	struct fixture *f = new_history("10M,minute:1h");
	struct op_diag diag = { "" };
	char path[8192];

	take(f, "/bin/sh", 3);
	pack(f);
	take(f, "/bin/sh", 4);
	now += 60;
	snprintf(path, sizeof(path), "%s/.closing-%lld-%lld/packed",
		 f->opd.session.current, (long long)START,
		 (long long)START + 60);
	assert_int_equal(op_make_parents(path, 0755), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(opd_span_close(&f->opd, &diag), -EEXIST);
	assert_non_null(strstr(diag.text, "its samples still count"));
	assert_int_equal(rmdir(path), -1); /* the span has another name now */
	snprintf(path, sizeof(path), "%s/.span-%lld-%lld/packed",
		 f->opd.session.current, (long long)START,
		 (long long)START + 60);
	assert_int_equal(rmdir(path), 0);
	/* All samples count, and so says the next daemon. */
	assert_int_equal(total(f) + 0, total(f));
	assert_int_equal(count_samples(f), 7);
	take(f, "/bin/sh", 1);
	assert_int_equal(opd_stats_write(&f->opd.stats), 0);
	go_on_with(f, "10M,minute:1h");
	assert_int_equal(status_says(f, "stored"), 8);
	assert_int_equal(status_says(f, "taken"), 8);
	free_fixture(f);
}

/* A path of @len bytes, in folders. */
static void make_long_path(char *path, size_t len)
{
	memset(path, 'x', len);
	for (size_t i = 0; i + 1 < len; i += 100)
		path[i] = '/';
	path[len] = '\0';
}

/* What fits samples/current fits where it moves to, too: else nobody could pack
 * or count it. Its name has the path twice. */
TEST(long_paths_move)
{
	struct fixture *f = new_history("10M,minute:10m,hour:1d");
	struct op_diag diag = { "" };
	char path[2048], to[8192], wanted[64];
	struct op_ledger ledger;

	for (size_t len = 1700; len < 2040; len++) {
		make_long_path(path, len);
		take(f, path, 1);
	}
	ledger = ledger_of(f);
	assert_in_range(ledger.stored, 50, 330);
	assert_int_equal(op_ledger_lost(&ledger), 340 - ledger.stored);
	/* Those of a packer that died, of a span, of a saved session. */
	die_after(f, BEGUN);
	assert_int_equal(count_samples(f), ledger.stored);
	now += 30 * MINUTE;
	close_span(f);
	snprintf(wanted, sizeof(wanted), "0-1800=%d ", (int)ledger.stored);
	assert_string_equal(spans_of(f), wanted);
	memset(path, 'n', NAME_MAX);
	path[NAME_MAX] = '\0';
	assert_int_equal(opd_command_save(&f->opd, path, &diag), 0);
	snprintf(to, sizeof(to), "%s/%s/.span-%lld-%lld",
		 f->opd.session.samples, path, (long long)START,
		 (long long)START + 1800);
	assert_int_equal(sum_of(to, NULL, 0).loose, ledger.stored);
	restart_daemon(f);
	free_fixture(f);
}

/* What was to be in a span that cannot be made, as on a full disk, is in the
 * next one, with the time of both. */
TEST(a_span_that_cannot_be_made)
{
	struct fixture *f = new_history("10M,minute:1h");
	struct op_diag diag = { "" };
	char path[8192];
	int fd;

	take(f, "/bin/sh", 3);
	now += 60;
	snprintf(path, sizeof(path), "%s/.closing-%lld-%lld",
		 f->opd.session.current, (long long)START,
		 (long long)START + 60);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(opd_span_close(&f->opd, &diag), -ENOTDIR);
	assert_non_null(strstr(diag.text, "cannot be made"));
	assert_false(f->opd.store.history.is_untended);
	assert_true(opd_history_is_due(&f->opd.store));
	assert_int_equal(unlink(path), 0);
	take(f, "/bin/sh", 4);
	now += 10;
	close_span(f);
	assert_string_equal(spans_of(f), "0-70=7 ");
	assert_int_equal(ledger_of(f).stored, 0);
	assert_int_equal(status_says(f, "stored"), 7);
	free_fixture(f);
}

/* ---- sums -------------------------------------------------------------------
 */

TEST(old_spans_become_coarser_ones)
{
	struct fixture *f = new_history("10M,minute:10m,hour:2h");

	for (int i = 0; i < 3; i++) {
		take(f, i % 2 ? "/bin/sh" : "/bin/ls", i + 1);
		now += 20 * MINUTE;
		close_span(f);
		must_tend(f);
	}
	assert_string_equal(spans_of(f), "0-1200=1 1200-2400=2 2400-3600=3 ");
	take(f, "/bin/sh", 10);
	now += 9 * MINUTE;
	close_span(f);
	must_tend(f);
	assert_string_equal(spans_of(f),
			    "0-1200=1 1200-2400=2 2400-3600=3 3600-4140=10 ");
	now += 1 * MINUTE;
	must_tend(f);
	assert_string_equal(spans_of(f), "0-3600=6 3600-4140=10 ");
	must_tend(f);
	assert_string_equal(spans_of(f), "0-3600=6 3600-4140=10 ");
	/* The last grain is removed when all of a span is that old. */
	now = START + 3 * HOUR - 1;
	must_tend(f);
	assert_string_equal(spans_of(f), "0-3600=6 3600-4140=10 ");
	now += 1;
	must_tend(f);
	assert_string_equal(spans_of(f), "3600-4140=10 ");
	free_fixture(f);
}

/* A sum, what it is made of, and the remains of one that was begun. */
TEST(what_a_killed_child_leaves_counts_once)
{
	struct fixture *f = new_history("10M,minute:1h,hour:1d");
	char path[8192], copy[3 * 8192];
	const char *dir = f->opd.session.current;

	for (int i = 0; i < 2; i++) {
		take(f, "/bin/sh", 1 + i);
		now += 30 * MINUTE;
		close_span(f);
	}
	/* The rename of a sum was its last deed. */
	snprintf(path, sizeof(path), "%s/.span-%lld-%lld", dir,
		 (long long)START, (long long)START + 3600);
	snprintf(
		copy, sizeof(copy),
		"cp -r %s/.span-%lld-%lld %s.sum && cp -r %s.sum %s/.making-1-2",
		dir, (long long)START + 1800, (long long)START + 3600, dir, dir,
		dir);
	assert_int_equal(system(copy), 0);
	snprintf(copy, sizeof(copy), "%s.sum", dir);
	assert_int_equal(rename(copy, path), 0);
	assert_string_equal(spans_of(f), "0-3600=2 ");
	must_tend(f);
	assert_string_equal(spans_of(f), "0-3600=2 ");
	snprintf(path, sizeof(path), "%s/.making-1-2", dir);
	assert_int_equal(access(path, F_OK), -1);
	free_fixture(f);
}

/* A file in place of the folder that a span has while it is removed. */
static void make_unremovable(struct fixture *f, long long begin, long long end)
{
	char path[8192];
	int fd;

	snprintf(path, sizeof(path), "%s/.making-%lld-%lld",
		 f->opd.session.current, begin, end);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_true(fd >= 0);
	close(fd);
}

TEST(what_cannot_be_removed_drops_nothing)
{
	struct fixture *f = new_history("10M,minute:1h");
	struct op_diag diag;

	for (int i = 0; i < 2; i++) {
		take(f, "/bin/sh", i + 1);
		now += 30 * MINUTE;
		close_span(f);
	}
	make_unremovable(f, 1, 2);
	assert_int_equal(tend(f, &diag), -ENOTDIR);
	assert_string_equal(spans_of(f), "0-1800=1 1800-3600=2 ");
	/* What is old goes nevertheless. */
	now += 35 * MINUTE;
	assert_int_equal(tend(f, &diag), -ENOTDIR);
	assert_string_equal(spans_of(f), "1800-3600=2 ");
	free_fixture(f);
}

/* A part of a sum that stays is neither summed nor accounted for again. */
TEST(what_cannot_be_removed_counts_once)
{
	struct fixture *f = new_history("10M,minute:10m,hour:20m,day:10d");
	const char *dir = f->opd.session.current;
	struct op_diag diag;
	char copy[3 * 8192];

	now += 30 * MINUTE;
	opd_history_skip(&f->opd.store);
	take(f, "/bin/sh", 2);
	now += 30 * MINUTE;
	close_span(f);
	take(f, "/bin/sh", 4);
	now += HOUR;
	close_span(f);
	snprintf(
		copy, sizeof(copy),
		"cp -r %s/.span-%lld-%lld %s.sum && mv %s.sum %s/.span-%lld-%lld",
		dir, (long long)START + 1800, (long long)START + 3600, dir, dir,
		dir, (long long)START, (long long)START + 3600);
	assert_int_equal(system(copy), 0);
	make_unremovable(f, START + 1800, START + 3600);
	now = START + DAY + HOUR;
	assert_int_equal(tend(f, &diag), -ENOTDIR);
	assert_string_equal(spans_of(f), "0-7200=6 ");
	/* All of it is too old. */
	now += 20 * DAY;
	assert_int_equal(tend(f, &diag), -ENOTDIR);
	assert_string_equal(spans_of(f), "");
	opd_history_tended(&f->opd.store, -ENOTDIR);
	assert_int_equal(f->opd.store.history.dropped_account.stored, 6);
	free_fixture(f);
}

static int add_to_size(const struct op_walk_entry *entry, void *ctx)
{
	*(uint64_t *)ctx += (uint64_t)entry->st->st_blocks * 512;
	return 0;
}

/* The bound holds with what cannot be removed, too. */
TEST(what_cannot_be_removed_takes_room)
{
	struct fixture *f = new_history("10M,minute:10d,hour:20d");
	const char *dir = f->opd.session.current;
	uint64_t most = opd_history_most(&f->opd.store.history.limits);
	uint64_t size = 0, dropped = 16384;
	char path[8192];
	struct op_diag diag;
	int fd;

	for (int i = 0; i < 2; i++) {
		take(f, "/bin/sh", i + 1);
		now += MINUTE;
		close_span(f);
		must_tend(f);
	}
	snprintf(path, sizeof(path), "%s/.span-%lld-%lld", dir,
		 (long long)START + 60, (long long)START + 120);
	assert_int_equal(op_walk(path, add_to_size, &size), 0);
	make_unremovable(f, 1, 2);
	snprintf(path, sizeof(path), "%s/.making-1-2", dir);
	fd = open(path, O_WRONLY);
	assert_int_equal(
		posix_fallocate(fd, 0,
				(off_t)(most - dropped - size - size / 2)),
		0);
	close(fd);
	assert_int_equal(tend(f, &diag), -ENOTDIR);
	assert_string_equal(spans_of(f), "60-120=2 ");
	free_fixture(f);
}

/* All of a span was packed, but for removing what was packed. */
TEST(what_a_killed_packer_leaves_goes)
{
	struct fixture *f = new_history("10M,minute:1h");
	char path[8192];

	take(f, "/bin/sh", 3);
	die_after(f, COMMITTED);
	now += 60;
	close_span(f);
	snprintf(path, sizeof(path), "%s/.span-%lld-%lld/.packing-1",
		 f->opd.session.current, (long long)START,
		 (long long)START + 60);
	assert_int_equal(access(path, F_OK), 0);
	must_tend(f);
	assert_int_equal(access(path, F_OK), -1);
	assert_string_equal(spans_of(f), "0-60=3 ");
	free_fixture(f);
}

static void flip_a_byte(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	char byte;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte = (char)~byte;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

/* Neither is anything lost, nor the rest of the history held up. */
TEST(of_what_is_damaged_no_sum_is_made)
{
	struct fixture *f = new_history("10M,minute:10m,hour:1d");
	struct op_diag diag;
	char path[8192];

	for (int i = 0; i < 4; i++) {
		take(f, "/bin/sh", i + 1);
		now += 30 * MINUTE;
		close_span(f);
	}
	f->opd.store.history.sums_after = now + 1;
	must_tend(f);
	f->opd.store.history.sums_after = 0;
	snprintf(path, sizeof(path), "%s/.span-%lld-%lld/packed",
		 f->opd.session.current, (long long)START,
		 (long long)START + 1800);
	flip_a_byte(path, 40);
	now += 30 * MINUTE;
	assert_int_equal(tend(f, &diag), -EBADMSG);
	assert_non_null(strstr(spans_of(f), "1800-3600=2 3600-7200=7 "));
	assert_true(!access(path, F_OK));
	/* The daemon leaves it alone for an hour. */
	opd_history_tended(&f->opd.store, -EBADMSG);
	must_tend(f);
	now += HOUR;
	assert_int_equal(tend(f, &diag), -EBADMSG);
	free_fixture(f);
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC0", 1);
}
