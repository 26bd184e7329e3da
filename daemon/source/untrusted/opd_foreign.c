// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The call goes over a socket, with the descriptor, and comes back as its
 * answer. What was read is in memory that both have: the caller copies each
 * thing before it looks at it, as the other side may go on writing.
 *
 * The process is in the session of the daemon, as the daemon waits for it: it
 * has the same share of the CPUs then (opd_priority.h).
 */

#include "daemon/source/untrusted/opd_foreign.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_foreign_read.h"
#include "daemon/source/untrusted/opd_pass.h"
#include "libcfi/cfi.h"
#include "libop/image/op_build_id.h"
#include "libop/files/op_confine.h"
#include "libop/base/op_clock.h"
#include "libop/base/op_log.h"

void opd_foreign_init(struct opd_foreign *foreign)
{
	memset(foreign, 0, sizeof(*foreign));
	foreign->sock = -1;
	foreign->patience = OPD_FOREIGN_PATIENCE;
	foreign->clock = &op_clock;
}

static void *make_room(int how)
{
	void *room = mmap(NULL, OPD_FOREIGN_ROOM, PROT_READ | PROT_WRITE,
			  how | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return room == MAP_FAILED ? NULL : room;
}

/* ---- the other process ------------------------------------------------------
 */

static void serve_call(int fd, struct opd_foreign_call *call, void *room)
{
	call->err = 0;
	call->nr = 0;
	switch (call->what) {
	case OPD_FOREIGN_MAP:
		opd_foreign_read_map(fd, call, room);
		break;
	case OPD_FOREIGN_MAP_NAME:
		opd_foreign_read_map_name(fd, call, room);
		break;
	case OPD_FOREIGN_DUMP:
		opd_foreign_read_dump(fd, call);
		break;
	case OPD_FOREIGN_RECORDS:
		opd_foreign_read_records(fd, call, room);
		break;
	case OPD_FOREIGN_FUNCTION:
		opd_foreign_read_function(fd, call, room);
		break;
	case OPD_FOREIGN_FRAMES:
		opd_foreign_read_frames(fd, call, room);
		break;
	case OPD_FOREIGN_BUILD_ID:
		opd_foreign_read_build_id(fd, call, room);
		break;
	case OPD_FOREIGN_TABLE:
		opd_foreign_read_table(fd, call, room);
		break;
	case OPD_FOREIGN_RETURN:
		opd_foreign_read_return(fd, call);
		break;
	case OPD_FOREIGN_TEXT:
		opd_foreign_read_text(fd, call);
		break;
	case OPD_FOREIGN_DIGEST:
		opd_foreign_read_digest(fd, call);
		break;
	case OPD_FOREIGN_IMAGE:
		opd_foreign_read_image(fd, call, room);
		break;
	default:
		call->err = -EINVAL;
	}
}

static void serve_calls(int sock, void *room)
{
	struct opd_foreign_call call;
	int fd, err = 0;

	while (!err && opd_receive_file(sock, &call, sizeof(call), &fd)) {
		serve_call(fd, &call, room);
		if (fd >= 0)
			close(fd);
		err = opd_send_file(sock, &call, sizeof(call), -1);
	}
}

static void be_foreign(int sock, void *room, pid_t daemon)
{
	op_confine_child(sock, daemon);
	if (!chdir("/")) {
		/* As in opd_reader.c: a kernel without filters is no reason to
		 * have no names. */
		(void)op_confine(OP_CONFINE_TO_DESCRIPTORS);
		serve_calls(0, room);
	}
	op_confine_end();
}

static int start_foreign(struct opd_foreign *foreign)
{
	pid_t daemon = getpid();
	int socks[2];

	if (!foreign->room)
		foreign->room = make_room(MAP_SHARED);
	if (!foreign->room)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		return -errno;
	/* What one process writes there is none of the others'. */
	(void)madvise(foreign->room, OPD_FOREIGN_ROOM, MADV_DOFORK);
	foreign->pid = fork();
	if (foreign->pid == 0)
		be_foreign(socks[1], foreign->room, daemon);
	(void)madvise(foreign->room, OPD_FOREIGN_ROOM, MADV_DONTFORK);
	close(socks[1]);
	if (foreign->pid < 0) {
		foreign->pid = 0;
		close(socks[0]);
		return -EAGAIN;
	}
	foreign->sock = socks[0];
	return 0;
}

/* ---- the daemon -------------------------------------------------------------
 */

static void end_foreign(struct opd_foreign *foreign)
{
	close(foreign->sock);
	foreign->sock = -1;
	kill(foreign->pid, SIGKILL);
	foreign->pid = 0;
}

/* A read that hangs may keep even who was killed, so nobody waits for it. */
static void reap_given_up(struct opd_foreign *foreign)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < foreign->nr_given_up; i++)
		if (!waitpid(foreign->given_up[i], NULL, WNOHANG))
			foreign->given_up[kept++] = foreign->given_up[i];
	foreign->nr_given_up = kept;
}

void opd_foreign_release(struct opd_foreign *foreign)
{
	pid_t pid = foreign->pid;

	if (pid) {
		end_foreign(foreign);
		waitpid(pid, NULL, 0);
	}
	reap_given_up(foreign);
	if (foreign->room)
		munmap(foreign->room, OPD_FOREIGN_ROOM);
	opd_foreign_init(foreign);
}

static int give_up_call(struct opd_foreign *foreign, int err)
{
	if (!foreign->nr_failures)
		foreign->failed = foreign->clock->seconds();
	foreign->nr_failures++;
	foreign->given_up[foreign->nr_given_up++] = foreign->pid;
	end_foreign(foreign);
	if (foreign->log)
		op_log(foreign->log,
		       "a file of another program does not let itself be read%s",
		       foreign->nr_failures == OPD_FOREIGN_FAILURES
			       ? ": no such files are read for an hour"
			       : "");
	return err;
}

uint64_t opd_foreign_cost(const struct opd_foreign *foreign)
{
	uint64_t cost = op_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	clockid_t clock;

	if (foreign->pid && !clock_getcpuclockid(foreign->pid, &clock))
		cost += op_clock_ns(clock);
	return cost;
}

/* Whether files are read now. A process that hangs for an hour counts on, which
 * bounds how many there are. */
static bool is_reading(struct opd_foreign *foreign)
{
	time_t now = foreign->clock->seconds();

	reap_given_up(foreign);
	if (foreign->nr_failures &&
	    now - foreign->failed >= OPD_FOREIGN_PAUSE) {
		foreign->nr_failures = foreign->nr_given_up;
		foreign->failed = now;
	}
	return foreign->nr_failures < OPD_FOREIGN_FAILURES;
}

static bool is_answer(const struct opd_foreign_call *call, uint64_t what)
{
	return call->what == what && call->err <= 0 && call->err > -4096;
}

static int call_foreign(struct opd_foreign *foreign, int fd,
			struct opd_foreign_call *call)
{
	struct pollfd p = { .events = POLLIN };
	uint64_t what = call->what;
	int patience = foreign->patience, got = -1, err, nr;

	if (!foreign->pid) {
		err = start_foreign(foreign);
		if (err)
			return err;
	}
	if (opd_send_file(foreign->sock, call, sizeof(*call), fd))
		return give_up_call(foreign, -ETIMEDOUT);
	if (what == OPD_FOREIGN_TABLE)
		patience *= OPD_FOREIGN_TABLE_PATIENCE;
	p.fd = foreign->sock;
	do
		nr = poll(&p, 1, patience);
	while (nr < 0 && errno == EINTR);
	if (nr <= 0 ||
	    !opd_receive_file(foreign->sock, call, sizeof(*call), &got) ||
	    !is_answer(call, what))
		err = give_up_call(foreign, -ETIMEDOUT);
	else
		err = (int)call->err;
	if (got >= 0)
		close(got);
	return err;
}

int opd_foreign_do(struct opd_foreign *foreign, int fd,
		   struct opd_foreign_call *call, const void **room)
{
	void *here;

	if (foreign && !is_reading(foreign))
		return -EIO;
	if (foreign) {
		int err = call_foreign(foreign, fd, call);

		*room = foreign->room;
		return err;
	}
	*room = here = make_room(MAP_PRIVATE);
	if (!here)
		return -ENOMEM;
	serve_call(fd, call, here);
	return (int)call->err;
}

void opd_foreign_done(const struct opd_foreign *foreign, const void *room)
{
	if (!foreign && room)
		munmap((void *)room, OPD_FOREIGN_ROOM);
}

/* ---- binaries ---------------------------------------------------------------
 */

int opd_foreign_build_id(struct opd_foreign *foreign, int fd,
			 struct op_build_id *id)
{
	struct opd_foreign_call call = { .what = OPD_FOREIGN_BUILD_ID };
	const void *room = NULL;
	int err = opd_foreign_do(foreign, fd, &call, &room);

	id->len = 0;
	if (!err && call.nr > sizeof(id->bytes))
		err = -EBADMSG;
	if (!err)
		*id = op_build_id_of_room(room, call.nr);
	opd_foreign_done(foreign, room);
	return err;
}

int opd_foreign_take_table(const void *room, uint64_t nr,
			   struct cfi_table **out)
{
	uint8_t *copy;
	int err;

	if (nr > OPD_FOREIGN_ROOM)
		return -EBADMSG;
	/* The room may change. */
	copy = malloc(nr + !nr);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, room, nr);
	err = cfi_table_unflatten(out, copy, nr);
	free(copy);
	return err;
}

int opd_foreign_table(struct opd_foreign *foreign, int fd,
		      enum cfi_extent extent, struct cfi_table **out)
{
	struct opd_foreign_call call = { .what = OPD_FOREIGN_TABLE,
					 .extent = extent };
	const void *room = NULL;
	int err = opd_foreign_do(foreign, fd, &call, &room);

	if (!err)
		err = opd_foreign_take_table(room, call.nr, out);
	opd_foreign_done(foreign, room);
	return err;
}
