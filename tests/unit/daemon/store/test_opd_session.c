// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What lasts longer than a daemon: ledgers, damaged files, saved
 * sessions, the lock.
 */

#include <dlfcn.h>
#include <fts.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "daemon/opd_command.h"
#include "daemon/store/opd_leftovers.h"
#include "libop/files/op_folder.h"
#include "tests/unit/opd_fixture.h"

#define SH "{root}/bin/sh/{dep}/{root}/bin/sh/TIMER.0.0.all.all.all"
#define LS "{root}/bin/ls/{dep}/{root}/bin/ls/TIMER.0.0.all.all.all"

static void put_samples(struct words *w, uint64_t cookie, int nr)
{
	put_cpu(w, 0);
	put_task(w, 1, 1, cookie);
	put_image(w, cookie);
	put_user(w);
	while (nr--)
		put_sample(w, 0x10, 0);
}

/* @nr samples of build @build (0: none) of @path. */
static void take_build(struct fixture *f, uint64_t cookie, const char *path,
		       uint64_t build, int nr)
{
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	put_cookie_built(w, cookie, path, build);
	put_samples(w, cookie, nr);
	run_words(f, w);
	free(w);
}

static void take(struct fixture *f, const char *path, int nr)
{
	static uint64_t cookie;

	take_build(f, ++cookie, path, 0, nr);
}

static void write_file(struct fixture *f, const char *name, const char *text)
{
	char path[8192];
	FILE *file;

	sample_path(f, name, path, sizeof(path));
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* The ledger says @wanted and has no other samples. */
static void ledger_is(struct fixture *f, const char *wanted)
{
	struct op_ledger l = ledger_of(f);
	char text[512];
	int len = snprintf(text, sizeof(text), "taken %lu stored %lu", l.taken,
			   l.stored);

	for (unsigned int i = 0; i < l.nr_causes; i++)
		if (l.causes[i].nr)
			len += snprintf(text + len, sizeof(text) - (size_t)len,
					" %s %lu", l.causes[i].name,
					l.causes[i].nr);
	assert_string_equal(text, wanted);
	assert_int_equal(l.pending, 0);
}

/* ---- leftovers --------------------------------------------------------------
 */

static bool is_there(const struct fixture *f, const char *name)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/%s", f->opd.session.dir, name);
	return !access(path, F_OK);
}

static int begin(void **state)
{
	*state = new_replay();
	return 0;
}

static int end(void **state)
{
	free_fixture(*state);
	return 0;
}

#define SESSION_TEST(name) TEST_WITH(name, begin, end)

SESSION_TEST(unfinished_files_go_and_no_others)
{
	static const struct {
		const char *name;
		bool stays;
	} files[] = {
		{ "samples/current/.packed.grow", false },
		{ "samples/current/.tmp-aB3xyz", false },
		{ "samples/current/{root}/bin/.x.grow", false },
		{ "samples/current/{root}/bin/.tmp-aB3xyz", false },
		{ "samples/current/.packing-9/{root}/.x.grow", false },
		{ "samples/saved/.packed.grow", false },
		{ "symbols/.tmp-000000", false },
		{ "samples/current/{root}/bin/x.grow", true },
		{ "samples/current/.grow", true },
		{ "samples/current/.x.grow2", true },
		{ "samples/current/.tmp-aB3xy", true },
		{ "samples/current/.tmp-aB3xyz0", true },
		{ "samples/current/packed", true },
		{ "samples/saved/{root}/.x.grow", true },
		{ ".tmp-settin", true },
		{ "store/.tmp-aB3xyz", true },
	};
	struct fixture *f = *state;
	char path[8192];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", f->opd.session.dir,
			 files[i].name);
		assert_int_equal(op_make_parents(path, 0755), 0);
		file = fopen(path, "w");
		assert_non_null(file);
		fclose(file);
	}
	/* What looks like one and is no file stays. */
	snprintf(path, sizeof(path), "%s/.folder.grow", f->opd.session.current);
	assert_int_equal(mkdir(path, 0755), 0);
	opd_leftovers_remove(&f->opd.store);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (is_there(f, files[i].name) != files[i].stays)
			fail_msg("%s", files[i].name);
	assert_true(is_there(f, "samples/current/.folder.grow"));
}

SESSION_TEST(the_next_daemon_removes_unfinished_files)
{
	struct fixture *f = *state;

	take(f, "/bin/sh", 3);
	write_file(f, ".packed.grow", "half a pack");
	restart_daemon(f);
	assert_false(is_there(f, "samples/current/.packed.grow"));
	ledger_is(f, "taken 3 stored 3");
}

/* ---- ledgers ----------------------------------------------------------------
 */

SESSION_TEST(the_ledger_goes_on)
{
	struct fixture *f = *state;

	take(f, "/bin/sh", 3);
	assert_int_equal(opd_finish(&f->opd), 0);
	for (int i = 1; i <= 3; i++) {
		restart_daemon(f);
		assert_int_equal(ledger_of(f).taken, 3 * i);
		take(f, "/bin/sh", 2);
		take(f, "/bin/ls", 1);
		assert_int_equal(opd_finish(&f->opd), 0);
	}
	ledger_is(f, "taken 12 stored 12");
	assert_int_equal(count_at(f, SH, 0x10), 9);
}

SESSION_TEST(a_killed_daemon_loses_no_stored_sample)
{
	struct fixture *f = *state;

	take(f, "/bin/sh", 3);
	assert_int_equal(opd_stats_write(&f->opd.stats), 0);
	take(f, "/bin/sh", 4);
	restart_daemon(f); /* without a last ledger */
	ledger_is(f, "taken 7 stored 7");
}

SESSION_TEST(pending_samples_die_with_it)
{
	struct fixture *f = *state;

	take(f, "/bin/sh", 5);
	/* As it was when 3 were stored and 9 on their way. */
	write_file(f, "ledger",
		   "source = module/timer\ntaken = 14\nstored = 3\n"
		   "pending = 9\nlost.event_lost_overflow = 2\n");
	restart_daemon(f);
	ledger_is(
		f,
		"taken 14 stored 5 event_lost_overflow 2 lost_daemon_killed 7");
}

SESSION_TEST(a_damaged_ledger_makes_way)
{
	struct fixture *f = *state;

	take(f, "/bin/sh", 5);
	opd_finish(&f->opd);
	write_file(f, "ledger", "taken = a lot\n");
	restart_daemon(f);
	ledger_is(f, "taken 5 stored 5");
	assert_true(exists(f, "current/ledger.bad"));
}

/* ---- damaged sample files ---------------------------------------------------
 */

SESSION_TEST(damaged_files_make_way_at_the_start)
{
	struct fixture *f = *state;

	take(f, "/bin/sh", 5);
	take(f, "/bin/ls", 2);
	opd_finish(&f->opd);
	write_file(f, SH, "this is no database");
	restart_daemon(f);
	ledger_is(f, "taken 7 stored 2 lost_damaged_file 5");
	assert_true(has_samples(f, SH ".bad"));
	take(f, "/bin/sh", 1);
	assert_int_equal(count_at(f, SH, 0x10), 1);
}

SESSION_TEST(damaged_files_make_way_in_between)
{
	struct fixture *f = *state;

	for (int i = 1; i <= 3; i++) {
		take(f, "/bin/sh", 5);
		opd_sfiles_drop_all(&f->opd.store);
		write_file(f, SH, "this is no database");
	}
	take(f, "/bin/sh", 2);
	assert_int_equal(opd_stats_write(&f->opd.stats), 0);
	ledger_is(f, "taken 17 stored 2 lost_damaged_file 15");
	assert_true(has_samples(f, SH ".bad"));
	assert_true(has_samples(f, SH ".bad-2"));
	assert_true(has_samples(f, SH ".bad-3"));
}

SESSION_TEST(a_strange_header_is_damage)
{
	struct fixture *f = *state;
	struct op_sample_header *header;
	char path[8192];
	struct odb *odb;

	take(f, "/bin/sh", 5);
	opd_sfiles_drop_all(&f->opd.store);
	sample_path(f, SH, path, sizeof(path));
	assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
	header = odb_user(odb);
	header->kind = 999;
	odb_close(odb);
	take(f, "/bin/sh", 1);
	assert_int_equal(count_at(f, SH, 0x10), 1);
	assert_true(has_samples(f, SH ".bad"));
}

SESSION_TEST(deleted_files_are_made_again)
{
	struct fixture *f = *state;
	struct words *w = calloc(1, sizeof(*w));
	struct op_ledger l;

	assert_non_null(w);
	take(f, "/bin/sh", 5);
	/* What somebody does who does not know of --reset. */
	remove_tree(f->opd.session.current);
	put_cookie(w, 999, "/bin/sh");
	put_samples(w, 999, 0);
	for (uint64_t key = 0; key < 1000; key++)
		put_sample(w, key * 4, 0);
	run_words(f, w);
	assert_int_equal(opd_stats_write(&f->opd.stats), 0);
	l = ledger_of(f);
	assert_int_equal(l.taken, 1005);
	assert_true(l.stored > 0);
	assert_int_equal(l.stored + op_ledger_lost_by(&l, "lost_damaged_file"),
			 1005);
	free(w);
}

SESSION_TEST(a_folder_in_the_way)
{
	struct fixture *f = *state;
	struct op_ledger l;
	char path[8192];

	sample_path(f, SH, path, sizeof(path));
	assert_int_equal(mkdir(f->opd.session.current, 0755), -1);
	take(f, "/bin/sh", 1);
	opd_sfiles_drop_all(&f->opd.store);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	take(f, "/bin/sh", 3);
	opd_stats_ledger(&f->opd.stats, &l);
	assert_int_equal(op_ledger_lost_by(&l, "lost_sample_file"), 3);
	/* It is tried again later. */
	assert_int_equal(rmdir(path), 0);
	opd_sfiles_sync(&f->opd.store);
	take(f, "/bin/sh", 3);
	assert_int_equal(count_at(f, SH, 0x10), 3);
}

/* ---- other builds -----------------------------------------------------------
 */

SESSION_TEST(two_builds_of_an_application_share_its_files)
{
	struct fixture *f = *state;
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	f->opd.options.separate_lib = true;
	put_cookie_built(w, 1, "/bin/sh", 111);
	put_cookie_built(w, 2, "/bin/sh", 222);
	put_cookie_built(w, 3, "/lib/libc.so", 5);
	for (int i = 0; i < 10; i++) {
		put_cpu(w, 0);
		put_task(w, 1, 1, i % 2 ? 1 : 2);
		put_image(w, 3);
		put_user(w);
		put_sample(w, 1, 0);
	}
	run_words(f, w);
	assert_int_equal(
		count_at(
			f,
			"{root}/bin/sh/{dep}/{root}/lib/libc.so/{build:0500000000000000}/TIMER.0.0.all.all.all",
			1),
		10);
	assert_int_equal(f->opd.store.sfiles.nr_open, 1);
	free(w);
}

SESSION_TEST(images_have_the_build_of_their_cookie)
{
	struct fixture *f = *state;
	struct op_cookie_query query = {
		.cookie = 1,
		.mtime = 1700000000,
		.build_id_len = 2,
		.build_id = { 0xab, 0xcd },
		.path = "/bin/sh",
	};
	struct opd_image *image;

	assert_int_equal(opd_cookie_learn(&f->opd.cookies, &query), 0);
	assert_int_equal(opd_cookie_find(&f->opd.cookies, 1, &image), 0);
	assert_int_equal(image->mtime, 1700000000);
	assert_int_equal(image->build_id.len, 2);
	assert_memory_equal(image->build_id.bytes, query.build_id, 2);
}

/* ---- the session as a whole -------------------------------------------------
 */

SESSION_TEST(reset_starts_at_zero)
{
	struct fixture *f = *state;
	struct op_diag diag = { "" };

	take(f, "/bin/sh", 5);
	opd_finish(&f->opd);
	restart_daemon(f);
	take(f, "/bin/ls", 2);
	assert_int_equal(opd_command_reset(&f->opd, &diag), 0);
	assert_int_equal(ledger_of(f).nr_causes, 0);
	ledger_is(f, "taken 0 stored 0");
	take(f, "/bin/ls", 4);
	ledger_is(f, "taken 4 stored 4");
	assert_int_equal(count_at(f, LS, 0x10), 4);
	assert_false(has_samples(f, SH));
}

/* What was damaged or deleted before is not searched for. */
SESSION_TEST(reset_needs_no_count)
{
	struct fixture *f = *state;
	struct op_diag diag = { "" };

	take(f, "/bin/sh", 5);
	opd_sfiles_drop_all(&f->opd.store);
	write_file(f, SH, "this is no database");
	take(f, "/bin/sh", 2);
	assert_true(f->opd.store.recount);
	assert_int_equal(opd_session_reset(&f->opd.store, &diag), 0);
	assert_false(f->opd.store.recount);
	assert_int_equal(count_samples(f), 0);
}

/* Whoever compares what is there with what was finds another folder. */
SESSION_TEST(reset_makes_another_folder)
{
	struct fixture *f = *state;
	struct op_diag diag = { "" };
	int fd = open(f->opd.session.current, O_RDONLY | O_DIRECTORY);
	struct stat before, now;

	assert_true(fd >= 0);
	assert_int_equal(opd_session_reset(&f->opd.store, &diag), 0);
	assert_int_equal(fstat(fd, &before), 0);
	assert_int_equal(stat(f->opd.session.current, &now), 0);
	assert_true(before.st_ino != now.st_ino);
	assert_int_equal(now.st_mode & 07777, before.st_mode & 07777);
	close(fd);
	take(f, "/bin/sh", 2);
	ledger_is(f, "taken 2 stored 2");
	assert_int_equal(count_samples(f), 2);
}

SESSION_TEST(save_keeps_what_was)
{
	struct fixture *f = *state;
	struct op_diag diag = { "" };
	struct op_ledger l;
	char path[8192];

	take(f, "/bin/sh", 5);
	assert_int_equal(opd_command_save(&f->opd, "monday", &diag), 0);
	take(f, "/bin/sh", 3);
	ledger_is(f, "taken 3 stored 3");
	snprintf(path, sizeof(path), "%s/monday", f->opd.session.samples);
	assert_int_equal(count_in(path, SH, 0x10), 5);
	snprintf(path, sizeof(path), "%s/monday/ledger",
		 f->opd.session.samples);
	assert_int_equal(op_ledger_read(&l, path, NULL), 0);
	assert_int_equal(l.taken, 5);
	assert_int_equal(l.pending, 0);
	assert_int_equal(opd_command_save(&f->opd, "monday", &diag), -EEXIST);
	assert_non_null(strstr(diag.text, "monday"));
	assert_int_equal(opd_command_save(&f->opd, "../x", NULL), -EINVAL);
	assert_int_equal(opd_command_save(&f->opd, "current", NULL), -EINVAL);
	ledger_is(f, "taken 3 stored 3");
}

/* ---- a session that cannot be saved or reset --------------------------------
 */

/* What takes the place of the C library's; 0: it is as usual. */
static int mkdir_error, unlink_error, fts_error;

int mkdir(const char *path, mode_t mode)
{
	if (!mkdir_error)
		return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
	errno = mkdir_error;
	return -1;
}

int unlink(const char *name)
{
	if (!unlink_error || !strstr(name, "bin%-ls"))
		return (int)syscall(SYS_unlinkat, AT_FDCWD, name, 0);
	errno = unlink_error;
	return -1;
}

FTSENT *fts_read(FTS *fts)
{
	FTSENT *(*usual)(FTS * fts) = dlsym(RTLD_NEXT, "fts64_read");
	FTSENT *entry = usual(fts);

	if (!fts_error)
		return entry;
	errno = fts_error;
	return NULL;
}

SESSION_TEST(a_save_that_fails_changes_nothing)
{
	struct fixture *f = *state;
	struct op_diag diag = { "" };

	take(f, "/bin/sh", 5);
	mkdir_error = ENOSPC;
	assert_int_equal(opd_command_save(&f->opd, "monday", &diag), -ENOSPC);
	mkdir_error = 0;
	assert_non_null(strstr(diag.text, "current: No space left"));
	assert_false(exists(f, "monday"));
	take(f, "/bin/sh", 3);
	ledger_is(f, "taken 8 stored 8");
	assert_int_equal(count_at(f, SH, 0x10), 8);
	assert_int_equal(opd_command_save(&f->opd, "monday", &diag), 0);
	ledger_is(f, "taken 0 stored 0");
}

/* The account tells what is left, and what is not. */
SESSION_TEST(a_reset_that_fails)
{
	static const struct {
		int *error;
		unsigned int left; /* at least */
	} rows[] = { { &unlink_error, 2 }, { &fts_error, 7 } };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_diag diag = { "" };
		struct op_ledger ledger;

		take(f, "/bin/sh", 5);
		take(f, "/bin/ls", 2);
		f->opd.store.history.past.stored = 77;
		*rows[i].error = EIO;
		assert_int_equal(opd_command_reset(&f->opd, &diag), -EIO);
		*rows[i].error = 0;
		assert_non_null(strstr(diag.text, "Input/output error"));
		assert_true(f->opd.store.recount);
		assert_int_equal(opd_stats_write(&f->opd.stats), 0);
		ledger = ledger_of(f);
		assert_int_equal(ledger.taken, 7);
		assert_in_range(ledger.stored, rows[i].left, 7);
		assert_int_equal(f->opd.store.history.past.stored, 0);
		assert_int_equal(opd_command_reset(&f->opd, &diag), 0);
		ledger_is(f, "taken 0 stored 0");
		assert_false(f->opd.store.recount);
	}
}

SESSION_TEST(one_daemon_has_the_lock)
{
	struct fixture *f = *state;
	struct opd *other = calloc(1, sizeof(*other));
	struct op_diag diag = { "" };
	char text[32] = "";
	FILE *file;
	int status;
	pid_t pid;

	assert_non_null(other);
	opd_init(other);
	other->session = f->opd.session;
	/* A daemon that is killed leaves its pid, but not its lock. */
	pid = fork();
	if (pid == 0)
		_exit(opd_session_lock(&other->store, NULL) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(opd_session_lock(&f->opd.store, &diag), 0);
	file = fopen(f->opd.session.lock, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_int_equal(atoi(text), getpid());
	assert_int_equal(opd_session_lock(&other->store, &diag), -EBUSY);
	assert_non_null(strstr(diag.text, text[0] ? "pid" : "?"));
	opd_session_unlock(&f->opd.store);
	assert_int_equal(opd_session_lock(&other->store, &diag), 0);
	opd_session_unlock(&other->store);
	free(other);
}

/* What is in the place of the lock is neither followed nor replaced. */
SESSION_TEST(a_lock_that_cannot_be)
{
	struct fixture *f = *state;
	const char *lock = f->opd.session.lock;
	struct op_diag diag = { "" };
	char wanted[8192];

	assert_int_equal(symlink("/dev/null", lock), 0);
	assert_int_equal(opd_session_lock(&f->opd.store, &diag), -ELOOP);
	snprintf(wanted, sizeof(wanted), "%.4000s: %s", lock, strerror(ELOOP));
	assert_string_equal(diag.text, wanted);
	assert_int_equal(f->opd.store.lock_fd, -1);
	assert_int_equal(unlink(lock), 0);
	assert_int_equal(mkdir(lock, 0755), 0);
	assert_int_equal(opd_session_lock(&f->opd.store, NULL), -EISDIR);
	assert_int_equal(rmdir(lock), 0);
	assert_int_equal(rmdir(f->opd.session.run), 0);
	assert_int_equal(opd_session_lock(&f->opd.store, NULL), -ENOENT);
	assert_int_equal(mkdir(f->opd.session.run, 0755), 0);
	assert_int_equal(opd_session_lock(&f->opd.store, NULL), 0);
	assert_true(f->opd.store.lock_fd >= 0);
	opd_session_unlock(&f->opd.store);
	assert_int_equal(f->opd.store.lock_fd, -1);
	opd_session_unlock(&f->opd.store);
}

/* Nothing is there: that is no samples. Something else is: nobody knows. */
SESSION_TEST(a_folder_that_cannot_be_counted)
{
	struct fixture *f = *state;
	const char *current = f->opd.session.current;
	struct op_diag diag = { "" };
	uint64_t nr = 77;

	remove_tree(current);
	assert_int_equal(opd_session_count(&f->opd.store, &nr, NULL), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(opd_session_rename(&f->opd.store, "x", &diag),
			 -ENOENT);
	assert_non_null(
		strstr(diag.text, "/samples/x: No such file or directory"));
	write_text(f->dir, "samples/current", "");
	nr = 77;
	assert_int_equal(opd_session_count(&f->opd.store, &nr, NULL), -ENOTDIR);
	assert_int_equal(nr, 0);
	diag.text[0] = '\0';
	assert_int_equal(opd_session_make(&f->opd.session, NULL, &diag),
			 -ENOTDIR);
	assert_non_null(strstr(diag.text, "/samples/current: Not a directory; "
					  "give --session-dir a folder"));
	assert_int_equal(unlink(current), 0);
	assert_int_equal(mkdir(current, 0755), 0);
}

/* ---- a lock that outlives its daemon ----------------------------------------
 */

/* A process that a killed daemon has forked; it has the lock, too. */
static struct {
	int keep; /* the lock is let go when this is closed */
	int gone; /* has an end once that is done */
	unsigned int keep_ms; /* how long that is */
	unsigned int nr_pauses;
	unsigned int ms; /* all of them */
} heir;

static void pause_for_heir(unsigned int ms)
{
	char c;

	heir.nr_pauses++;
	heir.ms += ms;
	if (heir.keep < 0 || heir.ms < heir.keep_ms)
		return;
	close(heir.keep);
	heir.keep = -1;
	assert_int_equal(read(heir.gone, &c, 1), 0);
}

static const struct op_clock heir_clock = { .pause = pause_for_heir };

/* Of a daemon that has taken the lock and ended. */
static void leave_heir(struct fixture *f, unsigned int keep_ms)
{
	int keep[2], gone[2];
	int status;
	pid_t pid;

	assert_int_equal(pipe(keep), 0);
	assert_int_equal(pipe(gone), 0);
	pid = fork();
	if (pid == 0) {
		char c;

		close(keep[1]);
		if (opd_session_lock(&f->opd.store, NULL))
			_exit(1);
		if (fork() == 0 && read(keep[0], &c, 1) == 0)
			close(f->opd.store.lock_fd);
		_exit(0);
	}
	close(keep[0]);
	close(gone[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	heir.keep = keep[1];
	heir.gone = gone[0];
	heir.nr_pauses = heir.ms = 0;
	heir.keep_ms = keep_ms;
	f->opd.store.clock = &heir_clock;
}

SESSION_TEST(a_lock_may_outlive_its_daemon)
{
	struct fixture *f = *state;
	struct op_diag diag = { "" };

	leave_heir(f, 9000);
	if (opd_session_lock(&f->opd.store, &diag))
		fail_msg("%s", diag.text);
	assert_int_equal(heir.ms, 9000);
	close(heir.gone);
}

SESSION_TEST(but_not_for_long)
{
	struct fixture *f = *state;
	struct op_diag diag = { "" };

	leave_heir(f, 60000);
	assert_int_equal(opd_session_lock(&f->opd.store, &diag), -EBUSY);
	assert_non_null(strstr(diag.text, "a daemon is already running"));
	assert_int_equal(heir.ms, 10000);
	pause_for_heir(60000);
	close(heir.gone);
}

SESSION_TEST(a_living_daemon_is_not_waited_for)
{
	struct fixture *f = *state;
	struct opd *other = calloc(1, sizeof(*other));

	assert_non_null(other);
	opd_init(other);
	other->session = f->opd.session;
	other->store.clock = &heir_clock;
	heir.nr_pauses = 0;
	assert_int_equal(opd_session_lock(&f->opd.store, NULL), 0);
	assert_int_equal(opd_session_lock(&other->store, NULL), -EBUSY);
	assert_int_equal(heir.nr_pauses, 0);
	opd_session_unlock(&f->opd.store);
	free(other);
}
