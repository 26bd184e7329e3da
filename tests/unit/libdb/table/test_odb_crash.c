// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes beside each other: writers that are killed, readers beside a
 * writer. A page shared by the two tells how far the writer has come.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/unit/libdb/odb_fixture.h"

#define NR_KILLS 150
#define NR_KEYS 20000

struct shared {
	_Atomic uint64_t nr_added; /* odb_add() of scattered(0..) returned 0 */
};

static struct shared *map_shared(void)
{
	void *map = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	return map;
}

/* In a child: add new keys to @path until killed or @max of them are there. */
static _Noreturn void write_keys(const char *path, struct shared *shared,
				 uint64_t max)
{
	struct odb *odb;

	if (odb_open(&odb, path, ODB_RDWR))
		_exit(1);
	for (uint64_t i = shared->nr_added; i < max; i++) {
		if (odb_add(odb, scattered(i), 1 + i % 5))
			_exit(2);
		shared->nr_added = i + 1;
	}
	odb_close(odb);
	_exit(0);
}

static pid_t start_writer(const char *path, struct shared *shared, uint64_t max)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		write_keys(path, shared, max);
	}
	return pid;
}

/* Wait until the writer @pid has added @nr keys; it must not end before. */
static void await(pid_t pid, struct shared *shared, uint64_t nr)
{
	while (shared->nr_added < nr) {
		siginfo_t info = { 0 };

		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
		assert_true(info.si_pid == 0 || shared->nr_added >= nr);
		sched_yield();
	}
}

static void must_end_well(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Keys 0 to before @nr_added must be there, at most one further key may. */
static void must_have_keys(const char *path, enum odb_mode mode,
			   uint64_t nr_added)
{
	struct odb *odb = must_open(path, mode);
	size_t nr_keys = walk(odb);

	for (uint64_t i = 0; i < nr_added; i++)
		assert_int_equal(odb_get(odb, scattered(i)), 1 + i % 5);
	if (nr_keys != nr_added) {
		assert_int_equal(nr_keys, nr_added + 1);
		assert_int_equal(odb_get(odb, scattered(nr_added)),
				 1 + nr_added % 5);
	}
	odb_close(odb);
}

/* Kill a writer on its way to NR_KEYS; the last of them may be done before. */
static void kill_writer_at(struct fixture *f, struct shared *shared,
			   uint64_t when)
{
	pid_t pid;
	int status;

	unlink(f->path);
	shared->nr_added = 0;
	pid = start_writer(f->path, shared, NR_KEYS);
	await(pid, shared, when);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
}

ODB_TEST(a_killed_writer_loses_nothing)
{
	struct fixture *f = *state;
	struct shared *shared = map_shared();

	for (uint64_t i = 0; i < NR_KILLS; i++) {
		kill_writer_at(f, shared, 1 + scattered(i) % (NR_KEYS - 1));
		must_have_keys(f->path, ODB_RDONLY, shared->nr_added);
		must_have_keys(f->path, ODB_RDWR, shared->nr_added);
	}
	munmap(shared, sizeof(*shared));
}

/*
 * One file through many lives of its writer. It ends by itself where nobody
 * gets to kill it: else the file would grow as long as this process stands
 * still.
 */
ODB_TEST(writers_go_on_where_others_were_killed)
{
	struct fixture *f = *state;
	struct shared *shared = map_shared();

	for (int i = 1; i <= 20; i++) {
		uint64_t when = (uint64_t)i * 500;
		pid_t pid = start_writer(f->path, shared,
					 shared->nr_added + NR_KEYS);
		struct odb *odb;
		uint64_t at;

		await(pid, shared, when);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		/* The pair in the air may be there: do not add it again. */
		at = shared->nr_added;
		odb = must_open(f->path, ODB_RDONLY);
		if (odb_get(odb, scattered(at)))
			shared->nr_added = at + 1;
		odb_close(odb);
		must_have_keys(f->path, ODB_RDONLY, shared->nr_added);
	}
	munmap(shared, sizeof(*shared));
}

/* @odb was opened when @nr_added keys were in it and more were coming. */
static void must_be_a_prefix(struct odb *odb, uint64_t nr_added)
{
	uint64_t nr_keys = walk(odb);
	uint64_t i;

	assert_true(nr_keys >= nr_added);
	for (i = 0; i < nr_added; i++)
		assert_int_equal(odb_get(odb, scattered(i)), 1 + i % 5);
	/* Of those that came meanwhile any may be missing, none made up. */
	for (; nr_keys > nr_added; i++) {
		uint64_t count = odb_get(odb, scattered(i));

		assert_true(i < UINT32_MAX);
		assert_true(count == 0 || count == 1 + i % 5);
		nr_keys -= count > 0;
	}
}

/* Open, again and again, a file that is getting @nr_keys; check each @nth. */
static void read_beside_writer(struct fixture *f, uint64_t nr_keys, int nth)
{
	struct shared *shared = map_shared();
	uint64_t nr_added;
	pid_t pid;

	unlink(f->path);
	odb_close(must_open(f->path, ODB_RDWR));
	pid = start_writer(f->path, shared, nr_keys);
	for (int i = 0; (nr_added = shared->nr_added) < nr_keys; i++) {
		struct odb *odb = must_open(f->path, ODB_RDONLY);

		if (i % nth == 0)
			must_be_a_prefix(odb, nr_added);
		odb_close(odb);
		await(pid, shared, nr_added + 1);
	}
	must_end_well(pid);
	must_have_keys(f->path, ODB_RDONLY, nr_keys);
	munmap(shared, sizeof(*shared));
}

ODB_TEST(readers_beside_a_writer_see_whole_files)
{
	read_beside_writer(*state, 300000, 16);
}

/* Small files, where gaps and half-written pairs show most. */
ODB_TEST(readers_beside_writers_of_small_files)
{
	for (int i = 0; i < 100; i++)
		read_beside_writer(*state, 600, 1);
}

ODB_TEST(a_reader_outlives_the_file)
{
	struct fixture *f = *state;
	struct odb *odb = must_open(f->path, ODB_RDWR);

	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(odb_add(odb, scattered(i), 1), 0);
	odb_close(odb);
	odb = must_open(f->path, ODB_RDONLY);
	assert_int_equal(truncate(f->path, 0), 0);
	assert_int_equal(walk(odb), 1000);
	assert_int_equal(odb_get(odb, scattered(999)), 1);
	odb_close(odb);
}
