// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose samples are shown to whom, by records and by what /proc says: each case
 * in which it is in doubt has no owner.
 */

#include <sys/stat.h>

#include "daemon/source/perf/opd_perf_owner.h"
#include "tests/unit/daemon/source/perf_rig.h"
#include "tests/unit/rows.h"

#define USER 1000
#define PID 100u

/* What /proc has of a process, as "UIDS|GIDS|CAPS|OWNER"; NULL: nothing. */
static void set_process(struct rig *rig, const char *text)
{
	char status[512], path[256], uids[64], gids[64], caps[32];
	unsigned int owner;

	snprintf(path, sizeof(path), "%s/%u", rig->proc, PID);
	if (!access(path, F_OK))
		proc_remove(rig, PID);
	if (!text)
		return;
	proc_add(rig, PID, NULL, "");
	assert_int_equal(sscanf(text, "%63[^|]|%63[^|]|%31[^|]|%u", uids, gids,
				caps, &owner),
			 4);
	snprintf(status, sizeof(status),
		 "Name:\tx\nUid:\t%s\nGid:\t%s\nCapPrm:\t%s\n", uids, gids,
		 caps);
	proc_set(rig, PID, "status", status);
	snprintf(path, sizeof(path), "%s/%u/status", rig->proc, PID);
	assert_int_equal(chown(path, owner, owner), 0);
}

#define PLAIN "1000 1000 1000 1000|1000 1000 1000 1000|0000000000000000|1000"
#define ROOT "0 0 0 0|0 0 0 0|000001ffffffffff|0"

static const struct says_row {
	const char *name, *process;
	uint64_t user;
} says_rows[] = {
	{ "a user", PLAIN, USER },
	{ "root", ROOT, OP_NO_OWNER },
	{ "root without capabilities", "0 0 0 0|0 0 0 0|0000000000000000|0",
	  OP_NO_OWNER },
	{ "a setuid program",
	  "1000 0 0 0|1000 1000 1000 1000|0000000000000000|0", OP_NO_OWNER },
	{ "one that could go back",
	  "1000 1000 0 1000|1000 1000 1000 1000|0000000000000000|1000",
	  OP_NO_OWNER },
	{ "a setgid program",
	  "1000 1000 1000 1000|1000 42 42 42|0000000000000000|1000",
	  OP_NO_OWNER },
	{ "one with a capability",
	  "1000 1000 1000 1000|1000 1000 1000 1000|0000000000002000|1000",
	  OP_NO_OWNER },
	{ "one that has changed its user",
	  "1000 1000 1000 1000|1000 1000 1000 1000|0000000000000000|0",
	  OP_NO_OWNER },
	{ "nobody's number",
	  "4294967295 4294967295 4294967295 4294967295|1 1 1 1|0|1000",
	  OP_NO_OWNER },
	{ "numbers that are none", "a b c d|1 1 1 1|0|1000", OP_NO_OWNER },
	{ "one that has ended", NULL, OP_NO_OWNER },
};

static struct rig *owner_rig(struct opd_process **process)
{
	struct rig *rig = new_rig();

	opd_process_table_want_names(&rig->table, OPD_TELL_OWNERS);
	*process = opd_maps_new(&rig->table.maps, PID);
	assert_non_null(*process);
	return rig;
}

static void check_says(const struct says_row *r)
{
	struct opd_process *process;
	struct rig *rig = owner_rig(&process);

	set_process(rig, r->process);
	opd_perf_owner_see(&rig->table, process);
	/* Nobody knows of what was before. */
	rig->table.now = process->owner.since - 1;
	assert_int_equal(opd_perf_owner_of(&rig->table, process), OP_NO_OWNER);
	rig->table.now = process->owner.since;
	assert_int_equal(opd_perf_owner_of(&rig->table, process), r->user);
	free_rig(rig);
}

TEST(what_proc_says)
{
	for (size_t i = 0; i < NR(says_rows); i++) {
		print_message("# %s\n", says_rows[i].name);
		check_says(&says_rows[i]);
	}
}

static uint64_t owner_now(struct rig *rig, struct opd_process *process)
{
	/* Later than /proc was ever asked. */
	rig->table.now = UINT64_MAX / 2;
	return opd_perf_owner_of(&rig->table, process);
}

/* The program of the process is a file of @mode. */
static void exec_file(struct rig *rig, struct opd_process *process, mode_t mode)
{
	struct opd_perf_image_id id = { .pid = PID };
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/program-%o", rig->dir, mode);
	make_file(path, "x", 1);
	assert_int_equal(chmod(path, mode), 0);
	assert_int_equal(stat(path, &st), 0);
	id.name = path;
	id.ino = st.st_ino;
	opd_perf_owner_exec(&rig->table, process);
	process->app = opd_perf_image_cookie(&rig->table.images, &id);
}

/* A user's process stays theirs by records alone, whatever /proc can tell. */
TEST(plain_exec)
{
	struct opd_process *process;
	struct rig *rig = owner_rig(&process);

	set_process(rig, PLAIN);
	opd_perf_owner_see(&rig->table, process);
	set_process(rig, NULL);
	rig->table.now = process->owner.since;
	exec_file(rig, process, 0755);
	assert_int_equal(opd_perf_owner_of(&rig->table, process), USER);
	free_rig(rig);
}

TEST(exec_that_gives_rights)
{
	static const mode_t modes[] = { 04755, 02755, 06755 };

	for (size_t i = 0; i < NR(modes); i++) {
		struct opd_process *process;
		struct rig *rig = owner_rig(&process);

		set_process(rig, PLAIN);
		opd_perf_owner_see(&rig->table, process);
		rig->table.now = process->owner.since;
		exec_file(rig, process, modes[i]);
		assert_int_equal(owner_now(rig, process), OP_NO_OWNER);
		free_rig(rig);
	}
}

/* Until its program is known, or where its file is not found. */
TEST(exec_of_nothing_known)
{
	struct opd_perf_image_id id = { .name = "/no/such/file", .pid = PID };
	struct opd_process *process;
	struct rig *rig = owner_rig(&process);

	set_process(rig, PLAIN);
	opd_perf_owner_see(&rig->table, process);
	rig->table.now = process->owner.since;
	opd_perf_owner_exec(&rig->table, process);
	assert_int_equal(owner_now(rig, process), OP_NO_OWNER);
	process->app = opd_perf_image_cookie(&rig->table.images, &id);
	assert_int_equal(owner_now(rig, process), OP_NO_OWNER);
	free_rig(rig);
}

/* The file gives no rights, but /proc has somebody else by now. */
TEST(exec_and_another_user)
{
	struct opd_process *process;
	struct rig *rig = owner_rig(&process);

	set_process(rig, PLAIN);
	opd_perf_owner_see(&rig->table, process);
	rig->table.now = process->owner.since;
	set_process(rig, ROOT);
	exec_file(rig, process, 0755);
	assert_int_equal(owner_now(rig, process), OP_NO_OWNER);
	free_rig(rig);
}

/* A file of @mode that the process maps at @time, as it is seen ahead. */
static void see_ahead(struct rig *rig, struct opd_perf_rec *rec, char path[128],
		      mode_t mode, uint64_t time)
{
	struct stat st;

	snprintf(path, 128, "%s/ahead-%o", rig->dir, mode);
	make_file(path, "x", 1);
	assert_int_equal(chmod(path, mode), 0);
	assert_int_equal(stat(path, &st), 0);
	*rec = map_rec(rig, PID, time, 0x1000, 0, path);
	rec->mmap.ino = st.st_ino;
	rec->time = time;
	opd_perf_handle_ahead(&rig->table, rec);
}

/* The records of an exec, of its program and of the loader are on three CPUs,
 * and the first of these is looked at before it has the program's: so the
 * loader is taken for the program, until the turn of its record comes. */
TEST(exec_that_is_seen_late)
{
	struct opd_perf_rec exec = { .type = PERF_RECORD_COMM,
				     .misc = PERF_RECORD_MISC_COMM_EXEC,
				     .pid = PID,
				     .tid = PID,
				     .comm.name = "program" };
	struct opd_perf_rec program, loader;
	char program_path[128], loader_path[128];
	struct opd_process *process;
	struct rig *rig = owner_rig(&process);
	uint64_t time;

	set_process(rig, PLAIN);
	opd_perf_owner_see(&rig->table, process);
	set_process(rig, NULL);
	time = process->owner.since + 1000;
	exec.time = time;
	see_ahead(rig, &program, program_path, 04755, time + 1000);
	opd_perf_handle_ahead(&rig->table, &exec);
	see_ahead(rig, &loader, loader_path, 0755, time + 2000);
	opd_perf_handle_side(&rig->table, &exec);
	process = opd_maps_find(&rig->table.maps, PID);
	/* Of a process that is gone nothing else tells the user. */
	assert_int_equal(opd_perf_owner_of(&rig->table, process), USER);
	opd_perf_handle_side(&rig->table, &program);
	assert_int_equal(opd_perf_owner_of(&rig->table, process), OP_NO_OWNER);
	opd_perf_handle_side(&rig->table, &loader);
	assert_int_equal(opd_perf_owner_of(&rig->table, process), OP_NO_OWNER);
	free_rig(rig);
}

/* Root's process that runs a program of a user's: theirs from then on. */
TEST(exec_of_root)
{
	struct opd_process *process;
	struct rig *rig = owner_rig(&process);

	set_process(rig, ROOT);
	opd_perf_owner_see(&rig->table, process);
	rig->table.now = process->owner.since;
	set_process(rig, PLAIN);
	assert_int_equal(opd_perf_owner_of(&rig->table, process), OP_NO_OWNER);
	opd_perf_owner_exec(&rig->table, process);
	assert_int_equal(opd_perf_owner_of(&rig->table, process), OP_NO_OWNER);
	assert_int_equal(owner_now(rig, process), USER);
	free_rig(rig);
}

TEST(children)
{
	const struct opd_owner parent = { .is_asked = true,
					  .user = USER,
					  .since = 50 };
	struct opd_owner child;

	opd_perf_owner_fork(&child, &parent, 60);
	assert_int_equal(child.user, USER);
	assert_int_equal(child.since, 60);
	/* What the parent was then nobody knows. */
	opd_perf_owner_fork(&child, &parent, 49);
	assert_false(child.is_asked);
	assert_int_equal(child.user, OP_NO_OWNER);
	opd_perf_owner_fork(&child, NULL, 60);
	assert_false(child.is_asked);
}

/* What was lost may have been an exec: /proc is asked again. */
TEST(lost_records)
{
	struct opd_process *process;
	struct rig *rig = owner_rig(&process);

	set_process(rig, PLAIN);
	opd_perf_owner_see(&rig->table, process);
	set_process(rig, ROOT);
	assert_int_equal(owner_now(rig, process), USER);
	rig->table.gap_at = process->owner.since + 1;
	assert_int_equal(owner_now(rig, process), OP_NO_OWNER);
	free_rig(rig);
}

/* Who does not ask has no cost, and no owners. */
TEST(not_wanted)
{
	struct opd_process *process;
	struct rig *rig = owner_rig(&process);

	rig->table.tells_owners = false;
	set_process(rig, PLAIN);
	opd_perf_owner_see(&rig->table, process);
	assert_false(process->owner.is_asked);
	assert_int_equal(owner_now(rig, process), OP_NO_OWNER);
	free_rig(rig);
}

BEFORE_TESTS()
{
	if (geteuid()) {
		puts("1..0 # SKIP only root gives files to others");
		exit(0);
	}
}
