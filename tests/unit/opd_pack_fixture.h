/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPD_PACK_FIXTURE_H
#define TESTS_UNIT_OPD_PACK_FIXTURE_H

/*
 * What the tests of packed sessions share: samples to take, what is counted in
 * a session, and the steps of a packer.
 */

#include <inttypes.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "opd_fixture.h"
#include "daemon/store/opd_packer.h"
#include "libdb/db_folder.h"
#include "libdb/pack.h"
#include "libop/files/op_folder.h"
#include "libop/session/op_sample_file.h"

#define SH "{root}/bin/sh/{dep}/{root}/bin/sh/TIMER.0.0.all.all.all"
#define LS "{root}/bin/ls/{dep}/{root}/bin/ls/TIMER.0.0.all.all.all"

/* ---- samples ----------------------------------------------------------------
 */

/* @nr samples at @pc in build @build (0: none) of @path. */
__attribute__((unused)) static void take_at(struct fixture *f, const char *path,
					    uint64_t build, uint64_t pc, int nr)
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

__attribute__((unused)) static void take(struct fixture *f, const char *path,
					 int nr)
{
	take_at(f, path, 0, 0x10, nr);
}

/* As many applications as make more than a MiB of sample files. */
#define MANY 300

__attribute__((unused)) static void take_many(struct fixture *f, int nr)
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

__attribute__((unused)) static int add_member(const struct db_member *member,
					      void *ctx)
{
	struct sum *sum = ctx;
	struct odb *odb;
	struct odb_stat stat;

	if (sum->name && strcmp(sum->name, member->name))
		return 0;
	if (op_sample_file_is_set_aside(member->name))
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

__attribute__((unused)) static struct sum sum_of(const char *dir,
						 const char *name, uint64_t key)
{
	struct sum sum = { .name = name, .key = key };
	const struct db_visitor visitor = { .member = add_member, .ctx = &sum };

	assert_int_equal(db_folder_open(&sum.folder, dir), 0);
	assert_int_equal(db_folder_each(sum.folder, &visitor), 0);
	db_folder_close(sum.folder);
	return sum;
}

__attribute__((unused)) static uint64_t total(struct fixture *f)
{
	struct sum sum = sum_of(f->opd.session.current, NULL, 0);

	return sum.loose + sum.packed;
}

__attribute__((unused)) static uint64_t at(struct fixture *f, const char *name,
					   uint64_t key)
{
	struct sum sum = sum_of(f->opd.session.current, name, key);

	return sum.loose + sum.packed;
}

__attribute__((unused)) static uint64_t packed(struct fixture *f)
{
	return sum_of(f->opd.session.current, NULL, 0).packed;
}

__attribute__((unused)) static size_t nr_folders(struct fixture *f)
{
	uint64_t *folders;
	size_t nr;

	assert_int_equal(
		opd_packer_folders(f->opd.session.current, &folders, &nr), 0);
	free(folders);
	return nr;
}

__attribute__((unused)) static bool log_says(struct fixture *f,
					     const char *text)
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

__attribute__((unused)) static int move_member(const struct db_member *member,
					       void *ctx)
{
	char to[8192];

	snprintf(to, sizeof(to), "%s/%s", (const char *)ctx, member->name);
	assert_int_equal(op_make_parents(to, 0755), 0);
	assert_int_equal(rename(member->path, to), 0);
	return 0;
}

/* All loose files are where earlier versions had them. */
__attribute__((unused)) static void as_before_loose(struct fixture *f)
{
	const struct db_visitor visitor = { .member = move_member,
					    .ctx = f->opd.session.current };
	struct db_folder *folder;

	opd_sfiles_drop_all(&f->opd.store);
	assert_int_equal(db_folder_open(&folder, f->opd.session.current), 0);
	assert_int_equal(db_folder_each(folder, &visitor), 0);
	db_folder_close(folder);
}

/* ---- steps ------------------------------------------------------------------
 */

enum step { BEGUN, WRITTEN, COMMITTED, TIDY };

/* Go so far, and give nothing back. */
__attribute__((unused)) static int go(struct fixture *f,
				      struct opd_packer *packer, enum step last)
{
	const char *dir = f->opd.session.current;
	struct op_diag diag = { "" };
	int err;

	err = opd_packer_begin(packer, dir, false, OPD_PACKER_NO_WAIT, &diag);
	if (!err && last >= WRITTEN)
		err = opd_packer_write(&f->opd.store, packer, &diag);
	if (!err && last >= COMMITTED)
		err = opd_packer_commit(packer, OPD_PACKER_NO_WAIT, &diag);
	if (!err && last >= TIDY)
		err = opd_packer_tidy(dir, &diag);
	return err;
}

__attribute__((unused)) static void pack(struct fixture *f)
{
	struct opd_packer packer;

	opd_sfiles_drop_all(&f->opd.store);
	assert_int_equal(go(f, &packer, TIDY), 0);
	opd_packer_cancel(&packer);
	assert_int_equal(nr_folders(f), 0);
}

/* The same by a process that is gone after step @last. */
__attribute__((unused)) static void die_after(struct fixture *f, enum step last)
{
	struct opd_packer packer;
	pid_t pid;
	int status;

	opd_sfiles_drop_all(&f->opd.store);
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

/* Another daemon comes, counts more, and packs all. */
__attribute__((unused)) static void goes_on(struct fixture *f, uint64_t there)
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

#endif /* TESTS_UNIT_OPD_PACK_FIXTURE_H */
