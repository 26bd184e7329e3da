// SPDX-License-Identifier: GPL-2.0-or-later
/* What the daemon knows of processes, how much of it, and its file of names. */

#include "daemon/opd_tasks.h"

#include "libop/base/op_log.h"
#include "libop/session/op_session.h"
#include "module/uapi/oprofile.h"
#include "tests/unit/opd_fixture.h"

static struct tasks_test {
	struct opd_tasks tasks;
	struct op_session session;
	struct op_log log;
	char log_path[512];
} t;

static int begin_tasks_test(void **state)
{
	char dir[] = "/tmp/opd-tasks-XXXXXX";
	struct op_diag diag = { "" };

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(op_session_init(&t.session, dir, &diag), 0);
	snprintf(t.log_path, sizeof(t.log_path), "%s/log", dir);
	op_log_init(&t.log);
	assert_int_equal(op_log_open(&t.log, t.log_path, &diag), 0);
	assert_int_equal(mkdir(t.session.samples, 0755), 0);
	assert_int_equal(mkdir(t.session.current, 0755), 0);
	memset(&t.tasks, 0xff, sizeof(t.tasks));
	opd_tasks_init(&t.tasks, &t.session, &t.log, true);
	return 0;
}

static int end_tasks_test(void **state)
{
	(void)state;
	opd_tasks_release(&t.tasks);
	op_log_close(&t.log);
	remove_tree(t.session.dir);
	return 0;
}

#define TASKS_TEST(name) TEST_WITH(name, begin_tasks_test, end_tasks_test)

/* All of the log, each line without its time; the folder is "DIR". */
static void must_have_logged(const char *wanted)
{
	char line[4096], text[4096] = "";
	size_t len = strlen(t.session.current);
	FILE *file = fopen(t.log_path, "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		assert_true(strlen(line) > 20);
		if (!strncmp(line + 20, t.session.current, len)) {
			strcat(text, "DIR");
			strcat(text, line + 20 + len);
		} else {
			strcat(text, line + 20);
		}
	}
	fclose(file);
	assert_string_equal(text, wanted);
}

/* The path of the file of names. */
static const char *path_of_names(void)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s/tasks", t.session.current);
	return path;
}

/* ---- how much ---------------------------------------------------------------
 */

/* It is said once, whatever finds no room first. */
TASKS_TEST(names_without_end)
{
	char name[16];

	for (uint32_t tid = 1; tid <= OP_TASKS_MAX; tid++)
		opd_tasks_learn_name(&t.tasks, 1, tid, "thread");
	must_have_logged("");
	opd_tasks_learn_name(&t.tasks, 1, OP_TASKS_MAX + 1, "one");
	opd_tasks_learn_name(&t.tasks, 1, OP_TASKS_MAX + 2, "two");
	must_have_logged(
		"too many names of threads: further ones are not recorded\n");
	assert_null(op_tasks_name_of(&t.tasks.names, 1, OP_TASKS_MAX + 1));
	assert_int_equal(t.tasks.names.nr_unnamed, 2);
	/* Who has a name may have another. */
	opd_tasks_learn_name(&t.tasks, 1, OP_TASKS_MAX, "other");
	assert_string_equal(op_tasks_name_of(&t.tasks.names, 1, OP_TASKS_MAX),
			    "other");
	for (uint32_t i = 0; i <= OP_TASK_LINKS_MAX; i++) {
		snprintf(name, sizeof(name), "/bin/%u", i);
		opd_tasks_learn_link(&t.tasks, name, "/bin/file");
	}
	must_have_logged(
		"too many names of threads: further ones are not recorded\n");
}

TASKS_TEST(links_without_end)
{
	char name[16];

	for (uint32_t i = 0; i < OP_TASK_LINKS_MAX; i++) {
		snprintf(name, sizeof(name), "/bin/%u", i);
		opd_tasks_learn_link(&t.tasks, name, "/bin/file");
	}
	must_have_logged("");
	opd_tasks_learn_link(&t.tasks, "/bin/more", "/bin/file");
	must_have_logged(
		"too many links to programs: further ones are not recorded\n");
}

static size_t nr_processes_known(void)
{
	return t.tasks.processes.nr + t.tasks.older.nr;
}

/* Whoever has no samples while so many others come is forgotten, and told of
 * again. */
TASKS_TEST(processes_without_end)
{
	struct opd_image *image = (struct opd_image *)&t;
	uint32_t tgid = 1;

	opd_tasks_learn_cgroup(&t.tasks, 5, "/b");
	opd_tasks_learn_run(&t.tasks, 5, 7, image);
	for (; tgid <= OPD_TASK_GENERATION; tgid++)
		if (tgid != 5)
			opd_tasks_learn_cgroup(&t.tasks, tgid, "/a");
	assert_int_equal(nr_processes_known(), OPD_TASK_GENERATION);
	/* One is looked for from time to time, another is told anew. */
	for (; tgid <= 5 * OPD_TASK_GENERATION; tgid++) {
		opd_tasks_learn_cgroup(&t.tasks, tgid, "/a");
		if (tgid % 100000 == 0) {
			assert_string_equal(opd_tasks_cgroup(&t.tasks, 5),
					    "/b");
			opd_tasks_learn_cgroup(&t.tasks, 6, "/c");
		}
	}
	assert_true(nr_processes_known() > OPD_TASK_GENERATION);
	assert_true(nr_processes_known() <= OPD_MAX_PROCESSES);
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 5), "/b");
	assert_ptr_equal(opd_tasks_run_as(&t.tasks, 5, 7), image);
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 6), "/c");
	assert_string_equal(opd_tasks_cgroup(&t.tasks, tgid - 1), "/a");
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 4), OPD_NO_CGROUP);
	must_have_logged("");
	/* What is known of a process may change. */
	opd_tasks_learn_cgroup(&t.tasks, 5, "/d");
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 5), "/d");
	/* Another stream has others. */
	opd_tasks_forget(&t.tasks);
	assert_int_equal(nr_processes_known(), 0);
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 5), OPD_NO_CGROUP);
	assert_null(opd_tasks_run_as(&t.tasks, 5, 7));
	opd_tasks_learn_cgroup(&t.tasks, tgid, "/a");
	assert_string_equal(opd_tasks_cgroup(&t.tasks, tgid), "/a");
}

/* The first one is the root. */
TASKS_TEST(cgroups_without_end)
{
	char path[16];

	for (uint32_t i = 1; i < OPD_MAX_CGROUPS; i++) {
		snprintf(path, sizeof(path), "/%u", i);
		opd_tasks_learn_cgroup(&t.tasks, 1, path);
		assert_string_equal(opd_tasks_cgroup(&t.tasks, 1), path);
	}
	must_have_logged("");
	opd_tasks_learn_cgroup(&t.tasks, 1, "/more");
	must_have_logged("too many cgroups: further ones are not recorded\n");
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 1), OPD_NO_CGROUP);
	opd_tasks_learn_cgroup(&t.tasks, 1, "/77");
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 1), "/77");
	opd_tasks_learn_cgroup(&t.tasks, 1, "/");
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 1), "/");
}

/* ---- what is known ----------------------------------------------------------
 */

/* Paths stay where they are, each once. */
TASKS_TEST(cgroups_are_kept)
{
	const char *a;

	opd_tasks_learn_cgroup(&t.tasks, 1, "/a");
	opd_tasks_learn_cgroup(&t.tasks, 2, "/b");
	a = opd_tasks_cgroup(&t.tasks, 1);
	opd_tasks_learn_cgroup(&t.tasks, 2, "/a");
	assert_ptr_equal(opd_tasks_cgroup(&t.tasks, 2), a);
	opd_tasks_forget(&t.tasks);
	assert_string_equal(a, "/a");
	opd_tasks_learn_cgroup(&t.tasks, 3, "/a");
	assert_ptr_equal(opd_tasks_cgroup(&t.tasks, 3), a);
}

TASKS_TEST(idle_cpus_are_in_the_root)
{
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 0), "/");
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 1), OPD_NO_CGROUP);
	assert_string_equal(opd_tasks_cgroup(&t.tasks, -1), OPD_NO_CGROUP);
	opd_tasks_learn_cgroup(&t.tasks, 0, "/idle");
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 0), "/idle");
	/* Of a process that runs a program, no cgroup was told yet. */
	opd_tasks_learn_run(&t.tasks, 5, 7, NULL);
	assert_string_equal(opd_tasks_cgroup(&t.tasks, 5), OPD_NO_CGROUP);
}

/* A link belongs to one program of one process. */
TASKS_TEST(links_are_of_a_program)
{
	struct opd_image *image = (struct opd_image *)&t;

	opd_tasks_learn_run(&t.tasks, 5, 7, image);
	assert_ptr_equal(opd_tasks_run_as(&t.tasks, 5, 7), image);
	assert_null(opd_tasks_run_as(&t.tasks, 5, 8));
	assert_null(opd_tasks_run_as(&t.tasks, 6, 7));
	opd_tasks_learn_run(&t.tasks, 5, OP_NO_COOKIE, image);
	assert_null(opd_tasks_run_as(&t.tasks, 5, OP_NO_COOKIE));
}

/* ---- the file of names ------------------------------------------------------
 */

static void must_be_written(bool is)
{
	assert_int_equal(access(path_of_names(), F_OK), is ? 0 : -1);
	unlink(path_of_names());
}

TASKS_TEST(names_are_written_once)
{
	opd_tasks_write(&t.tasks, true);
	must_be_written(false);
	/* A mount namespace makes no name. */
	opd_tasks_learn_mounts(&t.tasks, 1, 0);
	opd_tasks_write(&t.tasks, true);
	must_be_written(false);
	opd_tasks_learn_name(&t.tasks, 1, 1, "one");
	opd_tasks_write(&t.tasks, false);
	must_be_written(true);
	opd_tasks_write(&t.tasks, false);
	must_be_written(false);
	/* A session that is new has no file yet. */
	opd_tasks_write(&t.tasks, true);
	must_be_written(true);
	must_have_logged("");
}

TASKS_TEST(links_alone_are_written)
{
	t.tasks.keeps_names = false;
	opd_tasks_learn_name(&t.tasks, 1, 1, "one");
	opd_tasks_learn_mounts(&t.tasks, 1, 5);
	opd_tasks_write(&t.tasks, true);
	must_be_written(false);
	opd_tasks_learn_link(&t.tasks, "/bin/sh", "/bin/dash");
	opd_tasks_write(&t.tasks, false);
	must_be_written(true);
	assert_null(op_tasks_name_of(&t.tasks.names, 1, 1));
}

/* What cannot be written is tried again. */
TASKS_TEST(names_that_cannot_be_written)
{
	static const char said[] =
		"DIR/tasks: cannot write: No such file or directory: "
		"reports will lack names of threads\n";

	opd_tasks_learn_name(&t.tasks, 1, 1, "one");
	assert_int_equal(rmdir(t.session.current), 0);
	opd_tasks_write(&t.tasks, false);
	must_have_logged(said);
	assert_int_equal(mkdir(t.session.current, 0755), 0);
	opd_tasks_write(&t.tasks, false);
	must_be_written(true);
	must_have_logged(said);
	/* So it is where only the folder is new. */
	assert_int_equal(rmdir(t.session.current), 0);
	opd_tasks_write(&t.tasks, true);
	assert_int_equal(mkdir(t.session.current, 0755), 0);
	opd_tasks_write(&t.tasks, false);
	must_be_written(true);
}

/* A daemon goes on with the names that it finds. */
TASKS_TEST(names_that_are_there)
{
	opd_tasks_learn_name(&t.tasks, 1, 2, "one");
	opd_tasks_write(&t.tasks, false);
	opd_tasks_release(&t.tasks);
	opd_tasks_init(&t.tasks, &t.session, &t.log, true);
	assert_string_equal(op_tasks_name_of(&t.tasks.names, 1, 2), "one");
	must_have_logged("");
}

/* But for those that somebody still waits for. */
TASKS_TEST(names_of_what_has_ended)
{
	struct op_tasks old;

	opd_tasks_learn_name(&t.tasks, 1, 1, "one");
	opd_tasks_learn_mounts(&t.tasks, 1, 5);
	opd_tasks_learn_name(&t.tasks, 1, 2, "two");
	opd_tasks_learn_name(&t.tasks, 1, 3, "three");
	opd_tasks_learn_name(&t.tasks, 4, 4, "four");
	opd_tasks_learn_link(&t.tasks, "/bin/sh", "/bin/dash");
	opd_tasks_begin_anew(&t.tasks, &old);
	opd_tasks_learn_old(&t.tasks, &old, 1, 2);
	opd_tasks_learn_old(&t.tasks, &old, -1, -1);
	opd_tasks_learn_old(&t.tasks, &old, 9, 9);
	op_tasks_release(&old);
	assert_int_equal(t.tasks.names.nr, 2);
	assert_string_equal(op_tasks_name_of(&t.tasks.names, 1, 1), "one");
	assert_string_equal(op_tasks_name_of(&t.tasks.names, 1, 2), "two");
	assert_int_equal(op_tasks_find(&t.tasks.names, 1, 1)->mounts, 5);
	assert_non_null(op_tasks_file_of(&t.tasks.names, "/bin/sh"));
	/* Those of more threads find room. */
	opd_tasks_begin_anew(&t.tasks, &old);
	op_tasks_release(&old);
	for (uint32_t tid = 1; tid <= OP_TASKS_MAX; tid++)
		opd_tasks_learn_name(&t.tasks, 1, tid, "thread");
	must_have_logged("");
}

TASKS_TEST(names_that_cannot_be_read)
{
	opd_tasks_release(&t.tasks);
	assert_int_equal(mkdir(path_of_names(), 0755), 0);
	opd_tasks_init(&t.tasks, &t.session, &t.log, true);
	must_have_logged("DIR/tasks: not a regular file; it is replaced\n");
	assert_int_equal(t.tasks.names.nr, 0);
	assert_int_equal(rmdir(path_of_names()), 0);
}
