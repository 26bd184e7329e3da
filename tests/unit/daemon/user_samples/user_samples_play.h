/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_DAEMON_USER_SAMPLES_PLAY_H
#define TESTS_UNIT_DAEMON_USER_SAMPLES_PLAY_H

/*
 * The world of a daemon for ordinary users: what it asks the kernel of clients
 * and children is answered here, and what a child does is printed.
 */

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "daemon/user_samples/opd_user_samples.h"
#include "daemon/user_samples/opd_user_stream.h"
#include "libop/base/op_clock.h"
#include "libop/files/op_confine.h"
#include "tests/unit/opd_fixture.h"

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define INSTEAD_OF(name) __asm__(#name)

#define PIECE 128 /* bytes that a socket takes at once */
#define NO_GROUPS UINT32_MAX
#define MOST_GROUPS 65536 /* of a process */

/* What the test plays: a client, a child and its samples. */
static struct played {
	FILE *out;
	struct opd_user_samples samples;
	struct opd_options options;
	struct op_session session;
	struct op_log log;
	time_t seconds;
	uid_t daemon_is; /* what geteuid() says, once */
	bool has_daemon;
	struct ucred peer;
	gid_t groups[8];
	uint32_t nr_groups; /* NO_GROUPS: nobody tells them */
	pid_t forks; /* what fork() returns */
	pid_t ended;
	int client; /* the end of who came last, -1: nobody */
	int nr_sends; /* that succeed yet */
	bool peer_fails;
	int no_stream; /* why there are no samples, -errno */
	uint64_t words[64];
	size_t nr_words;
	struct opd_user_stream_separate separate;
	int saved_stdin;
} play;

/* ---- what the kernel says ---------------------------------------------------
 */

int mine_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
	INSTEAD_OF(getsockopt);
int mine_open(const char *path, int flags, ...) INSTEAD_OF(open64);
uid_t mine_geteuid(void) INSTEAD_OF(geteuid);
pid_t mine_fork(void) INSTEAD_OF(fork);
pid_t mine_waitpid(pid_t pid, int *status, int flags) INSTEAD_OF(waitpid);
pid_t mine_setsid(void) INSTEAD_OF(setsid);
int mine_kill(pid_t pid, int number) INSTEAD_OF(kill);
int mine_setpriority(int which, id_t who, int value) INSTEAD_OF(setpriority);
unsigned int mine_alarm(unsigned int seconds) INSTEAD_OF(alarm);
ssize_t mine_sendmsg(int fd, const struct msghdr *msg, int flags)
	INSTEAD_OF(sendmsg);

int mine_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	assert_int_equal(level, SOL_SOCKET);
	if (name == SO_PEERCRED) {
		assert_int_equal(*len, sizeof(play.peer));
		if (play.peer_fails) {
			errno = ENOPROTOOPT;
			return -1;
		}
		memcpy(value, &play.peer, sizeof(play.peer));
		return 0;
	}
	assert_int_equal(name, SO_PEERGROUPS);
	assert_int_equal(fd, play.samples.client);
	/* The kernel does not tell a part of them. */
	assert_true(*len >= MOST_GROUPS * sizeof(gid_t));
	if (play.nr_groups == NO_GROUPS) {
		errno = ENODATA;
		return -1;
	}
	*len = play.nr_groups * (socklen_t)sizeof(gid_t);
	memcpy(value, play.groups, *len);
	return 0;
}

/* The machine's policy is the one of the test. */
int mine_open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return REAL(open64)(strcmp(path, OP_POLICY_FILE) ? path : "policy",
			    flags, mode);
}

uid_t mine_geteuid(void)
{
	if (!play.has_daemon)
		return REAL(geteuid)();
	play.has_daemon = false;
	return play.daemon_is;
}

pid_t mine_fork(void)
{
	return play.forks;
}

pid_t mine_waitpid(pid_t pid, int *status, int flags)
{
	assert_null(status);
	if (flags == WNOHANG)
		return pid == play.ended ? pid : 0;
	fprintf(play.out, "wait for %d\n", pid);
	return pid;
}

int mine_kill(pid_t pid, int number)
{
	fprintf(play.out, "signal %d to %d\n", number, pid);
	return 0;
}

pid_t mine_setsid(void)
{
	fputs("a session of its own\n", play.out);
	return 1;
}

int mine_setpriority(int which, id_t who, int value)
{
	assert_int_equal(which, PRIO_PROCESS);
	assert_int_equal(who, 0);
	fprintf(play.out, "nice %d\n", value);
	return 0;
}

unsigned int mine_alarm(unsigned int seconds)
{
	struct sigaction is;

	assert_int_equal(sigaction(SIGALRM, NULL, &is), 0);
	fprintf(play.out, "%s after %u seconds\n",
		is.sa_handler == SIG_DFL ? "death" : "nothing", seconds);
	return 0;
}

/* No more than a piece is taken at once. */
ssize_t mine_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	size_t len = msg->msg_iov->iov_len;

	assert_int_equal(msg->msg_iovlen, 1);
	assert_int_equal(flags, MSG_NOSIGNAL);
	if (len > PIECE)
		len = PIECE;
	fprintf(play.out, "send %zu%s\n", len,
		fcntl(fd, F_GETFL) & O_NONBLOCK ? " or nothing" : "");
	if (play.nr_sends-- == 0) {
		errno = EPIPE;
		return -1;
	}
	return send(fd, msg->msg_iov->iov_base, len, flags);
}

/* ---- what the child does ----------------------------------------------------
 */

int op_confine(enum op_confine_to to)
{
	fprintf(play.out, "confined to %s\n",
		to == OP_CONFINE_TO_READING ? "reading" : "descriptors");
	return 0;
}

void op_confine_child(int fd, pid_t parent)
{
	assert_int_equal(fd, play.samples.client);
	assert_int_equal(parent, getpid());
	play.saved_stdin = fcntl(0, F_DUPFD_CLOEXEC, 3);
	assert_int_equal(dup2(fd, 0), 0);
}

void op_confine_end(void)
{
	fputs("end\n", play.out);
	close(0);
	if (play.saved_stdin >= 0) {
		assert_int_equal(dup2(play.saved_stdin, 0), 0);
		close(play.saved_stdin);
	}
}

int opd_user_stream(struct op_stream_words *words,
		    struct opd_user_stream_separate *separate,
		    const struct opd_user_stream_request *request,
		    struct op_diag *diag)
{
	fprintf(play.out, "user %u of %s%s\n", request->user, request->source,
		request->kernel ? " with the kernel" : "");
	assert_string_equal(request->folder, play.session.current);
	assert_int_equal(words->nr, 0);
	assert_false(words->short_of_memory);
	if (play.no_stream)
		return op_diag_set(diag, play.no_stream, "there is nothing");
	*separate = play.separate;
	words->words = play.words;
	words->nr = play.nr_words;
	return 0;
}

/* ---- the daemon -------------------------------------------------------------
 */

static time_t played_seconds(void)
{
	return play.seconds;
}

static const struct op_clock played_clock = { .seconds = played_seconds };

__attribute__((unused)) static void begin_play(FILE *out)
{
	char dir[] = "/tmp/opd-mine-XXXXXX";
	struct op_diag diag = { "" };

	memset(&play, 0, sizeof(play));
	play.out = out;
	play.client = -1;
	play.seconds = 1000;
	play.nr_sends = 1000;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(op_session_init(&play.session, dir, &diag), 0);
	assert_int_equal(mkdir(play.session.run, 0755), 0);
	op_log_init(&play.log);
	assert_int_equal(op_log_open(&play.log, "log", &diag), 0);
	play.options.policy = (char *)"policy";
	memset(&play.samples, 0xff, sizeof(play.samples));
	opd_user_samples_init(&play.samples, &play.options, &play.session,
			      &played_clock, &play.log);
}

__attribute__((unused)) static void end_play(void)
{
	opd_user_samples_close(&play.samples);
	if (play.client >= 0)
		close(play.client);
	op_log_close(&play.log);
	assert_int_equal(chdir("/"), 0);
	remove_tree(play.session.dir);
}

#endif /* TESTS_UNIT_DAEMON_USER_SAMPLES_PLAY_H */
