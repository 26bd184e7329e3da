// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The call goes over a socket, with the descriptor, and comes back as its
 * answer. What was read is in memory that both have: the caller copies each
 * thing before it looks at it, as the other side may go on writing.
 *
 * The process is in the session of the daemon, as the daemon waits for it: it
 * has the same share of the CPUs then (opd_priority.h).
 */

#include "daemon/source/untrusted/opd_untrusted.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_known_files.h"
#include "daemon/source/untrusted/opd_untrusted_read.h"
#include "daemon/source/untrusted/opd_pass.h"
#include "libcfi/cfi.h"
#include "libop/base/op_clock.h"
#include "libop/image/op_build_id.h"
#include "libop/files/op_confine.h"
#include "libop/base/op_log.h"

void opd_untrusted_init(struct opd_untrusted *untrusted)
{
	memset(untrusted, 0, sizeof(*untrusted));
	untrusted->sock = -1;
	untrusted->patience = OPD_UNTRUSTED_PATIENCE;
	untrusted->clock = &op_clock;
}

static void *make_room(int how)
{
	void *room = mmap(NULL, OPD_UNTRUSTED_ROOM, PROT_READ | PROT_WRITE,
			  how | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return room == MAP_FAILED ? NULL : room;
}

/* ---- the other process ------------------------------------------------------
 */

static void serve_call(int fd, struct opd_untrusted_call *call, void *room)
{
	call->err = 0;
	call->nr = 0;
	switch (call->what) {
	case OPD_UNTRUSTED_MAP:
		opd_untrusted_read_map(fd, call, room);
		break;
	case OPD_UNTRUSTED_MAP_NAME:
		opd_untrusted_read_map_name(fd, call, room);
		break;
	case OPD_UNTRUSTED_DUMP:
		opd_untrusted_read_dump(fd, call);
		break;
	case OPD_UNTRUSTED_RECORDS:
		opd_untrusted_read_records(fd, call, room);
		break;
	case OPD_UNTRUSTED_FUNCTION:
		opd_untrusted_read_function(fd, call, room);
		break;
	case OPD_UNTRUSTED_FRAMES:
		opd_untrusted_read_frames(fd, call, room);
		break;
	case OPD_UNTRUSTED_BUILD_ID:
		opd_untrusted_read_build_id(fd, call, room);
		break;
	case OPD_UNTRUSTED_TABLE:
		opd_untrusted_read_table(fd, call, room);
		break;
	case OPD_UNTRUSTED_RETURN:
		opd_untrusted_read_return(fd, call);
		break;
	case OPD_UNTRUSTED_TEXT:
		opd_untrusted_read_text(fd, call);
		break;
	case OPD_UNTRUSTED_DIGEST:
		opd_untrusted_read_digest(fd, call);
		break;
	case OPD_UNTRUSTED_IMAGE:
		opd_untrusted_read_image(fd, call, room);
		break;
	default:
		call->err = -EINVAL;
	}
}

static void serve_calls(int sock, void *room)
{
	struct opd_untrusted_call call;
	int fd, err = 0;

	while (!err && opd_receive_file(sock, &call, sizeof(call), &fd)) {
		serve_call(fd, &call, room);
		if (fd >= 0)
			close(fd);
		err = opd_send_file(sock, &call, sizeof(call), -1);
	}
}

static void be_untrusted_reader(int sock, void *room, pid_t daemon)
{
	op_confine_child(sock, daemon);
	if (!chdir("/")) {
		/* A kernel without filters is no reason to have no names, as in
		 * opd_reader.c. */
		(void)op_confine(OP_CONFINE_TO_DESCRIPTORS);
		serve_calls(0, room);
	}
	op_confine_end();
}

static int start_foreign(struct opd_untrusted *untrusted)
{
	pid_t daemon = getpid();
	int socks[2];

	if (!untrusted->room)
		untrusted->room = make_room(MAP_SHARED);
	if (!untrusted->room)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		return -errno;
	/* Each process has the room for itself: none sees what another writes.
	 */
	(void)madvise(untrusted->room, OPD_UNTRUSTED_ROOM, MADV_DOFORK);
	untrusted->pid = fork();
	if (untrusted->pid == 0)
		be_untrusted_reader(socks[1], untrusted->room, daemon);
	(void)madvise(untrusted->room, OPD_UNTRUSTED_ROOM, MADV_DONTFORK);
	close(socks[1]);
	if (untrusted->pid < 0) {
		untrusted->pid = 0;
		close(socks[0]);
		return -EAGAIN;
	}
	untrusted->sock = socks[0];
	return 0;
}

/* ---- the daemon -------------------------------------------------------------
 */

static void end_foreign(struct opd_untrusted *untrusted)
{
	close(untrusted->sock);
	untrusted->sock = -1;
	kill(untrusted->pid, SIGKILL);
	untrusted->pid = 0;
}

/* A read that hangs may keep even who was killed, so nobody waits for it. */
static void reap_given_up(struct opd_untrusted *untrusted)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < untrusted->nr_given_up; i++)
		if (!waitpid(untrusted->given_up[i], NULL, WNOHANG))
			untrusted->given_up[kept++] = untrusted->given_up[i];
	untrusted->nr_given_up = kept;
}

void opd_untrusted_release(struct opd_untrusted *untrusted)
{
	pid_t pid = untrusted->pid;

	if (pid) {
		end_foreign(untrusted);
		waitpid(pid, NULL, 0);
	}
	reap_given_up(untrusted);
	if (untrusted->room)
		munmap(untrusted->room, OPD_UNTRUSTED_ROOM);
	opd_untrusted_init(untrusted);
}

/* CPU time of the process, ns. */
static uint64_t cost_of_foreign(const struct opd_untrusted *untrusted)
{
	clockid_t clock;

	return untrusted->pid && !clock_getcpuclockid(untrusted->pid, &clock)
		       ? op_clock_ns(clock)
		       : 0;
}

uint64_t opd_untrusted_cost(const struct opd_untrusted *untrusted)
{
	return op_clock_ns(CLOCK_THREAD_CPUTIME_ID) +
	       cost_of_foreign(untrusted) + untrusted->cost_of_given_up;
}

static int give_up_call(struct opd_untrusted *untrusted, int err)
{
	if (!untrusted->nr_failures)
		untrusted->failed = untrusted->clock->seconds();
	untrusted->nr_failures++;
	untrusted->given_up[untrusted->nr_given_up++] = untrusted->pid;
	untrusted->cost_of_given_up += cost_of_foreign(untrusted) +
				       (uint64_t)untrusted->patience * 1000000;
	end_foreign(untrusted);
	if (untrusted->log)
		op_log(untrusted->log,
		       "a file of another program does not let itself be read%s",
		       untrusted->nr_failures == OPD_UNTRUSTED_FAILURES
			       ? ": no such files are read for an hour"
			       : "");
	return err;
}

/* Whether files are read now. A process that hangs for an hour counts on, which
 * bounds how many there are. */
static bool is_reading(struct opd_untrusted *untrusted)
{
	time_t now = untrusted->clock->seconds();

	reap_given_up(untrusted);
	if (untrusted->nr_failures &&
	    now - untrusted->failed >= OPD_UNTRUSTED_PAUSE) {
		untrusted->nr_failures = untrusted->nr_given_up;
		untrusted->failed = now;
	}
	return untrusted->nr_failures < OPD_UNTRUSTED_FAILURES;
}

static bool is_answer(const struct opd_untrusted_call *call, uint64_t what)
{
	return call->what == what && call->err <= 0 && call->err > -4096;
}

static int call_foreign(struct opd_untrusted *untrusted, int fd,
			struct opd_untrusted_call *call)
{
	struct pollfd p = { .events = POLLIN };
	uint64_t what = call->what;
	int patience = untrusted->patience, got = -1, err, nr;

	if (!untrusted->pid) {
		err = start_foreign(untrusted);
		if (err)
			return err;
	}
	if (opd_send_file(untrusted->sock, call, sizeof(*call), fd))
		return give_up_call(untrusted, -ETIMEDOUT);
	if (what == OPD_UNTRUSTED_TABLE)
		patience *= OPD_UNTRUSTED_TABLE_PATIENCE;
	p.fd = untrusted->sock;
	do
		nr = poll(&p, 1, patience);
	while (nr < 0 && errno == EINTR);
	if (nr <= 0 ||
	    !opd_receive_file(untrusted->sock, call, sizeof(*call), &got) ||
	    !is_answer(call, what))
		err = give_up_call(untrusted, -ETIMEDOUT);
	else
		err = (int)call->err;
	if (got >= 0)
		close(got);
	return err;
}

int opd_untrusted_do(struct opd_untrusted *untrusted, int fd,
		     struct opd_untrusted_call *call, const void **room)
{
	void *here;

	if (untrusted && !is_reading(untrusted))
		return -EIO;
	if (untrusted) {
		int err = call_foreign(untrusted, fd, call);

		untrusted->nr_without_memory += err == -ENOMEM;
		*room = untrusted->room;
		return err;
	}
	*room = here = make_room(MAP_PRIVATE);
	if (!here)
		return -ENOMEM;
	serve_call(fd, call, here);
	return (int)call->err;
}

void opd_untrusted_done(const struct opd_untrusted *untrusted, const void *room)
{
	if (!untrusted && room)
		munmap((void *)room, OPD_UNTRUSTED_ROOM);
}

/* ---- binaries ---------------------------------------------------------------
 */

int opd_untrusted_build_id(struct opd_untrusted *untrusted, int fd,
			   struct op_build_id *id)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_BUILD_ID };
	struct opd_known_files *known = untrusted ? untrusted->known : NULL;
	struct opd_file_key key;
	const void *room = NULL;
	int err;

	if (known && !opd_known_files_key(known, fd, &key))
		known = NULL;
	if (known && opd_known_files_find(known, &key, id))
		return 0;
	err = opd_untrusted_do(untrusted, fd, &call, &room);
	id->len = 0;
	if (!err && call.nr > sizeof(id->bytes))
		err = -EBADMSG;
	if (!err)
		*id = op_build_id_of_room(room, call.nr);
	if (!err && known)
		opd_known_files_add(known, &key, id);
	opd_untrusted_done(untrusted, room);
	return err;
}

int opd_untrusted_copy_table(const void *room, uint64_t nr,
			     struct cfi_table **out)
{
	uint8_t *copy;
	int err;

	if (nr > OPD_UNTRUSTED_ROOM)
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

int opd_untrusted_table(struct opd_untrusted *untrusted, int fd,
			enum cfi_extent extent, struct cfi_table **out)
{
	struct opd_untrusted_call call = { .what = OPD_UNTRUSTED_TABLE,
					   .extent = extent };
	const void *room = NULL;
	int err = opd_untrusted_do(untrusted, fd, &call, &room);

	if (!err)
		err = opd_untrusted_copy_table(room, call.nr, out);
	opd_untrusted_done(untrusted, room);
	return err;
}
