// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that are held open for a moment: which, how many, and how long. */

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/perf/opd_perf_execs.h"
#include "daemon/source/perf/opd_perf_files.h"
#include "tests/unit/op_fixture.h"
#include "tests/unit/build_elf.h"

/* A new file, whose name is gone, of the build that begins with @first; 0: of
 * none. Sets *@ino. */
static int open_program(uint8_t first, uint64_t *ino)
{
	char path[] = "/tmp/opd-files-XXXXXX";
	struct stat st;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	if (first)
		make_elf(path, first);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(unlink(path), 0);
	*ino = st.st_ino;
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

TEST(what_is_held_is_found)
{
	const struct op_build_id none = { .len = 0 };
	struct opd_perf_files files = { .max = OPD_PERF_FILES_MAX };
	struct op_build_id id = build_of(1, 20);
	uint64_t a_ino, b_ino;
	int a = open_program(1, &a_ino);
	int b = open_program(0, &b_ino);
	int fd;

	opd_perf_files_add(&files, a, NULL);
	opd_perf_files_add(&files, b, NULL);
	opd_perf_files_add(&files, fcntl(a, F_DUPFD_CLOEXEC, 0), NULL);
	assert_int_equal(files.nr, 2);
	fd = opd_perf_files_open(&files, &id, b_ino, NULL);
	assert_true(fd >= 0 && fd != a && fd != b);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	id.bytes[19] ^= 1;
	assert_int_equal(opd_perf_files_open(&files, &id, a_ino, NULL), -1);
	id = build_of(1, 16);
	assert_int_equal(opd_perf_files_take(&files, &id, a_ino), -1);
	assert_int_equal(opd_perf_files_take(&files, &none, a_ino), a);
	assert_int_equal(opd_perf_files_take(&files, &none, a_ino), -1);
	assert_int_equal(opd_perf_files_take(&files, &none, b_ino), b);
	assert_int_equal(files.nr, 0);
	close(a);
	close(b);
}

/* A copy has the same build-id; its path tells which of them it is. */
TEST(the_name_tells_copies_apart)
{
	struct opd_perf_files files = { .max = OPD_PERF_FILES_MAX };
	const struct op_build_id id = build_of(1, 20);
	char path[] = "/tmp/opd-files-XXXXXX", deleted[64];
	struct stat st, found;
	uint64_t ino;
	int fd, copy = open_program(1, &ino);
	int program = mkstemp(path);

	assert_true(program >= 0);
	make_elf(path, 1);
	assert_int_equal(fstat(program, &st), 0);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	opd_perf_files_add(&files, copy, NULL);
	assert_int_equal(opd_perf_files_open(&files, &id, 0, path), -1);
	opd_perf_files_add(&files, program, NULL);
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			assert_int_equal(unlink(path), 0);
		fd = opd_perf_files_open(&files, &id, 0,
					 i % 2 ? deleted : path);
		assert_int_equal(fstat(fd, &found), 0);
		assert_int_equal(found.st_ino, st.st_ino);
		close(fd);
	}
	path[strlen(path) - 1] ^= 1;
	assert_int_equal(opd_perf_files_open(&files, &id, 0, path), -1);
	path[strlen(path) - 1] = '\0';
	assert_int_equal(opd_perf_files_open(&files, &id, 0, path), -1);
	opd_perf_files_release(&files);
}

TEST(the_oldest_makes_room)
{
	struct opd_perf_files files = { .max = OPD_PERF_FILES_MAX };
	uint64_t ino;
	int first = open_program(0, &ino);
	int second = open_program(0, &ino);

	opd_perf_files_add(&files, first, NULL);
	opd_perf_files_add(&files, second, NULL);
	for (int i = 0; i < OPD_PERF_FILES_MAX - 1; i++)
		opd_perf_files_add(&files, open_program(0, &ino), NULL);
	assert_int_equal(files.nr, OPD_PERF_FILES_MAX);
	assert_false(is_open(first));
	assert_true(is_open(second));
	opd_perf_files_release(&files);
	assert_false(is_open(second));
	assert_int_equal(files.nr, 0);
}

TEST(they_are_held_for_a_second_or_two)
{
	struct opd_perf_files files = { .max = OPD_PERF_FILES_MAX };
	uint64_t ino;
	int a = open_program(0, &ino), b;

	opd_perf_files_add(&files, a, NULL);
	opd_perf_files_expire(&files);
	b = open_program(0, &ino);
	opd_perf_files_add(&files, b, NULL);
	assert_true(is_open(a));
	opd_perf_files_expire(&files);
	assert_false(is_open(a));
	assert_true(is_open(b));
	opd_perf_files_expire(&files);
	assert_false(is_open(b));
	assert_int_equal(files.nr, 0);
	/* What is no file is not held. */
	a = open("/dev/null", O_RDONLY | O_CLOEXEC);
	opd_perf_files_add(&files, a, NULL);
	assert_false(is_open(a));
	assert_int_equal(files.nr, 0);
}

/* A part of what may be open, and none where that is little. */
TEST(few_may_be_held)
{
	static const struct {
		rlim_t limit;
		size_t max;
	} cases[] = { { 64, 0 }, { 67, 0 }, { 68, 1 }, { 1024, 128 } };
	struct opd_perf_files files;
	struct rlimit old, limit;
	uint64_t ino;
	int fd;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		limit = (struct rlimit){ cases[i].limit, old.rlim_max };
		if (setrlimit(RLIMIT_NOFILE, &limit))
			continue;
		opd_perf_files_init(&files);
		assert_int_equal(files.max, cases[i].max);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	files = (struct opd_perf_files){ .max = 0 };
	fd = open_program(0, &ino);
	opd_perf_files_add(&files, fd, NULL);
	assert_false(is_open(fd));
	assert_int_equal(files.nr, 0);
}

/* A program that was deleted as soon as it ran is handed over. */
TEST(what_is_executed_is_handed_over)
{
	static const char script[] =
		"rm $0 && cp /bin/true $0 && $0 && stat -c %i $0 && rm $0";
	struct opd_perf_files files = { .max = OPD_PERF_FILES_MAX };
	struct opd_perf_execs execs;
	const struct op_build_id none = { .len = 0 };
	char path[] = "/tmp/opd-execs-XXXXXX", command[128];
	unsigned long ino = 0;
	FILE *pipe;
	int fd;

	if (opd_perf_execs_open(&execs)) {
		assert_int_equal(execs.fd, -1);
		opd_perf_execs_read(&execs, &files);
		opd_perf_execs_read_mounts(&execs);
		opd_perf_execs_close(&execs);
		print_message("# fanotify needs CAP_SYS_ADMIN\n");
		skip();
	}
	close(mkstemp(path));
	snprintf(command, sizeof(command), "sh -c '%s' %s", script, path);
	pipe = popen(command, "re");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%lu", &ino), 1);
	assert_int_equal(pclose(pipe), 0);
	opd_perf_execs_read(&execs, &files);
	fd = opd_perf_files_take(&files, &none, ino);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	assert_true(execs.nr_files > 0);
	opd_perf_execs_read_mounts(&execs);
	opd_perf_files_release(&files);
	opd_perf_execs_close(&execs);
	assert_int_equal(execs.fd, -1);
}
