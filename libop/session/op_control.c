// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control socket, the end of the client and that of the daemon.
 *
 * A call has one deadline for all of its steps, so a daemon that says a byte
 * now and then does not hold its client. Sending and receiving never block,
 * and poll(2) waits between; connect(2) to a full queue cannot be polled for,
 * so it blocks with a time limit. Answers are taken line by line and end with
 * "ok" or "error", so the end of the connection without one of these is an
 * error of its own.
 *
 * A session folder may have a path that is longer than a socket address can
 * be; then its folder is opened and the socket addressed through
 * /proc/self/fd, which is short.
 */

#include "libop/base/op_clock.h"
#include "libop/session/op_control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* An address and the folder that it needs open while it is used. */
struct address {
	struct sockaddr_un un;
	int folder; /* -1 if none is needed */
};

static int address_init(struct address *address, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];

	memset(address, 0, sizeof(*address));
	address->un.sun_family = AF_UNIX;
	address->folder = -1;
	if (strlen(path) < sizeof(address->un.sun_path)) {
		strcpy(address->un.sun_path, path);
		return 0;
	}
	if (!slash || strlen(slash) > 64 || slash - path >= PATH_MAX)
		return -ENAMETOOLONG;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	address->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (address->folder < 0)
		return -errno;
	snprintf(address->un.sun_path, sizeof(address->un.sun_path),
		 "/proc/self/fd/%d%s", address->folder, slash);
	return 0;
}

static void address_release(struct address *address)
{
	if (address->folder >= 0)
		close(address->folder);
}

/* ---- a call -------------------------------------------------------------- */

struct call {
	const char *socket;
	int fd;
	int64_t deadline; /* milliseconds of CLOCK_MONOTONIC, -1 for none */
	char *reply;
	size_t reply_len;
	size_t reply_at;
	bool reply_full;
	void (*heard)(void *data, const char *line); /* NULL: nobody */
	void *data;
	int out; /* where bytes behind the answer go, -1: nowhere */
	struct op_diag *diag;
};

/* Milliseconds left, -1 for no limit. */
static int time_left(const struct call *call)
{
	int64_t left;

	if (call->deadline < 0)
		return -1;
	left = call->deadline - (int64_t)op_clock_ms();
	return left > 0 ? (int)left : 0;
}

static int fail_call(const struct call *call, int err, const char *what)
{
	return op_diag_set(call->diag, err, "%s: %s: %s", call->socket, what,
			   strerror(-err));
}

static int fail_late(const struct call *call)
{
	return op_diag_set(call->diag, -ETIMEDOUT,
			   "%s: the daemon did not answer in time; see its log",
			   call->socket);
}

static int fail_bad_answer(const struct call *call, const char *why)
{
	return op_diag_set(call->diag, -EPROTO,
			   "%s: the program that answers is not the daemon: %s",
			   call->socket, why);
}

static int wait_for_socket(const struct call *call, short events)
{
	struct pollfd pfd = { .fd = call->fd, .events = events };
	int n;

	do {
		n = poll(&pfd, 1, time_left(call));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return fail_call(call, -errno, "cannot wait");
	return n ? 0 : fail_late(call);
}

/*
 * A nonblocking connect() to a unix socket whose queue is full fails at once
 * and cannot be polled for; a blocking one minds the time limit for sending.
 */
static int limit_connect(const struct call *call)
{
	int left = time_left(call);
	struct timeval tv;

	if (left < 0)
		return 0;
	if (!left)
		return -ETIMEDOUT;
	tv.tv_sec = left / 1000;
	tv.tv_usec = left % 1000 * 1000;
	if (setsockopt(call->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)))
		return -errno;
	return 0;
}

static int try_connect(const struct call *call, const struct address *address)
{
	int err;

	do {
		err = limit_connect(call);
		if (err)
			return err;
		if (!connect(call->fd, (const struct sockaddr *)&address->un,
			     sizeof(address->un)))
			return 0;
	} while (errno == EINTR);
	return errno == EAGAIN ? -ETIMEDOUT : -errno;
}

static int connect_call(const struct call *call)
{
	struct address address;
	int err = address_init(&address, call->socket);

	if (!err)
		err = try_connect(call, &address);
	address_release(&address);
	if (err == -ETIMEDOUT)
		return fail_late(call);
	if (err == -ENOENT || err == -ECONNREFUSED)
		return op_diag_set(call->diag, err,
				   "%s: no daemon is running here; start one "
				   "with opcontrol --start-daemon",
				   call->socket);
	return err ? fail_call(call, err, "cannot reach the daemon") : 0;
}

static int send_all(const struct call *call, const char *text, size_t len)
{
	while (len) {
		ssize_t n =
			send(call->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		int err = 0;

		if (n >= 0) {
			text += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			err = wait_for_socket(call, POLLOUT);
		} else if (errno == EPIPE || errno == ECONNRESET) {
			return 0; /* it may have said why before it closed */
		} else if (errno != EINTR) {
			err = fail_call(call, -errno, "cannot send");
		}
		if (err)
			return err;
	}
	return 0;
}

static void keep_reply_data(struct call *call, const char *text)
{
	size_t len = strlen(text);

	if (call->reply_full || len + 2 > call->reply_len - call->reply_at) {
		call->reply_full = true;
		return;
	}
	memcpy(call->reply + call->reply_at, text, len);
	call->reply_at += len;
	call->reply[call->reply_at++] = '\n';
	call->reply[call->reply_at] = '\0';
}

/* Returns 1 for a data line, else what the call returns. */
static int parse_answer_line(struct call *call, const char *line)
{
	if (line[0] == ' ') {
		keep_reply_data(call, line + 1);
		if (call->heard)
			call->heard(call->data, line + 1);
		return 1;
	}
	if (!strcmp(line, "ok"))
		return 0;
	if (!strncmp(line, "error ", 6))
		return op_diag_set(call->diag, -EREMOTEIO, "%s", line + 6);
	return fail_bad_answer(call, "an unknown line");
}

/*
 * Take the whole lines of *@len bytes in @buf and move the rest to its start.
 * Returns as parse_answer_line().
 */
static int parse_answer_lines(struct call *call, char *buf, size_t *len)
{
	char *line = buf, *end = buf + *len, *newline;
	int state = 1;

	while (state == 1 &&
	       (newline = memchr(line, '\n', (size_t)(end - line)))) {
		*newline = '\0';
		if (line + strlen(line) != newline)
			return fail_bad_answer(call, "a zero byte");
		state = parse_answer_line(call, line);
		line = newline + 1;
	}
	if (state == 1 && memchr(line, '\0', (size_t)(end - line)))
		return fail_bad_answer(call, "a zero byte");
	*len = (size_t)(end - line);
	memmove(buf, line, *len);
	if (state == 1 && *len == OP_CONTROL_LINE_MAX)
		return fail_bad_answer(call, "a line without an end");
	return state;
}

static int write_behind(const struct call *call, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(call->out, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return op_diag_set(
				call->diag, -errno,
				"cannot write what comes from %s: %s",
				call->socket, strerror(errno));
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Receive the data after the answer up to its end; @len bytes have come
 * already. */
static int receive_behind(struct call *call, const char *bytes, size_t len)
{
	char buf[65536];
	int err = write_behind(call, bytes, len);

	while (!err) {
		ssize_t n = recv(call->fd, buf, sizeof(buf), MSG_DONTWAIT);

		if (n > 0)
			err = write_behind(call, buf, (size_t)n);
		else if (!n)
			return 0;
		else if (errno == EAGAIN)
			err = wait_for_socket(call, POLLIN);
		else if (errno != EINTR)
			err = fail_call(call, -errno, "cannot receive");
		if (!err && !time_left(call))
			err = fail_late(call);
	}
	return err;
}

static int receive_answer(struct call *call)
{
	char buf[OP_CONTROL_LINE_MAX];
	size_t len = 0;
	int state;

	do {
		ssize_t n = recv(call->fd, buf + len, sizeof(buf) - len,
				 MSG_DONTWAIT);

		if (n > 0) {
			len += (size_t)n;
			state = parse_answer_lines(call, buf, &len);
		} else if (!n || errno == ECONNRESET) {
			return fail_bad_answer(call,
					       "it closed the connection");
		} else if (errno == EAGAIN) {
			state = wait_for_socket(call, POLLIN);
			state = state ? state : 1;
		} else if (errno == EINTR) {
			state = 1;
		} else {
			return fail_call(call, -errno, "cannot receive");
		}
		/* A daemon that never stops talking does not hold us. */
		if (state == 1 && !time_left(call))
			return fail_late(call);
	} while (state == 1);
	if (!state && call->out >= 0)
		state = receive_behind(call, buf, len);
	return state;
}

static int64_t deadline_after(int timeout_ms)
{
	return timeout_ms < 0 ? -1 : (int64_t)op_clock_ms() + timeout_ms;
}

/* A call without a @request, NULL, connects and takes all that the daemon
 * sends. */
static int carry_out_call(struct call *call, const char *request)
{
	char line[OP_CONTROL_LINE_MAX];
	size_t len = request ? strlen(request) : 0;
	int err;

	if (request && (!len || len >= sizeof(line) || strchr(request, '\n')))
		return op_diag_set(call->diag, -EINVAL,
				   "%s: a request is one line of at most %d "
				   "bytes",
				   call->socket, OP_CONTROL_LINE_MAX);
	if (request) {
		memcpy(line, request, len);
		line[len++] = '\n';
	}
	call->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (call->fd < 0)
		return fail_call(call, -errno, "cannot make a socket");
	err = connect_call(call);
	if (!err)
		err = send_all(call, line, len);
	if (!err)
		err = receive_answer(call);
	close(call->fd);
	return err;
}

int op_control_call(const char *socket_path, const char *request, char *reply,
		    size_t len, int timeout_ms, struct op_diag *diag)
{
	struct call call = {
		.socket = socket_path,
		.deadline = deadline_after(timeout_ms),
		.reply = reply,
		.reply_len = reply ? len : 0,
		.out = -1,
		.diag = diag,
	};

	if (call.reply_len)
		reply[0] = '\0';
	return carry_out_call(&call, request);
}

int op_control_follow(const char *socket_path, const char *request,
		      void (*heard)(void *data, const char *line), void *data,
		      int timeout_ms, struct op_diag *diag)
{
	struct call call = {
		.socket = socket_path,
		.deadline = deadline_after(timeout_ms),
		.heard = heard,
		.data = data,
		.out = -1,
		.diag = diag,
	};

	return carry_out_call(&call, request);
}

int op_control_fetch(const char *socket_path, char *reply, size_t len, int out,
		     int timeout_ms, struct op_diag *diag)
{
	struct call call = {
		.socket = socket_path,
		.deadline = deadline_after(timeout_ms),
		.reply = reply,
		.reply_len = len,
		.out = out,
		.diag = diag,
	};

	reply[0] = '\0';
	return carry_out_call(&call, NULL);
}

/* ---- listening ----------------------------------------------------------- */

/* 0 if somebody accepts connections at @address, -ECONNREFUSED if not. */
static int probe_listener(const struct address *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	/* EAGAIN: its queue is full, so there is one. */
	if (connect(fd, (const struct sockaddr *)&address->un,
		    sizeof(address->un)) &&
	    errno != EAGAIN)
		err = -errno;
	close(fd);
	return err;
}

static int remove_stale(const struct address *address)
{
	struct stat st;
	int err;

	if (lstat(address->un.sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	err = probe_listener(address);
	if (err != -ECONNREFUSED)
		return err ? err : -EADDRINUSE;
	return unlink(address->un.sun_path) ? -errno : 0;
}

int op_control_listen(const char *socket_path, struct op_diag *diag)
{
	struct address address;
	int fd = -1;
	int err = address_init(&address, socket_path);

	if (!err)
		err = remove_stale(&address);
	if (err)
		goto out;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/*
	 * fchmod() before bind(): the socket's file gets this mode from its
	 * first moment, with no change of the process's umask.
	 */
	if (fd < 0 || fchmod(fd, 0600) ||
	    bind(fd, (const struct sockaddr *)&address.un,
		 sizeof(address.un)) ||
	    listen(fd, 16))
		err = -errno;
out:
	address_release(&address);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	if (err == -EADDRINUSE)
		return op_diag_set(diag, err,
				   "%s: a daemon is already running here; stop "
				   "it with opcontrol --shutdown",
				   socket_path);
	if (err == -EEXIST)
		return op_diag_set(diag, err,
				   "%s: this file is in the place of the "
				   "control socket; remove it",
				   socket_path);
	return op_diag_set(diag, err, "%s: cannot listen: %s", socket_path,
			   strerror(-err));
}
