// SPDX-License-Identifier: GPL-2.0-or-later
/* Files are read by processes that may hang; a stopped one stands for these. */

#include "daemon/source/untrusted/opd_pass.h"
#include "daemon/source/opd_reader.h"
#include "libop/files/op_confine.h"

#include "tests/unit/no_stdin.h"
#include "tests/unit/op_fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/unit/confine_kernel.h"

#define PATIENT 60000 /* milliseconds: an answer comes before */
#define HASTY 1

static const char self[] = "/proc/self/exe";

static int open_self(void)
{
	int fd = open(self, O_PATH | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* How many descriptors process @pid has. */
static int nr_files_of(pid_t pid)
{
	char path[64];
	int nr = 0;

	for (int fd = 0; fd < 256; fd++) {
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		nr += !lstat(path, &st);
	}
	return nr;
}

static void expect_self(struct opd_reader *reader, uint64_t key)
{
	struct opd_read_file file;
	struct op_build_id id;
	struct stat st, read;
	int fd = open(self, O_RDONLY | O_CLOEXEC);

	assert_int_equal(stat(self, &st), 0);
	assert_int_equal(op_build_id_of_elf(&id, fd), 0);
	close(fd);
	assert_int_equal(opd_reader_ask(reader, key, &file), 0);
	assert_int_equal(file.build_id.len, id.len);
	assert_memory_equal(file.build_id.bytes, id.bytes, id.len);
	assert_int_equal(file.mtime, st.st_mtime);
	assert_int_equal(fstat(file.fd, &read), 0);
	assert_int_equal(read.st_ino, st.st_ino);
	assert_true(fcntl(file.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fcntl(file.fd, F_GETFL) & O_PATH, 0);
	close(file.fd);
	assert_false(opd_reader_has(reader, key));
	assert_int_equal(opd_reader_ask(reader, key, &file), -ENOENT);
}

static int setup_no_stdin(void **state)
{
	(void)state;
	close_stdin();
	return 0;
}

static int teardown_no_stdin(void **state)
{
	(void)state;
	reopen_stdin();
	return 0;
}

/* A test that runs twice: as it is, and without standard input. */
#define READER_TEST(name)                                                      \
	static void name(void **state);                                        \
	TEST_ADD(name##_without_stdin, name, setup_no_stdin,                   \
		 teardown_no_stdin)                                            \
	TEST(name)

READER_TEST(test_reads_a_descriptor_and_a_path)
{
	struct opd_reader reader;
	char path[PATH_MAX] = "";
	int fd = open_self();

	assert_true(readlink(self, path, sizeof(path) - 1) > 0);
	opd_reader_init(&reader, PATIENT, PATIENT);
	assert_int_equal(opd_reader_give(&reader, 7, fd, "/nowhere"), 0);
	assert_true(opd_reader_has(&reader, 7));
	close(fd);
	expect_self(&reader, 7);
	assert_int_equal(opd_reader_give(&reader, 8, -1, path), 0);
	expect_self(&reader, 8);
	/* One process was enough. */
	assert_int_equal(reader.children[1].pid, 0);
	opd_reader_release(&reader);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

READER_TEST(test_what_is_no_program_has_no_build_id)
{
	static const char *const paths[] = { "/dev/null", "/", "/etc/passwd",
					     "/no/such/file",
					     /* a link */
					     "/proc/self/exe" };
	char long_path[PATH_MAX + 1];
	struct opd_reader reader;
	struct opd_read_file file;

	opd_reader_init(&reader, PATIENT, PATIENT);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(opd_reader_give(&reader, 1, -1, paths[i]), 0);
		assert_int_equal(opd_reader_ask(&reader, 1, &file), 0);
		assert_int_equal(file.build_id.len, 0);
		/* Only a regular file is opened. */
		assert_int_equal(file.fd >= 0, i == 2);
		if (file.fd >= 0)
			close(file.fd);
	}
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(opd_reader_give(&reader, 1, -1, long_path),
			 -ENAMETOOLONG);
	/* Nothing was given: there is no answer. */
	memset(&file, 0xff, sizeof(file));
	assert_int_equal(opd_reader_ask(&reader, 1, &file), -ENOENT);
	assert_int_equal(file.build_id.len, 0);
	assert_int_equal(file.mtime, 0);
	assert_int_equal(file.fd, -1);
	long_path[PATH_MAX - 1] = '\0';
	assert_int_equal(opd_reader_give(&reader, 1, -1, long_path), 0);
	assert_int_equal(opd_reader_ask(&reader, 1, &file), 0);
	assert_int_equal(file.fd, -1);
	opd_reader_release(&reader);
}

/* Start the first process and stop it. */
static pid_t hang_first(struct opd_reader *reader)
{
	struct opd_read_file file;
	pid_t pid;

	reader->patience = PATIENT;
	assert_int_equal(opd_reader_give(reader, 1, -1, "/"), 0);
	assert_int_equal(opd_reader_ask(reader, 1, &file), 0);
	pid = reader->children[0].pid;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	return pid;
}

/* Child @pid was killed, and perhaps waited for. */
static void ends_by_kill(pid_t pid)
{
	siginfo_t end;

	if (waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT))
		assert_int_equal(errno, ECHILD);
	else
		assert_int_equal(end.si_status, SIGKILL);
}

READER_TEST(test_a_file_that_hangs_delays_no_other)
{
	struct opd_reader reader;
	struct opd_read_file file;
	int fd = open_self(), err;
	pid_t pid;

	opd_reader_init(&reader, PATIENT, PATIENT);
	pid = hang_first(&reader);
	assert_int_equal(opd_reader_give(&reader, 1, fd, ""), 0);
	reader.patience = HASTY;
	assert_int_equal(opd_reader_ask(&reader, 1, &file), -EAGAIN);
	assert_int_equal(file.fd, -1);
	reader.patience = PATIENT;
	assert_int_equal(opd_reader_give(&reader, 2, fd, ""), 0);
	expect_self(&reader, 2);
	reader.patience = reader.limit = HASTY;
	do
		err = opd_reader_ask(&reader, 1, &file);
	while (err == -EAGAIN);
	assert_int_equal(err, -ETIMEDOUT);
	assert_false(opd_reader_has(&reader, 1));
	ends_by_kill(pid);
	/* The process was killed, and is found to have ended. */
	reader.patience = reader.limit = PATIENT;
	assert_int_equal(opd_reader_give(&reader, 3, fd, ""), 0);
	expect_self(&reader, 3);
	close(fd);
	opd_reader_release(&reader);
}

READER_TEST(test_all_may_hang)
{
	struct opd_reader reader;
	struct opd_read_file file;
	int fd = open_self();

	opd_reader_init(&reader, HASTY, PATIENT);
	for (uint64_t key = 1; key <= OPD_READERS; key++)
		assert_int_equal(opd_reader_give(&reader, key, fd, ""), 0);
	assert_int_equal(opd_reader_give(&reader, 99, fd, ""), -EBUSY);
	/* Nobody asks for these any more. */
	reader.limit = 0;
	while (opd_reader_give(&reader, 99, fd, ""))
		;
	reader.limit = reader.patience = PATIENT;
	expect_self(&reader, 99);
	assert_int_equal(opd_reader_ask(&reader, 1, &file), -ENOENT);
	close(fd);
	opd_reader_release(&reader);
}

READER_TEST(test_a_process_that_dies)
{
	struct opd_reader reader;
	struct opd_read_file file;
	int fd = open_self();

	opd_reader_init(&reader, PATIENT, PATIENT);
	hang_first(&reader);
	assert_int_equal(opd_reader_give(&reader, 1, fd, ""), 0);
	kill(reader.children[0].pid, SIGKILL);
	ends_by_kill(reader.children[0].pid);
	assert_int_equal(opd_reader_ask(&reader, 1, &file), -ETIMEDOUT);
	/* Its place is free. */
	assert_int_equal(reader.children[0].pid, 0);
	assert_int_equal(reader.children[0].sock, -1);
	assert_int_equal(opd_reader_give(&reader, 1, fd, ""), 0);
	expect_self(&reader, 1);
	close(fd);
	opd_reader_release(&reader);
}

/* The test has waited for the first process. */
static void forget_first(struct opd_reader *reader)
{
	close(reader->children[0].sock);
	reader->children[0].sock = -1;
	reader->children[0].pid = 0;
}

/* A process keeps nothing of the daemon's, and ends with its socket. */
READER_TEST(test_a_process_has_only_its_socket)
{
	char path[64], cwd[PATH_MAX] = "", byte;
	struct opd_reader reader;
	int fd = open_self(), ends[2], status;
	pid_t pid;

	opd_reader_init(&reader, PATIENT, PATIENT);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(opd_reader_give(&reader, 1, fd, ""), 0);
	expect_self(&reader, 1);
	close(fd);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	pid = reader.children[0].pid;
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	assert_true(readlink(path, cwd, sizeof(cwd) - 1) > 0);
	assert_string_equal(cwd, "/");
	assert_int_equal(shutdown(reader.children[0].sock, SHUT_RDWR), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	forget_first(&reader);
	opd_reader_release(&reader);
}

/* The number of the first thing that is not as it should be, or 0. */
static int try_confined(const char *path)
{
	char *argv[] = { "true", NULL };
	char byte;
	int fd;

	if (op_confine(OP_CONFINE_TO_READING))
		return 1;
	fd = open(self, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &byte, 1) != 1 || byte != 0x7f)
		return 2;
	if (open(path, O_WRONLY) >= 0 || errno != EPERM)
		return 3;
	if (open(path, O_RDWR) >= 0 || errno != EPERM)
		return 4;
	if (open(path, O_RDONLY | O_TRUNC) >= 0 || errno != EPERM)
		return 5;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM)
		return 6;
	if (fork() >= 0 || errno != EPERM)
		return 7;
	if (execv("/bin/true", argv) >= 0 || errno != EPERM)
		return 8;
	if (!kill(getppid(), 0) || !unlink(path))
		return 9;
	return setuid(0) ? 0 : 10;
}

READER_TEST(test_a_process_can_only_read)
{
	char path[] = "/tmp/test_reader.XXXXXX", line[256];
	int fd = mkstemp(path), status;
	struct opd_reader reader;
	FILE *file;
	pid_t pid;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "text", 4), 4);
	pid = fork();
	if (!pid)
		syscall(SYS_exit_group, try_confined(path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 4);
	close(fd);
	assert_int_equal(unlink(path), 0);

	/* So are those who read. */
	opd_reader_init(&reader, PATIENT, PATIENT);
	fd = open_self();
	assert_int_equal(opd_reader_give(&reader, 1, fd, ""), 0);
	expect_self(&reader, 1);
	close(fd);
	snprintf(line, sizeof(line), "/proc/%d/status",
		 (int)reader.children[0].pid);
	file = fopen(line, "re");
	assert_non_null(file);
	status = 0;
	while (fgets(line, sizeof(line), file)) {
		status += !strcmp(line, "Seccomp:\t2\n");
		status += !strcmp(line, "NoNewPrivs:\t1\n");
		if (!strncmp(line, "CapEff:", 7))
			status +=
				!(strtoull(line + 7, NULL, 16) & ~UINT64_C(4));
	}
	fclose(file);
	assert_int_equal(status, 3);
	opd_reader_release(&reader);
}

/* Where no more descriptors are to be had no file is read. */
READER_TEST(test_no_more_descriptors)
{
	struct rlimit limit, none;
	struct opd_reader reader;
	struct opd_read_file file;

	opd_reader_init(&reader, PATIENT, PATIENT);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(opd_reader_give(&reader, 1, -1, "/"), -EBUSY);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_false(opd_reader_has(&reader, 1));
	assert_int_equal(opd_reader_give(&reader, 1, -1, "/"), 0);
	assert_int_equal(opd_reader_ask(&reader, 1, &file), 0);
	opd_reader_release(&reader);
}

/* A kernel that confines no process is no reason to have no build-ids. */
READER_TEST(test_a_process_that_is_not_confined)
{
	char path[PATH_MAX] = "", folder[8] = "";
	struct opd_reader reader;
	struct opd_read_file file;
	int fd = open_self(), nr = nr_files_of(getpid()), status;
	pid_t pid;

	assert_true(readlink(self, path, sizeof(path) - 1) > 0);
	opd_reader_init(&reader, PATIENT, PATIENT);
	refuse_to_confine();
	assert_int_equal(opd_reader_give(&reader, 7, fd, "/nowhere"), 0);
	reset_confine_kernel();
	expect_self(&reader, 7);
	assert_int_equal(opd_reader_give(&reader, 8, -1, path), 0);
	expect_self(&reader, 8);
	/* A file without a build-id still has a time, one that is not regular
	 * nothing. */
	assert_int_equal(opd_reader_give(&reader, 9, -1, "/etc/passwd"), 0);
	assert_int_equal(opd_reader_ask(&reader, 9, &file), 0);
	assert_int_equal(file.build_id.len, 0);
	assert_int_not_equal(file.mtime, 0);
	close(file.fd);
	assert_int_equal(opd_reader_give(&reader, 9, -1, "/"), 0);
	assert_int_equal(opd_reader_ask(&reader, 9, &file), 0);
	assert_int_equal(file.mtime, 0);
	assert_int_equal(file.fd, -1);
	/* It keeps none of them, but perhaps the last one and its socket. */
	for (int i = 0; i < 4; i++) {
		assert_int_equal(opd_reader_give(&reader, 9, fd, ""), 0);
		expect_self(&reader, 9);
	}
	pid = reader.children[0].pid;
	assert_true(nr_files_of(pid) <= 3);
	/* It leads a session, and is in the root folder. */
	assert_int_equal(getsid(pid), pid);
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	assert_int_equal(readlink(path, folder, sizeof(folder)), 1);
	assert_int_equal(folder[0], '/');
	/* Its end is that of its socket. */
	assert_int_equal(shutdown(reader.children[0].sock, SHUT_RDWR), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	forget_first(&reader);
	opd_reader_release(&reader);
	assert_int_equal(nr_files_of(getpid()), nr);
	close(fd);
}

/* Send @len bytes with @nr descriptors, all @fd. */
static void send_files(int sock, size_t len, int nr, int fd)
{
	char bytes[16] = "", control[CMSG_SPACE(4 * sizeof(int))] = "";
	struct iovec part = { bytes, len };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen =
				      CMSG_SPACE((size_t)nr * sizeof(int)) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN((size_t)nr * sizeof(int));
	for (int i = 0; i < nr; i++)
		memcpy(CMSG_DATA(head) + (size_t)i * sizeof(fd), &fd,
		       sizeof(fd));
	assert_int_equal(sendmsg(sock, &msg, 0), len);
}

/* Descriptors that nobody asked for do not stay open, whatever is sent. */
READER_TEST(test_descriptors_that_nobody_asked_for)
{
	static const struct {
		size_t len;
		int nr;
		bool is_whole;
	} rows[] = {
		{ 8, 1, true },	 { 8, 2, true },  { 8, 4, true },
		{ 7, 1, false }, { 7, 2, false }, { 0, 1, false },
		{ 0, 4, false },
	};
	int nr = nr_files_of(getpid()), socks[2], fd;
	char bytes[8];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		send_files(socks[0], rows[i].len, rows[i].nr, socks[0]);
		assert_int_equal(opd_receive_file(socks[1], bytes, 8, &fd),
				 rows[i].is_whole);
		assert_int_equal(fd >= 0, rows[i].is_whole);
		if (fd >= 0)
			close(fd);
		assert_int_equal(nr_files_of(getpid()), nr + 2);
	}
	close(socks[0]);
	close(socks[1]);
}

/* An answer that cannot be, with a descriptor. */
READER_TEST(test_an_answer_that_cannot_be)
{
	struct opd_read_file file = { .build_id.len = OP_BUILD_ID_MAX + 1 };
	int nr = nr_files_of(getpid()), socks[2];
	struct opd_reader reader;
	pid_t pid = fork();

	if (!pid)
		pause();
	opd_reader_init(&reader, PATIENT, PATIENT);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks), 0);
	reader.children[0].pid = pid;
	reader.children[0].sock = socks[0];
	assert_int_equal(opd_reader_give(&reader, 1, -1, "/"), 0);
	assert_int_equal(opd_send_file(socks[1], &file, sizeof(file), socks[1]),
			 0);
	assert_int_equal(opd_reader_ask(&reader, 1, &file), -ETIMEDOUT);
	assert_int_equal(file.fd, -1);
	close(socks[1]);
	assert_int_equal(nr_files_of(getpid()), nr);
	ends_by_kill(pid);
	opd_reader_release(&reader);
}

/* A process to which nothing can be sent is given up. */
READER_TEST(test_a_socket_that_is_shut)
{
	struct opd_reader reader;
	int fd = open_self();

	opd_reader_init(&reader, PATIENT, PATIENT);
	hang_first(&reader);
	assert_int_equal(shutdown(reader.children[0].sock, SHUT_RDWR), 0);
	assert_int_equal(opd_reader_give(&reader, 5, fd, ""), -EPIPE);
	assert_false(opd_reader_has(&reader, 5));
	assert_int_equal(reader.children[0].sock, -1);
	assert_int_equal(opd_reader_give(&reader, 5, fd, ""), 0);
	expect_self(&reader, 5);
	close(fd);
	opd_reader_release(&reader);
}

/* An answer that nobody asks for is thrown away in time, with its file. */
READER_TEST(test_an_answer_that_nobody_takes)
{
	struct opd_reader reader;
	struct pollfd p = { .events = POLLIN };
	int fd = open_self(), nr = nr_files_of(getpid());

	opd_reader_init(&reader, PATIENT, PATIENT);
	assert_int_equal(opd_reader_give(&reader, 1, fd, ""), 0);
	p.fd = reader.children[0].sock;
	assert_int_equal(poll(&p, 1, PATIENT), 1);
	reader.limit = 0;
	assert_int_equal(opd_reader_give(&reader, 2, fd, ""), 0);
	reader.limit = PATIENT;
	assert_false(opd_reader_has(&reader, 1));
	/* The same process goes on. */
	assert_int_equal(reader.children[0].key, 2);
	assert_int_equal(reader.children[1].pid, 0);
	expect_self(&reader, 2);
	opd_reader_release(&reader);
	assert_int_equal(nr_files_of(getpid()), nr);
	close(fd);
}

/* Nothing is read where no process can be started. */
READER_TEST(test_no_more_processes)
{
	struct opd_reader reader;
	int nr = nr_files_of(getpid());

	opd_reader_init(&reader, PATIENT, PATIENT);
	confine_kernel.has_no_fork = true;
	assert_int_equal(opd_reader_give(&reader, 1, -1, "/"), -EBUSY);
	confine_kernel.has_no_fork = false;
	assert_false(opd_reader_has(&reader, 1));
	assert_int_equal(reader.children[0].pid, 0);
	assert_int_equal(reader.children[0].sock, -1);
	assert_int_equal(nr_files_of(getpid()), nr);
	opd_reader_release(&reader);
}
