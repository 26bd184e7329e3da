// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket against servers of every kind. A server is a child that
 * takes one connection, plays its part and ends; an alarm ends it in any case.
 */

#include "tests/unit/op_fixture.h"

#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "libop/session/op_control.h"

/*
 * Longer than a machine stands still, and less than what tests/run gives to
 * the whole test: what is not answered is told by its name.
 */
#define SERVER_SECONDS 280
#define LONG_TIME 250000 /* milliseconds: for calls that are answered */

/* ---- servers --------------------------------------------------------------
 */

static void say_bytes(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n <= 0)
			_exit(0);
		bytes += n;
		len -= (size_t)n;
	}
}

static void say(int fd, const char *text)
{
	say_bytes(fd, text, strlen(text));
}

/* Take the request without its newline. */
static void hear(int fd, char *line, size_t len)
{
	size_t at = 0;

	while (at + 1 < len && read(fd, line + at, 1) == 1 && line[at] != '\n')
		at++;
	line[at] = '\0';
}

/* Until the client has closed its end. */
static void wait_for_end(int fd)
{
	char c;

	while (read(fd, &c, 1) > 0)
		;
}

static const char *script; /* what serve_script() answers */
static size_t script_len;

static void serve_script(int fd)
{
	char line[OP_CONTROL_LINE_MAX + 1];

	hear(fd, line, sizeof(line));
	say_bytes(fd, script, script_len);
}

/*
 * One byte that is read alone: a descriptor comes with it, behind which no
 * recv() reads on (unix(7), on ancillary data).
 */
static void say_piece(int fd, char c)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec piece = { .iov_base = &c, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &piece,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &(int){ STDERR_FILENO },
	       sizeof(int));
	if (sendmsg(fd, &message, MSG_NOSIGNAL) != 1)
		_exit(1);
}

static void serve_bytewise(int fd)
{
	char line[OP_CONTROL_LINE_MAX + 1];

	hear(fd, line, sizeof(line));
	for (size_t i = 0; i < script_len; i++)
		say_piece(fd, script[i]);
}

static int ticks[2] = { -1, -1 }; /* a byte for each signal that came */

/* A byte only when the client, who waits for it, was interrupted twice. */
static void serve_interrupted(int fd)
{
	char line[OP_CONTROL_LINE_MAX + 1], tick[2];

	hear(fd, line, sizeof(line));
	for (size_t i = 0; i < script_len; i++) {
		for (int n = 0; n < 2; n++)
			if (read(ticks[0], &tick[n], 1) != 1)
				_exit(1);
		say_piece(fd, script[i]);
	}
}

static void serve_echo(int fd)
{
	char line[OP_CONTROL_LINE_MAX + 1];
	char answer[OP_CONTROL_LINE_MAX + 64];

	hear(fd, line, sizeof(line));
	snprintf(answer, sizeof(answer), " length = %zu\n %.100s\nok\n",
		 strlen(line), line);
	say(fd, answer);
}

static void serve_silence(int fd)
{
	wait_for_end(fd);
}

static void serve_silence_after_data(int fd)
{
	say(fd, " a = 1\n b =");
	wait_for_end(fd);
}

static void serve_without_end(int fd)
{
	for (;;)
		say(fd, " x\n");
}

static void serve_hangup(int fd)
{
	(void)fd;
}

static void serve_before_asked(int fd)
{
	say(fd, " early = 1\nerror not now\n");
}

/* Whoever connects is answered. */
static void serve_unasked(int fd)
{
	say_bytes(fd, script, script_len);
}

static void serve_unasked_without_end(int fd)
{
	say_bytes(fd, script, script_len);
	wait_for_end(fd);
}

static pid_t start_server(const char *path, void (*serve)(int fd))
{
	struct op_diag diag = { "" };
	int listener = op_control_listen(path, &diag);
	pid_t pid;

	if (listener < 0)
		fail_msg("%s", diag.text);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int fd;

		alarm(SERVER_SECONDS);
		fd = accept(listener, NULL, NULL);
		if (fd >= 0)
			serve(fd);
		_exit(fd < 0);
	}
	close(listener);
	return pid;
}

/* It has done its part, or was never reached. */
static void end_server(pid_t pid, const char *path)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(unlink(path), 0);
}

/* Signals at this pace while a call runs; 0 for none. */
static void set_interrupts(long usec)
{
	const struct itimerval every = { { 0, usec }, { 0, usec } };

	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
}

static long interrupt_usec;

static char reply[65536];
static struct op_diag diag;

static int call_server(void (*serve)(int fd), int timeout_ms)
{
	pid_t pid = start_server("control", serve);
	int err;

	diag.text[0] = '\0';
	strcpy(reply, "untouched");
	set_interrupts(interrupt_usec);
	err = op_control_call("control", "status", reply, sizeof(reply),
			      timeout_ms, &diag);
	set_interrupts(0);
	end_server(pid, "control");
	assert_int_equal(diag.text[0] != '\0', err != 0);
	return err;
}

static int call_script_bytes(const char *bytes, size_t len)
{
	script = bytes;
	script_len = len;
	return call_server(serve_script, LONG_TIME);
}

static int call_script(const char *text)
{
	return call_script_bytes(text, strlen(text));
}

/* ---- answers --------------------------------------------------------------
 */

FOLDER_TEST(test_answers)
{
	assert_int_equal(call_script("ok\n"), 0);
	assert_string_equal(reply, "");
	assert_int_equal(call_script(" a = 1\n\x20\n  b\nok\n"), 0);
	assert_string_equal(reply, "a = 1\n\n b\n");
	assert_int_equal(call_script(" a = 1\nerror no disk\033\n"),
			 -EREMOTEIO);
	assert_string_equal(reply, "a = 1\n");
	assert_string_equal(diag.text, "no disk?");
	assert_int_equal(call_script("ok\n what follows is not read"), 0);
}

static void add_heard(void *data, const char *line)
{
	strcat(strcat(data, line), "|");
}

FOLDER_TEST(test_lines_are_heard_as_they_come)
{
	char heard[64] = "";
	pid_t pid;

	script = " a = 1\n b = 2\nok\n";
	script_len = strlen(script);
	pid = start_server("control", serve_bytewise);
	assert_int_equal(op_control_follow("control", "x", add_heard, heard,
					   LONG_TIME, NULL),
			 0);
	end_server(pid, "control");
	assert_string_equal(heard, "a = 1|b = 2|");
	assert_int_equal(op_control_follow("control", "x", add_heard, heard,
					   LONG_TIME, NULL),
			 -ENOENT);
}

FOLDER_TEST(test_answer_in_pieces)
{
	script = " a = 1\n b = 2\nok\n";
	script_len = strlen(script);
	assert_int_equal(call_server(serve_bytewise, LONG_TIME), 0);
	assert_string_equal(reply, "a = 1\nb = 2\n");
	assert_int_equal(call_server(serve_bytewise, -1), 0);
}

FOLDER_TEST(test_requests)
{
	char request[OP_CONTROL_LINE_MAX + 1];
	pid_t pid;

	memset(request, 'x', sizeof(request));
	request[OP_CONTROL_LINE_MAX] = '\0';
	diag.text[0] = '\0';
	assert_int_equal(op_control_call("control", request, NULL, 0, LONG_TIME,
					 &diag),
			 -EINVAL);
	assert_reason(&diag, "control: a request is one line");
	assert_int_equal(op_control_call("control", "", NULL, 0, 1, NULL),
			 -EINVAL);
	assert_int_equal(op_control_call("control", "save x\nstop", NULL, 0, 1,
					 NULL),
			 -EINVAL);
	request[OP_CONTROL_LINE_MAX - 1] = '\0';
	pid = start_server("control", serve_echo);
	assert_int_equal(op_control_call("control", request, reply,
					 sizeof(reply), LONG_TIME, NULL),
			 0);
	end_server(pid, "control");
	assert_memory_equal(reply, "length = 4095\nxxx", 17);
	pid = start_server("control", serve_echo);
	assert_int_equal(op_control_call("control", "save a b", reply,
					 sizeof(reply), LONG_TIME, NULL),
			 0);
	end_server(pid, "control");
	assert_string_equal(reply, "length = 8\nsave a b\n");
}

FOLDER_TEST(test_reply_is_cut_at_lines)
{
	script = " abc\n defg\n h\nok\n";
	script_len = strlen(script);
	for (size_t room = 0; room <= 12; room++) {
		char *buf = malloc(room ? room : 1); /* ASan sees its end */
		pid_t pid = start_server("control", serve_script);

		assert_int_equal(op_control_call("control", "x", buf, room,
						 LONG_TIME, NULL),
				 0);
		end_server(pid, "control");
		if (room)
			assert_string_equal(buf, room < 5    ? ""
						 : room < 10 ? "abc\n"
						 : room < 12
							 ? "abc\ndefg\n"
							 : "abc\ndefg\nh\n");
		free(buf);
	}
}

FOLDER_TEST(test_large_answer)
{
	size_t nr = 50000, len = nr * 8 + 3;
	char *text = malloc(len + 1);

	for (size_t i = 0; i < nr; i++)
		sprintf(text + 8 * i, " %06zu\n", i);
	strcpy(text + 8 * nr, "ok\n");
	assert_int_equal(call_script_bytes(text, len), 0);
	assert_int_equal(strlen(reply), (sizeof(reply) - 1) / 7 * 7);
	assert_string_equal(reply + strlen(reply) - 7, "009361\n");
	free(text);
}

FOLDER_TEST(test_longest_line)
{
	char text[OP_CONTROL_LINE_MAX + 8];

	memset(text, 'x', sizeof(text));
	text[0] = ' ';
	strcpy(text + OP_CONTROL_LINE_MAX - 1, "\nok\n");
	assert_int_equal(call_script(text), 0);
	assert_int_equal(strlen(reply), OP_CONTROL_LINE_MAX - 1);
	strcpy(text + OP_CONTROL_LINE_MAX - 1, "x\nok\n");
	assert_int_equal(call_script(text), -EPROTO);
	assert_reason(&diag, "a line without an end");
}

FOLDER_TEST(test_answers_that_are_none)
{
	static const char *const texts[] = {
		"",	  "\n",	   "ok",	   "OK\n",     "okay\n",
		"ok \n",  "error", "error\n",	   "errors\n", "HTTP/1.1 400\n",
		" a = 1", " a\n",  " a\n b\nok?\n"
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (call_script(texts[i]) != -EPROTO)
			fail_msg("\"%s\": %s", texts[i], diag.text);
		assert_reason(
			&diag,
			"control: the program that answers is not the daemon");
	}
	assert_int_equal(call_script_bytes(" a\0b\nok\n", 8), -EPROTO);
	assert_int_equal(call_script_bytes("\0", 1), -EPROTO);
}

/* ---- servers that misbehave
 * -------------------------------------------------- */

FOLDER_TEST(test_no_answer_in_time)
{
	assert_int_equal(call_server(serve_silence, 30), -ETIMEDOUT);
	assert_reason(&diag, "control: the daemon did not answer in time");
	assert_int_equal(call_server(serve_silence_after_data, 100),
			 -ETIMEDOUT);
	assert_int_equal(call_server(serve_without_end, 100), -ETIMEDOUT);
}

/* The request meets a closed socket: no SIGPIPE, and an error. */
FOLDER_TEST(test_hangup)
{
	for (int i = 0; i < 20; i++) {
		assert_int_equal(call_server(serve_hangup, LONG_TIME), -EPROTO);
		assert_reason(&diag, "it closed the connection");
	}
}

FOLDER_TEST(test_answer_before_the_request)
{
	for (int i = 0; i < 20; i++) {
		assert_int_equal(call_server(serve_before_asked, LONG_TIME),
				 -EREMOTEIO);
		assert_string_equal(diag.text, "not now");
		assert_string_equal(reply, "early = 1\n");
	}
}

static void on_alarm(int signal)
{
	(void)signal;
	if (write(ticks[1], "", 1) != 1)
		_exit(1);
}

FOLDER_TEST(test_interrupted)
{
	struct sigaction action = { .sa_handler = on_alarm }, old;

	assert_int_equal(pipe(ticks), 0);
	assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
	script = " a = 1\n b = 2\nok\n";
	script_len = strlen(script);
	interrupt_usec = 500;
	assert_int_equal(call_server(serve_interrupted, LONG_TIME), 0);
	assert_string_equal(reply, "a = 1\nb = 2\n");
	assert_int_equal(call_server(serve_silence, 50), -ETIMEDOUT);
	interrupt_usec = 0;
	assert_int_equal(sigaction(SIGALRM, &old, NULL), 0);
	assert_string_equal(reply, "");
	close(ticks[0]);
	close(ticks[1]);
}

FOLDER_TEST(test_nobody_listens)
{
	int listener;

	diag.text[0] = '\0';
	assert_int_equal(op_control_call("control", "x", NULL, 0, LONG_TIME,
					 &diag),
			 -ENOENT);
	assert_reason(&diag, "control: no daemon is running here");
	listener = op_control_listen("control", NULL);
	assert_true(listener >= 0);
	close(listener);
	assert_int_equal(op_control_call("control", "x", NULL, 0, LONG_TIME,
					 NULL),
			 -ECONNREFUSED);
}

/* Connections wait, nobody takes them, and no more fit. */
FOLDER_TEST(test_full_queue)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX,
				  .sun_path = "control" };
	int listener = op_control_listen("control", NULL);
	int fds[64], nr = 0, err = 0;

	assert_true(listener >= 0);
	while (nr < 64 && !err) {
		fds[nr] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		err = connect(fds[nr], (struct sockaddr *)&un, sizeof(un));
		nr++;
	}
	assert_int_equal(err, -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(op_control_call("control", "x", NULL, 0, 0, NULL),
			 -ETIMEDOUT);
	assert_int_equal(op_control_call("control", "x", NULL, 0, 30, NULL),
			 -ETIMEDOUT);
	assert_int_equal(op_control_listen("control", NULL), -EADDRINUSE);
	while (nr)
		close(fds[--nr]);
	close(listener);
}

/* ---- listening -------------------------------------------------------------
 */

FOLDER_TEST(test_listener)
{
	mode_t old = umask(0);
	int fd = op_control_listen("control", NULL);
	struct stat st;

	umask(old);
	assert_true(fd >= 0);
	assert_int_equal(stat("control", &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_false(fcntl(fd, F_GETFL) & O_NONBLOCK);
	diag.text[0] = '\0';
	assert_int_equal(op_control_listen("control", &diag), -EADDRINUSE);
	assert_reason(&diag, "control: a daemon is already running here");
	close(fd);
	fd = op_control_listen("control", NULL); /* over the stale one */
	assert_true(fd >= 0);
	close(fd);
}

static void refuse_to_listen(int err, const char *path, const char *reason)
{
	int unused = dup(0);

	close(unused);
	diag.text[0] = '\0';
	assert_int_equal(op_control_listen(path, &diag), err);
	assert_reason(&diag, reason);
	/* No descriptor is left open. */
	assert_int_equal(dup(0), unused);
	close(unused);
}

FOLDER_TEST(test_things_in_the_way)
{
	struct stat st;

	write_text("control", "precious");
	refuse_to_listen(-EEXIST, "control",
			 "control: this file is in the place");
	assert_string_equal(text_of("control"), "precious");
	assert_int_equal(symlink("control", "link"), 0);
	refuse_to_listen(-EEXIST, "link", "link: this file is in the place");
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	refuse_to_listen(-EEXIST, "dangling",
			 "dangling: this file is in the place");
	assert_int_equal(lstat("dangling", &st), 0);
	refuse_to_listen(-ENOENT, "absent/control",
			 "absent/control: cannot listen: No such file");
	refuse_to_listen(-ENOTDIR, "control/control", "Not a directory");
}

/* Someone's socket of another kind is not ours to remove. */
FOLDER_TEST(test_other_kind_of_socket)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX,
				  .sun_path = "control" };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	refuse_to_listen(-EPROTOTYPE, "control", "control: cannot listen");
	assert_int_equal(access("control", F_OK), 0);
	close(fd);
}

/* ---- bytes behind an answer -----------------------------------------------
 */

/* Fetch @len bytes of @text; what is behind the answer goes to "behind". */
static int fetch_bytes(void (*serve)(int fd), const char *text, size_t len,
		       int timeout_ms)
{
	int out = open("behind", O_WRONLY | O_CREAT | O_TRUNC, 0600), err;
	pid_t pid;

	assert_true(out >= 0);
	script = text;
	script_len = len;
	pid = start_server("control", serve);
	diag.text[0] = '\0';
	err = op_control_fetch("control", reply, sizeof(reply), out, timeout_ms,
			       &diag);
	end_server(pid, "control");
	close(out);
	assert_int_equal(diag.text[0] != '\0', err != 0);
	return err;
}

FOLDER_TEST(test_bytes_behind_an_answer)
{
	static const struct {
		const char *text, *reply, *behind;
		int err;
	} cases[] = {
		{ " a = 1\nok\nbytes\n more", "a = 1\n", "bytes\n more", 0 },
		{ "ok\n b = 2\nerror no\n", "", " b = 2\nerror no\n", 0 },
		{ " a = 1\nok\n", "a = 1\n", "", 0 },
		{ " a = 1\nerror no disk\nbytes", "a = 1\n", "", -EREMOTEIO },
		{ " a = 1\n", "a = 1\n", "", -EPROTO },
		{ "", "", "", -EPROTO },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fetch_bytes(serve_unasked, cases[i].text,
					     strlen(cases[i].text), LONG_TIME),
				 cases[i].err);
		assert_string_equal(reply, cases[i].reply);
		assert_string_equal(text_of("behind"), cases[i].behind);
	}
}

FOLDER_TEST(test_many_bytes_behind_an_answer)
{
	size_t len = 1000003;
	char *text = malloc(len), *got = malloc(len);
	FILE *file;

	assert_non_null(text);
	assert_non_null(got);
	for (size_t i = 0; i < len; i++)
		text[i] = (char)(i * 7 % 256);
	memcpy(text, "ok\n", 3);
	assert_int_equal(fetch_bytes(serve_unasked, text, len, -1), 0);
	file = fopen("behind", "r");
	assert_non_null(file);
	assert_int_equal(fread(got, 1, len, file), len - 3);
	fclose(file);
	assert_memory_equal(got, text + 3, len - 3);
	free(text);
	free(got);
}

FOLDER_TEST(test_bytes_that_do_not_end)
{
	assert_int_equal(fetch_bytes(serve_unasked_without_end, "ok\nbytes", 8,
				     50),
			 -ETIMEDOUT);
	assert_reason(&diag, "control: ");
}

FOLDER_TEST(test_bytes_that_cannot_be_written)
{
	assert_int_equal(symlink("/dev/full", "behind"), 0);
	assert_int_equal(fetch_bytes(serve_unasked, "ok\nbytes", 8, LONG_TIME),
			 -ENOSPC);
	assert_string_equal(
		diag.text,
		"cannot write what comes from control: No space left on device");
}

/* ---- paths -----------------------------------------------------------------
 */

FOLDER_TEST(test_long_path)
{
	char path[PATH_MAX];
	int len, fd;
	pid_t pid;

	len = snprintf(path, sizeof(path), "%s", (char *)*state);
	for (int i = 0; i < 15; i++) {
		len += snprintf(path + len, sizeof(path) - len, "/%0100d", i);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	strcpy(path + len, "/control");
	assert_int_equal(op_control_call(path, "x", NULL, 0, LONG_TIME, NULL),
			 -ENOENT);
	pid = start_server(path, serve_echo);
	assert_int_equal(op_control_call(path, "hello", reply, sizeof(reply),
					 LONG_TIME, NULL),
			 0);
	assert_string_equal(reply, "length = 5\nhello\n");
	end_server(pid, path);
	fd = op_control_listen(path, NULL);
	assert_true(fd >= 0);
	assert_int_equal(op_control_listen(path, NULL), -EADDRINUSE);
	close(fd);
	assert_int_equal(op_control_call(path, "x", NULL, 0, LONG_TIME, NULL),
			 -ECONNREFUSED);
	fd = op_control_listen(path, NULL);
	assert_true(fd >= 0);
	close(fd);
}

/* Around the length at which an address stops to fit. */
FOLDER_TEST(test_path_lengths)
{
	char path[256];

	for (int room = 100; room < 116; room++) {
		int pad = room - (int)strlen(*state) - 10;
		int fd;

		snprintf(path, sizeof(path), "%s/%0*d", (char *)*state, pad, 0);
		assert_int_equal(mkdir(path, 0700), 0);
		strcat(path, "/control");
		fd = op_control_listen(path, &diag);
		assert_true(fd >= 0);
		assert_int_equal(access(path, F_OK), 0);
		assert_int_equal(op_control_listen(path, NULL), -EADDRINUSE);
		close(fd);
	}
}

FOLDER_TEST(test_paths_that_never_fit)
{
	char path[PATH_MAX + 100];

	memset(path, 'x', sizeof(path));
	path[200] = '\0'; /* no folder that could be opened */
	refuse_to_listen(-ENAMETOOLONG, path, "cannot listen");
	path[100] = '/'; /* a name too long after /proc/self/fd/N */
	refuse_to_listen(-ENAMETOOLONG, path, "cannot listen");
	path[200] = 'x';
	strcpy(path + sizeof(path) - 9, "/control");
	refuse_to_listen(-ENAMETOOLONG, path, "cannot listen");
	assert_int_equal(op_control_call(path, "x", NULL, 0, 1, NULL),
			 -ENAMETOOLONG);
}
