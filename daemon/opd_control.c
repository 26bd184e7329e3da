// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All sockets are non-blocking and each client has a buffer of one line. A
 * request is carried out when its line is complete; then the answer is sent and
 * the connection is closed. When all places are taken, clients are closed in
 * turn, so that silent connections cannot lock others out.
 *
 * "shutdown" is answered at the very end of the daemon: its connection leaves
 * the table of clients and stays open, so that whoever asked learns when the
 * session is complete, or why it is not.
 */

#include "daemon/opd_control.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/opd_loop.h"
#include "libop/base/op_log.h"

void opd_control_init(struct opd_control *control, struct opd_loop *loop,
		      struct op_log *log)
{
	memset(control, 0, sizeof(*control));
	control->loop = loop;
	control->log = log;
	control->fd = control->shutdown_fd = -1;
	for (unsigned int i = 0; i < OPD_MAX_CLIENTS; i++)
		control->clients[i].fd = -1;
}

int opd_control_open(struct opd_control *control, const char *socket,
		     struct op_diag *diag)
{
	int fd = op_control_listen(socket, diag);
	int flags;

	if (fd < 0)
		return fd;
	control->fd = fd;
	control->socket = socket;
	/* A client that is gone by then must not stop us in accept(2). */
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) ||
	    opd_loop_add(control->loop, fd, OPD_WAIT_LISTEN))
		return op_diag_set(diag, -EIO, "%s: cannot listen", socket);
	return 0;
}

static void close_client(struct opd_client *client)
{
	close(client->fd);
	client->fd = -1;
	client->len = 0;
}

void opd_control_close(struct opd_control *control)
{
	for (unsigned int i = 0; i < OPD_MAX_CLIENTS; i++)
		if (control->clients[i].fd >= 0)
			close_client(&control->clients[i]);
	if (control->fd < 0)
		return;
	unlink(control->socket);
	close(control->fd);
	control->fd = -1;
}

/* A free place for a client; the one that has been here longest makes way. */
static unsigned int make_place(struct opd_control *control)
{
	unsigned int nr;

	for (nr = 0; nr < OPD_MAX_CLIENTS; nr++)
		if (control->clients[nr].fd < 0)
			return nr;
	nr = control->oldest;
	control->oldest = (nr + 1) % OPD_MAX_CLIENTS;
	close_client(&control->clients[nr]);
	return nr;
}

void opd_control_accept(struct opd_control *control)
{
	int fd = accept4(control->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct opd_client *client;
	unsigned int nr;

	if (fd < 0)
		return;
	nr = make_place(control);
	client = &control->clients[nr];
	client->fd = fd;
	if (opd_loop_add(control->loop, fd, OPD_WAIT_CLIENT + nr))
		close_client(client);
}

/* An answer fits the socket's buffer; a client that does not read gets less. */
static void send_text(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t done = send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		text += done;
		len -= (size_t)done;
	}
}

static void send_end(int fd, int err, const struct op_diag *diag)
{
	char line[OP_DIAG_MAX + 16];

	if (err)
		snprintf(line, sizeof(line), "error %s\n",
			 op_diag_text(diag, err));
	else
		snprintf(line, sizeof(line), "ok\n");
	send_text(fd, line, strlen(line));
}

static void run_request(struct opd_control *control, struct opd_client *client)
{
	struct opd_answer answer = { .len = 0 };
	struct op_diag diag = { "" };
	int err;

	op_verbose(control->log, OP_V_MISC, "request: %s", client->line);
	if (!strcmp(client->line, "shutdown") && control->shutdown_fd < 0) {
		control->shutdown_fd = client->fd;
		client->fd = -1;
		control->loop->quit = true;
		return;
	}
	err = control->run(control->ctx, client->line, &answer, &diag);
	send_text(client->fd, answer.text, answer.len);
	send_end(client->fd, err, &diag);
	close_client(client);
}

void opd_control_handle(struct opd_control *control, unsigned int nr)
{
	struct opd_client *client = &control->clients[nr];
	size_t room = sizeof(client->line) - client->len;
	char *end;
	ssize_t got;

	if (client->fd < 0)
		return;
	got = read(client->fd, client->line + client->len, room);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		close_client(client);
		return;
	}
	client->len += (size_t)got;
	end = memchr(client->line, '\n', client->len);
	if (end) {
		*end = '\0';
		run_request(control, client);
	} else if (client->len == sizeof(client->line)) {
		close_client(client);
	}
}

void opd_control_report_packing(struct opd_control *control, uint64_t bytes)
{
	char line[64];

	if (control->shutdown_fd < 0)
		return;
	snprintf(line, sizeof(line), " packing = %" PRIu64 "\n", bytes);
	send_text(control->shutdown_fd, line, strlen(line));
}

void opd_control_answer_shutdown(struct opd_control *control, int err,
				 const struct op_diag *diag)
{
	int fd = control->shutdown_fd;

	if (fd < 0)
		return;
	send_end(fd, err, diag);
	close(fd);
	control->shutdown_fd = -1;
}
