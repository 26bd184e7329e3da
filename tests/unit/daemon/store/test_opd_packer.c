// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The steps in which sample files come into a pack: whoever is killed between
 * them, or finds damage, no sample is lost or there twice.
 */
#include "tests/unit/opd_pack_fixture.h"

/* ---- packing ----------------------------------------------------------------
 */

TEST(counts_come_into_the_pack)
{
	struct fixture *f = new_replay();

	take(f, "/bin/sh", 3);
	take_at(f, "/bin/sh", 0, 0x20, 5);
	take(f, "/bin/ls", 2);
	assert_int_equal(packed(f), 0);
	pack(f);
	assert_int_equal(packed(f), 10);
	assert_int_equal(total(f), 10);
	assert_int_equal(at(f, SH, 0x20), 5);
	assert_false(exists(f, "current/{loose}"));
	ledger_of(f);
	free_fixture(f);
}

TEST(counting_goes_on_beside_the_pack)
{
	struct fixture *f = new_replay();

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

/* Files where their names say, as earlier versions made them, count like those
 * that are made now, and come into the pack with them. */
TEST(files_of_earlier_versions_count)
{
	struct fixture *f = new_replay();

	take(f, "/bin/sh", 3);
	as_before_loose(f);
	assert_false(has_samples(f, SH));
	assert_int_equal(total(f), 3);
	restart_daemon(f);
	take(f, "/bin/sh", 4);
	assert_true(has_samples(f, SH));
	assert_int_equal(total(f), 7);
	assert_int_equal(ledger_of(f).stored, 7);
	pack(f);
	assert_int_equal(packed(f), 7);
	assert_int_equal(at(f, SH, 0x10), 7);
	assert_false(exists(f, "current/{root}"));
	assert_false(exists(f, "current/{loose}"));
	free_fixture(f);
}

TEST(nothing_makes_no_pack)
{
	struct fixture *f = new_replay();
	struct opd_packer packer;

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

	sample_path(f, SH, path, sizeof(path));
	assert_int_equal(op_make_parents(path, 0755), 0);
	assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
	memcpy(odb_user(odb), &header, sizeof(header));
	assert_int_equal(odb_add(odb, 0x10, (uint64_t)nr), 0);
	odb_close(odb);
}

TEST(derived_files_keep_their_account)
{
	struct fixture *f = new_replay();
	uint64_t nr;

	for (int i = 1; i <= 3; i++) {
		make_derived(f, 100, 7);
		pack(f);
		assert_int_equal(packed(f), 100 * i);
		assert_int_equal(opd_session_count(&f->opd.store, &nr, NULL),
				 0);
		assert_int_equal(nr, 7 * i);
	}
	free_fixture(f);
}

/* ---- killed -----------------------------------------------------------------
 */

TEST(a_packer_may_die_after_each_step)
{
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

TEST(several_may_die)
{
	struct fixture *f = new_replay();
	uint64_t there = 0;

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

TEST(a_packer_may_die_between_two_folders)
{
	struct fixture *f = new_replay();
	struct words *w = calloc(1, sizeof(*w));
	char from[8192], to[8192];

	assert_non_null(w);
	put_cpu(w, 0);
	put_kernel(w);
	put_sample(w, 0x10, 0);
	run_words(f, w);
	free(w);
	take(f, "/bin/sh", 3);
	opd_sfiles_drop_all(&f->opd.store);
	snprintf(to, sizeof(to), "%s/.packing-7", f->opd.session.current);
	assert_int_equal(mkdir(to, 0755), 0);
	snprintf(from, sizeof(from), "%s/{loose}", f->opd.session.current);
	snprintf(to, sizeof(to), "%s/.packing-7/{loose}",
		 f->opd.session.current);
	assert_int_equal(rename(from, to), 0);
	goes_on(f, 4);
	free_fixture(f);
}

TEST(a_folder_may_be_half_removed)
{
	struct fixture *f = new_replay();
	uint64_t *folders;
	char dir[4200], path[8192];
	size_t nr;

	take(f, "/bin/sh", 3);
	take(f, "/bin/ls", 2);
	die_after(f, COMMITTED);
	assert_int_equal(
		opd_packer_folders(f->opd.session.current, &folders, &nr), 0);
	assert_int_equal(nr, 1);
	snprintf(dir, sizeof(dir), "%s/.packing-%d", f->opd.session.current,
		 (int)folders[0]);
	assert_int_equal(db_folder_loose(dir, SH, path, sizeof(path)), 0);
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

TEST(readers_are_waited_for)
{
	struct fixture *f = new_replay();
	const char *dir = f->opd.session.current;
	struct op_diag diag = { "" };
	struct opd_packer packer;
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	take(f, "/bin/sh", 3);
	opd_sfiles_drop_all(&f->opd.store);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	assert_int_equal(go(f, &packer, BEGUN), -EBUSY);
	assert_true(exists(f, "current/{loose}"));
	assert_int_equal(nr_folders(f), 0);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	assert_int_equal(go(f, &packer, WRITTEN), 0);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	assert_int_equal(opd_packer_commit(&packer, OPD_PACKER_NO_WAIT, &diag),
			 -EBUSY);
	opd_packer_cancel(&packer);
	assert_false(exists(f, "current/packed"));
	assert_false(exists(f, "current/.packed.grow"));
	close(fd);
	goes_on(f, 3);
	free_fixture(f);
}

TEST(success_needs_no_reason)
{
	struct fixture *f = new_replay();
	struct op_diag diag = { "" };
	struct opd_packer packer;

	take(f, "/bin/sh", 3);
	opd_sfiles_drop_all(&f->opd.store);
	assert_int_equal(go(f, &packer, WRITTEN), 0);
	assert_int_equal(opd_packer_commit(&packer, OPD_PACKER_NO_WAIT, &diag),
			 0);
	assert_string_equal(diag.text, "");
	goes_on(f, 3);
	free_fixture(f);
}

TEST(a_full_disk_stops_it)
{
	const struct rlimit none = { 64, RLIM_INFINITY };
	struct fixture *f = new_replay();
	struct rlimit before;
	struct opd_packer packer;
	int err;

	take_many(f, 3);
	opd_sfiles_drop_all(&f->opd.store);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &none);
	err = go(f, &packer, TIDY);
	setrlimit(RLIMIT_FSIZE, &before);
	opd_packer_cancel(&packer);
	assert_int_equal(err, -EFBIG);
	assert_false(exists(f, "current/packed"));
	assert_false(exists(f, "current/.packed.grow"));
	goes_on(f, 3 * MANY);
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

static void cut_pack(struct fixture *f, off_t len)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/packed", f->opd.session.current);
	assert_int_equal(truncate(path, len), 0);
}

/* Header and index are not needed to find what is in a pack. */
TEST(a_pack_without_header_is_made_anew)
{
	struct fixture *f = new_replay();

	take(f, "/bin/sh", 3);
	pack(f);
	take(f, "/bin/ls", 2);
	assert_int_equal(opd_finish(&f->opd), 0);
	change_byte(f, 3);
	assert_int_equal(total(f), 5);
	restart_daemon(f);
	assert_int_equal(ledger_of(f).stored, 5);
	assert_int_equal(op_ledger_lost(&f->opd.stats.base), 0);
	assert_int_equal(packed(f), 3);
	assert_false(exists(f, "current/packed.bad"));
	goes_on(f, 5);
	free_fixture(f);
}

TEST(a_damaged_pack_makes_way)
{
	struct fixture *f = new_replay();
	struct op_ledger l;

	take(f, "/bin/sh", 3);
	pack(f);
	take(f, "/bin/ls", 2);
	assert_int_equal(opd_finish(&f->opd), 0);
	cut_pack(f, 70);
	restart_daemon(f);
	l = ledger_of(f);
	assert_int_equal(l.taken, 5);
	assert_int_equal(l.stored, 2);
	assert_int_equal(op_ledger_lost_by(&l, "lost_damaged_file"), 3);
	assert_true(exists(f, "current/packed.bad"));
	goes_on(f, 2);
	free_fixture(f);
}

TEST(a_damaged_file_is_left_out)
{
	struct fixture *f = new_replay();
	char path[8192];
	struct op_ledger l;
	FILE *file;

	f->opd.store.pack.limit = 1;
	take_many(f, 1);
	take(f, "/bin/sh", 3);
	opd_sfiles_drop_all(&f->opd.store);
	sample_path(f, SH, path, sizeof(path));
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("this is no database", file);
	fclose(file);
	assert_int_equal(opd_finish(&f->opd), 0);
	assert_int_equal(packed(f), MANY);
	assert_true(has_samples(f, SH ".bad"));
	assert_int_equal(nr_folders(f), 0);
	l = ledger_of(f);
	assert_int_equal(op_ledger_lost_by(&l, "lost_damaged_file"), 3);
	free_fixture(f);
}

/* Change each byte of a small pack: what can be read of it is kept. */
TEST(a_pack_may_be_damaged_in_part)
{
	struct stat st;
	char path[8192];
	off_t len = 1;

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
		f->opd.store.pack.limit = 1;
		take(f, "/bin/ls", 1);
		opd_finish(&f->opd);
		l = ledger_of(f);
		assert_int_equal(l.taken, 7);
		assert_int_equal(
			l.stored + op_ledger_lost_by(&l, "lost_damaged_file"),
			7);
		assert_int_equal(l.stored, total(f));
		assert_true(l.stored == 7 || exists(f, "current/packed.bad"));
		free_fixture(f);
	}
}
