// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * When the daemon packs, and what its child and other daemons leave.
 */
#include "daemon/opd_command.h"
#include "tests/unit/opd_pack_fixture.h"

#include <dlfcn.h>
#include <limits.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#define MAX_KILLS 20

/* A clock that is put forward. */
static time_t now;

static time_t now_seconds(void)
{
	return now;
}

static const struct op_clock clock_of_test = { .seconds = now_seconds };

/* ---- what packing costs ---------------------------------------------------
 */

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define INSTEAD_OF(name) __asm__(#name)

pid_t costly_wait4(pid_t pid, int *status, int options, struct rusage *usage)
	INSTEAD_OF(wait4);
int costly_getrusage(__rusage_who_t who, struct rusage *usage)
	INSTEAD_OF(getrusage);

/* A child takes 5.75 s of a CPU's time, and this process 2.5 s from one look to
 * the next; false: as much as they do. */
static bool is_costly;
static int nr_looks;

pid_t costly_wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	pid_t ended = REAL(wait4)(pid, status, options, usage);

	if (is_costly) {
		usage->ru_utime = (struct timeval){ 3, 250000 };
		usage->ru_stime = (struct timeval){ 2, 500000 };
	}
	return ended;
}

int costly_getrusage(__rusage_who_t who, struct rusage *usage)
{
	int err = REAL(getrusage)(who, usage);

	if (is_costly) {
		usage->ru_utime = (struct timeval){ 1 + nr_looks, 500000 };
		usage->ru_stime =
			(struct timeval){ 2 + nr_looks, 500000 * nr_looks };
		nr_looks = !nr_looks;
	}
	return err;
}

/* ---- tests ----------------------------------------------------------------
 */

static void wait_for_child(struct fixture *f)
{
	siginfo_t info;

	assert_int_not_equal(f->opd.store.pack.child, 0);
	waitid(P_PID, (id_t)f->opd.store.pack.child, &info, WEXITED | WNOWAIT);
	opd_pack_reap(&f->opd.store);
	assert_int_equal(f->opd.store.pack.child, 0);
}

TEST(a_child_packs_while_the_daemon_counts)
{
	struct fixture *f = new_replay();

	f->opd.store.pack.limit = 1;
	take(f, "/bin/sh", 5);
	opd_pack_check(&f->opd.store);
	assert_int_equal(f->opd.store.pack.child, 0);
	take_many(f, 2);
	opd_pack_check(&f->opd.store);
	assert_int_not_equal(f->opd.store.pack.child, 0);
	take_many(f, 1);
	wait_for_child(f);
	assert_int_equal(f->opd.store.pack.nr_made, 1);
	assert_int_equal(packed(f), 2 * MANY + 5);
	assert_int_equal(total(f), 3 * MANY + 5);
	assert_int_equal(nr_folders(f), 0);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_int_equal(packed(f), 3 * MANY + 5);
	assert_false(exists(f, "current/{root}"));
	assert_true(log_says(f, "Nr. packs made: 2"));
	ledger_of(f);
	free_fixture(f);
}

TEST(little_stays_loose)
{
	struct fixture *f = new_replay();

	f->opd.store.pack.limit = 1;
	take(f, "/bin/sh", 5);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_false(exists(f, "current/packed"));
	assert_false(log_says(f, "stay as they are"));
	/* But not where there is a pack. */
	restart_daemon(f);
	pack(f);
	f->opd.store.pack.limit = 1;
	take(f, "/bin/sh", 2);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_int_equal(packed(f), 7);
	/* Unless nothing is to be packed. */
	restart_daemon(f);
	take(f, "/bin/sh", 1);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_int_equal(packed(f), 7);
	assert_int_equal(total(f), 8);
	free_fixture(f);
}

/* Watch where the packer works: its new pack, and the files that it removes. */
static int watch_packer(struct fixture *f)
{
	const char *dir = f->opd.session.current;
	int fd = inotify_init1(IN_NONBLOCK);
	uint64_t *folders;
	char path[8192];
	size_t nr;

	assert_true(fd >= 0);
	assert_true(inotify_add_watch(fd, dir, IN_ALL_EVENTS) >= 0);
	assert_int_equal(opd_packer_folders(dir, &folders, &nr), 0);
	while (nr--) {
		snprintf(path, sizeof(path),
			 "%s/.packing-%" PRIu64 "/{root}/opt", dir,
			 folders[nr]);
		inotify_add_watch(fd, path, IN_DELETE);
	}
	free(folders);
	return fd;
}

/* The number of events that are there. */
static unsigned long take_events(int fd)
{
	char events[65536];
	ssize_t len = read(fd, events, sizeof(events));
	const struct inotify_event *event;
	unsigned long nr = 0;

	for (ssize_t at = 0; at < len; nr++) {
		event = (const struct inotify_event *)(events + at);
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	return nr;
}

/*
 * Begin to pack and kill the child when @nr things have happened to files.
 * Returns how many have, fewer if it came to its end.
 */
static unsigned long kill_child_after(struct fixture *f, unsigned long nr)
{
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	unsigned long done = 0;

	take_many(f, 2);
	now += 4000; /* longer than the longest pause */
	opd_pack_check(&f->opd.store);
	assert_int_not_equal(f->opd.store.pack.child, 0);
	p[0].fd = watch_packer(f);
	p[1].fd = (int)syscall(SYS_pidfd_open, f->opd.store.pack.child, 0);
	assert_true(p[1].fd >= 0);
	while (done < nr && !p[1].revents) {
		assert_true(poll(p, 2, -1) > 0);
		done += take_events(p[0].fd);
	}
	kill(f->opd.store.pack.child, SIGKILL);
	wait_for_child(f);
	close(p[0].fd);
	close(p[1].fd);
	return done;
}

TEST(a_killed_child_loses_nothing)
{
	struct fixture *f = new_replay();
	const char *tier = getenv("TIER");
	unsigned int nr =
		tier && !strcmp(tier, "all") ? MAX_KILLS : MAX_KILLS / 4;
	unsigned long nr_events;

	f->opd.store.pack.limit = 1;
	f->opd.store.clock = &clock_of_test;
	nr_events = kill_child_after(f, ULONG_MAX);
	assert_int_equal(packed(f), 2 * MANY);
	for (unsigned int i = 0; i < nr; i++) {
		kill_child_after(f, nr_events * i / nr);
		assert_int_equal(total(f), 2 * MANY * (i + 2));
	}
	assert_true(log_says(
		f, "the packing process was killed; sample files stay"));
	f->opd.store.pack.limit = 0;
	goes_on(f, (nr + 1) * 2 * MANY);
	free_fixture(f);
}

/* A reader of samples/current, for whom a child that packs it has to wait. */
static int begin_to_read(struct fixture *f)
{
	int fd = open(f->opd.session.current, O_RDONLY | O_DIRECTORY);

	assert_int_equal(flock(fd, LOCK_SH), 0);
	return fd;
}

TEST(one_packer_at_a_time)
{
	struct fixture *f = new_replay();
	int reader;
	pid_t child;

	take_many(f, 2);
	die_after(f, BEGUN);
	restart_daemon(f);
	f->opd.store.pack.limit = 1;
	reader = begin_to_read(f);
	opd_pack_check(&f->opd.store);
	child = f->opd.store.pack.child;
	assert_int_not_equal(child, 0);
	take_many(f, 1);
	opd_pack_check(&f->opd.store);
	assert_int_equal(f->opd.store.pack.child, child);
	close(reader);
	wait_for_child(f);
	assert_int_equal(packed(f), 2 * MANY);
	goes_on(f, 3 * MANY);
	free_fixture(f);
}

TEST(a_child_ends_with_its_daemon)
{
	struct fixture *f = new_replay();
	pid_t child;

	f->opd.store.pack.limit = 1;
	take_many(f, 2);
	opd_pack_check(&f->opd.store);
	child = f->opd.store.pack.child;
	assert_int_not_equal(child, 0);
	restart_daemon(f);
	assert_int_equal(waitpid(child, NULL, WNOHANG), -1);
	take_many(f, 1);
	ledger_of(f);
	goes_on(f, 3 * MANY);
	free_fixture(f);
}

/* A daemon whose child has begun to write its pack when this returns. */
static pid_t start_killable(struct fixture *f)
{
	const char *dir = f->opd.session.current;
	struct pollfd p = { .fd = inotify_init(), .events = POLLIN };
	struct op_diag diag = { "" };
	pid_t pid;

	assert_true(inotify_add_watch(p.fd, dir, IN_CREATE) >= 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (opd_session_lock(&f->opd.store, &diag))
			_exit(1);
		opd_pack_check(&f->opd.store);
		pause();
		_exit(1);
	}
	while (!exists(f, "current/.packed.grow")) {
		assert_int_equal(poll(&p, 1, -1), 1);
		take_events(p.fd);
	}
	close(p.fd);
	return pid;
}

/* The next one begins when both are gone, and nobody changes files behind it.
 */
TEST(a_daemon_that_is_killed_takes_its_child_along)
{
	struct fixture *f = new_replay();
	struct op_diag diag = { "" };
	int reader, status;
	pid_t pid;

	take_many(f, 2);
	die_after(f, BEGUN);
	restart_daemon(f);
	f->opd.store.pack.limit = 1;
	reader = begin_to_read(f);
	pid = start_killable(f);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(opd_session_lock(&f->opd.store, &diag), 0);
	/* Or it would have removed this. */
	assert_true(exists(f, "current/.packed.grow"));
	close(reader);
	goes_on(f, 2 * MANY);
	free_fixture(f);
}

TEST(failures_are_said_once_and_tried_less)
{
	struct fixture *f = new_replay();
	char path[8192];
	int fd;

	f->opd.store.pack.limit = 1;
	f->opd.store.clock = &clock_of_test;
	take_many(f, 2);
	/* Nothing can be written there. */
	snprintf(path, sizeof(path), "%s/.packed.grow", f->opd.session.current);
	assert_int_equal(mkdir(path, 0755), 0);
	for (int i = 0; i < 3; i++) {
		opd_pack_check(&f->opd.store);
		wait_for_child(f);
		assert_int_equal(nr_folders(f), 1);
		now += (60 << i) - 1;
		opd_pack_check(&f->opd.store);
		assert_int_equal(f->opd.store.pack.child, 0);
		now++;
	}
	assert_true(log_says(f, "stay as they are"));
	fd = f->opd.log.fd;
	assert_int_equal(ftruncate(fd, 0), 0);
	opd_pack_check(&f->opd.store);
	wait_for_child(f);
	assert_false(log_says(f, "stay as they are"));
	assert_int_equal(rmdir(path), 0);
	now += 60 << 3;
	opd_pack_check(&f->opd.store);
	wait_for_child(f);
	assert_int_equal(f->opd.store.pack.pause, 0);
	assert_int_equal(packed(f), 2 * MANY);
	ledger_of(f);
	free_fixture(f);
}

TEST(what_was_left_is_packed)
{
	struct fixture *f = new_replay();

	take(f, "/bin/sh", 3);
	die_after(f, WRITTEN);
	restart_daemon(f);
	f->opd.store.pack.limit = 1;
	opd_pack_check(&f->opd.store);
	wait_for_child(f);
	assert_int_equal(packed(f), 3);
	assert_int_equal(nr_folders(f), 0);
	free_fixture(f);
}

/* All of it was packed, but for removing what was packed. */
TEST(what_was_packed_is_removed)
{
	struct fixture *f = new_replay();
	struct op_diag diag = { "" };

	f->opd.store.pack.limit = 1;
	take(f, "/bin/sh", 3);
	die_after(f, COMMITTED);
	assert_int_equal(opd_command_save(&f->opd, "one", &diag), 0);
	assert_true(exists(f, "one/.packing-1"));
	opd_pack_check(&f->opd.store);
	wait_for_child(f);
	assert_true(exists(f, "one/packed"));
	assert_false(exists(f, "one/.packing-1"));
	take(f, "/bin/sh", 4);
	die_after(f, COMMITTED);
	assert_int_equal(nr_folders(f), 1);
	opd_pack_end(&f->opd.store);
	assert_int_equal(nr_folders(f), 0);
	assert_int_equal(packed(f), 4);
	free_fixture(f);
}

TEST(sessions_are_reset_and_saved)
{
	struct fixture *f = new_replay();
	struct op_diag diag = { "" };
	char dir[8192];
	struct sum sum;

	f->opd.store.pack.limit = 1;
	f->opd.store.clock = &clock_of_test;
	take_many(f, 2);
	opd_pack_check(&f->opd.store);
	assert_int_equal(opd_command_reset(&f->opd, &diag), 0);
	assert_int_equal(f->opd.store.pack.child, 0);
	assert_int_equal(total(f), 0);
	take_many(f, 2);
	opd_pack_check(&f->opd.store);
	take_many(f, 1);
	assert_int_equal(opd_command_save(&f->opd, "one", &diag), 0);
	take(f, "/bin/sh", 4);
	wait_for_child(f);
	opd_pack_check(&f->opd.store);
	wait_for_child(f);
	snprintf(dir, sizeof(dir), "%s/one", f->opd.session.samples);
	sum = sum_of(dir, NULL, 0);
	assert_int_equal(sum.packed, 3 * MANY);
	assert_int_equal(sum.loose, 0);
	assert_int_equal(total(f), 4);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_false(exists(f, "current/packed"));
	ledger_of(f);
	free_fixture(f);
}

/* Of the first pack. */
static double logged_cost(struct fixture *f)
{
	static const char before[] = " KiB before), in ";
	char line[4096], *found = NULL;
	FILE *file = fopen(f->opd.session.log, "r");

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, before);
	fclose(file);
	assert_non_null(found);
	return strtod(found + strlen(before), NULL);
}

/* What it costs decides when the next pack may follow. */
TEST(packs_are_far_apart)
{
	struct fixture *f = new_replay();
	double wanted;

	f->opd.store.pack.limit = 1;
	f->opd.store.clock = &clock_of_test;
	now = 1000;
	take_many(f, 2);
	opd_pack_check(&f->opd.store);
	wait_for_child(f);
	/* Seconds of a CPU's time; the log has two digits of them. */
	wanted = 60 * logged_cost(f);
	assert_true(wanted > 0);
	assert_in_range(f->opd.store.pack.not_before, 1000 + wanted - 1.4,
			1000 + wanted + 0.4);
	f->opd.store.pack.not_before = now + 100;
	take_many(f, 2);
	now += 99;
	opd_pack_check(&f->opd.store);
	assert_int_equal(f->opd.store.pack.child, 0);
	now++;
	opd_pack_check(&f->opd.store);
	wait_for_child(f);
	assert_int_equal(f->opd.store.pack.nr_made, 2);
	free_fixture(f);
}

/* The end of the daemon; what it told who waits for that is in @said. */
static void finish_heard(struct fixture *f, char *said, size_t len)
{
	int fds[2];
	ssize_t n;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	f->opd.control.shutdown_fd = fds[0];
	assert_int_equal(opd_finish(&f->opd), 0);
	opd_control_answer_shutdown(&f->opd.control, 0, NULL);
	n = read(fds[1], said, len - 1);
	assert_true(n >= 0);
	said[n] = '\0';
	close(fds[1]);
}

TEST(who_waits_for_the_end_hears_of_packing)
{
	struct fixture *f = new_replay();
	char said[256];
	uint64_t bytes;

	f->opd.store.pack.limit = 1;
	take(f, "/bin/sh", 5);
	finish_heard(f, said, sizeof(said));
	assert_string_equal(said, "ok\n");
	restart_daemon(f);
	f->opd.store.pack.limit = 1;
	take_many(f, 1);
	finish_heard(f, said, sizeof(said));
	assert_int_equal(sscanf(said, " packing = %" SCNu64, &bytes), 1);
	assert_in_range(bytes, MANY * 4096, MANY * 65536);
	/* A little goes into the pack at once. */
	restart_daemon(f);
	f->opd.store.pack.limit = 1;
	take(f, "/bin/sh", 5);
	finish_heard(f, said, sizeof(said));
	assert_string_equal(said, "ok\n");
	/* A child that is at it. */
	restart_daemon(f);
	f->opd.store.pack.limit = 1;
	take_many(f, 1);
	opd_pack_check(&f->opd.store);
	assert_int_not_equal(f->opd.store.pack.child, 0);
	finish_heard(f, said, sizeof(said));
	assert_int_equal(strncmp(said, " packing = ", 11), 0);
	free_fixture(f);
}

/* A child at work that waits for the reader, whose descriptor is returned. */
static int hold_child(struct fixture *f)
{
	int reader;

	take_many(f, 2);
	die_after(f, BEGUN);
	restart_daemon(f);
	f->opd.store.pack.limit = 1;
	reader = begin_to_read(f);
	opd_pack_check(&f->opd.store);
	assert_int_not_equal(f->opd.store.pack.child, 0);
	return reader;
}

static void expect_file(pid_t pid, int fd, const char *want)
{
	char path[64], to[512] = "";

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	assert_true(readlink(path, to, sizeof(to) - 1) > 0);
	assert_string_equal(to, want);
}

/* A child keeps the log and the lock, whichever was opened first, and nothing
 * that the daemon may want to close. */
TEST(a_child_keeps_no_other_files)
{
	static const struct {
		int log, lock; /* -1: it has none */
	} rows[] = { { 50, 100 }, { 100, 50 }, { 50, 51 }, { 50, -1 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static const int numbers[] = { 10, 49, 52, 70, 99, 101, 200 };
		struct fixture *f = new_replay();
		struct op_log *log = &f->opd.log;
		char log_path[8192], byte;
		int reader, ends[2], copies[sizeof(numbers) / sizeof(int)];
		pid_t child;

		take_many(f, 2);
		die_after(f, BEGUN);
		restart_daemon(f);
		f->opd.store.pack.limit = 1;
		reader = begin_to_read(f);
		snprintf(log_path, sizeof(log_path), "%s", f->opd.session.log);
		assert_int_equal(dup3(log->fd, rows[i].log, O_CLOEXEC),
				 rows[i].log);
		close(log->fd);
		log->fd = rows[i].log;
		if (rows[i].lock >= 0)
			f->opd.store.lock_fd =
				dup3(reader, rows[i].lock, O_CLOEXEC);
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]);
		     j++)
			copies[j] = fcntl(ends[1], F_DUPFD_CLOEXEC, numbers[j]);
		opd_pack_check(&f->opd.store);
		child = f->opd.store.pack.child;
		assert_int_not_equal(child, 0);
		close(ends[1]);
		for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]);
		     j++)
			close(copies[j]);
		/* It ends when the child has none of them either. */
		assert_int_equal(read(ends[0], &byte, 1), 0);
		close(ends[0]);
		expect_file(child, 0, "/dev/null");
		expect_file(child, 1, "/dev/null");
		expect_file(child, 2, "/dev/null");
		expect_file(child, rows[i].log, log_path);
		if (rows[i].lock >= 0) {
			expect_file(child, rows[i].lock,
				    f->opd.session.current);
			close(rows[i].lock);
		}
		f->opd.store.lock_fd = -1;
		opd_pack_stop(&f->opd.store);
		close(reader);
		free_fixture(f);
	}
}

/* A child that is stopped may have found damage. */
TEST(a_child_is_stopped)
{
	struct fixture *f = new_replay();
	int reader = hold_child(f);

	f->opd.store.recount = false;
	opd_pack_stop(&f->opd.store);
	assert_int_equal(f->opd.store.pack.child, 0);
	assert_true(f->opd.store.recount);
	opd_pack_stop(&f->opd.store);
	close(reader);
	goes_on(f, 2 * MANY);
	free_fixture(f);
}

TEST(only_a_killed_child_asks_for_a_count)
{
	struct fixture *f = new_replay();
	int reader;

	f->opd.store.pack.limit = 1;
	take_many(f, 2);
	opd_pack_check(&f->opd.store);
	wait_for_child(f);
	assert_false(f->opd.store.recount);
	assert_false(log_says(f, "stay as they are"));
	reader = hold_child(f);
	kill(f->opd.store.pack.child, SIGKILL);
	wait_for_child(f);
	assert_true(f->opd.store.recount);
	assert_true(log_says(
		f,
		"the packing process was killed; sample files stay as they are and are packed later\n"));
	close(reader);
	free_fixture(f);
}

/* Nothing is moved away below somebody who reads, and that is no failure. */
TEST(readers_are_not_disturbed)
{
	struct fixture *f = new_replay();
	int reader;

	f->opd.store.pack.limit = 1;
	take_many(f, 2);
	reader = begin_to_read(f);
	opd_pack_check(&f->opd.store);
	assert_int_equal(f->opd.store.pack.child, 0);
	assert_int_equal(nr_folders(f), 0);
	assert_int_equal(f->opd.store.pack.pause, 0);
	assert_int_not_equal(f->opd.store.sfiles.nr, 0);
	close(reader);
	opd_pack_check(&f->opd.store);
	wait_for_child(f);
	assert_int_equal(packed(f), 2 * MANY);
	free_fixture(f);
}

/* A saved session comes first, and alone. */
TEST(one_session_at_a_time)
{
	struct fixture *f = new_replay();
	struct op_diag diag = { "" };

	f->opd.store.pack.limit = 1;
	take_many(f, 1);
	assert_int_equal(opd_command_save(&f->opd, "one", &diag), 0);
	take_many(f, 1);
	opd_pack_check(&f->opd.store);
	assert_int_equal(nr_folders(f), 0);
	assert_int_not_equal(f->opd.store.sfiles.nr, 0);
	wait_for_child(f);
	assert_true(exists(f, "one/packed"));
	assert_false(exists(f, "current/packed"));
	free_fixture(f);
}

/* The pause is doubled up to 64 minutes. */
TEST(the_longest_pause)
{
	static const struct {
		time_t before, after;
	} rows[] = { { 0, 60 },	     { 60, 120 },    { 1919, 3838 },
		     { 1920, 3840 }, { 1921, 3840 }, { 3840, 3840 } };
	struct fixture *f = new_replay();
	char path[8192];

	f->opd.store.pack.limit = 1;
	f->opd.store.clock = &clock_of_test;
	take_many(f, 1);
	snprintf(path, sizeof(path), "%s/.packed.grow", f->opd.session.current);
	assert_int_equal(mkdir(path, 0755), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f->opd.store.pack.pause = (unsigned int)rows[i].before;
		f->opd.store.pack.not_before = 0;
		now = 5000;
		opd_pack_check(&f->opd.store);
		wait_for_child(f);
		assert_int_equal(f->opd.store.pack.pause, rows[i].after);
		assert_int_equal(f->opd.store.pack.not_before,
				 5000 + rows[i].after);
	}
	assert_int_equal(rmdir(path), 0);
	free_fixture(f);
}

/* A CPU has 60 times as long for other things. */
TEST(a_pack_that_costs_much)
{
	struct fixture *f = new_replay();

	f->opd.store.pack.limit = 1;
	f->opd.store.clock = &clock_of_test;
	now = 1000;
	is_costly = true;
	nr_looks = 0;
	take_many(f, 1);
	opd_pack_check(&f->opd.store);
	wait_for_child(f);
	assert_true(log_says(f, " KiB before), in 5.75 s of a CPU's time\n"));
	assert_int_equal(f->opd.store.pack.not_before, 1000 + 345);
	/* The end does not wait for that; this process packs. */
	take_many(f, 1);
	opd_finish(&f->opd);
	is_costly = false;
	assert_true(log_says(f, " KiB before), in 2.50 s of a CPU's time\n"));
	assert_int_equal(f->opd.store.pack.not_before, 1000 + 150);
	assert_int_equal(f->opd.store.pack.nr_made, 2);
	free_fixture(f);
}
