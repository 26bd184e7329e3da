// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A client is answered or refused as soon as it has connected, and forgotten;
 * so no number of connections takes anything from the daemon but the time to
 * say no. What a child sends it has in its own memory, and has let go of the
 * session's folder, as who reads slowly would keep the packer out.
 *
 * How often a user may come is known of the last OPD_USER_SAMPLES_USERS.
 * Whoever has more numbers than that, as those of a user namespace are, is held
 * by the number of children, each of which takes a moment at least.
 */

#include "daemon/user_samples/opd_user_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/user_samples/opd_user_stream.h"
#include "daemon/opd_options.h"
#include "libop/base/op_clock.h"
#include "libop/files/op_confine.h"
#include "libop/session/op_control.h"
#include "libop/base/op_log.h"
#include "libop/session/op_session.h"

#define NICE 10
#define MAX_GROUPS 65536 /* that the kernel lets a process have */

/* ---- policy -----------------------------------------------------------------
 */

void opd_user_samples_init(struct opd_user_samples *samples,
			   struct opd_options *options,
			   const struct op_session *session,
			   const struct op_clock *clock, struct op_log *log)
{
	memset(samples, 0, sizeof(*samples));
	samples->options = options;
	samples->session = session;
	samples->clock = clock;
	samples->log = log;
	samples->fd = samples->client = -1;
}

static const char *policy_file(const struct opd_user_samples *samples)
{
	return samples->options->policy ? samples->options->policy
					: OP_POLICY_FILE;
}

int opd_user_samples_read_policy(struct opd_user_samples *samples,
				 struct op_diag *diag)
{
	bool is_named = samples->options->policy;
	int err;

	if (!is_named && geteuid())
		return 0;
	err = op_policy_read(&samples->policy, policy_file(samples), diag);
	if (err == -ENOENT && !is_named)
		return 0;
	if (err)
		return op_diag_set(diag, err, "%s: %s", policy_file(samples),
				   strerror(-err));
	if (samples->policy.mine != OP_MINE_NONE)
		samples->options->separate_user = true;
	return 0;
}

void opd_user_samples_read_policy_again(struct opd_user_samples *samples)
{
	bool was_separate = samples->options->separate_user;
	struct op_diag diag = { "" };

	op_policy_release(&samples->policy);
	if (opd_user_samples_read_policy(samples, &diag))
		op_log(samples->log, "%s; users cannot get their own samples",
		       diag.text);
	else if (samples->policy.mine != OP_MINE_NONE && samples->fd < 0)
		op_log(samples->log,
		       "the policy lets users have samples of their own from the next start on");
	samples->options->separate_user = was_separate;
}

const char *opd_user_samples_text(const struct opd_user_samples *samples)
{
	static const char *const texts[] = { "none", "all", "group", "users" };

	return texts[samples->policy.mine];
}

/* ---- listening --------------------------------------------------------------
 */

int opd_user_samples_open(struct opd_user_samples *samples,
			  struct op_diag *diag)
{
	const char *path = samples->session->mine;
	int flags;

	if (samples->policy.mine == OP_MINE_NONE) {
		unlink(path); /* of a daemon that was killed */
		return 0;
	}
	samples->fd = op_control_listen(path, diag);
	if (samples->fd < 0)
		return samples->fd;
	flags = fcntl(samples->fd, F_GETFL);
	if (flags < 0 || fcntl(samples->fd, F_SETFL, flags | O_NONBLOCK) ||
	    fcntl(samples->fd, F_SETFD, FD_CLOEXEC) || chmod(path, 0666))
		return op_diag_set(diag, -EIO, "%s: cannot listen", path);
	return 0;
}

void opd_user_samples_close(struct opd_user_samples *samples)
{
	for (int i = 0; i < OPD_USER_SAMPLES_USERS; i++) {
		if (!samples->users[i].child)
			continue;
		kill(samples->users[i].child, SIGKILL);
		waitpid(samples->users[i].child, NULL, 0);
		samples->users[i].child = 0;
	}
	if (samples->fd >= 0) {
		unlink(samples->session->mine);
		close(samples->fd);
	}
	samples->fd = -1;
	op_policy_release(&samples->policy);
}

/* ---- who may ----------------------------------------------------------------
 */

/* The groups of the client, the caller's to free; the last is that of @who. */
static gid_t *groups_of_client(int fd, const struct ucred *who, size_t *nr)
{
	socklen_t len = MAX_GROUPS * sizeof(gid_t);
	gid_t *groups = malloc(len + sizeof(gid_t));

	*nr = 0;
	if (!groups)
		return NULL;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len))
		*nr = len / sizeof(gid_t);
	groups[(*nr)++] = who->gid;
	return groups;
}

static bool policy_lets(const struct opd_user_samples *samples, int fd,
			const struct ucred *who)
{
	gid_t *groups = NULL;
	size_t nr = 0;
	bool lets;

	if (samples->policy.mine == OP_MINE_GROUP)
		groups = groups_of_client(fd, who, &nr);
	lets = op_policy_lets(&samples->policy, who->uid, groups, nr);
	free(groups);
	return lets;
}

/* The place of @user; else a free one, or that of who came longest ago. NULL
 * if all are busy. */
static struct opd_user_samples_user *find_user(struct opd_user_samples *samples,
					       uid_t user)
{
	struct opd_user_samples_user *best = NULL;

	for (int i = 0; i < OPD_USER_SAMPLES_USERS; i++) {
		struct opd_user_samples_user *at = &samples->users[i];

		if (at->is_used && at->user == user)
			return at;
		if (!at->child &&
		    (!best || (best->is_used &&
			       (!at->is_used || at->since < best->since))))
			best = at;
	}
	return best;
}

/* Whether the client may have an answer now: then samples->next is its place.
 */
static int admit_client(struct opd_user_samples *samples,
			const struct ucred *who, struct op_diag *diag)
{
	struct opd_user_samples_user *user;

	if (!policy_lets(samples, samples->client, who))
		return op_diag_set(
			diag, -EACCES,
			"the policy of this machine does not let user %u have samples of their own; ask root for a line in %s",
			(unsigned int)who->uid, policy_file(samples));
	user = find_user(samples, who->uid);
	if (!user || samples->nr_children == OPD_USER_SAMPLES_CHILDREN)
		return op_diag_set(
			diag, -EBUSY,
			"another request is in progress; try again in a minute");
	if (user->is_used && user->user == who->uid &&
	    (user->child ||
	     samples->clock->seconds() - user->since < OPD_USER_SAMPLES_PAUSE))
		return op_diag_set(
			diag, -EBUSY,
			"you were given your samples just now; try again in a few seconds");
	samples->next = user;
	samples->next_user = who->uid;
	return 0;
}

/* ---- the child --------------------------------------------------------------
 */

/* All of it, however often the client makes us wait. */
static bool send_bytes(int fd, const void *bytes, size_t len)
{
	struct iovec part = { (void *)bytes, len };
	const struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	while (part.iov_len) {
		ssize_t done = sendmsg(fd, &msg, MSG_NOSIGNAL);

		if (done < 0)
			return false;
		part.iov_base = (char *)part.iov_base + done;
		part.iov_len -= (size_t)done;
	}
	return true;
}

static size_t write_head(const struct opd_user_stream_separate *separate,
			 char *text, size_t size)
{
	int len = snprintf(text, size,
			   " separate-lib = %d\n"
			   " separate-kernel = %d\n"
			   " separate-thread = %d\n"
			   " separate-cpu = %d\n"
			   " separate-cgroup = %d\n"
			   "ok\n",
			   separate->lib, separate->kernel, separate->thread,
			   separate->cpu, separate->cgroup);

	return len < 0 ? 0 : (size_t)len;
}

/* For a client that has nothing to read yet. */
static void send_reason(int fd, const struct op_diag *diag)
{
	char line[OP_DIAG_MAX + 16];
	int len = snprintf(line, sizeof(line), "error %s\n", diag->text);

	(void)!send(fd, line, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void send_answer(int fd, const struct opd_user_stream_request *request)
{
	struct op_stream_words words = { .nr = 0 };
	struct opd_user_stream_separate separate;
	struct op_diag diag = { "" };
	char head[256];
	int flags = fcntl(fd, F_GETFL);

	if (opd_user_stream(&words, &separate, request, &diag)) {
		send_reason(fd, &diag);
		return;
	}
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK))
		return;
	(void)op_confine(OP_CONFINE_TO_DESCRIPTORS);
	if (send_bytes(fd, head, write_head(&separate, head, sizeof(head))))
		send_bytes(fd, words.words, words.nr * sizeof(words.words[0]));
}

static void answer_in_child(int fd,
			    const struct opd_user_stream_request *request,
			    pid_t daemon)
{
	op_confine_child(fd, daemon);
	signal(SIGALRM, SIG_DFL);
	alarm(OPD_USER_SAMPLES_SECONDS);
	setsid(); /* the daemon's has a priority: see opd_priority.h */
	setpriority(PRIO_PROCESS, 0, NICE);
	send_answer(0, request);
	op_confine_end();
}

/* ---- clients ----------------------------------------------------------------
 */

static void close_samples_client(struct opd_user_samples *samples)
{
	close(samples->client);
	samples->client = -1;
	samples->next = NULL;
}

bool opd_user_samples_accept(struct opd_user_samples *samples)
{
	int fd = accept4(samples->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct op_diag diag = { "" };
	struct ucred who;
	socklen_t len = sizeof(who);
	int err = 0;

	if (fd < 0)
		return false;
	samples->client = fd;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		err = op_diag_set(&diag, -errno, "%s", strerror(errno));
	else
		err = admit_client(samples, &who, &diag);
	if (!err)
		return true;
	send_reason(fd, &diag);
	close_samples_client(samples);
	return false;
}

void opd_user_samples_answer(struct opd_user_samples *samples,
			     const char *source)
{
	const struct opd_user_stream_request request = {
		.folder = samples->session->current,
		.source = source,
		.user = samples->next_user,
		.kernel = samples->policy.kernel,
	};
	pid_t daemon = getpid(), child = fork();

	if (child == 0)
		answer_in_child(samples->client, &request, daemon);
	if (child > 0) {
		*samples->next = (struct opd_user_samples_user){
			.user = samples->next_user,
			.child = child,
			.since = samples->clock->seconds(),
			.is_used = true,
		};
		samples->nr_children++;
	}
	close_samples_client(samples);
}

void opd_user_samples_reap(struct opd_user_samples *samples)
{
	for (int i = 0; i < OPD_USER_SAMPLES_USERS; i++) {
		struct opd_user_samples_user *user = &samples->users[i];

		if (!user->child ||
		    waitpid(user->child, NULL, WNOHANG) != user->child)
			continue;
		user->child = 0;
		samples->nr_children--;
	}
}
