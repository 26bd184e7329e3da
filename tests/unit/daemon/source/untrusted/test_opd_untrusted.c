// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process that reads perf maps and jitdumps: what it may do, what becomes
 * of one that hangs or dies, and that no answer is believed.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "tests/unit/test.h"
#include "daemon/source/jit/opd_jitdump.h"
#include "daemon/source/untrusted/opd_known_files.h"
#include "daemon/source/untrusted/opd_pass.h"
#include "libcfi/cfi.h"
#include "libop/image/op_build_id.h"
#include "libop/session/op_code_image.h"
#include "libop/files/op_confine.h"
#include "libop/base/op_log.h"
#include "tests/unit/daemon/source/jitdump_writer.h"

#include "tests/unit/confine_kernel.h"

#define PATIENT 60000 /* ms */
#define LIES 300

/* A file with a map of two functions. */
static int make_map(void)
{
	static const char text[] = "1000 10 first\n2000 20 second\n";
	int fd = memfd_create("map", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	return fd;
}

static void start(struct opd_untrusted *untrusted)
{
	opd_untrusted_init(untrusted);
	untrusted->patience = PATIENT;
}

static int read_map(struct opd_untrusted *untrusted, int fd)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_MAP,
					   .most = 4096 };
	const struct opd_jit_code *codes;
	const void *room = NULL;
	int err = opd_untrusted_do(untrusted, fd, &call, &room);

	codes = room;
	if (!err) {
		assert_int_equal(call.nr, 2);
		assert_int_equal(codes[1].start, 0x2000);
		assert_int_equal(codes[1].size, 0x20);
		assert_int_equal(codes[1].where, 14);
	}
	opd_untrusted_done(untrusted, room);
	return err;
}

TEST(test_a_map)
{
	struct opd_untrusted untrusted;
	int fd = make_map();

	opd_untrusted_init(&untrusted);
	assert_int_equal(untrusted.pid, 0);
	assert_int_equal(untrusted.sock, -1);
	assert_null(untrusted.room);
	assert_int_equal(untrusted.patience, OPD_UNTRUSTED_PATIENCE);
	assert_ptr_equal(untrusted.clock, &op_clock);
	start(&untrusted);
	assert_int_equal(read_map(NULL, fd), 0);
	assert_int_equal(untrusted.pid, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(read_map(&untrusted, fd), 0);
	close(fd);
	opd_untrusted_release(&untrusted);
}

/* How many pieces of memory process @pid shares with others. */
static int nr_shared(pid_t pid)
{
	char path[64], line[512];
	FILE *maps;
	int nr = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		nr += strstr(line, "rw-s") != NULL;
	fclose(maps);
	return nr;
}

/* What one writes for us cannot be written by another one, nor by the next. */
TEST(test_rooms_of_others)
{
	struct opd_untrusted first, second;
	int fd = make_map(), nr = nr_shared(getpid());

	start(&first);
	start(&second);
	assert_int_equal(read_map(&first, fd), 0);
	assert_int_equal(read_map(&second, fd), 0);
	assert_int_equal(nr_shared(getpid()), nr + 2);
	assert_int_equal(nr_shared(first.pid), nr + 1);
	assert_int_equal(nr_shared(second.pid), nr + 1);
	/* One that was given up has another one in its place. */
	assert_int_equal(kill(first.pid, SIGKILL), 0);
	assert_int_equal(waitpid(first.pid, NULL, 0), first.pid);
	assert_int_equal(read_map(&first, fd), -ETIMEDOUT);
	assert_int_equal(read_map(&first, fd), 0);
	assert_int_equal(nr_shared(first.pid), nr + 1);
	close(fd);
	opd_untrusted_release(&first);
	opd_untrusted_release(&second);
}

/* Of the status of process @pid, what is behind @key. */
static void read_status(pid_t pid, const char *key, char *value, size_t size)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	assert_non_null(file);
	*value = '\0';
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			snprintf(value, size, "%s", line + strlen(key));
	fclose(file);
}

static int count_fds_of(pid_t pid)
{
	char path[64];
	int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

/* A dump of one function. */
static int make_dump(void)
{
	struct dump_writer w;

	dump_header(&w, 0);
	dump_load(&w, 5, 0x1000, "made", "code");
	return w.fd;
}

#define DUMP_AT sizeof(struct op_jitdump_header) /* of its first record */

/* What is answered to each call about each file. */
static void check_answers(struct opd_untrusted *untrusted)
{
	const int map = make_map(), dump = make_dump(),
		  self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct op_build_id id = { .len = 0 };
	const int no_elf = op_build_id_of_elf(&id, map),
		  is_elf = op_build_id_of_elf(&id, self);
	const struct {
		int fd;
		int err;
		uint64_t nr;
		const void *room; /* NULL: not compared */
		size_t len;
		struct opd_untrusted_call call; /* ends in an open array */
	} rows[] = {
		{ .fd = map,
		  .call = { .what = OPD_UNTRUSTED_MAP, .most = 4096 },
		  .nr = 2 },
		{ .fd = map,
		  .call = { .what = OPD_UNTRUSTED_MAP_NAME,
			    .code = { .start = 0x2000,
				      .size = 0x20,
				      .where = 14 } },
		  .nr = OP_CODE_NAME_MAX,
		  .room = "second",
		  .len = 7 },
		{ .fd = map,
		  .call = { .what = OPD_UNTRUSTED_MAP_NAME },
		  .err = -ESTALE },
		{ .fd = map,
		  .call = { .what = OPD_UNTRUSTED_DUMP },
		  .err = -EPROTO },
		{ .fd = dump, .call = { .what = OPD_UNTRUSTED_DUMP } },
		{ .fd = dump,
		  .call = { .what = OPD_UNTRUSTED_RECORDS,
			    .until = UINT64_MAX,
			    .most = 10,
			    .dump = { .at = DUMP_AT } },
		  .nr = 1 },
		{ .fd = dump,
		  .call = { .what = OPD_UNTRUSTED_FUNCTION,
			    .code = { .start = 0x1000,
				      .size = 4,
				      .where = DUMP_AT } },
		  .room = "made",
		  .len = 5 },
		{ .fd = dump,
		  .call = { .what = OPD_UNTRUSTED_FRAMES },
		  .err = -ENOENT },
		{ .fd = map,
		  .call = { .what = OPD_UNTRUSTED_BUILD_ID },
		  .err = no_elf },
		{ .fd = self,
		  .call = { .what = OPD_UNTRUSTED_BUILD_ID },
		  .nr = id.len,
		  .room = id.bytes,
		  .len = id.len },
		{ .fd = map,
		  .call = { .what = OPD_UNTRUSTED_TABLE },
		  .err = -EBADMSG },
		{ .fd = map,
		  .call = { .what = OPD_UNTRUSTED_IMAGE + 1 },
		  .err = -EINVAL },
	};

	assert_true(no_elf < 0 && !is_elf && id.len > 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opd_untrusted_call call = rows[i].call;
		const void *room = NULL;

		/* What these were before is of no account. */
		call.err = -EIO;
		call.nr = 77;
		if (opd_untrusted_do(untrusted, rows[i].fd, &call, &room) !=
			    rows[i].err ||
		    call.nr != rows[i].nr)
			fail_msg("row %zu", i);
		if (rows[i].room)
			assert_memory_equal(room, rows[i].room, rows[i].len);
		opd_untrusted_done(untrusted, room);
	}
	close(map);
	close(dump);
	close(self);
}

static void check_binary(struct opd_untrusted *untrusted)
{
	struct op_build_id id, known;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct cfi_table *table, *here;

	assert_true(fd >= 0);
	assert_int_equal(op_build_id_of_elf(&known, fd), 0);
	assert_int_equal(opd_untrusted_build_id(untrusted, fd, &id), 0);
	assert_true(op_build_id_same(&id, &known));
	assert_int_equal(cfi_table_read(&here, fd, CFI_FUNCTIONS, NULL), 0);
	assert_int_equal(
		opd_untrusted_table(untrusted, fd, CFI_FUNCTIONS, &table), 0);
	assert_int_equal(cfi_table_flat_len(table), cfi_table_flat_len(here));
	cfi_table_free(table);
	cfi_table_free(here);
	close(fd);
}

static uint64_t time_of_files;

static uint64_t now_of_test(void)
{
	return time_of_files;
}

/* Whether a process had to be started to find the build-id of @fd. */
static bool is_read_for_build_id(struct opd_known_files *known, int fd,
				 struct op_build_id *id)
{
	struct opd_untrusted untrusted;
	bool is_read;

	start(&untrusted);
	untrusted.known = known;
	assert_int_equal(opd_untrusted_build_id(&untrusted, fd, id), 0);
	is_read = untrusted.pid;
	opd_untrusted_release(&untrusted);
	return is_read;
}

/* A file is read once, again after a change, and each time while a change in
 * the same tick could not be seen. */
TEST(test_files_that_are_known)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct op_build_id id, known_id;
	struct opd_known_files known;
	int fd = memfd_create("binary", MFD_CLOEXEC);
	struct stat st;

	opd_known_files_init(&known);
	known.now = now_of_test;
	assert_true(fd >= 0 && self >= 0 && !fstat(self, &st));
	while (sendfile(fd, self, NULL, (size_t)st.st_size) > 0)
		;
	assert_false(fstat(fd, &st));
	time_of_files = (uint64_t)st.st_ctim.tv_sec * 1000000000;
	assert_true(is_read_for_build_id(&known, fd, &id));
	assert_true(is_read_for_build_id(&known, fd, &id));
	time_of_files += 3600 * UINT64_C(1000000000);
	assert_true(is_read_for_build_id(&known, fd, &id));
	assert_false(is_read_for_build_id(&known, fd, &known_id));
	assert_true(op_build_id_same(&id, &known_id));
	assert_int_equal(op_build_id_fingerprint(&id),
			 op_build_id_fingerprint(&known_id));
	/* Another inode. */
	assert_true(is_read_for_build_id(&known, self, &id));
	assert_int_equal(ftruncate(fd, st.st_size / 2), 0);
	assert_true(is_read_for_build_id(&known, fd, &id));
	close(fd);
	close(self);
	opd_known_files_release(&known);
}

/* They are the same in this process, in one that is confined, and in one that
 * the kernel does not confine, which is no reason to have no names. */
TEST(test_answers)
{
	struct opd_untrusted untrusted;
	int nr_fds = count_fds_of(getpid());
	char value[64];

	check_answers(NULL);
	check_binary(NULL);
	for (int is_refused = 0; is_refused < 2; is_refused++) {
		if (is_refused)
			refuse_to_confine();
		start(&untrusted);
		check_answers(&untrusted);
		check_binary(&untrusted);
		read_status(untrusted.pid, "Seccomp:", value, sizeof(value));
		assert_string_equal(value, is_refused ? "\t0\n" : "\t2\n");
		assert_int_equal(untrusted.nr_failures, 0);
		assert_int_equal(count_fds_of(untrusted.pid), 1);
		opd_untrusted_release(&untrusted);
		reset_confine_kernel();
	}
	assert_int_equal(count_fds_of(getpid()), nr_fds);
}

/* It ends when its socket does, in the root folder. */
TEST(test_its_end)
{
	struct opd_untrusted untrusted;
	char path[64], folder[8] = "";
	siginfo_t end = { .si_status = 1 };
	int fd = make_map();

	refuse_to_confine();
	start(&untrusted);
	assert_int_equal(read_map(&untrusted, fd), 0);
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)untrusted.pid);
	assert_int_equal(readlink(path, folder, sizeof(folder)), 1);
	assert_int_equal(folder[0], '/');
	assert_int_equal(shutdown(untrusted.sock, SHUT_RDWR), 0);
	assert_int_equal(
		waitid(P_PID, (id_t)untrusted.pid, &end, WEXITED | WNOWAIT), 0);
	assert_int_equal(end.si_code, CLD_EXITED);
	assert_int_equal(end.si_status, 0);
	/* Nothing can be sent to it any more. */
	assert_int_equal(read_map(&untrusted, fd), -ETIMEDOUT);
	assert_int_equal(untrusted.nr_failures, 1);
	assert_int_equal(untrusted.sock, -1);
	reset_confine_kernel();
	close(fd);
	opd_untrusted_release(&untrusted);
}

/* Where none can be started nothing is read, nor given up. */
TEST(test_no_process)
{
	struct rlimit limit, none;
	struct opd_untrusted untrusted;
	int fd = make_map(), nr_fds = count_fds_of(getpid());

	start(&untrusted);
	confine_kernel.has_no_fork = true;
	assert_int_equal(read_map(&untrusted, fd), -EAGAIN);
	confine_kernel.has_no_fork = false;
	assert_int_equal(untrusted.pid, 0);
	assert_int_equal(count_fds_of(getpid()), nr_fds);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(read_map(&untrusted, fd), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(untrusted.nr_failures, 0);
	assert_int_equal(read_map(&untrusted, fd), 0);
	close(fd);
	opd_untrusted_release(&untrusted);
}

/* The number of the first thing that is not as it should be, or 0. */
static int try_confined(int fd)
{
	char *argv[] = { "true", NULL };
	char byte;

	if (op_confine(OP_CONFINE_TO_DESCRIPTORS))
		return 1;
	if (pread(fd, &byte, 1, 0) != 1 || byte != '1')
		return 2;
	if (open("/proc/self/exe", O_RDONLY) >= 0 || errno != EPERM)
		return 3;
	if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM)
		return 4;
	if (fork() >= 0 || errno != EPERM)
		return 5;
	if (execv("/bin/true", argv) >= 0 || errno != EPERM)
		return 6;
	return write(fd, "x", 1) >= 0 || errno != EPERM ? 7 : 0;
}

TEST(test_what_it_may)
{
	struct opd_untrusted untrusted;
	char value[64];
	int fd = make_map(), status;
	pid_t pid;

	pid = fork();
	if (!pid)
		syscall(SYS_exit_group, try_confined(fd));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	start(&untrusted);
	assert_int_equal(read_map(&untrusted, fd), 0);
	read_status(untrusted.pid, "Seccomp:", value, sizeof(value));
	assert_string_equal(value, "\t2\n");
	read_status(untrusted.pid, "NoNewPrivs:", value, sizeof(value));
	assert_string_equal(value, "\t1\n");
	read_status(untrusted.pid, "CapPrm:", value, sizeof(value));
	assert_string_equal(value, "\t0000000000000000\n");
	/* Its socket alone: what it was handed is closed. */
	assert_int_equal(count_fds_of(untrusted.pid), 1);
	close(fd);
	opd_untrusted_release(&untrusted);
}

static time_t now;

static time_t get_seconds(void)
{
	return now;
}

static const struct op_clock clock_of_test = { .seconds = get_seconds };

static void let_one_hang(struct opd_untrusted *untrusted, int fd)
{
	untrusted->patience = PATIENT;
	assert_int_equal(read_map(untrusted, fd), 0);
	assert_int_equal(kill(untrusted->pid, SIGSTOP), 0);
	untrusted->patience = 1;
	assert_int_equal(read_map(untrusted, fd), -ETIMEDOUT);
	assert_int_equal(untrusted->pid, 0);
}

/* Nothing is read any more; what was killed ends some time. */
static void await_ends(struct opd_untrusted *untrusted, int fd)
{
	while (untrusted->nr_given_up)
		assert_int_equal(read_map(untrusted, fd), -EIO);
}

/* Files are read again an hour after the first failure. */
TEST(test_one_that_hangs)
{
	struct opd_untrusted untrusted;
	int fd = make_map();

	start(&untrusted);
	untrusted.clock = &clock_of_test;
	for (int hour = 0; hour < 2; hour++) {
		now = hour * OPD_UNTRUSTED_PAUSE;
		for (int i = 0; i < OPD_UNTRUSTED_FAILURES; i++) {
			let_one_hang(&untrusted, fd);
			now++;
		}
		assert_int_equal(read_map(&untrusted, fd), -EIO);
		now = (hour + 1) * OPD_UNTRUSTED_PAUSE - 1;
		assert_int_equal(read_map(&untrusted, fd), -EIO);
		await_ends(&untrusted, fd);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	close(fd);
	opd_untrusted_release(&untrusted);
}

/* Each is told, and the last one that nothing is read from now on. */
TEST(test_log_of_those_that_hang)
{
	static const char told[] =
		"a file of another program does not let itself be read";
	char path[64], text[4096];
	struct opd_untrusted untrusted;
	struct op_log log;
	struct op_diag diag;
	int fd = make_map(), nr = 0, log_fd = memfd_create("log", MFD_CLOEXEC);
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", log_fd);
	op_log_init(&log);
	assert_int_equal(op_log_open(&log, path, &diag), 0);
	start(&untrusted);
	untrusted.clock = &clock_of_test;
	untrusted.log = &log;
	now = 0;
	for (int i = 0; i < OPD_UNTRUSTED_FAILURES; i++)
		let_one_hang(&untrusted, fd);
	await_ends(&untrusted, fd);
	opd_untrusted_release(&untrusted);
	op_log_close(&log);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(text, sizeof(text), file)) {
		const char *at = strstr(text, told);

		assert_non_null(at);
		nr++;
		assert_string_equal(
			at + strlen(told),
			nr == OPD_UNTRUSTED_FAILURES
				? ": no such files are read for an hour\n"
				: "\n");
	}
	assert_int_equal(nr, OPD_UNTRUSTED_FAILURES);
	fclose(file);
	close(log_fd);
	close(fd);
}

/* Those that cannot be killed are so many at most, however long it goes on. */
TEST(test_ones_that_stay)
{
	struct opd_untrusted untrusted;
	int fd = make_map();

	start(&untrusted);
	untrusted.clock = &clock_of_test;
	now = 0;
	for (int i = 0; i < OPD_UNTRUSTED_FAILURES; i++)
		let_one_hang(&untrusted, fd);
	await_ends(&untrusted, fd);
	/* A process that lives stands for them. */
	for (unsigned int i = 0; i < 3; i++) {
		untrusted.given_up[i] = fork();
		if (!untrusted.given_up[i])
			pause();
		assert_true(untrusted.given_up[i] > 0);
	}
	untrusted.nr_given_up = 3;
	now = OPD_UNTRUSTED_PAUSE;
	for (int i = 3; i < OPD_UNTRUSTED_FAILURES; i++)
		let_one_hang(&untrusted, fd);
	assert_int_equal(read_map(&untrusted, fd), -EIO);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(kill(untrusted.given_up[i], SIGKILL), 0);
	await_ends(&untrusted, fd);
	close(fd);
	opd_untrusted_release(&untrusted);
}

TEST(test_one_that_dies)
{
	struct opd_untrusted untrusted;
	int fd = make_map();

	start(&untrusted);
	assert_int_equal(read_map(&untrusted, fd), 0);
	assert_int_equal(kill(untrusted.pid, SIGKILL), 0);
	assert_int_equal(read_map(&untrusted, fd), -ETIMEDOUT);
	assert_int_equal(read_map(&untrusted, fd), 0);
	close(fd);
	opd_untrusted_release(&untrusted);
}

/* ---- lies -------------------------------------------------------------------
 */

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *seed >> 20;
}

/* A word that is likely to do harm. */
static uint64_t bad_word(uint64_t *seed)
{
	static const uint64_t words[] = { 0,	      1,
					  UINT64_MAX, UINT64_MAX - 1,
					  UINT32_MAX, INT64_MAX,
					  1u << 20,   64u << 20,
					  16u << 20,  (64u << 20) / 12 };
	uint64_t random = next_random(seed);

	return random % 3 ? words[random / 3 % 10] : random;
}

/* Answers to all calls, with anything in them but what keeps it in talk. */
static void lie(int sock, void *bytes, const void *arg)
{
	struct opd_untrusted_call call;
	uint64_t *room = bytes;
	uint64_t seed = 1, *words = (uint64_t *)&call;
	const size_t nr = sizeof(call) / sizeof(*words);
	int fd;

	(void)arg;
	while (opd_receive_file(sock, &call, sizeof(call), &fd)) {
		close(fd);
		for (size_t i = 2; i < nr; i++)
			if (next_random(&seed) % 3 == 0)
				words[i] = bad_word(&seed);
		call.err = 0;
		for (size_t i = 0; i < 8192; i++)
			room[i] = bad_word(&seed);
		if (opd_send_file(sock, &call, sizeof(call), -1))
			break;
	}
}

/* Start a process of the test, which serves with @arg. */
static void start_server(struct opd_untrusted *untrusted,
			 void (*serve)(int sock, void *room, const void *arg),
			 const void *arg)
{
	int socks[2];

	start(untrusted);
	untrusted->room =
		mmap(NULL, OPD_UNTRUSTED_ROOM, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(untrusted->room != MAP_FAILED);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				    socks),
			 0);
	untrusted->pid = fork();
	if (!untrusted->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(socks[1], untrusted->room, arg);
		_exit(0);
	}
	close(socks[1]);
	untrusted->sock = socks[0];
}

/* What is in the list can be code, whatever was told. */
static void check_codes(const struct opd_jit_codes *codes)
{
	for (size_t i = 0; i < codes->nr + codes->nr_more; i++) {
		const struct opd_jit_code *code =
			i < codes->nr ? &codes->list[i]
				      : &codes->more[i - codes->nr];

		assert_true(code->size > 0);
		assert_true(code->start <= UINT64_MAX - code->size);
		assert_int_equal(code->number, 0);
	}
}

static void read_lies(struct opd_untrusted *untrusted, int fd)
{
	struct opd_jit_code code = {
		.start = 0x1000, .size = 64, .where = 1, .lines = 1, .frames = 1
	};
	struct opd_jit_codes codes = { 0 };
	static struct op_code_function function;
	struct opd_jitdump dump;
	struct cfi_table *table;

	if (opd_jitdump_open(&dump, untrusted, dup(fd)))
		return;
	dump.state.is_damaged = 0;
	dump.state.machine = 62;
	opd_jitdump_run(&dump, &codes, UINT64_MAX, 1000);
	check_codes(&codes);
	if (!opd_jitdump_read(&dump, &code, &function)) {
		assert_true(memchr(function.room, '\0', OP_CODE_NAME_MAX));
		for (size_t i = 0; i < function.nr_lines; i++)
			assert_true(function.lines[i].offset < 64 &&
				    strlen(function.lines[i].file) <
					    OPD_UNTRUSTED_ROOM);
	}
	opd_jitdump_free_function(&function);
	dump.state.machine = 62;
	if (!opd_jitdump_read_frames(&dump, &code, &table))
		cfi_table_free(table);
	opd_jitdump_close(&dump);
	opd_jit_codes_release(&codes);
}

TEST(test_lies)
{
	struct opd_untrusted untrusted;
	int fd = make_map();

	start_server(&untrusted, lie, NULL);
	for (int i = 0; i < LIES; i++)
		read_lies(&untrusted, fd);
	assert_int_equal(untrusted.nr_failures, 0);
	close(fd);
	opd_untrusted_release(&untrusted);
}

/* ---- answers that cannot be -------------------------------------------------
 */

struct fixed_answer {
	uint64_t what; /* 0: that of the call */
	int64_t err;
	uint64_t nr;
	bool has_file; /* a descriptor comes with it */
};

/* Answers to all calls in the same way. */
static void answer_alike(int sock, void *room, const void *arg)
{
	const struct fixed_answer *answer = arg;
	struct opd_untrusted_call call;
	int fd;

	memset(room, 0x11, 64);
	while (opd_receive_file(sock, &call, sizeof(call), &fd)) {
		close(fd);
		if (answer->what)
			call.what = answer->what;
		call.err = answer->err;
		call.nr = answer->nr;
		if (opd_send_file(sock, &call, sizeof(call),
				  answer->has_file ? sock : -1))
			break;
	}
}

/* Answers from which opd_untrusted_build_id() makes a build-id, or none. */
TEST(test_answers_that_cannot_be)
{
	static const struct {
		struct fixed_answer answer;
		int err;
		unsigned int nr_failures;
	} rows[] = {
		{ { .nr = 20 }, 0, 0 },
		{ { .nr = 20, .has_file = true }, 0, 0 },
		{ { .nr = 0 }, 0, 0 },
		{ { .nr = OP_BUILD_ID_MAX }, 0, 0 },
		{ { .nr = OP_BUILD_ID_MAX + 1 }, -EBADMSG, 0 },
		{ { .err = -1 }, -1, 0 },
		{ { .err = -4095 }, -4095, 0 },
		{ { .err = -4096 }, -ETIMEDOUT, 1 },
		{ { .err = 1 }, -ETIMEDOUT, 1 },
		{ { .what = OPD_UNTRUSTED_TABLE, .nr = 20 }, -ETIMEDOUT, 1 },
	};
	uint8_t bytes[OP_BUILD_ID_MAX];
	int fd = make_map();

	memset(bytes, 0x11, sizeof(bytes));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_build_id id = { .len = 7 };
		struct opd_untrusted untrusted;
		int nr_fds = count_fds_of(getpid());

		start_server(&untrusted, answer_alike, &rows[i].answer);
		if (opd_untrusted_build_id(&untrusted, fd, &id) != rows[i].err)
			fail_msg("row %zu", i);
		assert_int_equal(id.len, rows[i].err ? 0 : rows[i].answer.nr);
		assert_memory_equal(id.bytes, bytes, id.len);
		assert_int_equal(untrusted.nr_failures, rows[i].nr_failures);
		assert_int_equal(untrusted.pid == 0, rows[i].nr_failures == 1);
		opd_untrusted_release(&untrusted);
		assert_int_equal(count_fds_of(getpid()), nr_fds);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	close(fd);
}

/* A table is no longer than the room. */
TEST(test_a_table_that_cannot_be)
{
	static const struct fixed_answer answers[] = {
		{ .nr = OPD_UNTRUSTED_ROOM + 1 }, { .nr = 64 }, { .nr = 0 }
	};
	struct cfi_table *none;
	int fd = make_map();

	/* Nothing of it is looked at. */
	assert_int_equal(opd_untrusted_copy_table(NULL, OPD_UNTRUSTED_ROOM + 1,
						  &none),
			 -EBADMSG);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct opd_untrusted untrusted;
		struct cfi_table *table;

		start_server(&untrusted, answer_alike, &answers[i]);
		assert_int_equal(opd_untrusted_table(&untrusted, fd, CFI_ALL,
						     &table),
				 -EBADMSG);
		assert_int_equal(untrusted.nr_failures, 0);
		opd_untrusted_release(&untrusted);
	}
	close(fd);
}
