// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each child has a socket to the daemon. It gets one file at a time, as a
 * descriptor or a path, opens the file for reading and answers with its
 * build-id and the new descriptor. Children stay for the next file, as the
 * daemon may be large and costly to fork by then; each has closed all that it
 * inherited, and can do nothing but read files (op_confine.h), because any
 * user may have written what is in these.
 *
 * A child that has not answered in time is killed. A read that hangs may keep
 * even a killed process, so nobody waits for its end: its place stays taken
 * until it is gone, which bounds how many there are.
 */

#include "daemon/source/opd_reader.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_pass.h"
#include "libop/base/op_clock.h"
#include "libop/files/op_confine.h"
#include "libop/files/op_open.h"

/* ---- the child --------------------------------------------------------------
 */

/* Read the build-id and the fingerprint of the file @fd, or of none if it is
 * -1. */
static void read_file(int fd, struct opd_read_file *file)
{
	struct stat st;

	memset(file, 0, sizeof(*file));
	file->fd = fd;
	if (file->fd < 0)
		return;
	if (op_build_id_of_elf(&file->build_id, file->fd))
		file->build_id.len = 0;
	if (!fstat(file->fd, &st))
		file->mtime = (uint64_t)st.st_mtime;
}

static void read_files(int sock)
{
	struct opd_read_file file;
	char path[PATH_MAX];
	int at, err;

	while (opd_receive_file(sock, path, sizeof(path), &at)) {
		read_file(at >= 0 ? op_reopen_regular(at)
				  : op_open_without_links("/", path),
			  &file);
		err = opd_send_file(sock, &file, sizeof(file), file.fd);
		if (file.fd >= 0)
			close(file.fd);
		if (at >= 0)
			close(at);
		if (err)
			return;
	}
}

static void be_child(int sock, pid_t daemon)
{
	op_confine_child(sock, daemon);
	setsid(); /* the daemon's has a priority: see opd_priority.h */
	if (!chdir("/")) {
		/* A kernel without filters is no reason to have no build-ids.
		 */
		(void)op_confine(OP_CONFINE_TO_READING);
		read_files(0);
	}
	op_confine_end();
}

static int start_child(struct opd_reader_child *child)
{
	pid_t daemon = getpid();
	int socks[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		return -errno;
	child->pid = fork();
	if (child->pid == 0)
		be_child(socks[1], daemon);
	close(socks[1]);
	if (child->pid < 0) {
		child->pid = 0;
		close(socks[0]);
		return -EAGAIN;
	}
	child->sock = socks[0];
	child->key = 0;
	return 0;
}

/* ---- the daemon -------------------------------------------------------------
 */

/* Give up a child that is stuck. Its place becomes free when the child has
 * ended. */
static void give_child_up(struct opd_reader_child *child)
{
	kill(child->pid, SIGKILL);
	close(child->sock);
	child->sock = -1;
	child->key = 0;
	if (waitpid(child->pid, NULL, WNOHANG) == child->pid)
		child->pid = 0;
}

/* Whether there is an answer after @ms milliseconds. */
static bool has_answer(const struct opd_reader_child *child, int ms)
{
	struct pollfd p = { .fd = child->sock, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

/* False if the child has ended. */
static bool receive_answer(struct opd_reader_child *child,
			   struct opd_read_file *file)
{
	int fd;

	child->key = 0;
	if (opd_receive_file(child->sock, file, sizeof(*file), &fd) &&
	    file->build_id.len <= sizeof(file->build_id.bytes)) {
		file->build_id = op_build_id_of_room(file->build_id.bytes,
						     file->build_id.len);
		file->fd = fd; /* its number here */
		return true;
	}
	if (fd >= 0)
		close(fd);
	memset(file, 0, sizeof(*file));
	file->fd = -1;
	give_child_up(child);
	return false;
}

/* Places of those who have ended, and files that nobody asks for any more. */
static void check_children(struct opd_reader *reader)
{
	for (unsigned int i = 0; i < OPD_READERS; i++) {
		struct opd_reader_child *child = &reader->children[i];
		struct opd_read_file file;

		if (child->pid && child->sock < 0 &&
		    waitpid(child->pid, NULL, WNOHANG) == child->pid)
			child->pid = 0;
		if (!child->key || op_clock_ms() - child->since < reader->limit)
			continue;
		if (!has_answer(child, 0))
			give_child_up(child);
		else if (receive_answer(child, &file) && file.fd >= 0)
			close(file.fd);
	}
}

static struct opd_reader_child *find_child(const struct opd_reader *reader,
					   uint64_t key)
{
	for (unsigned int i = 0; i < OPD_READERS; i++)
		if (reader->children[i].key == key)
			return (struct opd_reader_child *)&reader->children[i];
	return NULL;
}

void opd_reader_init(struct opd_reader *reader, unsigned int patience,
		     unsigned int limit)
{
	memset(reader, 0, sizeof(*reader));
	reader->patience = patience;
	reader->limit = limit;
	for (unsigned int i = 0; i < OPD_READERS; i++)
		reader->children[i].sock = -1;
}

void opd_reader_release(struct opd_reader *reader)
{
	for (unsigned int i = 0; i < OPD_READERS; i++) {
		struct opd_reader_child *child = &reader->children[i];
		bool is_idle = child->sock >= 0 && !child->key;

		if (child->sock >= 0)
			give_child_up(child);
		if (child->pid && is_idle)
			waitpid(child->pid, NULL, 0);
		child->pid = 0;
	}
}

bool opd_reader_has(const struct opd_reader *reader, uint64_t key)
{
	return find_child(reader, key) != NULL;
}

/* A child that waits for work, else a new child, else NULL. */
static struct opd_reader_child *get_idle_child(struct opd_reader *reader)
{
	for (unsigned int i = 0; i < OPD_READERS; i++)
		if (reader->children[i].sock >= 0 && !reader->children[i].key)
			return &reader->children[i];
	for (unsigned int i = 0; i < OPD_READERS; i++)
		if (!reader->children[i].pid)
			return start_child(&reader->children[i])
				       ? NULL
				       : &reader->children[i];
	return NULL;
}

int opd_reader_give(struct opd_reader *reader, uint64_t key, int fd,
		    const char *path)
{
	char request[PATH_MAX] = "";
	struct opd_reader_child *child;
	int err;

	if (strlen(path) >= sizeof(request))
		return -ENAMETOOLONG;
	memcpy(request, path, strlen(path));

	check_children(reader);
	child = get_idle_child(reader);
	if (!child)
		return -EBUSY;
	err = opd_send_file(child->sock, request, sizeof(request), fd);
	if (err) {
		give_child_up(child);
		return err;
	}
	child->key = key;
	child->since = op_clock_ms();
	return 0;
}

int opd_reader_ask(struct opd_reader *reader, uint64_t key,
		   struct opd_read_file *out)
{
	struct opd_reader_child *child = find_child(reader, key);
	uint64_t passed;

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	if (!child)
		return -ENOENT;
	passed = op_clock_ms() - child->since;
	if (has_answer(child, passed < reader->patience
				      ? (int)(reader->patience - passed)
				      : 0))
		return receive_answer(child, out) ? 0 : -ETIMEDOUT;
	if (passed < reader->limit)
		return -EAGAIN;
	give_child_up(child);
	return -ETIMEDOUT;
}
