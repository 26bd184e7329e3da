// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that are opened before they run: which, how many, and how long. */

#include "daemon/source/perf/opd_perf_folders.h"
#include "tests/unit/no_stdin.h"
#include "tests/unit/op_fixture.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define MAX_GONE 2 /* seconds that a deleted program is held */

static void make_program(const char *name, const char *text)
{
	write_text(name, text);
	assert_int_equal(chmod(name, 0755), 0);
}

static void open_folders(struct opd_perf_folders *folders)
{
	opd_perf_folders_init(folders);
	assert_int_equal(opd_perf_folders_open(folders), 0);
	assert_true(folders->max > 3);
}

/* The path of @name in the working folder; the next call overwrites it. */
static const char *here(const char *name)
{
	static char path[4096];

	assert_non_null(getcwd(path, sizeof(path) / 2));
	strcat(path, "/");
	return strcat(path, name);
}

/* The contents of all programs that had the name @name, the newest first. */
static const char *found(const struct opd_perf_folders *folders,
			 const char *name)
{
	static char texts[256];
	size_t at = 0, len = 0;
	ssize_t nr;
	int fd;

	while ((fd = opd_perf_folders_find(folders, here(name), &at)) >= 0) {
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		nr = pread(fd, texts + len, sizeof(texts) - 1 - len, 0);
		assert_true(nr >= 0);
		len += (size_t)nr;
		close(fd);
	}
	texts[len] = '\0';
	return texts;
}

FOLDER_TEST(programs_of_a_folder_are_opened_when_one_was_run)
{
	struct opd_perf_folders folders;

	open_folders(&folders);
	make_program("job-1", "1");
	make_program("job-2", "2");
	write_text("data", "no x bit");
	assert_int_equal(symlink("job-1", "link"), 0);
	assert_int_equal(mkfifo("fifo", 0777), 0);
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_string_equal(found(&folders, "job-1"), "");

	opd_perf_folders_add(&folders, here("job-0"));
	assert_int_equal(folders.nr, 2);
	assert_int_equal(unlink("job-1"), 0);
	assert_string_equal(found(&folders, "job-1"), "1");
	assert_string_equal(found(&folders, "job-2"), "2");
	assert_string_equal(found(&folders, "job"), "");
	assert_string_equal(found(&folders, "folder/job-2"), "");

	/* A second program from there changes nothing. */
	opd_perf_folders_add(&folders, here("job-2"));
	assert_int_equal(folders.nr, 2);
	opd_perf_folders_close(&folders);
	assert_string_equal(found(&folders, "job-2"), "");
}

FOLDER_TEST(new_programs_are_opened)
{
	struct opd_perf_folders folders;

	assert_int_equal(mkdir("other", 0777), 0);
	open_folders(&folders);
	opd_perf_folders_add(&folders, here("first"));
	assert_false(opd_perf_folders_read(&folders));

	write_text("written", "w");
	assert_false(opd_perf_folders_read(&folders));
	assert_int_equal(chmod("written", 0700), 0);
	assert_true(opd_perf_folders_read(&folders));
	make_program("other/moved", "m");
	assert_int_equal(rename("other/moved", "moved"), 0);
	assert_int_equal(link("moved", "linked"), 0);
	assert_true(opd_perf_folders_read(&folders));
	assert_false(opd_perf_folders_read(&folders));
	assert_string_equal(found(&folders, "written"), "w");
	assert_string_equal(found(&folders, "moved"), "m");
	assert_string_equal(found(&folders, "linked"), "m");

	/* Each build that had a name is there, the newest first. */
	make_program("new", "n");
	assert_int_equal(rename("new", "written"), 0);
	assert_true(opd_perf_folders_read(&folders));
	assert_string_equal(found(&folders, "written"), "nw");
	opd_perf_folders_close(&folders);
}

FOLDER_TEST(deleted_programs_are_held_for_a_moment)
{
	struct opd_perf_folders folders;

	open_folders(&folders);
	make_program("deleted", "d");
	make_program("kept", "k");
	opd_perf_folders_add(&folders, here("kept"));
	assert_int_equal(unlink("deleted"), 0);
	for (int i = 0; i < MAX_GONE; i++)
		opd_perf_folders_expire(&folders);
	assert_string_equal(found(&folders, "deleted"), "d");
	opd_perf_folders_expire(&folders);
	assert_string_equal(found(&folders, "deleted"), "");
	assert_string_equal(found(&folders, "kept"), "k");
	opd_perf_folders_close(&folders);
}

FOLDER_TEST(a_folder_is_left_when_nothing_runs_from_it)
{
	struct opd_perf_folders folders;

	open_folders(&folders);
	make_program("job", "j");
	opd_perf_folders_add(&folders, here("job"));
	for (int i = 0; i < OPD_PERF_FOLDERS_IDLE; i++)
		opd_perf_folders_expire(&folders);
	opd_perf_folders_add(&folders, here("job"));
	for (int i = 0; i < OPD_PERF_FOLDERS_IDLE; i++)
		opd_perf_folders_expire(&folders);
	assert_string_equal(found(&folders, "job"), "j");
	opd_perf_folders_expire(&folders);
	assert_int_equal(folders.nr, 0);
	make_program("unseen", "u");
	assert_false(opd_perf_folders_read(&folders));

	/* The next program that is run from it brings all back. */
	opd_perf_folders_add(&folders, here("job"));
	assert_string_equal(found(&folders, "unseen"), "u");
	opd_perf_folders_close(&folders);
}

FOLDER_TEST(a_folder_may_be_deleted)
{
	struct opd_perf_folders folders;

	open_folders(&folders);
	assert_int_equal(mkdir("work", 0777), 0);
	make_program("work/job", "j");
	opd_perf_folders_add(&folders, here("work/job"));
	assert_int_equal(unlink("work/job"), 0);
	assert_int_equal(rmdir("work"), 0);
	assert_false(opd_perf_folders_read(&folders));
	assert_string_equal(found(&folders, "work/job"), "j");
	/* There may be another one by that name. */
	assert_int_equal(mkdir("work", 0777), 0);
	make_program("work/job", "n");
	opd_perf_folders_add(&folders, here("work/job"));
	assert_string_equal(found(&folders, "work/job"), "nj");
	make_program("work/next", "x");
	assert_true(opd_perf_folders_read(&folders));
	assert_string_equal(found(&folders, "work/next"), "x");

	assert_int_equal(unlink("work/job"), 0);
	assert_int_equal(unlink("work/next"), 0);
	assert_int_equal(rmdir("work"), 0);
	for (int i = 0; i <= MAX_GONE; i++)
		opd_perf_folders_expire(&folders);
	assert_int_equal(folders.nr, 0);
	assert_false(opd_perf_folders_read(&folders));
	assert_null(folders.folder[0].path);
	opd_perf_folders_close(&folders);
}

/* The oldest make room; folders beyond the limit are left alone. */
FOLDER_TEST(there_are_limits)
{
	struct opd_perf_folders folders;
	char name[32];

	open_folders(&folders);
	folders.max = 3;
	opd_perf_folders_add(&folders, here("job"));
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "job-%d", i);
		make_program(name, name);
		assert_true(opd_perf_folders_read(&folders));
	}
	assert_int_equal(folders.nr, 3);
	assert_string_equal(found(&folders, "job-1"), "");
	assert_string_equal(found(&folders, "job-2"), "job-2");
	assert_string_equal(found(&folders, "job-4"), "job-4");
	for (int i = 1; i <= OPD_PERF_FOLDERS_MAX; i++) {
		snprintf(name, sizeof(name), "folder-%d", i);
		assert_int_equal(mkdir(name, 0777), 0);
		strcat(name, "/job");
		make_program(name, name);
		opd_perf_folders_add(&folders, here(name));
	}
	assert_int_equal(folders.nr, 3);
	assert_string_equal(found(&folders, name), "");
	opd_perf_folders_close(&folders);
}

/* Who may open few files has none left for this. */
FOLDER_TEST(few_files_may_be_open)
{
	static const struct {
		rlim_t limit;
		int err;
		size_t max;
	} cases[] = { { 64, -EMFILE, 0 }, { 68, 0, 1 }, { 4096, 0, 256 } };
	struct opd_perf_folders folders;
	struct rlimit old, limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		limit = (struct rlimit){ cases[i].limit, old.rlim_max };
		if (setrlimit(RLIMIT_NOFILE, &limit))
			continue;
		opd_perf_folders_init(&folders);
		assert_int_equal(opd_perf_folders_open(&folders), cases[i].err);
		assert_int_equal(folders.max, cases[i].max);
		opd_perf_folders_add(&folders, here("job"));
		opd_perf_folders_close(&folders);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

/* In a process of another user: 0 if all is as it should be. */
static int look_as_nobody(void)
{
	struct opd_perf_folders folders;
	size_t at = 0;

	opd_perf_folders_init(&folders);
	if (setgid(65534) || setuid(65534) || opd_perf_folders_open(&folders))
		return 2;
	opd_perf_folders_add(&folders, "/usr/bin/env");
	if (folders.nr || folders.folder[0].path)
		return 3;
	/* Of those in a folder for everybody only the own ones are opened. */
	make_program("own", "o");
	opd_perf_folders_add(&folders, here("own"));
	if (folders.nr != 1 ||
	    opd_perf_folders_find(&folders, here("own"), &at) < 0)
		return 4;
	opd_perf_folders_close(&folders);
	return 0;
}

FOLDER_TEST(what_others_own_is_not_opened)
{
	int status;
	pid_t pid;

	if (geteuid())
		skip();
	assert_int_equal(chmod(".", 01777), 0);
	make_program("job", "j");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(look_as_nobody());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Where nothing was opened, nothing is looked at. */
FOLDER_TEST(none_may_be_wanted)
{
	struct opd_perf_folders folders;

	opd_perf_folders_init(&folders);
	make_program("job", "j");
	opd_perf_folders_add(&folders, here("job"));
	assert_false(opd_perf_folders_read(&folders));
	opd_perf_folders_expire(&folders);
	assert_string_equal(found(&folders, "job"), "");
	/* What has no folder is no program. */
	assert_int_equal(opd_perf_folders_open(&folders), 0);
	opd_perf_folders_add(&folders, "[vdso]");
	assert_null(folders.folder[0].path);
	opd_perf_folders_close(&folders);
}
