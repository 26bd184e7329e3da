// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packing: no sample is lost or counted twice, whatever ends whoever, whenever.
 */

#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit/opd_fixture.h"

#include "daemon/opd_mangling.h"
#include "daemon/opd_packer.h"
#include "libdb/db_folder.h"
#include "libdb/pack.h"
#include "libop/op_sample_file.h"

#define SH "{root}/bin/sh/{dep}/{root}/bin/sh/TIMER.0.0.all.all.all"
#define LS "{root}/bin/ls/{dep}/{root}/bin/ls/TIMER.0.0.all.all.all"

/* ---- samples ----------------------------------------------------------------
 */

/* @nr samples at @pc in build @build (0: none) of @path. */
static void take_at(struct fixture *f, const char *path, uint64_t build,
		    uint64_t pc, int nr)
{
	static uint64_t cookie;
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	cookie++;
	put_cookie_built(w, cookie, path, build);
	put_cpu(w, 0);
	put_task(w, 1, 1, cookie);
	put_image(w, cookie);
	put_user(w);
	while (nr--)
		put_sample(w, pc, 0);
	run_words(f, w);
	free(w);
}

static void take(struct fixture *f, const char *path, int nr)
{
	take_at(f, path, 0, 0x10, nr);
}

/* As many applications as make more than a MiB of sample files. */
#define MANY 300

static void take_many(struct fixture *f, int nr)
{
	char path[64];

	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/opt/program-%d", i);
		take(f, path, nr);
	}
}

/* ---- what is in a session ---------------------------------------------------
 */

struct sum {
	struct db_folder *folder;
	const char *name; /* NULL: all */
	uint64_t key;
	uint64_t loose;
	uint64_t packed;
};

static int add_member(const struct db_member *member, void *ctx)
{
	struct sum *sum = ctx;
	struct odb *odb;
	struct odb_stat stat;

	if (sum->name && strcmp(sum->name, member->name))
		return 0;
	if (opd_packer_is_bad(member->name))
		return 0;
	assert_int_equal(db_folder_table(sum->folder, member, &odb), 0);
	odb_stat(odb, &stat);
	if (sum->name)
		stat.total = odb_get(odb, sum->key);
	if (member->entry)
		sum->packed += stat.total;
	else
		sum->loose += stat.total;
	odb_close(odb);
	return 0;
}

static struct sum sum_of(const char *dir, const char *name, uint64_t key)
{
	struct sum sum = { .name = name, .key = key };
	const struct db_visitor visitor = { .member = add_member, .ctx = &sum };

	assert_int_equal(db_folder_open(&sum.folder, dir), 0);
	assert_int_equal(db_folder_each(sum.folder, &visitor), 0);
	db_folder_close(sum.folder);
	return sum;
}

static uint64_t total(struct fixture *f)
{
	struct sum sum = sum_of(f->opd.session.current, NULL, 0);

	return sum.loose + sum.packed;
}

static uint64_t at(struct fixture *f, const char *name, uint64_t key)
{
	struct sum sum = sum_of(f->opd.session.current, name, key);

	return sum.loose + sum.packed;
}

static uint64_t packed(struct fixture *f)
{
	return sum_of(f->opd.session.current, NULL, 0).packed;
}

static size_t nr_folders(struct fixture *f)
{
	uint64_t *folders;
	size_t nr;

	assert_int_equal(
		opd_packer_folders(f->opd.session.current, &folders, &nr), 0);
	free(folders);
	return nr;
}

static bool log_says(struct fixture *f, const char *text)
{
	char line[4096];
	FILE *file = fopen(f->opd.session.log, "r");
	bool found = false;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, text) != NULL;
	fclose(file);
	return found;
}

/* ---- steps ------------------------------------------------------------------
 */

enum step { BEGUN, WRITTEN, COMMITTED, TIDY };

/* Go so far, and give nothing back. */
static int go(struct fixture *f, struct opd_packer *packer, enum step last)
{
	const char *dir = f->opd.session.current;
	struct op_diag diag = { "" };
	int err;

	err = opd_packer_begin(packer, dir, false, OPD_PACKER_NO_WAIT, &diag);
	if (!err && last >= WRITTEN)
		err = opd_packer_write(&f->opd, packer, &diag);
	if (!err && last >= COMMITTED)
		err = opd_packer_commit(packer, OPD_PACKER_NO_WAIT, &diag);
	if (!err && last >= TIDY)
		err = opd_packer_tidy(dir, &diag);
	return err;
}

static void pack(struct fixture *f)
{
	struct opd_packer packer;

	opd_sfiles_drop_all(&f->opd);
	assert_int_equal(go(f, &packer, TIDY), 0);
	opd_packer_release(&packer);
	assert_int_equal(nr_folders(f), 0);
}

/* The same by a process that is gone after step @last. */
static void die_after(struct fixture *f, enum step last)
{
	struct opd_packer packer;
	pid_t pid;
	int status;

	opd_sfiles_drop_all(&f->opd);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (go(f, &packer, last))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* ---- packing ----------------------------------------------------------------
 */

static void counts_come_into_the_pack(void **state)
{
	struct fixture *f = new_replay();

	(void)state;
	take(f, "/bin/sh", 3);
	take_at(f, "/bin/sh", 0, 0x20, 5);
	take(f, "/bin/ls", 2);
	assert_int_equal(packed(f), 0);
	pack(f);
	assert_int_equal(packed(f), 10);
	assert_int_equal(total(f), 10);
	assert_int_equal(at(f, SH, 0x20), 5);
	assert_false(exists(f, "current/{root}"));
	ledger_of(f);
	free_fixture(f);
}

static void counting_goes_on_beside_the_pack(void **state)
{
	struct fixture *f = new_replay();

	(void)state;
	for (int i = 1; i <= 4; i++) {
		take(f, "/bin/sh", 3);
		take(f, i % 2 ? "/bin/ls" : "/bin/cp", 1);
		assert_int_equal(total(f), 4 * i);
		pack(f);
		assert_int_equal(packed(f), 4 * i);
		assert_int_equal(at(f, SH, 0x10), 3 * i);
		take(f, "/bin/sh", 0);
		ledger_of(f);
	}
	restart_daemon(f);
	assert_int_equal(ledger_of(f).taken, 16);
	free_fixture(f);
}

static void nothing_makes_no_pack(void **state)
{
	struct fixture *f = new_replay();
	struct opd_packer packer;

	(void)state;
	assert_int_equal(go(f, &packer, BEGUN), -ENODATA);
	take(f, "/bin/sh", 1);
	pack(f);
	assert_int_equal(go(f, &packer, BEGUN), -ENODATA);
	assert_int_equal(nr_folders(f), 0);
	free_fixture(f);
}

/* A file of @nr samples of which @own are its own, as a feature makes it. */
static void make_derived(struct fixture *f, int nr, uint64_t own)
{
	struct op_sample_header header = {
		.magic = OP_SAMPLE_MAGIC,
		.version = OP_SAMPLE_VERSION,
		.cpu_type = "timer",
		.derived = 1,
		.samples = own,
	};
	char path[8192];
	struct odb *odb;

	snprintf(path, sizeof(path), "%s/%s", f->opd.session.current, SH);
	assert_int_equal(opd_make_parents(path), 0);
	assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
	memcpy(odb_user(odb), &header, sizeof(header));
	assert_int_equal(odb_add(odb, 0x10, (uint64_t)nr), 0);
	odb_close(odb);
}

static void derived_files_keep_their_account(void **state)
{
	struct fixture *f = new_replay();
	uint64_t nr;

	(void)state;
	for (int i = 1; i <= 3; i++) {
		make_derived(f, 100, 7);
		pack(f);
		assert_int_equal(packed(f), 100 * i);
		assert_int_equal(opd_session_count(&f->opd, &nr, NULL), 0);
		assert_int_equal(nr, 7 * i);
	}
	free_fixture(f);
}

/* ---- killed -----------------------------------------------------------------
 */

/* Another daemon comes, counts more, and packs all. */
static void goes_on(struct fixture *f, uint64_t there)
{
	assert_int_equal(total(f), there);
	restart_daemon(f);
	assert_int_equal(ledger_of(f).stored, there);
	take(f, "/bin/sh", 2);
	take(f, "/bin/new", 1);
	assert_int_equal(total(f), there + 3);
	pack(f);
	assert_int_equal(packed(f), there + 3);
	assert_int_equal(total(f), there + 3);
	assert_int_equal(ledger_of(f).stored, there + 3);
}

static void a_packer_may_die_after_each_step(void **state)
{
	(void)state;
	for (int with_pack = 0; with_pack < 2; with_pack++) {
		for (enum step step = BEGUN; step <= TIDY; step++) {
			struct fixture *f = new_replay();
			uint64_t there = 5;

			take(f, "/bin/sh", 3);
			take(f, "/bin/ls", 2);
			if (with_pack) {
				pack(f);
				take(f, "/bin/sh", 4);
				take(f, "/bin/cp", 1);
				there += 5;
			}
			die_after(f, step);
			goes_on(f, there);
			goes_on(f, there + 3);
			free_fixture(f);
		}
	}
}

static void several_may_die(void **state)
{
	struct fixture *f = new_replay();
	uint64_t there = 0;

	(void)state;
	for (enum step step = BEGUN; step <= TIDY; step++) {
		for (int i = 0; i < 3; i++) {
			take(f, "/bin/sh", 3);
			take(f, i == 1 ? "/bin/ls" : "/bin/cp", 2);
			there += 5;
			die_after(f, step);
			assert_int_equal(total(f), there);
			ledger_of(f);
		}
	}
	goes_on(f, there);
	free_fixture(f);
}

static void a_packer_may_die_between_two_folders(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = calloc(1, sizeof(*w));
	char from[8192], to[8192];

	(void)state;
	assert_non_null(w);
	put_cpu(w, 0);
	put_kernel(w);
	put_sample(w, 0x10, 0);
	run_words(f, w);
	free(w);
	take(f, "/bin/sh", 3);
	opd_sfiles_drop_all(&f->opd);
	snprintf(to, sizeof(to), "%s/.packing-7", f->opd.session.current);
	assert_int_equal(mkdir(to, 0755), 0);
	snprintf(from, sizeof(from), "%s/{root}", f->opd.session.current);
	snprintf(to, sizeof(to), "%s/.packing-7/{root}",
		 f->opd.session.current);
	assert_int_equal(rename(from, to), 0);
	goes_on(f, 4);
	free_fixture(f);
}

static void a_folder_may_be_half_removed(void **state)
{
	struct fixture *f = new_replay();
	uint64_t *folders;
	char path[8192];
	size_t nr;

	(void)state;
	take(f, "/bin/sh", 3);
	take(f, "/bin/ls", 2);
	die_after(f, COMMITTED);
	assert_int_equal(
		opd_packer_folders(f->opd.session.current, &folders, &nr), 0);
	assert_int_equal(nr, 1);
	snprintf(path, sizeof(path), "%s/.packing-%d/" SH,
		 f->opd.session.current, (int)folders[0]);
	free(folders);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(total(f), 5);
	restart_daemon(f);
	assert_int_equal(nr_folders(f), 0);
	goes_on(f, 5);
	free_fixture(f);
}

/* ---- others -----------------------------------------------------------------
 */

static void readers_are_waited_for(void **state)
{
	struct fixture *f = new_replay();
	const char *dir = f->opd.session.current;
	struct op_diag diag = { "" };
	struct opd_packer packer;
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	(void)state;
	take(f, "/bin/sh", 3);
	opd_sfiles_drop_all(&f->opd);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	assert_int_equal(go(f, &packer, BEGUN), -EBUSY);
	assert_true(exists(f, "current/{root}"));
	assert_int_equal(nr_folders(f), 0);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	assert_int_equal(go(f, &packer, WRITTEN), 0);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	assert_int_equal(opd_packer_commit(&packer, OPD_PACKER_NO_WAIT, &diag),
			 -EBUSY);
	opd_packer_release(&packer);
	assert_false(exists(f, "current/packed"));
	assert_false(exists(f, "current/.packed.grow"));
	close(fd);
	goes_on(f, 3);
	free_fixture(f);
}

static void one_packer_at_a_time(void **state)
{
	struct fixture *f = new_replay();
	struct opd_packer first, second;

	(void)state;
	take(f, "/bin/sh", 3);
	opd_sfiles_drop_all(&f->opd);
	assert_int_equal(go(f, &first, BEGUN), 0);
	take(f, "/bin/sh", 2);
	opd_sfiles_drop_all(&f->opd);
	assert_int_equal(opd_packer_busy(f->opd.session.current), -EBUSY);
	assert_int_equal(go(f, &second, BEGUN), -EBUSY);
	restart_daemon(f);
	ledger_of(f);
	opd_packer_release(&first);
	goes_on(f, 5);
	free_fixture(f);
}

static void a_full_disk_stops_it(void **state)
{
	const struct rlimit none = { 64, RLIM_INFINITY };
	struct fixture *f = new_replay();
	struct rlimit before;
	struct opd_packer packer;
	int err;

	(void)state;
	take_many(f, 3);
	opd_sfiles_drop_all(&f->opd);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &none);
	err = go(f, &packer, TIDY);
	setrlimit(RLIMIT_FSIZE, &before);
	opd_packer_release(&packer);
	assert_int_equal(err, -EFBIG);
	assert_false(exists(f, "current/packed"));
	assert_false(exists(f, "current/.packed.grow"));
	goes_on(f, 3 * MANY);
	free_fixture(f);
}

/* ---- the daemon -------------------------------------------------------------
 */

static void wait_for_child(struct fixture *f)
{
	siginfo_t info;

	assert_int_not_equal(f->opd.pack.child, 0);
	waitid(P_PID, (id_t)f->opd.pack.child, &info, WEXITED | WNOWAIT);
	opd_pack_reap(&f->opd);
	assert_int_equal(f->opd.pack.child, 0);
}

static void a_child_packs_while_the_daemon_counts(void **state)
{
	struct fixture *f = new_replay();

	(void)state;
	f->opd.options.pack_at = 1;
	take(f, "/bin/sh", 5);
	opd_pack_check(&f->opd);
	assert_int_equal(f->opd.pack.child, 0);
	take_many(f, 2);
	opd_pack_check(&f->opd);
	assert_int_not_equal(f->opd.pack.child, 0);
	take_many(f, 1);
	wait_for_child(f);
	assert_int_equal(f->opd.pack.nr_made, 1);
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

static void little_stays_loose(void **state)
{
	struct fixture *f = new_replay();

	(void)state;
	f->opd.options.pack_at = 1;
	take(f, "/bin/sh", 5);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_false(exists(f, "current/packed"));
	/* But not where there is a pack. */
	restart_daemon(f);
	pack(f);
	f->opd.options.pack_at = 1;
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

static void a_killed_child_loses_nothing(void **state)
{
	struct fixture *f = new_replay();

	(void)state;
	f->opd.options.pack_at = 1;
	for (int i = 0; i < 20; i++) {
		take_many(f, 2);
		f->opd.pack.not_before = 0;
		opd_pack_check(&f->opd);
		assert_int_not_equal(f->opd.pack.child, 0);
		/* Wherever it is by now. */
		usleep((unsigned int)i * 1000);
		kill(f->opd.pack.child, SIGKILL);
		wait_for_child(f);
		assert_int_equal(total(f), 2 * MANY * (i + 1));
	}
	f->opd.options.pack_at = 0;
	goes_on(f, 20 * 2 * MANY);
	free_fixture(f);
}

static void a_child_may_outlive_its_daemon(void **state)
{
	struct fixture *f = new_replay();
	siginfo_t info;
	pid_t child;

	(void)state;
	f->opd.options.pack_at = 1;
	take_many(f, 2);
	opd_pack_check(&f->opd);
	child = f->opd.pack.child;
	assert_int_not_equal(child, 0);
	restart_daemon(f);
	take_many(f, 1);
	ledger_of(f);
	waitid(P_PID, (id_t)child, &info, WEXITED);
	assert_int_equal(packed(f), 2 * MANY);
	take_many(f, 1);
	goes_on(f, 4 * MANY);
	free_fixture(f);
}

static void failures_are_said_once_and_tried_less(void **state)
{
	struct fixture *f = new_replay();
	char path[8192];
	int fd;

	(void)state;
	f->opd.options.pack_at = 1;
	take_many(f, 2);
	/* Nothing can be written there. */
	snprintf(path, sizeof(path), "%s/.packed.grow", f->opd.session.current);
	assert_int_equal(mkdir(path, 0755), 0);
	for (int i = 0; i < 3; i++) {
		f->opd.pack.not_before = 0;
		opd_pack_check(&f->opd);
		wait_for_child(f);
		assert_int_equal(f->opd.pack.pause, 60 << i);
		assert_int_equal(nr_folders(f), 1);
		opd_pack_check(&f->opd);
		assert_int_equal(f->opd.pack.child, 0);
	}
	assert_true(log_says(f, "stay as they are"));
	fd = f->opd.log.fd;
	assert_int_equal(ftruncate(fd, 0), 0);
	f->opd.pack.not_before = 0;
	opd_pack_check(&f->opd);
	wait_for_child(f);
	assert_false(log_says(f, "stay as they are"));
	assert_int_equal(rmdir(path), 0);
	f->opd.pack.not_before = 0;
	opd_pack_check(&f->opd);
	wait_for_child(f);
	assert_int_equal(f->opd.pack.pause, 0);
	assert_int_equal(packed(f), 2 * MANY);
	ledger_of(f);
	free_fixture(f);
}

static void what_was_left_is_packed(void **state)
{
	struct fixture *f = new_replay();

	(void)state;
	take(f, "/bin/sh", 3);
	die_after(f, WRITTEN);
	restart_daemon(f);
	f->opd.options.pack_at = 1;
	opd_pack_check(&f->opd);
	wait_for_child(f);
	assert_int_equal(packed(f), 3);
	assert_int_equal(nr_folders(f), 0);
	free_fixture(f);
}

static void sessions_are_reset_and_saved(void **state)
{
	struct fixture *f = new_replay();
	struct op_diag diag = { "" };
	char dir[8192];
	struct sum sum;

	(void)state;
	f->opd.options.pack_at = 1;
	take_many(f, 2);
	opd_pack_check(&f->opd);
	assert_int_equal(opd_session_reset(&f->opd, &diag), 0);
	assert_int_equal(f->opd.pack.child, 0);
	assert_int_equal(total(f), 0);
	take_many(f, 2);
	f->opd.pack.not_before = 0;
	opd_pack_check(&f->opd);
	take_many(f, 1);
	assert_int_equal(opd_session_save(&f->opd, "one", &diag), 0);
	take(f, "/bin/sh", 4);
	wait_for_child(f);
	opd_pack_check(&f->opd);
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

/* ---- other builds -----------------------------------------------------------
 */

static void another_build_comes_out_of_the_pack(void **state)
{
	struct fixture *f = new_replay();
	struct op_ledger l;
	char dir[8192];

	(void)state;
	take_at(f, "/bin/sh", 1, 0x10, 3);
	take_at(f, "/bin/ls", 2, 0x10, 5);
	pack(f);
	take_at(f, "/bin/sh", 9, 0x20, 2);
	l = ledger_of(f);
	assert_int_equal(l.taken, 10);
	assert_int_equal(l.stored, 7);
	assert_int_equal(lost(&l, "lost_set_aside"), 3);
	assert_int_equal(at(f, SH, 0x10), 0);
	assert_int_equal(at(f, SH, 0x20), 2);
	assert_int_equal(packed(f), 5);
	snprintf(dir, sizeof(dir), "%s/aside", f->opd.session.samples);
	assert_int_equal(sum_of(dir, SH, 0x10).loose, 3);
	pack(f);
	assert_int_equal(packed(f), 7);
	assert_int_equal(ledger_of(f).stored, 7);
	/* And the last one. */
	take_at(f, "/bin/sh", 10, 0x20, 1);
	take_at(f, "/bin/ls", 11, 0x20, 1);
	assert_false(exists(f, "current/packed"));
	assert_int_equal(ledger_of(f).stored, 2);
	goes_on(f, 2);
	free_fixture(f);
}

static void another_build_comes_from_under_a_packer(void **state)
{
	struct fixture *f = new_replay();
	struct op_ledger l;

	(void)state;
	f->opd.options.pack_at = 1;
	take_many(f, 1);
	take_at(f, "/bin/sh", 1, 0x10, 3);
	pack(f);
	take_many(f, 1);
	take_at(f, "/bin/sh", 1, 0x10, 4);
	opd_pack_check(&f->opd);
	assert_int_not_equal(f->opd.pack.child, 0);
	take_at(f, "/bin/sh", 9, 0x20, 2);
	assert_int_equal(f->opd.pack.child, 0);
	l = ledger_of(f);
	assert_int_equal(l.stored, 2 * MANY + 2);
	assert_int_equal(lost(&l, "lost_set_aside"), 7);
	assert_int_equal(at(f, SH, 0x10), 0);
	f->opd.options.pack_at = 0;
	goes_on(f, 2 * MANY + 2);
	free_fixture(f);
}

/* All samples, those that were set aside, too. */
static uint64_t everywhere(struct fixture *f)
{
	uint64_t sum = total(f);
	char name[32], dir[8192];

	for (int i = 1;; i++) {
		if (i == 1)
			snprintf(name, sizeof(name), "aside");
		else
			snprintf(name, sizeof(name), "aside-%d", i);
		if (!exists(f, name))
			return sum;
		snprintf(dir, sizeof(dir), "%s/%s", f->opd.session.samples,
			 name);
		sum += sum_of(dir, NULL, 0).loose;
	}
}

static void a_daemon_may_die_while_it_makes_way(void **state)
{
	struct fixture *f = new_replay();
	uint64_t before, after;
	pid_t pid;

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		take_at(f, "/bin/sh", 2 * i + 1, 0x10, 3);
		take(f, "/bin/ls", 2);
		pack(f);
		before = everywhere(f);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			take_at(f, "/bin/sh", 2 * i + 2, 0x20, 1);
			_exit(0);
		}
		usleep(i * 50);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		restart_daemon(f);
		ledger_of(f);
		after = everywhere(f);
		assert_in_range(after, before, before + 1);
	}
	free_fixture(f);
}

static bool any(const struct pack_entry *entry, const void *ctx)
{
	(void)entry;
	(void)ctx;
	return true;
}

static bool is_sh(const struct pack_entry *entry, const void *ctx)
{
	(void)ctx;
	return !strcmp(entry->name, SH);
}

/* One that has a generation below which there is none. */
static void write_first_pack(const char *from, const char *path)
{
	struct pack_writer *writer;
	struct pack *pack;

	assert_int_equal(pack_open(&pack, from), 0);
	assert_int_equal(pack_writer_new(&writer, path, 1), 0);
	for (size_t i = 0; i < pack_nr(pack); i++)
		assert_int_equal(
			pack_writer_copy(writer, pack, pack_entry(pack, i)), 0);
	assert_int_equal(pack_writer_finish(writer), 0);
	pack_close(pack);
}

static void entries_are_taken_out(void **state)
{
	struct fixture *f = new_replay();
	const char *dir = f->opd.session.current;
	struct op_diag diag = { "" };
	struct pack *pack_of;
	char path[8192];

	(void)state;
	snprintf(path, sizeof(path), "%s/packed", dir);
	for (int i = 0; i < 3; i++) {
		take(f, "/bin/sh", 3);
		take(f, "/bin/ls", 2);
		pack(f);
		if (i == 2)
			write_first_pack(path, path);
		assert_int_equal(pack_open(&pack_of, path), 0);
		assert_int_equal(opd_packer_take_out(&f->opd, dir, pack_of,
						     i ? is_sh : any, NULL,
						     &diag),
				 0);
		pack_close(pack_of);
		assert_int_equal(total(f), 5 * (i + 1));
		assert_int_equal(packed(f), i == 1 ? 4 : 0);
		restart_daemon(f);
		ledger_of(f);
	}
	goes_on(f, 15);
	free_fixture(f);
}

/* ---- damage -----------------------------------------------------------------
 */

static void change_byte(struct fixture *f, off_t where)
{
	char path[8192];
	uint8_t byte;
	int fd;

	snprintf(path, sizeof(path), "%s/packed", f->opd.session.current);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, where), 1);
	byte ^= 0x41;
	assert_int_equal(pwrite(fd, &byte, 1, where), 1);
	close(fd);
}

static void a_damaged_pack_makes_way(void **state)
{
	struct fixture *f = new_replay();
	struct op_ledger l;

	(void)state;
	take(f, "/bin/sh", 3);
	pack(f);
	take(f, "/bin/ls", 2);
	assert_int_equal(opd_finish(&f->opd), 0);
	change_byte(f, 3);
	restart_daemon(f);
	l = ledger_of(f);
	assert_int_equal(l.taken, 5);
	assert_int_equal(l.stored, 2);
	assert_int_equal(lost(&l, "lost_damaged_file"), 3);
	assert_true(exists(f, "current/packed.bad"));
	goes_on(f, 2);
	free_fixture(f);
}

static void a_damaged_file_is_left_out(void **state)
{
	struct fixture *f = new_replay();
	char path[8192];
	struct op_ledger l;
	FILE *file;

	(void)state;
	f->opd.options.pack_at = 1;
	take_many(f, 1);
	take(f, "/bin/sh", 3);
	opd_sfiles_drop_all(&f->opd);
	snprintf(path, sizeof(path), "%s/%s", f->opd.session.current, SH);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("this is no database", file);
	fclose(file);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_int_equal(packed(f), MANY);
	assert_true(exists(f, "current/" SH ".bad"));
	assert_int_equal(nr_folders(f), 0);
	l = ledger_of(f);
	assert_int_equal(lost(&l, "lost_damaged_file"), 3);
	free_fixture(f);
}

/* Change each byte of a small pack: what can be read of it is kept. */
static void a_pack_may_be_damaged_in_part(void **state)
{
	struct stat st;
	char path[8192];
	off_t len = 1;

	(void)state;
	for (off_t where = 0; where < len; where += 5) {
		struct fixture *f = new_replay();
		struct op_ledger l;

		take(f, "/bin/sh", 3);
		take(f, "/bin/ls", 2);
		take(f, "/bin/cp", 1);
		pack(f);
		snprintf(path, sizeof(path), "%s/packed",
			 f->opd.session.current);
		assert_int_equal(stat(path, &st), 0);
		len = st.st_size;
		assert_int_equal(opd_finish(&f->opd), 0);
		change_byte(f, where);
		restart_daemon(f);
		f->opd.options.pack_at = 1;
		take(f, "/bin/ls", 1);
		opd_finish(&f->opd);
		l = ledger_of(f);
		assert_int_equal(l.taken, 7);
		assert_int_equal(l.stored + lost(&l, "lost_damaged_file"), 7);
		assert_int_equal(l.stored, total(f));
		assert_true(l.stored == 7 || exists(f, "current/packed.bad"));
		free_fixture(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_come_into_the_pack),
		cmocka_unit_test(counting_goes_on_beside_the_pack),
		cmocka_unit_test(nothing_makes_no_pack),
		cmocka_unit_test(derived_files_keep_their_account),
		cmocka_unit_test(a_packer_may_die_after_each_step),
		cmocka_unit_test(several_may_die),
		cmocka_unit_test(a_packer_may_die_between_two_folders),
		cmocka_unit_test(a_folder_may_be_half_removed),
		cmocka_unit_test(readers_are_waited_for),
		cmocka_unit_test(one_packer_at_a_time),
		cmocka_unit_test(a_full_disk_stops_it),
		cmocka_unit_test(a_child_packs_while_the_daemon_counts),
		cmocka_unit_test(little_stays_loose),
		cmocka_unit_test(a_killed_child_loses_nothing),
		cmocka_unit_test(a_child_may_outlive_its_daemon),
		cmocka_unit_test(failures_are_said_once_and_tried_less),
		cmocka_unit_test(what_was_left_is_packed),
		cmocka_unit_test(sessions_are_reset_and_saved),
		cmocka_unit_test(another_build_comes_out_of_the_pack),
		cmocka_unit_test(another_build_comes_from_under_a_packer),
		cmocka_unit_test(a_daemon_may_die_while_it_makes_way),
		cmocka_unit_test(entries_are_taken_out),
		cmocka_unit_test(a_damaged_pack_makes_way),
		cmocka_unit_test(a_damaged_file_is_left_out),
		cmocka_unit_test(a_pack_may_be_damaged_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
